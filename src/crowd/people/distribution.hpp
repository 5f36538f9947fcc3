#pragma once
#include <memory>

#include "core/random.hpp"
#include "core/section.hpp"

namespace scree {

/// How a quantity of people is distributed; `unit` is that of the numbers. Draws go through the inverse of
/// the distribution function, one uniform number each: a person keeps its place among the others if the
/// distribution is made wider.
template <Unit unit>
class Distribution {
 public:
  virtual ~Distribution() = default;
  virtual void describe(Section& section) = 0;
  /// The value that a share `share` of all, in [0, 1), lies below.
  virtual Real quantile(Real share) const = 0;
  virtual Real least() const = 0;  ///< no draw is below it
  virtual Real most() const = 0;   ///< no draw exceeds it; may be infinite

  Real draw(RandomStream& stream) const { return quantile(stream.uniform()); }
  /// Mean of f(value), by the midpoint rule on 1000 quantiles.
  template <class F>
  Real mean_of(const F& f) const {
    constexpr int n = 1000;
    Real sum = 0;
    for (int i = 0; i < n; ++i) sum += f(quantile((i + 0.5) / n));
    return sum / n;
  }
};

template <>
std::span<const Entry<Distribution<Unit::length>>> registry<Distribution<Unit::length>>();
template <>
std::span<const Entry<Distribution<Unit::speed>>> registry<Distribution<Unit::speed>>();
template <>
std::span<const Entry<Distribution<Unit::time>>> registry<Distribution<Unit::time>>();

/// One value for all.
template <Unit unit>
std::shared_ptr<const Distribution<unit>> constant_distribution(Real value);
/// A normal distribution, cut to [least, most].
template <Unit unit>
std::shared_ptr<const Distribution<unit>> normal_distribution(Real mean, Real deviation, Real least,
                                                              Real most);

/// Declares and reads the optional table `key` of a distribution; `chosen` stays as it is if the deck does
/// not give it.
template <Unit unit>
void describe_distribution(Section& section, std::string_view key,
                           std::shared_ptr<const Distribution<unit>>& chosen, std::string_view doc) {
  section.optional_table(key, {.doc = doc}, [&](Section& table) {
    std::unique_ptr<Distribution<unit>> read;
    table.kind("distribution", read, {.required = true, .doc = "how values are distributed"});
    if (table.reading()) chosen = std::move(read);
  });
}

}  // namespace scree
