#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/contacts.hpp"
#include "core/error.hpp"
#include "core/input_file.hpp"
#include "verify/obj_sheets.hpp"
#include "verify/rig_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;  // [m/s2]

/// A file that rank 0 writes and all read; gone at the end. Collective.
class MeshFile {
 public:
  MeshFile(const Comm& comm, const std::string& text) : comm_(comm) {
    std::string path;
    if (comm.is_root()) {
      std::string name = (std::filesystem::temp_directory_path() / "scree-XXXXXX.obj").string();
      const int file = mkstemps(name.data(), 4);
      if (file >= 0) close(file);
      std::ofstream(name, std::ios::binary) << text;
      path = name;
    }
    comm.broadcast(path, 0);
    path_ = path;
  }
  ~MeshFile() {
    if (comm_.is_root()) std::filesystem::remove(path_);
  }
  MeshFile(const MeshFile&) = delete;
  MeshFile& operator=(const MeshFile&) = delete;
  std::string keys(const std::string& side = "both") const {
    return fmt::format("type = 'mesh'\nfile = '{}'\nscale = 1\nside = '{}'", path_, side);
  }

 private:
  const Comm& comm_;
  std::string path_;
};

struct Ride {
  Vec<3> position, velocity;
  Spin<3> spin;
};

/// One ball on a floor that is given as it is before it is turned by 0.3 rad about y; gravity turns with it.
Ride ride(const Comm& comm, bool soft, const std::string& floor, const Vec<3>& launch, Real time) {
  constexpr Real angle = 0.3, radius = 0.05;
  const Vec<3> up{{std::sin(angle), 0, std::cos(angle)}}, along{{std::cos(angle), 0, -std::sin(angle)}};
  GrainDeck<3> deck({{-2, -2, -2}}, {{2, 2, 2}}, soft ? 1e-4 : 1e-3);
  deck.gravity(-g * up);
  const auto elasticity = soft ? std::optional(Elasticity{1e7, 0.3}) : std::nullopt;
  if (soft) deck.soft("");
  deck.material("stone", 2500, elasticity);
  deck.pair("stone", "stone", 0.3, 0.5);
  // On no line of the meshes.
  const Vec<3> start = -0.713 * along + (radius + 1e-6) * up + Vec<3>{{0, 0.0171, 0}};
  deck.add({"stone", start, radius, launch[0] * along + Vec<3>{{0, launch[1], 0}}, {}, ""});
  deck.obstacle("floor", "stone",
                floor + fmt::format("\nrotate = {{ axis = [0, 1, 0], angle = {} }}", angle));
  Simulation<3> simulation(comm, deck.read());
  const auto n_steps = std::llround(time / deck.dt());
  for (std::int64_t step = 0; step < n_steps; ++step) simulation.step();
  const GrainStates<3> end = states_of(simulation);
  return {end.position[0], end.velocity[0], end.spin[0]};
}

/// A ball that slides, then rolls at 5/7 of its speed, over a floor of any triangles goes as on a plane.
void roll(GrainTable& table) {
  const std::string plane = "type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]";
  const Vec<3> launch{{1.0, 0.1, 0}};
  std::vector<GrainRow> rows;
  for (const bool soft : {false, true}) {
    const Ride whole = ride(table.comm(), soft, plane, launch, 0.8);
    const Real length = 0.8 * norm(launch);
    const std::string scheme = soft ? "dem" : "nonsmooth";
    rows.push_back(row("speed / launch", scheme + ", plane", 5.0 / 7, norm(whole.velocity) / norm(launch),
                       soft ? 0.02 : 1e-3));
    for (const int n : {1, 10, 100}) {
      ObjSheets sheets;
      sheets.add(n, [&](int i, int j) {
        return Vec<3>{{ObjSheets::between(-1.5, 1.5, i, n), ObjSheets::between(-1.5, 1.5, j, n), 0}};
      });
      const MeshFile file(table.comm(), sheets.text());
      const Ride cut = ride(table.comm(), soft, file.keys(), launch, 0.8);
      rows.push_back({"off the plane's path / run", fmt::format("{}, {} triangles", scheme, 2 * n * n), 0,
                      norm(cut.position - whole.position) / length,
                      norm(cut.position - whole.position) / length, 1e-12});
    }
  }
  table.add("rolling over a mesh", rows);
}

