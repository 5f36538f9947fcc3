#pragma once
#include <memory>

#include "core/random.hpp"
#include "core/section.hpp"

namespace scree {

/// How a quantity of people is distributed. Draws go through the inverse of the distribution function, one
/// uniform number each: a person keeps its place among the others if the distribution is made wider.
class Distribution {
 public:
  virtual ~Distribution() = default;
  /// `unit`: of the quantity.
  virtual void describe(Section& section, Unit unit) = 0;
  /// The value that a share `share` of all, in [0, 1), lies below.
  virtual Real quantile(Real share) const = 0;
  Real min() const { return min_; }  ///< no draw is below it
  Real max() const { return max_; }  ///< no draw exceeds it; may be infinite

  Real draw(RandomStream& stream) const { return quantile(stream.uniform()); }
  /// Mean of f(value), by the midpoint rule on 1000 quantiles.
  template <class F>
  Real mean_of(const F& f) const {
    constexpr int n = 1000;
    Real sum = 0;
    for (int i = 0; i < n; ++i) sum += f(quantile((i + 0.5) / n));
    return sum / n;
  }

 protected:
  Real min_ = 0, max_ = HUGE_VAL;
};

template <>
std::span<const Entry<Distribution>> registry<Distribution>();

/// One value for all.
std::shared_ptr<const Distribution> constant_distribution(Real value);
/// A normal distribution, cut to [min, max].
std::shared_ptr<const Distribution> normal_distribution(Real mean, Real deviation, Real min, Real max);

/// Declares and reads the optional table `key` of a distribution; `chosen` stays as it is if the deck does
/// not give it.
void describe_distribution(Section& section, std::string_view key, Unit unit,
                           std::shared_ptr<const Distribution>& chosen, std::string_view doc);

}  // namespace scree
