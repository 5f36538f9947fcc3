#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/files.hpp"
#include "core/hdf5.hpp"
#include "core/parallel.hpp"
#include "io/array_file.hpp"
#include "io/h5md_content.hpp"

namespace scree {

using FieldValues = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                                 std::vector<std::int32_t>>;

/// An array file (a checkpoint) or an H5MD file, seen as named fields of rows: what comparing and describing
/// need. All members are collective unless they only return what is known. Throws InputError on all ranks.
class ResultFile {
 public:
  struct Field {
    std::string name;
    std::string unit;
    std::string dataset;
    hdf5::Type type = hdf5::Type::real64;
    int components = 1;
    bool per_body = true;    ///< rows are bodies (or what else an array lists); else one row per frame
    bool in_frames = false;  ///< another set of rows in each frame
    std::int64_t rows = 0;   ///< in_frames: unused, see rows()
  };

  ResultFile(const Comm& comm, const std::string& path);

  bool is_h5md() const { return !arrays_; }
  /// "checkpoint, version 1" or "H5MD 1.1".
  std::string kind() const;
  /// The kind alone: two files can be compared if it is the same.
  std::string class_of_file() const { return arrays_ ? arrays_->kind() : "H5MD"; }
  const std::string& path() const { return path_; }

  /// Of an H5MD file: one entry per frame, up to the first that is not whole.
  const std::vector<std::int64_t>& steps() const { return content_.steps; }
  const std::vector<Real>& times() const { return content_.times; }
  const std::vector<std::int64_t>& counts() const { return content_.counts; }
  std::int64_t n_frames() const { return static_cast<std::int64_t>(steps().size()); }

  const std::vector<Field>& fields() const { return fields_; }
  std::int64_t rows(const Field& field, std::int64_t frame) const;
  /// Rows [first, first + count) on this rank; arrays are verified if the ranks read all rows in order.
  FieldValues read(const Field& field, std::int64_t frame, std::int64_t first, std::int64_t count) const;

  /// Single numbers of an array file that are part of the result.
  files::Texts values() const;
  files::Texts provenance() const;

 private:
  void find_h5md_fields();

  Comm comm_;
  std::string path_;
  std::unique_ptr<ArrayFileReader> arrays_;
  std::unique_ptr<hdf5::File> h5md_;
  std::vector<Field> fields_;
  H5mdContent content_;
};

}  // namespace scree
