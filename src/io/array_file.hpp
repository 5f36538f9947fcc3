#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "comm/id_order.hpp"
#include "core/even_share.hpp"
#include "core/files.hpp"
#include "core/hdf5.hpp"
#include "core/parallel.hpp"
#include "io/frame.hpp"

namespace scree {

/// One file that keeps named arrays, numbers and texts without loss: checkpoints and other exact records.
///
/// In the file (HDF5): attributes `kind`, `version` and `checksum` of the root; lists /numbers/integers and
/// /numbers/reals with the texts /numbers/integers_names and /numbers/reals_names, a line for each number
/// (five hundred attributes would take most of the time of a small file); /arrays/NAME with attributes `unit`
/// and `checksum`; /provenance/NAME with an attribute `checksum`, and alike /texts, which is empty. The
/// checksum of the root is that of all else: kind, version, numbers, names, units, shapes and the other
/// checksums; it is checked when the file is opened. Provenance describes the run (ranks, host, wall time,
/// deck) and takes no part in comparisons. The bytes depend on neither the number of ranks nor on which rank
/// had what.

/// Writes to NAME.part; commit() makes it durable and renames it, so that a file with the final name is
/// complete. Every failure (disk full, no permission) removes the .part and makes all ranks throw RunError
/// with the path, the bytes wanted and the system's reason. All members are collective.
class ArrayFileWriter {
 public:
  /// `kind` and `version` are checked by the reader.
  ArrayFileWriter(const Comm& comm, const std::string& path, const std::string& kind, std::int64_t version);

  /// The rows of all ranks in rank order.
  void array(const Column& column);
  /// The rows sorted by id.
  void array(const Column& column, const IdOrder& order);
  void number(const std::string& name, std::int64_t value);
  void number(const std::string& name, Real value);
  void provenance(const std::string& name, const std::string& value);

  /// Flushes, closes, renames. Nothing may be written afterwards.
  void commit();

 private:
  template <class T>
  struct NamedNumbers {
    std::vector<T> values;
    std::string names;  // a line each
    void add(const std::string& name, T value) {
      values.push_back(value);
      names += name + '\n';
    }
  };
  template <class T>
  void write_numbers(const std::string& kind, const NamedNumbers<T>& numbers);

  Comm comm_;
  hdf5::PartFile part_;
  NamedNumbers<std::int64_t> integers_;
  NamedNumbers<Real> reals_;
  std::uint64_t checksum_ = 0;  // of the root so far
};

/// Reads such a file on any number of ranks. Whatever is wrong with the file (none there, no HDF5, cut short,
/// of another kind or version, an array missing, a checksum that does not fit) makes all ranks throw
/// InputError with one sentence. All members are collective.
class ArrayFileReader {
 public:
  ArrayFileReader(const Comm& comm, const std::string& path, const std::string& kind, std::int64_t version);
  /// Opens a file of any kind and version: for reports and comparisons. An older one may have no checksum of
  /// the root.
  ArrayFileReader(const Comm& comm, const std::string& path);

  const std::string& kind() const { return kind_; }
  std::int64_t version() const { return version_; }

  struct ArrayInfo {
    std::string name;
    std::string unit;
    hdf5::Type type = hdf5::Type::real64;
    std::int64_t rows = 0;
    int components = 1;
  };
  std::vector<ArrayInfo> arrays() const;
  ArrayInfo array_info(const std::string& name) const;
  bool has_array(const std::string& name) const;

  /// Rows [first, first + count) on this rank. The checksum is verified whenever the ranges of the ranks, in
  /// rank order, cover the array without gap or overlap.
  template <class T>
  void array(const std::string& name, std::int64_t first, std::int64_t count, std::vector<T>& values) const {
    const ArrayInfo info = array_info(name);
    file_->read(dataset(name), slab(name, first, count), values);
    verify(info, first, count, values.data());
  }
  /// This rank's EvenShare of the rows; verified.
  template <class T>
  void share(const std::string& name, std::vector<T>& values) const {
    const EvenShare share(comm_, array_info(name).rows);
    array(name, share.first, share.last - share.first, values);
  }

  std::int64_t integer(const std::string& name) const;
  Real real(const std::string& name) const;
  bool has_number(const std::string& name) const;
  /// All numbers as text, for reports.
  files::Texts numbers() const;

  /// All that describes the run.
  files::Texts provenance() const;

  const std::string& path() const { return file_->path(); }

 private:
  static std::string dataset(const std::string& name) { return "/arrays/" + name; }
  hdf5::Slab slab(const std::string& name, std::int64_t first, std::int64_t count) const;
  void verify(const ArrayInfo& info, std::int64_t first, std::int64_t count, const void* values) const;
  const std::variant<std::int64_t, Real>& number_named(const std::string& name) const;
  void read_numbers();
  template <class T>
  void read_numbers(const std::string& kind);
  void verify_all() const;

  Comm comm_;
  std::string kind_;
  std::int64_t version_ = -1;
  std::map<std::string, std::variant<std::int64_t, Real>> numbers_;
  std::unique_ptr<hdf5::File> file_;
};

}  // namespace scree
