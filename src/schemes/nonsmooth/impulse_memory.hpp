#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "friction/friction_problem.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/common/point_values.hpp"

namespace scree {

/// What contacts of the scheme "nonsmooth" remember from step to step, in world axes: impulses, and with
/// springs (elastic contacts) those too, with rolling friction what resists it. Bodies with shapes remember
/// the impulse of each point by its name.
template <int D>
class ImpulseMemory {
 public:
  /// Beside the impulse, of an elastic contact.
  struct Elastic {
    Vec<D> impulse;  ///< on the larger id or the obstacle [N s]
    /// Tangential stretch y of the oscillator, by which the larger id or the obstacle has gone
    /// (docs/method.md, eq. D.24) [m].
    Vec<D> spring;
    Real load = 0;    ///< what all else added to the normal velocity in the last step [m/s]
    Real shift = 0;   ///< of the gap (eq. D.24) [m]
    Real energy = 0;  ///< stored along the normal [J]
  };

  /// With rolling friction.
  struct Rolling {
    Elastic contact;
    Vec<n_turns<D>> turning;  ///< angular impulse on the larger id or the obstacle [N m s]
  };

  /// What bodies are like does not change in a run. With rolling friction there are no shapes.
  ImpulseMemory(bool has_springs, bool has_shapes, bool has_rolling)
      : has_springs_(has_springs), has_shapes_(has_shapes), has_rolling_(has_rolling) {}

  void restore(const State<D>& state, const Neighborhood<D>& neighborhood) {
    visit(*this, [&](auto& field) { field.restore(state, neighborhood); });
  }
  /// Fits the present candidates, and remembers nothing. Local.
  void resize(const Neighborhood<D>& neighborhood) {
    visit(*this, [&](auto& field) { field.resize(neighborhood); });
    clear();
  }
  ContactMemory remember(const State<D>& state, const Neighborhood<D>& neighborhood) const {
    return visit(*this, [&](const auto& field) { return field.remember(state, neighborhood); });
  }
  void inherit(const ContactGraph<D>& contacts, Neighborhood<D>& neighborhood) {
    visit(*this, [&](auto& field) { field.inherit(contacts, neighborhood); });
  }
  void find_places(ContactGraph<D>& contacts, Neighborhood<D>& neighborhood) const {
    visit(*this, [&](const auto& field) { field.find_places(contacts, neighborhood); });
  }
  ContactRules<D> rules(Real tolerance) const {
    return visit(*this, [&](const auto& field) { return field.template rules<D>(tolerance); });
  }
  /// Makes `marks` fit the present candidates, 1 where a spring is stretched or pressed and 0 elsewhere.
  void mark_springs(ContactField<Real>& marks, const Neighborhood<D>& neighborhood) const {
    marks.resize(neighborhood);
    marks.clear();
    if (!has_springs_) return;
    const auto mark = [&](const auto& field, const auto& elastic) {
      const auto is_used = [](const Elastic& contact) { return contact.impulse != Vec<D>{} ? 1.0 : 0.0; };
      std::ranges::transform(field.pairs(), marks.pairs().begin(), is_used, elastic);
      std::ranges::transform(field.walls(), marks.walls().begin(), is_used, elastic);
    };
    if (has_rolling_)
      mark(rolling_, &Rolling::contact);
    else
      mark(elastic_, std::identity());
  }
  /// `factor` times the impulses, in the frames of `problem`, as a first guess; only of contacts that press.
  void guess(const FrictionProblem<D>& problem, const ContactGraph<D>& contacts, Real factor,
             std::span<Real> guess) const {
    for_each_impulse(contacts, [&](std::size_t c, const Vec<D>& impulse) {
      if (impulse == Vec<D>{}) return;
      for (std::size_t i = 0; i < D; ++i) guess[c * D + i] = dot(problem.frame[c][i], factor * impulse);
      if (guess[c * D] <= 0) std::fill_n(&guess[c * D], D, 0.0);
    });
  }
  /// Forgets all, and remembers the impulses of a step: component(c, i) along frame[c][i].
  template <class Component>
  void store(const FrictionProblem<D>& problem, const ContactGraph<D>& contacts, const Component& component) {
    clear();
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      Vec<D> r;
      for (std::size_t i = 0; i < D; ++i) r += component(c, i) * problem.frame[c][i];
      set_impulse(contacts, c, r);
    }
  }
  /// The forces of contacts between two steps, with 1/dt of the last step [1/s].
  void find_forces(ContactGraph<D>& contacts, Real per_time) const {
    contacts.force.resize(contacts.size());
    contacts.friction.resize(contacts.size());
    for_each_impulse(contacts, [&](std::size_t c, const Vec<D>& impulse) {
      const Vec<D> force = per_time * impulse;
      contacts.force[c] = dot(force, contacts.normal[c]);
      contacts.friction[c] = force - contacts.force[c] * contacts.normal[c];
    });
    contacts.rolling.resize(has_rolling_ ? contacts.size() : 0);
    for (std::size_t c = 0; c < contacts.rolling.size(); ++c)
      contacts.rolling[c] = per_time * turning(contacts, c);
  }
  void clear() {
    visit(*this, [](auto& field) { field.clear(); });
  }