/// A ball put down on a belt of speed U slips until its lowest point has that speed: it then rolls with
/// u = 2/7 U, as friction gave it mu g t of speed and 5/2 mu g t of spin.
void belt(GrainTable& table) {
  constexpr Real speed = 0.7;
  const std::string moves = fmt::format("\nsurface_velocity = [{}, 0, 0]", speed);
  ObjSheets sheets;
  constexpr int n = 10;
  sheets.add(n, [&](int i, int j) {
    return Vec<3>{{ObjSheets::between(-1.5, 1.5, i, n), ObjSheets::between(-1.5, 1.5, j, n), 0}};
  });
  const MeshFile file(table.comm(), sheets.text());
  std::vector<GrainRow> rows;
  for (const bool soft : {false, true})
    for (const bool cut : {false, true}) {
      const std::string floor = cut ? file.keys() : "type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]";
      // The belt's velocity is given in the world, where the floor is turned: its part along the floor
      // counts.
      const Real along = speed * std::cos(0.3);
      const Ride end = ride(table.comm(), soft, floor + moves, {}, 0.6);
      rows.push_back(row("speed / belt",
                         fmt::format("{}, {}", soft ? "dem" : "nonsmooth", cut ? "mesh" : "plane"), 2.0 / 7,
                         norm(end.velocity) / along, soft ? 0.02 : 1e-3));
    }
  table.add("ball on a belt", rows);
}

/// Where 1000 spheres are after 0.1 s (soft) or 0.2 s in a container.
std::vector<Vec<3>> shaken(const Comm& comm, bool soft, const std::string& container) {
  GrainDeck<3> deck({{-0.05, -0.05, -0.05}}, {{0.25, 0.25, 0.25}}, soft ? 1e-4 : 1e-3);
  deck.gravity({{1, 0.5, -g}});
  if (soft) deck.soft("");
  deck.tolerance(1e-8);
  deck.material("glass", 2500, soft ? std::optional(Elasticity{5e6, 0.2}) : std::nullopt);
  deck.pair("glass", "glass", 0.4, 0.5);
  deck.group(
      "glass", 0.006,
      "type = 'lattice', count = 1000, region = { lower = [0.01, 0.01, 0.001], upper = [0.19, 0.19, 0.19] }",
      "random_speed = 0.3");
  deck.obstacle("box", "glass", container);
  Simulation<3> simulation(comm, deck.read());
  for (int step = 0; step < (soft ? 1000 : 200); ++step) simulation.step();
  return states_of(simulation).position;
}

void fill_box(GrainTable& table, bool quick) {
  const Vec<3> lower{}, upper{{0.2, 0.2, 0.2}};
  std::vector<GrainRow> rows;
  for (const bool soft : {true, false}) {
    if (quick && !soft) continue;
    const std::vector<Vec<3>> expected = shaken(
        table.comm(), soft, "type = 'box'\nlower = [0, 0, 0]\nupper = [0.2, 0.2, 0.2]\nside = 'inside'");
    for (const int n : {1, 20}) {
      ObjSheets sheets;
      sheets.add_box(lower, upper, n);
      const MeshFile file(table.comm(), sheets.text());
      const std::vector<Vec<3>> found = shaken(table.comm(), soft, file.keys("inside"));
      Real farthest = 0;
      for (std::size_t i = 0; i < expected.size(); ++i)
        farthest = std::max(farthest, std::abs(found[i][2] - expected[i][2]));
      // Rigid contact problems are solved to 1e-8, so paths may part by more than rounding.
      rows.push_back({"height of any sphere [m]",
                      fmt::format("{}, {} triangles", soft ? "dem" : "nonsmooth", 12 * n * n), 0, farthest,
                      farthest, soft ? 1e-9 : 1e-6});
    }
  }
  table.add("1000 spheres in a box of triangles", rows);
}

