#include "particles/distributions/density.hpp"
#include "particles/initial_packing.hpp"

namespace scree {
namespace {

/// Normal distribution by number, cut to [min, max] (draws outside are repeated).
template <int D>
class NormalRadius final : public RadiusDistribution<D> {
 public:
  void describe(Section& section) override {
    const auto length = [&](std::string_view key, Real& value, std::string_view doc) {
      section.real(key, value, {.unit = Unit::length, .range = positive, .required = true, .doc = doc});
    };
    length("mean", mean_, "mean of the normal distribution before truncation");
    length("deviation", deviation_, "standard deviation before truncation");
    length("min", min_, "smallest radius");
    length("max", max_, "largest radius");
    if (!section.reading()) return;
    if (max_ <= min_) section.fail("max", "the largest radius must exceed the smallest");
    const auto below = [&](Real r) {
      return std::erfc((mean_ - r) / (deviation_ * std::numbers::sqrt2)) / 2;
    };
    if (below(max_) - below(min_) < min_share)
      section.fail("min", "fewer than 1 in 1000 radii of this distribution lie between min and max");
  }

  Real draw(RandomStream& stream) const override {
    while (true) {
      const Real radius = mean_ + deviation_ * stream.normal();
      if (radius >= min_ && radius <= max_) return radius;
    }
  }
  Real largest() const override { return max_; }
  Real mean_volume() const override {
    return mean_volume_of<D>(min_, max_, [&](Real r) {
      const Real z = (r - mean_) / deviation_;
      return std::exp(-z * z / 2);
    });
  }

 private:
  Real mean_ = 0;
  Real deviation_ = 0;
  Real min_ = 0;
  Real max_ = 0;
};

}  // namespace

SCREE_PLUGIN(RadiusDistribution, normal, NormalRadius, "normal distribution, truncated to an interval")

}  // namespace scree
