// Every law of simultaneous impacts: no constraint is left approached, energy never grows, impulses push and
// say what became of the velocities, and free clusters keep their momentum.
#include <catch2/catch.hpp>

#include "core/random.hpp"
#include "schemes/event/impact_law.hpp"

namespace scree {

namespace {

/// Bodies with random velocities; a random graph of contacts between them and with obstacles.
template <int D>
struct Cluster {
  std::vector<Real> mass;
  std::vector<Vec<D>> velocity;
  std::vector<ImpactConstraint<D>> constraints;

  ImpactProblem<D> problem() const { return {mass, constraints}; }
};

template <int D>
Cluster<D> random_cluster(std::uint64_t seed, int n_bodies, int n_constraints, bool is_free, Real e) {
  RandomStream random(seed, 0, 0);
  const auto vector = [&] {
    Vec<D> v;
    for (int k = 0; k < D; ++k) v[k] = 2 * random.uniform() - 1;
    return v;
  };
  Cluster<D> cluster;
  for (int i = 0; i < n_bodies; ++i) {
    cluster.mass.push_back(std::pow(10, 2 * random.uniform() - 1));
    cluster.velocity.push_back(vector());
  }
  // Normals of a chain point the same way, so that there is always a way out.
  for (int c = 0; c < n_constraints; ++c) {
    Vec<D> n = vector();
    n[0] = 1 + std::abs(n[0]);
    n *= 1 / norm(n);
    const int a = c % n_bodies;
    const int b = is_free ? (a + 1) % n_bodies : a + 1;
    const bool is_wall = !is_free && (b == n_bodies || random.uniform() < 0.2);
    if (is_free && b < a) n = -n;
    cluster.constraints.push_back({a, is_wall ? -1 : b, n, e < 0 ? random.uniform() : e, 0});
  }
  return cluster;
}

template <int D>
Real kinetic(const Cluster<D>& cluster) {
  Real sum = 0;
  for (std::size_t i = 0; i < cluster.mass.size(); ++i)
    sum += 0.5 * cluster.mass[i] * dot(cluster.velocity[i], cluster.velocity[i]);
  return sum;
}

template <int D>
Vec<D> momentum(const Cluster<D>& cluster) {
  Vec<D> sum;
  for (std::size_t i = 0; i < cluster.mass.size(); ++i) sum += cluster.mass[i] * cluster.velocity[i];
  return sum;
}

template <int D>
void check_law(const Entry<ImpactLaw<D>>& entry) {
  constexpr Real round_off = 1e-12;
  int n_limited = 0;
  int n_several = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const bool is_free = seed % 3 == 0;
    const Real e = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 0 : seed % 4 == 2 ? 0.5 : -1;
    const int n = 2 + static_cast<int>(seed % 5);
    CAPTURE(D, std::string(entry.name), seed, is_free, e, n);
    const Cluster<D> before = random_cluster<D>(seed, n, is_free ? n - 1 : n + 1, is_free, e);
    Cluster<D> after = before;
    const auto law = entry.make();
    std::vector<Real> impulse(before.constraints.size());
    const ImpactReport report = law->resolve(after.problem(), after.velocity, impulse);
    n_limited += report.stop == ImpactStop::limit;
    n_several += report.steps > 1;
    if (report.stop == ImpactStop::exit) CHECK(law->approached(after.problem(), after.velocity, 4).empty());
    CHECK(kinetic(after) <= kinetic(before) * (1 + round_off));
    if (e == 1) CHECK(kinetic(after) == Approx(kinetic(before)).epsilon(1e-10));
    if (is_free) CHECK(norm(momentum(after) - momentum(before)) < round_off * 10);
    // The impulses, applied to the velocities before, give those after.
    Cluster<D> pushed = before;
    for (std::size_t i = 0; i < impulse.size(); ++i) {
      CHECK(impulse[i] >= 0);
      apply_impulse<D>(pushed.problem(), i, impulse[i], pushed.velocity);
    }
    for (std::size_t i = 0; i < after.mass.size(); ++i)
      CHECK(norm(pushed.velocity[i] - after.velocity[i]) < 1e-9);

    // Another unit of velocity changes nothing else.
    Cluster<D> scaled = before;
    for (Vec<D>& v : scaled.velocity) v *= 0x1p-60;
    const ImpactReport same = law->resolve(scaled.problem(), scaled.velocity, impulse);
    CHECK(same.steps == report.steps);
    CHECK(same.stop == report.stop);
    for (std::size_t i = 0; i < after.mass.size(); ++i)
      CHECK(scaled.velocity[i] * 0x1p60 == after.velocity[i]);
  }
  CHECK(n_limited == 0);
  CHECK(n_several > 20);
}

template <int D>
ImpactReport resolve(const Entry<ImpactLaw<D>>& entry, Cluster<D>& cluster) {
  std::vector<Real> impulse(cluster.constraints.size());
  return entry.make()->resolve(cluster.problem(), cluster.velocity, impulse);
}

}  // namespace

TEST_CASE("laws of impacts leave what they promise") {
  for (const auto& entry : registry<ImpactLaw<2>>()) check_law<2>(entry);
  for (const auto& entry : registry<ImpactLaw<3>>()) check_law<3>(entry);
}

TEST_CASE("all laws agree on a single contact, which reverses the normal velocity with e") {
  for (const auto& entry : registry<ImpactLaw<3>>()) {
    const Vec<3> n{{2.0 / 3, -1.0 / 3, 2.0 / 3}};
    Cluster<3> wall{{7}, {{{1, 2, 3}}}, {{0, -1, n, 0.4, 0}}};
    const Real approach = dot(n, wall.velocity[0]);
    CHECK(resolve(entry, wall).steps == 1);
    CHECK(norm(wall.velocity[0] - (Vec<3>{{1, 2, 3}} - 1.4 * approach * n)) < 1e-15);

    // m1 = 1, m2 = 3: the relative velocity is reversed, the mean stays.
    Cluster<3> pair{{1, 3}, {{{2, 5, 0}}, {{-2, 0, 0}}}, {{0, 1, unit_vector<3>(0), 0.5, 0}}};
    CHECK(resolve(entry, pair).steps == 1);
    CHECK(norm(pair.velocity[0] - Vec<3>{{-2.5, 5, 0}}) < 1e-15);
    CHECK(norm(pair.velocity[1] - Vec<3>{{-0.5, 0, 0}}) < 1e-15);
  }
}

TEST_CASE("a single contact that is approached slowly does not rebound") {
  for (const auto& entry : registry<ImpactLaw<2>>()) {
    for (const Real speed : {0.9, 1.1}) {
      Cluster<2> wall{{1}, {{{speed, 0}}}, {{0, -1, unit_vector<2>(0), 0.5, 1.0}}};
      resolve(entry, wall);
      CHECK(wall.velocity[0][0] == Approx(speed > 1 ? -0.5 * speed : 0).margin(1e-15));
    }
  }
}

TEST_CASE("separating contacts are left alone, bit by bit") {
  for (const auto& entry : registry<ImpactLaw<2>>()) {
    Cluster<2> wall{{1}, {{{-0.3, 0.1}}}, {{0, -1, unit_vector<2>(0), 1, 0}}};
    CHECK(resolve(entry, wall).steps == 0);
    CHECK(wall.velocity[0] == Vec<2>{{-0.3, 0.1}});
  }
}

}  // namespace scree
