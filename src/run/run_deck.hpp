#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/measure.hpp"
#include "core/deck.hpp"
#include "core/every.hpp"
#include "events/events.hpp"
#include "geometry/box.hpp"
#include "geometry/obstacle.hpp"
#include "neighbors/neighborhood.hpp"
#include "particles/fill.hpp"
#include "schemes/common/stepper.hpp"
#include "state/force_field.hpp"

namespace scree {

/// Why a run cannot have this name, which becomes that of its folder and files; empty: it can.
std::string fault_of_name(const std::string& name);

/// Keys of [output] and its tables.
struct OutputSettings {
  std::string directory = "results";
  std::string name;  ///< empty: the deck's file name without ending
  Every vtk;
  std::int64_t vtk_writers = 0;  ///< 0: chosen from the number of bodies
  bool vtk_asynchronous = true;
  bool vtk_contacts = true;
  bool vtk_obstacles = true;
  std::string vtk_precision = "single";
  Every h5md;
  std::string h5md_precision = "double";
  Every checkpoint;
  Real checkpoint_wall_time = 15 * 60;
  std::int64_t checkpoint_keep = 2;
  Every fclib;
  std::int64_t fclib_on_failure = 10;
  bool fclib_guess = true;
  bool fclib_solution = true;
  std::string where_fclib;  ///< place of [output.fclib] in the deck; empty: not given
  Every certificate;
  Every scalars;
  Real contact_tolerance = 1e-3;

  /// `of_scenes` declares and reads the tables that scenes add to [output].
  void describe(Section& root, const std::function<void(Section& output)>& of_scenes);
};

template <int D>
struct NamedMeasure {
  std::string name;
  std::unique_ptr<Measure<D>> measure;
};

/// Everything a deck says about a run in D dimensions.
template <int D>
struct RunDeck {
  std::string title;
  Real end_time = HUGE_VAL;  ///< of the run, or of its last stage if that is earlier
  std::int64_t seed = 1;
  std::int64_t ensemble = 1;  ///< number of runs, with seeds seed, seed + 1, ...
  bool allow_overlap = false;
  Real dt = 0;
  std::string petsc_options;
  Box<D> box;
  std::string box_place;  ///< of [domain] in the deck
  Outside outside = Outside::error;
  Vec<D> gravity{};
  std::vector<std::shared_ptr<const ForceField<D>>> forces;
  Materials<D> materials;
  std::vector<int> group_material;     ///< of each of all_groups()
  std::vector<int> obstacle_material;  ///< of each obstacle
  NeighborhoodSettings neighbors;
  std::vector<ParticleGroup<D>> groups;
  ObstacleSet<D> obstacles;
  Events<D> events;
  std::unique_ptr<Stepper<D>> stepper;
  OutputSettings output;
  std::vector<NamedMeasure<D>> measures;

  /// Declares and reads all tables. Throws InputError.
  void describe(Section& root);
  /// Whether bodies come during the run.
  bool bodies_come() const {
    return !events.inlets.list().empty() || (stepper->scene() && stepper->scene()->change_bodies());
  }
  /// All kinds of bodies, as the field "group" counts them: those of [particles.NAME], then those of inlets.
  std::vector<const ParticleGroup<D>*> all_groups() const;

 private:
  void describe_forces(Section& root);
  void resolve_materials();
  void refuse_contact_problems(const std::string& scheme) const;
  void refuse_bodies_beside_scene(const std::string& scheme) const;
  using Steppers = std::vector<std::unique_ptr<Stepper<D>>>;
  /// Returns those of schemes that the run does not have: their scenes know tables of [output], too.
  Steppers describe_scheme(Section& root, const std::string& scheme);
  void describe_output(Section& root, const std::string& scheme, const Steppers& others);
  void refuse_inertia(const std::string& scheme, const std::string& where_gravity) const;
};

/// All that a deck says; throws InputError for the first thing that is wrong with it. Local.
template <int D>
RunDeck<D> read_run_deck(Deck&& deck) {
  RunDeck<D> content;
  content.describe(deck.root());
  deck.require_all_read();
  return content;
}

/// simulation.dimension of a deck: 2 or 3. Throws InputError if it is missing.
int dimension_of(Deck& deck);
/// simulation.ensemble of a deck; 1 if it is no valid number.
std::int64_t ensemble_of(Deck& deck);
/// The same for documentation.
DeckDescription deck_description();

}  // namespace scree
