#include "neighbors/contact_detector.hpp"

#include "neighbors/flush_walls.hpp"

namespace scree {

namespace {

/// What a detection reads, and which candidates it takes for contacts. Without `has_shapes` all bodies are
/// spheres, and nothing asks for their shapes.
template <int D, bool has_shapes>
class Detection {
 public:
  Detection(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules,
            ShapeContacts<D>& shapes)
      : state_(state),
        schedule_(list.schedule()),
        shift_table_(list.shift_table()),
        rules_(rules),
        position_(state.bodies.position()),
        radius_(state.bodies.radius()),
        mobility_(state.bodies.mobility()),
        shapes_(shapes),
        shape_(state.bodies.shape()),
        moving_(!rules.displacement.empty()) {
    if constexpr (has_shapes) shapes.begin(state, list, rules);
  }

  /// Whether a pair is a contact; if so, after add(low, high, -1, gap, normal, branch, place[, point,
  /// feature]) for each of its points.
  template <class F>
  bool take_pair(std::size_t place, Index low, Index high, Index shift, F&& add) const {
    const std::size_t a = low;
    const std::size_t b = high;
    if (mobility_[a] == 0 && mobility_[b] == 0) return false;  // fixed: nothing passes between them
    if (!may_meet(state_, a, b)) return false;
    Vec<D> d = position_[a] - position_[b];
    if (shift >= 0)
      for (int k = 0; k < D; ++k) d[k] += shift_table_[3 * shift + k];
    if constexpr (has_shapes) {
      if (shape_[a] != 0 || shape_[b] != 0) return take_pair_of_shapes(place, low, high, -d, add);
    }
    const Real contact_distance = radius_[a] + radius_[b];
    const Real reach = rules_.tolerance * contact_distance;
    const Real distance = norm(d);
    const Real gap = distance - contact_distance;
    const Vec<D> normal = distance > 0 ? d * (-1 / distance) : unit_vector<D>(0);
    if (gap > reach && gap + along(rules_.displacement, rules_.affine, normal, -d, a, b) > reach &&
        gap + along(rules_.other_displacement, rules_.other_affine, normal, -d, a, b) >=
            -rules_.overlap_threshold &&
        !rules_.remembers_pair(place))
      return false;
    add(low, high, Index{-1}, gap, normal, -d, place);
    return true;
  }

  /// The same of a pair in the list of the last detection, `was_found`: whether it was a contact then.
  bool misses_pair(std::size_t place, Index low, Index high, Index shift, bool was_found) const {
    const auto no_one = [](auto&&...) {};
    if constexpr (has_shapes) {
      if (shape_[low] != 0 || shape_[high] != 0)
        return shapes_.may_miss_points(low, high) && take_pair(place, low, high, shift, no_one) &&
               (!was_found || shapes_.misses_point());
    }
    return !was_found && take_pair(place, low, high, shift, no_one);
  }

  /// Calls add() for the contacts of a batch; returns how many of its bodies have any. `surface`: the surface
  /// as seen from `at`, where its bodies are; `from`: where they were when the step began, or `at`. Calls
  /// leave_out(place) where another wall stands for this one.
  template <class F, class G>
  std::size_t take_wall(const typename SweepSchedule<D>::WallBatch& wall, std::span<const Vec<D>> at,
                        std::span<const Vec<D>> from, std::span<const SurfacePoint<D>> surface, F&& add,
                        G&& leave_out) const {
    const auto which = schedule_.wall_bodies(wall);
    const Real tolerance = rules_.tolerance;
    const Real dt = rules_.dt;
    std::size_t n_contacts = 0;
    misses_point_at_wall_ = false;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::size_t body = which[k];
      const bool is_taken =
          mobility_[body] != 0 || (rules_.includes_fixed && state_.obstacles.driven_of(wall.constraint) >= 0);
      if (!is_taken || !may_meet_obstacle(state_, body, wall.constraint)) continue;
      if constexpr (has_shapes) {
        if (shape_[body] != 0) {
          n_contacts += take_wall_of_shape(wall, k, from[k], add, leave_out) ? 1 : 0;
          continue;
        }
      }
      if (!surface[k].in_reach()) continue;
      const Real r = radius_[body];
      SurfacePoint<D> seen = surface[k];
      const Real gap = seen.distance - r;
      const std::size_t own_place = static_cast<std::size_t>(wall.first) + k;
      const bool is_ahead =
          gap > tolerance * r && !rules_.remembers_wall(remembering_place(own_place, at[k], r));
      if (is_ahead) {
        if (!moving_) continue;
        const Vec<D> of_wall = state_.obstacles.velocity(wall.constraint, at[k] - seen.distance * seen.normal,
                                                         state_.clock.time + dt / 2);
        const Vec<D> closing = dt * of_wall - rules_.displacement[body];
        const auto& other = rules_.other_displacement;
        if (gap - dot(seen.normal, closing) > tolerance * r &&
            (other.empty() ||
             gap - dot(seen.normal, dt * of_wall - other[body]) >= -rules_.overlap_threshold))
          continue;
      }
      if (stands_another_for(state_, schedule_, own_place, body, wall.constraint, seen, at[k], r) ||
          (is_ahead && !turn_ahead(state_, schedule_, own_place, body, wall.constraint, at[k], r, seen))) {
        leave_out(own_place);
        continue;
      }
      add(which[k], -1, wall.constraint, seen.distance - r, -seen.normal, -seen.distance * seen.normal,
          own_place);
      ++n_contacts;
    }
    return n_contacts;
  }
  /// Whether a body with a shape of the last batch lacked a point, see ShapeContacts::misses_point().
  bool misses_point_at_wall() const { return misses_point_at_wall_; }