  /// Of a contact of spheres.
  Vec<D> impulse(const ContactGraph<D>& contacts, std::size_t c) const {
    return has_springs_ || has_rolling_ ? elastic(contacts, c).impulse : rigid_.of(contacts, c);
  }
  /// Angular impulse against rolling. Only with rolling friction.
  const Vec<n_turns<D>>& turning(const ContactGraph<D>& contacts, std::size_t c) const {
    return rolling_.of(contacts, c).turning;
  }
  void set_turning(const ContactGraph<D>& contacts, std::size_t c, const Vec<n_turns<D>>& impulse) {
    rolling_.of(contacts, c).turning = impulse;
  }
  /// Calls f(c, impulse) for every contact; points of bodies with shapes may have it from others that are
  /// gone (PointValues).
  template <class F>
  void for_each_impulse(const ContactGraph<D>& contacts, F&& f) const {
    if (!has_shapes_ || has_springs_) {
      for (std::size_t c = 0; c < contacts.size(); ++c) f(c, impulse(contacts, c));
      return;
    }
    std::array<Vec<D>, PointValues<D>::max> found;
    for (std::size_t first = 0, last = 0; first < contacts.size(); first = last) {
      last = contacts.end_of_pair(first);
      points_.of(contacts, first)
          .read([&](std::size_t k) { return contacts.feature[first + k]; },
                std::span(found).first(last - first));
      for (std::size_t c = first; c < last; ++c) f(c, found[c - first]);
    }
  }
  /// Only with springs or rolling friction.
  Elastic& elastic(const ContactGraph<D>& contacts, std::size_t c) {
    return has_rolling_ ? rolling_.of(contacts, c).contact : elastic_.of(contacts, c);
  }
  const Elastic& elastic(const ContactGraph<D>& contacts, std::size_t c) const {
    return has_rolling_ ? rolling_.of(contacts, c).contact : elastic_.of(contacts, c);
  }
  bool has_springs() const { return has_springs_; }
  bool has_rolling() const { return has_rolling_; }

 private:
  /// After clear(), once for each contact.
  void set_impulse(const ContactGraph<D>& contacts, std::size_t c, const Vec<D>& impulse) {
    if (has_springs_ || has_rolling_) {
      elastic(contacts, c).impulse = impulse;
    } else if (!has_shapes_) {
      rigid_.of(contacts, c) = impulse;
    } else {
      points_.of(contacts, c).add(contacts.feature[c], impulse);
    }
  }
  /// Calls f with the field in use.
  template <class Self, class F>
  static auto visit(Self& self, F&& f) {
    if (self.has_rolling_) return f(self.rolling_);
    if (self.has_springs_) return f(self.elastic_);
    return self.has_shapes_ ? f(self.points_) : f(self.rigid_);
  }

  bool has_springs_, has_shapes_, has_rolling_;
  ContactField<Vec<D>> rigid_;
  ContactField<Elastic> elastic_;
  ContactField<Rolling> rolling_;
  ContactField<PointValues<D>> points_;
};

}  // namespace scree
