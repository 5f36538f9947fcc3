// Motions with contact that are known exactly, run from decks.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "run/simulation.hpp"
#include "unit/particles/scratch_file.hpp"

namespace scree {

namespace {

constexpr Real radius = 0.1;  // of all bodies [m]
constexpr Real rounding = 1e-13;

template <int D>
std::string array_of(const Vec<D>& x) {
  return fmt::format("[{}]", fmt::join(x.component, ", "));
}

/// `last` along the last axis and `first` along the first one.
template <int D>
Vec<D> along(Real first, Real last) {
  Vec<D> x{};
  x[0] = first;
  x[D - 1] = last;
  return x;
}

/// A deck put together from what differs between these tests, and its run.
template <int D>
class ExactRun {
 public:
  ExactRun(Real h, std::string tables) : text_(std::move(tables)) {
    text_ += fmt::format(
        "[simulation]\ndimension = {}\nend_time = 1000\nallow_overlap = true\n[time]\nstep = {}\n"
        "[domain]\nlower = {}\nupper = {}\n",
        D, h, array_of(all(-3)), array_of(all(3)));
  }
  /// A body of its own group; ids count the calls.
  void add_body(const Vec<D>& x, Real mobility = 1) {
    const std::size_t id = files_.size();
    files_.push_back(std::make_unique<ScratchFile>(
        fmt::format("body{}.csv", id),
        fmt::format("{}\n{:.17g}\n", D == 2 ? "x,y" : "x,y,z", fmt::join(x.component, ","))));
    text_ += fmt::format(
        "[particles.body{}]\nmobility = {}\nradius = {{ distribution = \"constant\", value = {} }}\n"
        "source = {{ type = \"file\", path = \"{}\" }}\n",
        id, mobility, radius, files_.back()->path());
  }
  void step(int n = 1) {
    if (!simulation_) {
      Deck deck = Deck::from_text(text_, "exact.toml");
      RunDeck<D> content;
      content.describe(deck.root());
      deck.require_all_read();
      simulation_.emplace(Comm(), std::move(content));
    }
    for (int k = 0; k < n; ++k) simulation_->step();
  }
  Vec<D> position(GlobalId id) const {
    const auto& bodies = simulation_->state().bodies;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      if (bodies.id()[i] == id) return bodies.position()[i];
    FAIL("there is no body " << id);
    return {};
  }

