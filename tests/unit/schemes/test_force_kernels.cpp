// The kernels of soft contact, on all instruction sets, against the same steps one body and one pair at a
// time.
#include "schemes/dem/force_kernels.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "schemes/dem/body_motion.hpp"

namespace scree {

namespace {

template <class T>
std::vector<std::uint64_t> bits(std::span<const T> items) {
  static_assert(sizeof(T) % sizeof(Real) == 0);
  const auto* first = reinterpret_cast<const Real*>(items.data());
  std::vector<std::uint64_t> all;
  for (std::size_t k = 0; k < items.size() * sizeof(T) / sizeof(Real); ++k)
    all.push_back(std::bit_cast<std::uint64_t>(first[k]));
  return all;
}

class Numbers {
 public:
  Real operator()(Real from, Real to) { return std::uniform_real_distribution<Real>(from, to)(engine_); }
  template <int N>
  Vec<N> vec(Real max) {
    Vec<N> v;
    for (int k = 0; k < N; ++k) v[k] = (*this)(-max, max);
    return v;
  }

 private:
  std::mt19937 engine_{7};
};

/// Bodies that can move and turn; the one of every fifth batch turns far in a step.
BodyStore<3> make_bodies(Index n) {
  Numbers random;
  BodyStore<3> bodies;
  bodies.carry(FieldSet::with_accelerations);
  bodies.resize(n, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    bodies.mobility()[i] = 1;
    bodies.mass()[i] = random(0.5, 2);
    bodies.radius()[i] = random(0.5, 2);
    bodies.position()[i] = random.vec<3>(10);
    bodies.reference_position()[i] = bodies.position()[i] + random.vec<3>(0.1);
    bodies.velocity()[i] = random.vec<3>(1);
    bodies.angular_velocity()[i] = random.vec<3>(i % 40 == 3 ? 300 : 3);
    bodies.acceleration()[i] = random.vec<3>(10);
    bodies.angular_acceleration()[i] = random.vec<3>(10);
    Vec<4> q = random.vec<4>(1);
    bodies.orientation()[i] = q * (1 / norm(q));
  }
  return bodies;
}

struct Records {
  std::vector<SweepRecord> places;
  std::vector<MotionRecord> motions;
  std::vector<ForceRecord> forces;