 private:
  /// The contacts of a pair in which one or both have a shape. `between`: centre of `high` minus that of
  /// `low`.
  template <class F>
  bool take_pair_of_shapes(std::size_t place, Index low, Index high, const Vec<D>& between, F&& add) const {
    const Manifold<D>& found = shapes_.of_pair(place, low, high, between);
    for (int k = 0; k < found.n; ++k) {
      const auto& point = found.points[k];
      add(low, high, Index{-1}, point.gap, found.normal, between, place, point.place, point.feature);
    }
    return found.n > 0;
  }
  /// The contacts of body k of a batch, which has a shape.
  template <class F, class G>
  bool take_wall_of_shape(const typename SweepSchedule<D>::WallBatch& wall, std::size_t k, const Vec<D>& from,
                          F&& add, G&& leave_out) const {
    const Index body = schedule_.wall_bodies(wall)[k];
    const std::size_t place = static_cast<std::size_t>(wall.first) + k;
    const WallContacts<D>& found = shapes_.of_wall(place, body, wall.constraint, from);
    misses_point_at_wall_ = misses_point_at_wall_ || shapes_.misses_point();
    if (found.n == 0 && shapes_.leaves_out()) leave_out(place);
    for (int i = 0; i < found.n; ++i) {
      const auto& p = found.points[i];
      add(body, -1, wall.constraint, p.gap, p.normal, p.place + 0.5 * p.gap * p.normal, place, p.place,
          p.feature);
    }
    return found.n > 0;
  }
  /// normal . (displacement of b - that of a), with that of the flow of a deforming domain over the branch
  /// from a to b; 0 without displacements.
  Real along(std::span<const Vec<D>> displacement,
             const typename DomainDeformation<D>::AffineDisplacement& affine, const Vec<D>& normal,
             const Vec<D>& branch, std::size_t a, std::size_t b) const {
    if (displacement.empty()) return 0;
    const Real closing = dot(normal, displacement[b] - displacement[a]);
    return rules_.is_deforming ? closing + dot(normal, affine(branch)) : closing;
  }
  /// Where the numbers of a contact are: with a neighbouring part if the body has just come from there.
  std::size_t remembering_place(std::size_t place, const Vec<D>& x, Real radius) const {
    if (rules_.wall_values.empty() || rules_.remembers_wall(place)) return place;
    for (const auto& other : schedule_.wall_neighbours(place)) {
      if (!rules_.remembers_wall(static_cast<std::size_t>(other.place))) continue;
      SurfacePoint<D> seen;
      state_.obstacles.nearest(other.constraint, {&x, 1}, {&seen, 1});
      if (!seen.in_reach()) return static_cast<std::size_t>(other.place);
    }
    for (const auto& other : schedule_.walls_beside(place)) {
      const std::size_t at = other.place;
      if (!rules_.remembers_wall(at)) continue;
      SurfacePoint<D> seen;
      state_.obstacles.nearest(other.constraint, {&x, 1}, {&seen, 1});
      const std::size_t body = schedule_.wall_bodies()[at];
      if (stands_another_for(state_, schedule_, at, body, other.constraint, seen, x, radius)) return at;
    }
    return place;
  }
  const State<D>& state_;
  const SweepSchedule<D>& schedule_;
  std::span<const Real> shift_table_;
  const ContactRules<D>& rules_;
  std::span<const Vec<D>> position_;
  std::span<const Real> radius_, mobility_;
  ShapeContacts<D>& shapes_;
  std::span<const std::int32_t> shape_;
  mutable bool misses_point_at_wall_ = false;
  bool moving_;
};

template <int D>
void add_point(ContactGraph<D>& contacts, const Vec<D>& point, std::uint32_t feature) {
  contacts.point.push_back(point);
  contacts.feature.push_back(feature);
}

}  // namespace

template <int D>
void ContactDetector<D>::detect(const State<D>& state, const NeighborList<D>& list,
                                const ContactRules<D>& rules, ContactGraph<D>& contacts,
                                std::span<Index> block_contacts) {
  if (state.bodies.carries_shapes())
    detect_as<true>(state, list, rules, contacts, block_contacts);
  else
    detect_as<false>(state, list, rules, contacts, block_contacts);
}

