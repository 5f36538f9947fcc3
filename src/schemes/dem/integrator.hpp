#pragma once
#include <memory>
#include <span>

#include "core/plugin.hpp"
#include "core/types.hpp"

namespace scree {

/// Equations of motion x'' = a(t, x, v) of the coordinates that this rank moves.
class MotionSystem {
 public:
  virtual ~MotionSystem() = default;
  /// Coordinates of this rank; may be 0.
  virtual std::size_t size() const = 0;
  /// Coordinates of a body, which lie together.
  virtual std::size_t width() const { return 1; }
  /// Writes a = x''(time, x, v), arrays of size() numbers that share no memory. `stage` counts the
  /// evaluations of a step from 0, the same on all ranks: what is decided once per step, such as modes of
  /// friction, is decided in stage 0. Collective.
  virtual void accelerate(Real time, int stage, std::span<const Real> x, std::span<const Real> v,
                          std::span<Real> a) = 0;
};

/// What a step changes. History has Integrator::history_width() numbers per coordinate, body by body: those
/// of one level for all coordinates of the body, then the next level.
struct MotionArrays {
  std::span<Real> x, v;     ///< size() numbers
  std::span<Real> history;  ///< history_width() * size() numbers
};

/// A scheme for x'' = a(t, x, v). It remembers nothing from step to step but MotionArrays, so bodies may
/// change ranks and runs may restart in between. A step adds to x what was moved and never looks at x itself:
/// from x = 0 it finds displacements.
///
/// What a caller does after a step (modes, projections) may change x and v and leaves the history alone.
/// Members allocate only when sizes grow.
template <int D>
class Integrator {
 public:
  virtual ~Integrator() = default;
  /// Of the error at a given time where a is smooth, once the history is right.
  virtual int order() const = 0;
  /// Numbers remembered per coordinate.
  virtual int history_width() const { return 0; }
  /// How often a step evaluates a.
  virtual int evaluations() const = 0;
  /// Makes a history for a first step of length `dt` from x and v. May evaluate a, as stage 0. Collective.
  virtual void start(MotionSystem&, Real /*time*/, Real /*dt*/, const MotionArrays&) {}
  /// x and v at time + dt from those at `time`. Collective.
  virtual void step(MotionSystem& system, Real time, Real dt, const MotionArrays& arrays) = 0;
  /// Fits the history to steps that are `ratio` times as long as the last one. Local.
  virtual void rescale(const MotionSystem&, Real /*ratio*/, std::span<Real> /*history*/) const {}
};

template <>
std::span<const Entry<Integrator<2>>> registry<Integrator<2>>();
template <>
std::span<const Entry<Integrator<3>>> registry<Integrator<3>>();

/// The integrator of this name; null if there is none.
template <int D>
std::unique_ptr<Integrator<D>> make_integrator(std::string_view name) {
  for (const Entry<Integrator<D>>& entry : registry<Integrator<D>>())
    if (entry.name == name) return entry.make();
  return nullptr;
}

}  // namespace scree
