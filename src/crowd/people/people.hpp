#pragma once
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "crowd/people/arrivals.hpp"
#include "crowd/people/group_rule.hpp"
#include "crowd/people/listed_start.hpp"
#include "crowd/people/mixture.hpp"
#include "crowd/people/person_file.hpp"
#include "crowd/people/start_space.hpp"
#include "neighbors/neighborhood.hpp"
#include "particles/initial_packing.hpp"

namespace scree {

/// Where people come from: what [populations.NAME] and [sources.NAME] share.
struct Origin {
  std::string name;
  std::string where;  // its place in the deck
  Mixture mixture;
  int level = 0;
  Ring region;      // of a population empty: the whole plan of the level
  PersonFile file;  // instead of numbers and rates
  int journey = -1;
  std::int32_t body_type = 0;
};

/// People who are there at first: [populations.NAME].
struct Population : Origin {
  std::int64_t count = 0;
  Real density = 0;  // [1/m2]; 0: count is given
  bool on_lattice = false;
  std::optional<GroupRule> groups;

  std::int64_t n_people(Real area) const {
    return count > 0 ? count : static_cast<std::int64_t>(std::llround(density * area));
  }
};

enum class WhenFull { wait, drop, error };

/// Where people come in: [sources.NAME].
struct Source : Origin {
  Arrivals arrivals;
  std::vector<Person> listed;  // of the file, in the order in which they come
  WhenFull when_full = WhenFull::wait;
};

/// People: kinds, who is there at first ([populations.NAME]) and who comes ([sources.NAME]). What a person is
/// like and where it starts depends on seed and id only, not on ranks. Types of bodies count populations,
/// then sources.
class People {
 public:
  People() = default;
  People(const People&) = delete;
  People& operator=(const People&) = delete;

  /// Declares and reads [agents.NAME], [populations.NAME], [sources.NAME]; names of journeys are those of
  /// `journey_plan`, those of floors of `building`.
  void describe(Section& root, const BuildingPlan& building, JourneyPlan& journey_plan);
  std::span<const AgentType> types() const { return kinds_; }
  std::span<const Population> populations() const { return populations_; }
  std::span<const Source> sources() const { return sources_; }
  /// Names of the types of bodies, populations first.
  std::vector<std::string> body_type_names() const;
  Real largest_radius() const;   ///< no person is larger [m]
  Real smallest_radius() const;  ///< nor smaller [m]
  /// Least and largest radius of each kind, and of those whom a file gives one [m].
  std::vector<std::pair<Real, Real>> radii() const;
  Real fastest() const;          ///< no desired speed is higher [m/s]
  Real longest_headway() const;  ///< of all kinds [s]
  /// Overlap at the start that is taken for rounding, as a share of the smaller radius.
  Real overlap_limit() const;

  /// The seed of what people of a source are like.
  static std::uint64_t stream_of(std::size_t source, std::uint64_t seed);
  /// Whether sources bring people of the journey.
  bool may_come(int journey) const;
  /// Of sources until `end_time`.
  BodiesToCome to_come(Real end_time) const;
  /// Makes state.inlets fit the sources (entries after those there).
  void prepare(State<2>& state);
  /// Records in state.inlets how many of each source should have come by now. Local.
  void record_due(State<2>& state) const;
  /// Makes the populations: people at least touching nobody and no wall, in the region and in the plan.
  /// Counts on state.next_id. Throws InputError, on all ranks, with place, wanted and possible numbers if
  /// they do not fit. Collective.
  void populate(State<2>& state, const BuildingPlan& building, std::uint64_t seed) const;
  /// Adds who is due from sources and has a free place: true on all ranks if anybody came; `before_change`
  /// was called before. New people are entries of this rank's owned bodies, with state.memory in step.
  /// Collective.
  bool feed(State<2>& state, const BuildingPlan& building, std::uint64_t seed,
            const std::function<void()>& before_change) const;
  /// Whether every source has sent all of its people by now.
  bool exhausted(const State<2>& state) const;

