#pragma once
#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

#include "core/hdf5.hpp"

namespace scree::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>);

/// Owns one HDF5 identifier; `close` is the call of its kind (H5Fclose, H5Dclose, ...).
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  operator hid_t() const { return id_; }
  /// Whether the call that made it succeeded.
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// From the first call on HDF5 prints no errors of its own: failed calls show in what they return, and when
/// the program ends the library would print what a damaged file has left in it. Local.
inline void mute_hdf5() {
  static const herr_t muted = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static_cast<void>(muted);
}

/// Room for what HDF5 adds by itself: once per file, and for each object that is made or grows.
constexpr std::int64_t metadata_of_file = 1 << 17;
constexpr std::int64_t metadata_of_object = 1 << 13;
/// Asked for beyond what is wanted: a small file asks the disk, which takes all ranks, once or twice.
constexpr std::int64_t reserved_ahead = 1 << 18;

/// The innermost message of HDF5's error stack: the one that names the cause. To be asked before any handle
/// is closed, since every call of HDF5 starts a new stack.
std::string cause();

hid_t native(Type type);
std::vector<hsize_t> extents(const Shape& shape);
/// Whether the numbers of a shape, as a file gives them, can be counted and their bytes, too.
bool is_countable(const std::vector<hsize_t>& shape);
Hdf5Handle simple_space(const std::vector<hsize_t>& shape, const hsize_t* max = nullptr);
Hdf5Handle text_type(std::size_t length);
/// Properties of a new object: without time stamps, so that equal results are equal files.
Hdf5Handle object_properties(hid_t kind);
std::string without_padding(const char* text, std::size_t length);
std::string parent_of(const std::string& object);

/// What in an HDF5 file lies in another one, in words: "/M is a link to another file". Links to other files,
/// datasets kept in other files and virtual datasets would make a program read files that nobody named;
/// groups nested without end are reported too. Empty: all is in the file, or it cannot be opened, which
/// whoever opens it for its content finds out. Opens the file for reading, with its metadata alone;
/// O(objects). Local.
std::string content_elsewhere(const std::string& path);

}  // namespace scree::hdf5
