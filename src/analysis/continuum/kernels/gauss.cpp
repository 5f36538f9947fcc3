#include <numbers>

#include "analysis/continuum/kernel.hpp"

namespace scree {
namespace {

/// W(r) = (2 pi w^2)^(-D/2) exp(-r^2 / (2 w^2)) with the standard deviation w, 0 beyond `cut` of them.
/// Integrals along a line are differences of error functions, times a Gauss across it.
template <int D>
class Gauss final : public SmoothingKernel<D> {
 public:
  void describe(Section& section) override {
    section.real("width", width_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "standard deviation"});
    section.real(
        "cut", cut_,
        {.range = {.min = 3, .max = 30},
         .doc = "distance beyond which the weight is 0, in widths; what is lost is below 1e-7 of the "
                "largest value for 6"});
    if (section.reading()) set();
  }
  Real reach() const override { return cut_ * width_; }
  Real width() const override { return width_; }
  Real variance() const override { return width_ * width_; }
  Real weight(const Vec<D>& r) const override {
    const Real u = dot(r, r) * per_two_squares_;
    return u > largest_ ? 0 : peak_ * std::exp(-u);
  }
  Real line(const Vec<D>& r, const Vec<D>& l) const override {
    if (norm(l) < shortest_segment * width_) return weight(r - 0.5 * l);
    const RadialSegment part = radial_segment(r, l);
    const Real u = part.across2 * per_two_squares_;
    if (u > largest_) return 0;
    return peak_ / peak_1d_ * std::exp(-u) * below(part.from, part.to) / part.length;
  }
  Real weight_along(Real x) const override {
    const Real u = x * x * per_two_squares_;
    return u > largest_ ? 0 : peak_1d_ * std::exp(-u);
  }
  Real line_along(Real x, Real l) const override {
    if (std::abs(l) < shortest_segment * width_) return weight_along(x - 0.5 * l);
    return below(x - l, x) / l;
  }

 private:
  void set() {
    per_two_squares_ = 0.5 / (width_ * width_);
    largest_ = 0.5 * cut_ * cut_;
    peak_1d_ = 1 / (std::sqrt(2 * std::numbers::pi) * width_);
    peak_ = std::pow(peak_1d_, D);
    scale_ = std::numbers::sqrt2 / 2 / width_;
  }
  /// Integral of the Gauss of one dimension from a to b.
  Real below(Real a, Real b) const { return 0.5 * (std::erf(b * scale_) - std::erf(a * scale_)); }

  Real width_ = 0, cut_ = 6;
  Real per_two_squares_ = 0, largest_ = 0, peak_ = 0, peak_1d_ = 0, scale_ = 0;
};

}  // namespace

SCREE_PLUGIN(SmoothingKernel, gauss, Gauss, "normal distribution")

}  // namespace scree