  /// For `scree check`: populations that fill more than they can, and the like; `is_led`: people without a
  /// journey are led. Local.
  std::vector<std::string> diagnostics(const BuildingPlan& building, const JourneyPlan& journey_plan,
                                       bool is_led) const;

 private:
  /// Where sources put people: spaces for good, the grid of obstacles as long as the same ones stand in the
  /// same places.
  struct Places {
    std::vector<std::unique_ptr<NearObstacles>> near;  // by level, of those with sources; spaces refer to it
    std::vector<std::unique_ptr<StartSpace>> spaces;
    std::vector<char> active;
    std::int64_t step = 0;
  };

  void describe_kinds(Section& root);
  void describe_familiarity(Section& section, Familiarity& familiarity) const;
  void find_leaders();
  void describe_populations(Section& root, const BuildingPlan& building, JourneyPlan& journey_plan);
  void describe_sources(Section& root, const BuildingPlan& building, JourneyPlan& journey_plan);
  /// The journey, and the level, of people; of those of a file that has to say it -2, and -1.
  int read_journey(Section& section, const PersonFile& file) const;
  static int read_level(Section& section, const BuildingPlan& building, const PersonFile& file);
  PersonNames names(const BuildingPlan& building, JourneyPlan& journey_plan, const Origin& origin) const;
  /// Calls f(origin) for all populations, then for all sources.
  template <class F>
  void for_each_origin(const F& f) const {
    for (const Population& population : populations_) f(population);
    for (const Source& source : sources_) f(source);
  }
  void describe_groups(Section& section, Population& population) const;
  /// Throws InputError naming `where` if a journey draws an exit for each person, which groups cannot share.
  void require_shared_exit(int journey, const std::string& where) const;
  template <class IdOf>
  std::map<std::int64_t, std::int32_t> group_ids_of(const Population& population, const IdOf& id_of) const;
  /// How far from the centre of what is placed obstacles matter [m].
  Real reach_of_starts() const;
  /// After the deck's keys: reads the file of a source.
  static void list_arrivals(Source& source, const PersonNames& names);
  const Places& places_of_sources(const State<2>& state, const BuildingPlan& building) const;
  void feed(std::size_t s, State<2>& state, const BuildingPlan& building, const StartSpace& space,
            std::uint64_t seed, std::vector<Person>& arrivals) const;
  /// The densest share of an area that equal disks cover: pi / sqrt(12).
  static inline const Real densest_disks = std::numbers::pi / std::sqrt(12.0);
  /// How many people with their centres in the space there can be, taken as disks of their mean area.
  static Real max_that_fit(const StartSpace& space, const Mixture& mixture);
  /// Everybody of files at their places; counts on state.next_id. Collective.
  std::vector<Person> start_from_files(State<2>& state, const BuildingPlan& building,
                                       std::uint64_t seed) const;
  /// This rank's share of them, with ids.
  std::vector<Person> read_start(State<2>& state, std::int64_t n_people, std::uint64_t seed) const;
  /// Keeps the ids that people of sources have in their files, and looks whether their places are free of
  /// walls, doors and exits. Collective.
  void check_arrivals(State<2>& state, const BuildingPlan& building, std::uint64_t seed) const;
  /// Throws InputError naming both files if two people of files have one id. Local, alike on all ranks.
  void require_distinct_ids() const;
  /// The first of n ids for people without ids of their own: the next free ones, unless a file has ids among
  /// them; then those above all ids of files. Counts on state.next_id.
  GlobalId take_ids(State<2>& state, std::int64_t n) const;
  /// The files of populations and sources whose people have ids.
  std::vector<const PersonFile*> files_with_ids() const;
  static void share_route_radii(State<2>& state);
  struct Placement;
  /// Fills in body i.
  static void put_person(State<2>& state, Index i, const Person& person);

  std::vector<AgentType> kinds_;
  std::vector<Population> populations_;
  std::vector<Source> sources_;
  const JourneyPlan* journey_plan_ = nullptr;
  std::size_t first_inlet_ = 0;  // in State::inlets, of the sources
  mutable std::unique_ptr<Places> places_;
};

}  // namespace scree
