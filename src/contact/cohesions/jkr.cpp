#include <numbers>

#include "contact/cohesion.hpp"

namespace scree {
namespace {

/// Soft adhesive spheres (K. L. Johnson, K. Kendall and A. D. Roberts, Proc. R. Soc. A 324 (1971) 301-313),
/// with a the radius of the contact:
///     F = 4 E* a^3 / (3 R) - sqrt(8 pi w E* a^3),   overlap = a^2 / R - sqrt(2 pi w a / E*)
/// F_c = 3/2 pi w R. A contact begins at overlap 0 with -8/9 F_c. It ends where the overlap is least,
/// a^3 = pi w R^2 / (8 E*), with -5/9 F_c (C. Thornton and Z. Ning, Powder Technol. 99 (1998) 154-162), or at
/// the largest pull, a^3 = 9 pi w R^2 / (8 E*).
class Jkr final : public Cohesion<3> {
 public:
  void describe(Section& section) override {
    section.real("work_of_adhesion", work_,
                 {.unit = Unit::stiffness,
                  .range = positive,
                  .required = true,
                  .doc = "w [J/m2 = N/m]: 2 gamma of two equal surfaces of surface energy gamma"});
    section.choice("jkr_end", at_load_, {{"displacement", false}, {"load", true}},
                   {.doc = "Where a contact ends: \"displacement\", at the least overlap that it can have; "
                           "\"load\", at the largest pull, as in LAMMPS"});
    describe_friction_load(section);
  }
  PullOff pull_off(Real /*gravity*/) const override { return {.per_length = 1.5 * std::numbers::pi * work_}; }
  bool is_ranged() const override { return true; }
  bool needs_hertz() const override { return true; }
  Real end(Real radius, Real modulus) const override {
    return -overlap(
        std::cbrt((at_load_ ? 9 : 1) * std::numbers::pi * work_ * radius * radius / (8 * modulus)), radius,
        modulus);
  }
  AttractedForce force(const AttractedContact& c) const override {
    const Real a = contact_radius(c.overlap, c.effective_radius, c.modulus);
    const Real cube = a * a * a;
    return {4 * c.modulus * cube / (3 * c.effective_radius) -
                std::sqrt(8 * std::numbers::pi * work_ * c.modulus * cube),
            1.5 * std::numbers::pi * work_ * c.effective_radius, a};
  }

 private:
  Real overlap(Real a, Real radius, Real modulus) const {
    return a * a / radius - std::sqrt(2 * std::numbers::pi * work_ * a / modulus);
  }
  /// Newton's method from above: overlap(a) is convex and grows beyond its least value.
  Real contact_radius(Real overlap, Real radius, Real modulus) const {
    constexpr int max = 100;
    const Real c = std::sqrt(2 * std::numbers::pi * work_ / modulus);
    const Real min = std::cbrt(std::numbers::pi * work_ * radius * radius / (8 * modulus));
    Real a = std::sqrt(radius * std::fmax(overlap, 0.0)) + std::cbrt(radius * c * radius * c);
    for (int i = 0; i < max; ++i) {
      const Real root = std::sqrt(a);
      const Real slope = 2 * a / radius - 0.5 * c / root;
      if (!(slope > 0)) return min;
      const Real next = a - (a * a / radius - c * root - overlap) / slope;
      if (!(next < a)) return a;
      a = std::fmax(next, min);
    }
    return a;
  }

  Real work_ = 0;
  bool at_load_ = false;
};

}  // namespace

SCREE_PLUGIN_ONLY(Cohesion, 3, jkr, Jkr,
                  "adhesion of soft spheres (Johnson, Kendall and Roberts); scheme dem")

}  // namespace scree
