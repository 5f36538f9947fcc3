#include "analysis/cut_sphere.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"

namespace scree {
namespace {

/// Volume of the bodies in a box, over the volume of the box. Spheres are cut exactly by its faces; a body
/// with a shape counts as the sphere of its volume. Overlaps count twice.
template <int D>
class SolidFraction final : public Measure<D> {
 public:
  void describe(Section& section) override { region_.describe(section); }

  void check(const State<D>& state) const override { region_.require_inside(state); }

  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    const Box<D> faces = region_.faces(state.box);
    const int level = region_.level(state);
    std::vector<Real> volume;
    std::int64_t n_inside = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      if (!is_on_level(state, i, level)) continue;
      const Vec<D>& x = state.bodies.position()[i];
      n_inside += region_.holds_beside(state.box, x, -1);
      const Real radius = equal_sphere_radius(state, i);
      Real inside = 0;
      region_.for_each_image(state.box, faces, x,
                             [&](const Vec<D>& place) { inside += volume_in_box<D>(place, radius, faces); });
      if (inside > 0) volume.push_back(inside);
    }
    const Comm& comm = state.comm;
    return {
        {"solid_fraction", "-", "volume of bodies in the region over its volume",
         ReproducibleSum::sum(comm, volume) / region_.box(state.box).volume()},
        {"n_bodies", "-", "bodies with their centre in the region", static_cast<Real>(comm.sum(n_inside))}};
  }

 private:
  MeasuredRegion<D> region_;
};

}  // namespace

SCREE_PLUGIN(Measure, solid_fraction, SolidFraction, "solid fraction of a box")

}  // namespace scree
