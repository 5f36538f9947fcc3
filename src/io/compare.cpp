#include "io/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "io/compare/differences.hpp"

namespace scree {

namespace {

using namespace detail;

/// Tables of a run that have names in some columns.
bool has_names(const std::string& path) {
  return std::ranges::any_of(std::array{".agents.csv", ".exits.csv", ".queues.csv", "ensemble.csv"},
                             [&](const char* ending) { return path.ends_with(ending); });
}

FileComparison compare_files(const Comm& comm, const std::string& first, const std::string& second,
                             const CompareOptions& options) {
  const auto both_are = [&](const char* ending) {
    const bool is_first = first.ends_with(ending), is_second = second.ends_with(ending);
    if (is_first != is_second)
      throw InputError(
          fmt::format("cannot compare {} with {}: only one of them is a file *{}", first, second, ending));
    return is_first;
  };
  if (has_names(first) && has_names(second))
    return compare_lines(comm, first, second, options.last_frame_only);
  if (both_are(".csv")) return compare_tables(comm, first, second, options.last_frame_only);
  if (both_are(trajectory_ending)) return compare_trajectories(comm, first, second);
  if (both_are(problem_ending)) return compare_problems(comm, first, second);
  return compare_arrays(comm, first, second, options.last_frame_only);
}

}  // namespace

Comparison compare_results(const Comm& comm, const std::string& first, const std::string& second,
                           const CompareOptions& options) {
  const Pairing pairing = pair_results(comm, first, second);
  Comparison comparison;
  comparison.only_in_one = pairing.only_in_one;
  for (const auto& [a, b] : pairing.pairs) {
    try {
      comparison.files.push_back(compare_files(comm, a, b, options));
    } catch (const InputError& error) {
      if (!pairing.of_folders) throw;
      // One file that a killed run left damaged is no reason to say nothing of the others.
      FieldDifference verdict{"file", "-"};
      add_remark(verdict, fmt::format("cannot be compared: {}", error.what()));
      comparison.files.push_back({a, b, {verdict}});
    }
  }
  return comparison;
}

}  // namespace scree
