#include "particles/body_store.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace scree;

namespace {

bool has_field(const BodyStore<2>& bodies, std::string_view name) {
  bool found = false;
  bodies.for_each_field([&](const FieldInfo& info, const auto&) { found = found || info.name == name; });
  return found;
}

}  // namespace

TEST_CASE("bodies without a path start their step where they are, and carry one where asked to",
          "[particles]") {
  BodyStore<2> bodies;
  bodies.resize(3, 2);
  CHECK(bodies.carries_path());
  for (std::size_t i = 0; i < 3; ++i) {
    bodies.position()[i] = {{1.0 + static_cast<Real>(i), 0}};
    bodies.previous()[i] = {{10.0 + static_cast<Real>(i), 0}};
  }
  CHECK(bodies.step_start()[2][0] == 12);

  SECTION("a path goes with its body") {
    bodies.reorder(std::vector<Index>{2, 0});
    REQUIRE(bodies.previous().size() == 2);
    CHECK(bodies.previous()[0][0] == 12);
    CHECK(bodies.previous()[1][0] == 10);
  }
  SECTION("without it the rest stays") {
    bodies.carry_path(false);
    CHECK(bodies.previous().empty());
    CHECK_FALSE(has_field(bodies, "previous"));
    CHECK(has_field(bodies, "position"));
    CHECK(bodies.step_start()[2][0] == 3);
    bodies.resize(4, 0);
    bodies.reorder(std::vector<Index>{1, 0, 2});
    CHECK(bodies.previous().empty());
    CHECK(bodies.step_start()[0][0] == 2);
    bodies.carry_path(true);
    REQUIRE(bodies.previous().size() == 3);
    CHECK(bodies.step_start()[0][0] == 0);
  }
}
