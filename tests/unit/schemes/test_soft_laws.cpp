// Laws of soft contact against their closed forms, and the kernels of all instruction sets against each
// other, against single contacts and against Newton's third law.
#include "schemes/dem/soft_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/deck.hpp"
#include "core/random.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "run/run_deck.hpp"
#include "run/simulation.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

constexpr Real pi = std::numbers::pi;

template <int D>
RunDeck<D> read_deck(const std::string& text) {
  Deck deck = Deck::from_text(text, "test.toml");
  RunDeck<D> content;
  content.describe(deck.root());
  deck.require_all_read();
  return content;
}

std::string deck_of(const std::string& law, const std::string& pair) {
  return "[simulation]\ndimension = 3\nscheme = 'dem'\nend_time = 1\n[domain]\nlower = [0, 0, 0]\nupper = "
         "[1, 1, 1]\n"
         "[time]\nstep = 1e-6\n[dem]\nlaw = '" +
         law +
         "'\n[materials.soft]\ndensity = 2500\nyoung_modulus = 1e7\npoisson_ratio = 0.3\n"
         "[materials.stiff]\ndensity = 2500\nyoung_modulus = 4e7\npoisson_ratio = 0.2\n"
         "[materials.rigid]\ndensity = 2500\nyoung_modulus = 'rigid'\n"
         "[particles.large]\nmaterial = 'soft'\nradius = { distribution = 'constant', value = 0.1 }\n"
         "source = { type = 'lattice', spacing = 0.2, region = { lower = [0, 0, 0], upper = [0.2, 0.2, 0.2] "
         "} }\n"
         "[particles.small]\nmaterial = 'stiff'\nradius = { distribution = 'constant', value = 0.02 }\n"
         "source = { type = 'lattice', spacing = 0.04, region = { lower = [0.5, 0.5, 0.5], upper = [0.54, "
         "0.54, 0.54] } }\n"
         "[pairs]\n" +
         pair;
}

const std::string hertz_pairs =
    "'soft-soft' = { friction = 0.5, restitution = 0.5 }\n'soft-stiff' = { friction = 0.4, restitution = 1 "
    "}\n"
    "'stiff-stiff' = { friction = 0.4, restitution = 0.9 }\n'soft-rigid' = { friction = 0.3, restitution = 0 "
    "}\n";

constexpr Index n_bodies = 120;

/// Everything a kernel works on.
struct Work {
  std::vector<SweepRecord> places;
  std::vector<MotionRecord> motions;
  std::vector<ForceRecord> forces;
  std::vector<Index> ends;
  std::vector<std::uint8_t> shifts, touched;
  std::vector<Real> shift_table;
  std::vector<ContactHistory> history;
  std::vector<Index> list;
  std::vector<SoftLaw> laws;
  Real min_force = -HUGE_VAL;

  ForceBatches batches() {
    ForceBatches b;
    b.places = places.data();
    b.motions = motions.data();
    b.forces = forces.data();
    b.ends = ends.data();
    b.n_batches = static_cast<Index>(ends.size()) / (2 * batch_size);
    b.shifts = shifts.data();
    b.shift_table = shift_table.data();
    b.touched = touched.data();
    b.history = history.data();
    b.list = list.data();
    b.laws = laws.data();
    b.n_materials = 2;
    b.dt = 1e-3;
    b.min_force = min_force;
    return b;
  }
};

