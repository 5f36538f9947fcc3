#include "analysis/measure.hpp"

namespace scree {
namespace {

/// Mechanical energy of the bodies and where it came from and went: the entries of EnergyLedger, added up
/// since the start, and what is missing in them,
///     imbalance = kinetic + potential - (start + wall_work + force_work + inflow - outflow - friction
///                                        - rolling - impact + correction + integration),
/// which is round-off. Schemes without this balance (soft contact) have the first two columns only. All in
/// J; disks count as 1 m thick.
template <int D>
class Energy final : public Measure<D> {
 public:
  void describe(Section& section) override {
    if (section.reading()) where_ = section.where("type");
  }

  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    require_inertia(state, where_, "energy");
    std::vector<ColumnInfo> columns{{"kinetic", "J", "kinetic energy, rotation included"},
                                    {"potential", "J", "in gravity, 0 at the origin, and in [forces.NAME]"}};
    if (!state.ledger.kept) return columns;
    EnergyLedger::for_each(state.ledger, [&](const char* name, Real) {
      columns.push_back({name, "J", fmt::format("entry of the energy ledger: {}", name)});
    });
    columns.push_back({"imbalance", "J", "kinetic and potential energy less the sum of the ledger"});
    return columns;
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    const MechanicalEnergy energy = mechanical_energy(sample.state);
    const EnergyLedger& ledger = sample.state.ledger;
    row.insert(row.end(), {energy.kinetic, energy.potential});
    if (!ledger.kept) return;
    EnergyLedger::for_each(ledger, [&](const char*, Real value) { row.push_back(value); });
    row.push_back(energy.total() - ledger.total());
  }

 private:
  std::string where_;
};

}  // namespace

SCREE_PLUGIN(Measure, energy, Energy, "kinetic and potential energy, and the energy balance")

}  // namespace scree
