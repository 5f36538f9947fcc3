#include <catch2/catch.hpp>

#include "verify/card_house.hpp"

using namespace scree;

namespace {

/// 2 cards of the top and 38 others, of which `n` fell from `since` on.
CardFalls house(Real top, int n, Real since) {
  CardFalls falls{.top = {top, top}, .others = std::vector<Real>(38, HUGE_VAL)};
  for (int i = 0; i < n; ++i) falls.others[static_cast<std::size_t>(i)] = since + 0.1 * i;
  return falls;
}

}  // namespace

TEST_CASE("houses of cards stand, lose their top, fall from the top or collapse", "[verify]") {
  CHECK(letters_of(house(HUGE_VAL, 0, 0).outcome()) == "S");
  CHECK(letters_of(house(0.4, 0, 0).outcome()) == "PC");
  CHECK(letters_of(house(0.4, 20, 0.46).outcome()) == "CC");
  // The others fall at once, or before; or nearly all fall.
  CHECK(letters_of(house(0.4, 20, 0.44).outcome()) == "TC");
  CHECK(letters_of(house(HUGE_VAL, 3, 0.4).outcome()) == "TC");
  CHECK(letters_of(house(0.4, 33, 1).outcome()) == "CC");
  CHECK(letters_of(house(0.4, 34, 1).outcome()) == "TC");
  CHECK(house(0.4, 34, 1).count() == 36);
}
