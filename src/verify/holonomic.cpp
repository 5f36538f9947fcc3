#include "verify/holonomic.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

namespace {

/// Of multipliers of accelerations; a product with G M^-1 G^T is cheap where constraints are few.
constexpr Real acceleration_tolerance = 1e-13;
/// Newton steps with a frozen Jacobian: drift of one step is gone after two or three. Where a step leaves
/// more than this share, as for a start that is far off, the Jacobian is taken anew.
constexpr int most_newton_steps = 30;
constexpr Real slow = 0.1;

}  // namespace

ConstrainedMotion::ConstrainedMotion(HolonomicSystem& system) : system_(system) {
  system_.start(rows_);
  const auto n_held = static_cast<std::size_t>(rows_.halo->n_held()) * width();
  for (std::vector<Real>* array : {&x_, &v_, &a_}) array->assign(n_held, 0.0);
  for (std::vector<Real>* array : {&g_, &right_, &multipliers_, &impulse_})
    array->assign(rows_.n_rows(), 0.0);
}

std::size_t ConstrainedMotion::size() const {
  return static_cast<std::size_t>(rows_.halo->n_owned()) * width();
}

void ConstrainedMotion::hold(std::span<const Real> owned, std::vector<Real>& held) {
  std::copy(owned.begin(), owned.end(), held.begin());
  rows_.halo->copy_to_ghosts(held, rows_.width);
}

Real ConstrainedMotion::largest(std::span<const Real> values) const {
  Real most = 0;
  for (const Real value : values) most = std::max(most, std::abs(value));
  return rows_.halo->comm().max(most);
}

void ConstrainedMotion::accelerate(Real time, int, std::span<const Real> x, std::span<const Real> v,
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

ConstrainedMotion::Defects ConstrainedMotion::defects(std::span<const Real> x, std::span<const Real> v) {
  hold(x, x_);
  hold(v, v_);
  system_.evaluate(x_, g_, rows_);
  rows_.multiply(v_, right_);
  return {largest(g_), largest(right_)};
}

void ConstrainedMotion::project_position(std::span<Real> x) {
  hold(x, x_);
  system_.evaluate(x_, g_, rows_);
  ConstraintRows frozen = rows_;
  Real before = largest(g_);
  for (int step = 0; step < most_newton_steps && before > 0; ++step) {
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

void ConstrainedMotion::stabilize(const Stabilization& kind, std::span<Real> x, std::span<Real> v) {
  if (kind.position) project_position(x);
  if (!kind.velocity) return;
  hold(x, x_);
  hold(v, v_);
  system_.evaluate(x_, g_, rows_);
  solver_.project_velocity(rows_, v_);
  std::copy_n(v_.begin(), v.size(), v.begin());
}

}  // namespace scree
