#include <catch2/catch.hpp>
#include <cmath>

#include "support/holonomic.hpp"

using namespace scree;

namespace {

/// A bead of mass 3 on the circle |x| = 2 in the plane, its constraint written down `copies` times.
class Bead final : public HolonomicSystem {
 public:
  explicit Bead(std::size_t copies) : halo_(Comm(MPI_COMM_SELF), 1), copies_(copies) {}
  void start(ConstraintRows& rows) override {
    rows.halo = &halo_;
    rows.width = 2;
    rows.inverse_mass = {1.0 / 3, 1.0 / 3};
    for (std::size_t c = 0; c < copies_; ++c) rows.add(0, -1);
  }
  void evaluate(std::span<const Real> x, std::span<Real> g, ConstraintRows& rows) const override {
    for (std::size_t c = 0; c < copies_; ++c) {
      g[c] = (x[0] * x[0] + x[1] * x[1] - 4) / 2;
      rows.jacobian[4 * c] = x[0];
      rows.jacobian[4 * c + 1] = x[1];
    }
  }
  void curvature(std::span<const Real>, std::span<const Real> v, std::span<Real> g_qq) const override {
    std::ranges::fill(g_qq, v[0] * v[0] + v[1] * v[1]);
  }
  void accelerate(Real, std::span<const Real>, std::span<const Real>, std::span<Real> a) const override {
    a[0] = 0;
    a[1] = -10;
  }

 private:
  SerialHalo halo_;
  std::size_t copies_;
};

}  // namespace

TEST_CASE("Holonomic constraints: acceleration and multiplier of a bead on a circle") {
  for (const std::size_t copies : {1U, 3U}) {
    CAPTURE(copies);
    Bead bead(copies);
    ConstrainedMotion motion(bead);
    // At the lowest point with speed 4: a = v^2/r upwards, force 3 (10 + 8) = |x| lambda in all.
    const std::vector<Real> x{0, -2}, v{4, 0};
    std::vector<Real> a(2);
    motion.accelerate(0, 0, x, v, a);
    CHECK(a[0] == Approx(0).margin(1e-14));
    CHECK(a[1] == Approx(8).epsilon(1e-13));
    for (const Real lambda : motion.multipliers())
      CHECK(2 * lambda * static_cast<Real>(copies) == Approx(54).epsilon(1e-12));
  }
}

TEST_CASE("Holonomic constraints: what is off is put back") {
  Bead bead(2);
  ConstrainedMotion motion(bead);
  std::vector<Real> x{0, -2.5}, v{1, 2};
  CHECK(motion.defects(x, v).position == Approx(1.125));
  CHECK(motion.defects(x, v).velocity == Approx(5));
  motion.stabilize({.position = false, .velocity = false}, x, v);
  CHECK(x[1] == -2.5);
  motion.stabilize({.position = false, .velocity = true}, x, v);
  CHECK(x[1] == -2.5);
  CHECK(v[0] == Approx(1).epsilon(1e-15));
  CHECK(v[1] == 0);
  v = {1, 2};
  motion.stabilize({.position = true, .velocity = false}, x, v);
  CHECK(x[1] == Approx(-2).epsilon(1e-15));
  CHECK(v[1] == 2);
  x = {1.2, -1.7};
  motion.stabilize({.position = true, .velocity = true}, x, v);
  CHECK(std::hypot(x[0], x[1]) == Approx(2).epsilon(1e-15));
  CHECK(std::abs(x[0] * v[0] + x[1] * v[1]) <= 4e-16 * 2 * std::hypot(v[0], v[1]));
}
