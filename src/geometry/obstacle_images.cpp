// What ObstacleSet knows of the images of obstacles through periodic faces.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "geometry/driven_motion.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

namespace {

constexpr Real equal = 1e-6;  // lengths that differ by this share of a period are meant to be the same

/// Whether the surface keeps bodies in: far away is solid.
template <int D>
bool holds_bodies(const Shape<D>& shape, const Box<D>& own) {
  if (shape.is_thin()) return false;
  return !shape.has_far_side() || shape.closest(own.upper + (own.upper - own.lower)).distance < 0;
}

/// Whether all is solid far away on one side of a surface along an axis, and free on the other.
template <int D>
bool is_half_space(const Shape<D>& shape, const Pose<D>& pose, const Box<D>& surface, int axis) {
  if (shape.is_thin()) return false;
  const Vec<D> displacement = unit_vector<D>(axis, 1 + surface.length(axis));
  const auto is_solid = [&](const Vec<D>& x) { return shape.closest(pose.to_own(x)).distance < 0; };
  return is_solid(surface.centre() + displacement) != is_solid(surface.centre() - displacement);
}

/// Whether a surface is as far from one face across an axis as from the other, at a grid of points.
template <int D>
bool is_alike_at_faces(const Shape<D>& shape, const Pose<D>& pose, const Box<D>& box, int axis) {
  constexpr int n_along = 9;
  int n = 1;
  for (int k = 1; k < D; ++k) n *= n_along;
  for (int i = 0; i < n; ++i) {
    Vec<D> x = box.lower;
    for (int k = 0, digits = i; k < D; ++k) {
      if (k == axis) continue;
      x[k] += (digits % n_along) * box.length(k) / (n_along - 1);
      digits /= n_along;
    }
    const Real low = shape.closest(pose.to_own(x)).distance,
               high = shape.closest(pose.to_own(x + box.period(axis))).distance;
    if (!(std::abs(low - high) <= equal * box.length(axis))) return false;
  }
  return true;
}

/// Where the surface of an obstacle goes through the periodic faces of a domain. Throws InputError where it
/// has no images to make sense of.
template <int D>
class Periods {
 public:
  Periods(const Obstacle<D>& obstacle, const Pose<D>& pose, const Box<D>& box, Real longest)
      : obstacle_(obstacle), shape_(*obstacle.shape), pose_(pose), box_(box), longest_(longest) {
    for (const Vec<D>& point : shape_.outline(own_box(pose, far())).points)
      tight_.include(pose.to_world(point));
  }

  bool needs_image_along(int axis) const {
    if (!box_.is_periodic(axis) || goes_on_along(axis) || tight_.is_empty()) return false;
    const Real from = tight_.lower[axis], to = tight_.upper[axis], length = to - from;
    const Real period = box_.length(axis), rounding = equal * period;
    if (length > 10 * longest_ || is_half_space(shape_, pose_, tight_, axis)) {
      if (is_alike_at_faces(shape_, pose_, box_, axis)) return false;  // a plate with a hole in the middle
      refuse(
          fmt::format("goes on for ever, but not along the periodic axis {0}: it has no images through the "
                      "faces of the domain; make {0} open, or turn it along an axis",
                      "xyz"[axis]));
    }
    const bool covers = from <= box_.lower[axis] + rounding && to >= box_.upper[axis] - rounding;
    if (length > period + rounding && !covers)
      refuse(fmt::format(
          "reaches from {:g} to {:g} m along the periodic axis {}: it is longer than the "
          "period of {:g} m, so that its images would overlap it, and does not reach from face to "
          "face; let it end at both faces, or go beyond both",
          from, to, "xyz"[axis], period));
    // From face to face too: between two lists bodies go on beyond the faces.
    return length <= period + rounding;
  }

 private:
  Box<D> far() const { return box_.grown(filled<D>(100 * longest_)); }
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(
        fmt::format("{}: obstacle \"{}\" {} ([domain] periodic)", obstacle_.where, obstacle_.name, why));
  }
  bool is_along(const Pose<D>& at, int axis) const {
    const Pose<D> next{.translation = at.direction_to_own(box_.period(axis))};
    return shape_.travel(next, own_box(at, far())) <= equal * box_.length(axis);
  }
  /// Whether it goes on unchanged along an axis, wherever its motion takes it.
  bool goes_on_along(int axis) const {
    if (!is_along(pose_, axis)) return false;
    if (!obstacle_.can_move()) return true;
    for (const Real at : {0.01, 0.1, 0.3, 1.0, 3.0}) {  // times, or positions of a driven wall [m], [rad]
      if (obstacle_.motion) require_along(obstacle_.motion->pose(at), axis);
      for (const auto& direction : obstacle_.driven_motions) require_along(direction->pose(at), axis);
    }
    return true;
  }
  void require_along(const Pose<D>& moved, int axis) const {
    if (is_along(obstacle_.placed(moved), axis)) return;
    refuse(
        fmt::format("goes on for ever, and its motion turns it away from the periodic axis {0}: it "
                    "has no images through the faces of the domain; make {0} open, or the obstacle "
                    "finite",
                    "xyz"[axis]));
  }

