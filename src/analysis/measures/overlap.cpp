#include <algorithm>
#include <array>

#include "analysis/measure.hpp"

namespace scree {
namespace {

/// How far surfaces overlap, that is max(0, -gap), over the contacts between bodies and with obstacles.
template <int D>
class Overlap final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.real("tolerance", tolerance_,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "pairs with a gap of at most this count as contacts"});
  }

  Real widest_gap() const override { return tolerance_; }
  MeasuredRow record(const Sample<D>& sample) override {
    const Comm& comm = sample.state.comm;
    const std::vector<Real>& gap = sample.contacts.gap;
    std::array<std::int64_t, 3> counts{};  // contacts, overlaps, bodies
    Real largest = 0;
    for (const Real g : gap) {
      counts[0] += g <= tolerance_;
      counts[1] += g < 0;
      largest = std::max(largest, -g);
    }
    counts[2] = sample.state.bodies.n_owned();
    comm.sum(counts);
    largest = comm.max(largest);
    std::array<Real, 1> total{};
    ReproducibleSum::sum(comm, gap.size(), total,
                         [&](std::size_t c, std::span<Real> term) { term[0] = std::max(0.0, -gap[c]); });
    const auto radius = sample.state.bodies.radius().first(sample.state.bodies.n_owned());
    const Real diameters = 2 * ReproducibleSum::sum(comm, radius);

    const auto n_contacts = static_cast<Real>(counts[0]), n_overlaps = static_cast<Real>(counts[1]);
    const Real mean = n_overlaps > 0 ? total[0] / n_overlaps : 0;
    const Real per_diameter = diameters > 0 ? static_cast<Real>(counts[2]) / diameters : 0;
    return {
        {"contacts", "-", "pairs with a gap of at most the tolerance", n_contacts},
        {"overlaps", "-", "pairs that overlap", n_overlaps},
        {"mean_overlap", "m", "mean overlap of the pairs that overlap; 0 if none does", mean},
        {"max_overlap", "m", "largest overlap", largest},
        {"mean_overlap_share", "-", "mean overlap over the mean diameter of the bodies", mean * per_diameter},
        {"max_overlap_share", "-", "largest overlap over the mean diameter of the bodies",
         largest * per_diameter}};
  }

 private:
  Real tolerance_ = 0;
};

}  // namespace

SCREE_PLUGIN(Measure, overlap, Overlap, "number of contacts, mean and largest overlap")

}  // namespace scree