/// Grains per second between 85 and 25 % full of a hopper, from the same start as two other codes.
Real discharge_rate(const Comm& comm, const std::string& source, const std::string& walls) {
  const std::string text = fmt::format(
      "[simulation]\ndimension = 3\nscheme = 'dem'\nend_time = 2.3\nallow_overlap = true\n[time]\nstep = "
      "5e-5\n"
      "[domain]\nlower = [-0.05, -0.05, -0.15]\nupper = [0.05, 0.05, 0.2]\n[physics]\ngravity = [0, 0, "
      "-9.81]\n"
      "[materials.glass]\ndensity = 2500\nyoung_modulus = 5e6\npoisson_ratio = 0.2\n"
      "[pairs]\n'glass-glass' = {{ friction = 0.5, restitution = 0.5 }}\n"
      "[particles.grains]\nmaterial = 'glass'\nsource = {{ type = 'file', path = '{}' }}\n{}"
      "[obstacles.tube]\ntype = 'cone'\na = [0, 0, 0.13]\nb = [0, 0, 0.19]\nradius_a = 0.04\nradius_b = "
      "0.04\n"
      "[outlets.below]\nregion = {{ lower = [-0.05, -0.05, -0.15], upper = [0.05, 0.05, -0.08] }}\n",
      source + "/tests/reference/practice/hopper_start.csv", walls);
  Simulation<3> simulation(comm, read_run_deck<3>(Deck::from_text(text, "hopper")));
  Real from = -1, until = -1;
  constexpr std::int64_t n = 3336, full = n * 85 / 100, nearly_empty = n * 25 / 100;
  while (until < 0 && simulation.running()) {
    simulation.step();
    if (std::llround(simulation.state().clock.time / 5e-5) % 20 != 0) continue;
    const BodyStore<3>& bodies = simulation.state().bodies;
    std::int64_t above = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      above += bodies.position()[i][2] > 0 ? 1 : 0;
    above = comm.sum(above);
    if (from < 0 && above <= full) from = simulation.state().clock.time;
    if (above <= nearly_empty) until = simulation.state().clock.time;
  }
  return static_cast<Real>(full - nearly_empty) / (until - from);
}

void discharge(GrainTable& table, const std::string& source) {
  constexpr Real of_cone = 1342, of_facets = 1309;  // LAMMPS and LIGGGHTS, tests/reference/practice
  const Real cone = discharge_rate(
      table.comm(), source,
      "[obstacles.cone]\ntype = 'cone'\na = [0, 0, 0]\nb = [0, 0, 0.025]\nradius_a = 0.015\nradius_b = 0.04\n"
      "[obstacles.shaft]\ntype = 'cone'\na = [0, 0, 0.025]\nb = [0, 0, 0.13]\nradius_a = 0.04\nradius_b = "
      "0.04\n");
  const Real facets = discharge_rate(
      table.comm(), source,
      fmt::format(
          "[obstacles.hopper]\ntype = 'mesh'\nscale = 1\nfile = '{}/inputs/granular/meshes/hopper.stl'\n",
          source));
  table.add("discharge of a hopper",
            {row("grains per second", "64 facets, of scree's cone", cone, facets, 0.02 * cone),
             row("grains per second", "cone, of LAMMPS", of_cone, cone, 0.04 * of_cone),
             row("grains per second", "64 facets, of LIGGGHTS", of_facets, facets, 0.04 * of_facets)});
}

/// The wall of a drum that turns at 1 rad/s about y, from 2 s on.
struct DrumWall {
  Real torque;  ///< of the grains on it, mean over time [N m]
  Real
      turns_along;  ///< of the grains within a diameter of it in the lowest half radius: speed / wall's there
};

