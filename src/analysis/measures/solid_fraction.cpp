#include <algorithm>
#include <numbers>

#include "analysis/measure.hpp"
#include "particles/volume.hpp"

namespace scree {
namespace {

/// Volume of the part of a body that lies below a plane `height` above its centre.
template <int D>
Real volume_below(Real radius, Real height) {
  const Real h = std::clamp(height, -radius, radius);
  if constexpr (D == 2) {
    const Real half_chord = std::sqrt(std::max(0.0, radius * radius - h * h));
    return radius * radius * (std::numbers::pi / 2 + std::asin(h / radius)) + h * half_chord;
  } else {
    const Real cap = radius + h;  // height of the cap from the lowest point
    return std::numbers::pi * cap * cap * (3 * radius - cap) / 3;
  }
}

/// Volume of the bodies in a box, over the volume of the box. Bodies are cut exactly by the two faces across
/// the last axis (y in 2D, z in 3D); along the other axes a body counts whole if its centre is inside and not
/// at all otherwise. Overlaps count twice.
template <int D>
class SolidFraction final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.optional_table(
        "region", {.doc = "Box to look at; not given: the whole domain."}, [&](Section& region) {
          whole_ = false;
          region.point("lower", lower_, {.unit = Unit::length, .required = true, .doc = "lowest corner"});
          region.point("upper", upper_, {.unit = Unit::length, .required = true, .doc = "highest corner"});
          if (!region.reading()) return;
          for (int k = 0; k < D; ++k)
            if (!(upper_[k] > lower_[k]))
              region.fail("upper", "the region is empty: upper must exceed lower along every axis");
        });
  }

  std::vector<ColumnInfo> columns(const State<D>&) const override {
    return {{"solid_fraction", "-", "volume of bodies in the region over its volume"},
            {"bodies_inside", "-", "bodies with their centre in the region"}};
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    constexpr int last = D - 1;
    const Box<D>& box = sample.state.box;
    const Vec<D> lower = whole_ ? box.lower : lower_, upper = whole_ ? box.upper : upper_;
    const auto n_owned = static_cast<std::size_t>(sample.state.bodies.n_owned());
    const auto position = sample.state.bodies.position();
    const auto radius = sample.state.bodies.radius();
    const int turns = box.is_periodic(last) ? 1 : 0;

    std::vector<Real> volume;
    std::int64_t n_inside = 0;
    for (std::size_t i = 0; i < n_owned; ++i) {
      const Vec<D>& x = position[i];
      bool beside = false;
      for (int k = 0; k < last; ++k) beside = beside || x[k] < lower[k] || x[k] > upper[k];
      if (beside) continue;
      n_inside += x[last] >= lower[last] && x[last] <= upper[last];
      Real inside = 0;
      for (int turn = -turns; turn <= turns; ++turn) {
        const Real height = x[last] + turn * box.length(last);
        inside += volume_below<D>(radius[i], upper[last] - height) -
                  volume_below<D>(radius[i], lower[last] - height);
      }
      volume.push_back(inside);
    }
    const Comm& comm = sample.state.comm;
    row.push_back(ReproducibleSum::sum(comm, volume) / Box<D>{lower, upper, {}}.volume());
    row.push_back(static_cast<Real>(comm.sum(n_inside)));
  }

 private:
  bool whole_ = true;
  Vec<D> lower_{}, upper_{};
};

}  // namespace

SCREE_PLUGIN(Measure, solid_fraction, SolidFraction, "share of a box that bodies fill")

}  // namespace scree
