#include "analysis/measure.hpp"

namespace scree {
namespace {

/// Mechanical energy of the bodies and where it came from and went: the entries of EnergyBalance, added up
/// since the start, and what is missing in them,
///     imbalance = kinetic + potential - (start + wall_work + force_work + inflow - outflow - friction
///                                        - rolling - impact + correction + integration + stiffening
///                                        - elastic + cohesion),
/// which is round-off, in soft contact an error of the time step. stiffening and elastic are there where
/// contacts store energy, cohesion where they attract. Schemes without this balance (friction as a
/// constraint) have the first two columns only. All in J; disks count as 1 m thick.
template <int D>
class Energy final : public Measure<D> {
 public:
  void describe(Section& section) override {
    Measure<D>::describe(section);
    section.boolean(
        "balance", balance_,
        {.doc = "With the scheme \"dem\": whether to keep the energy balance, at the price of slower "
                "steps. Schemes that keep it anyway, and those that cannot, do not look at it"});
  }
  void check(const State<D>& state) const override { require_inertia(state, this->where_, "energy"); }

  bool needs_energy_balance() const override { return balance_; }

  MeasuredRow record(const Sample<D>& sample) override {
    const MechanicalEnergy energy = mechanical_energy(sample.state);
    const EnergyBalance& balance = sample.state.energy_balance;
    MeasuredRow row{
        {"kinetic", "J", "kinetic energy, rotation included", energy.kinetic},
        {"potential", "J", "in gravity, 0 at the origin, and in [forces.NAME]", energy.potential}};
    if (!balance.kept) return row;
    const auto add = [&](const char* name, Real value) {
      row.push_back({name, "J", fmt::format("entry of the energy balance: {}", name), value});
    };
    EnergyBalance::for_each(balance, add);
    if (balance.stored) EnergyBalance::for_each_stored(balance, add);
    if (balance.pulls) EnergyBalance::for_each_cohesive(balance, add);
    row.push_back({"imbalance", "J", "kinetic and potential energy less the sum of the balance",
                   energy.total() - balance.total()});
    return row;
  }

 private:
  bool balance_ = false;
};

}  // namespace

SCREE_PLUGIN(Measure, energy, Energy, "kinetic and potential energy, and the energy balance")

}  // namespace scree
