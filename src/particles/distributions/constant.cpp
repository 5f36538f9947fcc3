#include "particles/initial_packing.hpp"
#include "particles/volume.hpp"

namespace scree {
namespace {

/// One radius for all.
template <int D>
class ConstantRadius final : public RadiusDistribution<D> {
 public:
  void describe(Section& section) override {
    section.real("value", value_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "radius of every body"});
  }
  Real draw(RandomStream&) const override { return value_; }
  Real largest() const override { return value_; }
  Real mean_volume() const override { return body_volume<D>(value_); }

 private:
  Real value_ = 0;
};

}  // namespace

SCREE_PLUGIN(RadiusDistribution, constant, ConstantRadius, "all bodies of one radius")

}  // namespace scree
