#include "crowd/people/start_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "crowd/plan/ring.hpp"
#include "particles/fill/region.hpp"

namespace scree {

NearObstacles::NearObstacles(const ObstacleSet<2>& obstacles, std::span<const Exit> exits,
                             const Box<2>& domain, Real reach)
    : obstacles_(obstacles), lower_(domain.lower), reach_(reach) {
  for (const Exit& exit : exits)
    if (!exit.line.empty() && exit.ever_closes()) doors_.emplace_back(exit.line[0], exit.line[1]);

  constexpr Real most_cells = 1 << 22;
  cell_ = std::max(2 * reach, std::sqrt(domain.volume() / most_cells));
  for (int k = 0; k < 2; ++k)
    count_[static_cast<std::size_t>(k)] = 1 + static_cast<std::int64_t>(domain.length(k) / cell_);
  update(domain);
}

void NearObstacles::update(const Box<2>& domain) {
  // A cell lists what may be within reach of any of its points; distances change no faster than places.
  const Real far = reach_ + cell_ / std::numbers::sqrt2;
  struct Listed {
    std::size_t cell;
    int constraint;
  };
  std::vector<Listed> listed;
  for (int constraint = 0; constraint < obstacles_.n_constraints(); ++constraint) {
    if (!obstacles_.active(obstacles_.obstacle_of(constraint))) continue;
    const Box<2> bounds = obstacles_.bounds(constraint, domain);
    if (bounds.is_empty()) continue;
    std::array<std::int64_t, 2> low{}, high{};
    for (int k = 0; k < 2; ++k) {
      const auto axis = static_cast<std::size_t>(k);
      const auto slot = [&](Real x) {
        return static_cast<std::int64_t>(
            std::clamp(std::floor((x - lower_[k]) / cell_), 0.0, static_cast<Real>(count_[axis] - 1)));
      };
      low[axis] = slot(bounds.lower[k] - reach_);
      high[axis] = slot(bounds.upper[k] + reach_);
    }
    for (std::int64_t j = low[1]; j <= high[1]; ++j)
      for (std::int64_t i = low[0]; i <= high[0]; ++i) {
        const Vec<2> centre{{lower_[0] + (static_cast<Real>(i) + 0.5) * cell_,
                             lower_[1] + (static_cast<Real>(j) + 0.5) * cell_}};
        SurfacePoint<2> point;
        obstacles_.distances(constraint, {&centre, 1}, {&point, 1});
        if (point.distance <= far)
          listed.push_back({static_cast<std::size_t>(j * count_[0] + i), constraint});
      }
  }
  first_.assign(static_cast<std::size_t>(count_[0] * count_[1]) + 1, 0);
  for (const Listed& entry : listed) ++first_[entry.cell + 1];
  for (std::size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
  constraint_.resize(listed.size());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const Listed& entry : listed) constraint_[next[entry.cell]++] = entry.constraint;
}

std::size_t NearObstacles::cell_of(const Vec<2>& x) const {
  std::int64_t cell = 0;
  for (int k = 1; k >= 0; --k) {
    const std::int64_t n = count_[static_cast<std::size_t>(k)];
    cell = cell * n + static_cast<std::int64_t>(
                          std::clamp(std::floor((x[k] - lower_[k]) / cell_), 0.0, static_cast<Real>(n - 1)));
  }
  return static_cast<std::size_t>(cell);
}

bool NearObstacles::touches(const Vec<2>& x, Real radius) const {
  bool is_touched = false;
  for_each_near(x, [&](Real distance, const Vec<2>&) { is_touched = is_touched || distance < radius; });
  return is_touched;
}

StartSpace::StartSpace(const FloorPlan& plan, const NearObstacles& obstacles, std::span<const Exit> exits,
                       const Box<2>& domain, Ring region, const std::string& where)
    : plan_(plan), obstacles_(obstacles), domain_(domain), region_(std::move(region)) {
  for (const Exit& exit : exits) {
    if (!exit.pocket.empty())
      kept_free_.push_back(exit.pocket);
    else
      kept_free_.insert(kept_free_.end(), exit.regions.begin(), exit.regions.end());
  }
  const Box<2> wanted = region_.empty() ? plan.bounds() : bounds_of(region_);
  bounds_ = wanted;
  bool is_cut = false;
  for (int k = 0; k < 2; ++k) {
    bounds_.lower[k] = std::max(wanted.lower[k], domain.lower[k]);
    bounds_.upper[k] = std::min(wanted.upper[k], domain.upper[k]);
    is_cut = is_cut || bounds_.lower[k] != wanted.lower[k] || bounds_.upper[k] != wanted.upper[k];
    bounds_.periodic[static_cast<std::size_t>(k)] =
        domain.is_periodic(k) && bounds_.lower[k] == domain.lower[k] && bounds_.upper[k] == domain.upper[k];
  }
  if (!bounds_.is_empty()) {
    const Ring whole{bounds_.lower,
                     {{bounds_.upper[0], bounds_.lower[1]}},
                     bounds_.upper,
                     {{bounds_.lower[0], bounds_.upper[1]}}};
    area_ = plan.free_area(region_.empty() ? whole
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
  constexpr int most_tries = 10000;
  Vec<2> x;
  for (int n = 0; n < most_tries; ++n) {
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
