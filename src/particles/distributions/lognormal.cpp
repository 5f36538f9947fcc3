#include "particles/distributions/density.hpp"
#include "particles/distributions/weight.hpp"
#include "particles/initial_packing.hpp"

namespace scree {
namespace {

/// ln r is normal with mean ln median and deviation sigma, cut to [min, max] (draws outside are repeated). If
/// the median is that of the volume, the number is lognormal too, with the median times exp(-D sigma^2).
template <int D>
class LognormalRadius final : public RadiusDistribution<D> {
 public:
  void describe(Section& section) override {
    const auto length = [&](std::string_view key, Real& value, std::string_view doc) {
      section.real(key, value, {.unit = Unit::length, .range = positive, .required = true, .doc = doc});
    };
    length("median", median_, "median radius before truncation");
    section.real(
        "sigma", sigma_,
        {.range = positive, .required = true, .doc = "standard deviation of the logarithm of the radius"});
    length("min", min_, "smallest radius");
    length("max", max_, "largest radius");
    describe_weight(section, by_volume_);
    if (!section.reading()) return;
    if (max_ <= min_) section.fail("max", "the largest radius must exceed the smallest");
    const auto below = [&](Real r) {
      return std::erfc(std::log(number_median() / r) / (sigma_ * std::numbers::sqrt2)) / 2;
    };
    if (below(max_) - below(min_) < min_share)
      section.fail("min", "fewer than 1 in 1000 bodies of this distribution have radii between min and max");
  }

  Real draw(RandomStream& stream) const override {
    while (true) {
      const Real radius = number_median() * std::exp(sigma_ * stream.normal());
      if (radius >= min_ && radius <= max_) return radius;
    }
  }
  Real largest() const override { return max_; }
  Real mean_volume() const override {
    return mean_volume_of<D>(min_, max_, [&](Real r) {
      const Real z = std::log(r / number_median()) / sigma_;
      return std::exp(-z * z / 2) / r;
    });
  }

 private:
  Real number_median() const { return by_volume_ ? median_ * std::exp(-D * sigma_ * sigma_) : median_; }

  Real median_ = 0;
  Real sigma_ = 0;
  Real min_ = 0;
  Real max_ = 0;
  bool by_volume_ = false;
};

}  // namespace

SCREE_PLUGIN(RadiusDistribution, lognormal, LognormalRadius,
             "lognormal distribution, truncated to an interval")

}  // namespace scree
