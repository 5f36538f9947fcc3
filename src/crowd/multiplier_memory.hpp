#pragma once
#include <functional>
#include <span>
#include <vector>

#include "crowd/look_ahead.hpp"
#include "schemes/common/contact_field.hpp"

namespace scree {

/// The multipliers of people's contacts [m/s] from step to step: those of the last step are where the
/// projection starts from. Local but for remember().
class MultiplierMemory {
 public:
  /// After a list build.
  void restore(const State<2>& state, const Neighborhood<2>& neighborhood) {
    field_.restore(state, neighborhood);
  }
  /// Of the owned people. Collective.
  ContactMemory remember(const State<2>& state, const Neighborhood<2>& neighborhood) const {
    return field_.remember(state, neighborhood);
  }
  /// Of the near contacts.
  void get(const NearContacts& near, Neighborhood<2>& neighborhood, std::vector<Real>& multiplier);
  /// All others become 0.
  void set(const NearContacts& near, std::span<const Real> multiplier);
  /// After people have gone: see SweepSchedule::renumber.
  void keep_walls(std::span<const Index> kept) { field_.keep_walls(kept); }
  /// Keeps what it knows while `relist` lists the candidates of the same people again.
  void keep_while(const Neighborhood<2>& neighborhood, const std::function<void()>& relist);

  const ContactField<Real>& field() const { return field_; }

 private:
  ContactField<Real> field_;
};

}  // namespace scree
