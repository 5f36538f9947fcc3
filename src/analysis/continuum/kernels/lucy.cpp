#include <algorithm>
#include <numbers>

#include "analysis/continuum/kernel.hpp"

namespace scree {
namespace {

/// Integral of (d^2 + t^2)^(3/2) over t from 0 to s.
Real cubic_integral(Real d2, Real s) {
  const Real r = std::sqrt(d2 + s * s);
  const Real asinh = d2 > 0 ? std::asinh(s / std::sqrt(d2)) : 0;
  return s * r * r * r / 4 + 3 * d2 * s * r / 8 + 3 * d2 * d2 * asinh / 8;
}
Real square_integral(Real d2, Real s) {
  return d2 * s + s * s * s / 3;
}
Real fourth_integral(Real d2, Real s) {
  return d2 * d2 * s + 2 * d2 * s * s * s / 3 + s * s * s * s * s / 5;
}

/// W(r) = a (1 + 3 q)(1 - q)^3 with q = r / c below 1 and the reach c; a = 105 / (16 pi c^3) in space,
/// 5 / (pi c^2) in the plane (Lucy, Astron. J. 82 (1977) 1013). Along lines in closed form, from
/// (1 + 3 q)(1 - q)^3 = 1 - 6 q^2 + 8 q^3 - 3 q^4.
template <int D>
class Lucy final : public SmoothingKernel<D> {
 public:
  void describe(Section& section) override {
    section.real("width", c_,
                 {.unit = Unit::length,
                  .range = positive,
                  .required = true,
                  .doc = "reach c, beyond which the weight is 0"});
    if (section.reading())
      peak_ = D == 2 ? 5 / (std::numbers::pi * c_ * c_) : 105 / (16 * std::numbers::pi * c_ * c_ * c_);
  }
  Real reach() const override { return c_; }
  Real width() const override { return c_; }
  Real variance() const override { return c_ * c_ * (D == 2 ? 5.0 / 56 : 1.0 / 12); }
  Real weight(const Vec<D>& r) const override {
    const Real q = norm(r) / c_;
    return q >= 1 ? 0 : peak_ * (1 + 3 * q) * (1 - q) * (1 - q) * (1 - q);
  }
  Real line(const Vec<D>& r, const Vec<D>& l) const override {
    if (norm(l) < shortest_segment * c_) return weight(r - 0.5 * l);
    const RadialSegment part = radial_segment(r, l);
    const Real d2 = part.across2 / (c_ * c_);
    if (d2 >= 1) return 0;
    const Real end = std::sqrt(1 - d2);
    const Real a = std::clamp(part.from / c_, -end, end), b = std::clamp(part.to / c_, -end, end);
    const auto primitive = [&](Real s) {
      return s - 6 * square_integral(d2, s) + 8 * cubic_integral(d2, s) - 3 * fourth_integral(d2, s);
    };
    return peak_ * c_ * (primitive(b) - primitive(a)) / part.length;
  }
  Real weight_along(Real x) const override {
    const Real q2 = x * x / (c_ * c_);
    if (q2 >= 1) return 0;
    if constexpr (D == 2) {
      const Real y = std::sqrt(1 - q2);
      return 2 * peak_ * c_ *
             (y - 6 * square_integral(q2, y) + 8 * cubic_integral(q2, y) - 3 * fourth_integral(q2, y));
    } else {
      const Real q = std::sqrt(q2);
      return 105 / (8 * c_) * (0.1 - q2 / 2 + 1.5 * q2 * q2 - 1.6 * q2 * q2 * q + q2 * q2 * q2 / 2);
    }
  }
  Real line_along(Real x, Real l) const override {
    if (std::abs(l) < shortest_segment * c_) return weight_along(x - 0.5 * l);
    return (from_middle(x / c_) - from_middle((x - l) / c_)) / l;
  }

 private:
  /// Integral of weight_along() from 0 to q c.
  static Real from_middle(Real at) {
    const Real q = std::min(std::abs(at), 1.0), q2 = q * q;
    Real inside = 0;
    if constexpr (D == 2) {
      // Half of all, less what lies beyond the line: 2 int_q^1 W(r) r acos(q/r) dr, by parts.
      const Real t = std::sqrt(1 - q2);
      const Real beyond =
          0.2 * std::acos(q) - 2 * q *
                                   (t / 2 - 1.5 * square_integral(q2, t) + 1.6 * cubic_integral(q2, t) -
                                    0.5 * fourth_integral(q2, t));
      inside = 0.5 - 5 / std::numbers::pi * beyond;
    } else {
      const Real q4 = q2 * q2;
      inside = 105.0 / 8 * q * (0.1 - q2 / 6 + 0.3 * q4 - 1.6 / 6 * q4 * q + q4 * q2 / 14);
    }
    return std::copysign(inside, at);
  }

  Real c_ = 0, peak_ = 0;
};

}  // namespace

SCREE_PLUGIN(SmoothingKernel, lucy, Lucy, "(1 + 3 q)(1 - q)^3 of q = r / width")

}  // namespace scree
