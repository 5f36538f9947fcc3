#include <array>

#include "analysis/contacts.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"
#include "analysis/tensor.hpp"
#include "state/flow_sums.hpp"

namespace scree {
namespace {

/// Mean stress in the region of volume V [Pa], compression positive; disks count as 1 m thick. The contact
/// part is that of Love and Weber (Weber, Bull. Liaison Ponts et Chaussees 20, 1966),
///     contact_ij = (1/V) sum_c s_c f_ci l_cj,
/// f_c: force on body b [N], l_c: branch from the centre of a to that of b, or to the foot point on an
/// obstacle [m]. s_c is the share of the branch that lies in the region, as in the coarse-graining of
/// Goldhirsch (Granular Matter 12, 2010) with the box as its weight: the mean over a box of the field that
/// balances momentum exactly, so the stresses of adjacent boxes add up, and none jumps when a midpoint
/// crosses a face. The kinetic part,
///     kinetic_ij = (1/V) sum_i m_i v'_i v'_j,   v' = v - sum m v / sum m,
/// is over the bodies with their centre in the region; in a deforming domain v is the velocity about its
/// flow. pressure = trace(contact + kinetic) / D. A region that is not given is the whole domain, and
/// everything counts.
template <int D>
class Stress final : public Measure<D> {
 public:
  void describe(Section& section) override {
    Measure<D>::describe(section);
    region_.describe(section);
  }

  void check(const State<D>& state) const override {
    require_inertia(state, this->where_, "stress");
    region_.require_inside(state);
  }

  bool needs_forces() const override { return true; }
  MeasuredRow record(const Sample<D>& sample) override {
    const Real per_volume = 1 / region_.box(sample.state.box).volume();
    MeasuredRow row;
    Real trace = 0;
    const std::array<Real, D* D> contact = contact_part(sample);
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        row.push_back({"contact_" + axes(i, j), "Pa",
                       fmt::format("stress of contacts: force along {}, branch along {}", "xyz"[i], "xyz"[j]),
                       contact[i * D + j] * per_volume});
        if (i == j) trace += row.back().value;
      }
    const std::array<Real, n_symmetric<D>> kinetic = kinetic_part(sample.state);
    std::size_t k = 0;
    for_each_symmetric<D>([&](int i, int j) {
      row.push_back({"kinetic_" + axes(i, j), "Pa",
                     fmt::format("stress of motion about the mean, along {} and {}", "xyz"[i], "xyz"[j]),
                     kinetic[k++] * per_volume});
      if (i == j) trace += row.back().value;
    });
    row.push_back({"pressure", "Pa", "mean normal stress, contacts and motion together", trace / D});
    return row;
  }

 private:
  std::array<Real, D * D> contact_part(const Sample<D>& sample) const {
    const State<D>& state = sample.state;
    const ContactGraph<D>& contacts = sample.contacts;
    std::array<Real, D * D> sums{};
    ReproducibleSum::sum(state.comm, contacts.size(), sums, [&](std::size_t c, std::span<Real> term) {
      const Vec<D>& branch = contacts.branch[c];
      const Vec<D>& start = state.bodies.position()[contacts.a[c]];
      const Vec<D> force = region_.share_inside(state.box, start, branch) * force_on_b(contacts, c);
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) term[i * D + j] = force[i] * branch[j];
    });
    return sums;
  }

  std::array<Real, n_symmetric<D>> kinetic_part(const State<D>& state) const {
    const BodyStore<D>& bodies = state.bodies;
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      if (region_.holds(state.box, bodies.position()[i])) inside.push_back(i);
    const Vec<D> mean =
        mean_velocity_about_flow(state, inside.size(), [&](std::size_t n) { return inside[n]; });
    std::array<Real, n_symmetric<D>> sums{};
    ReproducibleSum::sum(state.comm, inside.size(), sums, [&](std::size_t n, std::span<Real> term) {
      const std::size_t i = inside[n];
      const Vec<D> v = velocity_about_flow(state, i) - mean;
      std::size_t k = 0;
      for_each_symmetric<D>([&](int p, int q) { term[k++] = bodies.mass()[i] * v[p] * v[q]; });
    });
    return sums;
  }

  MeasuredRegion<D> region_;
};

}  // namespace

SCREE_PLUGIN(Measure, stress, Stress, "mean stress of contacts and of motion in a box")

}  // namespace scree
