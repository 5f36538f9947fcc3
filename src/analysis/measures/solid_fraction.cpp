#include "analysis/measure.hpp"
#include "analysis/region.hpp"

namespace scree {
namespace {

/// Volume of the bodies in a box, over the volume of the box. Bodies are cut exactly by the two faces across
/// the last axis (y in 2D, z in 3D); along the other axes a body counts whole if its centre is inside and not
/// at all otherwise. Overlaps count twice.
template <int D>
class SolidFraction final : public Measure<D> {
 public:
  void describe(Section& section) override { region_.describe(section); }

  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    region_.require_inside(state);
    return {{"solid_fraction", "-", "volume of bodies in the region over its volume"},
            {"bodies_inside", "-", "bodies with their centre in the region"}};
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    constexpr int last = D - 1;
    const Box<D>& domain = sample.state.box;
    const Box<D> box = region_.box(domain);
    const Real lower = box.lower[last], upper = box.upper[last];
    const auto n_owned = static_cast<std::size_t>(sample.state.bodies.n_owned());
    const auto position = sample.state.bodies.position();
    const int turns = domain.is_periodic(last) ? 1 : 0;

    const int level = region_.level(sample.state);
    std::vector<Real> volume;
    std::int64_t n_inside = 0;
    for (std::size_t i = 0; i < n_owned; ++i) {
      if (!is_on_level(sample.state, i, level) || !region_.holds_beside(domain, position[i], last)) continue;
      const Real x = wrapped(domain, position[i])[last];
      n_inside += x >= lower && x < upper;
      Real inside = 0;
      for (int turn = -turns; turn <= turns; ++turn)
        inside += volume_between<D>(x + turn * domain.length(last), equal_ball_radius(sample.state, i), lower,
                                    upper);
      volume.push_back(inside);
    }
    const Comm& comm = sample.state.comm;
    row.push_back(ReproducibleSum::sum(comm, volume) / box.volume());
    row.push_back(static_cast<Real>(comm.sum(n_inside)));
  }

 private:
  MeasuredRegion<D> region_;
};

}  // namespace

SCREE_PLUGIN(Measure, solid_fraction, SolidFraction, "solid fraction of a box")

}  // namespace scree
