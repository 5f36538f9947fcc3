#include <catch2/catch.hpp>
#include <limits>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "state/velocity_field.hpp"

using namespace scree;

namespace {

template <int D>
Vec<D> velocity_at(const std::string& lines, const Vec<D>& x) {
  Deck deck = Deck::from_text(lines, "test.toml");
  std::unique_ptr<VelocityField<D>> field;
  deck.root().kind("type", field, {.required = true, .doc = ""});
  deck.require_all_read();
  Vec<D> velocity = filled<D>(std::numeric_limits<Real>::quiet_NaN());
  field->evaluate(0, {&x, 1}, {&velocity, 1});
  return velocity;
}

}  // namespace

TEST_CASE("constant: the velocity is (1, -2) m/s anywhere", "[dynamics]") {
  CHECK(velocity_at<2>("type = 'constant'\nvelocity = [1, -2]", {{7, 8}}) == Vec<2>{{1, -2}});
}

TEST_CASE("rest: the velocity is 0", "[dynamics]") {
  CHECK(velocity_at<3>("type = 'rest'", {{1, 2, 3}}) == Vec<3>{});
}

TEST_CASE("attraction: at (4, 1) the pull to (1, 2) at 2 per second is (-6, 2) m/s", "[dynamics]") {
  CHECK(velocity_at<2>("type = 'attraction'\npoint = [1, 2]\nrate = '2 1/s'", {{4, 1}}) == Vec<2>{{-6, 2}});
  CHECK(velocity_at<2>("type = 'attraction'\nrate = 1", {{4, 1}}) == Vec<2>{{-4, -1}});
  CHECK_THROWS_AS(velocity_at<2>("type = 'attraction'\nrate = -1", {{4, 1}}), InputError);
}

TEST_CASE("target: speed 5 m/s up to 10 m from the point, half of it 5 m from it, 0 at the point",
          "[dynamics]") {
  const std::string lines = "type = 'target'\npoint = [0, 0, 1]\nspeed = 5\narrival = 10";
  CHECK(norm(velocity_at<3>(lines, {{30, 40, 1}}) - Vec<3>{{-3, -4, 0}}) < 1e-14);
  CHECK(norm(velocity_at<3>(lines, {{3, 4, 1}}) - Vec<3>{{-1.5, -2, 0}}) < 1e-14);
  CHECK(velocity_at<3>(lines, {{0, 0, 1}}) == Vec<3>{});
  const std::string at_once = "type = 'target'\npoint = [0, 0, 1]\nspeed = 5";
  CHECK(norm(velocity_at<3>(at_once, {{1e-9, 0, 1}}) - Vec<3>{{-5, 0, 0}}) < 1e-14);
  CHECK(velocity_at<3>(at_once, {{0, 0, 1}}) == Vec<3>{});
}
