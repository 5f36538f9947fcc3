#pragma once
#include <algorithm>

#include "geometry/convex/manifold.hpp"
#include "particles/initial_packing.hpp"
#include "particles/packing/region.hpp"

namespace scree {

/// Whether bodies have room by their true shapes, instead of their circumscribed spheres. Local.
template <int D>
class TrueFit {
 public:
  /// What is given must outlive it. `clearance`: smallest gap of bodies, and of bodies and obstacles [m].
  TrueFit(const Box<D>& box, const ShapeTable<D>& shapes, const Region<D>& region,
          const ObstacleSet<D>& obstacles, Real clearance)
      : box_(box), shapes_(shapes), region_(region), obstacles_(obstacles), clearance_(clearance) {}

  /// Of the largest sphere about the centre inside [m].
  Real inscribed_radius(const NewBody<D>& body) const {
    return shapes_.inscribed_radius(body.shape, body.radius);
  }
  /// Whether two bodies are too close, where they are: no periodic images. The same whichever comes first.
  bool meet(const NewBody<D>& one, const NewBody<D>& other) const {
    const NewBody<D>&a = one.id < other.id ? one : other, &b = one.id < other.id ? other : one;
    const BodyPose<D> pose_a = pose(a, {}), pose_b = pose(b, b.position - a.position);
    const Manifold<D> found =
        contact_points<D>({core(a), pose_a}, {core(b), pose_b}, rounding(a), rounding(b), clearance_, 0);
    return std::any_of(found.points.begin(), found.points.begin() + found.n,
                       [&](const auto& point) { return point.gap < clearance_; });
  }
  bool is_in_region(const NewBody<D>& body) const {
    const BodyPose<D> where = pose(body, body.position);
    return std::ranges::all_of(core(body).vertices(), [&](const Vec<D>& corner) {
      return region_.holds(where.place(corner), rounding(body));
    });
  }
  /// Whether it is too close to an obstacle that its inscribed sphere has room for. O(obstacles), and what is
  /// near.
  bool meets_obstacle(const NewBody<D>& body) const {
    const Vec<D> x = wrapped(box_, body.position);
    const BodyPose<D> where = pose(body, x);
    const Real reach = body.radius + clearance_;
    for (int o = 0; o < static_cast<int>(obstacles_.list().size()); ++o)
      for (const int image : obstacles_.images_of(o)) {
        obstacles_.find_near(o, image, {&x, 1}, {&reach, 1}, box_, near_);
        for (const auto& entry : near_.found) {
          WallContacts<D> found;
          obstacles_.touch(obstacles_.first_constraint(o, image) + entry.part, core(body), where,
                           rounding(body), x, clearance_, 0, found);
          for (int k = 0; k < found.n; ++k)
            if (found.points[k].gap < clearance_) return true;
        }
      }
    return false;
  }

 private:
  const ConvexCore<D>& core(const NewBody<D>& body) const { return shapes_[body.shape].core; }
  Real rounding(const NewBody<D>& body) const { return shapes_.rounding(body.shape, body.radius); }
  BodyPose<D> pose(const NewBody<D>& body, const Vec<D>& centre) const {
    return {centre, axes_of<D>(body.orientation), body.radius};
  }

  const Box<D>& box_;
  const ShapeTable<D>& shapes_;
  const Region<D>& region_;
  const ObstacleSet<D>& obstacles_;
  Real clearance_;
  mutable NearParts<D> near_;
};

}  // namespace scree
