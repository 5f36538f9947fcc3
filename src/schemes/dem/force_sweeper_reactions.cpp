// What contacts exert on walls that a load moves.
#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/drive.hpp"
#include "schemes/dem/force_sweeper.hpp"

namespace scree {

/// With w the way of the contact point per unit of the wall's position: reaction -f . w, its growth with the
/// position by the stiffness, and with the velocity by the damping, along the normal and the tangents; and by
/// how much the stiffness takes from it as the body moves.
template <int D>
void ForceSweeper<D>::note_reaction(const State<D>& state, Index constraint, const Vec<D>& point,
                                    const SoftContact& contact, const MotionRecord& body,
                                    const MotionRecord& wall, const SoftForce& force) {
  const int number = state.obstacles.driven_of(constraint);
  const Drive<D>& drive =
      state.obstacles.drive_of(state.obstacles.driven()[static_cast<std::size_t>(number)]);
  const Vec<D> way = drive.way(state.obstacles.at_obstacle(constraint, point));
  Real pushed = 0, along_normal = 0, body_along_normal = 0, body_along_way = 0;
  for (int k = 0; k < D; ++k) {
    pushed -= force.force[k] * way[k];
    along_normal += contact.normal[k] * way[k];
    body_along_normal += contact.normal[k] * body.velocity[k];
    body_along_way += way[k] * body.velocity[k];
  }
  const auto turn = drive.spin();
  for (int k = 0; k < n_spins<D>; ++k) pushed -= force.rolling[3 - n_spins<D> + k] * turn[k];
  const Real normal_part = along_normal * along_normal;
  const Real tangential_part = std::max(dot(way, way) - normal_part, 0.0);
  const SoftLaw& pair = laws_.of(static_cast<int>(body.material), static_cast<int>(wall.material));
  const Real root = settings_.law == NormalLaw::hertz
                        ? std::sqrt(contact.effective_radius * std::max(contact.overlap, 0.0))
                        : 1;
  const Real stiffness = root * pair.stiffness;
  const Real inverse_mass = body.inverse_mass + wall.inverse_mass;
  const Real damping = inverse_mass > 0 ? pair.damping * std::sqrt(stiffness / inverse_mass) : 0;
  const bool rubs = settings_.friction && pair.friction > 0;
  const Real tangential = rubs ? root * pair.tangential : 0;
  const Real away = along_normal * body_along_normal;
  reactions_.push_back({number,
                        {pushed, stiffness * normal_part + tangential * tangential_part,
                         damping * (normal_part + (rubs ? pair.damping_ratio * tangential_part : 0)),
                         stiffness * away + tangential * (body_along_way - away)}});
}

template <int D>
void ForceSweeper<D>::tell_reactions(State<D>& state) {
  const auto walls = state.obstacles.driven();
  if (walls.empty()) return;
  constexpr std::size_t width = std::tuple_size_v<decltype(Reaction::of_contact)>;
  reaction_sums_.assign(walls.size() * width, 0.0);
  ReproducibleSum::sum(
      state.comm, reactions_.size(), reaction_sums_, [this](std::size_t i, std::span<Real> terms) {
        std::ranges::fill(terms, 0.0);
        std::ranges::copy(reactions_[i].of_contact,
                          terms.begin() + static_cast<std::ptrdiff_t>(
                                              static_cast<std::size_t>(reactions_[i].wall) * width));
      });
  for (std::size_t k = 0; k < walls.size(); ++k) {
    walls[k].reaction = reaction_sums_[k * width];
    walls[k].stiffness = reaction_sums_[k * width + 1];
    walls[k].damping = reaction_sums_[k * width + 2];
    walls[k].drift = reaction_sums_[k * width + 3];
  }
}

#define SCREE_REACTIONS(D)                                                                                  \
  template void ForceSweeper<D>::note_reaction(const State<D>&, Index, const Vec<D>&, const SoftContact&,   \
                                               const MotionRecord&, const MotionRecord&, const SoftForce&); \
  template void ForceSweeper<D>::tell_reactions(State<D>&);
SCREE_REACTIONS(2)
SCREE_REACTIONS(3)
#undef SCREE_REACTIONS

}  // namespace scree
