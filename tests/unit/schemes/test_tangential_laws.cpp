// Tangential forces of single contacts under prescribed motion: closed forms, work in closed cycles, and what
// LAMMPS and LIGGGHTS say (tests/reference/soft-contact).
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "schemes/dem/force_kernels.hpp"

namespace scree {

namespace {

constexpr Real radius = 2e-3, young = 5e7, nu = 0.2, density = 2500;
constexpr std::array all_tangential{TangentialLaw::whole, TangentialLaw::increments, TangentialLaw::rescaled};

SoftLaw law_with(Real friction, Real restitution) {
  SoftLaw law;
  law.stiffness = young / (1 - nu * nu);
  law.tangential = 8 * young / (4 * (2 - nu) * (1 + nu));
  const Real log_e = std::log(restitution);
  law.damping = 2 * std::sqrt(5.0 / 6) * -log_e / std::hypot(log_e, std::numbers::pi);
  law.damping_ratio = std::sqrt(law.tangential / law.stiffness);
  law.friction = friction;
  return law;
}
/// k_T at this overlap.
Real stiffness_at(Real overlap) {
  return law_with(0, 1).tangential * std::sqrt(radius / 2 * overlap);
}

/// Sphere a stays, sphere b moves as given.
class Pair {
 public:
  Pair(TangentialLaw tangential, Real friction, Real restitution, Real dt)
      : law_(law_with(friction, restitution)), kernels_(force_kernels().of(NormalLaw::hertz, tangential)) {
    batches_.laws = &law_;
    batches_.dt = dt;
    batches_.min_force = -HUGE_VAL;
    const Real mass = density * 4 * std::numbers::pi / 3 * radius * radius * radius;
    a_.inverse_mass = b_.inverse_mass = 1 / mass;
  }
  /// The force on b at the end of a step of this velocity to this place.
  Vec<3> move(const Vec<3>& branch, const Vec<3>& velocity, Real spin = 0) {
    for (int k = 0; k < 3; ++k) b_.velocity[k] = velocity[k];
    a_.spin[2] = b_.spin[2] = spin;
    const Real distance = norm(branch);
    SoftContact contact;
    contact.normal = branch * (1 / distance);
    contact.overlap = 2 * radius - distance;
    if (contact.overlap <= 0) {
      history_ = {};
      return {};
    }
    contact.effective_radius = radius / 2;
    contact.lever_a = contact.lever_b = radius - 0.5 * contact.overlap;
    return kernels_.contact(batches_, contact, a_, b_, history_, nullptr).force;
  }

 private:
  SoftLaw law_;
  const LawKernels& kernels_;
  ForceBatches batches_;
  MotionRecord a_{}, b_{};
  ContactHistory history_{};
};

/// Overlap and tangential displacement of a contact that does not turn: the normal is x, b slips along y.
class Cycle {
 public:
  explicit Cycle(TangentialLaw tangential) : law_(law_with(1e9, 1)), tangential_(tangential) {
    batches_.laws = &law_;
    batches_.dt = 1;
    batches_.min_force = -HUGE_VAL;
    a_.inverse_mass = b_.inverse_mass = 1;
  }
  /// Goes there in many small steps; returns the tangential force at the end [N].
  Real go(Real overlap, Real slip) {
    constexpr int n = 2000;
    const Real from = overlap_, dy = (slip - slip_) / n;
    Real force = 0;
    for (int k = 1; k <= n; ++k) {
      overlap_ = from + (overlap - from) * k / n;
      b_.velocity[1] = dy;
      const SoftContact contact{{{1, 0, 0}}, overlap_, radius / 2, 0, 0};
      force = force_kernels()
                  .of(NormalLaw::hertz, tangential_)
                  .contact(batches_, contact, a_, b_, history_, nullptr)
                  .force[1];
      work_ += 0.5 * (force + last_) * dy;
      last_ = force;
    }
    slip_ = slip;
    return force;
  }
  /// Done by the contact on the bodies along the surfaces [J].
  Real work() const { return work_; }

