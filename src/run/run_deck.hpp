#pragma once
#include <memory>
#include <string>
#include <vector>

#include "analysis/measure.hpp"
#include "core/deck.hpp"
#include "events/events.hpp"
#include "geometry/box.hpp"
#include "geometry/obstacle.hpp"
#include "neighbors/neighborhood.hpp"
#include "particles/initial_packing.hpp"
#include "run/output.hpp"
#include "schemes/common/stepper.hpp"
#include "state/force_field.hpp"

namespace scree {

template <int D>
struct NamedMeasure {
  std::string name;
  std::unique_ptr<Measure<D>> measure;
  std::string where;  ///< its place in the deck
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
  DomainDeformation<D> deformation;
  std::string box_place;  ///< of [domain] in the deck
  Outside outside = Outside::error;
  Vec<D> gravity{};
  std::vector<std::shared_ptr<const ForceField<D>>> forces;
  Materials<D> materials;
  ShapeTable<D> shapes;
  std::vector<int> type_material;      ///< of each of all_groups()
  std::vector<int> obstacle_material;  ///< of each obstacle
  NeighborhoodSettings neighbors;
  std::vector<ParticleGroup<D>> groups;
  ObstacleSet<D> obstacles;
  Events<D> events;
  std::unique_ptr<Stepper<D>> stepper;
  OutputSettings output;
  std::vector<std::unique_ptr<Output<D>>> outputs;  ///< those asked for
  std::vector<NamedMeasure<D>> measures;

  /// Reads a deck as a whole and, if it is to run, hands PETSc its options. Throws one InputError with all
  /// that is wrong.
  static RunDeck read(Deck& deck, bool to_run = true);
  /// Declares and reads all tables. Throws InputError.
  void describe(Section& root);
  /// Whether bodies come during the run.
  bool bodies_come() const {
    return !events.inlets.list().empty() ||
           (stepper->environment() && stepper->environment()->change_bodies());
  }
  /// Whether some bodies of [particles] or [inlets] are no spheres.
  bool has_shapes() const {
    return std::ranges::any_of(all_groups(), [](const auto* group) { return group->sizes.has_shapes(); });
  }
  /// Whether frames of the output of this name are asked for.
  bool asks_for(std::string_view name) const {
    return std::ranges::any_of(outputs, [&](const auto& one) { return one->name() == name; });
  }
  /// All kinds of bodies, as the field "type" counts them: those of [particles.NAME], then those of inlets.
  std::vector<const ParticleGroup<D>*> all_groups() const;

 private:
  void describe_forces(Section& root);
  void resolve_materials();
  using Steppers = std::vector<std::unique_ptr<Stepper<D>>>;
  /// Returns those of schemes that the run does not have: their environments know tables of [output], too.
  Steppers describe_scheme(Section& root, const std::string& scheme);
  void describe_output(Section& root, const std::string& scheme, const Steppers& others);
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
