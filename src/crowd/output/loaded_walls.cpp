#include "crowd/output/loaded_walls.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

namespace {

/// A line of an outline, in pieces that have a load each.
struct Line {
  Vec<2> a, b;
  std::int64_t first_piece, n_pieces;
};
struct DrawnObstacle {
  std::vector<Line> lines;
  std::size_t lines_per_part;  ///< 0: not known
};

std::vector<DrawnObstacle> drawn_obstacles(const State<2>& state) {
  constexpr Real longest_piece = 1;  // [m]: loads of whole walls would hide where people press
  std::vector<DrawnObstacle> drawn;
  std::int64_t n_pieces = 0;
  for (std::size_t o = 0; o < state.obstacles.list().size(); ++o) {
    const Outline<2> outline = state.obstacles.outline(static_cast<int>(o), state.box);
    const auto n_parts = static_cast<std::size_t>(std::max(state.obstacles.list()[o].shape->n_parts(), 1));
    DrawnObstacle& obstacle = drawn.emplace_back();
    // Outlines draw part after part, each with as many lines.
    obstacle.lines_per_part = outline.lines.size() % n_parts == 0 ? outline.lines.size() / n_parts : 0;
    for (const auto& ends : outline.lines) {
      const Vec<2>& a = outline.points[ends[0]];
      const Vec<2>& b = outline.points[ends[1]];
      const auto n = std::max<std::int64_t>(1, std::llround(std::ceil(norm(b - a) / longest_piece)));
      obstacle.lines.push_back({a, b, n_pieces, n});
      n_pieces += n;
    }
  }
  return drawn;
}

/// The piece of an obstacle's part that is nearest to x; -1: it has no lines.
std::int64_t nearest_piece(const DrawnObstacle& obstacle, std::size_t part, const Vec<2>& x) {
  const std::size_t n = obstacle.lines_per_part > 0 ? obstacle.lines_per_part : obstacle.lines.size();
  const std::size_t first = obstacle.lines_per_part > 0 ? part * n : 0;
  std::int64_t nearest = -1;
  Real min = HUGE_VAL;
  for (std::size_t l = first; l < first + n && l < obstacle.lines.size(); ++l) {
    const Line& line = obstacle.lines[l];
    const Vec<2> along = line.b - line.a;
    const Real length = dot(along, along);
    const Real t = length > 0 ? std::clamp(dot(x - line.a, along) / length, 0.0, 1.0) : 0;
    const Real distance = norm(x - (line.a + t * along));
    if (distance >= min) continue;
    min = distance;
    nearest = line.first_piece +
              std::min(line.n_pieces - 1, static_cast<std::int64_t>(t * static_cast<Real>(line.n_pieces)));
  }
  return nearest;
}

}  // namespace

LoadedWalls loaded_walls(const State<2>& state, const ContactGraph<2>& contacts, Real force_per_speed) {
  constexpr Real force_unit = 0x1p-20;  // [N]: forces are summed as multiples, so that ranks do not matter
  const std::vector<DrawnObstacle> drawn = drawn_obstacles(state);
  std::int64_t n_pieces = 0;
  for (const DrawnObstacle& obstacle : drawn)
    for (const Line& line : obstacle.lines) n_pieces += line.n_pieces;
  std::vector<std::int64_t> sums(n_pieces);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (contacts.b[c] >= 0 || !(contacts.force[c] > 0)) continue;
    const std::size_t obstacle = state.obstacles.obstacle_of(contacts.wall[c]);
    const std::size_t part = state.obstacles.part_of(contacts.wall[c]);
    const Vec<2> foot = state.bodies.position()[contacts.a[c]] + contacts.branch[c];
    const std::int64_t piece = nearest_piece(drawn[obstacle], part, foot);
    if (piece >= 0) sums[piece] += std::llround(force_per_speed * contacts.force[c] / force_unit);
  }
  state.comm.sum(std::span<std::int64_t>(sums));

  LoadedWalls walls;
  if (!state.comm.is_root()) return walls;  // every rank holds all obstacles, one draws them
  for (std::size_t o = 0; o < drawn.size(); ++o)
    for (const Line& line : drawn[o].lines)
      for (std::int64_t k = 0; k < line.n_pieces; ++k) {
        const auto n = static_cast<Real>(line.n_pieces);
        for (const Real t : {static_cast<Real>(k) / n, static_cast<Real>(k + 1) / n}) {
          const Vec<2> x = line.a + t * (line.b - line.a);
          walls.lines.push_back(static_cast<std::int64_t>(walls.points.size() / 3));
          walls.points.insert(walls.points.end(), {x[0], x[1], 0});
        }
        walls.obstacle.push_back(static_cast<std::int32_t>(o));
        const Real length = norm(line.b - line.a) / n;
        walls.load.push_back(static_cast<Real>(sums[line.first_piece + k]) * force_unit / length);
      }
  return walls;
}

}  // namespace scree
