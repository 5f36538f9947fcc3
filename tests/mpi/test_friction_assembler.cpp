#include <fmt/format.h>

#include "bench/pile.hpp"
#include "schemes/common/contact_law.hpp"
#include "schemes/common/contact_pair.hpp"
#include "simulate.hpp"
#include "support/solve_serial.hpp"

using namespace scree;

namespace {

/// Sum over ranks of hashes of rows, each a key and numbers: independent of order and ranks.
class RowHash {
 public:
  void add(std::initializer_list<std::int64_t> key, std::span<const Real> numbers) {
    std::uint64_t h = 0x2545f4914f6cdd1dU;
    const auto mix = [&](std::uint64_t bits) {
      h = (std::rotl(h, 23) ^ bits) * 0x9e3779b97f4a7c15U;
      h ^= h >> 29;
    };
    for (const std::int64_t k : key) mix(static_cast<std::uint64_t>(k));
    for (const Real number : numbers) mix(std::bit_cast<std::uint64_t>(number));
    sum_ += h;
  }
  std::uint64_t of_all(const Comm& comm) const {
    return std::bit_cast<std::uint64_t>(comm.sum(std::bit_cast<std::int64_t>(sum_)));
  }

 private:
  std::uint64_t sum_ = 0;
};

struct Solved {
  std::int64_t n_contacts = 0;
  std::int64_t n_shared = 0;
  std::uint64_t problem = 0;   ///< Jacobian, bias, mu, compliance by contact; mass and free velocity by body
  std::uint64_t impulses = 0;  ///< by contact
  std::uint64_t velocities = 0;
  Residual residual;
};

template <int D>
Solved solve(const Comm& comm, const FrictionProblem<D>& problem, const ContactGraph<D>& contacts,
             int sweeps) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  problem.validate();
  std::vector<Real> r(contacts.size() * D), v(problem.mass.size() / q);
  const auto solver = make_solver_with<D>("nsgs", fmt::format("max_sweeps = {}", sweeps));
  Solved solved;
  solved.residual = solve_friction<D>(problem, *solver, {.tolerance = 1e-12}, r, v).residual;
  RowHash problem_hash, impulse_hash, velocity_hash;
  std::int64_t shared = 0;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const auto id = [&](Index i) { return i < 0 ? -1 : problem.body_id[i]; };
    const std::initializer_list<std::int64_t> key{id(problem.a[c]), id(problem.b[c]), contacts.wall[c]};
    std::array<Real, 2 * D * q> rows;
    for (std::size_t side = 0; side < 2; ++side) problem.find_rows(c, side, &rows[side * D * q]);
    problem_hash.add(key, rows);
    problem_hash.add(key, std::span(problem.bias).subspan(c * D, D));
    problem_hash.add(key, std::span(problem.mu).subspan(c, 1));
    problem_hash.add(key, std::span(problem.compliance).subspan(c * 2, 2));
    impulse_hash.add(key, std::span(r).subspan(c * D, D));
    shared += std::max(problem.a[c], problem.b[c]) >= problem.n_owned();
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n_owned()); ++i) {
    problem_hash.add({problem.body_id[i]}, std::span(problem.mass).subspan(i * q * q, q * q));
    problem_hash.add({problem.body_id[i]}, std::span(problem.free_velocity).subspan(i * q, q));
    velocity_hash.add({problem.body_id[i]}, std::span(v).subspan(i * q, q));
  }
  solved.n_contacts = comm.sum(static_cast<std::int64_t>(contacts.size()));
  solved.n_shared = comm.sum(shared);
  solved.problem = problem_hash.of_all(comm);
  solved.impulses = impulse_hash.of_all(comm);
  solved.velocities = velocity_hash.of_all(comm);
  return solved;
}

/// The same on one rank: every rank computes it for itself.
void require_same(const Solved& shared, const Solved& alone) {
  CHECK(shared.n_contacts == alone.n_contacts);
  CHECK(shared.problem == alone.problem);
  CHECK(shared.impulses == alone.impulses);
  CHECK(shared.velocities == alone.velocities);
  CHECK(std::bit_cast<std::uint64_t>(shared.residual.natural) ==
        std::bit_cast<std::uint64_t>(alone.residual.natural));
  CHECK(alone.n_shared == 0);
}

}  // namespace

