#pragma once
#include <hdf5.h>

#include <utility>

namespace scree {

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

}  // namespace scree
