#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/error.hpp"
#include "crowd/people/person_rows.hpp"

namespace scree {

/// Calls f(frame, person) for each row of a trajectory.
using EachRow = std::function<void(const std::function<void(std::int64_t, const PersonRow&)>&)>;

/// The people of one frame: `frame`, or the first one if it is -1.
inline void take_frame(const std::string& path, std::int64_t frame, const EachRow& each_row,
                       const TakePerson& take) {
  std::int64_t first = -1, last = -1;
  if (frame < 0) {
    each_row([&](std::int64_t f, const PersonRow&) { first = first < 0 ? f : std::min(first, f); });
    frame = first;
  }
  std::int64_t n_taken = 0;
  each_row([&](std::int64_t f, const PersonRow& person) {
    first = first < 0 ? f : std::min(first, f);
    last = std::max(last, f);
    if (f != frame) return;
    PersonRow copy = person;
    copy.row = ++n_taken;
    take(copy);
  });
  if (n_taken > 0) return;
  if (last < 0) throw InputError(path + ": the trajectory has no row");
  throw InputError(
      fmt::format("{}: nobody is in frame {}: its frames go from {} to {}", path, frame, first, last));
}

}  // namespace scree