TEST_CASE("friction assembler: Gauss-Seidel on a settled pile of 600 gives the same bits on any ranks",
          "[dynamics]") {
  const Comm world;
  const Comm self(MPI_COMM_SELF);
  PileOptions options;
  options.bodies = 600;
  Pile pile(world, options);
  Pile alone(self, options);
  for (Pile* each : {&pile, &alone}) each->assemble(1e-2, 1e-2);
  CHECK(pile.n_bodies() == 600);
  const Real per_body = static_cast<Real>(pile.n_contacts()) / 600;
  CHECK(per_body > 2.4);
  CHECK(per_body < 3.1);
  CHECK(pile.deepest_overlap() < 1e-3);
  const Solved shared = solve<3>(world, pile.problem(), pile.contacts(), 40);
  require_same(shared, solve<3>(self, alone.problem(), alone.contacts(), 40));
  CHECK(shared.residual.natural < 0.05);
  CHECK(shared.residual.implied_overlap > 0);
  if (world.size() > 1) CHECK(shared.n_shared > 20);
}

TEST_CASE("friction assembler: disks through periodic faces and on a moving wall give the same bits",
          "[dynamics]") {
  const std::string text = disks_deck + R"(
[obstacles.belt]
type = "plane"
point = [0, -1.5]
normal = [0, 1]
[obstacles.belt.motion]
type = "translate"
velocity = [0.3, 0.1]
)";
  const Overrides overrides{"domain.periodic=[true,false]"};
  const auto run = [&](const Comm& comm) {
    Simulation<2> simulation(comm, read_deck<2>(text, overrides));
    for (int step = 0; step < 60; ++step) simulation.step();
    FrictionAssembler<2> assembler(simulation.state(), simulation.neighborhood());
    const std::size_t n = simulation.state().bodies.n_owned();
    std::vector<Real> free_velocity(3 * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        free_velocity[3 * i + k] =
            std::sin(static_cast<Real>(3 * simulation.state().bodies.id()[i]) + static_cast<Real>(k));
    const std::vector<Real> density{1000, 2000};
    FrictionStep<2> step;
    step.dt = 0.01;
    const ContactLaw law{.dt = step.dt, .contact_slop = 0.01};
    step.velocity_floor = 0.01;
    step.density = density;
    step.free_velocity = free_velocity;
    step.laws = [&](const ContactGraph<2>& contacts, FrictionProblem<2>& problem) {
      for (std::size_t c = 0; c < contacts.size(); ++c) {
        problem.mu[c] = contacts.b[c] < 0 ? 0.2 : 0.6;
        const Real slop = law.contact_slop * sum_of_radii(simulation.state(), contacts, c);
        problem.bias[2 * c] += normal_bias(law, contacts.gap[c], slop, 0, 0, 0);
      }
    };
    // Twice, so that nothing is left over from the first time.
    for (int time = 0; time < 2; ++time) {
      simulation.neighborhood().detect(simulation.state(), {.tolerance = 0.05}, assembler.contacts());
      assembler.assemble(step);
    }
    const FrictionProblem<2>& problem = assembler.problem();
    const auto radius = simulation.state().bodies.radius();
    std::int64_t on_belt = 0;
    std::int64_t slop = 0;  // across a gap
    std::int64_t closing = 0;
    for (std::size_t c = 0; c < assembler.contacts().size(); ++c) {
      const bool at_belt = problem.b[c] < 0;
      const Real gap = assembler.contacts().gap[c];
      const Real radii =
          radius[assembler.contacts().a[c]] + (at_belt ? 0 : radius[assembler.contacts().b[c]]);
      const bool may_close = gap > law.contact_slop * radii;
      slop += gap > 0 && !may_close ? 1 : 0;
      closing += may_close ? 1 : 0;
      on_belt += at_belt ? 1 : 0;
      // Normal (0, -1), tangent (1, 0) from the body to the belt, which moves at (0.3, 0.1).
      CHECK(problem.bias[2 * c] == Approx((may_close ? gap / 0.01 : 0) - (at_belt ? 0.1 : 0)));
      CHECK(problem.bias[2 * c + 1] == Approx(at_belt ? 0.3 : 0));
    }
    CHECK(comm.sum(on_belt) > 0);
    CHECK(comm.sum(slop) > 0);
    CHECK(comm.sum(closing) > 0);
    return solve<2>(comm, problem, assembler.contacts(), 30);
  };
  const Comm world;
  const Solved shared = run(world);
  require_same(shared, run(Comm(MPI_COMM_SELF)));
  CHECK(shared.n_contacts > 250);
}
