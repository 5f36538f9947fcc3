// Friction as a constraint on any number of ranks and after restarts: the same to the tolerance of the
// solver, whose dot products depend on the ranks.
#include <fmt/format.h>

#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// A pile of `n` rows on a floor, which settles.
template <int D>
std::string pile(const std::string& region, Real mu, const std::string& more) {
  const bool plane = D == 2;
  return fmt::format(R"(
[simulation]
dimension = {}
scheme = "dem"
end_time = 100
seed = 3
[domain]
lower = {}
upper = {}
[time]
step = 2e-4
[physics]
gravity = {}
[dem]
law = "linear"
friction = "dae"
[neighbors]
skin = 0.1
[decomposition]
block_cells = 1
[materials.stone]
density = 1.5
[materials.floor]
density = 1
[pairs."stone-stone"]
friction = {}
restitution = 0.5
stiffness = 1e5
[pairs."stone-floor"]
friction = {}
restitution = 0.6
stiffness = 1e5
[particles.stones]
material = "stone"
radius = {{ distribution = "constant", value = 0.5 }}
source = {{ type = "lattice", spacing = 1, arrangement = "{}", region = {} }}
random_speed = 0.05
{}
[obstacles.floor]
type = "plane"
material = "floor"
point = {}
normal = {}
)",
                     D, plane ? "[-6, -1]" : "[-4, -4, -1]", plane ? "[9, 9]" : "[7, 7, 9]",
                     plane ? "[0, -10]" : "[0, 0, -10]", mu, mu, plane ? "hexagonal" : "hcp", region, more,
                     plane ? "[0, 0]" : "[0, 0, 0]", plane ? "[0, 1]" : "[0, 0, 1]");
}
const std::string disks = pile<2>("{ lower = [0, 0], upper = [4, 3] }", 0.4, "rotates = false");
const std::string spheres = pile<3>("{ lower = [0, 0, 0], upper = [3.1, 2.9, 2] }", 0.5, "");

template <int D>
struct End {
  std::vector<Vec<D>> position, velocity;  // by id
  Real sticking = 0, releases = 0, slip = 0;
  Real kinetic = 0;
};

template <int D>
void take(Simulation<D>& simulation, int n_steps, End<D>& end) {
  for (int step = 0; step < n_steps; ++step) {
    simulation.step();
    for (const CertificateEntry& entry : simulation.stepper().certificate()) {
      if (entry.name == "sticking") end.sticking = entry.value;
      if (entry.name == "releases") end.releases += entry.value;
      if (entry.name == "slip") end.slip = std::max(end.slip, entry.value);
    }
  }
}

template <int D>
End<D> look(Simulation<D>& simulation, End<D> end) {
  const State<D>& state = simulation.state();
  const std::size_t n = simulation.n_bodies();
  std::vector<Real> numbers(n * 2 * D, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    Real* to = &numbers[static_cast<std::size_t>(state.bodies.id()[i]) * 2 * D];
    std::copy_n(state.bodies.position()[i].component.begin(), D, to);
    std::copy_n(state.bodies.velocity()[i].component.begin(), D, to + D);
  }
  state.comm.max(numbers);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(&numbers[i * 2 * D], D, end.position.emplace_back().component.begin());
    std::copy_n(&numbers[i * 2 * D + D], D, end.velocity.emplace_back().component.begin());
  }
  end.kinetic = mechanical_energy(state).kinetic;
  // What is reported of contacts obeys the law of friction.
  const ContactGraph<D>& contacts = simulation.find_contacts(0);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    CHECK(contacts.force[c] >= 0);
    CHECK(std::abs(dot(contacts.friction[c], contacts.normal[c])) < 1e-12);
  }
  return end;
}

/// Round-off of the solver, grown by the motion of a pile that settles.
template <int D>
void check_same(const End<D>& found, const End<D>& expected) {
  Real places = 0, speeds = 0;
  REQUIRE(found.position.size() == expected.position.size());
  for (std::size_t i = 0; i < found.position.size(); ++i) {
    places = std::max(places, norm(found.position[i] - expected.position[i]));
    speeds = std::max(speeds, norm(found.velocity[i] - expected.velocity[i]));
  }
  CHECK(places < 1e-11);
  CHECK(speeds < 1e-9);
  CHECK(found.sticking == expected.sticking);
}

template <int D>
void check_ranks_and_restarts(const std::string& text, int n_steps) {
  const Comm world, self(MPI_COMM_SELF);
  const auto run = [&](const Comm& comm) {
    Simulation<D> simulation(comm, read_deck<D>(text));
    End<D> end;
    take(simulation, n_steps, end);
    return look(simulation, end);
  };
  const End<D> alone = run(self);
  CHECK(alone.sticking > 0);
  CHECK(alone.releases > 0);
  CHECK(alone.slip < 1e-14);
  check_same(run(world), alone);

  const Scratch scratch(world);
  const int half = n_steps / 2;
  const auto halfway = [&](const Comm& comm, const std::string& path) {
    Simulation<D> simulation(comm, read_deck<D>(text));
    End<D> end;
    take(simulation, half, end);
    save(simulation, path);
  };
  const auto go_on_from = [&](const Comm& comm, const std::string& path) {
    Simulation<D> simulation(comm, read_deck<D>(text), path);
    End<D> end;
    take(simulation, n_steps - half, end);
    return look(simulation, end);
  };
  const std::string mine = scratch / fmt::format("alone{}.scree", world.rank());
  const std::string shared = scratch / "together.scree";
  halfway(self, mine);
  halfway(world, shared);
  world.barrier();
  check_same(go_on_from(world, scratch / "alone0.scree"), alone);
  check_same(go_on_from(self, shared), alone);
}

}  // namespace

TEST_CASE("disks held by constraints move alike on any number of ranks and after restarts") {
  check_ranks_and_restarts<2>(disks, 120);
}

TEST_CASE("spheres held by constraints move alike on any number of ranks and after restarts") {
  check_ranks_and_restarts<3>(spheres, 60);
}

TEST_CASE("ranks without bodies take part in constraints") {
  const std::string two = pile<2>("{ lower = [0, 0], upper = [2, 1] }", 0.4, "");
  Simulation<2> simulation(Comm(), read_deck<2>(two));
  End<2> end;
  take(simulation, 50, end);
  CHECK(simulation.n_bodies() == 2);
}

}  // namespace scree
