#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

struct CompareOptions {
  bool last_frame_only = false;  ///< of H5MD files and tables
};

/// Where a quantity differs first, in the order of frames and rows.
struct FirstDifference {
  std::int64_t step = -1;                              ///< of the frame or state; -1: unknown
  Real time = std::numeric_limits<Real>::quiet_NaN();  ///< [s]; NaN: unknown
  std::int64_t row = -1;                               ///< -1: one value for the whole file
  std::int64_t component = -1;                         ///< of a row; -1: a row is one number
  std::int64_t id = -1;                                ///< global id of the body; -1: rows have none
  std::string partner{};          ///< of what a contact remembers: its other end, in words
  std::string first{}, second{};  ///< the values
  std::int64_t ulps = -1;         ///< difference in units in the last place; -1: not of two real numbers
};

/// How one quantity differs between two results.
struct FieldDifference {
  std::string name;
  std::string unit;
  bool equal = true;             ///< bit for bit
  Real largest = 0;              ///< largest absolute difference; infinite if one side is NaN or infinite
  std::int64_t n_different = 0;  ///< numbers whose bits differ
  std::int64_t step = -1;        ///< where the largest one is: step of the frame, -1 if there are no frames
  std::int64_t row = -1;         ///< row (or frame, for series)
  std::int64_t id = -1;          ///< global id in this row, -1 if rows have none
  std::optional<FirstDifference> first{};  ///< not set if nothing but the note differs
  std::string remark{};  ///< what else is different: a missing field, other numbers of rows or frames
};

/// Two files, compared.
struct FileComparison {
  std::string first, second;
  std::vector<FieldDifference> fields;
  bool equal() const;
};

struct Comparison {
  std::vector<FileComparison> files;
  std::vector<std::string> only_in_one;  ///< files of one folder that the other has no counterpart of
  /// Whether every file has its counterpart and is the same.
  bool equal() const;
  std::string text() const;
  std::string json() const;
  /// Where the results differ first: the earliest time, of this the first body, of this the first field.
  std::string first_text() const;
  std::string first_json() const;
};

/// Compares two results: two checkpoints, two H5MD files, two trajectories of people, two CSV tables, two
/// FCLIB files, or two result folders: then the latest checkpoint and all files of these kinds, each with
/// what is the same in the other folder whatever the names of the runs; of ensembles those of all members.
/// What describes the run and not its result is left out: provenance of files, columns named wall_*, logs,
/// summaries; and frames in vtk/, which show the ranks. Names of the version before count as those of now,
/// and the log names them. Rows are shared out over the ranks; the answer is the same for any number of them.
/// Throws InputError on all ranks if something cannot be read or there is nothing to compare. Collective.
Comparison compare_results(const Comm& comm, const std::string& first, const std::string& second,
                           const CompareOptions& options = {});

}  // namespace scree
