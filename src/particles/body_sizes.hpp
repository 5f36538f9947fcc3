#pragma once
#include <memory>
#include <vector>

#include "core/random.hpp"
#include "core/section.hpp"
#include "particles/shape_table.hpp"

namespace scree {

/// Radii of a group of bodies.
template <int D>
class RadiusDistribution {
 public:
  virtual ~RadiusDistribution() = default;
  virtual void describe(Section& section) = 0;
  virtual Real draw(RandomStream& stream) const = 0;  ///< [m]
  virtual Real largest() const = 0;                   ///< no draw exceeds it [m]
  virtual Real mean_volume() const = 0;               ///< mean of pi r^2 (2D) or 4/3 pi r^3 (3D)
};

/// How large a body is: the radius of its circumscribed sphere [m], and its shape in the ShapeTable.
struct BodySize {
  Real radius = 0;
  std::int32_t shape = 0;
};

/// Shapes of a group of bodies and how large they are: radii as distributed, or each shape as the deck
/// describes it. Without shapes all are spheres.
template <int D>
class BodySizes {
 public:
  /// Declares and reads the keys radius, shape, shapes and shares. `shapes`: those of the deck.
  void describe(Section& section, const ShapeTable<D>& shapes);

  /// False: nothing says how large bodies are.
  bool known() const { return radius_ != nullptr || !kinds_.empty(); }
  /// Whether the deck gives radii.
  bool has_radii() const { return radius_ != nullptr; }
  bool has_shapes() const { return !kinds_.empty(); }
  BodySize draw(RandomStream& stream) const;
  /// The shape of a body whose radius is given [m].
  std::int32_t draw_shape(RandomStream& stream) const;
  /// No radius that is drawn exceeds it [m].
  Real largest() const;
  /// Of bodies, without what is around them in their circumscribed spheres [m3; 2D: m2].
  Real mean_volume() const;

 private:
  struct Kind {
    std::int32_t shape;
    Real up_to;       // sum of the shares of this and those before
    Real share;       // of all, 0 to 1
    Real own_radius;  // of the shape as described [m]
    Real volume;      // of it [m3]
    Real of_sphere;   // volume over that of its circumscribed sphere
  };
  const Kind& kind_at(Real share) const;

  std::unique_ptr<RadiusDistribution<D>> radius_;
  std::vector<Kind> kinds_;
};

template <>
std::span<const Entry<RadiusDistribution<2>>> registry<RadiusDistribution<2>>();
template <>
std::span<const Entry<RadiusDistribution<3>>> registry<RadiusDistribution<3>>();

}  // namespace scree