template <int D>
template <bool has_shapes>
void ContactDetector<D>::detect_as(const State<D>& state, const NeighborList<D>& list,
                                   const ContactRules<D>& rules, ContactGraph<D>& contacts,
                                   std::span<Index> block_contacts) {
  const SweepSchedule<D>& schedule = list.schedule();
  const Detection<D, has_shapes> detection(state, list, rules, shapes_);
  contacts.clear();
  n_walls_ = n_pairs_ = 0;
  near_.find(state, list, rules);
  const auto radius = state.bodies.radius();
  const auto add = [&](Index a, Index b, Index wall, Real gap, const Vec<D>& normal, const Vec<D>& branch,
                       std::size_t place, const auto&... point_and_feature) {
    contacts.add(a, b, gap, normal, place);
    contacts.wall.push_back(wall);
    contacts.branch.push_back(branch);
    if constexpr (sizeof...(point_and_feature) > 0) {
      add_point(contacts, point_and_feature...);
    } else if constexpr (has_shapes) {
      add_point(contacts, (radius[a] + 0.5 * gap) * normal, 0);
    }
  };
  Index n_before = 0;
  const auto add_blocks = [&](std::span<const typename SweepSchedule<D>::Block> blocks) {
    for (const auto& block : blocks) {
      const std::size_t number = &block - schedule.all_blocks().data();
      near_.for_each(number, [&](std::size_t place, Index low, Index high, Index shift) {
        const bool is_contact = detection.take_pair(place, low, high, shift, add);
        n_pairs_ += is_contact ? 1 : 0;
        return is_contact;
      });
      for (const auto& wall : schedule.walls(block)) {
        detect_wall(state, list, rules, wall);
        n_walls_ += detection.take_wall(
            wall, at_, rules.keeps_sides ? from_ : at_, surface_, add,
            [&](std::size_t place) { contacts.excluded.push_back(static_cast<Index>(place)); });
      }
      const auto n_contacts = static_cast<Index>(contacts.size());
      block_contacts[number] = n_contacts - n_before;
      n_before = n_contacts;
    }
    return static_cast<Index>(contacts.size());
  };
  contacts.colour_first.push_back(0);
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    contacts.interior_first.push_back(add_blocks(schedule.boundary_blocks(colour)));
    contacts.colour_first.push_back(add_blocks(schedule.interior_blocks(colour)));
  }
}

/// The surface as seen from the bodies of a batch.
template <int D>
void ContactDetector<D>::detect_wall(const State<D>& state, const NeighborList<D>& list,
                                     const ContactRules<D>& rules,
                                     const typename SweepSchedule<D>::WallBatch& wall) {
  const BodyStore<D>& bodies = state.bodies;
  const auto which = list.schedule().wall_bodies(wall);
  at_.clear();
  for (const Index i : which) at_.push_back(bodies.position()[i]);
  surface_.resize(at_.size());
  if (!rules.keeps_sides) return state.obstacles.nearest(wall.constraint, at_, surface_);
  from_.clear();
  for (const Index i : which) from_.push_back(bodies.step_start()[i]);
  state.obstacles.nearest(wall.constraint, at_, from_, surface_);
}

template <int D>
bool ContactDetector<D>::misses(const State<D>& state, const NeighborList<D>& list,
                                const ContactRules<D>& rules) {
  return state.bodies.carries_shapes() ? misses_as<true>(state, list, rules)
                                       : misses_as<false>(state, list, rules);
}

template <int D>
template <bool has_shapes>
bool ContactDetector<D>::misses_as(const State<D>& state, const NeighborList<D>& list,
                                   const ContactRules<D>& rules) {
  const SweepSchedule<D>& schedule = list.schedule();
  const Detection<D, has_shapes> detection(state, list, rules, shapes_);
  const bool knows_found = near_.find(state, list, rules);
  std::size_t n_pairs = 0, n_walls = 0;
  bool misses_point = false;
  for (std::size_t block = 0; block < schedule.all_blocks().size(); ++block) {
    if (knows_found) {
      if (near_.any(block, [&](auto... pair) { return detection.misses_pair(pair...); })) return true;
      continue;
    }
    near_.for_each(block, [&](auto... pair) {
      const bool is_contact = detection.take_pair(pair..., [](auto&&...) {});
      misses_point = misses_point || (has_shapes && shapes_.misses_point());
      n_pairs += is_contact ? 1 : 0;
      return is_contact;
    });
  }
  for (const auto& wall : schedule.walls()) {
    detect_wall(state, list, rules, wall);
    const auto no_one = [](auto&&...) {};
    n_walls += detection.take_wall(wall, at_, rules.keeps_sides ? from_ : at_, surface_, no_one, no_one);
    misses_point = misses_point || detection.misses_point_at_wall();
  }
  return misses_point || (!knows_found && n_pairs != n_pairs_) || n_walls != n_walls_;
}

template class ContactDetector<2>;
template class ContactDetector<3>;

}  // namespace scree
