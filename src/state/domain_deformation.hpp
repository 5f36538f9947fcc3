#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "core/section.hpp"
#include "geometry/box.hpp"

namespace scree {

/// What a periodic domain is asked to do. Along each axis a rate of strain or a stress; not a number: as
/// before.
template <int D>
struct DeformationOrder {
  Real shear_rate = NAN;                ///< [1/s]
  Vec<D> strain_rate = filled<D>(NAN);  ///< [1/s], positive: longer
  Vec<D> stress = filled<D>(NAN);       ///< normal stress along each axis [Pa], compression positive
  Real pressure = NAN;                  ///< mean of them; all axes strain alike [Pa]
  Real shear_stress = NAN;              ///< what resists a positive shear_rate, which follows it [Pa]

  bool sets_strain() const { return any_given(strain_rate) || sets_normal_stress(); }
  bool sets_normal_stress() const { return !std::isnan(pressure) || any_given(stress); }
  bool sets_stress() const { return sets_normal_stress() || !std::isnan(shear_stress); }

 private:
  static bool any_given(const Vec<D>& numbers) {
    return std::ranges::any_of(numbers.component, [](Real x) { return !std::isnan(x); });
  }
};

/// A periodic domain whose shape changes (docs/method.md, "Deforming domains"): sheared along `flow` across
/// `gradient`, and strained along its axes.
///
/// With the periods of the domain as columns of H, H' = L H for a velocity gradient L. Within a step H' stays
/// the same, so a body and its images move alike to round-off. Positions and velocities are those of the
/// laboratory; a body that leaves through a face comes back with the velocity of its image. When L changes,
/// velocities change by (L - L_before) (x - centre): the motion about the flow, c = v - L (x - centre),
/// stays.
template <int D>
class DomainDeformation {
 public:
  /// Declares and reads [domain.deformation].
  void describe(Section& domain, Box<D>& box);
  /// The same of an entry of [[stages]]: what changes from its beginning on.
  static void describe_order(Section& stage, DeformationOrder<D>& order, std::string& where);
  /// Throws InputError if an order cannot be given to the domain. `where`: its place in the deck.
  void check_order(const Box<D>& box, const DeformationOrder<D>& order, const std::string& where) const;

  /// Whether the deck has the table.
  bool is_given() const { return is_given_; }
  const std::string& where() const { return where_; }
  /// What the domain is asked to do: the order of the deck, and on top of it those of stages.
  void start_orders() { order_ = first_order_; }
  void change_order(const DeformationOrder<D>& order);
  bool is_stress_driven() const { return order_.sets_stress(); }
  Real largest_target() const {  ///< [Pa]
    Real max = std::isnan(order_.pressure) ? 0 : order_.pressure;
    for (const Real stress : order_.stress.component)
      if (stress > max) max = stress;
    return follows_shear_stress() ? std::max(max, std::abs(order_.shear_stress)) : max;
  }
  /// Whether the deck has max_rate, without which no stage can ask for a stress.
  bool may_follow_stress() const { return max_rate_ > 0; }
  bool follows_stress(int axis) const {
    return !std::isnan(order_.pressure) || !std::isnan(order_.stress[axis]);
  }
  bool follows_shear_stress() const { return !std::isnan(order_.shear_stress); }
  /// Largest residual of a stress, as a share of what is asked for, a shear stress as one of the largest
  /// stress that is; 0 if none is.
  Real stress_residual() const;

  /// L (x - centre): the velocity of the flow at x [m/s].
  Vec<D> flow_at(const Box<D>& box, const Vec<D>& x) const { return gradient_times(box, x - box.centre()); }
  /// L r [m/s].
  Vec<D> gradient_times(const Box<D>& box, const Vec<D>& r) const {
    Vec<D> result{};
    if (!moves_) return result;
    for (int k = 0; k < D; ++k) result[k] = strain_rate(box, k) * r[k];
    if (box.gradient >= 0) result[box.flow] += shear_rate(box) * r[box.gradient];
    return result;
  }
  /// Velocity of the image across the upper face of an axis against that of the body [m/s].
  Vec<D> period_velocity(const Box<D>& box, int axis) const {
    Vec<D> velocity{};
    velocity[axis] = speed_[axis];
    if (axis == box.gradient) velocity[box.flow] = slip_;
    return velocity;
  }
  Real strain_rate(const Box<D>& box, int axis) const { return speed_[axis] / box.length(axis); }
  Real shear_rate(const Box<D>& box) const {
    return box.gradient < 0 ? 0
                            : (slip_ - strain_rate(box, box.flow) * box.offset) / box.length(box.gradient);
  }
  /// Whether the domain is in motion.
  bool moves() const { return moves_; }
  /// How the periods move.
  struct Motion {
    Vec<D> speed{};  ///< of the lengths [m/s]
    Real slip = 0;   ///< of the offset [m/s]
  };
  Motion motion() const { return {speed_, slip_}; }
  void set_motion(const Motion& motion) {
    speed_ = motion.speed;
    slip_ = motion.slip;
    moves_ = speed_ != Vec<D>{} || slip_ != 0;
  }

  /// What the last evaluation of forces found, for orders of stress.
  struct Response {
    Vec<D> stress{};        ///< normal stress along each axis, of contacts and motion [Pa]
    Real shear_stress = 0;  ///< the same of what resists a positive rate of shear [Pa]
    Real modulus = 0;       ///< by which they grow with strain, about [Pa]; 0: nothing touches
  };
  void set_response(const Response& response) { response_ = response; }
  const Response& response() const { return response_; }

