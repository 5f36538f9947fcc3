#include <algorithm>

#include "analysis/continuum/kernel.hpp"

namespace scree {
namespace {

/// W = 1 / width^D in the cube of this edge about the centre, from its lower faces up to but not including
/// the upper ones: fields are the means over the cube, as those of the measure `stress`.
template <int D>
class BoxKernel final : public SmoothingKernel<D> {
 public:
  void describe(Section& section) override {
    section.real("width", width_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "edge of the cube"});
  }
  Real reach() const override { return 0.5 * width_; }
  Real width() const override { return width_; }
  Real variance() const override { return width_ * width_ / 12; }
  Real weight(const Vec<D>& r) const override {
    Real w = 1;
    for (int k = 0; k < D; ++k) w *= weight_along(r[k]);
    return w;
  }
  Real line(const Vec<D>& r, const Vec<D>& l) const override {
    Real begin = 0, end = 1, density = 1;
    for (int k = 0; k < D; ++k) {
      clip(r[k], l[k], begin, end);
      density /= width_;
    }
    return std::max<Real>(end - begin, 0) * density;
  }
  // r is the place of the field from that of the body: the body lies in [-w/2, w/2) of the cube.
  Real weight_along(Real x) const override {
    return -x >= -0.5 * width_ && -x < 0.5 * width_ ? 1 / width_ : 0;
  }
  Real line_along(Real x, Real l) const override {
    Real begin = 0, end = 1;
    clip(x, l, begin, end);
    return std::max<Real>(end - begin, 0) / width_;
  }

 private:
  /// Keeps of [begin, end] the s for which x - s l is in the box.
  void clip(Real x, Real l, Real& begin, Real& end) const {
    if (l == 0) {
      if (weight_along(x) == 0) end = begin;
      return;
    }
    const Real a = (x - 0.5 * width_) / l, b = (x + 0.5 * width_) / l;
    begin = std::max(begin, std::min(a, b));
    end = std::min(end, std::max(a, b));
  }

  Real width_ = 0;
};

}  // namespace

SCREE_PLUGIN(SmoothingKernel, box, BoxKernel, "mean over a cube")

}  // namespace scree
