#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/json.hpp"
#include "run/commands.hpp"
#include "run/deck_findings.hpp"
#include "run/memory_estimate.hpp"
#include "run/shape_report.hpp"
#include "run/simulation.hpp"
#include "run/starting_point.hpp"

namespace scree {

namespace {

/// Takes the first step, of which nothing is kept; says how it went. Throws what ends a run in it.
template <int D>
std::string try_first_step(Simulation<D>& simulation) {
  constexpr std::int64_t most_bodies = 20'000;  // a matter of seconds
  const std::int64_t n_bodies = simulation.n_bodies();
  if (n_bodies > most_bodies) return fmt::format("not tried: {} bodies, more than {}", n_bodies, most_bodies);
  if (!simulation.running()) return "none: the run ends where it starts";
  const Real asked = simulation.next_dt();
  try {
    simulation.step(false);
  } catch (const CollectiveError& error) {
    throw CollectiveError(error.code(), fmt::format("the first step fails: {}", error.what()));
  }
  simulation.require_known_options();
  const Real taken = simulation.state().clock.last_dt;
  if (taken < asked) return fmt::format("taken, but cut from {:.4g} s to {:.4g} s", asked, taken);
  return "taken";
}

template <int D>
std::string check(const Comm& comm, Deck& deck, bool as_json, const std::string& from) {
  RunDeck<D> content = RunDeck<D>::read(deck);
  std::optional<StartingPoint<D>> start;
  if (!from.empty()) start.emplace(comm, from);
  Simulation<D> simulation(comm, std::move(content), start ? &*start : nullptr);
  simulation.require_known_options();
  const State<D>& state = simulation.state();
  const OutputSettings& output = simulation.deck().output;
  const auto n = static_cast<std::size_t>(state.bodies.n_owned());
  const auto radius = state.bodies.radius().first(n);
  Real least = HUGE_VAL, most = 0;
  std::vector<Real> volumes(n);
  for (std::size_t i = 0; i < n; ++i) {
    least = std::min(least, radius[i]);
    most = std::max(most, radius[i]);
    volumes[i] = state.shapes.volume(state.bodies.carries_shapes() ? state.bodies.shape()[i] : 0, radius[i]);
  }
  least = comm.min(least);
  most = comm.max(most);
  const Real volume = ReproducibleSum::sum(comm, volumes);
  const std::int64_t n_bodies = simulation.n_bodies();
  BodiesToCome to_come = simulation.deck().events.inlets.to_come(simulation.deck().end_time);
  std::vector<std::string> findings = deck.warnings();
  if (const Scene<D>* scene = simulation.stepper().scene())
    to_come.include(scene->to_come(simulation.deck().end_time));
  for (auto find : {grave_findings<D>, deck_findings<D>})
    for (std::string& finding : find(simulation.deck(), state)) findings.push_back(std::move(finding));
  const std::int64_t n_to_come = to_come.count;
  if (n_bodies == 0) {
    least = to_come.smallest;
    most = to_come.largest;
  }
  const std::int64_t n_pairs = comm.sum(simulation.neighborhood().schedule().n_pairs());
  const Real memory = memory_of_run(simulation) / (1 << 20);
  const Real steps = std::ceil(simulation.deck().end_time / simulation.deck().dt * (1 - 1e-9));
  const Real end = simulation.deck().end_time, dt = simulation.deck().dt;
  const auto body = static_cast<Real>(n_bodies + n_to_come);
  // Bytes per body of a frame: VTK stores id, point, radius, velocity, group, rank, contacts in base 64 after
  // LZ4 (about 80 bytes, measured); H5MD position, image and velocity.
  const Real disk = (output.writes_vtk() ? output.vtk.count(end, dt) * body * 80 : 0) +
                    output.h5md.count(end, dt) * body * D * (output.h5md_single ? 12 : 20) +
                    static_cast<Real>(output.checkpoint_keep) * body * (8 + 8 + 8 + 4 + D * 28);
  // A rank should have some blocks to itself and enough bodies to outweigh its messages
  // (docs/performance.md).
  const std::int64_t most_ranks = std::max<std::int64_t>(1, (n_bodies + n_to_come) / 5000);
  const Real skin = state.lattice.skin;
  const std::string first_step = try_first_step(simulation);

  Json shapes = Json::array();
  std::string lines_about_shapes;
  for (std::int32_t k = 1; k < state.shapes.size(); ++k) {
    shapes.push_back(about_shape(state.shapes[k]));
    lines_about_shapes += "  " + line_about_shape(state.shapes[k]) + "\n";
  }
  Json report{{"deck", deck.name()},
              {"dimension", D},
              {"bodies", n_bodies},
              {"bodies_to_come", n_to_come},
              {"radius_min_m", least},
              {"radius_max_m", most},
              {"solid_fraction_of_domain", volume / state.box.volume()},
              {"shapes", shapes},
              {"obstacles", state.obstacles.list().size()},
              {"candidate_pairs", n_pairs},
              {"skin_m", skin},
              {"block_cells", state.lattice.block_cells[0]},
              {"steps", steps},
              {"memory_per_rank_mib", memory},
              {"disk_mib", disk / (1 << 20)},
              {"sensible_ranks", most_ranks},
              {"first_step", first_step},
              {"missing_outputs", missing_outputs(simulation.deck())},
              {"findings", findings}};
  if (as_json) return report.dump(2) + "\n";
  return fmt::format(
      "{}: valid\n"
      "  {} bodies in {}D, {}, solid fraction of the domain {:.3f}, {} obstacle{}\n"
      "{}{}"
      "  {} candidate pairs (skin {:.3g} m, blocks of {} cells)\n"
      "  {:g} steps of {:g} s to t = {:g} s\n"
      "  about {:.0f} MiB of memory per rank at most, {:.1f} MiB on disk; {}\n"
      "  first step: {}\n"
      "{}",
      deck.name(), n_bodies, D,
      n_bodies > 0 ? fmt::format("radii {:g} to {:g} m", least, most)
                   : fmt::format("radii up to {:g} m", most),
      volume / state.box.volume(), state.obstacles.list().size(),
      state.obstacles.list().size() == 1 ? "" : "s", lines_about_shapes,
      n_to_come > 0 ? fmt::format("  up to {} more bodies come during the run\n", n_to_come) : "", n_pairs,
      skin, state.lattice.block_cells[0], steps, dt, end, memory, disk / (1 << 20),
      most_ranks == 1 ? "1 rank is enough" : fmt::format("sensible on 1 to {} ranks", most_ranks), first_step,
      findings.empty() ? "" : fmt::format("  to look at:\n    {}\n", fmt::join(findings, "\n    ")));
}

}  // namespace

std::string check_deck(const Comm& comm, Deck deck, bool as_json, const std::string& from) {
  return dimension_of(deck) == 2 ? check<2>(comm, deck, as_json, from) : check<3>(comm, deck, as_json, from);
}

}  // namespace scree