  explicit Records(const BodyStore<3>& bodies) {
    const std::size_t n = bodies.n_owned();
    Numbers random;
    places.assign(n, {});
    motions.assign(n, {});
    forces.assign(n, {});
    for (std::size_t i = 0; i < n; ++i) {
      places[i].radius = bodies.radius()[i];
      motions[i].inverse_mass = 1 / bodies.mass()[i];
      motions[i].material = static_cast<Real>(i % 3);
      for (int k = 0; k < 3; ++k) {
        forces[i].force[k] = random(-5, 5);
        forces[i].torque[k] = random(-5, 5);
      }
    }
  }
};

BodyArrays arrays_of(BodyStore<3>& bodies, Records& records) {
  return {bodies.position().data(),
          bodies.previous().data(),
          bodies.velocity().data(),
          bodies.acceleration().data(),
          bodies.angular_velocity().data(),
          bodies.angular_acceleration().data(),
          bodies.orientation().data(),
          bodies.reference_position().data(),
          bodies.mass().data(),
          bodies.radius().data(),
          records.places.data(),
          records.motions.data(),
          records.forces.data()};
}

void check_same(const BodyStore<3>& a, const BodyStore<3>& b) {
  CHECK(bits(a.position()) == bits(b.position()));
  CHECK(bits(a.previous()) == bits(b.previous()));
  CHECK(bits(a.velocity()) == bits(b.velocity()));
  CHECK(bits(a.angular_velocity()) == bits(b.angular_velocity()));
  CHECK(bits(a.acceleration()) == bits(b.acceleration()));
  CHECK(bits(a.angular_acceleration()) == bits(b.angular_acceleration()));
  CHECK(bits(a.orientation()) == bits(b.orientation()));
}

constexpr Index n_bodies = 10 * batch_size;
constexpr Real dt = 1e-2;

}  // namespace

TEST_CASE("force kernels: drift is that of one body after the other, to the bit", "[schemes]") {
  for (const ForceKernels* set : available_force_kernels()) {
    INFO(set->instruction_set);
    BodyStore<3> expected = make_bodies(n_bodies), bodies = make_bodies(n_bodies);
    Records records(bodies);
    const Records before = records;
    set->drift(arrays_of(bodies, records), n_bodies, dt);
    for (std::size_t i = 0; i < n_bodies; ++i) drift_body<3>(expected, i, dt);
    check_same(bodies, expected);
    for (std::size_t i = 0; i < n_bodies; ++i) {
      for (int k = 0; k < 3; ++k) {
        CHECK(records.places[i].x[k] == expected.position()[i][k]);
        CHECK(records.motions[i].velocity[k] == expected.velocity()[i][k]);
        CHECK(records.motions[i].spin[k] == expected.angular_velocity()[i][k]);
        CHECK(records.forces[i].force[k] == 0);
        CHECK(records.forces[i].torque[k] == 0);
      }
      CHECK(records.places[i].radius == before.places[i].radius);
      CHECK(records.motions[i].inverse_mass == before.motions[i].inverse_mass);
      CHECK(records.motions[i].material == before.motions[i].material);
    }
  }
}

TEST_CASE("force kernels: kick is that of one body after the other, to the bit", "[schemes]") {
  const Vec<3> gravity{{0.5, -1, -9.81}};
  for (const ForceKernels* set : available_force_kernels()) {
    INFO(set->instruction_set);
    BodyStore<3> expected = make_bodies(n_bodies), bodies = make_bodies(n_bodies);
    Records records(bodies);
    const Real farthest = set->kick(arrays_of(bodies, records), n_bodies, dt, gravity);
    Real max = 0;
    for (std::size_t i = 0; i < n_bodies; ++i)
      max = std::max(max, kick_body<3>(expected, i, dt, gravity, records.forces[i], nullptr, true));
    check_same(bodies, expected);
    CHECK(farthest == max);
    records.forces[13].force[1] = std::nan("");
    CHECK(set->kick(arrays_of(bodies, records), n_bodies, dt, gravity) == HUGE_VAL);
  }
}

namespace {

/// Spheres of 1 m in a box where some touch, and pairs of them in batches without a common body.
struct Contacts {
  static constexpr std::size_t n = 4 * batch_size, n_batches = 12;
  std::vector<SweepRecord> places{n + 2};
  std::vector<MotionRecord> motions{n};
  std::vector<ForceRecord> forces{n, ForceRecord{}};
  std::vector<Index> ends = std::vector<Index>(2 * batch_size * n_batches);
  std::vector<std::uint8_t> touched = std::vector<std::uint8_t>(batch_size * n_batches);
  std::vector<std::uint8_t> shifts = std::vector<std::uint8_t>(batch_size * n_batches);
  std::vector<ContactHistory> history{batch_size * n_batches};
  std::vector<Index> list = std::vector<Index>(3 * batch_size * n_batches);
  std::array<Real, 6> shift_table{0, 0, 0, 0.7, -0.2, 0.1};
  std::array<SoftLaw, 4> laws{SoftLaw{1e4, 8e3, 0.3, 0.7, 0.4, 0.1}, SoftLaw{2e4, 9e3, 0.1, 0.5, 0.3, 0},
                              SoftLaw{2e4, 9e3, 0.1, 0.5, 0.3, 0}, SoftLaw{5e3, 4e3, 0.2, 0.6, 0.5, 0}};

  Contacts() {
    Numbers random;
    for (std::size_t i = 0; i < n; ++i) {
      const Vec<3> x = random.vec<3>(1.5), v = random.vec<3>(1), spin = random.vec<3>(2);
      places[i] = {{x[0], x[1], x[2]}, random(0.8, 1.2)};
      motions[i] = {{v[0], v[1], v[2]},
                    i % 5 == 0 ? 0 : random(0.5, 2),
                    {spin[0], spin[1], spin[2]},
                    static_cast<Real>(i % 2)};
    }
    places[n] = {{0, 0, 0}, 0};
    places[n + 1] = {{1, 0, 0}, 0};
    for (std::size_t k = 0; k < batch_size * n_batches; ++k) {
      const std::size_t batch = k / batch_size, lane = k % batch_size;
      Index* low = &ends[2 * batch_size * batch + lane];
      const bool dummy = k % 11 == 7;
      low[0] = static_cast<Index>(dummy ? n : lane + batch_size * (batch % 2));
      low[batch_size] =
          static_cast<Index>(dummy ? n + 1 : batch_size * (2 + batch / 2 % 2) + (lane + batch) % batch_size);
      touched[k] = k % 3 == 0 && !dummy ? 1 : 0;
      shifts[k] = k % 4 == 0 ? 1 : 0;
      const Vec<3> spring = random.vec<3>(0.01);
      history[k] = {{spring[0], spring[1], spring[2]}, random(10, 1000)};
    }
  }
  ForceBatches operands() {
    ForceBatches p;
    p.places = places.data();
    p.motions = motions.data();
    p.forces = forces.data();
    p.ends = ends.data();
    p.n_batches = n_batches;
    p.shifts = shifts.data();
    p.shift_table = shift_table.data();
    p.touched = touched.data();
    p.history = history.data();
    p.list = list.data();
    p.laws = laws.data();
    p.n_materials = 2;
    p.dt = 1e-3;
    p.min_force = -HUGE_VAL;
    return p;
  }

