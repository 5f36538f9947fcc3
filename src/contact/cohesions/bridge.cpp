#include <numbers>

#include "contact/cohesion.hpp"

namespace scree {
namespace {

/// A bridge of liquid, which forms when surfaces touch. With R' = 2 R, the radius of equal spheres, and a gap
/// S = -overlap, not negative:
///     F = 2 pi R' g cos(theta) / (1 + 1.05 s + 2.5 s^2),  s = S sqrt(R' / V)
/// (C. D. Willett, M. J. Adams, S. A. Johnson and J. P. K. Seville, Langmuir 16 (2000) 9396-9405). It breaks
/// at S = (1 + theta/2) V^(1/3) (G. Lian, C. Thornton and M. J. Adams, J. Colloid Interface Sci. 161 (1993)
/// 138-147). Liquid is not exchanged: each contact has its own V.
class Bridge final : public Cohesion<3> {
 public:
  void describe(Section& section) override {
    section.real(
        "surface_tension", tension_,
        {.unit = Unit::stiffness, .range = positive, .required = true, .doc = "Of the liquid [N/m]"});
    section.real("contact_angle", angle_,
                 {.unit = Unit::angle,
                  .range = {.min = 0, .max = std::numbers::pi / 2, .max_open = true},
                  .doc = "Of the liquid on the surfaces"});
    section.real("volume", volume_,
                 {.range = positive, .doc = "Of the liquid of a contact [m3]; this or volume_ratio"});
    section.real("volume_ratio", ratio_,
                 {.range = {.min = 0, .max = 1, .min_open = true},
                  .doc = "The same over R'^3, with R' = 2 R_a R_b / (R_a + R_b), 2 R_a at an obstacle"});
    describe_friction_load(section);
    if (section.reading() && (volume_ < 0) == (ratio_ < 0))
      section.fail(volume_ < 0 ? "type" : "volume_ratio",
                   volume_ < 0 ? "cohesion of type \"bridge\" needs volume or volume_ratio"
                               : "volume and volume_ratio are two ways to say one thing: remove one");
  }
  PullOff pull_off(Real /*gravity*/) const override {
    return {.per_length = 4 * std::numbers::pi * tension_ * std::cos(angle_)};
  }
  bool is_ranged() const override { return true; }
  Real volume(Real radius) const override {
    return ratio_ > 0 ? ratio_ * 8 * radius * radius * radius : volume_;
  }
  Real end(Real radius, Real /*modulus*/) const override {
    return (1 + 0.5 * angle_) * std::cbrt(volume(radius));
  }
  AttractedForce force(const AttractedContact& c) const override {
    const Real s =
        std::fmax(-c.overlap, 0.0) * std::sqrt(2 * c.effective_radius / volume(c.effective_radius));
    const Real pull = 4 * std::numbers::pi * c.effective_radius * tension_ * std::cos(angle_) /
                      (1 + 1.05 * s + 2.5 * s * s);
    return {c.elastic - pull, pull, c.contact_radius};
  }

 private:
  Real tension_ = 0, angle_ = 0;
  Real volume_ = -1, ratio_ = -1;  // not given: values that the keys refuse
};

}  // namespace

SCREE_PLUGIN_ONLY(Cohesion, 3, bridge, Bridge, "a bridge of liquid between surfaces; scheme dem")

}  // namespace scree
