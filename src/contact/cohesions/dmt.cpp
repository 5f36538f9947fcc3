#include <numbers>

#include "contact/cohesion.hpp"

namespace scree {
namespace {

/// Small stiff spheres: F = elastic + damping - F_c while they touch, F_c = 2 pi w R (B. V. Derjaguin, V. M.
/// Muller and Yu. P. Toporov, J. Colloid Interface Sci. 53 (1975) 314-326).
class Dmt final : public Cohesion<3> {
 public:
  void describe(Section& section) override {
    section.real("work_of_adhesion", work_,
                 {.unit = Unit::stiffness,
                  .range = non_negative,
                  .required = true,
                  .doc = "w [J/m2 = N/m]: 2 gamma of two equal surfaces of surface energy gamma"});
    describe_friction_load(section);
    describe_range(section);
  }
  PullOff pull_off(Real /*gravity*/) const override { return {.per_length = 2 * std::numbers::pi * work_}; }
  Real range() const override { return range_; }

 private:
  Real work_ = 0;
};

}  // namespace

SCREE_PLUGIN_ONLY(Cohesion, 3, dmt, Dmt, "adhesion of small stiff spheres (Derjaguin, Muller and Toporov)")

}  // namespace scree
