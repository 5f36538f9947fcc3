// ConstraintFriction: what touches, with which normal force and slip velocity.
#include <utility>

#include "schemes/common/contact_pair.hpp"
#include "schemes/dem/constraint_friction.hpp"

namespace scree {

namespace {

/// spin x n.
template <int D>
Vec<D> velocity_of_turning(const Spin<D>& spin, const Vec<D>& n) {
  if constexpr (D == 2)
    return {{-spin[0] * n[1], spin[0] * n[0]}};
  else
    return cross(spin, n);
}
}  // namespace

template <int D>
Vec<D> ConstraintFriction<D>::linear(Index body) const {
  Vec<D> v;
  if (body >= 0) std::copy_n(&v_[static_cast<std::size_t>(body) * q], D, v.component.begin());
  return v;
}

template <int D>
Spin<D> ConstraintFriction<D>::spin(Index body) const {
  Spin<D> w;
  if (body >= 0) std::copy_n(&v_[static_cast<std::size_t>(body) * q + D], n_spins<D>, w.component.begin());
  return w;
}

/// Finds what touches at the present positions and velocities, with normal forces.
template <int D>
void ConstraintFriction<D>::look(Real time) {
  state_.obstacles.place(time);
  halo_.copy_to_ghosts(v_, q);
  neighborhood_.detect(state_, {.keeps_sides = true}, graph_);
  contacts_.clear();
  passed_ = {};
  for (std::size_t c = 0; c < graph_.size(); ++c) {
    if (graph_.gap[c] >= 0) continue;
    contacts_.push_back(touch_of(graph_, c, time));
    // A centre behind the surface.
    if (graph_.b[c] < 0 && dot(graph_.branch[c], graph_.normal[c]) < 0 &&
        state_.obstacles.is_thin(graph_.wall[c]))
      passed_.add(state_.bodies.id()[graph_.a[c]], graph_.wall[c]);
  }
}

template <int D>
typename ConstraintFriction<D>::Touch ConstraintFriction<D>::touch_of(const ContactGraph<D>& contacts,
                                                                      std::size_t c, Real time) {
  const auto radius = std::as_const(state_.bodies).radius();
  Touch touch{.a = contacts.a[c],
              .b = contacts.b[c],
              .index = static_cast<Index>(c),
              .normal = contacts.normal[c],
              .overlap = -contacts.gap[c]};
  const std::size_t a = touch.a;
  if (touch.b >= 0) {
    const Real radius_b = radius[touch.b];
    touch.distance = radius[a] + radius_b - touch.overlap;
    touch.lever_a = radius[a] - 0.5 * touch.overlap;
    touch.lever_b = radius_b - 0.5 * touch.overlap;
  } else {
    touch.distance = touch.lever_a = radius[a] - touch.overlap;
    const Vec<D> point = std::as_const(state_.bodies).position()[a] + contacts.branch[c];
    touch.surface_velocity =
        state_.obstacles.surface_velocity(contacts.wall[c], point, contacts.normal[c], time);
  }
  touch.friction = pair_of(state_, contacts, c).friction;
  touch.mode = &modes_.of(contacts, c);
  find_normal_force(touch, contacts.wall[c]);
  return touch;
}

/// By the kernels of soft contact with laws that have no friction.
template <int D>
void ConstraintFriction<D>::find_normal_force(Touch& touch, Index wall) const {
  const BodyStore<D>& bodies = state_.bodies;
  const auto motion_of = [&](Index body) {
    MotionRecord motion{};
    const std::size_t i = body;
    motion.inverse_mass = *sticking_.inverse_mass_of(i);
    motion.material = state_.type_material[bodies.type()[i]];
    const Vec<D> v = linear(body);
    for (int k = 0; k < D; ++k) motion.velocity[k] = v[k];
    return motion;
  };
  SoftContact contact;
  for (int k = 0; k < D; ++k) contact.normal[k] = touch.normal[k];
  contact.overlap = touch.overlap;
  const Real radius_a = bodies.radius()[touch.a];
  MotionRecord other{};
  if (touch.b >= 0) {
    contact.effective_radius = effective_radius(radius_a, bodies.radius()[touch.b]);
    other = motion_of(touch.b);
  } else {
    contact.effective_radius = radius_a;
    for (int k = 0; k < D; ++k) other.velocity[k] = touch.surface_velocity[k];
    other.material = state_.obstacle_material[state_.obstacles.obstacle_of(wall)];
  }
  ForceBatches operands;
  operands.laws = laws_.laws().data();
  operands.n_materials = laws_.n_materials();
  ContactHistory none{};
  const SoftForce force = kernels_.contact(operands, contact, motion_of(touch.a), other, none, nullptr);
  touch.normal_force = dot(force.force, contact.normal);
}

/// u: of b, or the obstacle, against a at the contact point.
template <int D>
Vec<D> ConstraintFriction<D>::slip_velocity(const Touch& touch) const {
  const Vec<D> other = touch.b >= 0 ? linear(touch.b) : touch.surface_velocity;
  const Spin<D> turning = touch.lever_a * spin(touch.a) + touch.lever_b * spin(touch.b);
  return other - linear(touch.a) - velocity_of_turning<D>(turning, touch.normal);
}

/// The part of du/dt across the normal that is no acceleration of bodies, for u along the normal (eq. K.7).
template <int D>
Vec<D> ConstraintFriction<D>::drift(const Touch& touch, Real time) const {
  const Vec<D>& n = touch.normal;
  if (touch.b < 0) {
    // The normal of an obstacle counts as fixed. Its surface is seen where the contact point goes.
    const Vec<D> of_body = linear(touch.a);
    const Real opening = dot(n, touch.surface_velocity - of_body);
    const Index wall = graph_.wall[touch.index];
    Vec<D> speeding_up;
    const Real h = 0.5 * step_;
    if (h > 0) {
      const Vec<D> point = std::as_const(state_.bodies).position()[touch.a] + touch.distance * n;
      const Vec<D> path = h * (of_body + opening * n);
      speeding_up = (1 / step_) * (state_.obstacles.surface_velocity(wall, point + path, n, time + h) -
                                   state_.obstacles.surface_velocity(wall, point - path, n, time - h));
    }
    return speeding_up - velocity_of_turning<D>(opening * spin(touch.a), n);
  }
  const Vec<D> apart = linear(touch.b) - linear(touch.a);
  const Real opening = dot(n, apart);
  const Vec<D> turn = (1 / touch.distance) * (apart - opening * n);  // dn/dt
  const Spin<D> spin_a = spin(touch.a);
  const Spin<D> spin_b = spin(touch.b);
  return -opening * turn - velocity_of_turning<D>(0.5 * opening * (spin_a + spin_b), n) -
         velocity_of_turning<D>(touch.lever_a * spin_a + touch.lever_b * spin_b, turn);
}

template void ConstraintFriction<2>::look(Real);
template void ConstraintFriction<3>::look(Real);
template ConstraintFriction<2>::Touch ConstraintFriction<2>::touch_of(const ContactGraph<2>&, std::size_t,
                                                                      Real);
template ConstraintFriction<3>::Touch ConstraintFriction<3>::touch_of(const ContactGraph<3>&, std::size_t,
                                                                      Real);
template Vec<2> ConstraintFriction<2>::slip_velocity(const Touch&) const;
template Vec<3> ConstraintFriction<3>::slip_velocity(const Touch&) const;
template Vec<2> ConstraintFriction<2>::drift(const Touch&, Real) const;
template Vec<3> ConstraintFriction<3>::drift(const Touch&, Real) const;

}  // namespace scree