 private:
  SoftLaw law_;
  TangentialLaw tangential_;
  ForceBatches batches_;
  MotionRecord a_{}, b_{};
  ContactHistory history_{};
  Real overlap_ = 0, slip_ = 0, work_ = 0, last_ = 0;
};

struct Row {
  int step;
  Vec<3> branch, force;
};
std::vector<Row> read_rows(const std::string& name) {
  std::ifstream file(SCREE_TESTS "/reference/soft-contact/" + name);
  REQUIRE(file);
  std::string line;
  std::getline(file, line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream in(line);
    Row row{};
    in >> row.step;
    for (int k = 0; k < 3; ++k) in >> row.branch[k];
    for (int k = 0; k < 3; ++k) in >> row.force[k];
    REQUIRE(in);
    rows.push_back(row);
  }
  return rows;
}

/// Velocities of b in runs of 1000 steps; then the pair turns as a rigid body.
using Motion = std::vector<Vec<3>>;
const Motion with_load{
    {{-0.01, 0, 0}}, {{0, 0.001, 0.0005}}, {{-0.01, 0, 0}}, {{0.015, 0, 0}}, {{0, -0.001, -0.0005}}};
Motion of_lammps() {
  Motion motion = with_load;
  for (const Vec<3>& v :
       Motion{{{-0.005, 0, 0}}, {{0, 0.008, 0}}, {{0, -0.008, 0}}, {{0, -0.008, 0}}, {{0, 0.008, 0}}})
    motion.push_back(v);
  return motion;
}
Motion of_liggghts() {
  Motion motion = with_load;
  motion.push_back({{0, 0.001, 0.0005}});
  return motion;
}

/// Replays what tests/reference/soft-contact/README.md describes; returns the largest difference of forces
/// along the surfaces, as a share of the largest one there.
Real worst_difference(const std::string& file, const Motion& velocities, TangentialLaw tangential,
                      Real restitution) {
  constexpr Real dt = 1e-6, turn = 2 * std::numbers::pi / 0.02;
  constexpr int run = 1000;
  Pair pair(tangential, 0.5, restitution, dt);
  Vec<3> start{{2 * radius, 0, 0}};
  Real worst = 0, largest = 0;
  int step = 0;
  Vec<3> branch = start, force;
  for (const Row& row : read_rows(file)) {
    for (; step < row.step;) {
      const auto which = static_cast<std::size_t>(step / run);
      ++step;
      if (which < velocities.size()) {
        const Vec<3>& v = velocities[which];
        branch = start + (dt * (step - run * static_cast<int>(which))) * v;
        force = pair.move(branch, v);
        if (step % run == 0) start = branch;
      } else {
        const Real angle = turn * dt * (step - run * static_cast<int>(velocities.size()));
        const Real c = std::cos(angle), s = std::sin(angle);
        branch = {{c * start[0] - s * start[1], s * start[0] + c * start[1], start[2]}};
        force = pair.move(branch, {{-turn * branch[1], turn * branch[0], 0}}, turn);
      }
    }
    if (row.step == 0) continue;
    REQUIRE(norm(branch - row.branch) < 1e-12);
    const Vec<3> normal = branch * (1 / norm(branch));
    const auto along = [&](const Vec<3>& f) { return f - dot(f, normal) * normal; };
    worst = std::max(worst, norm(along(force) - along(row.force)));
    largest = std::max(largest, norm(along(row.force)));
    CHECK(dot(force, normal) == Approx(dot(row.force, normal)).epsilon(2e-4).margin(2e-6));
  }
  REQUIRE(largest > 0);
  return worst / largest;
}

}  // namespace

TEST_CASE("tangential laws: a change of load at rest, in closed form", "[dynamics]") {
  constexpr Real low = 5e-6, high = 2e-5, slip = 1e-6;
  for (const TangentialLaw tangential : all_tangential) {
    CAPTURE(static_cast<int>(tangential));
    Cycle cycle(tangential);
    cycle.go(low, 0);
    const Real first = cycle.go(low, slip);
    CHECK(first == Approx(-stiffness_at(low) * slip).epsilon(1e-12));
    const bool whole = tangential == TangentialLaw::whole;
    const Real loaded = whole ? -stiffness_at(high) * slip : first;
    CHECK(cycle.go(high, slip) == Approx(loaded).epsilon(1e-9));
    const Real more = loaded - stiffness_at(high) * slip;
    CHECK(cycle.go(high, 2 * slip) == Approx(more).epsilon(1e-9));
    const Real share = tangential == TangentialLaw::increments ? 1 : std::sqrt(low / high);
    CHECK(cycle.go(low, 2 * slip) == Approx(share * more).epsilon(1e-9));
  }
}

TEST_CASE("tangential laws: work in closed cycles of load and slip", "[dynamics]") {
  constexpr Real low = 5e-6, high = 2e-5, slip = 1e-6;
  const Real gain = 0.5 * (stiffness_at(high) - stiffness_at(low)) * slip * slip;
  const auto work = [&](TangentialLaw tangential, Real out, Real back) {
    Cycle cycle(tangential);
    cycle.go(out, 0);
    cycle.go(out, slip);
    cycle.go(back, slip);
    cycle.go(back, 0);
    cycle.go(out, 0);
    return cycle.work();
  };
  // Out under the small load and back under the large one, and the other way round. Only "rescaled" never
  // gives.
  CHECK(work(TangentialLaw::whole, low, high) == Approx(gain).epsilon(1e-3));
  CHECK(work(TangentialLaw::whole, high, low) == Approx(-gain).epsilon(1e-3));
  CHECK(work(TangentialLaw::increments, low, high) == Approx(-gain).epsilon(1e-3));
  CHECK(work(TangentialLaw::increments, high, low) == Approx(gain).epsilon(1e-3));
  CHECK(work(TangentialLaw::rescaled, low, high) == Approx(-gain).epsilon(1e-3));
  CHECK(work(TangentialLaw::rescaled, high, low) == Approx(-gain).epsilon(1e-3));
}

TEST_CASE("tangential laws: forces of LAMMPS and LIGGGHTS under the same motion", "[dynamics]") {
  struct Case {
    std::string file;
    Motion motion;
    TangentialLaw tangential;
    Real restitution;
  };
  const std::vector<Case> cases{{"lammps_mindlin.csv", of_lammps(), TangentialLaw::whole, 1},
                                {"lammps_mindlin_force.csv", of_lammps(), TangentialLaw::increments, 1},
                                {"lammps_mindlin_rescale_force.csv", of_lammps(), TangentialLaw::rescaled, 1},
                                {"liggghts_history.csv", of_liggghts(), TangentialLaw::whole, 0.3}};
  for (const Case& c : cases)
    for (const TangentialLaw tangential : all_tangential) {
      CAPTURE(c.file, static_cast<int>(tangential));
      const Real worst = worst_difference(c.file, c.motion, tangential, c.restitution);
      // Each law agrees with its own file, and with no other.
      if (tangential == c.tangential)
        CHECK(worst < 1e-3);
      else
        CHECK(worst > 0.05);
    }
}

}  // namespace scree
