#pragma once
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/types.hpp"
#include "io/compare.hpp"

namespace scree::detail {

inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
template <class Integer>
inline bool same_bits(Integer a, Integer b) {
  return a == b;
}

inline Real distance(double a, double b) {
  const Real d = std::abs(a - b);
  return std::isnan(d) ? HUGE_VAL : d;
}
inline Real distance(float a, float b) {
  return distance(static_cast<double>(a), static_cast<double>(b));
}
template <class Integer>
inline Real distance(Integer a, Integer b) {
  const auto larger = static_cast<std::uint64_t>(std::max(a, b));
  return static_cast<Real>(larger - static_cast<std::uint64_t>(std::min(a, b)));
}

/// Steps between neighbouring numbers from a to b; -1 for NaN. Beyond 2^63 - 1 that many.
template <class Float, class Int>
std::int64_t ulps_of(Float a, Float b) {
  if (std::isnan(a) || std::isnan(b)) return -1;
  const auto place = [](Float x) {  // numbers in their order
    const Int i = std::bit_cast<Int>(x);
    return i >= 0 ? Int{i} : static_cast<Int>(std::numeric_limits<Int>::min() - i);
  };
  const Int min = std::min(place(a), place(b)), max = std::max(place(a), place(b));
  const std::uint64_t steps = static_cast<std::uint64_t>(max) - static_cast<std::uint64_t>(min);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(steps, std::numeric_limits<std::int64_t>::max()));
}
inline std::int64_t ulps_between(double a, double b) {
  return ulps_of<double, std::int64_t>(a, b);
}
inline std::int64_t ulps_between(float a, float b) {
  return ulps_of<float, std::int32_t>(a, b);
}
template <class Integer>
std::int64_t ulps_between(Integer, Integer) {
  return -1;
}

constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

/// What this rank found in its rows.
struct RowDifferences {
  Real largest = -1;  ///< -1: nothing differs
  std::int64_t n_different = 0;
  std::int64_t row = no_row;  ///< of the largest
  std::int64_t first_row = no_row;
  std::int64_t first_component = 0, first_ulps = -1;
  std::string first_a, first_b;
};

template <class T>
RowDifferences differences(const std::vector<T>& a, const std::vector<T>& b, std::int64_t first_row,
                           int components) {
  RowDifferences found;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (same_bits(a[i], b[i])) continue;
    const std::int64_t row = first_row + static_cast<std::int64_t>(i) / components;
    if (++found.n_different == 1) {
      found.first_row = row;
      found.first_component = components > 1 ? static_cast<std::int64_t>(i) % components : -1;
      found.first_ulps = ulps_between(a[i], b[i]);
      found.first_a = fmt::format("{}", a[i]);
      found.first_b = fmt::format("{}", b[i]);
    }
    const Real d = distance(a[i], b[i]);
    if (d <= found.largest) continue;
    found.largest = d;
    found.row = row;
  }
  return found;
}

/// When the rows of a comparison were written.
struct Moment {
  std::int64_t step = -1;
  Real time = std::numeric_limits<Real>::quiet_NaN();
};

/// Adds what all ranks found in one frame to the verdict on a field. Ties go to the first frame and the first
/// row, so the report does not depend on the ranks. `reported_step`: -1 if the rows have none. Collective.
void add_to(FieldDifference& verdict, const Comm& comm, const RowDifferences& found,
            std::int64_t reported_step, std::int64_t first_row, const std::vector<GlobalId>& ids,
            const Moment& moment = {});

inline void add_remark(FieldDifference& verdict, const std::string& remark) {
  verdict.equal = false;
  verdict.remark += (verdict.remark.empty() ? "" : "; ") + remark;
}

/// A verdict on a field that only one of two files has.
FieldDifference only_in(const char* which, const std::string& name, const std::string& unit = "-");

FileComparison compare_arrays(const Comm& comm, const std::string& first, const std::string& second,
                              bool last_frame_only);
FileComparison compare_tables(const Comm& comm, const std::string& first, const std::string& second,
                              bool last_row_only);
/// Tables with names in them are compared line by line.
FileComparison compare_lines(const Comm& comm, const std::string& first, const std::string& second,
                             bool last_row_only);
/// Paths of people: their rows, in the order of frames and ids.
FileComparison compare_trajectories(const Comm& comm, const std::string& first, const std::string& second);
/// Contact problems: all numbers in them.
FileComparison compare_problems(const Comm& comm, const std::string& first, const std::string& second);

constexpr const char* trajectory_ending = ".trajectory.h5";
constexpr const char* problem_ending = ".hdf5";

struct Pairing {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<std::string> only_in_one;
  bool of_folders = false;
};
/// Two files, or the files of two folders that belong together. Rank 0 looks into the folders, the others
/// learn from it: file systems may show them different states. Collective.
Pairing pair_results(const Comm& comm, const std::string& first, const std::string& second);

}  // namespace scree::detail
