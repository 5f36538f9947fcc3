// The impact law of eq. D.21-D.23 against springs integrated in time: the velocities are those of explicit
// springs F = K d^h of step 2e-4, three balls with h = 1 those of the closed form (the first root of
// sin t + sin(sqrt3 t)/sqrt3, t = 2.554813, then half a swing).
#include "friction/wave_impact.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

namespace scree {

namespace {

/// Balls in a row along x that touch, each a contact from one to the next; -1 as the first is a floor.
struct Row {
  std::vector<Real> mass, speed;
  std::vector<Real> stiffness{};  ///< of each contact, or none: all alike
  Real restitution = 1;
  bool on_floor = false;

  std::vector<WaveContact<2>> contacts() const {
    std::vector<WaveContact<2>> list;
    for (int i = on_floor ? -1 : 0; i + 1 < static_cast<int>(mass.size()); ++i) {
      WaveContact<2> contact;
      contact.body = {i, i + 1};
      for (std::size_t side = 0; side < 2; ++side) {
        const Real sign = side == 0 ? -1 : 1;
        contact.rows[side][0] = sign;
        if (contact.body[side] >= 0) contact.moves[side][0] = sign / mass[contact.body[side]];
      }
      contact.restitution = restitution;
      if (!stiffness.empty()) contact.stiffness = stiffness[list.size()];
      list.push_back(contact);
    }
    return list;
  }
  /// The speeds after the impact. `dissipated`: by the contacts.
  std::vector<Real> after(Real elasticity, int resolution, Real* dissipated = nullptr,
                          Real rest_speed = 0) const {
    std::vector<WaveContact<2>> list = contacts();
    std::vector<Real> v(mass.size() * 3);
    for (std::size_t i = 0; i < mass.size(); ++i) v[3 * i] = speed[i];
    WaveImpact<2> law;
    CHECK(law.run({.elasticity = elasticity, .resolution = resolution, .rest_speed = rest_speed}, list, v));
    std::vector<Real> result(mass.size());
    for (std::size_t i = 0; i < mass.size(); ++i) result[i] = v[3 * i];
    for (const auto& contact : list)
      if (dissipated) *dissipated += contact.normal;
    return result;
  }
};

Real energy(const std::vector<Real>& mass, const std::vector<Real>& v) {
  Real sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += 0.5 * mass[i] * v[i] * v[i];
  return sum;
}

void check_speeds(const std::vector<Real>& found, const std::vector<Real>& expected, Real margin) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).epsilon(0).margin(margin));
}

const Row three{.mass = {1, 1, 1}, .speed = {1, 0, 0}};

}  // namespace

TEST_CASE("wave impact: three and five balls against springs", "[dynamics]") {
  const Row five{.mass = {1, 1, 1, 1, 1}, .speed = {1, 0, 0, 0, 0}};
  struct Case {
    const Row& row;
    Real elasticity;
    std::vector<Real> expected;
  };
  for (const Case& one :
       {Case{three, 1, {-0.130262, 0.150230, 0.980032}}, Case{three, 1.5, {-0.07095, 0.07640, 0.99455}},
        Case{five, 1.5, {-0.07109, -0.03027, -0.01446, 0.12704, 0.98878}}}) {
    CAPTURE(one.elasticity, one.row.mass.size());
    check_speeds(one.row.after(one.elasticity, 10), one.expected, 1e-3);
    check_speeds(one.row.after(one.elasticity, 200), one.expected, 1e-4);
    for (const int n : {5, 10, 200}) {
      const std::vector<Real> v = one.row.after(one.elasticity, n);
      CHECK(energy(one.row.mass, v) == Approx(0.5).epsilon(1e-13));
      Real momentum = 0;
      for (const Real speed : v) momentum += speed;
      CHECK(momentum == Approx(1).epsilon(1e-13));
    }
  }
}

