#include <algorithm>
#include <vector>

#include "schemes/dem/integrator.hpp"

namespace scree {
namespace {

/// The classical method of Runge and Kutta for x' = v, v' = a.
template <int D>
class RungeKutta4 final : public Integrator<D> {
 public:
  int order() const override { return 4; }
  int evaluations() const override { return 4; }
  void step(MotionSystem& system, Real time, Real dt, const MotionArrays& arrays) override {
    const std::size_t n = system.size();
    for (std::vector<Real>* array : {&x_, &v_, &a_, &sum_v_, &sum_a_}) array->resize(n);
    std::copy_n(arrays.x.begin(), n, x_.begin());
    std::copy_n(arrays.v.begin(), n, v_.begin());
    constexpr Real place[4] = {0, 0.5, 0.5, 1};
    constexpr Real weight[4] = {1, 2, 2, 1};
    for (int stage = 0; stage < 4; ++stage) {
      system.accelerate(time + place[stage] * dt, stage, x_, v_, a_);
      const Real ahead = stage < 3 ? place[stage + 1] * dt : 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum_v_[i] = (stage > 0 ? sum_v_[i] : 0) + weight[stage] * v_[i];
        sum_a_[i] = (stage > 0 ? sum_a_[i] : 0) + weight[stage] * a_[i];
        x_[i] = arrays.x[i] + ahead * v_[i];
        v_[i] = arrays.v[i] + ahead * a_[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      arrays.x[i] += dt / 6 * sum_v_[i];
      arrays.v[i] += dt / 6 * sum_a_[i];
    }
  }

 private:
  std::vector<Real> x_, v_, a_, sum_v_, sum_a_;
};

}  // namespace

SCREE_PLUGIN(Integrator, rk4, RungeKutta4, "classical Runge-Kutta; order 4", laboratory)

}  // namespace scree
