#include "crowd/people/distribution.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/weibull.hpp>

namespace scree {
namespace {

template <Unit unit>
class Constant final : public Distribution<unit> {
 public:
  Constant() = default;
  explicit Constant(Real value) : value_(value) {}
  void describe(Section& section) override {
    section.real("value", value_,
                 {.unit = unit, .range = non_negative, .required = true, .doc = "value of everybody"});
  }
  Real quantile(Real) const override { return value_; }
  Real least() const override { return value_; }
  Real most() const override { return value_; }

 private:
  Real value_ = 0;
};

template <Unit unit>
class Uniform final : public Distribution<unit> {
 public:
  void describe(Section& section) override {
    section.real("min", least_,
                 {.unit = unit, .range = non_negative, .required = true, .doc = "smallest value"});
    section.real("max", most_,
                 {.unit = unit, .range = non_negative, .required = true, .doc = "largest value"});
    if (section.reading() && most_ < least_) section.fail("max", "the largest value is below the smallest");
  }
  Real quantile(Real share) const override { return std::min(least_ + (most_ - least_) * share, most_); }
  Real least() const override { return least_; }
  Real most() const override { return most_; }

 private:
  Real least_ = 0;
  Real most_ = 0;
};

/// A law of values from 0 (or below) to infinity, cut to [least, most] and scaled to a share of 1 there.
template <Unit unit, template <Unit> class Law>
class Cut final : public Distribution<unit> {
 public:
  Cut() = default;
  Cut(const Law<unit>& law, Real least, Real most) : law_(law), least_(least), most_(most) { find_shares(); }

  void describe(Section& section) override {
    law_.describe(section);
    section.real("min", least_, {.unit = unit, .range = non_negative, .doc = "smallest value"});
    section.real("max", most_,
                 {.unit = unit, .range = positive, .doc = "largest value; not given: no bound"});
    if (!section.reading()) return;
    if (most_ <= least_) section.fail("max", "the largest value must exceed the smallest");
    find_shares();
    constexpr Real least_share = 1e-3;  // the tails beyond are known to few digits
    if (share_below_most_ - share_below_least_ < least_share)
      section.fail("min", "fewer than 1 in 1000 values of this distribution lie between min and max");
  }

  Real quantile(Real share) const override {
    constexpr Real below_one = 1 - 0x1p-53;
    const Real p = share_below_least_ + (share_below_most_ - share_below_least_) * share;
    if (p <= 0) return least_;
    return std::clamp(boost::math::quantile(law_.law(), std::min(p, below_one)), least_, most_);
  }
  Real least() const override { return least_; }
  Real most() const override { return most_; }

 private:
  void find_shares() {
    share_below_least_ = boost::math::cdf(law_.law(), least_);
    share_below_most_ = std::isfinite(most_) ? boost::math::cdf(law_.law(), most_) : 1;
  }

  Law<unit> law_{};
  Real least_ = 0;
  Real most_ = HUGE_VAL;
  Real share_below_least_ = 0, share_below_most_ = 1;
};

template <Unit unit>
struct Normal {
  Real mean = 0;
  Real deviation = 1;
  void describe(Section& section) {
    section.real(
        "mean", mean,
        {.unit = unit, .required = true, .doc = "mean of the normal distribution before truncation"});
    section.real(
        "deviation", deviation,
        {.unit = unit, .range = positive, .required = true, .doc = "standard deviation before truncation"});
  }
  auto law() const { return boost::math::normal_distribution<Real>(mean, deviation); }
};

template <Unit unit>
struct Lognormal {
  Real median = 1;
  Real sigma = 1;
  void describe(Section& section) {
    section.real("median", median,
                 {.unit = unit,
                  .range = positive,
                  .required = true,
                  .doc = "median before truncation: exp of the mean logarithm"});
    section.real(
        "sigma", sigma,
        {.range = positive, .required = true, .doc = "standard deviation of the logarithm of the value"});
  }
  auto law() const { return boost::math::lognormal_distribution<Real>(std::log(median), sigma); }
};

template <Unit unit>
void describe_shape_and_scale(Section& section, Real& shape, Real& scale) {
  section.real("shape", shape, {.range = positive, .required = true, .doc = "shape parameter"});
  section.real("scale", scale, {.unit = unit, .range = positive, .required = true, .doc = "scale parameter"});
}

template <Unit unit>
struct Gamma {
  Real shape = 1;
  Real scale = 1;
  void describe(Section& section) { describe_shape_and_scale<unit>(section, shape, scale); }
  auto law() const { return boost::math::gamma_distribution<Real>(shape, scale); }
};

template <Unit unit>
struct Weibull {
  Real shape = 1;
  Real scale = 1;
  void describe(Section& section) { describe_shape_and_scale<unit>(section, shape, scale); }
  auto law() const { return boost::math::weibull_distribution<Real>(shape, scale); }
};

template <Unit unit>
std::span<const Entry<Distribution<unit>>> all_distributions() {
  using Base = Distribution<unit>;
  static const std::array<Entry<Base>, 6> all{{
      {"constant", "one value for all", &make_plugin<Base, Constant<unit>>},
      {"uniform", "uniform distribution between two bounds", &make_plugin<Base, Uniform<unit>>},
      {"normal", "normal distribution, truncated to an interval", &make_plugin<Base, Cut<unit, Normal>>},
      {"lognormal", "lognormal distribution", &make_plugin<Base, Cut<unit, Lognormal>>},
      {"gamma", "gamma distribution", &make_plugin<Base, Cut<unit, Gamma>>},
      {"weibull", "Weibull distribution", &make_plugin<Base, Cut<unit, Weibull>>},
  }};
  return all;
}

}  // namespace

template <>
std::span<const Entry<Distribution<Unit::length>>> registry<Distribution<Unit::length>>() {
  return all_distributions<Unit::length>();
}
template <>
std::span<const Entry<Distribution<Unit::speed>>> registry<Distribution<Unit::speed>>() {
  return all_distributions<Unit::speed>();
}
template <>
std::span<const Entry<Distribution<Unit::time>>> registry<Distribution<Unit::time>>() {
  return all_distributions<Unit::time>();
}

template <Unit unit>
std::shared_ptr<const Distribution<unit>> constant_distribution(Real value) {
  return std::make_shared<const Constant<unit>>(value);
}
template <Unit unit>
std::shared_ptr<const Distribution<unit>> normal_distribution(Real mean, Real deviation, Real least,
                                                              Real most) {
  return std::make_shared<const Cut<unit, Normal>>(Normal<unit>{mean, deviation}, least, most);
}

template std::shared_ptr<const Distribution<Unit::time>> constant_distribution(Real);
template std::shared_ptr<const Distribution<Unit::length>> normal_distribution(Real, Real, Real, Real);
template std::shared_ptr<const Distribution<Unit::speed>> normal_distribution(Real, Real, Real, Real);

}  // namespace scree
