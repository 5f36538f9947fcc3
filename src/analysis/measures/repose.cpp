#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "analysis/measure.hpp"

namespace scree {
namespace {

/// Angle of the free surface to the horizontal, for heaps and for flowing layers in drums. "Up" is against
/// gravity. Bodies are sorted by s, in bins of length `bin`:
///     heap    s = horizontal distance from the vertical line through `point`
///     slope   s = horizontal coordinate along `axis`
/// The surface over a bin is the highest top, h = max (x . up + R). The angle is that of the line
/// h = c + m s fitted by least squares to the middles of bins with bodies; of a heap those between 0.1 and
/// 0.9 of the height from the lowest to the highest bin, of a slope those in the middle half of all. A body
/// with a shape counts with its circumscribed radius. nan with fewer than three such bins.
///
/// Sign: a heap has a positive angle, atan(-m); of a slope it is that of m. O(bodies); collective.
template <int D>
class Repose final : public Measure<D> {
 public:
  void describe(Section& section) override {
    Measure<D>::describe(section);
    section.choice("kind", kind_, {{"heap", Kind::heap}, {"slope", Kind::slope}},
                   {.doc = "\"heap\": a cone about a vertical line, in the plane a triangle; \"slope\": a "
                           "surface that is inclined along one axis, as in a drum"});
    section.point("point", point_,
                  {.unit = Unit::length, .doc = "of a heap: a point of the vertical line through its top"});
    std::vector<Word<int>> axes{{"x", 0}, {"y", 1}, {"z", 2}};
    axes.resize(D);
    section.choice("axis", axis_, axes, {.doc = "of a slope: the horizontal axis along which it rises"});
    section.real_or_word("bin", bin_, bin_word_, {"auto"},
                         {.unit = Unit::length,
                          .range = positive,
                          .doc = "length of bins; \"auto\": twice the diameter of the largest body"});
  }

  void check(const State<D>& state) const override {
    if (norm(state.gravity) == 0)
      throw InputError(this->where_ + ": the measure \"repose\" needs gravity, which says where up is");
    if (kind_ == Kind::slope && std::abs(up(state)[axis_]) > 0.5)
      throw InputError(this->where_ + ": a slope rises along a horizontal axis, but this one is vertical");
  }

  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    const std::vector<Real> top = surface(state);
    std::size_t first = top.size(), last = 0;
    Real lowest = HUGE_VAL, highest = -HUGE_VAL;
    for (std::size_t b = 0; b < top.size(); ++b) {
      if (!std::isfinite(top[b])) continue;
      first = std::min(first, b);
      last = b + 1;
      lowest = std::min(lowest, top[b]);
      highest = std::max(highest, top[b]);
    }
    const std::size_t quarter = last > first ? (last - first) / 4 : 0;
    const auto counts = [&](std::size_t b) {
      if (kind_ == Kind::slope) return b >= first + quarter && b + quarter < last;
      return top[b] >= lowest + 0.1 * (highest - lowest) && top[b] <= lowest + 0.9 * (highest - lowest);
    };
    Real n = 0, sum_s = 0, sum_h = 0, sum_ss = 0, sum_sh = 0;
    for (std::size_t b = first; b < last; ++b) {
      if (!std::isfinite(top[b]) || !counts(b)) continue;
      const Real s = static_cast<Real>(b) + 0.5, h = top[b] / length_;
      n += 1, sum_s += s, sum_h += h, sum_ss += s * s, sum_sh += s * h;
    }
    const Real slope = (n * sum_sh - sum_s * sum_h) / (n * sum_ss - sum_s * sum_s);
    const Real degrees = 180 / std::numbers::pi * std::atan(kind_ == Kind::heap ? -slope : slope);
    return {{"angle", "deg", "of the free surface to the horizontal; nan without one",
             n < 3 ? std::numeric_limits<Real>::quiet_NaN() : degrees},
            {"bins", "-", "of the line that is fitted", n}};
  }

 private:
  enum class Kind { heap, slope };
  static constexpr Real max_bins = 100'000;

  static Vec<D> up(const State<D>& state) { return (-1 / norm(state.gravity)) * state.gravity; }

  /// Highest tops by bin, -inf in empty ones, the same on all ranks; sets the length of a bin.
  std::vector<Real> surface(const State<D>& state) {
    const BodyStore<D>& bodies = state.bodies;
    const std::size_t n = bodies.n_owned();
    Real largest = 0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, bodies.radius()[i]);
    largest = state.comm.max(largest);
    if (largest == 0) return {};
    const Vec<D> upwards = up(state);
    Real reach = 0;
    for (int k = 0; k < D; ++k) reach += state.box.length(k) + std::abs(point_[k] - state.box.lower[k]);
    length_ = std::max(bin_word_.empty() ? bin_ : 4 * largest, reach / max_bins);
    // The axis of a slope in the horizontal plane. A heap does not use it: there its length may be 0.
    Vec<D> along = unit_vector<D>(axis_);
    along -= dot(along, upwards) * upwards;
    along *= 1 / std::max(norm(along), std::numeric_limits<Real>::min());
    Real start = 0;  // of the domain
    for (int k = 0; k < D; ++k) start += std::min(0.0, along[k] * state.box.length(k));
    std::vector<Real> top(static_cast<std::size_t>(reach / length_) + 1, -HUGE_VAL);
    for (std::size_t i = 0; i < n; ++i) {
      const Vec<D>& x = bodies.position()[i];
      Vec<D> beside = state.box.shortest(x - point_);
      beside -= dot(beside, upwards) * upwards;
      const Real s = kind_ == Kind::heap ? norm(beside) : dot(x - state.box.lower, along) - start;
      const auto bin =
          static_cast<std::size_t>(std::clamp(s / length_, 0.0, static_cast<Real>(top.size() - 1)));
      top[bin] = std::max(top[bin], dot(x, upwards) + bodies.radius()[i]);
    }
    state.comm.max(top);
    return top;
  }

  Kind kind_ = Kind::heap;
  Vec<D> point_{};
  int axis_ = 0;
  Real bin_ = 0;
  std::string bin_word_ = "auto";
  Real length_ = 0;  // of a bin [m]
};

}  // namespace

SCREE_PLUGIN(Measure, repose, Repose, "angle of the free surface of a heap, or of a slope such as in a drum")

}  // namespace scree
