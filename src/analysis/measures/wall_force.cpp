#include <fmt/core.h>

#include <algorithm>

#include "analysis/measure.hpp"
#include "core/error.hpp"

namespace scree {
namespace {

/// Sum of the normal reactions that bodies exert on each obstacle, positive where they push along the axis.
template <int D>
class WallForce final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.texts("obstacles", names_, {.doc = "names of the obstacles; none given: all of them"});
    if (section.reading()) where_ = section.where("obstacles");
  }

  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    std::vector<ColumnInfo> columns;
    for (const std::size_t obstacle : chosen(state.obstacles)) {
      const std::string& name = state.obstacles.list()[obstacle].name;
      for (int k = 0; k < D; ++k)
        columns.push_back({fmt::format("force_{}_{}", name, "xyz"[k]), "m/s",
                           fmt::format("force of the bodies on {} along {}, per mobility", name, "xyz"[k])});
    }
    return columns;
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    const ContactGraph<D>& contacts = sample.contacts;
    const ObstacleSet<D>& obstacles = sample.state.obstacles;
    const std::vector<std::size_t> shown = chosen(obstacles);
    if (shown.empty()) return;
    std::vector<std::size_t> walls;  // contacts with obstacles
    for (std::size_t c = 0; c < contacts.size(); ++c)
      if (contacts.b[c] < 0) walls.push_back(c);

    std::vector<Real> total(obstacles.list().size() * D);
    ReproducibleSum::sum(sample.state.comm, walls.size(), total, [&](std::size_t i, std::span<Real> term) {
      const std::size_t c = walls[i];
      const auto obstacle = static_cast<std::size_t>(obstacles.obstacle_of(contacts.wall[c]));
      std::ranges::fill(term, 0.0);
      for (int k = 0; k < D; ++k)
        term[obstacle * D + static_cast<std::size_t>(k)] = contacts.force[c] * contacts.normal[c][k];
    });
    for (const std::size_t obstacle : shown)
      for (std::size_t k = 0; k < D; ++k) row.push_back(total[obstacle * D + k]);
  }

 private:
  /// Indices of the obstacles to show.
  std::vector<std::size_t> chosen(const ObstacleSet<D>& obstacles) const {
    const auto list = obstacles.list();
    std::vector<std::size_t> indices;
    if (names_.empty())
      for (std::size_t i = 0; i < list.size(); ++i) indices.push_back(i);
    for (const std::string& name : names_) {
      const auto found = std::ranges::find(list, name, &Obstacle<D>::name);
      if (found == list.end()) {
        std::string known;
        for (const Obstacle<D>& obstacle : list) known += (known.empty() ? "" : ", ") + obstacle.name;
        throw InputError(fmt::format("{}: there is no obstacle '{}'; the deck has {}", where_, name,
                                     known.empty() ? "none" : known));
      }
      indices.push_back(static_cast<std::size_t>(found - list.begin()));
    }
    return indices;
  }

  std::vector<std::string> names_;
  std::string where_;
};

}  // namespace

SCREE_PLUGIN(Measure, wall_force, WallForce, "sum of the forces on obstacles")

}  // namespace scree
