#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crowd/plan/floor_plan.hpp"
#include "crowd/plan/lift.hpp"
#include "geometry/level_map.hpp"

namespace scree {

/// What makes a connector of two floors more than another floor: a straight flight, a ramp or an escalator.
struct Incline {
  int lower_floor = 0, upper_floor = 0;
  Vec<2> uphill{};         ///< unit vector in plan; zero: level
  Vec<2> foot{};           ///< middle of the lower line [m]
  Vec<2> head{};           ///< middle of the upper line [m]
  Real run = 0;            ///< length in plan, from the middle of the lower line to that of the upper [m]
  Real rise = 0;           ///< [m]
  Real up_factor = 1;      ///< of desired speeds along the slope
  Real down_factor = 1;    ///< the same
  bool is_by_age = false;  ///< factors follow from a table, for each kind of people
  std::vector<std::array<Real, 2>> factor_of_kind{};  ///< then: up, down; the two above are their means
  Real belt_speed = 0;                                ///< of an escalator along the slope [m/s]; else 0
  int allowed_direction = 0;                          ///< 1: people go up it only; -1: down; 0: both ways
  Real closed_from = HUGE_VAL;                        ///< nobody enters it from then on [s]
  Real walking_share = 0;                             ///< of the people on an escalator; the others stand

  Real gradient() const { return run > 0 ? rise / run : 0; }
  /// Length along the slope for one in plan, in a direction (unit vector).
  Real stretch(const Vec<2>& direction) const;
  /// Of desired speeds of a kind of people.
  Real factor(bool goes_up, std::size_t kind) const {
    if (factor_of_kind.empty()) return goes_up ? up_factor : down_factor;
    return factor_of_kind[kind][goes_up ? 0 : 1];
  }
};

/// Where people can be on one level of a building: a floor, a connector of two of them, or a lift.
struct Level {
  /// Of [floors.NAME], [connectors.NAME] or [lifts.NAME]; empty: the one floor of [walkable].
  std::string name;
  std::string where;  ///< its place in the deck
  FloorPlan plan;
  Real elevation = 0;              ///< of a floor, of the foot of a connector, and where a lift is now [m]
  std::optional<Incline> incline;  ///< of a connector
  std::optional<Lift> lift;        ///< of a lift

  bool is_floor() const { return !incline && !lift; }

  /// Height of the floor under x [m].
  Real height(const Vec<2>& x) const;
};

/// The plan of a building: one floor ([walkable]), or several levels that lines join.
///
///     [walkable]           one floor
///     [floors.NAME]        elevation, walkable
///     [connectors.NAME]    type, polygon, top = { floor, line }, bottom = { floor, line }, ...
///     [lifts.NAME]         cabin, door, floors, to, ...
///
/// Levels are numbered floors first, then connectors, then lifts, in deck order. All levels are in the
/// coordinates of the building: floors lie above each other. Held by every rank. Units: m, s.
class BuildingPlan {
 public:
  BuildingPlan() = default;
  BuildingPlan(const BuildingPlan&) = delete;
  BuildingPlan& operator=(const BuildingPlan&) = delete;

  /// Declares and reads the tables. Throws InputError. Local; files are read on every rank alike.
  void describe(Section& root);
  /// Declares and reads the key `floor`, the level that something is on: required if there are several, and
  /// an error if there is one.
  int read_level(Section& section) const;
  /// The level of this name, or -1.
  int find(const std::string& name) const;
  /// The same for a key at `where`: an empty name stands for the only floor. Throws InputError naming the
  /// valid ones.
  int level_of(const std::string& name, const std::string& where) const;

  /// Of all levels; one of no name where there is one floor.
  std::vector<std::string> names() const;
  int n_levels() const { return static_cast<int>(levels_.size()); }
  const Level& level(int number) const { return *levels_[number]; }
  FloorPlan& plan(int level) { return levels_[level]->plan; }
  const FloorPlan& plan(int level) const { return this->level(level).plan; }
  /// The place in the deck of what says where people can be, for messages.
  const std::string& where() const { return levels_.front()->where; }
  /// All levels as WKT: of several a GEOMETRYCOLLECTION of one geometry each, in their order.
  std::string wkt() const;
  /// Smallest box around all levels.
  Box<2> bounds() const;

