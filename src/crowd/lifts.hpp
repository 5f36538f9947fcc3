#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crowd/look_ahead.hpp"
#include "crowd/person.hpp"
#include "crowd/plan/building_plan.hpp"
#include "state/state.hpp"

namespace scree {

/// What a lift has done so far.
struct LiftReport {
  std::string name;
  std::int64_t trips = 0;    ///< how often its door opened where people get out, with somebody in it
  std::int64_t persons = 0;  ///< who got out there
};

/// The lifts of a building: where their cabins are, whom their doors let through, and how people in and
/// before them walk (docs/method.md, "Lifts").
///
/// A cabin goes to a floor where somebody waits, takes in as many as it holds, and brings them to the floor
/// where they get out. Its doors are walls that always stand, and let those through who have been admitted:
/// the nearest first, never more than there is room for, by exact counts over all ranks. A door closes once
/// nobody who was admitted is in it or on the way, so it closes on nobody. All decisions follow from integers
/// and from minima over the people, so they are the same on any number of ranks.
class Lifts {
 public:
  explicit Lifts(BuildingPlan& building) : building_(building) {}

  /// Adds the doors. After BuildingPlan::join(); local, alike on all ranks.
  void add_doors(ObstacleSet<2>& obstacles);
  bool is_used() const { return !cars_.empty(); }
  /// How far around people routes must be known [m], see FloorField::fetch(); with the displacement of a step
  /// and a few cells to spare.
  Real reach_of_routes() const { return is_used() ? route_reach + 1 : 0; }
  /// Overlap that steps may leave [m]: nobody counts as clear of a door who overlaps it by more.
  void set_tolerance(Real tolerance) { tolerance_ = tolerance; }
  /// Before the first step, or with what memory() brought back. Throws RunError if that makes no sense.
  /// Local.
  void start(bool is_restart, Real time);
  /// After a step, when everybody knows where to go. Collective: one sum of a few integers per lift, and a
  /// list of those who come to a door or through it; O(people) locally.
  void update(const State<2>& state, const FloorField& floor_field);
  /// Changes the walks of those in lifts and before their doors. Local.
  void guide(const State<2>& state, std::span<WalkingIntent> walks) const;

  /// What a restart needs, brought up to date.
  std::span<Real> memory();
  std::vector<LiftReport> reports() const;

 private:
  static constexpr Real route_reach = 1.5;
  enum class Phase : std::uint8_t { idle, riding, opening, open, closing };
  /// Numbers of people at a car, over all ranks.
  struct Counts {
    std::int64_t inside = 0, walkers = 0;  // of those inside, who wants to get on
    std::int64_t admitted_inside = 0, events = 0, candidates = 0;
    std::vector<std::int64_t> calls;  // by stop
  };
  struct Car {
    int level = 0;
    Phase phase = Phase::idle;
    std::size_t at = 0;           // stop
    std::size_t target = 0;       // where it rides to
    std::size_t last_called = 0;  // stop
    Real until = 0;               // end of riding, opening and closing [s]
    Real last = 0;                // when somebody came through the open door, or was admitted [s]
    bool turns_back = false;      // those in the door who did not get in
    std::int64_t trips = 0, persons = 0;
    bool has_opened = false;  // in this update
    Counts counts;            // of the last look
    // Who may pass the doors, by id.
    std::shared_ptr<std::vector<GlobalId>> admitted = std::make_shared<std::vector<GlobalId>>();
  };
  /// What one person is about.
  struct Event {
    // `stay`: of those admitted whom the door has to wait for, logged once it has waited long enough.
    enum class Kind : std::int32_t { admit, through, stay };
    GlobalId id = 0;
    std::int64_t distance = 0;  // of a candidate from the middle of the door [1e-6 m]
    std::int32_t car = 0;
    Kind kind = Kind::admit;
  };
  struct Door {
    std::size_t car, stop;
  };

  const Lift& lift(const Car& car) const { return *building_.level(car.level).lift; }
  bool is_about(const Event& event, const Car& car) const { return &cars_[event.car] == &car; }
  bool is_admitted(const Car& car, GlobalId id) const;
  bool is_clear(const Car& car, const Vec<2>& x, Real radius) const;
  bool has_waited(const Car& car, Real time) const;
  std::int64_t room(const Car& car) const;
  bool heads_in(const Lift& lift, const Vec<2>& x, const Vec<2>& direction) const;
  bool leads_in(const FloorField& floor_field, int destination, const Lift& lift,
                const Standpoint& from) const;
  Real distance(const Lift& lift, const Vec<2>& x) const;
  /// Ends what time alone ends.
  void end_phase(Car& car, Real time);
  void observe(const State<2>& state, const FloorField& floor_field);
  void observe_inside(const State<2>& state, std::size_t i, std::size_t c);
  void observe_before(const State<2>& state, const FloorField& floor_field, std::size_t i, const Door& door);
  void sum_over_ranks(const Comm& comm);
  void update_car(Car& car, Real time);
  int release(Car& car, bool has_waited);
  void board(Car& car, Real time);
  void unload(Car& car, Real time);
  void choose_stop(Car& car, Real time);
  void begin(Car& car, Phase phase, Real time);
  void ride(Car& car, std::size_t target, Real time);
  Real elevation(const Car& car, Real time) const;
  void place_cabins(Real time);
  void guide_inside(const Car& car, bool is_admitted, const Vec<2>& x, Real radius,
                    WalkingIntent& walk) const;
  void restore();

  BuildingPlan& building_;
  std::vector<Car> cars_;
  std::vector<int> car_of_level_;            // -1: none
  std::vector<std::vector<Door>> doors_of_;  // by level
  Real tolerance_ = 1e-6;
  std::vector<Event> events_, candidates_;
  std::vector<GlobalId> staying_;
  std::vector<std::int64_t> sums_;
  std::vector<Real> numbers_;
};

}  // namespace scree
