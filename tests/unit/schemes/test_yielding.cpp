// The plug-in of docs/tutorials/contact-law.md, which the tutorial adds to the program: it compiles, and
// rebounds as the tutorial says.
#include "examples/yielding.cpp"

#include <catch2/catch.hpp>

#include "core/deck.hpp"

namespace scree {

namespace {

/// Speed after a head-on impact on a wall at `speed` [m/s], of a pair with restitution 0.8.
template <int D>
Real rebound(const std::string& keys, Real speed) {
  const auto law = ImpactLaw_yielding<D>().make();
  Deck deck = Deck::from_text(keys, "law");
  law->describe(deck.root());
  const std::vector<Real> mass{2.0};
  const std::vector<ImpactConstraint<D>> wall{{0, -1, -unit_vector<D>(0), 0.8, 0}};
  std::vector<Vec<D>> velocity{-speed * unit_vector<D>(0)};
  std::vector<Real> impulse(1);
  law->resolve({mass, wall}, velocity, impulse);
  CHECK(impulse[0] == Approx(2 * (speed + velocity[0][0])));
  return velocity[0][0];
}

template <int D>
void check_restitution() {
  CHECK(rebound<D>("", 8) == Approx(0.8 * 8));
  CHECK(rebound<D>("yield_speed = '50 cm/s'", 0.25) == Approx(0.8 * 0.25));
  CHECK(rebound<D>("yield_speed = '50 cm/s'", 8) == Approx(0.8 * 8 / 2));  // (8 / 0.5)^(1/4) = 2
}

}  // namespace

TEST_CASE("the law of the tutorial halves restitution at 16 times the yield speed, and keeps it below") {
  check_restitution<2>();
  check_restitution<3>();
}

}  // namespace scree
