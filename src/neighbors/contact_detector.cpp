#include "neighbors/contact_detector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/memory.hpp"

namespace scree {

namespace {

/// One detection: what it reads, and the contacts that it finds.
template <int D>
class Detection {
 public:
  Detection(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules,
            ContactGraph<D>& contacts)
      : state_(state),
        schedule_(list.schedule()),
        shift_table_(list.shift_table()),
        rules_(rules),
        contacts_(contacts),
        position_(state.bodies.position()),
        radius_(state.bodies.radius()),
        mobility_(state.bodies.mobility()),
        moving_(!rules.displacement.empty()) {}

  void add_pair(std::size_t place, Index low, Index high, Index shift) {
    const auto a = static_cast<std::size_t>(low);
    const auto b = static_cast<std::size_t>(high);
    if (mobility_[a] == 0 && mobility_[b] == 0) return;  // held in place: nothing passes between them
    Vec<D> d = position_[a] - position_[b];
    if (shift >= 0)
      for (int k = 0; k < D; ++k) d[k] += shift_table_[static_cast<std::size_t>(3 * shift + k)];
    const Real contact_distance = radius_[a] + radius_[b];
    const Real reach = rules_.tolerance * contact_distance;
    const Real distance = norm(d);
    const Real gap = distance - contact_distance;
    const Vec<D> normal = distance > 0 ? d * (-1 / distance) : unit_vector<D>(0);
    if (gap > reach && gap + along(rules_.displacement, normal, a, b) > reach &&
        gap + along(rules_.other_displacement, normal, a, b) >= -rules_.deep && !rules_.remembers_pair(place))
      return;
    add(low, high, -1, gap, normal, -d, place);
  }

  /// `surface`: the surface as seen from `at`, where the bodies of the batch are.
  void add_wall(const typename SweepSchedule<D>::WallBatch& wall, std::span<const Vec<D>> at,
                std::span<const SurfacePoint<D>> surface) {
    const auto which = schedule_.wall_bodies(wall);
    const Real tolerance = rules_.tolerance;
    const Real dt = rules_.dt;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const auto body = static_cast<std::size_t>(which[k]);
      if (mobility_[body] == 0) continue;
      if (!surface[k].in_reach()) continue;
      const Real r = radius_[body];
      const Real gap = surface[k].distance - r;
      const Vec<D> branch = surface[k].normal * -surface[k].distance;
      const std::size_t place = remembering_place(static_cast<std::size_t>(wall.first) + k, at[k]);
      if (gap > tolerance * r && !rules_.remembers_wall(place)) {
        if (!moving_) continue;
        const Vec<D> of_wall =
            state_.obstacles.velocity(wall.constraint, at[k] + branch, state_.clock.time + dt / 2);
        const Vec<D> closing = dt * of_wall - rules_.displacement[body];
        const auto& other = rules_.other_displacement;
        if (gap - dot(surface[k].normal, closing) > tolerance * r &&
            (other.empty() || gap - dot(surface[k].normal, dt * of_wall - other[body]) >= -rules_.deep))
          continue;
      }
      add(which[k], -1, wall.constraint, gap, -surface[k].normal, branch, place);
    }
  }

 private:
  /// direction . (displacement of b - that of a); 0 without displacements.
  static Real along(std::span<const Vec<D>> displacement, const Vec<D>& direction, std::size_t a,
                    std::size_t b) {
    return displacement.empty() ? 0 : dot(direction, displacement[b] - displacement[a]);
  }
  /// Where the numbers of a contact are: with a neighbouring part if the body has just come from there.
  std::size_t remembering_place(std::size_t place, const Vec<D>& x) const {
    if (rules_.wall_values.empty() || rules_.remembers_wall(place)) return place;
    for (const auto& other : schedule_.wall_neighbours(place)) {
      if (!rules_.remembers_wall(static_cast<std::size_t>(other.place))) continue;
      SurfacePoint<D> seen;
      state_.obstacles.nearest(other.constraint, {&x, 1}, {&seen, 1});
      if (!seen.in_reach()) return static_cast<std::size_t>(other.place);
    }
    return place;
  }
  void add(Index a, Index b, Index wall, Real gap, const Vec<D>& normal, const Vec<D>& branch,
           std::size_t place) {
    contacts_.add(a, b, gap, normal, place);
    contacts_.wall.push_back(wall);
    contacts_.branch.push_back(branch);
  }

  const State<D>& state_;
  const SweepSchedule<D>& schedule_;
  std::span<const Real> shift_table_;
  const ContactRules<D>& rules_;
  ContactGraph<D>& contacts_;
  std::span<const Vec<D>> position_;
  std::span<const Real> radius_, mobility_;
  bool moving_;
};

}  // namespace

template <int D>
void ContactDetector<D>::detect(const State<D>& state, const NeighborList<D>& list,
                                const ContactRules<D>& rules, ContactGraph<D>& contacts,
                                std::span<Index> block_contacts) {
  const SweepSchedule<D>& schedule = list.schedule();
  const BodyStore<D>& bodies = state.bodies;
  Detection<D> detection(state, list, rules, contacts);
  contacts.clear();
  near_.find(state, list, rules);
  const auto add_wall = [&](const typename SweepSchedule<D>::WallBatch& wall) {
    const auto which = schedule.wall_bodies(wall);
    at_.clear();
    for (const Index i : which) at_.push_back(bodies.position()[static_cast<std::size_t>(i)]);
    surface_.resize(at_.size());
    if (rules.keeps_sides) {
      from_.clear();
      for (const Index i : which) from_.push_back(bodies.step_start()[static_cast<std::size_t>(i)]);
      state.obstacles.nearest(wall.constraint, at_, from_, surface_);
    } else {
      state.obstacles.nearest(wall.constraint, at_, surface_);
    }
    detection.add_wall(wall, at_, surface_);
  };
  Index n_before = 0;
  const auto add_blocks = [&](std::span<const typename SweepSchedule<D>::Block> blocks) {
    for (const auto& block : blocks) {
      const auto number = static_cast<std::size_t>(&block - schedule.all_blocks().data());
      near_.for_each(number, [&](std::size_t place, Index low, Index high, Index shift) {
        detection.add_pair(place, low, high, shift);
      });
      for (const auto& wall : schedule.walls(block)) add_wall(wall);
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

template <int D>
std::size_t ContactDetector<D>::bytes() const {
  return near_.bytes() + held_bytes(at_, from_, surface_);
}

template class ContactDetector<2>;
template class ContactDetector<3>;

}  // namespace scree
