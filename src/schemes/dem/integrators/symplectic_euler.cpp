#include <vector>

#include "schemes/dem/integrator.hpp"

namespace scree {
namespace {

/// v += dt a(t, x, v), then x += dt v.
template <int D>
class SymplecticEuler final : public Integrator<D> {
 public:
  int order() const override { return 1; }
  int evaluations() const override { return 1; }
  void step(MotionSystem& system, Real time, Real dt, const MotionArrays& arrays) override {
    acceleration_.resize(system.size());
    system.accelerate(time, 0, arrays.x, arrays.v, acceleration_);
    for (std::size_t i = 0; i < system.size(); ++i) {
      arrays.v[i] += dt * acceleration_[i];
      arrays.x[i] += dt * arrays.v[i];
    }
  }

 private:
  std::vector<Real> acceleration_;
};

}  // namespace

SCREE_PLUGIN(Integrator, symplectic_euler, SymplecticEuler, "Euler's method, velocities first; order 1",
             laboratory)

}  // namespace scree