/// Bodies of two materials so dense that many pairs overlap, some held in place, in batches without a common
/// body, some of them padded with the dummies.
Work make_work() {
  Work work;
  for (Index i = 0; i < n_bodies; ++i) {
    RandomStream stream(21, i, 1);
    SweepRecord record{};
    MotionRecord motion{};
    for (int k = 0; k < 3; ++k) {
      record.x[k] = stream.uniform(0, 1.5);
      motion.velocity[k] = stream.uniform(-1, 1);
      motion.spin[k] = stream.uniform(-5, 5);
    }
    record.radius = stream.uniform(0.2, 0.4);
    motion.inverse_mass = i % 9 == 0 ? 0 : stream.uniform(0.5, 2);
    motion.material = static_cast<Real>(i % 2);
    work.places.push_back(record);
    work.motions.push_back(motion);
  }
  work.places.push_back({});
  work.places.push_back({{1, 0, 0}, 0});
  work.forces.assign(n_bodies, ForceRecord{});
  RandomStream stream(22, 0, 1);
  for (int batch = 0; batch < 40; ++batch) {
    std::vector<Index> some(n_bodies);
    std::iota(some.begin(), some.end(), 0);
    for (std::size_t i = 0; i < 2 * batch_size; ++i)
      std::swap(some[i], some[i + stream.bits() % (some.size() - i)]);
    const auto n_pairs = static_cast<Index>(batch % 3 == 0 ? 1 + stream.bits() % batch_size : batch_size);
    Index low[batch_size], high[batch_size];
    for (Index k = 0; k < batch_size; ++k) {
      const bool real = k < n_pairs;
      low[k] = real ? some[2 * k] : n_bodies;
      high[k] = real ? some[2 * k + 1] : n_bodies + 1;
      work.shifts.push_back(real && stream.bits() % 4 == 0 ? static_cast<std::uint8_t>(stream.bits() % 27)
                                                           : std::uint8_t{13});
      work.touched.push_back(stream.bits() % 2 == 0 && real ? 1 : 0);
      work.history.push_back(
          {{stream.uniform(-0.01, 0.01), stream.uniform(-0.01, 0.01), stream.uniform(-0.01, 0.01)},
           100.0 * (batch % 4)});
    }
    work.ends.insert(work.ends.end(), low, low + batch_size);
    work.ends.insert(work.ends.end(), high, high + batch_size);
  }
  for (int code = 0; code < 27; ++code)
    for (const int digit : {code % 3, code / 3 % 3, code / 9 % 3})
      work.shift_table.push_back(0.3 * (digit - 1));
  work.list.resize(3 * work.shifts.size());
  // Stick, slip and roll; the materials differ in every number.
  work.laws = {{900, 700, 0.8, 0.9, 0.5, 0.1},
               {500, 300, 0.4, 0.7, 0.2, 0},
               {500, 300, 0.4, 0.7, 0.2, 0},
               {300, 0, 0.2, 0, 0.05, 0.3}};
  return work;
}

template <class Record>
bool same_bits(const std::vector<Record>& a, const std::vector<Record>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Record)) == 0;
}

Vec<3> vec(const Real* v) {
  return {{v[0], v[1], v[2]}};
}

