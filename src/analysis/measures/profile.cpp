#include <algorithm>
#include <array>
#include <limits>

#include "analysis/cut_sphere.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"

namespace scree {
namespace {

/// Profiles along an axis: the region is cut into bins of equal height, and each bin has
///     v            mean velocity <v> of the bodies with their centre in the bin [m/s]
///     temperature  granular temperature <|v - <v>|^2> / D of these bodies [m2/s2]
///     bodies       their number
///     solid        volume of bodies in the bin over its volume; spheres are cut exactly by all its faces, a
///                  body with a shape counts as the sphere of its volume
/// All bodies weigh the same in the means.
template <int D>
class Profile final : public Measure<D> {
 public:
  void describe(Section& section) override {
    std::vector<Word<int>> axes{{"x", 0}, {"y", 1}, {"z", 2}};
    axes.resize(D);
    section.choice("axis", axis_, axes, {.doc = "axis along which the bins lie"});
    section.integer("bins", n_bins_,
                    {.range = {.min = 1, .max = 1000}, .required = true, .doc = "number of bins"});
    region_.describe(section);
  }

  void check(const State<D>& state) const override { region_.require_inside(state); }

  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    const BodyStore<D>& bodies = state.bodies;
    const Box<D> box = region_.box(state.box);
    const Real bin_volume = box.volume() / static_cast<Real>(n_bins_);
    const std::size_t n_bins = n_bins_;
    const auto bins_below = [&](Real x) {
      return (x - box.lower[axis_]) / box.length(axis_) * static_cast<Real>(n_bins_);
    };
    Box<D> faces = region_.faces(state.box);  // of a bin
    faces.lower[axis_] = box.lower[axis_];
    const int level = region_.level(state);
    std::vector<std::vector<Vec<D>>> velocity(n_bins);
    std::vector<std::vector<Real>> volume(n_bins);
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      if (!is_on_level(state, i, level)) continue;
      const Vec<D>& x = bodies.position()[i];
      const Real bin = bins_below(wrapped(state.box, x)[axis_]);
      if (region_.holds_beside(state.box, x, axis_) && bin >= 0 && bin < static_cast<Real>(n_bins_))
        velocity[bin].push_back(bodies.velocity()[i]);
      const Real radius = equal_sphere_radius(sample.state, i);
      region_.for_each_image(state.box, faces, x, [&](const Vec<D>& place) {
        const auto last_bin = static_cast<Real>(n_bins_ - 1);
        const Real first = std::max(0.0, std::floor(bins_below(place[axis_] - radius)));
        const Real last = std::min(last_bin, std::floor(bins_below(place[axis_] + radius)));
        Box<D> of_bin = faces;
        for (Real b = first; b <= last; ++b) {
          of_bin.lower[axis_] = face(box, b);
          of_bin.upper[axis_] = face(box, b + 1);
          volume[b].push_back(volume_in_box<D>(place, radius, of_bin));
        }
      });
    }
    MeasuredRow row;
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
      const std::string where =
          fmt::format("where {} is {:g} to {:g} m", "xyz"[axis_], face(box, static_cast<Real>(bin)),
                      face(box, static_cast<Real>(bin + 1)));
      add_velocity(state.comm, velocity[bin], bin, where, row);
      row.push_back({fmt::format("solid_{}", bin), "-", fmt::format("solid fraction {}", where),
                     ReproducibleSum::sum(state.comm, volume[bin]) / bin_volume});
    }
    return row;
  }

 private:
  Real face(const Box<D>& box, Real i) const {
    return box.lower[axis_] + box.length(axis_) * (i / static_cast<Real>(n_bins_));
  }

  /// Appends mean velocity, temperature and number of bodies.
  static void add_velocity(const Comm& comm, std::span<const Vec<D>> velocity, std::size_t bin,
                           const std::string& where, MeasuredRow& row) {
    const auto n = static_cast<Real>(comm.sum(static_cast<std::int64_t>(velocity.size())));
    const Real per_body = n > 0 ? 1 / n : std::numeric_limits<Real>::quiet_NaN();
    Vec<D> mean;
    ReproducibleSum::sum(comm, velocity.size(), mean.component, [&](std::size_t i, std::span<Real> term) {
      std::ranges::copy(velocity[i].component, term.begin());
    });
    mean *= per_body;
    std::array<Real, 1> squares{};
    ReproducibleSum::sum(comm, velocity.size(), squares, [&](std::size_t i, std::span<Real> term) {
      term[0] = dot(velocity[i] - mean, velocity[i] - mean);
    });
    for (int k = 0; k < D; ++k)
      row.push_back({fmt::format("v_{}_{}", "xyz"[k], bin), "m/s",
                     fmt::format("mean velocity along {} {}; nan without bodies", "xyz"[k], where), mean[k]});
    row.push_back({fmt::format("temperature_{}", bin), "m2/s2",
                   fmt::format("granular temperature {}; nan without bodies", where),
                   squares[0] * per_body / D});
    row.push_back(
        {fmt::format("n_bodies_{}", bin), "-", fmt::format("bodies with their centre {}", where), n});
  }

  int axis_ = D - 1;
  std::int64_t n_bins_ = 0;
  MeasuredRegion<D> region_;
};

}  // namespace

SCREE_PLUGIN(Measure, profile, Profile, "velocity, granular temperature and solid fraction along an axis")

}  // namespace scree