/// inputs/granular/drum.toml, with `wall` in place of its cylinder if it is not empty.
DrumWall turn_drum(const Comm& comm, const std::string& source, const std::string& wall) {
  const std::string path = source + "/inputs/granular/drum.toml";
  std::string text;
  if (comm.is_root()) text = read_input(path);
  comm.broadcast(text, 0);
  if (!wall.empty()) {
    const std::string last = "endless = true\n";
    const std::size_t begin = text.find("type = \"cylinder\""), end = text.find(last);
    if (begin == std::string::npos || end == std::string::npos || end < begin)
      throw InputError(path + ": has no cylinder that a mesh could stand for");
    text.replace(begin, end + last.size() - begin, wall + "\n");
  }
  Simulation<3> simulation(comm, read_run_deck<3>(Deck::from_text(text, "drum")));
  constexpr int steps_between = 5;
  constexpr Real flows = 2;  // [s] steadily from then on
  constexpr Real radius = 0.2;
  std::vector<Real> torques, shares;
  Real torque = 0;
  std::int64_t n_samples = 0;
  for (int step = 1; simulation.running(); ++step) {
    const bool samples = step % steps_between == 0 && simulation.state().clock.time >= flows;
    simulation.step(samples);
    if (!samples) continue;
    const ContactGraph<3>& contacts = simulation.find_contacts(0);
    const BodyStore<3>& bodies = simulation.state().bodies;
    torques.clear();
    for (std::size_t c = 0; c < contacts.size(); ++c)
      if (contacts.b[c] < 0) {
        const Vec<3>& x = bodies.position()[static_cast<std::size_t>(contacts.a[c])];
        torques.push_back(cross(x + contacts.branch[c], force_on_b(contacts, c))[1]);
      }
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      const Vec<3>& x = bodies.position()[i];
      const Vec<3> of_wall{{x[2], 0, -x[0]}};
      if (norm(of_wall) < radius - 2 * bodies.radius()[i] || x[2] > -radius / 2) continue;
      shares.push_back(dot(bodies.velocity()[i], of_wall) / dot(of_wall, of_wall));
    }
    torque += ReproducibleSum::sum(comm, torques);
    ++n_samples;
  }
  const std::int64_t n_grains = comm.sum(static_cast<std::int64_t>(shares.size()));
  return {torque / static_cast<Real>(n_samples),
          ReproducibleSum::sum(comm, shares) / static_cast<Real>(n_grains)};
}

/// A closed drum of 64 facets, as wide inside as the round one, that reaches beyond the periodic faces.
std::string drum_of_facets() {
  constexpr int n = 64;
  constexpr Real round = 0.2, turn = 2 * M_PI / n, ends[] = {-0.02, 0.1};
  const Real radius = round * std::sqrt(turn / std::sin(turn));
  std::string text;
  for (int k = 0; k < n; ++k)
    for (const Real y : ends)
      text += fmt::format("v {} {} {}\n", radius * std::cos(turn * k), y, radius * std::sin(turn * k));
  for (const Real y : ends) text += fmt::format("v 0 {} 0\n", y);
  for (int k = 0; k < n; ++k) {
    const int a = 2 * k + 1, b = a + 1, c = 2 * ((k + 1) % n) + 1, d = c + 1;
    text += fmt::format("f {} {} {}\nf {} {} {}\nf {} {} {}\nf {} {} {}\n", a, b, d, a, d, c, a, c, 2 * n + 1,
                        d, b, 2 * n + 2);
  }
  return text;
}

void drum(GrainTable& table, const std::string& source) {
  const DrumWall round = turn_drum(table.comm(), source, "");
  const MeshFile file(table.comm(), drum_of_facets());
  const DrumWall cut = turn_drum(table.comm(), source, file.keys("inside"));
  table.add("drum of 64 facets", {row("torque [N m]", "64 facets, of the cylinder", round.torque, cut.torque,
                                      0.03 * std::abs(round.torque)),
                                  row("layer at the wall, speed / wall", "64 facets, of the cylinder",
                                      round.turns_along, cut.turns_along, 0.1)});
}

}  // namespace

void verify_rig_meshes(GrainTable& table, const VerifyOptions& options) {
  roll(table);
  belt(table);
  fill_box(table, options.quick);
  if (options.quick) return;
  discharge(table, options.source);
  drum(table, options.source);
}

}  // namespace scree
