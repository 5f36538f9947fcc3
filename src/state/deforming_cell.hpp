#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "core/section.hpp"
#include "geometry/box.hpp"

namespace scree {

/// What a periodic cell is asked to do. Along each axis a rate of strain or a stress; not a number: as
/// before.
template <int D>
struct CellOrder {
  Real shear_rate = NAN;                ///< [1/s]
  Vec<D> strain_rate = filled<D>(NAN);  ///< [1/s], positive: longer
  Vec<D> stress = filled<D>(NAN);       ///< normal stress along each axis [Pa], compression positive
  Real pressure = NAN;                  ///< mean of them; all axes strain alike [Pa]

  bool sets_strain() const {
    const auto is_given = [](Real x) { return !std::isnan(x); };
    return std::ranges::any_of(strain_rate.component, is_given) || sets_stress();
  }
  bool sets_stress() const {
    return !std::isnan(pressure) ||
           std::ranges::any_of(stress.component, [](Real x) { return !std::isnan(x); });
  }
};

/// A periodic cell whose shape changes (docs/method.md, "Deforming cells"): sheared along `flow` across
/// `gradient`, and strained along its axes.
///
/// With the periods of the cell as columns of H, H' = L H for a velocity gradient L. Within a step H' stays
/// the same, so a body and its images move alike to round-off. Positions and velocities are those of the
/// laboratory; a body that leaves through a face comes back with the velocity of its image. When L changes,
/// velocities change by (L - L_before) (x - centre): the motion about the flow, c = v - L (x - centre),
/// stays.
template <int D>
class DeformingCell {
 public:
  /// Declares and reads [domain.deformation].
  void describe(Section& domain, Box<D>& box);
  /// The same of an entry of [[stages]]: what changes from its beginning on.
  static void describe_order(Section& stage, CellOrder<D>& order, std::string& where);
  /// Throws InputError if an order cannot be given to the cell. `where`: its place in the deck.
  void check_order(const Box<D>& box, const CellOrder<D>& order, const std::string& where) const;

  /// Whether the deck has the table.
  bool is_given() const { return is_given_; }
  const std::string& where() const { return where_; }
  /// What the cell is asked to do: the order of the deck, and on top of it those of stages.
  void start_orders() { order_ = first_order_; }
  void change_order(const CellOrder<D>& order);
  bool is_stress_driven() const { return order_.sets_stress(); }
  bool follows_stress(int axis) const {
    return !std::isnan(order_.pressure) || !std::isnan(order_.stress[axis]);
  }
  /// Largest residual of a stress, as a share of what is asked for; 0 if none is.
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
  /// Whether the cell is in motion.
  bool moves() const { return moves_; }

  /// What the last evaluation of forces found, for orders of stress.
  struct Response {
    Vec<D> stress{};   ///< normal stress along each axis, of contacts and motion [Pa]
    Real modulus = 0;  ///< by which it grows with strain, about [Pa]; 0: nothing touches
  };
  void set_response(const Response& response) { response_ = response; }
  const Response& response() const { return response_; }

  /// Chooses L for the step of dt that begins. `change(kick)` is called if it changes: velocities change by
  /// kick(x).
  template <class F>
  void begin_step(const Box<D>& box, Real dt, F&& change) {
    const Vec<D> strain_before = strain_rates(box);
    const Real shear_before = shear_rate(box);
    choose_speeds(box, dt);
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
  /// The box at the end of that step.
  void advance(Box<D>& box, Real dt);
  /// If the tilt is more than half a period: one period less. Returns by how many periods along `flow` the
  /// image across the gradient has come nearer.
  std::int64_t flip(Box<D>& box);

  // For the neighbour list.
  void set_reference(const Box<D>& box) { listed_ = box; }
  const Box<D>& listed() const { return listed_; }
  /// How far the flow takes points from when the list was built until some time later.
  struct Carry {
    Vec<D> centre{}, stretch{};  ///< lengths then over before, less 1
    Real shear = 0;              ///< way along flow per length along gradient
    int flow = -1, gradient = -1;

    Vec<D> operator()(const Vec<D>& listed) const {
      const Vec<D> from_centre = listed - centre;
      Vec<D> displacement;
      for (int k = 0; k < D; ++k) displacement[k] = stretch[k] * from_centre[k];
      if (gradient >= 0) displacement[flow] += shear * from_centre[gradient];
      return displacement;
    }
    /// The flow changes the vector between two points by at most this share of its length.
    Real strain() const { return std::sqrt(dot(stretch, stretch) + shear * shear); }
  };
  /// Until dt after now.
  Carry carry(const Box<D>& box, Real dt) const;
  /// The flow changes the vector between two points by at most this share of its length until dt later.
  Real strain_since_listed(const Box<D>& box, Real dt) const;
  /// The fastest strain that a step may have, by the norm of L [1/s].
  Real fastest() const;

  /// Calls f(name, number) for what checkpoints keep.
  template <class Cell, class F>
  static void for_each_number(Cell& cell, F&& f) {
    for (int k = 0; k < D; ++k) {
      const std::string axis(1, "xyz"[k]);
      f("speed_" + axis, cell.speed_[k]);
      f("stress_" + axis, cell.response_.stress[k]);
      f("listed_lower_" + axis, cell.listed_.lower[k]);
      f("listed_upper_" + axis, cell.listed_.upper[k]);
    }
    f("slip", cell.slip_);
    f("modulus", cell.response_.modulus);
    f("shear_strain", cell.shear_strain_);
    f("listed_offset", cell.listed_.offset);
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
  void choose_speeds(const Box<D>& box, Real dt);
  Real rate_for(Real stress, Real target, Real dt) const;

  // The deck.
  bool is_given_ = false;
  std::string where_;
  CellOrder<D> first_order_;
  Real max_rate_ = 0;        // [1/s]
  Real response_time_ = -1;  // [s]; not positive: not given

  CellOrder<D> order_;
  bool moves_ = false;
  Vec<D> speed_{};  // of the lengths [m/s]
  Real slip_ = 0;   // of the offset [m/s]
  Real shear_strain_ = 0;
  Response response_;
  Box<D> listed_{};
};

}  // namespace scree