TEST_CASE("wave impact: far stiffer or softer contacts are the simultaneous and the sequential law",
          "[dynamics]") {
  Row row = three;
  row.stiffness = {1, 1e6};
  check_speeds(row.after(1, 200), {-1.0 / 3, 2.0 / 3, 2.0 / 3}, 2e-4);
  row.stiffness = {1, 1e-6};
  check_speeds(row.after(1, 200), {0, 0, 1}, 2e-4);
  // 1 on 3 falls on a floor, as one or one after the other.
  Row tower{.mass = {3, 1}, .speed = {-1, -1}, .on_floor = true};
  tower.stiffness = {1e6, 1};
  check_speeds(tower.after(1, 200), {0, 2}, 3e-4);
  tower.stiffness = {1, 1};
  check_speeds(tower.after(1, 200), {0.8881, 1.2782}, 3e-4);
  tower.stiffness = {1, 1e6};
  check_speeds(tower.after(1, 200), {1, 1}, 1e-3);  // bounces of the stiff contact add up to 1/n
}

TEST_CASE("wave impact: what restitution takes from a row", "[dynamics]") {
  struct Case {
    Real restitution;
    std::vector<Real> expected;
    Real energy;
  };
  for (const Case& one :
       {Case{0.9, {-0.06530, 0.16719, 0.89811}, 0.41941}, Case{0.5, {0.18273, 0.23398, 0.58328}, 0.21418}}) {
    Row row = three;
    row.restitution = one.restitution;
    Real dissipated = 0;
    const std::vector<Real> v = row.after(1, 1000, &dissipated);
    check_speeds(v, one.expected, 1e-4);
    CHECK(energy(row.mass, v) == Approx(one.energy).epsilon(0).margin(1e-4));
    CHECK(energy(row.mass, v) + dissipated == Approx(0.5).epsilon(1e-13));
  }
  // One after the other: each hands (1 + e)/2 of its speed on.
  Row row{.mass = {1, 1, 1, 1, 1}, .speed = {1, 0, 0, 0, 0}, .stiffness = {1, 1e-6, 1e-12, 1e-18}};
  row.restitution = 0.9;
  CHECK(row.after(1, 200).back() == Approx(std::pow(0.95, 4)).epsilon(0).margin(1e-3));
}

TEST_CASE("wave impact: nothing bounces where no contact gives back", "[dynamics]") {
  Row row = three;
  row.restitution = 0;
  std::vector<WaveContact<2>> contacts = row.contacts();
  std::vector<Real> v{1, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<Real> before = v;
  CHECK_FALSE(WaveImpact<2>().run({}, contacts, v));
  CHECK(v == before);
  // One of two contacts: it keeps nothing, the other gives back.
  contacts[0].restitution = 1;
  CHECK(WaveImpact<2>().run({.elasticity = 1, .resolution = 200}, contacts, v));
  CHECK(v[0] + v[3] + v[6] == Approx(1).epsilon(1e-13));
  CHECK(v[6] >= v[3] - 1e-9);
  CHECK(v[3] >= v[0] - 1e-9);
  CHECK(contacts[1].normal > 0);
}

TEST_CASE("wave impact: a single contact obeys Newton's law at any resolution", "[dynamics]") {
  for (const int n : {1, 7, 10})
    for (const Real e : {0.1, 0.5, 1.0}) {
      const Row row{.mass = {2, 3}, .speed = {1, -1}, .restitution = e};
      const std::vector<Real> v = row.after(1.5, n);
      CHECK(v[1] - v[0] == Approx(2 * e).epsilon(1e-12));
    }
}

TEST_CASE("wave impact: a sphere on a plane slips on, or rolls", "[dynamics]") {
  constexpr std::size_t q = 6;
  constexpr Real mass = 2, radius = 0.3, inertia = 0.4 * mass * radius * radius;
  for (const auto [mu, e] : {std::array<Real, 2>{0.05, 0.8}, {0.05, 1}, {0.6, 0.8}, {0.6, 1}}) {
    CAPTURE(mu, e);
    // a is the plane, b the sphere: normal z, tangents x and y.
    WaveContact<3> contact;
    contact.body = {-1, 0};
    auto& rows = contact.rows[1];
    rows[2] = 1;
    rows[q + 0] = 1, rows[q + 4] = -radius;
    rows[2 * q + 1] = 1, rows[2 * q + 3] = radius;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < q; ++k)
        contact.moves[1][i * q + k] = rows[i * q + k] / (k < 3 ? mass : inertia);
    contact.friction = mu;
    contact.restitution = e;
    std::vector<Real> v{0.6, 0.8, -2, 0, 0, 0};
    const auto energy_of = [&] {
      Real sum = 0;
      for (std::size_t k = 0; k < q; ++k) sum += 0.5 * (k < 3 ? mass : inertia) * v[k] * v[k];
      return sum;
    };
    const Real before = energy_of();
    CHECK(WaveImpact<3>().run({}, std::span(&contact, 1), v));
    CHECK(v[2] == Approx(2 * e).epsilon(1e-12));
    const Real slipping = 1 - mu * (1 + e) * 2;
    const Real left = std::max(slipping, 5.0 / 7);
    CHECK(v[0] == Approx(0.6 * left).epsilon(1e-12));
    CHECK(v[1] == Approx(0.8 * left).epsilon(1e-12));
    CHECK(energy_of() + contact.normal + contact.tangential == Approx(before).epsilon(1e-13));
    CHECK(contact.tangential > 0);
  }
}

