#include "run/memory_estimate.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace scree {

namespace {

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
constexpr Real frame_bytes = 600;         // of a body in a frame for ParaView: gathered, stored, encoded
constexpr Real other_output_bytes = 150;  // of a body in H5MD files and checkpoints
constexpr Real unevenness = 1.3;          // of ranks, with ghosts

/// Candidates per body in a settled bed of bodies with the mean diameter d and lists that reach `skin`
/// further: half of the others with their centres within d + skin.
template <int D>
Real candidates_per_body(Real d, Real skin) {
  const Real reach = 1 + skin / d;
  return std::max(0.5 * (settled<D> * std::pow(2 * reach, D) - 1), contacts_of_body<D>);
}

}  // namespace

template <int D>
Real memory_of_run(Simulation<D>& simulation) {
  const Comm& comm = simulation.state().comm;
  const RunDeck<D>& deck = simulation.deck();
  const BodyStore<D>& bodies = simulation.state().bodies;
  const auto present = static_cast<Real>(simulation.n_bodies());
  const auto pairs = static_cast<Real>(comm.sum(simulation.neighborhood().schedule().n_pairs()));

  BodiesToCome to_come = deck.events.inlets.to_come(deck.end_time);
  const Scene<D>* scene = simulation.stepper().scene();
  if (scene) to_come.include(scene->to_come(deck.end_time));
  const Real all = present + static_cast<Real>(to_come.count);

  const auto radius = bodies.radius().first(static_cast<std::size_t>(bodies.n_owned()));
  const Real mean_radius =
      present > 0 ? ReproducibleSum::sum(comm, std::vector<Real>(radius.begin(), radius.end())) / present
                  : to_come.smallest;
  Real settled_pairs = all * candidates_per_body<D>(2 * mean_radius, simulation.state().lattice.skin);
  if (scene) settled_pairs = present > 0 ? pairs / present * all : 0;  // people do not pile up
  settled_pairs = std::min(settled_pairs, 0.5 * all * (all - 1));
  const Real contacts = scene ? all : contacts_of_body<D> * all;
  const SchemeTraits traits = simulation.stepper().traits();
  const Real contact_bytes = traits.has_contact_problems ? problem_bytes
                             : traits.has_inertia()      ? force_bytes
                                                         : 0;
  const Real growth = (all - present) * body_bytes + std::max(settled_pairs - pairs, 0.0) * pair_bytes +
                      contacts * contact_bytes +
                      all * (other_output_bytes + (deck.output.writes_vtk() ? frame_bytes : 0));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr Real kibibyte = 1024;
  const Real so_far = comm.max(static_cast<Real>(usage.ru_maxrss) * kibibyte);
  return so_far + run_bytes + growth / comm.size() * (comm.size() > 1 ? unevenness : 1);
}

template Real memory_of_run(Simulation<2>&);
template Real memory_of_run(Simulation<3>&);

}  // namespace scree