 private:
  static Vec<D> all(Real value) {
    Vec<D> x;
    x.component.fill(value);
    return x;
  }
  std::string text_;
  std::vector<std::unique_ptr<ScratchFile>> files_;
  std::optional<Simulation<D>> simulation_;
};

const std::string published = "[pbd]\nsweeps = 1\nwarm_start = 0\noverlap_limit = 0\n";
const std::string to_the_origin = published + "[velocity]\ntype = \"attraction\"\nrate = 1\n";

template <int D>
std::string falling(Real first, const std::string& pbd = published) {
  return pbd + fmt::format("[velocity]\ntype = \"constant\"\nvelocity = {}\n", array_of(along<D>(first, -1)));
}
/// The half-space below 0 along the last axis.
template <int D>
std::string floor_below() {
  return fmt::format("[obstacles.floor]\ntype = \"plane\"\npoint = {}\nnormal = {}\n", array_of(Vec<D>{}),
                     array_of(along<D>(0, 1)));
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("PBD: two bodies drawn together on a line stop at +-R, on time within a step",
                       "[dynamics]", ((int D), D), 2, 3) {
  constexpr Real start = 0.5;
  const Real contact_time = std::log(start / radius);
  for (const Real h : {0.1, 0.01, 0.001}) {
    ExactRun<D> run(h, to_the_origin);
    run.add_body(along<D>(-start, 0));
    run.add_body(along<D>(start, 0));
    int in_contact_since = 0;
    const int n_steps = static_cast<int>(std::lround(2 * contact_time / h));
    for (int k = 1; k <= n_steps; ++k) {
      run.step();
      if (in_contact_since == 0 && run.position(1)[0] < radius + 1e-12) in_contact_since = k;
    }
    CHECK(std::abs(in_contact_since * h - contact_time) <= h);
    CHECK(std::abs(run.position(0)[0] + radius) < rounding);
    CHECK(std::abs(run.position(1)[0] - radius) < rounding);
  }
}

TEMPLATE_TEST_CASE_SIG(
    "PBD: two bodies off axis keep their direction, distance max(2R, r0 exp(-t)), centre c0 exp(-t)",
    "[dynamics]", ((int D), D), 2, 3) {
  const Vec<D> a = along<D>(0.9, 0.2);
  const Vec<D> b = along<D>(0.3, 0.65);
  const Vec<D> center = (a + b) * 0.5;
  const Vec<D> direction = (a - b) * (1 / norm(a - b));
  constexpr Real h = 0.002;
  ExactRun<D> run(h, to_the_origin);
  run.add_body(a);
  run.add_body(b);
  for (int k = 1; k <= 1500; ++k) {
    run.step();
    const Vec<D> apart = run.position(0) - run.position(1);
    const Vec<D> middle = (run.position(0) + run.position(1)) * 0.5;
    const Real t = k * h;
    REQUIRE(norm(apart * (1 / norm(apart)) - direction) < rounding);
    // To rounding the discrete solution, and that is within h of the exact one.
    REQUIRE(std::abs(norm(apart) - std::max(2 * radius, norm(a - b) * std::pow(1 - h, k))) < rounding);
    REQUIRE(norm(middle - center * std::pow(1 - h, k)) < rounding);
    REQUIRE(std::abs(norm(apart) - std::max(2 * radius, norm(a - b) * std::exp(-t))) < h);
    REQUIRE(norm(middle - center * std::exp(-t)) < h);
  }
}

TEMPLATE_TEST_CASE_SIG(
    "PBD: a body rolls off a fixed one, tan(theta/2) = tan(a/2) exp(t/rho), error halving with h",
    "[dynamics]", ((int D), D), 2, 3) {
  constexpr Real obstacle = 0.4, rho = obstacle + radius, start_angle = 0.3;
  const Real leaves = -rho * std::log(std::tan(start_angle / 2));
  const auto exact = [&](Real t) {
    if (t > leaves) return along<D>(rho, leaves - t);
    const Real angle = 2 * std::atan(std::tan(start_angle / 2) * std::exp(t / rho));
    return along<D>(rho * std::sin(angle), rho * std::cos(angle));
  };
  const auto largest_error = [&](Real h) {
    ExactRun<D> run(
        h, falling<D>(0) + fmt::format("[obstacles.fixed]\ntype = \"{}\"\ncenter = {}\nradius = {}\n",
                                       D == 2 ? "disk" : "sphere", array_of(Vec<D>{}), obstacle));
    run.add_body(exact(0));
    Real largest = 0;
    for (int k = 1; k <= std::lround(1.5 * leaves / h); ++k) {
      run.step();
      largest = std::max(largest, norm(run.position(0) - exact(k * h)));
    }
    return largest;
  };
  const Real coarse = largest_error(1e-3), fine = largest_error(5e-4);
  CHECK(coarse < 1e-3);
  CHECK(coarse / fine > 1.95);
  CHECK(coarse / fine < 2.05);
}

TEMPLATE_TEST_CASE_SIG("PBD: on a floor, driven by (1, -1), a body is at x = t, y = R for any step",
                       "[dynamics]", ((int D), D), 2, 3) {
  for (const Real h : {0.1, 0.01, 0.003}) {
    ExactRun<D> run(h, falling<D>(1) + floor_below<D>());
    run.add_body(along<D>(0, radius));
    const int n_steps = static_cast<int>(2 / h);
    for (int k = 1; k <= n_steps; ++k) {
      run.step();
      REQUIRE(norm(run.position(0) - along<D>(k * h, radius)) < rounding);
    }
  }
}

TEMPLATE_TEST_CASE_SIG(
    "PBD: a projection moves bodies in proportion to their mobilities w and keeps w2 x1 + w1 x2",
    "[dynamics]", ((int D), D), 2, 3) {
  struct Mobilities {
    Real first, second;
  };
  for (const auto& [first, second] : {Mobilities{1, 1}, {1, 3}, {0.2, 5}, {0, 1}, {2, 0}}) {
    ExactRun<D> run(0.1, published + "[velocity]\ntype = \"rest\"\n");
    const Vec<D> a = along<D>(0.03, 0.07), b = along<D>(-0.05, -0.01);
    run.add_body(a, first);
    run.add_body(b, second);
    run.step();
    const Vec<D> moved_a = run.position(0) - a, moved_b = run.position(1) - b;
    CHECK(std::abs(norm(run.position(0) - run.position(1)) - 2 * radius) < rounding);
    CHECK(norm(moved_a * second + moved_b * first) < rounding);
    CHECK(std::abs(norm(moved_a) * second - norm(moved_b) * first) < rounding);
    CHECK(norm(moved_a - moved_b) > 0.08);
  }
}

TEMPLATE_TEST_CASE_SIG(
    "PBD: with compliance alpha a body pressed on a floor at speed 1 rests alpha deep, for any step",
    "[dynamics]", ((int D), D), 2, 3) {
  constexpr Real compliance = 0.02;
  for (const Real h : {0.1, 0.01, 0.001})
    for (const std::string sweeps :
         {"sweeps = 1\nwarm_start = 0\n", "sweeps = 3\nwarm_start = 0\n", "sweeps = 2\nwarm_start = 0.9\n"}) {
      const std::string pbd =
          fmt::format("[pbd]\n{}overlap_limit = 0\ncompliance = {}\n", sweeps, compliance);
      ExactRun<D> run(h, falling<D>(0, pbd) + floor_below<D>());
      run.add_body(along<D>(0, radius));
      run.step(static_cast<int>(1 / h) + 50);
      CHECK(std::abs(run.position(0)[D - 1] - (radius - compliance)) < rounding);
    }
}

TEMPLATE_TEST_CASE_SIG(
    "PBD: with compliance alpha two bodies drawn together rest at +-2R/(2 + alpha), for any step",
    "[dynamics]", ((int D), D), 2, 3) {
  constexpr Real compliance = 0.5;
  for (const Real h : {0.1, 0.01}) {
    ExactRun<D> run(h, fmt::format("[pbd]\nsweeps = 1\nwarm_start = 0\noverlap_limit = 0\ncompliance = {}\n",
                                   compliance) +
                           "[velocity]\ntype = \"attraction\"\nrate = 1\n");
    run.add_body(along<D>(-0.15, 0));
    run.add_body(along<D>(0.15, 0));
    run.step(static_cast<int>(40 / h));
    CHECK(std::abs(run.position(1)[0] - 2 * radius / (2 + compliance)) < rounding);
    CHECK(std::abs(run.position(0)[0] + 2 * radius / (2 + compliance)) < rounding);
  }
}

}  // namespace scree
