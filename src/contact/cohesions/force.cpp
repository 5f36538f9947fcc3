#include "contact/cohesion.hpp"

namespace scree {
namespace {

/// A constant pull while surfaces touch: F = elastic + damping - F_c, with F_c given, or bond_number times
/// the weight of the lighter body.
template <int D>
class ConstantForce final : public Cohesion<D> {
 public:
  void describe(Section& section) override {
    section.real(
        "pull_off", pull_off_,
        {.unit = Unit::force, .range = non_negative, .doc = "Pull-off force F_c; this or bond_number"});
    section.real("bond_number", bond_number_,
                 {.range = non_negative,
                  .doc = "Pull-off force over the weight of the lighter of the bodies that can move"});
    this->describe_friction_load(section);
    this->describe_range(section);
    if (section.reading() && (pull_off_ < 0) == (bond_number_ < 0))
      section.fail(pull_off_ < 0 ? "type" : "bond_number",
                   pull_off_ < 0 ? "cohesion of type \"force\" needs pull_off or bond_number"
                                 : "pull_off and bond_number are two ways to say one thing: remove one");
  }
  PullOff pull_off(Real gravity) const override {
    if (needs_gravity()) return {.per_mass = bond_number_ * gravity};
    return {.constant = pull_off_};
  }
  Real range() const override { return this->range_; }
  bool needs_gravity() const override { return bond_number_ >= 0; }

 private:
  Real pull_off_ = -1, bond_number_ = -1;  // not given: values that the keys refuse
};

}  // namespace

SCREE_PLUGIN(Cohesion, force, ConstantForce, "a constant pull while surfaces touch")

}  // namespace scree
