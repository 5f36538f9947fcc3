#pragma once
#include "contact/contact_graph.hpp"
#include "schemes/dem/wall_visitor.hpp"

namespace scree {

/// Writes the forces of contacts into a ContactGraph of the present positions.
template <int D>
class ForceExport {
 public:
  /// `contacts`: found by Neighborhood::detect. By the present velocities; step.batches.dt is 0, no history
  /// advances. Collective.
  static void write(StepContext<D>& step, GhostExchange<D>& ghosts, ContactGraph<D>& contacts) {
    step.records.load(step.state.bodies);
    step.records.copy_to_ghosts(ghosts);
    const bool rolls = step.law.resists_rolling;
    contacts.force.assign(contacts.size(), 0);
    contacts.load.assign(step.state.materials.has_cohesion() ? contacts.size() : 0, 0.0);
    contacts.friction.assign(contacts.size(), Vec<D>{});
    contacts.rolling.assign(rolls ? contacts.size() : 0, Spin<D>{});
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (!acts(step, contacts, c)) continue;
      const SoftForce f = force_of(step, contacts, c);
      const Vec<D> force = in_dimension<D>(f.force);
      contacts.force[c] = dot(force, contacts.normal[c]);
      if (!contacts.load.empty()) contacts.load[c] = f.load;
      contacts.friction[c] = force - contacts.force[c] * contacts.normal[c];
      for (int k = 0; k < n_spins<D> && rolls; ++k) contacts.rolling[c][k] = f.rolling[first_spin<D> + k];
    }
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  static bool acts(const StepContext<D>& step, const ContactGraph<D>& contacts, std::size_t c) {
    const bool is_pair = contacts.b[c] >= 0;
    const std::size_t place = at(contacts.place[c]);
    const bool touched = is_pair ? step.histories.pair_touches(place) : step.histories.wall_touches(place);
    if (contacts.gap[c] >= 0 && !(step.law.reach > 0 && touched)) return false;
    if (!is_pair) return WallVisitor<D>::feels(step, contacts.wall[c], at(contacts.a[c]));
    const auto& motions = step.records.motions;
    return motions[at(contacts.a[c])].inverse_mass + motions[at(contacts.b[c])].inverse_mass != 0;
  }
  static SoftForce force_of(const StepContext<D>& step, const ContactGraph<D>& contacts, std::size_t c) {
    const std::size_t a = at(contacts.a[c]), place = at(contacts.place[c]);
    const bool is_pair = contacts.b[c] >= 0;
    const auto radius = step.state.bodies.radius();
    SoftContact contact{in_space(contacts.normal[c]), -contacts.gap[c], radius[a], 0, 0};
    MotionRecord b{};
    if (is_pair) {
      const Real radius_b = radius[at(contacts.b[c])];
      contact.effective_radius = effective_radius(radius[a], radius_b);
      contact.lever_a = radius[a] - 0.5 * contact.overlap;
      contact.lever_b = radius_b - 0.5 * contact.overlap;
      b = motion_of_image(step, contacts, c);
    } else {
      contact.lever_a = norm(contacts.branch[c]);
      b = WallVisitor<D>::motion_of_wall(
          step, contacts.wall[c], step.state.bodies.position()[a] + contacts.branch[c], contacts.normal[c]);
    }
    ContactSprings springs = is_pair ? step.histories.pair(place) : step.histories.wall(place);
    return step.law.kernels.contact(step.batches, contact, step.records.motions[a], b, springs.history,
                                    &springs.rolling);
  }
  /// How b of a pair moves where a sees it.
  static MotionRecord motion_of_image(const StepContext<D>& step, const ContactGraph<D>& contacts,
                                      std::size_t c) {
    const State<D>& state = step.state;
    const std::size_t a = at(contacts.a[c]), b = at(contacts.b[c]);
    MotionRecord motion = step.records.motions[b];
    if (!state.deformation.moves()) return motion;
    const auto position = state.bodies.position();
    const Vec<D> shift = position[b] - position[a] - contacts.branch[c];
    const Vec<D> velocity = state.deformation.gradient_times(state.box, shift);
    for (int k = 0; k < D; ++k) motion.velocity[k] -= velocity[k];
    return motion;
  }
};

}  // namespace scree
