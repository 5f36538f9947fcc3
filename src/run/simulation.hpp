#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/parallel.hpp"
#include "neighbors/neighborhood.hpp"
#include "run/checkpoint.hpp"
#include "run/run_deck.hpp"
#include "state/state.hpp"

namespace scree {

template <int D>
class StartingPoint;

/// The bodies, walls and scheme of a run, without its files: a deck made ready to step. All members are
/// collective.
template <int D>
class Simulation {
 public:
  /// Creates the bodies that the deck asks for, or takes those of `from`, and places them. Throws InputError
  /// if there are none, or one lies outside the domain, or two overlap (unless the deck allows it), naming
  /// the bodies.
  Simulation(const Comm& comm, RunDeck<D> deck, const StartingPoint<D>* from = nullptr);
  /// Continues from a checkpoint of such a run, on any number of ranks.
  Simulation(const Comm& comm, RunDeck<D> deck, const std::string& checkpoint);

  bool running() const {
    // Times are sums of steps: a millionth of a step does not count.
    const Environment<D>* environment = deck_.stepper->environment();
    return deck_.end_time - state_.clock.time > 1e-6 * deck_.dt && !deck_.events.stages.finished(state_) &&
           !(environment && environment->finished(state_));
  }
  /// Takes one step. With `record_forces` find_contacts() reports the forces of this step.
  void step(bool record_forces = false);
  /// Throws InputError for PETSc options that nobody knows. Schemes that solve linear systems can say only
  /// after the first one; they say whether that was.
  bool require_known_options();
  /// Length of the next step [s]: the deck's, or what is left until the end of the run or of the stage.
  Real next_dt() const;
  /// Contacts at the present positions.
  const ContactGraph<D>& find_contacts(Real tolerance);
  /// Number of contacts of each owned body, of those found last.
  std::span<const std::int32_t> count_contacts();
  /// Brings state().memory up to date, for a checkpoint.
  void save_memory() { deck_.stepper->save(state_, SaveFor::checkpoint); }
  /// What measures keep from row to row, for a checkpoint.
  std::vector<NamedNumbers> measure_memories();
  /// Sums of averages that ranks share, for a checkpoint.
  std::vector<SharedRows> shared_rows();

  /// A number that changes if any bit of any body's id, position, image, velocity, radius, spin or
  /// orientation does: the same
  /// for any number of ranks.
  std::uint64_t hash() const;

  const State<D>& state() const { return state_; }
  State<D>& state() { return state_; }
  RunDeck<D>& deck() { return deck_; }
  const Neighborhood<D>& neighborhood() const { return neighborhood_; }
  Neighborhood<D>& neighborhood() { return neighborhood_; }
  Stepper<D>& stepper() { return *deck_.stepper; }
  /// This number of the last step's certificate; NaN if the scheme does not report it. Local.
  Real certified(std::string_view name) const;
  std::int64_t n_bodies() const {
    return state_.comm.sum(static_cast<std::int64_t>(state_.bodies.n_owned()));
  }

 private:
  std::uint64_t seed() const { return static_cast<std::uint64_t>(deck_.seed); }
  void take_physics();
  /// Goes on with the averages of a checkpoint, if it has those of such a deck.
  void restore_averages(const std::string& checkpoint);
  void require_bodies_inside() const;
  ListRequirements list_requirements(Real largest_to_come) const;
  void require_contacts_listed() const;
  /// What is wrong if a measure counts gaps up to which contacts of bodies as small as `smallest` [m], or as
  /// those that are there, are not found; else empty. Collective.
  std::string unmeasured_contacts(Real smallest = HUGE_VAL) const;
  /// `limit_of_all`: of any contact, whatever its sources say; as a share of the smaller radius.
  void require_no_overlap(Real limit_of_all = 1e-9);
  std::string name_type_of(GlobalId id) const;
  std::string fault_of_body(const BodyStore<D>& bodies, std::size_t i);

  RunDeck<D> deck_;
  State<D> state_;
  Neighborhood<D> neighborhood_;
  ContactGraph<D> contacts_;
  std::vector<std::int32_t> contact_counts_;
};

}  // namespace scree
