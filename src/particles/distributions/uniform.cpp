#include <algorithm>

#include "particles/distributions/density.hpp"
#include "particles/distributions/weight.hpp"
#include "particles/initial_packing.hpp"

namespace scree {
namespace {

/// Equal shares, by number or by volume, for equal intervals of the radius in [min, max].
template <int D>
class UniformRadius final : public RadiusDistribution<D> {
 public:
  void describe(Section& section) override {
    section.real("min", min_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "smallest radius"});
    section.real("max", max_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "largest radius"});
    describe_weight(section, by_volume_);
    if (section.reading() && max_ < min_) section.fail("max", "the largest radius is below the smallest");
  }

  /// By volume, the number density falls as r^-D, so r^(1-D) is uniform.
  Real draw(RandomStream& stream) const override {
    if (!by_volume_) return stream.uniform(min_, max_);
    const auto power = [](Real r) { return D == 2 ? 1 / r : 1 / (r * r); };
    const Real p = power(min_) + (power(max_) - power(min_)) * stream.uniform();
    return std::clamp(D == 2 ? 1 / p : 1 / std::sqrt(p), min_, max_);
  }
  Real largest() const override { return max_; }
  Real mean_volume() const override {
    return mean_volume_of<D>(min_, max_, [&](Real r) { return by_volume_ ? std::pow(r, -D) : 1; });
  }

 private:
  Real min_ = 0;
  Real max_ = 0;
  bool by_volume_ = false;
};

}  // namespace

SCREE_PLUGIN(RadiusDistribution, uniform, UniformRadius, "uniform distribution between two bounds")

}  // namespace scree
