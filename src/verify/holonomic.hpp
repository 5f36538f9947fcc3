#pragma once
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
  std::vector<Real> x_, v_, a_;                          // of bodies held
  std::vector<Real> g_, right_, multipliers_, impulse_;  // of rows
};

}  // namespace scree