  /// Chooses L for the step of dt that begins. `change(kick)` is called if it changes: velocities change by
  /// kick(x).
  template <class F>
  void begin_step(const Box<D>& box, Real dt, F&& change) {
    const Vec<D> strain_before = strain_rates(box);
    const Real shear_before = shear_rate(box);
    choose_motion(box, dt);
    const Vec<D> strain_change = strain_rates(box) - strain_before;
    const Real shear_change = shear_rate(box) - shear_before;
    if (strain_change == Vec<D>{} && shear_change == 0) return;
    const Vec<D> centre = box.centre();
    change([&](const Vec<D>& x) {
      Vec<D> kick{};
      for (int k = 0; k < D; ++k) kick[k] = strain_change[k] * (x[k] - centre[k]);
      if (box.gradient >= 0) kick[box.flow] += shear_change * (x[box.gradient] - centre[box.gradient]);
      return kick;
    });
  }
  /// The same for a scheme that counts velocities about the flow. Returns by how much rates that follow
  /// stresses change, each as the share of its stress by which it answers such a residual: 0 where they
  /// are those that the response asks for. `answer`: by which the next response answers a change of rates, at
  /// most [Pa s]; with it rates go as far as does not overshoot.
  Real choose_motion(const Box<D>& box, Real dt, Real answer = 0);
  /// The shortest time in which a residual of stress may fall by a factor e, with steps of dt [s].
  static constexpr Real usual_steps = 20;
  Real response_time(Real dt) const { return response_time_ > 0 ? response_time_ : usual_steps * dt; }
  /// The box dt later.
  Box<D> box_after(const Box<D>& box, Real dt) const;
  /// The box at the end of that step; whether it moved. A rate of shear that follows a stress goes on from a
  /// rate that comes by `share` nearer to that of the step: 1 lets it go on from that.
  bool advance(Box<D>& box, Real dt, Real share = 1);
  /// If the tilt is more than half a period: one period less. Returns by how many periods along `flow` the
  /// image across the gradient has come nearer.
  std::int64_t flip(Box<D>& box);

  // For the neighbour list.
  void set_reference(const Box<D>& box) { reference_ = box; }
  const Box<D>& reference() const { return reference_; }
  /// How far the flow takes points from when the list was built until some time later.
  struct AffineDisplacement {
    Vec<D> centre{}, stretch{};  ///< lengths then over before, less 1
    Real shear = 0;              ///< displacement along flow per length along gradient
    int flow = -1, gradient = -1;

    Vec<D> operator()(const Vec<D>& reference) const {
      const Vec<D> from_centre = reference - centre;
      Vec<D> displacement;
      for (int k = 0; k < D; ++k) displacement[k] = stretch[k] * from_centre[k];
      if (gradient >= 0) displacement[flow] += shear * from_centre[gradient];
      return displacement;
    }
    /// The flow changes the vector between two points by at most this share of its length.
    Real strain() const { return std::sqrt(dot(stretch, stretch) + shear * shear); }
  };
  /// Until dt after now.
  AffineDisplacement affine_displacement(const Box<D>& box, Real dt) const;
  /// dt L r of the vector r between two points.
  AffineDisplacement affine_displacement_in_step(const Box<D>& box, Real dt) const {
    return {.stretch = dt * strain_rates(box),
            .shear = dt * shear_rate(box),
            .flow = box.flow,
            .gradient = box.gradient};
  }
  /// The flow changes the vector between two points by at most this share of its length until dt later.
  Real strain_since_reference(const Box<D>& box, Real dt) const;
  /// The fastest strain that a step may have, by the norm of L [1/s].
  Real fastest() const;

  /// Calls f(name, number) for what checkpoints keep.
  template <class Deformation, class F>
  static void for_each_number(Deformation& deformation, F&& f) {
    for (int k = 0; k < D; ++k) {
      const std::string axis(1, "xyz"[k]);
      f("speed_" + axis, deformation.speed_[k]);
      f("stress_" + axis, deformation.response_.stress[k]);
      f("reference_lower_" + axis, deformation.reference_.lower[k]);
      f("reference_upper_" + axis, deformation.reference_.upper[k]);
    }
    f("slip", deformation.slip_);
    f("lasting_shear_rate", deformation.lasting_shear_rate_);
    f("shear_stress", deformation.response_.shear_stress);
    f("modulus", deformation.response_.modulus);
    f("shear_strain", deformation.shear_strain_);
    f("reference_offset", deformation.reference_.offset);
  }
  /// After these were read.
  void restore(const Box<D>& box);
  Real shear_strain() const { return shear_strain_; }  ///< since the start of the run

 private:
  Vec<D> strain_rates(const Box<D>& box) const {
    Vec<D> rates;
    for (int k = 0; k < D; ++k) rates[k] = strain_rate(box, k);
    return rates;
  }
  Real resistance_to(Real target, Real dt) const;

  // The deck.
  bool is_given_ = false;
  std::string where_;
  DeformationOrder<D> first_order_;
  Real max_rate_ = 0;        // [1/s]
  Real response_time_ = -1;  // [s]; not positive: not given

  DeformationOrder<D> order_;
  bool moves_ = false;
  Vec<D> speed_{};  // of the lengths [m/s]
  Real slip_ = 0;   // of the offset [m/s]
  Real lasting_shear_rate_ = 0;
  Real shear_strain_ = 0;
  Response response_;
  Box<D> reference_{};
};

}  // namespace scree
