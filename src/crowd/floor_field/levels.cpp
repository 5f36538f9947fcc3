// Routes over the lines that join levels.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "crowd/floor_field/floor_field.hpp"

namespace scree {

/// Cells behind the lines of a level have the values of the level that people get to there.
void FloorField::join_levels(ClassFields& fields) const {
  const BuildingPlan& building = built_->building;
  if (building.n_levels() == 1) return;
  const Tiling& tiling = built_->tiling;
  Eikonal& eikonal = *fields.eikonal;
  for (std::size_t k = 0; k < tiling.own().size(); ++k) {
    const std::int64_t tile = tiling.own()[k];
    const int level = tiling.level(tile);
    for (int j = 0; j < tiling.height(tile); ++j)
      for (int i = 0; i < tiling.width(tile); ++i) {
        const std::uint32_t place = eikonal.place(k, i, j);
        if ((eikonal.links(place) & walkable_bit) == 0) continue;
        const Vec<2> x = tiling.centre(tile, i, j);
        const int other = building.map()->beyond(x, level);
        if (other == level || !building.may_enter(level, other, built_->time)) continue;
        if (building.level(other).lift) continue;  // see join_lifts()
        const int own = eikonal.own_number(tile + (other - level) * tiling.tiles_of_level());
        if (own >= 0) eikonal.copy(eikonal.place(static_cast<std::size_t>(own), i, j), place);
      }
  }
  join_lifts(fields);
}

/// Routes into a lift lead to one cell of it, in the middle behind the door: from there it takes the time of
/// the ride, and the route out of the cabin.
void FloorField::join_lifts(ClassFields& fields) const {
  const BuildingPlan& building = built_->building;
  const Tiling& tiling = built_->tiling;
  Eikonal& eikonal = *fields.eikonal;
  for (int number = 0; number < building.n_levels(); ++number) {
    if (!building.level(number).lift) continue;
    const Lift& lift = *building.level(number).lift;
    for (std::size_t stop = 0; stop < lift.stops.size(); ++stop) {
      const int floor = lift.stops[stop].floor;
      if (!building.may_enter(floor, number, built_->time)) continue;
      const std::int64_t tile = tile_at(lift.inside, floor);
      const int on_floor = eikonal.own_number(tile);
      const int in_cabin = eikonal.own_number(tile + (number - floor) * tiling.tiles_of_level());
      if (on_floor < 0 || in_cabin < 0) continue;
      const auto place = [&](int own, int i, int j) {
        return eikonal.place(static_cast<std::size_t>(own), i, j);
      };
      // The nearest cell in this tile that is both behind the door and in the cabin.
      int best_i = -1, best_j = -1;
      Real min = HUGE_VAL;
      for (int j = 0; j < tiling.height(tile); ++j)
        for (int i = 0; i < tiling.width(tile); ++i) {
          if ((eikonal.links(place(on_floor, i, j)) & walkable_bit) == 0 ||
              (eikonal.links(place(in_cabin, i, j)) & walkable_bit) == 0)
            continue;
          const Vec<2> x = tiling.centre(tile, i, j);
          const Vec<2> away = x - lift.inside;
          if (building.map()->beyond(x, floor) != number || !(dot(away, away) < min)) continue;
          min = dot(away, away);
          best_i = i;
          best_j = j;
        }
      if (best_i >= 0)
        eikonal.copy(place(in_cabin, best_i, best_j), place(on_floor, best_i, best_j),
                     lift.travel_time(stop));
    }
  }
}

/// The tile of a level that holds x.
std::int64_t FloorField::tile_at(const Vec<2>& x, int level) const {
  const CellGrid& grid = built_->tiling.grid();
  std::array<std::int64_t, 2> index{};
  for (std::size_t k = 0; k < 2; ++k) {
    const int axis = static_cast<int>(k);
    const auto cell = static_cast<std::int64_t>(std::floor((x[axis] - grid.origin[axis]) / grid.cell));
    index[k] = std::clamp<std::int64_t>(cell, 0, grid.count(axis) - 1) >> built_->tiling.edge_bits();
  }
  return built_->tiling.tile(index[0], index[1], level);
}

bool FloorField::close_connectors(Real time) {
  Built& built = *built_;
  const int n_closed = built.building.n_closed(time);
  if (n_closed == built.n_closed) return false;
  built.time = time;
  built.n_closed = n_closed;
  for (ClassFields& fields : built.fields) {
    fields.eikonal->forget_copies();
    join_levels(fields);
  }
  find_paces();
  restore_density();
  return true;
}

void FloorField::find_paces() {
  if (built_->building.n_levels() == 1) return;
  std::vector<std::vector<float>> of_fields;
  for (const Destination& destination : built_->destinations) of_fields.push_back(paces(destination));
  for (ClassFields& fields : built_->fields) fields.eikonal->set_paces(of_fields);
}

/// Factors on the times of own tiles: connectors are walked at other speeds, up or down by which of their
/// floors fewer lines part from the destination.
std::vector<float> FloorField::paces(const Destination& destination) const {
  const BuildingPlan& building = built_->building;
  constexpr int far = std::numeric_limits<int>::max();
  std::vector<int> n_lines(building.n_levels(), far);
  std::deque<int> reached{destination.level};
  n_lines[destination.level] = 0;
  for (; !reached.empty(); reached.pop_front())
    for (const LevelLine& line : building.map()->lines())
      for (const int side : {0, 1}) {
        const int from = line.level[side];
        const int to = line.level[1 - side];
        int& n = n_lines[from];
        if (to != reached.front() || n != far || !building.may_enter(from, to, built_->time)) continue;
        n = n_lines[to] + 1;
        reached.push_back(from);
      }

  std::vector<float> of_level;
  for (int level = 0; level < building.n_levels(); ++level) {
    of_level.push_back(1);
    if (!building.level(level).incline) continue;
    const Incline& incline = *building.level(level).incline;
    const int lower = n_lines[incline.lower_floor];
    const int upper = n_lines[incline.upper_floor];
    Real pace = 0.5 * (1 / incline.up_factor + 1 / incline.down_factor);
    if (incline.belt_speed > 0)
      pace = 1 / incline.belt_speed;
    else if (lower != upper)
      pace = 1 / (upper < lower ? incline.up_factor : incline.down_factor);
    of_level.back() = static_cast<float>(pace * incline.stretch(incline.uphill));
  }
  std::vector<float> result;
  for (const std::int64_t tile : built_->tiling.own()) result.push_back(of_level[built_->tiling.level(tile)]);
  return result;
}

}  // namespace scree
