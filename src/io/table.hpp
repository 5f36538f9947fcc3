#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "io/appended_file.hpp"

namespace scree {

/// A CSV file in the order of times: one header line "time[s],overlap_max[m],...", one row per sample with 17
/// significant digits, so that reading gives the same bits back. Rank 0 writes; each row reaches the system
/// before add() returns. A file that is removed or replaced meanwhile is written again (AppendedFile). All
/// members are collective; write errors make all ranks throw RunError.
class Table {
 public:
  struct Heading {
    std::string name;
    std::string unit;
  };

  /// Starts a new file, in place of one that exists.
  Table(const Comm& comm, const std::string& path, const std::vector<Heading>& headings);
  /// Goes on with a file: rows with a later time than `time`, or none (of what is as at the end of a run),
  /// and a last line cut short are removed first, by replacing the file as a whole. Throws InputError if
  /// there is no such file or its columns are others.
  static Table resume(const Comm& comm, const std::string& path, const std::vector<Heading>& headings,
                      Real time, std::size_t time_column = 0);

  /// Adds a row; the values are those of rank 0.
  void add(std::span<const Real> row);
  /// Adds whole lines, those of rank 0: of a table with texts.
  void add_lines(const std::string& lines);
  /// Looks whether the file is still there, as add() does now and then.
  void keep_in_place();

 private:
  Table(const Comm& comm, const std::string& path, const std::vector<Heading>& headings,
        const std::string& content);

  Comm comm_;
  std::string path_;
  std::size_t n_columns_;
  std::optional<AppendedFile> file_;  ///< on rank 0
};

/// A CSV file in memory.
struct TableContent {
  std::vector<std::string> names, units;  ///< of the columns
  std::vector<std::vector<Real>> rows;
  std::string rest;  ///< what follows the last line end: a row cut short, which is not among the rows
};
/// The content of a file that Table wrote. Throws InputError with path and line. Local.
TableContent table_of(const std::string& path, std::string text);
/// The same of the file itself. Throws on all ranks. Collective.
TableContent read_table(const Comm& comm, const std::string& path);

}  // namespace scree