/// One contact after the other through ForceKernels::contact. Returns the largest force.
Real one_by_one(const LawKernels& kernels, bool shifted, Work& work, ForceCounts& counts) {
  const ForceBatches b = work.batches();
  Real largest = 0;
  for (std::size_t place = 0; place < work.touched.size(); ++place) {
    const std::size_t batch = place / batch_size, k = place % batch_size;
    const std::size_t low = work.ends[2 * batch_size * batch + k];
    const std::size_t high = work.ends[2 * batch_size * batch + batch_size + k];
    Vec<3> d = vec(work.places[high].x) - vec(work.places[low].x);
    if (shifted) d -= vec(&work.shift_table[3u * work.shifts[place]]);
    const Real radius_a = work.places[low].radius, radius_b = work.places[high].radius;
    const bool touched = work.touched[place] != 0;
    work.touched[place] = norm(d) < radius_a + radius_b ? 1 : 0;
    if (work.touched[place] == 0) continue;
    if (!touched) work.history[place] = {};
    const MotionRecord &a = work.motions[low], &c = work.motions[high];
    if (a.inverse_mass + c.inverse_mass == 0) continue;
    SoftContact contact;
    const Real distance = norm(d);
    contact.normal = d * (1 / distance);
    contact.overlap = radius_a + radius_b - distance;
    contact.effective_radius = radius_a * radius_b / (radius_a + radius_b);
    contact.lever_a = radius_a - 0.5 * contact.overlap;
    contact.lever_b = radius_b - 0.5 * contact.overlap;
    ++counts.n_contacts;
    counts.deepest = std::max(counts.deepest, contact.overlap);
    const SoftForce f = kernels.contact(b, contact, a, c, work.history[place], nullptr);
    largest = std::max(largest, norm(f.force));
    for (int i = 0; i < 3; ++i) {
      work.forces[low].force[i] -= f.force[i];
      work.forces[high].force[i] += f.force[i];
      work.forces[low].torque[i] -= contact.lever_a * f.torque[i] + f.rolling[i];
      work.forces[high].torque[i] -= contact.lever_b * f.torque[i] - f.rolling[i];
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("soft laws: Hertz's and Mindlin's moduli, damping from restitution", "[dynamics]") {
  const Simulation<3> simulation(Comm(), read_deck<3>(deck_of("hertz", hertz_pairs)));
  SoftLaws<3> laws;
  laws.prepare(simulation.state(), {});
  REQUIRE(laws.n_materials() == 3);
  // Of one material: E* = E / (2 (1 - nu^2)), G* = G / (2 (2 - nu)) with G = E / (2 (1 + nu)).
  const SoftLaw& same = laws.of(0, 0);
  CHECK(same.stiffness == Approx(2 * 1e7 / (2 * 0.91)).epsilon(1e-14));
  CHECK(same.tangential == Approx(8 * 1e7 / (2 * 1.3) / (2 * 1.7)).epsilon(1e-14));
  // Mindlin's k_T/k_N = 2 (1 - nu) / (2 - nu).
  CHECK(same.tangential / same.stiffness == Approx(2 * 0.7 / 1.7).epsilon(1e-14));
  CHECK(same.damping == Approx(2 * std::sqrt(5.0 / 6) * std::log(2) / std::hypot(std::log(2), pi)));
  CHECK(same.friction == 0.5);
  // Two elastic materials in series, elastic impacts; either order is the same.
  const SoftLaw& mixed = laws.of(0, 1);
  CHECK(mixed.stiffness == Approx(2 / (0.91 / 1e7 + 0.96 / 4e7)).epsilon(1e-14));
  CHECK(mixed.tangential == Approx(8 / (2 * 1.7 * 1.3 / 1e7 + 2 * 1.8 * 1.2 / 4e7)).epsilon(1e-14));
  CHECK(mixed.damping == 0);
  CHECK(mixed.stiffness == laws.of(1, 0).stiffness);
  CHECK(mixed.tangential == laws.of(1, 0).tangential);
  // Against a rigid material one body deforms alone; e = 0 is critical damping.
  const SoftLaw& on_rigid = laws.of(0, 2);
  CHECK(on_rigid.stiffness == Approx(2 * same.stiffness).epsilon(1e-14));
  CHECK(on_rigid.tangential == Approx(2 * same.tangential).epsilon(1e-14));
  CHECK(on_rigid.damping == Approx(2 * std::sqrt(5.0 / 6)).epsilon(1e-14));
  // Without friction nothing acts along the surfaces.
  laws.prepare(simulation.state(), {.friction = false});
  CHECK(laws.of(0, 0).friction == 0);
  CHECK(laws.of(0, 0).damping_ratio == 0);
}

TEST_CASE("soft laws: the Rayleigh time of the stiffest body", "[dynamics]") {
  const Simulation<3> simulation(Comm(), read_deck<3>(deck_of("hertz", hertz_pairs)));
  SoftLaws<3> laws;
  laws.prepare(simulation.state(), {});
  const StepLimit limit = find_step_limit(simulation.state(), laws, NormalLaw::hertz);
  const Real shear = 4e7 / 2.4;
  CHECK(limit.limit == Approx(pi * 0.02 * std::sqrt(2500 / shear) / (0.1631 * 0.2 + 0.8766)).epsilon(1e-14));
  CHECK(limit.rayleigh_time == limit.limit);
  CHECK(limit.body == 1);
}

TEST_CASE("soft laws: a rigid body is as stiff as what it meets", "[dynamics]") {
  std::string text = deck_of("hertz", hertz_pairs +
                                          "'rigid-stiff' = { friction = 0, restitution = 1 }\n"
                                          "'rigid-rigid' = { friction = 0, restitution = 1 }\n");
  const std::string small = "material = 'stiff'";
  text.replace(text.find(small), small.size(), "mobility = 0\nmaterial = 'stiff'");
  const std::string large = "material = 'soft'";
  text.replace(text.find(large), large.size(), "material = 'rigid'");
  const Simulation<3> simulation(Comm(), read_deck<3>(text));
  SoftLaws<3> laws;
  laws.prepare(simulation.state(), {});
  const StepLimit limit = find_step_limit(simulation.state(), laws, NormalLaw::hertz);
  const Real shear = 4e7 / 2.4;
  CHECK(limit.limit == Approx(pi * 0.1 * std::sqrt(2500 / shear) / (0.1631 * 0.2 + 0.8766)).epsilon(1e-14));
  // The smaller body 1 is held: nothing can be unstable about it.
  CHECK(limit.body == 0);
}

TEST_CASE("soft laws: linear stiffness, half period and stability limit", "[dynamics]") {
  const std::string text =
      deck_of("linear",
              "'soft-soft' = { friction = 0.5, restitution = 0.5, stiffness = 1e4 }\n"
              "'soft-stiff' = { friction = 0.4, restitution = 1, stiffness = 4e4, tangential_ratio = 0.5 }\n"
              "'stiff-stiff' = { friction = 0.4, restitution = 0.8, stiffness = 1e3 }\n");
  // Moduli have no place in the linear law, but materials may have them.
  const Simulation<3> simulation(Comm(), read_deck<3>(text));
  SoftLaws<3> laws;
  laws.prepare(simulation.state(), {.law = NormalLaw::linear});
  const SoftLaw& soft = laws.of(0, 0);
  CHECK(soft.stiffness == 1e4);
  CHECK(soft.tangential == Approx(2e4 / 7).epsilon(1e-14));
  const Real beta = std::log(2) / std::hypot(std::log(2), pi);
  CHECK(soft.damping == Approx(2 * beta).epsilon(1e-14));
  CHECK(soft.damping_ratio == Approx(std::sqrt(2.0 / 7)).epsilon(1e-14));
  CHECK(laws.of(1, 0).tangential == 2e4);
  // The stiffest partner sets the limit; that pair has no damping.
  const StepLimit limit = find_step_limit(simulation.state(), laws, NormalLaw::linear);
  const auto mass = [](Real r) { return 2500 * 4 * pi / 3 * r * r * r; };
  CHECK(limit.body == 1);
  CHECK(limit.limit == Approx(2 * std::sqrt(0.5 * mass(0.02) / 4e4)).epsilon(1e-14));
  CHECK(limit.half_period == Approx(pi * std::sqrt(0.5 * mass(0.02) / 4e4)).epsilon(1e-14));
}

TEST_CASE("soft laws: the stability limit with damping is that of an oscillator in steps", "[dynamics]") {
  const auto limit_of = [](Real e, bool attraction) {
    const Simulation<3> simulation(
        Comm(),
        read_deck<3>(deck_of(
            "linear", fmt::format("'soft-soft' = {{ friction = 0, restitution = {}, stiffness = 1e4 }}\n"
                                  "'soft-stiff' = {{ friction = 0, restitution = 1, stiffness = 1 }}\n"
                                  "'stiff-stiff' = {{ friction = 0, restitution = 1, stiffness = 1 }}\n",
                                  e))));
    SoftLaws<3> laws;
    laws.prepare(simulation.state(), {.law = NormalLaw::linear, .exact_without_attraction = !attraction});
    const StepLimit limit = find_step_limit(simulation.state(), laws, NormalLaw::linear);
    CHECK(std::isfinite(limit.half_period));
    return std::pair(limit.limit / (limit.half_period / pi), laws.of(0, 0).damping);
  };
  for (const auto& [e, attraction] : {std::pair(1.0, true), std::pair(0.5, true), std::pair(0.0, true),
                                      std::pair(0.1, false), std::pair(0.0, false)}) {
    CAPTURE(e, attraction);
    const auto found = limit_of(e, attraction);
    // omega = 1, steps of h: v += -h/2 (x + d v_mid) twice around the drift, forces with the v of mid-step.
    const auto grows = [&](Real h) {
      Real x = 0, v = 1, a = 0;
      for (int step = 0; step < 4000 && std::abs(x) < 1e6; ++step) {
        v += 0.5 * h * a;
        x += h * v;
        a = -x - found.second * v;
        v += 0.5 * h * a;
      }
      return std::abs(x) >= 1e6;
    };
    CHECK_FALSE(grows(0.98 * found.first));
    CHECK(grows(1.02 * found.first));
  }
}

TEST_CASE("force kernels: all instruction sets give the same bits, and those of single contacts",
          "[dynamics]") {
  REQUIRE(available_force_kernels().front()->instruction_set == "portable");
  struct Law {
    NormalLaw law;
    TangentialLaw tangential;
  };
  for (const auto& [law, tangential] :
       {Law{NormalLaw::linear, TangentialLaw::whole}, Law{NormalLaw::hertz, TangentialLaw::whole},
        Law{NormalLaw::hertz, TangentialLaw::increments}, Law{NormalLaw::hertz, TangentialLaw::rescaled}})
    for (const bool shifted : {false, true})
      for (const Real min : {-HUGE_VAL, 0.0}) {
        Work start = make_work();
        start.min_force = min;
        Work expected = start;
        ForceCounts counts;
        const Real largest =
            one_by_one(available_force_kernels().front()->of(law, tangential), shifted, expected, counts);
        REQUIRE(counts.n_contacts > 50);
        REQUIRE(counts.n_contacts < 300);
        std::optional<Work> first;
        for (const ForceKernels* set : available_force_kernels()) {
          CAPTURE(std::string(set->instruction_set), static_cast<int>(law), static_cast<int>(tangential),
                  shifted, min);
          Work found = start;
          const ForceCounts of_set = set->of(law, tangential).pairs[shifted ? 1 : 0](found.batches());
          CHECK(of_set.n_contacts == counts.n_contacts);
          CHECK(of_set.deepest == Approx(counts.deepest).epsilon(1e-14));
          CHECK(found.touched == expected.touched);
          for (std::size_t i = 0; i < found.forces.size(); ++i)
            for (int k = 0; k < 3; ++k) {
              CHECK(std::abs(found.forces[i].force[k] - expected.forces[i].force[k]) < 1e-12 * largest);
              CHECK(std::abs(found.forces[i].torque[k] - expected.forces[i].torque[k]) < 1e-12 * largest);
            }
          for (std::size_t place = 0; place < found.touched.size(); ++place) {
            if (found.touched[place] == 0) found.history[place] = {};  // a left-over
            for (int k = 0; k < 3 && found.touched[place] != 0; ++k)
              CHECK(found.history[place].spring[k] ==
                    Approx(expected.history[place].spring[k]).epsilon(1e-10).margin(1e-14));
            if (found.touched[place] != 0)
              CHECK(found.history[place].stiffness == Approx(expected.history[place].stiffness));
          }
          if (!first) first = found;
          CHECK(same_bits(found.forces, first->forces));
          CHECK(same_bits(found.history, first->history));
        }
      }
}

TEST_CASE("force kernels: forces are equal and opposite, and torques keep angular momentum", "[dynamics]") {
  for (const ForceKernels* set : available_force_kernels())
    for (const NormalLaw law : {NormalLaw::linear, NormalLaw::hertz}) {
      CAPTURE(std::string(set->instruction_set), static_cast<int>(law));
      Work work = make_work();
      set->of(law, TangentialLaw::rescaled).pairs[0](work.batches());
      Vec<3> force, torque;
      Real sum = 0, turned = 0;
      for (std::size_t i = 0; i < work.forces.size(); ++i) {
        const Vec<3> f = vec(work.forces[i].force), t = vec(work.forces[i].torque);
        force += f;
        torque += t + cross(vec(work.places[i].x), f);
        sum += norm(f);
        turned += norm(t);
      }
      REQUIRE(turned > 0);
      CHECK(norm(force) < 1e-13 * sum);
      CHECK(norm(torque) < 1e-13 * (sum + turned));
    }
}

TEST_CASE("force kernels: friction stays within Coulomb's law, and grows with a spring below it",
          "[dynamics]") {
  const SoftLaw law{1000, 500, 0, 0, 0.4, 0};
  ForceBatches b;
  b.laws = &law;
  b.dt = 1e-3;
  b.min_force = -HUGE_VAL;
  MotionRecord a{}, c{};
  a.inverse_mass = 1;
  c.velocity[1] = 0.2;
  c.inverse_mass = 1;
  const SoftContact contact{{{1, 0, 0}}, 0.01, 0.5, 0.995, 0.995};
  const auto& kernel = force_kernels().of(NormalLaw::linear, TangentialLaw::whole).contact;
  ContactHistory history{};
  for (int step = 1; step <= 60; ++step) {
    const SoftForce f = kernel(b, contact, a, c, history, nullptr);
    CHECK(f.force[0] == Approx(10).epsilon(1e-13));
    // 500 N/m times 0.2 mm a step, up to 0.4 * 10 N, where the spring stays as long as that.
    CHECK(f.force[1] == Approx(-std::min(0.1 * step, 4.0)).epsilon(1e-12));
    CHECK(history.spring[1] == Approx(std::min(2e-4 * step, 8e-3)).epsilon(1e-12));
  }
}

TEST_CASE("dem: a cloud of spheres that collide keeps its momentum and angular momentum", "[dynamics]") {
  const std::string text =
      "[simulation]\ndimension = 3\nscheme = 'dem'\nend_time = 1\nseed = 4\n[domain]\nlower = [-1, -1, -1]\n"
      "upper = [1, 1, 1]\noutside = 'keep'\n[time]\nstep = 2e-5\n[materials.soft]\ndensity = 2500\n"
      "young_modulus = 1e7\npoisson_ratio = 0.3\n[pairs]\n"
      "'soft-soft' = { friction = 0.5, restitution = 0.6, rolling_friction = 0.1 }\n[particles.left]\n"
      "material = 'soft'\nradius = { distribution = 'uniform', min = 0.04, max = 0.05 }\nsource = { type = "
      "'lattice', spacing = 0.1, region = { lower = [-0.3, -0.15, -0.15], upper = [0, 0.15, 0.15] } }\n"
      "velocity = [0.8, 0.1, 0]\nangular_velocity = [10, 0, 30]\nrandom_speed = 0.3\n[particles.right]\n"
      "material = 'soft'\nradius = { distribution = 'constant', value = 0.05 }\nsource = { type = 'lattice', "
      "spacing = 0.1, region = { lower = [0, -0.15, -0.15], upper = [0.3, 0.15, 0.15] } }\n"
      "velocity = [-0.8, 0, 0.2]\nangular_velocity = [0, 20, -7]\nrandom_speed = 0.3\n";
  Simulation<3> simulation(Comm(), read_deck<3>(text));
  struct Momentum {
    Vec<3> linear, angular;
    Real linear_size = 0, angular_size = 0;
  };
  const auto momentum = [&] {
    const BodyStore<3>& bodies = std::as_const(simulation).state().bodies;
    Momentum sum;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      const Vec<3> p = bodies.mass()[i] * bodies.velocity()[i];
      const Vec<3> l = cross(bodies.position()[i], p) + 0.4 * bodies.mass()[i] * bodies.radius()[i] *
                                                            bodies.radius()[i] * bodies.angular_velocity()[i];
      sum.linear += p;
      sum.angular += l;
      sum.linear_size += norm(p);
      sum.angular_size += norm(l);
    }
    return sum;
  };
  const Momentum start = momentum();
  Real max_contacts = 0;
  for (int step = 0; step < 2000; ++step) {
    simulation.step();
    max_contacts = std::max(max_contacts, simulation.stepper().certificate().front().value);
  }
  const Momentum end = momentum();
  CHECK(max_contacts > 30);
  CHECK(norm(end.linear - start.linear) < 1e-12 * start.linear_size);
  CHECK(norm(end.angular - start.angular) < 1e-12 * start.angular_size);
}

}  // namespace scree
