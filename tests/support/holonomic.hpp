#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "friction/linear/constraints.hpp"
#include "schemes/dem/integrator.hpp"

namespace scree {

/// Bodies with constraints g(x) = 0 on their positions: rods, joints. Arrays x and v have width numbers for
/// each body held, ghosts current; rows, g and g_qq one number per row of this rank.
class HolonomicSystem {
 public:
  virtual ~HolonomicSystem() = default;
  /// Sets halo, width, the bodies of the rows and the masses; they stay.
  virtual void start(ConstraintRows& rows) = 0;
  /// Writes g(x) and the Jacobian of the rows, G = dg/dx. Local.
  virtual void evaluate(std::span<const Real> x, std::span<Real> g, ConstraintRows& rows) const = 0;
  /// Writes g_qq(v, v), the part of g'' without accelerations. Local.
  virtual void curvature(std::span<const Real> x, std::span<const Real> v, std::span<Real> g_qq) const = 0;
  /// Writes M^-1 f, the accelerations without constraints, of owned bodies. Local.
  virtual void accelerate(Real time, std::span<const Real> x, std::span<const Real> v,
                          std::span<Real> a) const = 0;
};

/// What is put back onto the constraints after each step.
struct Stabilization {
  bool position = false;
  bool velocity = false;
};

/// Holonomic constraints in index-1 form (docs/method.md, "Constraints"):
///     x'' = M^-1 (f - G^T lambda),   (G M^-1 G^T) lambda = G M^-1 f + g_qq(x', x').
/// An integrator that is left alone with it drifts from g = 0 and G v = 0; stabilize() takes that back.
class ConstrainedMotion final : public MotionSystem {
 public:
  /// `system` must live as long. Collective.
  explicit ConstrainedMotion(HolonomicSystem& system);

  std::size_t size() const override;
  std::size_t width() const override { return static_cast<std::size_t>(rows_.width); }
  void accelerate(Real time, int stage, std::span<const Real> x, std::span<const Real> v,
                  std::span<Real> a) override;
  /// Of the last accelerate(), in N times the unit of 1/G.
  std::span<const Real> multipliers() const { return multipliers_; }

  /// How far x and v, of owned bodies, are from the constraints: largest |g| and |G v|. Collective.
  struct Defects {
    Real position = 0;
    Real velocity = 0;
  };
  Defects defects(std::span<const Real> x, std::span<const Real> v);
  /// First x <- x - M^-1 G^T mu with g(x) = 0, Newton steps with G frozen while they are fast, then
  /// v <- v - M^-1 G^T (G M^-1 G^T)^+ G v with the new G. Collective.
  void stabilize(const Stabilization& kind, std::span<Real> x, std::span<Real> v);

 private:
  /// Copies owned entries, fetches ghosts.
  void hold(std::span<const Real> owned, std::vector<Real>& held);
  void project_position(std::span<Real> x);
  Real largest(std::span<const Real> values) const;

  HolonomicSystem& system_;
  ConstraintRows rows_;
  ConstraintSolver solver_;
  std::vector<Real> x_, v_, a_;                          // of local bodies
  std::vector<Real> g_, right_, multipliers_, impulse_;  // of rows
};

/// Of multipliers of accelerations; a product with G M^-1 G^T is cheap where constraints are few.
inline constexpr Real acceleration_tolerance = 1e-13;
/// Newton steps with a frozen Jacobian: drift of one step is gone after two or three. Where a step leaves
/// more than this share, as for a start that is far off, the Jacobian is taken anew.
inline constexpr int max_newton_steps = 30;
inline constexpr Real slow = 0.1;

inline ConstrainedMotion::ConstrainedMotion(HolonomicSystem& system) : system_(system) {
  system_.start(rows_);
  const auto n_local = static_cast<std::size_t>(rows_.halo->n_local()) * width();
  for (std::vector<Real>* array : {&x_, &v_, &a_}) array->assign(n_local, 0.0);
  for (std::vector<Real>* array : {&g_, &right_, &multipliers_, &impulse_})
    array->assign(rows_.n_rows(), 0.0);
}

inline std::size_t ConstrainedMotion::size() const {
  return static_cast<std::size_t>(rows_.halo->n_owned()) * width();
}

inline void ConstrainedMotion::hold(std::span<const Real> owned, std::vector<Real>& held) {
  std::copy(owned.begin(), owned.end(), held.begin());
  rows_.halo->copy_to_ghosts(held, rows_.width);
}

inline Real ConstrainedMotion::largest(std::span<const Real> values) const {
  Real max = 0;
  for (const Real value : values) max = std::max(max, std::abs(value));
  return rows_.halo->comm().max(max);
}

inline void ConstrainedMotion::accelerate(Real time, int, std::span<const Real> x, std::span<const Real> v,
                                          std::span<Real> a) {
  hold(x, x_);
  hold(v, v_);
  system_.evaluate(x_, g_, rows_);
  system_.accelerate(time, x_, v_, std::span(a_).first(size()));
  rows_.halo->copy_to_ghosts(a_, rows_.width);
  rows_.multiply(a_, right_);
  system_.curvature(x_, v_, impulse_);
  for (std::size_t c = 0; c < right_.size(); ++c) right_[c] += impulse_[c];
  solver_.solve(rows_, right_, multipliers_, {.relative = acceleration_tolerance});
  solver_.add_impulses(rows_, multipliers_, -1, a_);
  std::copy_n(a_.begin(), a.size(), a.begin());
}

inline ConstrainedMotion::Defects ConstrainedMotion::defects(std::span<const Real> x,
                                                             std::span<const Real> v) {
  hold(x, x_);
  hold(v, v_);
  system_.evaluate(x_, g_, rows_);
  rows_.multiply(v_, right_);
  return {largest(g_), largest(right_)};
}

inline void ConstrainedMotion::project_position(std::span<Real> x) {
  hold(x, x_);
  system_.evaluate(x_, g_, rows_);
  ConstraintRows frozen = rows_;
  Real before = largest(g_);
  for (int step = 0; step < max_newton_steps && before > 0; ++step) {
    std::ranges::fill(impulse_, 0.0);
    solver_.solve(frozen, g_, impulse_, {.relative = 1e-14});
    a_ = x_;
    solver_.add_impulses(frozen, impulse_, -1, a_);
    system_.evaluate(a_, g_, rows_);
    const Real now = largest(g_);
    if (!(now < before)) break;
    x_.swap(a_);
    if (now > slow * before) frozen = rows_;
    before = now;
  }
  std::copy_n(x_.begin(), x.size(), x.begin());
}

inline void ConstrainedMotion::stabilize(const Stabilization& kind, std::span<Real> x, std::span<Real> v) {
  if (kind.position) project_position(x);
  if (!kind.velocity) return;
  hold(x, x_);
  hold(v, v_);
  system_.evaluate(x_, g_, rows_);
  solver_.project_velocity(rows_, v_);
  std::copy_n(v_.begin(), v.size(), v.begin());
}

}  // namespace scree