  const Obstacle<D>& obstacle_;
  const Shape<D>& shape_;
  const Pose<D>& pose_;
  const Box<D>& box_;
  Real longest_;                    // of the lengths of the domain
  Box<D> tight_ = Box<D>::empty();  // around the surface
};

}  // namespace

template <int D>
void ObstacleSet<D>::set_domain(const Box<D>& box) {
  domain_ = box;
  if (std::ranges::find(box.periodic, true) == box.periodic.end()) return;
  Real longest = 0;
  for (int k = 0; k < D; ++k) longest = std::max(longest, box.length(k));
  for (std::size_t i = 0; i < obstacles_.size(); ++i) {
    const Obstacle<D>& obstacle = obstacles_[i];
    if (!obstacle.from_deck) continue;
    const Pose<D> pose = obstacle.placed(obstacle.motion ? obstacle.motion->pose(0) : Pose<D>{});
    const Periods<D> periods(obstacle, pose, box, longest);
    std::array<bool, D>& along = images_[i].along;
    for (int k = 0; k < D; ++k) along[k] = periods.needs_image_along(k);
    if (std::ranges::find(along, true) == along.end()) continue;
    poses_.resize(obstacles_.size());
    poses_[i] = pose;
    make_images(i, box.grown(filled<D>(longest)));
  }
}

/// Those of an obstacle of which it is known along which axes it has them; `near`: cuts what is unbounded.
template <int D>
void ObstacleSet<D>::make_images(std::size_t obstacle, const Box<D>& near) {
  Images& images = images_[obstacle];
  const Shape<D>& shape = *obstacles_[obstacle].shape;
  for (int part = 0; part < shape.n_parts(); ++part) {
    const Box<D> bounds = shape.bounds(part, own_box(poses_[obstacle], near));
    if (bounds.is_empty()) continue;
    images.own.include(bounds.lower);
    images.own.include(bounds.upper);
  }
  images.is_container = holds_bodies(shape, images.own);
  images.codes.clear();
  int n_codes = 1;
  for (int k = 0; k < D; ++k) n_codes *= 3;
  for (int code = 0; code < n_codes; ++code) {
    bool exists = true;
    for (int k = 0, digits = code; k < D; ++k, digits /= 3)
      exists = exists && (digits % 3 == 0 || images.along[k]);
    if (exists) images.codes.push_back(code);
  }
  images.shift.resize(n_codes);
  n_images_ = n_codes;
  place_images(obstacle);
}

template <int D>
void ObstacleSet<D>::place_images(std::size_t obstacle) {
  Images& images = images_[obstacle];
  const Pose<D>& pose = poses_[obstacle];
  const Box<D> world = world_box(pose, images.own);
  images.lower = world.lower;
  images.upper = world.upper;
  const Vec<D> middle = pose.to_world(images.own.centre());
  for (std::size_t code = 0; code < images.shift.size(); ++code) {
    int digits = static_cast<int>(code);
    for (int k = 0; k < D; ++k, digits /= 3) {
      if (!images.along[k]) continue;
      const int min = -1 - static_cast<int>(std::floor((middle[k] - domain_.lower[k]) / domain_.length(k)));
      const int beyond = ((digits % 3 - min) % 3 + 3) % 3;
      images.shift[code][k] = (min + beyond) * domain_.length(k);
    }
  }
}

template <int D>
bool ObstacleSet<D>::may_reach(int obstacle, int image, const Box<D>& around) const {
  const Images& images = images_[obstacle];
  if (images.shift.empty()) return true;
  const Vec<D>& shift = images.shift[image];
  for (int k = 0; k < D; ++k)
    if (images.along[k] &&
        !(images.lower[k] + shift[k] <= around.upper[k] && images.upper[k] + shift[k] >= around.lower[k]))
      return false;
  return true;
}

/// Whether a point is nearer to this container than to its other images; `x`: as the obstacle itself sees it.
template <int D>
bool ObstacleSet<D>::is_in_container(std::size_t obstacle, const Vec<D>& x) const {
  const Images& images = images_[obstacle];
  const Vec<D> from_middle = x - poses_[obstacle].to_world(images.own.centre());
  for (int k = 0; k < D; ++k)
    if (images.along[k] && std::round(from_middle[k] / domain_.length(k)) != 0) return false;
  return true;
}

#define SCREE_IMAGES(D)                                                   \
  template void ObstacleSet<D>::set_domain(const Box<D>&);                \
  template void ObstacleSet<D>::make_images(std::size_t, const Box<D>&);  \
  template void ObstacleSet<D>::place_images(std::size_t);                \
  template bool ObstacleSet<D>::may_reach(int, int, const Box<D>&) const; \
  template bool ObstacleSet<D>::is_in_container(std::size_t, const Vec<D>&) const;
SCREE_IMAGES(2)
SCREE_IMAGES(3)
#undef SCREE_IMAGES

}  // namespace scree
