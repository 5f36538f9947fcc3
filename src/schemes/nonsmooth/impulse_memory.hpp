#pragma once
#include "schemes/common/contact_field.hpp"

namespace scree {

/// What contacts of the scheme "nonsmooth" remember from step to step, in world axes: impulses, and with
/// springs (elastic contacts) those too.
template <int D>
class ImpulseMemory {
 public:
  /// Beside the impulse, of a contact that gives way.
  struct Elastic {
    Vec<D> impulse;  ///< on the larger id or the obstacle [N s]
    Vec<D> spring;   ///< tangential stretch, how far the larger id or the obstacle has gone [m]
    Real load = 0;   ///< what all else added to the normal velocity in the last step [m/s]
  };

  explicit ImpulseMemory(bool has_springs) : has_springs_(has_springs) {}

  void recall(const State<D>& state, const Neighborhood<D>& neighborhood) {
    has_springs_ ? elastic_.recall(state, neighborhood) : rigid_.recall(state, neighborhood);
  }
  ContactMemory remember(const State<D>& state, const Neighborhood<D>& neighborhood) const {
    return has_springs_ ? elastic_.remember(state, neighborhood) : rigid_.remember(state, neighborhood);
  }
  void pass_on(const ContactGraph<D>& contacts, Neighborhood<D>& neighborhood) {
    has_springs_ ? elastic_.pass_on(contacts, neighborhood) : rigid_.pass_on(contacts, neighborhood);
  }
  ContactRules<D> rules(Real tolerance) const {
    return has_springs_ ? elastic_.template rules<D>(tolerance) : rigid_.template rules<D>(tolerance);
  }
  /// Makes `marks` fit the present candidates, 1 where a spring is stretched or pressed and 0 elsewhere.
  void mark_springs(ContactField<Real>& marks, const Neighborhood<D>& neighborhood) const {
    marks.fit(neighborhood);
    marks.clear();
    if (!has_springs_) return;
    const auto is_used = [](const Elastic& contact) { return contact.impulse != Vec<D>{} ? 1.0 : 0.0; };
    std::ranges::transform(elastic_.pairs(), marks.pairs().begin(), is_used);
    std::ranges::transform(elastic_.walls(), marks.walls().begin(), is_used);
  }
  void clear() { has_springs_ ? elastic_.clear() : rigid_.clear(); }

  Vec<D>& impulse(const ContactGraph<D>& contacts, std::size_t c) {
    return has_springs_ ? elastic_.of(contacts, c).impulse : rigid_.of(contacts, c);
  }
  const Vec<D>& impulse(const ContactGraph<D>& contacts, std::size_t c) const {
    return has_springs_ ? elastic_.of(contacts, c).impulse : rigid_.of(contacts, c);
  }
  /// Only with springs.
  Elastic& elastic(const ContactGraph<D>& contacts, std::size_t c) { return elastic_.of(contacts, c); }
  const Elastic& elastic(const ContactGraph<D>& contacts, std::size_t c) const {
    return elastic_.of(contacts, c);
  }
  bool has_springs() const { return has_springs_; }
  std::size_t bytes() const { return rigid_.bytes() + elastic_.bytes(); }

 private:
  bool has_springs_;
  ContactField<Vec<D>> rigid_;
  ContactField<Elastic> elastic_;
};

}  // namespace scree
