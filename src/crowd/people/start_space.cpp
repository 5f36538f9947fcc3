#include "crowd/people/start_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "crowd/plan/ring.hpp"
#include "particles/packing/region.hpp"

namespace scree {

NearObstacles::NearObstacles(const ObstacleSet<2>& obstacles, std::span<const Exit> exits,
                             const Box<2>& domain, int level, Real reach)
    : obstacles_(obstacles), level_(level), reach_(reach) {
  for (const Exit& exit : exits)
    if (exit.level == level && !exit.line.empty() && exit.ever_closes())
      doors_.emplace_back(exit.line[0], exit.line[1]);
  constexpr Real max_cells = 1 << 22;
  grid_ = BucketGrid(domain,
                     static_cast<std::size_t>(std::min(domain.volume() / (4 * reach * reach), max_cells)));
  update(domain);
}

void NearObstacles::update(const Box<2>& domain) {
  // A cell lists what may be within reach of any of its points; distances change no faster than places.
  const Vec<2> half = 0.5 * Vec<2>{{grid_.size(0), grid_.size(1)}};
  const Real far = reach_ + norm(half);
  const auto put = [&](int constraint) {
    const Box<2> bounds = obstacles_.bounds(constraint, domain);
    if (bounds.is_empty()) return;
    grid_.for_each_cell({bounds.lower - filled<2>(reach_), bounds.upper + filled<2>(reach_), {}},
                        [&](int i, int j) {
                          const Vec<2> centre = Vec<2>{{grid_.lower(0, i), grid_.lower(1, j)}} + half;
                          SurfacePoint<2> point;
                          obstacles_.distances(constraint, {&centre, 1}, {&point, 1});
                          if (point.distance <= far) grid_.put(i, j, constraint);
                        });
  };
  for (int o = 0; o < static_cast<int>(obstacles_.list().size()); ++o) {
    const Obstacle<2>& obstacle = obstacles_.list()[o];
    if (!obstacles_.active(o) || (obstacle.level >= 0 && obstacle.level != level_)) continue;
    for (const int image : obstacles_.images_of(o))
      for (int part = 0; part < obstacle.shape->n_parts(); ++part)
        put(obstacles_.first_constraint(o, image) + part);
  }
  grid_.sort();
}

bool NearObstacles::touches(const Vec<2>& x, Real radius) const {
  bool is_touched = false;
  for_each_near(x, [&](Real distance, const Vec<2>&) { is_touched = is_touched || distance < radius; });
  return is_touched;
}

StartSpace::StartSpace(const BuildingPlan& building, const NearObstacles& obstacles,
                       std::span<const Exit> exits, const Box<2>& domain, Ring region,
                       const std::string& where)
    : plan_(building.plan(obstacles.level())),
      obstacles_(obstacles),
      domain_(domain),
      region_(std::move(region)) {
  for (const Exit& exit : exits) {
    if (exit.level != obstacles.level()) continue;
    if (!exit.pocket.empty())
      kept_free_.push_back(exit.pocket);
    else
      kept_free_.insert(kept_free_.end(), exit.regions.begin(), exit.regions.end());
  }
  const Box<2> wanted = region_.empty() ? plan_.bounds() : bounds_of(region_);
  bounds_ = wanted;
  bool is_cut = false;
  for (int k = 0; k < 2; ++k) {
    bounds_.lower[k] = std::max(wanted.lower[k], domain.lower[k]);
    bounds_.upper[k] = std::min(wanted.upper[k], domain.upper[k]);
    is_cut = is_cut || bounds_.lower[k] != wanted.lower[k] || bounds_.upper[k] != wanted.upper[k];
    bounds_.periodic[k] =
        domain.is_periodic(k) && bounds_.lower[k] == domain.lower[k] && bounds_.upper[k] == domain.upper[k];
  }
  if (!bounds_.is_empty()) {
    const Ring whole{bounds_.lower,
                     {{bounds_.upper[0], bounds_.lower[1]}},
                     bounds_.upper,
                     {{bounds_.lower[0], bounds_.upper[1]}}};
    area_ = plan_.free_area(region_.empty() ? whole
                            : is_cut        ? clipped(region_, bounds_)
                                            : region_,
                            kept_free_);
  }
  if (!(area_ > 0))
    throw InputError(fmt::format("{}: nothing of the region ({:g}, {:g}) to ({:g}, {:g}) m is walkable",
                                 where, wanted.lower[0], wanted.lower[1], wanted.upper[0], wanted.upper[1]));
}

bool StartSpace::holds(const Vec<2>& x) const {
  if (!bounds_.contains(x)) return false;
  if (!region_.empty() && !ring_contains(region_, x)) return false;
  for (const Ring& ring : kept_free_)
    if (ring_contains(ring, x)) return false;
  return plan_.contains(x);
}

Vec<2> StartSpace::draw(RandomStream& stream, Real) const {
  // Enough for a region that takes 1 part in 1000 of the box around it; a point that is not held is not free.
  constexpr int max_tries = 10000;
  Vec<2> x;
  for (int n = 0; n < max_tries; ++n) {
    for (int k = 0; k < 2; ++k) x[k] = stream.uniform(bounds_.lower[k], bounds_.upper[k]);
    if (holds(x)) break;
  }
  return x;
}

std::vector<char> StartSpace::free(std::span<const Vec<2>> x, std::span<const Real> radius) const {
  std::vector<char> is_free(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    is_free[i] = holds(x[i]) && !obstacles_.touches(x[i], radius[i]) ? 1 : 0;
  return is_free;
}

Real StartSpace::usable_area(Real diameter) const {
  if (region_.empty()) return area_;
  const Real perimeter = 2 * (bounds_.length(0) + bounds_.length(1));
  const Real row = std::sqrt(3.0) / 2 * diameter;
  return area_ + perimeter * row / 2 + row * diameter;
}

std::string StartSpace::text() const {
  return fmt::format("the {} ({:g}, {:g}) to ({:g}, {:g}) m with {:.4g} m2 free",
                     region_.empty() ? "plan" : "region", bounds_.lower[0], bounds_.lower[1],
                     bounds_.upper[0], bounds_.upper[1], area_);
}

}  // namespace scree