  /// The same, one pair after the other.
  ForceCounts run(const LawKernels& law, bool shifted) {
    const ForceBatches p = operands();
    ForceCounts counts;
    for (std::size_t k = 0; k < batch_size * n_batches; ++k) {
      const Index* low = &ends[2 * batch_size * (k / batch_size) + k % batch_size];
      const auto a = static_cast<std::size_t>(low[0]), b = static_cast<std::size_t>(low[batch_size]);
      Vec<3> branch;
      for (int c = 0; c < 3; ++c) {
        branch[c] = places[b].x[c] - places[a].x[c];
        if (shifted) branch[c] -= shift_table[3 * shifts[k] + c];
      }
      const Real reach = places[a].radius + places[b].radius;
      const bool before = touched[k] != 0;
      touched[k] = dot(branch, branch) < reach * reach ? 1 : 0;
      if (touched[k] == 0) continue;
      const Real distance = norm(branch);
      SoftContact contact;
      contact.normal = (1 / distance) * branch;
      contact.overlap = reach - distance;
      contact.effective_radius = places[a].radius * places[b].radius / reach;
      contact.lever_a = places[a].radius - 0.5 * contact.overlap;
      contact.lever_b = places[b].radius - 0.5 * contact.overlap;
      if (!before) history[k] = {};
      const SoftForce f = law.contact(p, contact, motions[a], motions[b], history[k], nullptr);
      if (motions[a].inverse_mass + motions[b].inverse_mass > 0) {
        ++counts.n_contacts;
        counts.deepest = std::max(counts.deepest, contact.overlap);
      }
      for (int c = 0; c < 3; ++c) {
        forces[a].force[c] -= f.force[c];
        forces[a].torque[c] -= contact.lever_a * f.torque[c] + f.rolling[c];
        forces[b].force[c] += f.force[c];
        forces[b].torque[c] -= contact.lever_b * f.torque[c] - f.rolling[c];
      }
    }
    return counts;
  }
};

}  // namespace

TEST_CASE("force kernels: the touching pairs of batches, one after the other, to the bit", "[schemes]") {
  for (const ForceKernels* set : available_force_kernels())
    for (const NormalLaw normal : {NormalLaw::linear, NormalLaw::hertz})
      for (int tangential = 0; tangential < n_tangential_laws; ++tangential)
        for (const bool shifted : {false, true}) {
          INFO(set->instruction_set << " " << static_cast<int>(normal) << " " << tangential << " "
                                    << shifted);
          const LawKernels& law = set->of(normal, static_cast<TangentialLaw>(tangential));
          Contacts expected, found;
          const ForceCounts counts = expected.run(law, shifted);
          std::array<Real, 64> lines{};
          PrefetchQueue coming;
          coming.add(lines.data(), sizeof lines);
          ForceBatches p = found.operands();
          p.prefetch = &coming;
          const ForceCounts of_kernel = law.pairs[shifted ? 1 : 0](p);
          REQUIRE(counts.n_contacts > 20);
          CHECK(of_kernel.n_contacts == counts.n_contacts);
          CHECK(of_kernel.deepest == counts.deepest);
          CHECK(found.touched == expected.touched);
          for (std::size_t i = 0; i < Contacts::n; ++i)
            for (int c = 0; c < 3; ++c) {
              CHECK(found.forces[i].force[c] == expected.forces[i].force[c]);
              CHECK(found.forces[i].torque[c] == expected.forces[i].torque[c]);
            }
          for (std::size_t k = 0; k < found.history.size(); ++k)
            if (found.touched[k] != 0) {
              CHECK(found.history[k].stiffness == expected.history[k].stiffness);
              for (int c = 0; c < 3; ++c) CHECK(found.history[k].spring[c] == expected.history[k].spring[c]);
            }
        }
}

}  // namespace scree
