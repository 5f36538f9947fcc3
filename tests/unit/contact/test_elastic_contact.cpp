#include "contact/elastic_contact.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

using namespace scree;

namespace {

struct Rebound {
  Real speed = 0;    ///< over the speed of approach
  Real contact = 0;  ///< duration [s]
};

/// A body of mass 1 that meets a wall of stiffness 1 at the speed 1, from `gap`.
Rebound rebound(Real e, Real dt, Real gap, Real load = 0) {
  const ImpactDamping damping = impact_damping(e);
  const SpringStep spring(1, 1, damping.share, dt);
  Rebound found;
  Real u = -1;
  while (!(u > 0 && gap > dt * u)) {
    const ContactLine line = spring.unilateral(damping, {.gap = gap, .speed = u, .load = load});
    const Real impulse = std::max(0.0, -(u + line.bias) / (1 + line.compliance));
    u += impulse;
    gap += dt * u;
    if (impulse > 0) found.contact += dt;
  }
  found.speed = u;
  return found;
}

}  // namespace

TEST_CASE("elastic contact: damping for a restitution, where the force never pulls", "[contact]") {
  // Of e = 0.5 by integrating the impact: the oscillator that is followed to zero overlap would have 0.2155.
  CHECK(impact_damping(0.5).share == Approx(0.2553).epsilon(2e-4));
  CHECK(impact_damping(1).share == 0);
  CHECK(impact_damping(1).duration == Approx(std::numbers::pi));
  // Critical damping leaves with exp(-2) after 2 units.
  CHECK(impact_damping(std::exp(-2.0)).share == Approx(1).epsilon(1e-6));
  CHECK(impact_damping(std::exp(-2.0)).duration == Approx(2).epsilon(1e-6));
  for (const Real e : {0.9, 0.5, 0.1, 0.01, 1e-3})
    CHECK(impact_damping(e).restitution == Approx(e).epsilon(1e-9));
  CHECK(impact_damping(0).restitution < 3e-5);
}

TEST_CASE("elastic contact: an impact leaves with its restitution, whatever the step", "[contact]") {
  for (const Real e : {1.0, 0.9, 0.5, 0.2, 0.1, 0.02, 0.0})
    for (const Real dt : {1e-3, 1e-2, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 29.0, 31.0, 100.0, 1e3})
      for (const Real start : {0.0, 0.1, 0.37, 0.5, 0.73, 0.99}) {
        INFO("e " << e << ", omega dt " << dt << ", start " << start);
        const Rebound found = rebound(e, dt, (3 + start) * dt);
        CHECK(found.speed == Approx(impact_damping(e).restitution).epsilon(1e-8).margin(1e-6));
        if (dt < 0.2) CHECK(found.contact == Approx(impact_damping(e).duration).margin(2 * dt).epsilon(5e-3));
      }
}

TEST_CASE("elastic contact: a spring that hardly pushes is finite, and takes what the oscillator takes",
          "[contact]") {
  for (const Real e : {1.0, 0.999, 0.5})
    for (const Real stiffness : {1e-10, 1e-18, 1e-30, 1e-300}) {
      INFO("e " << e << ", stiffness " << stiffness);
      const SpringStep spring(stiffness, 1, impact_damping(e).share, 1);
      for (const ContactLine& line : {spring.bilateral(0.1, -1), spring.begun(0.5, -1)}) {
        CHECK(std::isfinite(line.compliance));
        CHECK(std::isfinite(line.bias));
        const Real impulse = -(-1 + line.bias) / (1 + line.compliance);
        CHECK(std::abs(impulse) <= 2 * std::sqrt(stiffness));
      }
      CHECK(std::isfinite(spring.stretch_of(1)));
    }
  // Of the implicit midpoint rule, of which rounding left nothing.
  CHECK(SpringStep(1e-18, 1, 0, 1).bilateral(0, 0).compliance == Approx(4e18).epsilon(1e-12));
}

TEST_CASE("elastic contact: a load rests on the overlap F/k at any step", "[contact]") {
  for (const Real e : {1.0, 0.5, 0.0})
    for (const Real dt : {1e-3, 0.1, 1.0, 3.0, 29.0, 100.0}) {
      INFO("e " << e << ", omega dt " << dt);
      const ImpactDamping damping = impact_damping(e);
      const SpringStep spring(2, 0.5, damping.share, dt);
      const Real load = 0.01;  // the body of mass 2 sits at the overlap load/2
      const ContactLine line =
          spring.unilateral(damping, {.gap = -load / 2, .speed = 0, .load = -0.5 * load * dt});
      const Real free_speed = -0.5 * load * dt;
      const Real impulse = -(free_speed + line.bias) / (0.5 + line.compliance);
      CHECK(impulse == Approx(load * dt).epsilon(1e-9));
    }
}

TEST_CASE("elastic contact: what is put down under its weight comes to rest at any step", "[contact]") {
  for (const Real e : {0.9, 0.8, 0.5, 0.3, 0.2, 0.1, 0.05})
    for (const Real dt : {0.5, 1.0, 3.0, 7.0, 8.74, 9.0, 12.0, 17.5, 20.0, 26.2, 29.0}) {
      INFO("e " << e << ", omega dt " << dt);
      const ImpactDamping damping = impact_damping(e);
      const SpringStep spring(1, 1, damping.share, dt);
      const Real weight = 0.01;
      Real gap = 0, u = 0, load = 0;
      for (int step = 0; step < 3000; ++step) {
        const ContactLine line = spring.unilateral(damping, {.gap = gap, .speed = u, .load = load});
        const Real impulse = std::max(0.0, -(u - weight * dt + line.bias) / (1 + line.compliance));
        u += impulse - weight * dt;
        load = -weight * dt;
        gap += dt * u;
      }
      CHECK(u == Approx(0).margin(1e-9 * weight * dt));
      CHECK(gap == Approx(-weight).epsilon(1e-6));
    }
}

