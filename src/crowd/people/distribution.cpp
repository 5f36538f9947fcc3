#include "crowd/people/distribution.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/weibull.hpp>

namespace scree {
namespace {

class Constant final : public Distribution {
 public:
  explicit Constant(Real value = 0) { min_ = max_ = value; }
  void describe(Section& section, Unit unit) override {
    section.real("value", min_,
                 {.unit = unit, .range = non_negative, .required = true, .doc = "value of everybody"});
    max_ = min_;
  }
  Real quantile(Real) const override { return min_; }
};

class Uniform final : public Distribution {
 public:
  void describe(Section& section, Unit unit) override {
    section.real("min", min_,
                 {.unit = unit, .range = non_negative, .required = true, .doc = "smallest value"});
    section.real("max", max_,
                 {.unit = unit, .range = non_negative, .required = true, .doc = "largest value"});
    if (section.reading() && max_ < min_) section.fail("max", "the largest value is below the smallest");
  }
  Real quantile(Real share) const override { return std::min(min_ + (max_ - min_) * share, max_); }
};

/// One of the two parameters of a law.
struct Parameter {
  std::string_view key;
  bool has_unit;
  Range range;
  std::string_view doc;
};
using Parameters = std::array<Parameter, 2>;

struct Normal {
  static constexpr Parameters parameters{
      {{"mean", true, any_number, "mean of the normal distribution before truncation"},
       {"deviation", true, positive, "standard deviation before truncation"}}};
  static auto law(Real mean, Real deviation) {
    return boost::math::normal_distribution<Real>(mean, deviation);
  }
};

struct Lognormal {
  static constexpr Parameters parameters{
      {{"median", true, positive, "median before truncation: exp of the mean logarithm"},
       {"sigma", false, positive, "standard deviation of the logarithm of the value"}}};
  static auto law(Real median, Real sigma) {
    return boost::math::lognormal_distribution<Real>(std::log(median), sigma);
  }
};

constexpr Parameters shape_and_scale{
    {{"shape", false, positive, "shape parameter"}, {"scale", true, positive, "scale parameter"}}};

struct Gamma {
  static constexpr Parameters parameters = shape_and_scale;
  static auto law(Real shape, Real scale) { return boost::math::gamma_distribution<Real>(shape, scale); }
};

struct Weibull {
  static constexpr Parameters parameters = shape_and_scale;
  static auto law(Real shape, Real scale) { return boost::math::weibull_distribution<Real>(shape, scale); }
};

/// A law of values from 0 (or below) to infinity, cut to [min, max] and scaled to a share of 1 there.
template <class Law>
class Cut final : public Distribution {
 public:
  Cut() = default;
  Cut(Real first, Real second, Real min, Real max) : values_{first, second} {
    min_ = min;
    max_ = max;
    find_shares();
  }

  void describe(Section& section, Unit unit) override {
    for (std::size_t k = 0; k < 2; ++k) {
      const Parameter& parameter = Law::parameters[k];
      section.real(parameter.key, values_[k],
                   {.unit = parameter.has_unit ? unit : Unit::none,
                    .range = parameter.range,
                    .required = true,
                    .doc = parameter.doc});
    }
    section.real("min", min_, {.unit = unit, .range = non_negative, .doc = "smallest value"});
    section.real("max", max_, {.unit = unit, .range = positive, .doc = "largest value; not given: no bound"});
    if (!section.reading()) return;
    if (max_ <= min_) section.fail("max", "the largest value must exceed the smallest");
    find_shares();
    constexpr Real min_share = 1e-3;  // the tails beyond are known to few digits
    if (share_below_max_ - share_below_min_ < min_share)
      section.fail("min", "fewer than 1 in 1000 values of this distribution lie between min and max");
  }

  Real quantile(Real share) const override {
    constexpr Real below_one = 1 - 0x1p-53;
    const Real p = share_below_min_ + (share_below_max_ - share_below_min_) * share;
    if (p <= 0) return min_;
    return std::clamp(boost::math::quantile(law(), std::min(p, below_one)), min_, max_);
  }

 private:
  auto law() const { return Law::law(values_[0], values_[1]); }
  void find_shares() {
    share_below_min_ = boost::math::cdf(law(), min_);
    share_below_max_ = std::isfinite(max_) ? boost::math::cdf(law(), max_) : 1;
  }

  std::array<Real, 2> values_{1, 1};  // of the parameters
  Real share_below_min_ = 0, share_below_max_ = 1;
};

}  // namespace

template <>
std::span<const Entry<Distribution>> registry<Distribution>() {
  static constexpr std::array<Entry<Distribution>, 6> all{{
      {"constant", "one value for all", &make_plugin<Distribution, Constant>},
      {"uniform", "uniform distribution between two bounds", &make_plugin<Distribution, Uniform>},
      {"normal", "normal distribution, truncated to an interval", &make_plugin<Distribution, Cut<Normal>>},
      {"lognormal", "lognormal distribution", &make_plugin<Distribution, Cut<Lognormal>>},
      {"gamma", "gamma distribution", &make_plugin<Distribution, Cut<Gamma>>},
      {"weibull", "Weibull distribution", &make_plugin<Distribution, Cut<Weibull>>},
  }};
  return all;
}

std::shared_ptr<const Distribution> constant_distribution(Real value) {
  return std::make_shared<const Constant>(value);
}
std::shared_ptr<const Distribution> normal_distribution(Real mean, Real deviation, Real min, Real max) {
  return std::make_shared<const Cut<Normal>>(mean, deviation, min, max);
}

void describe_distribution(Section& section, std::string_view key, Unit unit,
                           std::shared_ptr<const Distribution>& chosen, std::string_view doc) {
  section.optional_table(key, {.doc = doc}, [&](Section& table) {
    std::unique_ptr<Distribution> read;
    table.kind("distribution", read, {.required = true, .doc = "how values are distributed"}, unit);
    if (table.reading()) chosen = std::move(read);
  });
}

}  // namespace scree
