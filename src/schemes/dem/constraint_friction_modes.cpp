// ConstraintFriction: which contacts stick and which slip.
#include <algorithm>
#include <array>
#include <utility>

#include "core/reset.hpp"
#include "schemes/dem/constraint_friction.hpp"

namespace scree {

namespace {

/// Share of the largest limit in the run up to which friction at its limit still sticks: an equality but for
/// round-off would else flip the mode for ever.
constexpr Real limit_tolerance = 1e-9;
/// Contacts this far beyond their limit let go together; of the others only the worst around.
constexpr Real clear_excess = 0.1;
/// Rounds of a step in which some of the contacts beyond their limit may hold on, and rounds at most.
constexpr std::int64_t careful_rounds = 40, max_rounds = 80;

}  // namespace

/// Contacts that opened forget their modes, those that closed get one.
template <int D>
void ConstraintFriction<D>::begin_modes() {
  modes_.inherit(graph_, neighborhood_);
  const auto flip = [](ContactMode& mode) { mode.kind = -mode.kind; };
  for (ContactMode* mode : closed_) flip(*mode);
  for (const Touch& touch : contacts_)
    if (touch.mode->kind < 0) flip(*touch.mode);
  for (ContactMode* mode : closed_)
    if (mode->kind < 0) *mode = {};
  closed_.clear();
  for (const Touch& touch : contacts_) {
    adopt(touch);
    closed_.push_back(touch.mode);
  }
}

template <int D>
void ConstraintFriction<D>::adopt(const Touch& touch) {
  ContactMode& mode = *touch.mode;
  const Vec<D> u = slip_velocity(touch);
  const Vec<D> along = u - dot(u, touch.normal) * touch.normal;
  if (touch.friction == 0) {
    set_mode(mode, ContactMode::slip, Vec<D>{});
  } else if (mode.kind == ContactMode::open) {
    const Real speed = norm(along);
    set_mode(mode, speed > 0 ? ContactMode::slip : ContactMode::stick,
             speed > 0 ? (1 / speed) * along : along);
  } else if (mode.kind == ContactMode::slip) {
    // The direction turns with the tangent plane.
    const Vec<D> was = vector_of<D>(mode);
    const Vec<D> now = was - dot(was, touch.normal) * touch.normal;
    const Real length = norm(now);
    set_mode(mode, ContactMode::slip, length > 0 ? (1 / length) * now : now);
  }
}

/// Lets go contacts whose friction exceeds its limit; returns how many. Collective.
template <int D>
std::int64_t ConstraintFriction<D>::release(bool all) {
  const Comm& comm = state_.comm;
  Real largest = 0;
  for (const std::size_t s : sticking_.places())
    largest = std::max(largest, contacts_[s].friction * contacts_[s].normal_force);
  const Real tolerance = limit_tolerance * comm.max(largest);
  reset(excess_, sticking_.places().size());
  bool any = false;
  bool clear = false;
  for (std::size_t s = 0; s < sticking_.places().size(); ++s) {
    const Touch& touch = contacts_[sticking_.places()[s]];
    const Real limit = touch.friction * touch.normal_force;
    const Real excess = norm(vector_of<D>(*touch.mode)) - limit;
    if (excess <= tolerance) continue;
    excess_[s] = excess;
    any = true;
    clear = clear || excess > clear_excess * limit;
  }
  if (!comm.any(any)) return 0;
  clear = comm.any(clear);
  if (!clear && !all) find_worst();
  std::int64_t n = 0;
  for (std::size_t s = 0; s < sticking_.places().size(); ++s) {
    if (excess_[s] == 0) continue;
    const Touch& touch = contacts_[sticking_.places()[s]];
    if (!all && (clear ? excess_[s] <= clear_excess * touch.friction * touch.normal_force
                       : !is_worst(touch, excess_[s])))
      continue;
    const Vec<D> friction = vector_of<D>(*touch.mode);
    set_mode(*touch.mode, ContactMode::slip, (-1 / norm(friction)) * friction);
    ++n;
  }
  return comm.sum(n);
}

/// What orders contacts that exceed their limits: by how much, then who they are.
template <int D>
std::array<Real, 3> ConstraintFriction<D>::rank_of(const Touch& touch, Real excess) const {
  const auto id = std::as_const(state_.bodies).id();
  const GlobalId other = touch.b >= 0 ? id[touch.b] : -1 - GlobalId{graph_.wall[touch.index]};
  return {excess, static_cast<Real>(id[touch.a]), static_cast<Real>(other)};
}

/// The largest excess at each body, found as a sweep: each body has one active copy.
template <int D>
void ConstraintFriction<D>::find_worst() {
  std::ranges::fill(worst_, 0.0);
  std::size_t s = 0;
  const auto visit = [&](Index, Index end) {
    for (; s < sticking_.places().size() && contacts_[sticking_.places()[s]].index < end; ++s) {
      if (excess_[s] == 0) continue;
      const Touch& touch = contacts_[sticking_.places()[s]];
      const auto mine = rank_of(touch, excess_[s]);
      for (const Index body : {touch.a, touch.b})
        if (body >= 0)
          if (Real* worst = &worst_[static_cast<std::size_t>(body) * 3];
              std::lexicographical_compare(worst, worst + 3, mine.begin(), mine.end()))
            std::ranges::copy(mine, worst);
    }
  };
  // Zeros everywhere: whoever touches a body first has the right values.
  run_sweep_colours(halo_, graph_.colour_first, graph_.interior_first, worst_, 3, visit, {.first = false});
  halo_.copy_to_ghosts(worst_, 3);
}

/// Whether no contact that shares a body that moves is worse.
template <int D>
bool ConstraintFriction<D>::is_worst(const Touch& touch, Real excess) const {
  const auto mine = rank_of(touch, excess);
  return std::ranges::all_of(std::array{touch.a, touch.b}, [&](Index body) {
    if (body < 0 || sticking_.inverse_mass_of(static_cast<std::size_t>(body))[0] == 0) return true;
    return std::equal(mine.begin(), mine.end(), &worst_[static_cast<std::size_t>(body) * 3]);
  });
}

/// Solves until no sticking contact is beyond its limit.
template <int D>
void ConstraintFriction<D>::decide(Real time) {
  begin_modes();
  report_.n_released = report_.n_rounds = 0;
  while (true) {
    report_.residual = solve(time).residual;
    if (++report_.n_rounds == max_rounds) break;
    const std::int64_t n = release(report_.n_rounds > careful_rounds);
    if (n == 0) break;
    report_.n_released += n;
  }
}

/// Contacts that slip against their direction stick; in space the direction follows the slip.
template <int D>
void ConstraintFriction<D>::turn_back() {
  for (const Touch& touch : contacts_) {
    if (touch.mode->kind != ContactMode::slip || touch.friction == 0) continue;
    const Vec<D> u = slip_velocity(touch);
    const Vec<D> along = u - dot(u, touch.normal) * touch.normal;
    const Vec<D> direction = vector_of<D>(*touch.mode);
    const Real forward = dot(along, direction);
    if (forward < 0)
      set_mode(*touch.mode, ContactMode::stick, -touch.friction * touch.normal_force * direction);
    else if (forward > 0)
      set_mode(*touch.mode, ContactMode::slip, (1 / norm(along)) * along);
  }
}

template void ConstraintFriction<2>::decide(Real);
template void ConstraintFriction<3>::decide(Real);
template void ConstraintFriction<2>::adopt(const Touch&);
template void ConstraintFriction<3>::adopt(const Touch&);
template void ConstraintFriction<2>::turn_back();
template void ConstraintFriction<3>::turn_back();

}  // namespace scree
