// Walls of triangles: they touch as the surfaces that they are, wherever they are cut.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/input_file.hpp"
#include "geometry/direction.hpp"
#include "support/obj_sheets.hpp"
#include "unit/geometry/touch_walls.hpp"
#include "unit/particles/scratch_file.hpp"

namespace scree {
namespace {

std::string mesh(const std::string& path, const std::string& side = "both") {
  return "type = 'mesh'\nfile = '" + path + "'\nscale = 1\nside = '" + side + "'";
}

/// What all parts say of a point; those in reach, and which they are.
struct Answers {
  std::vector<SurfacePoint<3>> seen;
  std::vector<int> part;
};
Answers answers_of(const ObstacleSet<3>& walls, const Vec<3>& x, const Vec<3>& from) {
  Answers answers;
  for (int part = 0; part < walls.n_constraints(); ++part) {
    const SurfacePoint<3> seen = nearest(walls, part, x, from);
    if (!seen.in_reach()) continue;
    answers.seen.push_back(seen);
    answers.part.push_back(part);
  }
  return answers;
}
Answers answers_of(const ObstacleSet<3>& walls, const Vec<3>& x) {
  return answers_of(walls, x, x);
}

std::string cut_box(const Vec<3>& lower, const Vec<3>& upper, int n) {
  ObjSheets obj;
  obj.add_box(lower, upper, n);
  return obj.text();
}

class Uniform {
 public:
  Real operator()(Real min, Real max) {
    return min + (max - min) * std::ldexp(static_cast<Real>(bits_() >> 11), -53);
  }

