#pragma once
#include <optional>
#include <string>

#include "core/parallel.hpp"
#include "io/appended_file.hpp"

namespace scree {

/// A CSV file with texts, written by rank 0; each batch of rows reaches the system before add() returns. Rows
/// are in the order of the times in one column. Everything collective.
class RowFile {
 public:
  /// Starts a new file, or goes on after `time` with one that exists. Throws InputError if that one has other
  /// columns.
  RowFile(const Comm& comm, const std::string& path, const std::string& header, std::size_t time_column,
          std::optional<Real> time);
  /// Adds lines, those of rank 0.
  void add(const std::string& lines);
  /// Checks that the file is still there, as add() does now and then.
  void keep_in_place();

 private:
  void cut(const std::string& header, std::size_t time_column, Real time) const;

  Comm comm_;
  std::string path_;
  std::optional<AppendedFile> file_;  // on rank 0
};

}  // namespace scree
