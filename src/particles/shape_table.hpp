#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/section.hpp"
#include "geometry/convex/core.hpp"
#include "geometry/convex/manifold.hpp"
#include "geometry/convex/shape.hpp"
#include "particles/body_store.hpp"

namespace scree {

/// A kind of [shapes.NAME].
template <int D>
class ShapeKind {
 public:
  virtual ~ShapeKind() = default;
  /// Declares and reads the table; stops with the place in the deck if no body can have this shape.
  virtual void describe(Section& section) = 0;
  /// After describe() has read a deck.
  virtual const ConvexShape<D>& shape() const = 0;
};

template <>
std::span<const Entry<ShapeKind<2>>> registry<ShapeKind<2>>();
template <>
std::span<const Entry<ShapeKind<3>>> registry<ShapeKind<3>>();

/// A shape that bodies may have, ready to be met.
template <int D>
struct BodyShape {
  BodyShape(std::string with_name, ConvexShape<D> form);

  std::string name;
  ConvexShape<D> form;
  ConvexCore<D> core;
  /// Principal moments over mass, of size 1.
  Vec<n_spins<D>> moments;
  /// Turns the frame in which the shape was described to body axes.
  Orientation<D> to_body_axes;
};

/// The shapes of a run, the same on all ranks. Number 0 is the sphere; then come those of the deck in its
/// order. The field `shape` of bodies holds these numbers. A body of radius R (that of its circumscribed
/// sphere) is R times as large as its shape.
template <int D>
class ShapeTable {
 public:
  ShapeTable();

  /// Declares and reads [shapes.NAME].
  void describe(Section& root);
  void add(BodyShape<D> shape) { shapes_.push_back(std::move(shape)); }

  std::int32_t size() const { return static_cast<std::int32_t>(shapes_.size()); }
  bool only_spheres() const { return size() == 1; }
  const BodyShape<D>& operator[](std::int32_t number) const { return shapes_[number]; }
  /// The number of a name; -1: there is none.
  std::int32_t find(const std::string& name) const;
  /// All names but that of the sphere.
  std::vector<std::string> names() const;

  /// Of a body [m3; 2D: m2].
  Real volume(std::int32_t number, Real radius) const;
  /// Radius of the sphere of that volume [m].
  Real radius_of_equal_sphere(std::int32_t number, Real radius) const {
    return number == 0 ? radius
                       : radius * std::pow((*this)[number].form.volume / (*this)[0].form.volume, 1.0 / D);
  }
  /// Principal moments of inertia [kg m2].
  Vec<n_spins<D>> moments(std::int32_t number, Real mass, Real radius) const {
    return mass * radius * radius * (*this)[number].moments;
  }
  /// Radius of the largest sphere about the centre of mass inside of the body [m].
  Real inscribed_radius(std::int32_t number, Real radius) const {
    return radius * (*this)[number].form.inscribed_radius;
  }
  Real rounding(std::int32_t number, Real radius) const { return radius * (*this)[number].form.rounding; }

  /// Of contacts between bodies in nonsmooth dynamics, which sets it.
  NormalsOf normals = NormalsOf::closest_points;

 private:
  std::vector<BodyShape<D>> shapes_;
};

}  // namespace scree
