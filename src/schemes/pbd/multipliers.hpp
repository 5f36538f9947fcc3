#pragma once
#include "schemes/common/contact_field.hpp"
#include "schemes/common/point_values.hpp"

namespace scree {

/// The multipliers l of all candidate contacts: by how much they have pushed [m, per mobility]. Of spheres
/// one for each candidate; where some bodies have shapes, one for each point of it, with the point's name.
template <int D>
class PbdMultipliers {
 public:
  /// Of the points of two bodies, or of a body and a wall: l n, on the larger id or the obstacle.
  using Points = PointValues<D>;

  /// Fits the present candidates and takes what bodies remember of them. After every rebuild. Local.
  void restore(const State<D>& state, const Neighborhood<D>& neighborhood) {
    has_shapes_ = state.bodies.carries_shapes();
    visit(*this, [&](auto& field) { field.restore(state, neighborhood); });
  }
  /// All of it as the memory of the owned bodies. Collective.
  ContactMemory remember(const State<D>& state, const Neighborhood<D>& neighborhood) const {
    return visit(*this, [&](const auto& field) { return field.remember(state, neighborhood); });
  }
  void clear() {
    visit(*this, [](auto& field) { field.clear(); });
  }

  /// Of contact c, 0 if a point was not there in the last sweep.
  Real of(const ContactGraph<D>& contacts, std::size_t c) const {
    if (!has_shapes_) return spheres_.of(contacts, c);
    for (const auto& point : points_.of(contacts, c).point)
      if (point.feature == Real(contacts.feature[c]) && point.value != Vec<D>{}) return norm(point.value);
    return 0;
  }

  // Of spheres, by place.
  std::span<Real> pairs() { return spheres_.pairs(); }
  std::span<const Real> pairs() const { return spheres_.pairs(); }
  std::span<Real> walls() { return spheres_.walls(); }
  std::span<const Real> walls() const { return spheres_.walls(); }
  const ContactField<Real>& of_spheres() const { return spheres_; }
  // Where some bodies have shapes, by place.
  std::span<Points> points_of_pairs() { return points_.pairs(); }
  std::span<Points> points_of_walls() { return points_.walls(); }

 private:
  /// Calls f with the field in use.
  template <class Self, class F>
  static auto visit(Self& self, F&& f) {
    return self.has_shapes_ ? f(self.points_) : f(self.spheres_);
  }

  bool has_shapes_ = false;
  ContactField<Real> spheres_;
  ContactField<Points> points_;
};

}  // namespace scree