  /// Opens the borders of levels along the lines that join them; people have `largest_radius` [m] at most.
  /// Throws InputError naming the line: it is not on the border of its level, leads to the wrong side, or is
  /// crosses another one. Before walls() of the plans; local.
  void join(Real largest_radius);
  /// How levels join; null of one floor. After join().
  std::shared_ptr<const LevelMap> map() const { return map_; }
  /// Whether people may go from a level to the next one at a time: not against a one-way connector, nor into
  /// what is closed; into a lift not where people get out, and out of it there only.
  bool may_enter(int from, int to, Real time = 0) const;
  /// Gives a connector (its level) factors of desired speeds by kind of people, up and down. Local, alike on
  /// all ranks, before routes are found.
  void set_factors(int connector, std::vector<std::array<Real, 2>> of_kinds);
  /// Nobody enters a connector (its level) from `time` [s] on, or from when the deck closes it if that is
  /// earlier. Alike on all ranks, before routes are found; local.
  void close_for_good(int connector, Real time);
  /// Where a lift is, and at which of its stops its door is open: -1 for none. Alike on all ranks, between
  /// steps.
  void stand(int lift, int at, Real elevation);
  /// How many connectors and lifts are closed.
  int n_closed(Real time) const;
  /// Whether routes of this level pass x: it is in the plan, or behind a line. After join().
  bool leads_over(const Vec<2>& x, int level) const {
    return plan(level).contains(x) || (map_ && map_->beyond(x, level) != level);
  }

  /// Whether somebody at x on `level` may touch somebody on the level `other`: it is the same one, or a line,
  /// open or closed, joins the two less than `reach` [m] from x. After join(); local, O(lines).
  bool may_touch(const Vec<2>& x, int level, int other, Real reach) const;
  /// Throws InputError if somebody who comes to a level over one line could touch somebody who comes over
  /// another one: they are on levels that no line joins, and do not see each other. People of `radius` [m]
  /// walk up to `step` [m] in a step. After join(); local, O(lines^2) of a level.
  void require_lines_apart(Real radius, Real step) const;
  /// Where walls and columns stand so near behind a line that people of `radius` [m], who meet those of their
  /// own level only, overlap them when they cross it; the level comes with it. After join(); local.
  std::vector<std::pair<int, PlanFinding>> walls_behind_lines(Real radius) const;

  /// Largest factor of desired speeds on any connector, and largest speed of an escalator [m/s].
  Real max_factor() const;
  Real fastest_belt() const;

 private:
  struct End {
    std::string floor;
    std::string where;  // of its line
    std::array<Vec<2>, 2> line{};
  };
  struct Connector {
    int level = 0;
    std::array<End, 2> ends;  // bottom, top
  };

  void describe_floors(Section& root);
  void describe_connectors(Section& root);
  int floor_named(const std::string& name, const std::string& where) const;
  static End describe_end(Section& section, const char* key, const char* doc);
  void place(Section& section, Level& level, const Connector& connector) const;
  LevelLine opened(const End& end, int connector, Real largest_radius);
  /// Behind a line a level has nothing else to this depth [m].
  static Real depth_behind_line(Real largest_radius);
  /// Opens the border of a level along a-b; returns the unit vector out of the level.
  Vec<2> border_opened(int level, const Vec<2>& a, const Vec<2>& b, Real depth, const std::string& where,
                       const std::string& table);
  // Of lifts: building_lifts.cpp.
  void describe_lifts(Section& root);
  void find_stops(const Section& section, Lift& lift, const std::vector<std::string>& floors,
                  const std::string& to) const;
  void join_lift(int number, Real largest_radius, std::vector<LevelLine>& lines);

  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<Connector> connectors_;
  std::shared_ptr<LevelMap> map_;
};

}  // namespace scree
