#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/json.hpp"
#include "core/memory.hpp"
#include "run/commands.hpp"
#include "run/deck_findings.hpp"
#include "run/simulation.hpp"
#include "run/starting_point.hpp"

namespace scree {

namespace {

/// Takes the first step, of which nothing is kept; says how it went. Throws what ends a run in it.
template <int D>
std::string try_first_step(Simulation<D>& simulation) {
  constexpr std::int64_t max_bodies = 20'000;  // a matter of seconds
  const std::int64_t n_bodies = simulation.n_bodies();
  if (n_bodies > max_bodies) return fmt::format("not tried: {} bodies, more than {}", n_bodies, max_bodies);
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

/// Of the radii the least and the most [m], and the volume of all bodies. Collective.
struct Sizes {
  Real min = HUGE_VAL, max = 0, volume = 0;
};
template <int D>
Sizes sizes_of(const State<D>& state) {
  const std::size_t n = state.bodies.n_owned();
  const auto radius = state.bodies.radius().first(n);
  Sizes sizes;
  std::vector<Real> volumes(n);
  for (std::size_t i = 0; i < n; ++i) {
    sizes.min = std::min(sizes.min, radius[i]);
    sizes.max = std::max(sizes.max, radius[i]);
    volumes[i] = state.shapes.volume(state.bodies.carries_shapes() ? state.bodies.shape()[i] : 0, radius[i]);
  }
  return {state.comm.min(sizes.min), state.comm.max(sizes.max), ReproducibleSum::sum(state.comm, volumes)};
}

/// Of all frames of a run and the checkpoints that are kept.
template <int D>
Real bytes_on_disk(const RunDeck<D>& deck, Real bodies) {
  Real of_body = static_cast<Real>(deck.output.checkpoint_keep) * (8 + 8 + 8 + 4 + D * 28);
  for (const auto& output : deck.outputs)
    if (is_written(*output))
      of_body += output->every().count(deck.end_time, deck.dt) * output->size_of_body().on_disk;
  return bodies * of_body;
}
/// What the outputs of a run take of a body while they write a frame [bytes].
template <int D>
Real frame_bytes(const RunDeck<D>& deck) {
  Real sum = 0;
  for (const auto& output : deck.outputs)
    if (is_written(*output)) sum += output->size_of_body().in_memory;
  return sum;
}

/// Solid fraction of a settled bed.
template <int D>
constexpr Real settled = D == 2 ? 0.82 : 0.60;
/// Contacts of a body in it that are listed with this body: half of the touching ones.
template <int D>
constexpr Real contacts_of_body = D == 2 ? 2 : 3;

// Measured with the decks of docs/performance.md, "Memory", growth of arrays by doubling included [bytes].
constexpr Real run_bytes = 9.5e6;         // of a rank: libraries that write, buffers of messages
constexpr Real body_bytes = 600;          // fields, ghosts, migration
constexpr Real pair_bytes = 60;           // of the neighbour list and what pairs remember
constexpr Real problem_bytes = 1700;      // of a contact in a contact problem: rows, scaled rows, impulses
constexpr Real force_bytes = 350;         // of a contact with force and spring
constexpr Real other_output_bytes = 150;  // of a body in H5MD files and checkpoints
constexpr Real imbalance = 1.3;           // of ranks, with ghosts

/// Candidates per body in a settled bed of bodies with the mean diameter d and lists that reach `skin`
/// further: half of the others with their centres within d + skin.
template <int D>
Real candidates_per_body(Real d, Real skin) {
  const Real reach = 1 + skin / d;
  return std::max(0.5 * (settled<D> * std::pow(2 * reach, D) - 1), contacts_of_body<D>);
}

/// What a run will take at most on its fullest rank [bytes], estimated before its first step: what this
/// process has taken so far (libraries, the bodies and candidates of the start), and what is still to come:
/// bodies of inlets and sources, the candidates and contacts of a settled bed of all bodies, and the buffers
/// of output. Collective.
template <int D>
Real memory_of_run(Simulation<D>& simulation) {
  const Comm& comm = simulation.state().comm;
  const RunDeck<D>& deck = simulation.deck();
  const BodyStore<D>& bodies = simulation.state().bodies;
  const auto present = static_cast<Real>(simulation.n_bodies());
  const auto pairs = static_cast<Real>(comm.sum(simulation.neighborhood().schedule().n_pairs()));

  BodiesToCome to_come = deck.events.inlets.to_come(deck.end_time);
  const Environment<D>* environment = simulation.stepper().environment();
  if (environment) to_come.include(environment->to_come(deck.end_time));
  const Real all = present + static_cast<Real>(to_come.count);

  const auto radius = bodies.radius().first(bodies.n_owned());
  const Real mean_radius =
      present > 0 ? ReproducibleSum::sum(comm, std::vector<Real>(radius.begin(), radius.end())) / present
                  : to_come.smallest;
  Real settled_pairs = all * candidates_per_body<D>(2 * mean_radius, simulation.state().lattice.skin);
  if (environment) settled_pairs = present > 0 ? pairs / present * all : 0;  // people do not pile up
  settled_pairs = std::min(settled_pairs, 0.5 * all * (all - 1));
  const Real contacts = environment ? all : contacts_of_body<D> * all;
  const SchemeTraits traits = simulation.stepper().traits();
  const Real contact_bytes = traits.has_contact_problems ? problem_bytes
                             : traits.has_inertia()      ? force_bytes
                                                         : 0;
  const Real growth = (all - present) * body_bytes + std::max(settled_pairs - pairs, 0.0) * pair_bytes +
                      contacts * contact_bytes + all * (other_output_bytes + frame_bytes(deck));
  const auto peak = static_cast<Real>(comm.max(peak_memory()));
  return peak + run_bytes + growth / comm.size() * (comm.size() > 1 ? imbalance : 1);
}

/// Extents along the axes of the frame in which the shape was described [m].
template <int D>
std::array<Real, D> extents_of(const BodyShape<D>& shape) {
  Vec<D> min = filled<D>(HUGE_VAL), max = filled<D>(-HUGE_VAL);
  for (const Vec<D>& vertex : shape.core.vertices()) {
    for (int k = 0; k < D; ++k) {
      const Real along = dot(shape.form.described_axes[k], vertex);
      min[k] = std::min(min[k], along - shape.form.rounding);
      max[k] = std::max(max[k], along + shape.form.rounding);
    }
  }
  std::array<Real, D> extents;
  for (int k = 0; k < D; ++k) extents[k] = shape.form.radius * (max[k] - min[k]);
  return extents;
}

/// Principal moments over mass [m2].
template <int D>
auto moments_of(const BodyShape<D>& shape) {
  auto moments = shape.moments.component;
  for (Real& moment : moments) moment *= shape.form.radius * shape.form.radius;
  return moments;
}

/// What a shape is like as the deck describes it: extents, volume, moments over mass, radii [SI].
template <int D>
Json about_shape(const BodyShape<D>& shape) {
  const Real r = shape.form.radius;
  return {{"name", shape.name},
          {"extents_m", extents_of(shape)},
          {D == 2 ? "area_m2" : "volume_m3", shape.form.volume * std::pow(r, D)},
          {"moments_over_mass_m2", moments_of(shape)},
          {"circumscribed_radius_m", r},
          {"inscribed_radius_m", r * shape.form.inscribed_radius},
          {"rounding_m", r * shape.form.rounding},
          {"corners", shape.core.vertices().size()},
          {"faces", shape.core.n_faces()}};
}

/// The same as a line of text.
template <int D>
std::string line_about_shape(const BodyShape<D>& shape) {
  const Real r = shape.form.radius;
  return fmt::format(
      "shape \"{}\": {:.4g} m, {} {:.4g} {}, moments over mass {:.4g} m2, {} corners, {} faces, radii {:.4g} "
      "m "
      "(circumscribed) and {:.4g} m (inscribed), rounding {:.3g} m",
      shape.name, fmt::join(extents_of(shape), " x "), D == 2 ? "area" : "volume",
      shape.form.volume * std::pow(r, D), D == 2 ? "m2" : "m3", fmt::join(moments_of(shape), ", "),
      shape.core.vertices().size(), shape.core.n_faces(), r, r * shape.form.inscribed_radius,
      r * shape.form.rounding);
}

/// A report for people. `shapes`: its lines about shapes; the run goes to `end` in steps of `dt` [s].
std::string text_of(const Json& report, const std::string& shapes, Real end, Real dt) {
  const auto count = [&](const char* name) { return report[name].get<std::int64_t>(); };
  const auto real = [&](const char* name) { return report[name].get<Real>(); };
  const auto findings = report["findings"].get<std::vector<std::string>>();
  return fmt::format(
      "{}: valid\n"
      "  {} bodies in {}D, {}, solid fraction of the domain {:.3f}, {} obstacle{}\n"
      "{}{}"
      "  {} candidate pairs (skin {:.3g} m, blocks of {} cells)\n"
      "  {:g} steps of {:g} s to t = {:g} s\n"
      "  about {:.0f} MiB of memory per rank at most, {:.1f} MiB on disk; {}\n"
      "  first step: {}\n"
      "{}",
      report["deck"].get<std::string>(), count("bodies"), count("dimension"),
      count("bodies") > 0 ? fmt::format("radii {:g} to {:g} m", real("radius_min_m"), real("radius_max_m"))
                          : fmt::format("radii up to {:g} m", real("radius_max_m")),
      real("solid_fraction_of_domain"), count("obstacles"), count("obstacles") == 1 ? "" : "s", shapes,
      count("bodies_to_come") > 0
          ? fmt::format("  up to {} more bodies come during the run\n", count("bodies_to_come"))
          : "",
      count("candidate_pairs"), real("skin_m"), count("block_cells"), real("steps"), dt, end,
      real("memory_per_rank_mib"), real("disk_mib"),
      count("sensible_ranks") == 1 ? "1 rank is enough"
                                   : fmt::format("sensible on 1 to {} ranks", count("sensible_ranks")),
      report["first_step"].get<std::string>(),
      findings.empty() ? "" : fmt::format("  to look at:\n    {}\n", fmt::join(findings, "\n    ")));
}

template <int D>
std::string check(const Comm& comm, Deck& deck, bool as_json, const std::string& from) {
  RunDeck<D> content = RunDeck<D>::read(deck);
  std::optional<StartingPoint<D>> start;
  if (!from.empty()) start.emplace(comm, from);
  Simulation<D> simulation(comm, std::move(content), start ? &*start : nullptr);
  simulation.require_known_options();
  const State<D>& state = simulation.state();
  auto [min, max, volume] = sizes_of(state);
  const std::int64_t n_bodies = simulation.n_bodies();
  BodiesToCome to_come = simulation.deck().events.inlets.to_come(simulation.deck().end_time);
  std::vector<std::string> findings = deck.warnings();
  if (const Environment<D>* environment = simulation.stepper().environment())
    to_come.include(environment->to_come(simulation.deck().end_time));
  for (auto find : {grave_findings<D>, deck_findings<D>})
    for (std::string& finding : find(simulation.deck(), state)) findings.push_back(std::move(finding));
  if (n_bodies == 0) {
    min = to_come.smallest;
    max = to_come.largest;
  }
  const std::int64_t n_pairs = comm.sum(simulation.neighborhood().schedule().n_pairs());
  const Real memory = memory_of_run(simulation) / (1 << 20);
  const Real steps = std::ceil(simulation.deck().end_time / simulation.deck().dt * (1 - 1e-9));
  const Real end = simulation.deck().end_time, dt = simulation.deck().dt;
  const Real disk = bytes_on_disk(simulation.deck(), static_cast<Real>(n_bodies + to_come.count));
  // A rank should have some blocks to itself and enough bodies to outweigh its messages
  // (docs/performance.md).
  const std::int64_t max_ranks = std::max<std::int64_t>(1, (n_bodies + to_come.count) / 5000);
  const Real skin = state.lattice.skin;  // the step may widen the list
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
              {"bodies_to_come", to_come.count},
              {"radius_min_m", min},
              {"radius_max_m", max},
              {"solid_fraction_of_domain", volume / state.box.volume()},
              {"shapes", shapes},
              {"obstacles", state.obstacles.list().size()},
              {"candidate_pairs", n_pairs},
              {"skin_m", skin},
              {"block_cells", state.lattice.block_cells[0]},
              {"steps", steps},
              {"memory_per_rank_mib", memory},
              {"disk_mib", disk / (1 << 20)},
              {"sensible_ranks", max_ranks},
              {"first_step", first_step},
              {"missing_outputs", missing_outputs(simulation.deck())},
              {"findings", findings}};
  if (as_json) return report.dump(2) + "\n";
  return text_of(report, lines_about_shapes, end, dt);
}

}  // namespace

std::string check_deck(const Comm& comm, Deck deck, bool as_json, const std::string& from) {
  return dimension_of(deck) == 2 ? check<2>(comm, deck, as_json, from) : check<3>(comm, deck, as_json, from);
}

}  // namespace scree
