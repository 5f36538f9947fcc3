#include "bench/pile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "schemes/common/contact_law.hpp"
#include "schemes/common/contact_pair.hpp"

namespace scree {

namespace {

/// Solid fractions of the regular start (the largest bodies just do not touch) and, about, of the settled
/// pile.
constexpr Real loose = 0.22;
constexpr Real settled = 0.6;

/// Edge of the square floor: the settled pile is about a cube.
Real floor_edge(const PileOptions& options) {
  // Mean of d^3 for diameters spread evenly by +-20 %.
  const Real volume = std::numbers::pi / 6 * std::pow(options.diameter, 3) * 1.04;
  return std::cbrt(static_cast<Real>(options.bodies) * volume / settled);
}

constexpr Real largest_diameter = 1.2;  ///< in mean diameters
constexpr Real jitter = 0.4;            ///< of the regular start, in spacings

/// Height of the regular start: as loose as meant or, where whole layers leave much of a small floor bare,
/// higher.
Real start_height(const PileOptions& options) {
  const Real edge = floor_edge(options);
  const Real spacing = largest_diameter * options.diameter;
  const Real margin = (0.5 + jitter) * spacing;  // of the outermost sites
  const auto per_edge = static_cast<std::int64_t>((edge - 2 * margin) / spacing + 1);
  if (edge <= 2 * margin || per_edge < 1)
    throw InputError(fmt::format("a settled pile of {} bodies is too small: at least 12", options.bodies));
  const std::int64_t layers = (options.bodies - 1) / (per_edge * per_edge) + 1;
  return std::max(edge * settled / loose, 2 * margin + (static_cast<Real>(layers) - 0.9) * spacing);
}

RunDeck<3> start_of(const PileOptions& options) {
  const Real edge = floor_edge(options);
  constexpr Real skin = 0.4;  // in diameters, as for bodies that fall fast
  // About four blocks along each edge of the settled pile, so that few ranks share it evenly.
  const auto block_cells =
      std::clamp(std::lround(edge / options.diameter / (largest_diameter + skin) / 4), 2L, 8L);
  std::string text = fmt::format(
      R"([simulation]
dimension = 3
end_time = 1e9
allow_overlap = true
seed = {8}
[domain]
lower = [0, 0, 0]
upper = [{0:.17g}, {0:.17g}, {1:.17g}]
outside = "keep"
[time]
step = 1
[velocity]
type = "constant"
velocity = [0, 0, {2:.17g}]
[pbd]
sweeps = 4
overlap_limit = 0
[neighbors]
skin = {3:.17g}
[decomposition]
block_cells = {4}
[particles.all]
radius = {{ distribution = "uniform", min = {5:.17g}, max = {6:.17g} }}
source = {{ type = "lattice", count = {7}, jitter = {9} }}
)",
      edge, start_height(options), -options.diameter, skin * options.diameter, block_cells,
      0.4 * options.diameter, largest_diameter / 2 * options.diameter, options.bodies, options.seed, jitter);
  const auto add_wall = [&](std::string_view name, std::string_view point, std::string_view normal) {
    text += fmt::format("[obstacles.{}]\ntype = \"plane\"\npoint = {}\nnormal = {}\n", name, point, normal);
  };
  const std::string far = fmt::format("[{0:.17g}, {0:.17g}, 0]", edge);
  add_wall("floor", "[0, 0, 0]", "[0, 0, 1]");
  add_wall("left", "[0, 0, 0]", "[1, 0, 0]");
  add_wall("front", "[0, 0, 0]", "[0, 1, 0]");
  add_wall("right", far, "[-1, 0, 0]");
  add_wall("back", far, "[0, -1, 0]");
  return read_run_deck<3>(Deck::from_text(text, "pile"));
}

}  // namespace

Pile::Pile(const Comm& comm, const PileOptions& options)
    : options_(options),
      simulation_(comm, start_of(options)),
      assembler_(simulation_.state(), simulation_.neighborhood()) {
  const Real start = MPI_Wtime();
  settle();
  settling_seconds_ = comm.max(MPI_Wtime() - start);
  n_bodies_ = simulation_.n_bodies();
  const auto radius = simulation_.state().bodies.radius();
  Real mass = 0;
  ReproducibleSum::sum(comm, static_cast<std::size_t>(simulation_.state().bodies.n_owned()), {&mass, 1},
                       [&](std::size_t i, std::span<Real> term) {
                         term[0] = 4.0 / 3 * std::numbers::pi * std::pow(radius[i], 3) * options_.density;
                       });
  mean_mass_ = mass / static_cast<Real>(n_bodies_);
  assemble(0, 0);
  n_contacts_ = comm.sum(std::int64_t{problem().n_contacts()});
  Real deepest = 0;
  for (const Real gap : contacts().gap) deepest = std::max(deepest, -gap);
  deepest_overlap_ = comm.max(deepest) / (0.5 * options_.diameter);
}

void Pile::validate(const PileOptions& options) {
  start_height(options);
}

void Pile::settle() {
  // Coarse steps let the bodies fall; finer and finer ones take out the overlap that sweeps leave in
  // proportion to the step.
  struct Stage {
    Real drift;  // fall of a free body in a step, in diameters
    Real steps;
  };
  const Real layers = floor_edge(options_) / options_.diameter;
  const Real fall = start_height(options_) / options_.diameter - layers;  // of the highest body
  const Stage stages[] = {{0.04, std::max(50 * layers, 1.15 * fall / 0.04)},
                          {1e-2, 10 * layers},
                          {1e-3, 10 * layers},
                          {1e-4, 10 * layers}};
  for (const Stage& stage : stages) {
    simulation_.deck().dt = stage.drift;
    for (int step = 0; step < stage.steps; ++step) simulation_.step();
  }
}

const FrictionProblem<3>& Pile::assemble(Real along_normal, Real along_tangents) {
  constexpr std::size_t q = FrictionProblem<3>::q;
  const State<3>& state = simulation_.state();
  std::vector<Real> free_velocity(static_cast<std::size_t>(state.bodies.n_owned()) * q, 0.0);
  for (std::size_t k = 2; k < free_velocity.size(); k += q)
    free_velocity[k] = -options_.gravity * options_.dt;
  FrictionStep<3> step;
  step.dt = options_.dt;
  step.velocity_floor = options_.gravity * options_.dt;
  step.density = {&options_.density, 1};
  step.free_velocity = free_velocity;
  const ContactLaw law{.dt = options_.dt, .contact_slop = options_.closed ? options_.speculative_margin : 0};
  step.laws = [&](const ContactGraph<3>& contacts, FrictionProblem<3>& problem) {
    std::ranges::fill(problem.mu, options_.mu);
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const Real slop = law.contact_slop * sum_of_radii(state, contacts, c);
      problem.bias[c * 3] += normal_bias(law, contacts.gap[c], slop, 0, 0, 0);
      problem.compliance[2 * c] = along_normal / mean_mass_;
      problem.compliance[2 * c + 1] = along_tangents / mean_mass_;
    }
  };
  simulation_.neighborhood().detect(simulation_.state(), {.tolerance = options_.speculative_margin},
                                    assembler_.contacts());
  return assembler_.assemble(step);
}

}  // namespace scree
