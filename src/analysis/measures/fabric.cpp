#include <array>
#include <limits>

#include "analysis/contacts.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"
#include "analysis/tensor.hpp"

namespace scree {
namespace {

/// Where contacts point: the fabric tensor of the N contacts whose branch has its midpoint in the region
/// (that of a wall contact runs from the centre to the foot point),
///     F = (1/N) sum_c n_c (x) n_c,   trace F = 1,
/// (Satake 1982; Oda 1982), and its anisotropy
///     a = sqrt(D/(D-1)) |F - I/D|   (Frobenius norm)
/// between 0 (all directions alike) and 1 (all normals parallel). It is the difference of the largest and the
/// smallest eigenvalue of F in the plane, and in space if two eigenvalues are equal.
template <int D>
class Fabric final : public Measure<D> {
 public:
  void describe(Section& section) override {
    counted_.describe(section);
    region_.describe(section);
  }

  void check(const State<D>& state) const override { region_.require_inside(state); }

  Real widest_gap() const override { return counted_.tolerance; }
  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    const ContactGraph<D>& contacts = sample.contacts;
    const int level = region_.level(state);
    std::vector<std::size_t> inside;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const std::size_t a = contacts.a[c];
      const Vec<D> start = state.bodies.position()[a];
      // Of two bodies on two levels that of the lower id counts: which of them is a may depend on the ranks.
      const auto b = contacts.b[c] < 0 ? a : static_cast<std::size_t>(contacts.b[c]);
      const std::size_t first = state.bodies.id()[b] < state.bodies.id()[a] ? b : a;
      if (counted_(contacts, c) && is_on_level(state, first, level) &&
          region_.holds(state.box, start + 0.5 * contacts.branch[c]))
        inside.push_back(c);
    }
    std::array<Real, n_symmetric<D>> fabric{};
    ReproducibleSum::sum(state.comm, inside.size(), fabric, [&](std::size_t i, std::span<Real> term) {
      const Vec<D>& normal = contacts.normal[inside[i]];
      std::size_t k = 0;
      for_each_symmetric<D>([&](int p, int q) { term[k++] = normal[p] * normal[q]; });
    });
    const auto n = static_cast<Real>(state.comm.sum(static_cast<std::int64_t>(inside.size())));
    MeasuredRow row{{"contacts", "-", "contacts in the region", n}};
    Real squares = 0;
    std::size_t k = 0;
    for_each_symmetric<D>([&](int p, int q) {
      const Real mean = n > 0 ? fabric[k++] / n : std::numeric_limits<Real>::quiet_NaN();
      const Real deviator = p == q ? mean - 1.0 / D : mean;
      squares += (p == q ? 1 : 2) * deviator * deviator;
      row.push_back({axes(p, q), "-",
                     fmt::format("mean of n_{} n_{}; nan without contacts", "xyz"[p], "xyz"[q]), mean});
    });
    row.push_back({"anisotropy", "-",
                   "0: contacts point everywhere alike, 1: all along one line; nan without contacts",
                   std::sqrt(squares * D / (D - 1))});
    return row;
  }

 private:
  CountedContacts counted_;
  MeasuredRegion<D> region_;
};

}  // namespace

SCREE_PLUGIN(Measure, fabric, Fabric, "fabric tensor of the contact normals, and their anisotropy")

}  // namespace scree
