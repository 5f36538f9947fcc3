#include <algorithm>
#include <numeric>

#include "particles/distributions/weight.hpp"
#include "particles/initial_packing.hpp"
#include "particles/volume.hpp"

namespace scree {
namespace {

/// A few radii with their shares, by number or by volume.
template <int D>
class DiscreteRadius final : public RadiusDistribution<D> {
 public:
  void describe(Section& section) override {
    section.reals("values", values_, -1,
                  {.unit = Unit::length, .range = positive, .required = true, .doc = "the radii"});
    section.reals("weights", weights_, -1,
                  {.range = non_negative,
                   .doc = "share of each radius; they need not sum to 1; none given: equal shares"});
    describe_weight(section, by_volume_);
    if (!section.reading()) return;
    if (values_.empty()) section.fail("values", "at least one radius is needed");
    std::vector<Real> shares = weights_.empty() ? std::vector<Real>(values_.size(), 1.0) : weights_;
    if (shares.size() != values_.size())
      section.fail("weights",
                   "there must be as many weights as values (" + std::to_string(values_.size()) + ")");
    if (by_volume_)
      for (std::size_t i = 0; i < shares.size(); ++i) shares[i] /= body_volume<D>(values_[i]);
    cumulative_.resize(shares.size());
    std::inclusive_scan(shares.begin(), shares.end(), cumulative_.begin());
    if (!(cumulative_.back() > 0))
      section.fail("weights", "the weights sum to 0; one at least must be positive");
  }

  Real draw(RandomStream& stream) const override {
    const auto found = std::ranges::upper_bound(cumulative_, stream.uniform() * cumulative_.back());
    return values_[std::min(static_cast<std::size_t>(found - cumulative_.begin()), values_.size() - 1)];
  }
  Real largest() const override { return std::ranges::max(values_); }
  Real mean_volume() const override {
    Real volume = 0;
    for (std::size_t i = 0; i < values_.size(); ++i)
      volume += (cumulative_[i] - (i == 0 ? 0 : cumulative_[i - 1])) * body_volume<D>(values_[i]);
    return volume / cumulative_.back();
  }

 private:
  std::vector<Real> values_;
  std::vector<Real> weights_;
  std::vector<Real> cumulative_;  // of the shares by number
  bool by_volume_ = false;
};

}  // namespace

SCREE_PLUGIN(RadiusDistribution, discrete, DiscreteRadius, "a few radii with given shares")

}  // namespace scree
