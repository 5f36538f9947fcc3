#include "contact/cohesion.hpp"

namespace scree {
namespace {

/// Van der Waals attraction of dry grains while they touch: F_c = A R/(6 z^2) with Hamaker's constant A and
/// the smallest distance z of the surfaces (J. N. Israelachvili, Intermolecular and Surface Forces, 3rd
/// edition, 2011, chapter 13).
template <int D>
class Hamaker final : public Cohesion<D> {
 public:
  void describe(Section& section) override {
    section.real("hamaker_constant", constant_,
                 {.unit = Unit::energy, .range = non_negative, .required = true, .doc = "A, about 1e-19 J"});
    section.real("distance", distance_,
                 {.unit = Unit::length, .range = positive, .doc = "z: the smallest distance of surfaces"});
    this->describe_friction_load(section);
  }
  PullOff pull_off(Real /*gravity*/) const override {
    return {.per_length = constant_ / (6 * distance_ * distance_)};
  }

 private:
  Real constant_ = 0, distance_ = 4e-10;
};

}  // namespace

SCREE_PLUGIN(Cohesion, hamaker, Hamaker, "van der Waals attraction of dry grains that touch")

}  // namespace scree
