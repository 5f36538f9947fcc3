#include "schemes/pbd/shape_projection.hpp"

#include <algorithm>
#include <cmath>

#include "particles/orientation.hpp"
#include "schemes/common/free_rotation.hpp"

namespace scree {

namespace {

/// r x n.
template <int D>
Spin<D> moment(const Vec<D>& r, const Vec<D>& n) {
  if constexpr (D == 2)
    return {{r[0] * n[1] - r[1] * n[0]}};
  else
    return cross(r, n);
}

}  // namespace

/// One of two bodies that meet, and where this visit takes it.
template <int D>
struct ShapeProjection<D>::End {
  SweepRecord& record;
  Orientation<D>& orientation;
  const BodyShape<D>& shape;
  bool is_sphere;
  Real mobility;
  Vec<D> move{};
  Spin<D> turn{};

  BodyPose<D> pose(const Vec<D>& centre) const { return {centre, axes_of<D>(orientation), record.radius}; }
  Real rounding() const { return record.radius * shape.form.rounding; }
  /// How much farther apart than the nearest points those may be that keep their multipliers.
  Real width() const {
    constexpr Real share = 0.05;
    return 2 * share * record.radius * shape.form.inscribed_radius;
  }
  /// What the moment (r x n) of a push of 1 turns it by.
  Spin<D> response(const Spin<D>& arm) const {
    if (is_sphere) return {};
    const Vec<n_spins<D>> moments = record.radius * record.radius * shape.moments;
    if constexpr (D == 2)
      return {{mobility * arm[0] / moments[0]}};
    else
      return mobility * over_inertia(orientation, moments, arm);
  }
  /// Goes where the visit takes it, but turns no farther than gaps follow to first order: a body that is
  /// turned too far meets others, their pushes meet more, and remembered multipliers grow from step to step.
  void go() {
    constexpr Real share = 0.05;  // displacement of the ends over the inscribed radius
    for (int k = 0; k < D; ++k) record.x[k] += move[k];
    const Real angle = norm(turn), max = share * shape.form.inscribed_radius;
    if (angle > 0) orientation = turned<D>(orientation, turn, std::min(1.0, max / angle));
  }
};

/// A contact point. `along`: how the gap changes with the motion of an end is dot(normal, move) + dot(arm,
/// turn), with a minus for a.
template <int D>
struct ShapeProjection<D>::Contact {
  Vec<D> normal;  // from a to b
  Real gap;
  std::uint32_t feature;
  Spin<D> arm_a, arm_b;  // r x n
  Spin<D> response_a{}, response_b{};
  Real total = 0;  // W
  Real multiplier = 0;
};

template <int D>
void ShapeProjection<D>::prepare(const State<D>& state, const Neighborhood<D>& neighborhood) {
  const auto orientation = state.bodies.orientation();
  orientation_.assign(orientation.begin(), orientation.begin() + state.bodies.n_local());
  axis_.assign(neighborhood.schedule().n_batches() * batch_size, Vec<D>{});
}

template <int D>
Real ShapeProjection<D>::run(const Sweep& sweep, const typename SweepSchedule<D>::Block& block) {
  const SweepSchedule<D>& schedule = sweep.neighborhood.schedule();
  const auto shift_table = sweep.neighborhood.list().shift_table();
  Real deepest = 0;
  schedule.for_each_pair(block, [&](std::size_t place, Index low, Index high, Index shift) {
    Vec<D> between = position_of<D>(sweep.records[high]) - position_of<D>(sweep.records[low]);
    if (shift >= 0)
      for (int k = 0; k < D; ++k) between[k] -= shift_table[3 * shift + k];
    deepest = std::max(deepest, treat_pair(sweep, place, low, high, between));
  });
  for (const auto& wall : schedule.walls(block)) {
    const auto which = schedule.wall_bodies(wall);
    for (std::size_t k = 0; k < which.size(); ++k)
      deepest = std::max(
          deepest, treat_wall(sweep, static_cast<std::size_t>(wall.first) + k, which[k], wall.constraint));
  }
  return deepest;
}

template <int D>
typename ShapeProjection<D>::End ShapeProjection<D>::end_of(const Sweep& sweep, std::size_t body) {
  const std::int32_t shape = sweep.state.bodies.shape()[body];
  return {sweep.records[body], orientation_[body], sweep.state.shapes[shape], shape == 0,
          sweep.mobility.empty() ? 1 : sweep.mobility[body]};
}

/// `between`: the centre of high minus that of low.
template <int D>
Real ShapeProjection<D>::treat_pair(const Sweep& sweep, std::size_t place, Index low, Index high,
                                    const Vec<D>& between) {
  const auto i = static_cast<std::size_t>(low), j = static_cast<std::size_t>(high);
  Points& remembered = sweep.multipliers.points_of_pairs()[place];
  const bool remembers = remembered.any();
  if (sweep.mode == PairMode::warm && !remembers) return 0;
  const Real distance = norm(between), sum = sweep.records[i].radius + sweep.records[j].radius;
  if (distance >= sum && !remembers) return 0;
  End a = end_of(sweep, i), b = end_of(sweep, j);
  if (a.mobility == 0 && b.mobility == 0) return 0;
  std::array<Contact, Points::max> contacts;
  std::size_t n = 0;
  if (a.is_sphere && b.is_sphere) {
    Vec<D> normal = (1 / distance) * between;
    if (distance < 1e-12 * sum) {
      const auto& ids = sweep.state.bodies.id();
      const Vec<3> direction = coincident_direction(ids[i], ids[j], D);
      for (int k = 0; k < D; ++k) normal[k] = -direction[k];
    }
    contacts[n++] = {.normal = normal, .gap = distance - sum, .feature = 0, .arm_a = {}, .arm_b = {}};
  } else {
    const BodyPose<D> pose_a = a.pose({}), pose_b = b.pose(between);
    const Real width = std::min(a.width(), b.width());
    const Manifold<D> found = contact_points<D>({a.shape.core, pose_a}, {b.shape.core, pose_b}, a.rounding(),
                                                b.rounding(), remembers ? HUGE_VAL : 0, width, &axis_[place]);
    for (int k = 0; k < found.n; ++k) {
      const auto& p = found.points[k];
      contacts[n++] = {.normal = found.normal,
                       .gap = p.gap,
                       .feature = p.feature,
                       .arm_a = moment<D>(p.place, found.normal),
                       .arm_b = moment<D>(p.place - between, found.normal)};
    }
  }
  return project(sweep, std::span(contacts).first(n), a, &b, remembered);
}

template <int D>
Real ShapeProjection<D>::treat_wall(const Sweep& sweep, std::size_t place, Index body, int constraint) {
  const std::size_t i = body;
  Points& remembered = sweep.multipliers.points_of_walls()[place];
  const bool remembers = remembered.any();
  if (sweep.mode == PairMode::warm && !remembers) return 0;
  End a = end_of(sweep, i);
  if (a.mobility == 0) return 0;
  const Vec<D> x = position_of<D>(a.record), from = sweep.state.bodies.step_start()[i];
  std::array<Contact, Points::max> contacts;
  std::size_t n = 0;
  if (a.is_sphere) {
    SurfacePoint<D> seen;
    sweep.state.obstacles.nearest(constraint, {&x, 1}, {&from, 1}, {&seen, 1});
    if (seen.in_reach())
      contacts[n++] = {.normal = -seen.normal,
                       .gap = seen.distance - a.record.radius,
                       .feature = 0,
                       .arm_a = {},
                       .arm_b = {}};
  } else {
    const Real width = a.width();
    sweep.state.obstacles.touch(constraint, a.shape.core, a.pose(x), a.rounding(), from,
                                remembers ? HUGE_VAL : 0, width, wall_);
    for (int k = 0; k < wall_.n; ++k) {
      const auto& p = wall_.points[k];
      contacts[n++] = {.normal = p.normal,
                       .gap = p.gap,
                       .feature = p.feature,
                       .arm_a = moment<D>(p.place, p.normal),
                       .arm_b = {}};
    }
  }
  return project(sweep, std::span(contacts).first(n), a, nullptr, remembered);
}

/// Treats the points of a pair, or of a body and a wall (b null).
template <int D>
Real ShapeProjection<D>::project(const Sweep& sweep, std::span<Contact> contacts, End& a, End* b,
                                 Points& remembered) {
  const bool keeps = sweep.mode != PairMode::plain;
  if (keeps) {
    std::array<Vec<D>, Points::max> pushes;
    const std::span known = std::span(pushes).first(contacts.size());
    remembered.read([&](std::size_t k) { return contacts[k].feature; }, known);
    for (std::size_t k = 0; k < known.size(); ++k)
      contacts[k].multiplier = std::max(dot(known[k], contacts[k].normal), 0.0);
  }
  const Real compliance = sweep.mode == PairMode::accumulate ? sweep.parameters.compliance : 0;
  Real deepest = 0;
  for (Contact& c : contacts) {
    c.response_a = a.response(c.arm_a);
    c.total = a.mobility + dot(c.arm_a, c.response_a) + compliance;
    if (b) {
      c.response_b = b->response(c.arm_b);
      c.total += b->mobility + dot(c.arm_b, c.response_b);
    }
    if (sweep.mode != PairMode::warm) deepest = std::max(deepest, -c.gap);
  }
  const auto push_apart = [&](const Contact& c, Real push) {
    a.move -= a.mobility * push * c.normal;
    a.turn -= push * c.response_a;
    if (!b) return;
    b->move += b->mobility * push * c.normal;
    b->turn += push * c.response_b;
  };
  for (Contact& c : contacts) {
    Real gap = c.gap - dot(c.normal, a.move) - dot(c.arm_a, a.turn);
    if (b) gap += dot(c.normal, b->move) + dot(c.arm_b, b->turn);
    Real push = 0;
    switch (sweep.mode) {
      case PairMode::plain:
      case PairMode::record:
        push = std::max(-gap, 0.0) / c.total;
        c.multiplier += push;
        break;
      case PairMode::accumulate:
        push = std::max((-gap - compliance * c.multiplier) / c.total, -c.multiplier);
        c.multiplier += push;
        break;
      case PairMode::warm:
        c.multiplier *= sweep.parameters.scale;
        push = c.multiplier;
        break;
    }
    if (push != 0) push_apart(c, push);
  }
  if (keeps) {
    remembered = {};
    for (const Contact& c : contacts) remembered.add(c.feature, c.multiplier * c.normal);
  }
  a.go();
  if (b) b->go();
  return deepest;
}

template class ShapeProjection<2>;
template class ShapeProjection<3>;

}  // namespace scree
