#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numbers>

#include "core/error.hpp"
#include "schemes/event/impact_law.hpp"
#include "verify/checks.hpp"

namespace scree {

namespace {

constexpr const char* columns = "vx_final,vy_final,speed_final,zone_initial,steps,stop";
constexpr const char* case_columns = "case,restitution,alpha_is_pi_over,v_index";
/// Round-off over the speed before the impact; what the law leaves of a body that comes to rest is above it.
constexpr Real round_off = 1e-14;

/// A disk that touches both walls of a corner, y = k x and y = -k x with k = tan(alpha) and the free space at
/// x < 0: with k > 0 the approach speeds are eta = k v_x - v_y (wall 1) and xi = k v_x + v_y (wall 2).
struct CornerCase {
  Real restitution = 1;
  Real tangent = 1;  ///< k
  Vec<2> velocity{};
};

struct CornerResult {
  Vec<2> velocity;
  std::string zone;  ///< the walls approached at first, in order; "0": none
  ImpactReport report;
};

CornerResult resolve(const CornerCase& corner) {
  // Any length will do for the normals; with this one their approach speeds are eta and xi.
  const std::array constraints{ImpactConstraint<2>{0, -1, {{corner.tangent, -1}}, corner.restitution},
                               ImpactConstraint<2>{0, -1, {{corner.tangent, 1}}, corner.restitution}};
  constexpr std::array mass{1.0};
  const ImpactProblem<2> problem{mass, constraints};
  const auto laws = registry<ImpactLaw<2>>();
  const auto law = std::ranges::find(laws, "multiple", &Entry<ImpactLaw<2>>::name)->make();

  CornerResult result{corner.velocity, "", {}};
  const std::span<Vec<2>> velocity(&result.velocity, 1);
  for (const std::size_t wall : law->approached(problem, velocity, norm(corner.velocity)))
    result.zone += std::to_string(wall + 1);
  if (result.zone.empty()) result.zone = "0";
  std::array<Real, 2> impulse{};
  result.report = law->resolve(problem, velocity, impulse);
  return result;
}

/// With the digits of the published table. Twelve digits first, so that round-off decides no tie.
std::string digits(Real value, Real scale) {
  if (std::abs(value) < round_off * scale) return "0.00e+00";
  return fmt::format("{:.2e}", std::stod(fmt::format("{:.11e}", value)));
}

/// Whether `value` is within half a unit of the last of three digits that were published. Some values lie
/// half-way between two of them up to round-off, so either is right.
bool rounds_to(Real value, Real published) {
  if (std::abs(published) < round_off) return std::abs(value) < round_off;
  constexpr Real half_way = 0.005 * (1 + 1e-9);
  return std::abs(value - published) <= half_way * std::pow(10, std::floor(std::log10(std::abs(published))));
}

struct PublishedCase {
  std::string name;
  std::string restitution;
  int pi_over;  ///< alpha = pi / pi_over
  int index;    ///< of the velocity
  CornerCase corner;
};

std::vector<PublishedCase> published_cases() {
  std::vector<PublishedCase> cases;
  int number_of_e = 0;
  for (const Real e : {1.0, 0.95, 0.75, 0.5, 0.25, 0.05, 0.0}) {
    ++number_of_e;
    int number_of_alpha = 0;
    for (const int pi_over : {4, 6, 8, 12, 16, 32, 64}) {
      ++number_of_alpha;
      const Real k = std::tan(std::numbers::pi / pi_over);
      const std::array<Vec<2>, 7> directions{
          {{{1, 0}}, {{1, k / 3}}, {{1, 2 * k / 3}}, {{1, k}}, {{1, 1 / k}}, {{0, 1}}, {{-1, k}}}};
      int index = 0;
      for (const Vec<2>& direction : directions) {
        ++index;
        cases.push_back({fmt::format("{}.{}.{}", number_of_e, number_of_alpha, index),
                         fmt::format("{}", e),
                         pi_over,
                         index,
                         {e, k, direction * (1 / norm(direction))}});
      }
    }
  }
  return cases;
}

Real number_of(std::string_view option, std::string_view text) {
  Real value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    throw InputError(fmt::format("--{}: '{}' is no number", option, text));
  return value;
}

Real angle_of(std::string_view text) {
  constexpr std::string_view prefix = "pi/";
  const bool as_fraction = text.starts_with(prefix);
  const Real value = number_of("alpha", as_fraction ? text.substr(prefix.size()) : text);
  const Real alpha = as_fraction ? std::numbers::pi / value : value;
  if (!(alpha > 0 && alpha < std::numbers::pi / 2))
    throw InputError(
        fmt::format("--alpha = {} is out of range: half the angle of the corner is above 0 and below pi/2 = "
                    "{:.6g} rad",
                    text, std::numbers::pi / 2));
  return alpha;
}

CornerCase case_of(const CornerOptions& options) {
  CornerCase corner;
  corner.restitution = number_of("restitution", options.restitution);
  if (!(corner.restitution >= 0 && corner.restitution <= 1))
    throw InputError(fmt::format("--restitution = {} is out of range: 0 to 1", options.restitution));
  corner.tangent = std::tan(angle_of(options.alpha));
  const std::string_view both = options.velocity;
  const std::size_t comma = both.find(',');
  if (comma == std::string_view::npos) throw InputError(fmt::format("--velocity: '{}' is not VX,VY", both));
  corner.velocity = {
      {number_of("velocity", both.substr(0, comma)), number_of("velocity", both.substr(comma + 1))}};
  if (corner.velocity == Vec<2>{}) throw InputError("--velocity must not be 0");
  // Squares of what is left after an impact must be numbers, too.
  const Real speed = norm(corner.velocity);
  if (!(speed >= 1e-100 && speed <= 1e100))
    throw InputError(
        fmt::format("--velocity = {} is out of range: 1e-100 to 1e100 m/s fast", options.velocity));
  return corner;
}

/// The velocity after the impact by the law "multiple", one line without its end. Digits are those of the
/// published table.
std::string corner_row(const CornerCase& corner) {
  const CornerResult result = resolve(corner);
  const Real scale = norm(corner.velocity);
  return fmt::format("{},{},{},{},{},{}", digits(result.velocity[0], scale),
                     digits(result.velocity[1], scale), digits(norm(result.velocity), scale), result.zone,
                     result.report.steps, name(result.report.stop));
}

}  // namespace

std::string corner_csv(const CornerOptions& options) {
  if (!options.table) return fmt::format("{}\n{}\n", columns, corner_row(case_of(options)));
  std::string csv = fmt::format("{},{}\n", case_columns, columns);
  for (const PublishedCase& c : published_cases())
    csv += fmt::format("{},{},{},{},{}\n", c.name, c.restitution, c.pi_over, c.index, corner_row(c.corner));
  return csv;
}

bool verify_corner(const Comm& comm, const CornerOptions& options, const Show& show) {
  const std::string path = options.source + "/tests/reference/corner/disk_in_corner.csv";
  const std::vector<PublishedCase> cases = published_cases();
  Checks checks(comm, show);
  std::int64_t largest = 0;
  for (const auto& row : read_rows(comm, path, fmt::format("{},{}", case_columns, columns))) {
    const auto published = std::ranges::find(cases, row[0], &PublishedCase::name);
    if (published == cases.end()) throw InputError(fmt::format("{}: there is no case '{}'", path, row[0]));
    const CornerResult result = resolve(published->corner);
    const auto same = [&](const std::string& what, const std::string& value, const std::string& expected) {
      checks.count(value == expected,
                   fmt::format("case {}: {} is {}, published {}", row[0], what, value, expected));
    };
    const std::array values{result.velocity[0], result.velocity[1], norm(result.velocity)};
    for (std::size_t i = 0; i < values.size(); ++i)
      checks.count(rounds_to(values[i], number(row[4 + i], path)),
                   fmt::format("case {}: {} is {:.6e}, published {}", row[0],
                               std::array{"vx", "vy", "speed"}[i], values[i], row[4 + i]));
    same("zone", result.zone, row[7]);
    same("number of steps", std::to_string(result.report.steps), row[8]);
    same("stop", std::string(name(result.report.stop)), row[9]);
    largest = std::max(largest, result.report.steps);
  }
  show(
      fmt::format("Disk in a corner, law \"multiple\": velocity, zone, steps (up to {}) and stop.", largest));
  return checks.finish();
}

}  // namespace scree
