#include "crowd/floor_field/narrow_places.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "crowd/floor_field/terrain.hpp"
#include "crowd/plan/bucket_grid.hpp"

namespace scree {

namespace {

/// What reaches less than this into the disk of a place does not count [m].
constexpr Real contact_tolerance = 1e-6;

/// A corner of walls, of radius 0, or a column.
struct Round {
  Vec<2> centre;
  Real radius = 0;
  std::vector<Vec<2>> along_walls;  // of a corner: unit vectors along the walls that begin there
};

/// Walls and columns of a level, to be asked for what is near a place.
class Surroundings {
 public:
  Surroundings(std::vector<Edge> walls, std::span<const Columns::Column> columns, Real max);
  /// Calls found(a, b) for the ends of all narrow places.
  void search(const std::function<void(const Vec<2>&, const Vec<2>&)>& found);

 private:
  template <class F>
  void near(const BucketGrid& grid, const Vec<2>& x, Real reach, F&& f) const {
    const Box<2> box{x - filled<2>(reach), x + filled<2>(reach), {}};
    grid.for_each_cell(box, [&](int i, int j) {
      for (const std::int32_t item : grid.items(grid.place(i, j))) f(static_cast<std::size_t>(item));
    });
  }
  bool is_empty(const Vec<2>& middle, Real radius) const;
  /// Whether no wall at the corner leads into the disk behind it, in this direction.
  static bool points_away_from_walls(const Round& corner, const Vec<2>& direction);

  std::vector<Edge> walls_;
  std::vector<Round> rounds_;
  Real max_;
  BucketGrid wall_grid_, round_grid_;
};

Surroundings::Surroundings(std::vector<Edge> walls, std::span<const Columns::Column> columns, Real max)
    : walls_(std::move(walls)), max_(max) {
  std::map<std::pair<Real, Real>, std::size_t> corner_at;
  const auto add = [&](const Vec<2>& x, const Vec<2>& direction) {
    const auto [found, is_new] = corner_at.try_emplace({x[0], x[1]}, rounds_.size());
    if (is_new) rounds_.push_back({x, 0, {}});
    rounds_[found->second].along_walls.push_back(direction);
  };
  Box<2> box = Box<2>::empty();
  for (const Edge& wall : walls_) {
    add(wall.a, wall.tangent);
    add(wall.b, -wall.tangent);
    box.include(wall.a);
    box.include(wall.b);
  }
  for (const Columns::Column& column : columns) {
    rounds_.push_back({column.centre, column.radius, {}});
    box.include(column.centre);
  }
  box.lower -= filled<2>(max);
  box.upper += filled<2>(max);
  const Real n_wanted = box.length(0) * box.length(1) / (max * max);
  const auto n_cells = static_cast<std::size_t>(
      std::clamp(n_wanted, 1.0, static_cast<Real>(4 * (walls_.size() + rounds_.size()) + 64)));
  wall_grid_ = BucketGrid(box, n_cells);
  round_grid_ = BucketGrid(box, n_cells);
  const Real half = 0.5 * std::hypot(wall_grid_.size(0), wall_grid_.size(1));
  for (std::size_t w = 0; w < walls_.size(); ++w) {
    wall_grid_.for_each_cell(bounds_of({walls_[w].a, walls_[w].b}), [&](int i, int j) {
      const Vec<2> middle{{wall_grid_.lower(0, i) + 0.5 * wall_grid_.size(0),
                           wall_grid_.lower(1, j) + 0.5 * wall_grid_.size(1)}};
      if (std::abs(walls_[w].height(middle)) <= 1.01 * half)
        wall_grid_.put(i, j, static_cast<std::int32_t>(w));
    });
  }
  for (std::size_t r = 0; r < rounds_.size(); ++r)
    round_grid_.for_each_cell(Columns::Column{rounds_[r].centre, rounds_[r].radius}.bounds(),
                              [&](int i, int j) { round_grid_.put(i, j, static_cast<std::int32_t>(r)); });
  wall_grid_.sort();
  round_grid_.sort();
}

bool Surroundings::points_away_from_walls(const Round& corner, const Vec<2>& direction) {
  constexpr Real nearly = 1e-3;  // what leads in at a flatter angle than this is left to is_empty()
  return std::ranges::all_of(corner.along_walls,
                             [&](const Vec<2>& wall) { return dot(wall, direction) <= nearly; });
}

bool Surroundings::is_empty(const Vec<2>& middle, Real radius) const {
  bool is_free = true;
  near(wall_grid_, middle, radius, [&](std::size_t w) {
    is_free = is_free && std::sqrt(squared_distance(walls_[w], middle)) >= radius - contact_tolerance;
  });
  near(round_grid_, middle, radius, [&](std::size_t r) {
    is_free = is_free && norm(rounds_[r].centre - middle) - rounds_[r].radius >= radius - contact_tolerance;
  });
  return is_free;
}

void Surroundings::search(const std::function<void(const Vec<2>&, const Vec<2>&)>& found) {
  const auto report_if_free = [&](const Vec<2>& a, const Vec<2>& b) {
    const Real width = norm(b - a);
    if (width > contact_tolerance && width < max_ && is_empty(0.5 * (a + b), 0.5 * width)) found(a, b);
  };
  // What lies in several cells is met several times.
  std::vector<std::size_t> walls, others;
  const auto once = [](std::vector<std::size_t>& items) {
    std::ranges::sort(items);
    items.erase(std::unique(items.begin(), items.end()), items.end());
  };
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const Round& own = rounds_[r];
    walls.clear();
    others.clear();
    near(wall_grid_, own.centre, own.radius + max_, [&](std::size_t w) { walls.push_back(w); });
    near(round_grid_, own.centre, own.radius + max_, [&](std::size_t other) {
      if (other > r) others.push_back(other);
    });
    once(walls);
    once(others);
    for (const std::size_t w : walls) {
      const Real along = dot(walls_[w].tangent, own.centre - walls_[w].a);
      if (!(along > 0 && along < walls_[w].length)) continue;
      const Vec<2> foot = walls_[w].a + along * walls_[w].tangent;
      const Real distance = norm(foot - own.centre);
      if (!(distance > own.radius)) continue;
      const Vec<2> direction = (1 / distance) * (foot - own.centre);
      if (points_away_from_walls(own, direction)) report_if_free(own.centre + own.radius * direction, foot);
    }
    for (const std::size_t o : others) {
      const Round& other = rounds_[o];
      const Real distance = norm(other.centre - own.centre);
      if (!(distance > own.radius + other.radius)) continue;
      const Vec<2> direction = (1 / distance) * (other.centre - own.centre);
      if (points_away_from_walls(own, direction) && points_away_from_walls(other, -direction))
        report_if_free(own.centre + own.radius * direction, other.centre - other.radius * direction);
    }
  }
}

}  // namespace

