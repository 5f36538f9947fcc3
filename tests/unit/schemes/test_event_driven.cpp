// Event-driven motion against closed forms: times of contact, heights of bounces, angles after collisions,
// corners and ends of edges, contacts that stay closed.
#include <catch2/catch.hpp>
#include <memory>
#include <numbers>

#include "schemes/event/engine.hpp"
#include "schemes/event/first_root.hpp"

namespace scree {

namespace {

template <int D>
struct Scene {
  Vec<D> gravity{};
  Real restitution = 1;
  Real rest_speed = 1e-4;
  std::vector<FlyingBody<D>> bodies{};
  std::vector<FixedPiece<D>> pieces{};

  std::unique_ptr<ImpactLaw<D>> law = registry<ImpactLaw<D>>()[0].make();
  std::unique_ptr<EventEngine<D>> engine{};
  std::int64_t events = 0;
  std::int64_t hops = 0;

  void add(const Vec<D>& x, const Vec<D>& v, Real radius = 0.5, Real mass = 1) {
    bodies.push_back({static_cast<GlobalId>(bodies.size()), x, v, radius, mass, 0, false});
  }
  void add_plane(const Vec<D>& point, const Vec<D>& normal) {
    pieces.push_back({{.kind = SurfacePiece<D>::Kind::plane, .point = point, .normal = normal}, 0, 0});
  }
  void run(Real time, int n_steps = 1) {
    if (!engine) {
      typename EventEngine<D>::Settings settings;
      settings.gravity = gravity;
      settings.rest_speed = rest_speed;
      settings.max_events = 20'000;
      settings.restitution = [this](int, int) { return restitution; };
      engine = std::make_unique<EventEngine<D>>(*law, settings);
    }
    for (int i = 0; i < n_steps; ++i) {
      engine->advance(bodies, pieces, time / n_steps, "test");
      events += engine->counts().events;
      hops += engine->counts().hops;
      CHECK(engine->counts().unresolved == 0);
    }
  }
  Real energy() const {
    Real sum = 0;
    for (const auto& b : bodies)
      sum += b.mass * (0.5 * dot(b.velocity, b.velocity) - dot(gravity, b.position));
    return sum;
  }
};

Real fall(const std::vector<Real>& p, Real end) {
  return first_root(p, end);
}

}  // namespace

TEST_CASE("first fall of polynomials") {
  CHECK(fall({3, -1}, 10) == Approx(3));
  CHECK(fall({3, -1}, 2) == HUGE_VAL);
  CHECK(fall({2, -3, 1}, 10) == Approx(1));             // (t - 1)(t - 2)
  CHECK(fall({1, -2, 1}, 10) == HUGE_VAL);              // touches at 1
  CHECK(fall({0, 1, -1}, 10) == Approx(1));             // leaves, comes back
  CHECK(fall({0, -1}, 10) == 0);                        // closed and closing
  CHECK(fall({-1, 0, 0, 1}, 10) == HUGE_VAL);           // opens
  CHECK(fall({-1, 1, -0.1}, 4) == HUGE_VAL);            // still opening at the end
  CHECK(fall({-1, 1, -0.25}, 4) == Approx(2));          // never open, begins to close
  CHECK(fall({24, -50, 35, -10, 1}, 10) == Approx(1));  // (t-1)(t-2)(t-3)(t-4)
  CHECK(fall({-0.5, 50 / 24., -35 / 24., 10 / 24., -1 / 24.}, 10) > 1.5);
  CHECK(fall({1e-18, -1}, 1) <= 1e-18);
}

TEST_CASE("a bouncing disk: heights e^(2n) h, all impacts within a finite time, then rest") {
  constexpr Real h = 2, g = 10, e = 0.7;
  Scene<2> scene{.gravity = {{0, -g}}, .restitution = e};
  scene.add({{0, h + 0.5}}, {{0.25, 0}});
  scene.add_plane({{0, 0}}, {{0, 1}});
  // Tops of the flights: at the first impact plus a fall by h_n and back for each one before.
  const Real fall_time = std::sqrt(2 * h / g);
  Real time = 0;
  for (int n = 1; n <= 5; ++n) {
    Real top = fall_time;
    for (int k = 1; k < n; ++k) top += 2 * fall_time * std::pow(e, k);
    top += fall_time * std::pow(e, n);
    scene.run(top - time, n);
    time = top;
    CAPTURE(n);
    CHECK(scene.events == n);
    CHECK(scene.bodies[0].position[1] - 0.5 == Approx(h * std::pow(e, 2 * n)).epsilon(1e-12));
    CHECK(std::abs(scene.bodies[0].velocity[1]) < 1e-12);
    CHECK(scene.bodies[0].position[0] == Approx(0.25 * time).epsilon(1e-13));
  }
  const Real end = fall_time * (1 + e) / (1 - e);
  scene.run(end - time, 3);
  CHECK(scene.bodies[0].position[1] == Approx(0.5).epsilon(1e-12));
  CHECK(scene.bodies[0].velocity[1] == Approx(0).margin(1e-12));
  const std::int64_t bounces = scene.events;
  CHECK(std::abs(static_cast<Real>(bounces) - std::log(1e-4 / (g * fall_time)) / std::log(e)) < 3);
  scene.run(100, 10);
  CHECK(scene.events == bounces);
  CHECK(std::abs(scene.bodies[0].position[1] - 0.5) < 1e-12);
  CHECK(scene.engine->impulses().size() == 1);
  CHECK(scene.engine->impulses()[0].magnitude == Approx(g * 10));  // the weight, for 10 s
}

TEST_CASE("two disks collide off centre: along the line of centres velocities are exchanged") {
  constexpr Real offset = 0.6;  // of centres, at a distance of 1 when they meet: sin = 0.6
  Scene<2> scene;
  scene.add({{-3, offset}}, {{2, 0}});
  scene.add({{0, 0}}, {{0, 0}});
  scene.run(2, 7);
  CHECK(scene.events == 1);
  const Vec<2> n{{0.8, -0.6}};
  CHECK(norm(scene.bodies[1].velocity - 1.6 * n) < 1e-14);
  CHECK(norm(scene.bodies[0].velocity - (Vec<2>{{2, 0}} - 1.6 * n)) < 1e-14);
  // They met when the centres were 0.8 apart along x.
  const Real since = 2 - (3 - 0.8) / 2;
  CHECK(norm(scene.bodies[1].position - since * 1.6 * n) < 1e-14);
}

TEST_CASE("elastic disks in a box with gravity keep their energy over a thousand events") {
  Scene<2> scene{.gravity = {{0, -9.81}}};
  scene.add({{1, 1}}, {{2, 0.3}}, 0.2, 1);
  scene.add({{2.2, 1.5}}, {{-1, 0.7}}, 0.3, 5);
  scene.add({{0.6, 2.4}}, {{0.4, -0.2}}, 0.25, 0.2);
  scene.add_plane({{0, 0}}, {{0, 1}});
  scene.add_plane({{0, 0}}, {{1, 0}});
  scene.add_plane({{3, 3}}, {{-1, 0}});
  scene.add_plane({{3, 3}}, {{0, -1}});
  const Real before = scene.energy();
  while (scene.events < 1000) scene.run(1);
  CHECK(scene.energy() == Approx(before).epsilon(1e-12));
  CHECK(scene.engine->smallest_gap() > -1e-12);
}

TEST_CASE("spheres: a fall on a fixed ball, and within a container") {
  Scene<3> scene{.gravity = {{0, 0, -10}}};
  scene.pieces.push_back({{.kind = SurfacePiece<3>::Kind::sphere, .point = {}, .radius = 1.5}, 0, 0});
  // Contact at 30 degrees from the top: x = 2 sin(30), z = 2 cos(30).
  scene.add({{1, 0, std::sqrt(3.0) + 1.25}}, {});
  scene.run(0.5 - 1e-9);  // falls 1.25 m in 0.5 s
  CHECK(scene.bodies[0].velocity[2] == Approx(-5));
  scene.run(2e-9);
  CHECK(scene.events == 1);
  const Real s = std::sqrt(3.0) / 2;  // n = (1/2, 0, s); v = -5 e_z is reflected
  CHECK(scene.bodies[0].velocity[0] == Approx(2 * 5 * s * 0.5).epsilon(1e-7));
  CHECK(scene.bodies[0].velocity[2] == Approx(-5 + 2 * 5 * s * s).epsilon(1e-7));

  Scene<3> inside;
  inside.pieces.push_back(
      {{.kind = SurfacePiece<3>::Kind::sphere, .point = {}, .radius = 2, .front = -1}, 0, 0});
  inside.add({}, {{0, 3, 0}});
  inside.run(4.25, 5);  // 1.5 m to the wall, then 3 m across: at 0.5, 1.5, 2.5, 3.5 s
  CHECK(inside.events == 4);
  CHECK(norm(inside.bodies[0].velocity - Vec<3>{{0, 3, 0}}) < 1e-13);
  CHECK(inside.bodies[0].position[1] == Approx(-1.5 + 3 * 0.75));
}

TEST_CASE("an edge is touched from both sides and at its ends") {
  const auto edge = [](Scene<2>& scene) {
    using Kind = SurfacePiece<2>::Kind;
    scene.pieces.push_back(
        {{.kind = Kind::edge, .point = {{-1, 0}}, .normal = {{0, 1}}, .tangent = {{1, 0}}, .length = 2},
         0,
         0});
    scene.pieces.push_back({{.kind = Kind::sphere, .point = {{-1, 0}}}, 0, 0});
    scene.pieces.push_back({{.kind = Kind::sphere, .point = {{1, 0}}}, 0, 0});
  };
  Scene<2> scene;
  edge(scene);
  scene.add({{0.1, 3}}, {{0, -1}});
  scene.add({{-0.9, -3}}, {{0, 1}}, 0.25);
  scene.add({{5, 0.3}}, {{-1, 0}});    // against the end, 0.3 / 0.5 off
  scene.add({{-3, 0.6}}, {{0.1, 0}});  // above it
  scene.run(5, 3);
  CHECK(scene.bodies[0].velocity[1] == Approx(1));
  CHECK(scene.bodies[1].velocity[1] == Approx(-1));
  CHECK(norm(scene.bodies[2].velocity - Vec<2>{{-1 + 2 * 0.64, 2 * 0.48}}) < 1e-14);
  CHECK(scene.bodies[3].velocity[0] == 0.1);
  CHECK(scene.events == 3);

  // Sliding over the end, without rebound and faster than sqrt(g r): it leaves like a projectile.
  Scene<2> table{.gravity = {{0, -10}}, .restitution = 0};
  edge(table);
  table.add({{-0.5, 0.5}}, {{3, 0}});
  table.run(1, 9);
  CHECK(table.bodies[0].velocity[0] == Approx(3));
  CHECK(table.bodies[0].position[1] == Approx(0.5 - 5 * 0.25));
  CHECK(table.hops == 0);
  // Slowly, it turns round the end: energy stays up to that of hops.
  Scene<2> slow{.gravity = {{0, -10}}, .restitution = 0, .rest_speed = 1e-3};
  edge(slow);
  slow.add({{0.5, 0.5}}, {{0.5, 0}});
  const Real before = slow.energy();
  slow.run(2, 7);
  CHECK(slow.hops > 10);
  CHECK(slow.bodies[0].position[1] < -0.5);
  CHECK(slow.energy() == Approx(before).epsilon(1e-4));
}

TEST_CASE("a disk slides over seams of collinear edges, slowly and too fast for the corners to hold it") {
  // Beyond sqrt(g R) = 2.2 m/s the corner at a seam would let it fly off.
  for (const Real speed : {0.5, 3.0, -3.0}) {
    CAPTURE(speed);
    Scene<2> scene{.gravity = {{0, -10}}, .restitution = 0.5};
    scene.add({{0, 0.5}}, {{speed, 0}});
    using Kind = SurfacePiece<2>::Kind;
    const std::array<Real, 5> ends{-50, -0.7, 0, 0.4, 50};
    for (std::size_t k = 0; k + 1 < ends.size(); ++k)
      scene.pieces.push_back({{.kind = Kind::edge,
                               .point = {{ends[k], 0}},
                               .normal = {{0, 1}},
                               .tangent = {{1, 0}},
                               .length = ends[k + 1] - ends[k]},
                              0,
                              0});
    for (const Real end : ends) scene.pieces.push_back({{.kind = Kind::sphere, .point = {{end, 0}}}, 0, 0});
    for (int i = 0; i < 20; ++i) {
      scene.run(0.1);
      CHECK(std::abs(scene.bodies[0].position[1] - 0.5) < 1e-6);
      CHECK(scene.bodies[0].velocity[0] == Approx(speed));
    }
  }
}

TEST_CASE("a small ball slides off a large fixed one at height 2/3") {
  // Frictionless, from rest near the top: contact ends where cos(angle) = 2/3.
  Scene<2> scene{.gravity = {{0, -1}}, .restitution = 0, .rest_speed = 1e-4};
  scene.pieces.push_back({{.kind = SurfacePiece<2>::Kind::sphere, .point = {}, .radius = 0.9}, 0, 0});
  const Real start = 0.2;
  scene.add({{std::sin(start), std::cos(start)}}, {}, 0.1);
  Real last_touch = 1;
  for (int i = 0; i < 400; ++i) {
    scene.run(0.01);
    const Vec<2>& x = scene.bodies[0].position;
    if (norm(x) < 1 + 1e-6) last_touch = x[1];
  }
  CHECK(last_touch == Approx(2.0 / 3 * std::cos(start)).epsilon(0.02));
  CHECK(scene.energy() == Approx(std::cos(start)).epsilon(1e-6));
}

TEST_CASE("Newton's cradle") {
  Scene<2> scene;
  for (int i = 0; i < 5; ++i) scene.add({{i + 0.0, 0}}, {});
  scene.add({{-3, 0}}, {{2, 0}});
  scene.run(2, 3);
  CHECK(scene.events == 1);
  CHECK(scene.bodies[4].velocity[0] == 2);
  for (const int i : {0, 1, 2, 3, 5}) CHECK(std::abs(scene.bodies[i].velocity[0]) < 1e-15);
  CHECK(scene.bodies[5].position[0] == Approx(-1));
  CHECK(scene.bodies[4].position[0] == Approx(4 + 2 * 1));
}

TEST_CASE("a column at rest stays at rest and carries its weight") {
  Scene<2> scene{.gravity = {{0, -10}}, .restitution = 0.5};
  scene.add_plane({{0, 0}}, {{0, 1}});
  for (int i = 0; i < 4; ++i) scene.add({{0, 0.5 + i}}, {}, 0.5, 1 + i);
  scene.run(10, 10);
  CHECK(scene.events == 0);
  for (int i = 0; i < 4; ++i) CHECK(std::abs(scene.bodies[i].position[1] - 0.5 - i) < 1e-9);
  Real above = 0;
  for (const ContactImpulse& c : scene.engine->impulses()) above = std::max(above, c.magnitude);
  CHECK(above == Approx(10 * (1 + 2 + 3 + 4)));
}

TEST_CASE("a bed at rest is no impact, however often output is asked for") {
  Scene<2> scene{.gravity = {{0, -10}}, .restitution = 0.5};
  // Seven disks in a box just as wide as four of them; each of the upper row lies on two.
  for (int i = 0; i < 4; ++i) scene.add({{0.5 + i, 0.5}}, {});
  for (int i = 0; i < 3; ++i) scene.add({{1.0 + i, 0.5 + std::sqrt(3) / 2}}, {});
  scene.add_plane({{0, 0}}, {{0, 1}});
  scene.add_plane({{0, 0}}, {{1, 0}});
  scene.add_plane({{4, 0}}, {{-1, 0}});
  // What forces that balance leave after a step, and a little more.
  for (std::size_t i = 0; i < scene.bodies.size(); ++i)
    scene.bodies[i].velocity = {{i % 2 == 0 ? 1e-12 : -1e-12, -1e-13}};
  for (int step = 0; step < 50; ++step) {
    scene.run(0.1);
    CHECK(scene.engine->counts().impacts == 0);
  }
  for (const auto& body : scene.bodies) CHECK(norm(body.velocity) < 1e-13);
  CHECK(std::abs(scene.engine->smallest_gap()) < 1e-12);
  // What moves visibly is one.
  scene.bodies[5].velocity = {{0, -1e-6}};
  scene.run(0.1);
  CHECK(scene.engine->counts().impacts > 0);
}

TEST_CASE("a disk comes to rest in a corner that holds it") {
  Scene<2> scene{.gravity = {{0, -10}}, .restitution = 0.5};
  const Real s = std::sqrt(0.5);
  scene.add_plane({{0, 0}}, {{s, s}});
  scene.add_plane({{0, 0}}, {{-s, s}});
  scene.add({{0.1, 3}}, {{0.3, 0}});
  scene.run(20, 20);
  CHECK(norm(scene.bodies[0].velocity) < 1e-12);
  CHECK(norm(scene.bodies[0].position - Vec<2>{{0, 0.5 / s}}) < 1e-9);
  REQUIRE(scene.engine->impulses().size() == 1);  // both planes count as one obstacle here
  CHECK(scene.engine->impulses()[0].magnitude == Approx(2 * 10 * s));
}

TEST_CASE("down a slope without friction") {
  Scene<2> scene{.gravity = {{0, -10}}, .restitution = 0};
  scene.add_plane({{0, 0}}, {{0.6, 0.8}});
  scene.add({{0.3, 0.4}}, {});
  scene.run(2, 5);
  // a = g sin = 6 along (0.8, -0.6)
  CHECK(norm(scene.bodies[0].position - (Vec<2>{{0.3, 0.4}} + 12 * Vec<2>{{0.8, -0.6}})) < 1e-12);
  CHECK(norm(scene.bodies[0].velocity - 12 * Vec<2>{{0.8, -0.6}}) < 1e-12);
}

TEST_CASE("a pile that falls apart: three disks without friction") {
  Scene<2> scene{.gravity = {{0, -10}}, .restitution = 0.3, .rest_speed = 1e-2};
  scene.add_plane({{0, 0}}, {{0, 1}});
  scene.add({{-0.5, 0.5}}, {});
  scene.add({{0.5, 0.5}}, {});
  scene.add({{0, 0.5 + std::sqrt(0.75)}}, {});
  const Real before = scene.energy();
  scene.run(2, 5);
  CHECK(scene.bodies[2].position[1] == Approx(0.5).margin(1e-6));
  CHECK(scene.bodies[0].velocity[0] < -1);
  CHECK(scene.bodies[0].velocity[0] == Approx(-scene.bodies[1].velocity[0]).epsilon(0.02));
  CHECK(scene.energy() < before);
  CHECK(scene.engine->smallest_gap() > -1e-8);
}

}  // namespace scree
