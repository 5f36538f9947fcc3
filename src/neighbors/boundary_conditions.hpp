#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "geometry/box.hpp"
#include "neighbors/neighborhood_settings.hpp"
#include "state/state.hpp"
#include "state/step_messages.hpp"

namespace scree {

/// The periodic axes in the order in which bodies are wrapped: a tilted box moves them along `flow` when they
/// pass the faces across `gradient`.
template <int D>
std::vector<int> axes_to_wrap(const Box<D>& box) {
  std::vector<int> axes;
  if (box.gradient >= 0) axes.push_back(box.gradient);
  for (int k = 0; k < D; ++k)
    if (box.is_periodic(k) && k != box.gradient) axes.push_back(k);
  return axes;
}

/// By how many periods x lies beyond the box along an axis.
template <int D>
Real periods_beyond(const Box<D>& box, const Vec<D>& x, int axis) {
  const Real at = (box.upright(x)[axis] - box.lower[axis]) / box.length(axis);
  // Along the flow of a tilted box rounding may leave a body a little outside, and it stays there.
  constexpr Real rounding = 1e-12;
  if (axis == box.flow && at > -rounding && at < 1 + rounding) return 0;
  return std::floor(at);
}

/// Wraps owned body i into the box along `axes`. False, with the axes before it done, if its position is not
/// finite along some axis or too far away to be wrapped. Local.
template <int D>
bool wrap_body(State<D>& state, std::size_t i, const std::vector<int>& axes) {
  constexpr Real max_periods = 1e9;  // images are counted in 32 bits; beyond, a position has lost its digits
  const Box<D>& box = state.box;
  BodyStore<D>& bodies = state.bodies;
  Vec<D>& x = bodies.position()[i];
  if (!std::ranges::all_of(x.component, [](Real value) { return std::isfinite(value); })) return false;
  for (const int k : axes) {
    Real periods = periods_beyond(box, x, k);
    if (periods == 0) continue;
    if (std::abs(periods) > max_periods) return false;
    x -= periods * box.period(k);
    if (k != box.flow && periods_beyond(box, x, k) != 0) {
      // Rounding put it on or beyond a face, and there it would be wrapped once more by the next list.
      periods += std::round((x[k] - box.lower[k]) / box.length(k));
      x[k] = box.lower[k];
    }
    if (bodies.carries_path()) bodies.previous()[i] -= periods * box.period(k);
    if (state.deformation.moves())
      bodies.velocity()[i] -= periods * state.deformation.period_velocity(box, k);
    bodies.image()[i][k] += static_cast<std::int32_t>(periods);
  }
  return true;
}

/// Wraps owned bodies into the box along periodic axes, and does to bodies outside an open face what
/// `outside` says. Returns how many were removed, over all ranks. Throws RunError naming the body if a
/// position is not finite, or lies outside with Outside::error. Collective.
template <int D>
std::int64_t apply_boundary_conditions(State<D>& state, Outside outside) {
  BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  std::vector<Index> leaving;
  GlobalId first_offender = std::numeric_limits<GlobalId>::max();
  std::string complaint;
  const Box<D>& box = state.box;
  const std::vector<int> axes = axes_to_wrap(box);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec<D>& x = bodies.position()[i];
    bool is_outside = false;
    for (int k = 0; k < D; ++k)
      is_outside = is_outside || (!box.is_periodic(k) && (x[k] < box.lower[k] || x[k] > box.upper[k]));
    const bool finite = wrap_body(state, i, axes);
    const bool offends = !finite || (is_outside && outside == Outside::error);
    if (offends && bodies.id()[i] < first_offender) {
      first_offender = bodies.id()[i];
      std::string path;
      if (bodies.carries_path())
        path = fmt::format("; it was at ({:g}) one step before",
                           fmt::join(bodies.previous()[i].component, ", "));
      complaint = fmt::format(
          "{}: body {} {} at ({:g}){}. {}", step_label(state.clock), bodies.id()[i],
          finite ? "left the domain" : "has no finite position", fmt::join(x.component, ", "), path,
          finite ? "Enlarge [domain], add a wall, or set domain.outside to \"delete\" or \"keep\""
                 : "Reduce [time] step");
    }
    if (is_outside && outside == Outside::remove) leaving.push_back(static_cast<Index>(i));
  }
  complaint = message_of_smallest(state.comm, first_offender, complaint);
  if (!complaint.empty()) throw RunError(complaint);
  if (!leaving.empty()) {
    std::vector<Index> all(n), staying(n - leaving.size());
    std::iota(all.begin(), all.end(), Index{0});
    std::set_difference(all.begin(), all.end(), leaving.begin(), leaving.end(), staying.begin());
    state.memory = state.memory.of(staying);
    bodies.reorder(staying);
  }
  return state.comm.sum(static_cast<std::int64_t>(n) - bodies.n_owned());
}

}  // namespace scree