std::vector<NarrowPlace> find_narrow_places(const BuildingPlan& building, const CellGrid& grid, Real max) {
  std::vector<NarrowPlace> places;
  for (int number = 0; number < building.n_levels(); ++number) {
    const Level& level = building.level(number);
    RouteWalls around = route_walls(grid, level.plan);
    const auto is_free = [&](const Vec<2>& x) { return building.leads_over(grid.wrapped(x), number); };
    Surroundings(std::move(around.walls), around.columns, max).search([&](const Vec<2>& a, const Vec<2>& b) {
      const Real width = norm(b - a);
      // Where a level ends at a line, one side is on the other one.
      const Vec<2> beside = (0.25 / width) * std::min(width, 1e-3) * left_of(b - a);
      const Vec<2> middle = 0.5 * (a + b);
      if (is_free(middle + beside) || is_free(middle - beside)) places.push_back({a, b, width, number});
    });
    if (level.lift && level.lift->depth < max)
      places.push_back({level.lift->door[0], level.lift->door[1], level.lift->depth, number});
  }
  std::ranges::stable_sort(places, std::greater<>(), &NarrowPlace::width);
  return places;
}

std::vector<WidthClass> width_classes(std::span<const NarrowPlace> places, int n_levels,
                                      std::span<const std::pair<Real, Real>> radii, std::size_t max_classes) {
  // Radii from which on a place is too narrow, rising.
  std::vector<Real> limits;
  for (const NarrowPlace& place : places) limits.push_back(0.5 * place.width);
  limits.push_back(HUGE_VAL);
  std::ranges::sort(limits);
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  std::vector<WidthClass> classes;
  Real before = -HUGE_VAL;
  for (const Real limit : limits) {
    WidthClass one{.up_to = limit + 0.5 * rounding_of_widths};
    for (const auto& [min, max] : radii) {
      if (!fits(2 * limit, min)) continue;                // all are wider
      if (before > 0 && fits(2 * before, max)) continue;  // all are narrower
      one.largest = std::max(one.largest, fits(2 * limit, max) ? max : limit);
    }
    before = limit;
    if (one.largest > 0) classes.push_back(std::move(one));
  }
  while (classes.size() > std::max<std::size_t>(max_classes, 1)) {
    std::size_t nearest = 0;
    const auto gap = [&](std::size_t c) { return classes[c + 1].largest - classes[c].largest; };
    for (std::size_t c = 1; c + 1 < classes.size(); ++c)
      if (gap(c) < gap(nearest)) nearest = c;
    classes.erase(classes.begin() + static_cast<std::ptrdiff_t>(nearest));
  }
  for (WidthClass& one : classes) {
    one.shut.resize(n_levels);
    for (const NarrowPlace& place : places)
      if (!fits(place.width, one.largest)) one.shut[place.level].emplace_back(place.a, place.b);
  }
  classes.back().up_to = HUGE_VAL;
  return classes;
}

}  // namespace scree