 private:
  std::mt19937_64 bits_{20261125};
};

TEST_CASE("mesh: contacts of 60 places near a hopper are those of brute force") {
  const ObstacleSet<3> hopper =
      read_obstacle<3>(mesh(SCREE_TESTS "/reference/practice/hopper_16.stl") + "\nflat_angle = 0");
  std::ifstream file(SCREE_TESTS "/reference/practice/mesh_contacts.csv");
  REQUIRE(file);
  std::string line;
  std::getline(file, line);
  int n_places = 0, n_in_contact = 0;
  while (std::getline(file, line)) {
    const auto fields = fields_of(line);
    REQUIRE(fields.size() == 6);
    Vec<3> x;
    Real min = 0;
    int n_contacts = 0;
    for (std::size_t k = 0; k < 3; ++k) REQUIRE(parse(fields[k], x[static_cast<int>(k)]));
    REQUIRE(parse(fields[3], min));
    REQUIRE(parse(fields[4], n_contacts));
    const Answers answers = answers_of(hopper, x);
    Real nearest_answer = HUGE_VAL;
    std::vector<Vec<3>> feet;
    for (const SurfacePoint<3>& seen : answers.seen) {
      nearest_answer = std::min(nearest_answer, seen.distance);
      if (seen.distance < 0.0025) feet.push_back(x - seen.distance * seen.normal);
    }
    CAPTURE(line);
    CHECK(std::abs(nearest_answer - min) < 1e-12);
    CHECK(feet.size() == static_cast<std::size_t>(n_contacts));
    std::string_view rest = fields[5];
    for (int c = 0; c < n_contacts; ++c) {
      Vec<3> foot;
      for (int k = 0; k < 3; ++k) {
        const auto end = std::min(rest.find(' '), rest.size());
        REQUIRE(parse(rest.substr(0, end), foot[k]));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      CHECK(std::ranges::any_of(feet, [&](const Vec<3>& own) { return norm(own - foot) < 1e-12; }));
    }
    ++n_places;
    n_in_contact += n_contacts > 0 ? 1 : 0;
  }
  CHECK(n_places == 60);
  CHECK(n_in_contact == 35);
}

TEST_CASE("mesh: a box of any number of triangles is the shape box at 300 places, seams and corners too") {
  const Vec<3> lower{{-0.3, -0.2, -0.1}}, upper{{0.3, 0.25, 0.15}};
  const ObstacleSet<3> box =
      read_obstacle<3>("type = 'box'\nlower = [-0.3, -0.2, -0.1]\nupper = [0.3, 0.25, 0.15]");
  for (const int n : {1, 3, 20}) {
    const ScratchFile file("cut_box.obj", cut_box(lower, upper, n));
    const ObstacleSet<3> cut = read_obstacle<3>(mesh(file.path(), "outside"));
    REQUIRE(cut.n_constraints() == 12 * n * n);
    Uniform uniform;
    Real worst_distance = 0, worst_normal = 0;
    int n_several = 0;
    for (int i = 0; i < 300; ++i) {
      Vec<3> x;
      for (int k = 0; k < 3; ++k) {
        const int kind = static_cast<int>(uniform(0, 4));
        const Real share = kind == 0   ? uniform(-0.4, 1.4)                 // anywhere
                           : kind == 1 ? std::floor(uniform(0, n + 1)) / n  // on a seam
                           : kind == 2 ? 0.5
                                       : uniform(-0.1, 1.1);
        x[k] = lower[k] + share * (upper[k] - lower[k]);
      }
      const SurfacePoint<3> expected = nearest(box, 0, x);
      if (std::abs(expected.distance) < 1e-9) continue;  // on the surface an edge has many normals
      const Answers answers = answers_of(cut, x);
      n_several += answers.seen.size() == 1 ? 0 : 1;
      REQUIRE_FALSE(answers.seen.empty());
      CHECK(std::abs(cut.closest(0, x).distance - expected.distance) < 1e-12);
      worst_distance = std::max(worst_distance, std::abs(answers.seen[0].distance - expected.distance));
      // Within, several faces may be as near as each other.
      if (expected.distance > 0)
        worst_normal = std::max(worst_normal, norm(answers.seen[0].normal - expected.normal));
    }
    CHECK(n_several == 0);
    CHECK(worst_distance < 1e-12);
    CHECK(worst_normal < 1e-12);
  }
}

TEST_CASE("mesh: bodies have no points at parts that do not see them, however wide the gaps asked for") {
  const ScratchFile file("box.obj", cut_box({{-1, -1, -1}}, {{1, 1, 1}}, 2));
  const ObstacleSet<3> box = read_obstacle<3>(mesh(file.path(), "outside"));
  const ConvexCore<3> brick(corners_of_box<3>({{0.5, 0.4, 0.3}}));
  const PosedCore<3> body{brick, {{{0.2, 0.1, 1.5}}, world<3>(), 1}};
  const auto points = touch(box, body, 0.01, HUGE_VAL, HUGE_VAL);
  CHECK_FALSE(points.empty());
  for (const auto& point : points) CHECK(point.gap < 3);
}

TEST_CASE("mesh: a plane cut into triangles touches once with the plane's normal, however it is turned") {
  const ObstacleSet<3> plane = read_obstacle<3>("type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]");
  ObjSheets obj;
  constexpr int n = 16;
  obj.add(n, [](int i, int j) {
    return Vec<3>{{static_cast<Real>(i) / n - 0.5, static_cast<Real>(j) / n - 0.5, 0}};
  });
  const ScratchFile file("floor.obj", obj.text());
  const std::string turned = "\nrotate = { axis = [1, 2, -1], angle = 0.7 }\ntranslate = [0.3, -0.1, 0.2]";
  const ObstacleSet<3> floor = read_obstacle<3>(mesh(file.path()) + turned);
  const ObstacleSet<3> turned_plane =
      read_obstacle<3>("type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]" + turned);
  const Vec<3> normal = nearest(turned_plane, 0, Vec<3>{}).normal;
  const Vec<3> corner = Vec<3>{{0.3, -0.1, 0.2}};
  const Vec<3> u = perpendicular(normal), v = cross(normal, u);
  Uniform uniform;
  for (int i = 0; i < 200; ++i) {
    const Real height = uniform(0.001, 0.05);
    const Vec<3> foot = i % 4 == 0 ? corner : corner + uniform(-0.3, 0.3) * u + uniform(-0.3, 0.3) * v;
    const Vec<3> x = foot + height * normal;
    const Answers answers = answers_of(floor, x);
    REQUIRE(answers.seen.size() == 1);
    CHECK(std::abs(answers.seen[0].distance - height) < 1e-14);
    CHECK(norm(answers.seen[0].normal - normal) < 1e-12);
  }
}

TEST_CASE("mesh: no path slips through a seam of a thin sheet, and one triangle sends it back") {
  ObjSheets obj;
  constexpr int n = 8;
  obj.add(n, [](int i, int j) {
    const Real s = static_cast<Real>(i) / n, t = static_cast<Real>(j) / n;
    return Vec<3>{{s - 0.5, t - 0.5, 0.05 * std::sin(7 * s) * std::cos(5 * t)}};
  });
  const ScratchFile file("sheet.obj", obj.text());
  const ObstacleSet<3> sheet = read_obstacle<3>(mesh(file.path()));
  Uniform uniform;
  for (int i = 0; i < 500; ++i) {
    // Through corners of the grid, points of its edges, and anywhere.
    const Real s = i % 3 == 0 ? std::floor(uniform(1, n)) / n : uniform(0.2, 0.8);
    const Real t = i % 3 < 2 ? std::floor(uniform(1, n)) / n : uniform(0.2, 0.8);
    const Vec<3> middle{{s - 0.5, t - 0.5, 0.05 * std::sin(7 * s) * std::cos(5 * t)}};
    const Vec<3> displacement{{uniform(-0.05, 0.05), uniform(-0.05, 0.05), uniform(0.1, 0.3)}};
    for (const Real sense : {-1.0, 1.0}) {
      const Answers answers = answers_of(sheet, middle + sense * displacement, middle - sense * displacement);
      int n_back = 0;
      for (const SurfacePoint<3>& seen : answers.seen)
        if (seen.distance < 0) {
          ++n_back;
          CHECK(seen.normal[2] * sense < 0);
        }
      CAPTURE(i, s, t, sense);
      CHECK(n_back == 1);
    }
  }
}

/// An extruded star: a solid with edges and with notches far sharper than a right angle.
std::string star() {
  constexpr int n = 12;
  std::string text;
  for (const Real z : {-0.5, 0.5}) {
    for (int k = 0; k < n; ++k) {
      const Real r = k % 2 == 0 ? 1 : 0.3, turn = 2 * M_PI * k / n;
      text += fmt::format("v {} {} {}\n", r * std::cos(turn), r * std::sin(turn), z);
    }
    text += fmt::format("v 0 0 {}\n", z);
  }
  constexpr int top = n + 1;
  for (int k = 1; k <= n; ++k) {
    const int l = k % n + 1;
    text += fmt::format("f {} {} {}\nf {} {} {}\nf {} {} {}\nf {} {} {}\n", k, l, top + l, k, top + l,
                        top + k, l, k, n + 1, top + k, top + l, top + n + 1);
  }
  return text;
}

TEST_CASE("mesh: within a reach it answers as without, and nothing comes nearer before it has moved so far") {
  Uniform uniform;
  const ScratchFile spiky("star.obj", star()), box("box.obj", cut_box(filled<3>(-0.8), filled<3>(0.8), 3));
  int n_in_contact = 0, n_put_off = 0, n_in_solid = 0;
  for (const auto& [path, side] : {std::pair{spiky.path(), "outside"}, std::pair{spiky.path(), "inside"},
                                   std::pair{spiky.path(), "both"}, std::pair{box.path(), "outside"},
                                   std::pair{box.path(), "inside"}, std::pair{box.path(), "both"}}) {
    const ObstacleSet<3> walls = read_obstacle<3>(mesh(path, side));
    const auto random = [&](Real max) {
      return Vec<3>{{uniform(-max, max), uniform(-max, max), uniform(-max, max)}};
    };
    for (int k = 0; k < 400; ++k) {
      const Vec<3> x = random(1.2);
      const Vec<3> from = x + random(k % 4 == 0 ? 1 : 0.01);
      const Real reach = uniform(0.01, 0.4);
      for (int part = 0; part < walls.n_constraints(); ++part) {
        const SurfacePoint<3> whole = nearest(walls, part, x, from);
        SurfacePoint<3> seen;
        Real clearance = -1;
        walls.nearest_within(part, {&x, 1}, {&from, 1}, {&reach, 1}, {&seen, 1}, {&clearance, 1});
        REQUIRE(clearance >= 0);
        if (whole.distance < reach) {
          REQUIRE(seen.distance == whole.distance);
          REQUIRE(seen.normal == whole.normal);
          REQUIRE(clearance == 0);
          ++n_in_contact;
          n_in_solid += whole.distance < -reach ? 1 : 0;
          continue;
        }
        REQUIRE(seen.distance >= reach);
        if (clearance == 0) continue;
        ++n_put_off;
        const Vec<3> moved = x + 0.999 * clearance * direction(random(1), unit_vector<3>(0)).unit;
        if (!walls.is_thin(part) && walls.closest(0, moved).distance < 0)
          continue;  // it may lead out of there
        REQUIRE(nearest(walls, part, moved).distance >= reach);
      }
    }
  }
  CHECK(n_in_contact > 1000);
  CHECK(n_put_off > 10000);
  CHECK(n_in_solid > 100);
}

TEST_CASE("mesh: what is wrong with a file is said with the key, the number and the place") {
  const auto message = [](const std::string& text, const std::string& side) {
    const ScratchFile file("damaged.obj", text);
    try {
      read_obstacle<3>(mesh(file.path(), side));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string closed = cut_box({{0, 0, 0}}, {{1, 1, 1}}, 1);
  CHECK(message(closed, "inside").empty());
  const std::string open = closed.substr(0, closed.rfind("\nf") + 1);
  CHECK_THAT(message(open, "outside"), Catch::Contains("\"outside\" needs a closed surface") &&
                                           Catch::Contains("3 edges") && Catch::Contains(" m"));
  CHECK(message(open, "both").empty());
  std::string inverted = open + "f 22 21 24\n";
  CHECK_FALSE(message(inverted, "outside").empty());
  CHECK_THAT(message("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "both"),
             Catch::Contains("no triangle with an area"));

  const std::string lines = mesh(SCREE_TESTS "/reference/meshes/gem.obj", "outside");
  CHECK_THROWS_WITH(read_obstacle<3>(lines + "\nchecksum = '0123'"), Catch::Contains("checksum"));
  CHECK_THROWS_WITH(read_obstacle<3>("type = 'mesh'\nfile = 'gem.obj'"), Catch::Contains("scale"));
  CHECK_THROWS_WITH(read_obstacle<3>(mesh("nowhere.stl")), Catch::Contains("not there"));
}

TEST_CASE("surface_velocity: material moves along the surface, and turns with the motion") {
  const std::string drum =
      "type = 'cylinder'\na = [0, 0, 0]\nb = [0, 1, 0]\nradius = 0.5\nside = 'inside'\n"
      "surface_velocity = [1, 2, 0]\n";
  const ObstacleSet<3> fixed = read_obstacle<3>(drum);
  const Vec<3> up{{0, 0, 1}}, bottom{{0, 0.5, -0.5}};
  CHECK(fixed.velocity(0, bottom, 0) == Vec<3>{});
  CHECK(norm(fixed.surface_velocity(0, bottom, up, 0) - Vec<3>{{1, 2, 0}}) < 1e-15);
  CHECK(norm(fixed.surface_velocity(0, {{0.5, 0.5, 0}}, {{-1, 0, 0}}, 0) - Vec<3>{{0, 2, 0}}) < 1e-15);
  const ObstacleSet<3> turning = read_obstacle<3>(
      drum + "[obstacles.it.motion]\ntype = 'rotate'\npoint = [0, 0, 0]\naxis = [0, 0, 1]\nrate = 2");
  const Real quarter = std::acos(0.0) / 2;  // a quarter turn at 2 rad/s
  CHECK(norm(turning.surface_velocity(0, bottom, up, quarter) - (Vec<3>{{-2, 1, 0}} + Vec<3>{{-1, 0, 0}})) <
        1e-14);
}

}  // namespace
}  // namespace scree