TEST_CASE("elastic contact: many in a row keep their energy without damping", "[contact]") {
  // Bodies of mass 1 between springs of stiffness 1 that push and pull, solved together by sweeps.
  constexpr int n = 6;
  for (const Real dt : {0.05, 0.5, 2.0, 10.0}) {
    INFO("dt " << dt);
    const SpringStep spring(1, 2, 0, dt);
    std::array<Real, n> x{}, v{1, -0.3, 0.2, 0, 0.1, -1};
    const auto stretch = [&](const std::array<Real, n>& of, std::size_t c) { return of[c + 1] - of[c]; };
    const auto energy = [&] {
      Real sum = 0;
      for (const Real speed : v) sum += 0.5 * speed * speed;
      for (std::size_t c = 0; c + 1 < n; ++c) {
        const Real y = stretch(x, c) - dt / 2 * stretch(v, c);
        sum += 0.5 * y * y;
      }
      return sum;
    };
    const Real start = energy();
    for (int step = 0; step < 200; ++step) {
      std::array<ContactLine, n - 1> line;
      for (std::size_t c = 0; c + 1 < n; ++c) line[c] = spring.bilateral(stretch(x, c), stretch(v, c));
      std::array<Real, n - 1> impulse{};
      for (int sweep = 0; sweep < 2000; ++sweep)
        for (std::size_t c = 0; c + 1 < n; ++c) {
          const Real wrong = stretch(v, c) + line[c].bias + line[c].compliance * impulse[c];
          const Real more = -wrong / (2 + line[c].compliance);
          impulse[c] += more;
          v[c] -= more;
          v[c + 1] += more;
        }
      for (std::size_t i = 0; i < n; ++i) x[i] += dt * v[i];
    }
    CHECK(energy() == Approx(start).epsilon(1e-8));
  }
}

TEST_CASE("elastic contact: along a tangent a spring that begins in a step is the oscillator from then on",
          "[contact]") {
  for (const Real beta : {0.0, 0.3, 1.0, 1.5})
    for (const Real dt : {1e-3, 0.1, 1.0, 5.0})
      for (const Real share : {0.01, 0.4, 1.0}) {
        INFO("beta " << beta << ", omega dt " << dt << ", share " << share);
        const SpringStep spring(1, 1, beta, dt);
        const auto oscillator = [&](Real phase) {  // speed over that at the start
          const Real square = 1 - beta * beta, q = std::sqrt(std::abs(square));
          if (q == 0) return std::exp(-beta * phase) * (1 - phase);
          const Real sine = square > 0 ? std::sin(q * phase) / q : std::sinh(q * phase) / q;
          const Real cosine = square > 0 ? std::cos(q * phase) : std::cosh(q * phase);
          return std::exp(-beta * phase) * (cosine - beta * sine);
        };
        const Real psi = 2 * std::atan(dt / 2), start = -0.8;
        const auto after = [](const ContactLine& line, Real u) {  // of a unit mass
          return u - (u + line.bias) / (1 + line.compliance);
        };
        Real u = after(spring.begun(share, start), start);
        CHECK(u == Approx(start * oscillator(share * psi)).margin(1e-12));
        const Real taken = 0.5 * (start * start - u * u);
        Real x = spring.lag() * u - spring.stretch_of(spring.stored_share(share) * taken);
        for (int n = 1; n < 5; ++n) {
          u = after(spring.bilateral(x, u), u);
          x += dt * u;
          CHECK(u == Approx(start * oscillator((share + n) * psi)).margin(1e-9));
        }
      }
}

TEST_CASE("elastic contact: a spring that begins in a step takes energy whatever else acts", "[contact]") {
  const SpringStep spring(1, 1, 0.2, 1);
  for (const Real share : {0.01, 0.5, 1.0})
    for (const Real others : {-3.0, -0.5, 0.0, 0.5, 3.0}) {  // what other contacts add to u
      const ContactLine line = spring.begun(share, 1);
      const Real impulse = -(1 + others + line.bias) / (1 + line.compliance), u = 1 + others + impulse;
      CHECK(impulse * (1 + u) <= 0);
    }
}

TEST_CASE("elastic contact: how much of a step a contact lasts that begins in it", "[contact]") {
  const SpringStep spring(1, 1, 0, 1e-2);
  CHECK(spring.share_after_begin(0, -1, -1) == Approx(0.5));  // half a step late in position
  CHECK(spring.share_after_begin(2e-3, -1, -1) == Approx(0.3));
  CHECK(spring.share_after_begin(-9e-3, -1, -1) == 1);
  CHECK(spring.share_after_begin(9e-3, -1, -1) == Approx(0.01));
  CHECK(spring.share_after_begin(6e-3, 1, 1) == Approx(0.01));
  CHECK(spring.share_after_begin(1e-12, 0, -0.1) == Approx(1));  // rests, and a load presses
}
