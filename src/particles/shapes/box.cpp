#include "particles/shapes/made_shape.hpp"

namespace scree {
namespace {

/// A box, or a rectangle in the plane, with its centre at the origin and edges along the axes.
template <int D>
class BoxBody final : public MadeShape<D> {
 public:
  void describe(Section& section) override {
    section.point<D>("size", size_,
                     {.unit = Unit::length,
                      .range = positive,
                      .required = true,
                      .doc = "Lengths of the edges along x, y[, z] of the body"});
    this->describe_rounding(section);
    if (section.reading())
      this->set(this->with_place(section, [&] { return box_shape<D>(size_, this->rounding()); }));
  }

 private:
  Vec<D> size_{};
};

}  // namespace

SCREE_PLUGIN(ShapeKind, box, BoxBody, "box with round edges; a rectangle in the plane")

}  // namespace scree