TEST_CASE("wave impact: what it does not reach stays as it is", "[dynamics]") {
  // The third and fourth approach each other slower than the speed of rest; a hair's breadth opens between.
  Row row{.mass = {1, 1, 1, 1}, .speed = {1, 0, 2, 1.9}};
  std::vector<Real> v = row.after(1.5, 10, nullptr, 0.2);
  check_speeds(v, {0, 1, 2, 1.9}, 1e-12);
  // Once the impact comes there, they take part.
  row.speed = {1, 0, 0, -0.1};
  v = row.after(1.5, 10, nullptr, 0.2);
  CHECK(v[3] > 0.5);
  CHECK(energy(row.mass, v) == Approx(0.505).epsilon(1e-13));
}

TEST_CASE("wave impact: a disk that hits a triangle of others, against springs", "[dynamics]") {
  // Rows of 1, 2, 3, 4 and 5 disks of diameter and mass 1; the first hits the two below it. Springs of Hertz,
  // explicit steps of 1e-4, directions of contacts as at the start.
  constexpr int n_rows = 5;
  std::vector<Vec<2>> place;
  for (int row = 0; row < n_rows; ++row)
    for (int k = 0; k <= row; ++k) place.push_back({k - 0.5 * row, -0.5 * std::numbers::sqrt3 * row});
  std::vector<WaveContact<2>> contacts;
  for (int a = 0; a < static_cast<int>(place.size()); ++a)
    for (int b = a + 1; b < static_cast<int>(place.size()); ++b) {
      const Vec<2> n = place[b] - place[a];
      if (norm(n) > 1.01) continue;
      WaveContact<2> contact;
      contact.body = {a, b};
      for (std::size_t side = 0; side < 2; ++side)
        for (int k = 0; k < 2; ++k) contact.rows[side][k] = contact.moves[side][k] = side == 0 ? -n[k] : n[k];
      contacts.push_back(contact);
    }
  REQUIRE(contacts.size() == 30);
  std::vector<Real> start(3 * place.size());
  start[1] = -1;
  std::vector<Real> springs = start, overlap(contacts.size());
  constexpr Real dt = 1e-4;
  for (int step = 0; step < 400000; ++step) {
    for (std::size_t c = 0; c < contacts.size(); ++c)
      for (std::size_t side = 0; side < 2; ++side)
        for (std::size_t k = 0; k < 2; ++k)
          overlap[c] -= dt * contacts[c].rows[side][k] *
                        springs[3 * static_cast<std::size_t>(contacts[c].body[side]) + k];
    for (std::size_t c = 0; c < contacts.size(); ++c)
      for (std::size_t side = 0; side < 2 && overlap[c] > 0; ++side)
        for (std::size_t k = 0; k < 2; ++k)
          springs[3 * static_cast<std::size_t>(contacts[c].body[side]) + k] +=
              dt * std::pow(overlap[c], 1.5) * contacts[c].rows[side][k];
  }
  for (const auto& [n, margin] : {std::pair{10, 1e-2}, {200, 1e-3}}) {
    CAPTURE(n);
    std::vector<WaveContact<2>> list = contacts;
    std::vector<Real> v = start;
    CHECK(WaveImpact<2>().run({.resolution = n}, list, v));
    check_speeds(v, springs, margin);
    Real sum = 0;
    for (const Real speed : v) sum += 0.5 * speed * speed;
    CHECK(sum == Approx(0.5).epsilon(1e-13));
  }
}

}  // namespace scree
