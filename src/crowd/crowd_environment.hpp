#pragma once
#include <memory>
#include <string>
#include <vector>

#include "crowd/crowd_world.hpp"
#include "crowd/exit_choice.hpp"
#include "crowd/exits.hpp"
#include "crowd/floor_field/floor_field.hpp"
#include "crowd/group_walk.hpp"
#include "crowd/hazard/hazard.hpp"
#include "crowd/journey_plan.hpp"
#include "crowd/lifts.hpp"
#include "crowd/locks.hpp"
#include "crowd/output/crowd_output.hpp"
#include "crowd/people/people.hpp"
#include "crowd/queues.hpp"
#include "schemes/common/environment.hpp"

namespace scree {

/// A building with people in it: the tables [walkable] or [floors], [connectors] and [lifts], [exits],
/// [waypoints], [zones], [journeys], [agents], [populations], [sources], [hazard] and [navigation], and what
/// happens between two steps.
class CrowdEnvironment final : public Environment<2> {
 public:
  /// Declares and reads all tables of the environment. Local.
  void describe(Section& root);

  void build(Box<2>& box, bool box_given, ObstacleSet<2>& obstacles) override;
  NeighborhoodSettings::Purpose list_purpose() const override {
    // People look far ahead, so cells are large and blocks have few of them.
    return {"how far people look", "how far people look ahead: headway_time and speed of [agents.NAME]", 2};
  }
  void prepare(State<2>& state) override;
  bool change_bodies() const override { return true; }
  BodiesToCome to_come(Real end_time) const override { return people_.to_come(end_time); }
  void populate(State<2>& state, std::uint64_t seed) override;
  Real overlap_limit() const override { return people_.overlap_limit(); }
  void start(State<2>& state, std::uint64_t seed) override;
  void after_step(State<2>& state, std::uint64_t seed, BodyChange<2>& change) override;
  bool finished(const State<2>& state) const override;
  ExitCode ending() const override { return locks_.ends_run() ? ExitCode::locked : ExitCode::done; }
  std::vector<NamedNumbers> memory() override;
  std::string fault_of_body(const BodyStore<2>& bodies, std::size_t i) const override;
  std::string name_of_type(std::size_t type) const override;
  std::vector<std::string> diagnostics(const State<2>& state) const override;
  EnvironmentMessages messages() const override;
  EnvironmentOutput<2>& output() override { return output_; }

  /// Of somebody who stays. Local.
  Fate fate_of(const State<2>& state, std::size_t i) const;
  /// How many left by an exit that they were not bound for, by exit.
  std::span<const Real> left_elsewhere() { return exits_.left_elsewhere(); }
  /// Whether people without a destination are led.
  void set_led(bool is_led) { is_led_ = is_led; }
  /// No speed on free ground is higher [m/s].
  Real fastest() const { return fastest_of(people_.fastest()); }
  /// The same of somebody with this desired speed.
  Real fastest_of(Real desired_speed) const;
  /// Of the run.
  std::uint64_t seed() const { return seed_; }
  const BuildingPlan& building() const { return *building_; }
  const People& people() const { return people_; }
  const JourneyPlan& journey_plan() const { return journey_plan_; }
  const Exits& exits() const { return exits_; }
  /// Who left, on this rank, since whoever writes tables of it emptied the list.
  std::vector<Departure>& departures() { return exits_.departures(); }
  const FloorField& floor_field() const { return floor_field_; }
  const Hazard& hazard() const { return hazard_; }
  FloorField& floor_field() { return floor_field_; }
  GroupWalk& groups() { return groups_; }
  const GroupWalk& groups() const { return groups_; }
  Queues& queues() { return queues_; }
  const Queues& queues() const { return queues_; }
  Lifts& lifts() { return lifts_; }
  const Lifts& lifts() const { return lifts_; }
  Locks& locks() { return locks_; }

 private:
  void require_places_between_faces(const Box<2>& box) const;
  void require_routes_by_length() const;
  void check_queues(const State<2>& state, std::vector<std::string>& findings) const;
  void check_routes(const State<2>& state, std::vector<std::string>& findings) const;
  std::string widest_route(const State<2>& state, std::size_t i) const;
  std::vector<WidthClass> find_width_classes(const Box<2>& box);
  bool remove_people(State<2>& state, BodyChange<2>& change);
  void add_people(State<2>& state, std::uint64_t seed, BodyChange<2>& change);
  void update_routes(State<2>& state);
  bool has_no_route(const State<2>& state, std::size_t i) const;
  void count_remaining(const State<2>& state, bool warns);

  std::shared_ptr<BuildingPlan> building_ = std::make_shared<BuildingPlan>();
  JourneyPlan journey_plan_;
  FloorField floor_field_;
  std::vector<NarrowPlace> narrow_places_;  // that somebody is too wide for, widest first
  People people_;
  Hazard hazard_;
  Exits exits_{journey_plan_};
  ExitChoice exit_choice_{journey_plan_, exits_, people_, floor_field_};
  Queues queues_{journey_plan_};
  Lifts lifts_{*building_};
  Locks locks_{*this};
  GroupWalk groups_{people_, journey_plan_, floor_field_, *building_};
  CrowdOutput output_{*this};
  std::vector<Index> staying_;
  std::uint64_t seed_ = 0;
  bool is_led_ = false;
  bool is_empty_ = false;             // nobody is there after the last step who may still leave
  std::int64_t n_without_route_ = 0;  // of those who are
};

}  // namespace scree
