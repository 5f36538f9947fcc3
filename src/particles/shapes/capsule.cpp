#include "particles/shapes/made_shape.hpp"

namespace scree {
namespace {

/// A cylinder along x of the body with hemispheres at its ends; a rectangle with half disks in the plane.
template <int D>
class CapsuleBody final : public MadeShape<D> {
 public:
  void describe(Section& section) override {
    section.real("length", length_,
                 {.unit = Unit::length,
                  .range = positive,
                  .required = true,
                  .doc = "Length of the cylinder, without the hemispheres at its ends; along x of the body"});
    section.real("width", width_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "Diameter"});
    if (section.reading())
      this->set(this->with_place(section, [&] { return capsule_shape<D>(length_, 0.5 * width_); }));
  }

 private:
  Real length_ = 0, width_ = 0;
};

}  // namespace

SCREE_PLUGIN(ShapeKind, capsule, CapsuleBody, "cylinder with round ends: a rod, a fibre")

}  // namespace scree
