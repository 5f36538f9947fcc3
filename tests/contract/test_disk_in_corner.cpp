// The law "multiple" of simultaneous impacts beside published numbers: a disk of 1 kg touches both walls of a
// corner. Files and sources: tests/reference/corner.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <numbers>

#include "schemes/event/impact_law.hpp"
#include "support/reference_rows.hpp"

namespace scree {

namespace {

const std::string folder = SCREE_TESTS "/reference/corner/";
const std::string titles =
    "case,restitution,alpha_is_pi_over,v_index,vx_final,vy_final,speed_final,zone_initial,steps,stop";
/// Round-off over the speed before the impact; what the law leaves of a body that comes to rest is above it.
constexpr Real round_off = 1e-14;

/// The walls are y = k x and y = -k x with k = tan(alpha), and the free space is at x < 0: with k > 0 the
/// approach speeds are eta = k v_x - v_y (wall 1) and xi = k v_x + v_y (wall 2).
struct Corner {
  Real restitution = 1;
  Real tangent = 1;  ///< k
  Vec<2> velocity{};
};

struct AfterImpact {
  Vec<2> velocity;
  std::string zone;  ///< the walls approached at first, in order; "0": none
  ImpactReport report;
};

AfterImpact resolve(const Corner& corner) {
  // Any length will do for the normals; with this one their approach speeds are eta and xi.
  const std::array constraints{ImpactConstraint<2>{0, -1, {{corner.tangent, -1}}, corner.restitution},
                               ImpactConstraint<2>{0, -1, {{corner.tangent, 1}}, corner.restitution}};
  constexpr std::array mass{1.0};
  const ImpactProblem<2> problem{mass, constraints};
  const auto laws = registry<ImpactLaw<2>>();
  const auto law = std::ranges::find(laws, "multiple", &Entry<ImpactLaw<2>>::name)->make();

  AfterImpact after{corner.velocity, "", {}};
  const std::span<Vec<2>> velocity(&after.velocity, 1);
  for (const std::size_t wall : law->approached(problem, velocity, norm(corner.velocity)))
    after.zone += std::to_string(wall + 1);
  if (after.zone.empty()) after.zone = "0";
  std::array<Real, 2> impulse{};
  after.report = law->resolve(problem, velocity, impulse);
  return after;
}

struct PublishedCase {
  std::string name;  ///< numbers of restitution, angle and direction, with points between
  std::string restitution, pi_over, index;
  Corner corner;
};

/// Seven restitutions, seven angles, seven directions.
std::vector<PublishedCase> published_cases() {
  std::vector<PublishedCase> cases;
  int of_restitution = 0;
  for (const Real e : {1.0, 0.95, 0.75, 0.5, 0.25, 0.05, 0.0}) {
    ++of_restitution;
    int of_angle = 0;
    for (const int pi_over : {4, 6, 8, 12, 16, 32, 64}) {
      ++of_angle;
      const Real k = std::tan(std::numbers::pi / pi_over);
      const std::array<Vec<2>, 7> directions{
          {{{1, 0}}, {{1, k / 3}}, {{1, 2 * k / 3}}, {{1, k}}, {{1, 1 / k}}, {{0, 1}}, {{-1, k}}}};
      int index = 0;
      for (const Vec<2>& direction : directions)
        cases.push_back({fmt::format("{}.{}.{}", of_restitution, of_angle, ++index),
                         fmt::format("{}", e),
                         std::to_string(pi_over),
                         std::to_string(index),
                         {e, k, direction * (1 / norm(direction))}});
    }
  }
  return cases;
}

/// With the digits of the published table. Twelve digits first, so that round-off decides no tie.
std::string digits(Real value) {
  if (std::abs(value) < round_off) return "0.00e+00";
  return fmt::format("{:.2e}", std::stod(fmt::format("{:.11e}", value)));
}

/// Whether `value` is within half a unit of the last of three digits that were published. Some values lie
/// half-way between two of them up to round-off, so either is right.
bool rounds_to(Real value, Real published) {
  if (std::abs(published) < round_off) return std::abs(value) < round_off;
  constexpr Real half_digit = 0.005 * (1 + 1e-9);
  return std::abs(value - published) <=
         half_digit * std::pow(10, std::floor(std::log10(std::abs(published))));
}

}  // namespace

TEST_CASE("Disk in a corner: zone, steps (up to 5725), stop and velocity of the 245 published rows",
          "[contract]") {
  const auto cases = published_cases();
  const auto rows = reference_rows(folder + "disk_in_corner.csv", titles);
  CHECK(rows.size() == 245);
  std::int64_t max_steps = 0;
  for (const auto& row : rows) {
    CAPTURE(row[0]);
    const auto published = std::ranges::find(cases, row[0], &PublishedCase::name);
    REQUIRE(published != cases.end());
    CHECK(published->restitution == row[1]);
    CHECK(published->pi_over == row[2]);
    CHECK(published->index == row[3]);
    const AfterImpact after = resolve(published->corner);
    CHECK(rounds_to(after.velocity[0], std::stod(row[4])));
    CHECK(rounds_to(after.velocity[1], std::stod(row[5])));
    CHECK(rounds_to(norm(after.velocity), std::stod(row[6])));
    CHECK(after.zone == row[7]);
    CHECK(std::to_string(after.report.steps) == row[8]);
    CHECK(name(after.report.stop) == row[9]);
    max_steps = std::max(max_steps, after.report.steps);
  }
  CHECK(max_steps == 5725);
}

TEST_CASE("Disk in a corner: all 343 rows are the committed ones", "[contract]") {
  const auto cases = published_cases();
  const auto rows = reference_rows(folder + "all_cases.csv", titles);
  REQUIRE(cases.size() == 343);
  REQUIRE(rows.size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PublishedCase& c = cases[i];
    const AfterImpact after = resolve(c.corner);
    const std::vector<std::string> found{c.name,
                                         c.restitution,
                                         c.pi_over,
                                         c.index,
                                         digits(after.velocity[0]),
                                         digits(after.velocity[1]),
                                         digits(norm(after.velocity)),
                                         after.zone,
                                         std::to_string(after.report.steps),
                                         std::string(name(after.report.stop))};
    CHECK(found == rows[i]);
  }
}

TEST_CASE("Disk in a corner: one wall of a right angle gives the normal velocity back with e", "[contract]") {
  const AfterImpact after = resolve({.restitution = 0.5, .velocity = {{0, 2}}});
  CHECK(after.velocity[0] == Approx(-1.5).margin(1e-9));
  CHECK(after.velocity[1] == Approx(0.5).margin(1e-9));
  CHECK(after.zone == "2");
  CHECK(after.report.steps == 1);
  CHECK(after.report.stop == ImpactStop::exit);
}

TEST_CASE("Disk in a corner: units matter neither for the zone nor for when a velocity counts as none",
          "[contract]") {
  const Real k = std::tan(std::numbers::pi / 32);
  const AfterImpact slow = resolve({.restitution = 0.5, .tangent = k, .velocity = {{1e-20, 0.3e-21}}});
  const AfterImpact fast = resolve({.restitution = 0.5, .tangent = k, .velocity = {{1e20, 0.3e19}}});
  CHECK(slow.report.stop == ImpactStop::rest);
  CHECK(fast.report.stop == ImpactStop::rest);
  CHECK(slow.report.steps == fast.report.steps);
  CHECK(slow.zone == fast.zone);
}

}  // namespace scree
