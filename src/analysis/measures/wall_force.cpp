#include <fmt/core.h>

#include <algorithm>

#include "analysis/contacts.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"
#include "core/error.hpp"

namespace scree {
namespace {

/// What bodies exert on each obstacle: with f_c the force at a contact, normal reaction and friction, and x_c
/// its foot point on the obstacle,
///     force = sum_c f_c [N],   torque = sum_c (x_c - point) x f_c + q_c [N m]
/// with q_c that of rolling friction.
/// Disks count as 1 m thick. First-order schemes know the normal reaction per mobility [m/s] only, and no
/// torque. In periodic domains x_c is the foot point on the obstacle as it stands, whichever of its images
/// the body touches; of one that has no images, next to the image of the body in the domain.
template <int D>
class WallForce final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.texts("obstacles", names_, {.doc = "names of the obstacles; none given: all of them"});
    section.point("point", point_,
                  {.unit = Unit::length, .doc = "reference point of torques, in schemes with inertia"});
    if (section.reading()) this->where_ = section.where("obstacles");
  }

  void check(const State<D>& state) const override { chosen(state.obstacles); }

  bool needs_forces() const override { return true; }
  MeasuredRow record(const Sample<D>& sample) override {
    const ContactGraph<D>& contacts = sample.contacts;
    const ObstacleSet<D>& obstacles = sample.state.obstacles;
    const std::vector<std::size_t> shown = chosen(obstacles);
    if (shown.empty()) return {};
    std::vector<std::size_t> walls;  // contacts with obstacles
    for (std::size_t c = 0; c < contacts.size(); ++c)
      if (contacts.b[c] < 0) walls.push_back(c);

    const bool inertia = sample.state.bodies.has_inertia();
    const std::size_t width = D + (inertia ? n_spins<D> : 0);
    std::vector<Real> total(obstacles.list().size() * width);
    ReproducibleSum::sum(sample.state.comm, walls.size(), total, [&](std::size_t i, std::span<Real> term) {
      const std::size_t c = walls[i];
      const std::size_t obstacle = obstacles.obstacle_of(contacts.wall[c]);
      std::ranges::fill(term, 0.0);
      const auto part = term.subspan(obstacle * width, width);
      const Vec<D> force = force_on_b(contacts, c);
      std::ranges::copy(force.component, part.begin());
      if (width == D) return;
      Vec<D> centre = sample.state.bodies.position()[contacts.a[c]];
      if (obstacles.images_of(static_cast<int>(obstacle)).size() > 1)
        centre = obstacles.at_obstacle(contacts.wall[c], centre);
      else
        centre = wrapped(sample.state.box, centre);
      Spin<D> turns = torque(centre + contacts.branch[c] - point_, force);
      if (!contacts.rolling.empty()) turns += contacts.rolling[c];
      std::ranges::copy(turns.component, part.begin() + D);
    });
    MeasuredRow row;
    for (const std::size_t obstacle : shown) {
      const std::string& name = obstacles.list()[obstacle].name;
      const Real* value = &total[obstacle * width];
      for (int k = 0; k < D; ++k)
        row.push_back({fmt::format("force_{}_{}", name, "xyz"[k]), inertia ? "N" : "m/s",
                       fmt::format("force of the bodies on {} along {}{}", name, "xyz"[k],
                                   inertia ? "" : ", per mobility"),
                       *value++});
      for (std::size_t k = 0; inertia && k < n_spins<D>; ++k)
        row.push_back(
            {D == 2 ? "torque_" + name : fmt::format("torque_{}_{}", name, "xyz"[k]), "N m",
             D == 2 ? fmt::format("torque of the bodies on {} about the point, counter-clockwise", name)
                    : fmt::format("torque of the bodies on {} about the point, about {}", name, "xyz"[k]),
             *value++});
    }
    return row;
  }

 private:
  static Spin<D> torque(const Vec<D>& lever, const Vec<D>& force) {
    if constexpr (D == 2)
      return {{lever[0] * force[1] - lever[1] * force[0]}};
    else
      return cross(lever, force);
  }

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
        throw InputError(fmt::format("{}: there is no obstacle '{}'; the deck has {}", this->where_, name,
                                     known.empty() ? "none" : known));
      }
      indices.push_back(static_cast<std::size_t>(found - list.begin()));
    }
    return indices;
  }

  std::vector<std::string> names_;
  Vec<D> point_{};
};

}  // namespace

SCREE_PLUGIN(Measure, wall_force, WallForce, "force and torque on obstacles")

}  // namespace scree
