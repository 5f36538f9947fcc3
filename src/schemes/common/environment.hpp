#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/section.hpp"
#include "neighbors/neighborhood.hpp"
#include "state/state.hpp"

namespace scree {

template <int D>
class BodyChange;
template <int D>
class EnvironmentOutput;

/// What an environment says in messages, each in the place of the words in quotes.
struct EnvironmentMessages {
  std::string_view bodies;                ///< "holds ..."
  std::string_view start_from;            ///< "bodies start from ..."
  std::string_view instead_of_particles;  ///< "[particles] have no effect: ..."
  std::string_view instead_of_outlets;    ///< "[outlets] have no effect: ..."
  std::string_view instead_of_outside;    ///< "outside = "delete" in [domain] ..."
  std::string_view if_none_come;          ///< "the deck makes no bodies: ..."
  std::string_view over;                  ///< "ended at t = 1 s: ..."
};

/// A world that a scheme brings with it: tables of its own say where walls are, who is there at first, who
/// comes and who goes (a building with people in it, say). It is how a tenant (docs/architecture.md) takes
/// part in a run. The order of calls is that of the members.
template <int D>
class Environment {
 public:
  virtual ~Environment() = default;
  /// After the deck was read: gives `box` the size that the environment needs, unless the deck gives one
  /// (`box_given`), and adds obstacles after those of the deck. Throws InputError. Local, alike on all ranks.
  virtual void build(Box<D>& box, bool box_given, ObstacleSet<D>& obstacles) = 0;
  /// What the environment lists pairs for.
  virtual NeighborhoodSettings::Purpose list_purpose() const { return {}; }
  /// Makes what State holds for the environment (extra fields of bodies, outlets, inlets, world), with
  /// nothing done, and memory() fit; a checkpoint then fills them in. Collective.
  virtual void prepare(State<D>& state) = 0;
  /// Whether bodies come or go during the run.
  virtual bool change_bodies() const = 0;
  /// Of bodies made during the run until `end_time`.
  virtual BodiesToCome to_come(Real end_time) const = 0;
  /// Makes the bodies of the start, after those that are there already, and counts on state.next_id. Throws
  /// InputError, on all ranks, if they do not fit. Collective.
  virtual void populate(State<D>& state, std::uint64_t seed) = 0;
  /// Overlap of bodies at the start that it accepts, as a share of the smaller radius. Local.
  virtual Real overlap_limit() const { return 0; }
  /// Before the first step of a run, with all bodies made, or of a restart (state.clock.step > 0).
  /// Collective.
  virtual void start(State<D>& state, std::uint64_t seed) = 0;
  /// After a step, when the clock has ticked: decides what bodies do next and lets them come and go.
  /// Collective.
  virtual void after_step(State<D>& state, std::uint64_t seed, BodyChange<D>& change) = 0;
  /// Whether nothing more will happen: the run may end. The same on all ranks; local.
  virtual bool finished(const State<D>& state) const = 0;
  /// How the program ends if nothing else is wrong with the run. The same on all ranks; local.
  virtual ExitCode ending() const { return ExitCode::done; }
  /// Numbers that a restart needs and State does not hold, the same on all ranks; checkpoints keep them.
  /// Names are those of no measure.
  virtual std::vector<NamedNumbers> memory() { return {}; }
  /// What is wrong with what body i of a checkpoint carries for this environment, its type among that, as
  /// "type is 7, not in [0, 2)"; empty: nothing. After prepare(); local.
  virtual std::string fault_of_body(const BodyStore<D>& bodies, std::size_t i) const = 0;
  /// Where bodies of a type come from, for messages. Local.
  virtual std::string name_of_type(std::size_t type) const = 0;
  /// What `scree check` should say about the environment, one finding with its place per entry; those that
  /// start with "error" make the check fail. Collective.
  virtual std::vector<std::string> diagnostics(const State<D>& state) const = 0;
  virtual EnvironmentMessages messages() const = 0;
  /// Its tables of [output] and its files (io/environment_output.hpp).
  virtual EnvironmentOutput<D>& output() = 0;
};

}  // namespace scree
