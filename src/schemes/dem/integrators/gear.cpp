#include <algorithm>
#include <vector>

#include "schemes/dem/integrator.hpp"

namespace scree {
namespace {

/// Gear's predictor-corrector of order 5 for x'' = a(t, x, v), in the scaled derivatives of Nordsieck,
/// s_n = dt^n/n! x^(n): s_2 to s_5 are the history. A step predicts by the Taylor series, evaluates a once
/// there, and adds (3/16, 251/360, 1, 11/18, 1/6, 1/60) (dt^2/2 a - s_2) to (x, dt v, s_2, ..., s_5).
///
/// It starts with s_3 = s_4 = s_5 = 0. From rest with a growing force that is right; in the middle of a
/// motion it leaves an error of dt^2. C. W. Gear, "Numerical initial value problems in ordinary differential
/// equations", 1971; M. P. Allen, D. J. Tildesley, "Computer simulation of liquids", 1987, appendix E.
template <int D>
class Gear final : public Integrator<D> {
 public:
  int order() const override { return 5; }
  int history_width() const override { return n_levels; }
  int evaluations() const override { return 1; }

  void start(MotionSystem& system, Real time, Real dt, const MotionArrays& arrays) override {
    acceleration_.resize(system.size());
    system.accelerate(time, 0, arrays.x, arrays.v, acceleration_);
    std::ranges::fill(arrays.history, 0.0);
    for_each_coordinate(system, arrays.history,
                        [&](std::size_t i, Real* s, std::size_t) { *s = dt * dt / 2 * acceleration_[i]; });
  }

  void step(MotionSystem& system, Real time, Real dt, const MotionArrays& arrays) override {
    acceleration_.resize(system.size());
    for_each_coordinate(system, arrays.history, [&](std::size_t i, Real* s, std::size_t next) {
      Real& s2 = s[0];
      Real& s3 = s[next];
      Real& s4 = s[2 * next];
      const Real s5 = s[3 * next];
      arrays.x[i] += dt * arrays.v[i] + s2 + s3 + s4 + s5;
      arrays.v[i] += (2 * s2 + 3 * s3 + 4 * s4 + 5 * s5) / dt;
      s2 += 3 * s3 + 6 * s4 + 10 * s5;
      s3 += 4 * s4 + 10 * s5;
      s4 += 5 * s5;
    });
    system.accelerate(time + dt, 0, arrays.x, arrays.v, acceleration_);
    for_each_coordinate(system, arrays.history, [&](std::size_t i, Real* s, std::size_t next) {
      const Real error = dt * dt / 2 * acceleration_[i] - s[0];
      arrays.x[i] += 3.0 / 16 * error;
      arrays.v[i] += 251.0 / 360 * error / dt;
      s[0] += error;
      s[next] += 11.0 / 18 * error;
      s[2 * next] += 1.0 / 6 * error;
      s[3 * next] += 1.0 / 60 * error;
    });
  }

  void rescale(const MotionSystem& system, Real ratio, std::span<Real> history) const override {
    for_each_coordinate(system, history, [&](std::size_t, Real* s, std::size_t next) {
      Real factor = ratio;
      for (std::size_t level = 0; level < n_levels; ++level) s[level * next] *= factor *= ratio;
    });
  }

 private:
  static constexpr int n_levels = 4;

  /// f(coordinate, its s_2, distance to its s_3 and so on).
  template <class F>
  static void for_each_coordinate(const MotionSystem& system, std::span<Real> history, const F& f) {
    const std::size_t width = system.width();
    std::size_t i = 0;
    for (Real* body = history.data(); i < system.size(); body += n_levels * width)
      for (std::size_t k = 0; k < width; ++k, ++i) f(i, body + k, width);
  }

  std::vector<Real> acceleration_;
};

}  // namespace

SCREE_PLUGIN(Integrator, gear, Gear, "Gear's predictor-corrector with one evaluation per step; order 5",
             laboratory)

}  // namespace scree
