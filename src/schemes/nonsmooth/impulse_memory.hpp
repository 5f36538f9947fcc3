#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "schemes/common/contact_field.hpp"

namespace scree {

/// What contacts of the scheme "nonsmooth" remember from step to step, in world axes: impulses, and with
/// springs (elastic contacts) those too. Bodies with shapes remember the impulse of each point by its name.
template <int D>
class ImpulseMemory {
 public:
  /// Beside the impulse, of a contact that gives way.
  struct Elastic {
    Vec<D> impulse;  ///< on the larger id or the obstacle [N s]
    Vec<D> spring;   ///< tangential stretch, how far the larger id or the obstacle has gone [m]
    Real load = 0;   ///< what all else added to the normal velocity in the last step [m/s]
  };
  /// The points of two bodies, or of a body and a wall. Those without an impulse are not remembered.
  struct Points {
    struct Point {
      Real feature = 0;  ///< its name, exact in a Real
      Vec<D> impulse;
    };
    std::array<Point, D == 2 ? 2 : 4> point;
  };

  /// What bodies are like does not change in a run.
  ImpulseMemory(bool has_springs, bool has_shapes) : has_springs_(has_springs), has_shapes_(has_shapes) {}

  void recall(const State<D>& state, const Neighborhood<D>& neighborhood) {
    visit(*this, [&](auto& field) { field.recall(state, neighborhood); });
  }
  ContactMemory remember(const State<D>& state, const Neighborhood<D>& neighborhood) const {
    return visit(*this, [&](const auto& field) { return field.remember(state, neighborhood); });
  }
  void pass_on(const ContactGraph<D>& contacts, Neighborhood<D>& neighborhood) {
    visit(*this, [&](auto& field) { field.pass_on(contacts, neighborhood); });
  }
  ContactRules<D> rules(Real tolerance) const {
    return visit(*this, [&](const auto& field) { return field.template rules<D>(tolerance); });
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
  void clear() {
    visit(*this, [](auto& field) { field.clear(); });
  }

  Vec<D> impulse(const ContactGraph<D>& contacts, std::size_t c) const {
    if (has_springs_) return elastic_.of(contacts, c).impulse;
    if (!has_shapes_) return rigid_.of(contacts, c);
    for (const auto& point : points_.of(contacts, c).point)
      if (point.feature == Real(contacts.feature[c]) && point.impulse != Vec<D>{}) return point.impulse;
    return {};
  }
  /// The impulse of every contact. What points of a pair had that are not there any more goes to its new
  /// ones in equal shares, or to all its points if none is new.
  void impulses(const ContactGraph<D>& contacts, std::vector<Vec<D>>& found) const {
    found.resize(contacts.size());
    for (std::size_t c = 0; c < found.size(); ++c) found[c] = impulse(contacts, c);
    if (has_springs_ || !has_shapes_) return;
    for (std::size_t first = 0, last = 0; first < found.size(); first = last) {
      last = contacts.end_of_pair(first);
      hand_on(contacts, first, std::span(found).subspan(first, last - first));
    }
  }
  /// After clear(), once for each contact.
  void set_impulse(const ContactGraph<D>& contacts, std::size_t c, const Vec<D>& impulse) {
    if (has_springs_) {
      elastic_.of(contacts, c).impulse = impulse;
    } else if (!has_shapes_) {
      rigid_.of(contacts, c) = impulse;
    } else if (impulse != Vec<D>{}) {
      for (auto& point : points_.of(contacts, c).point) {
        if (point.impulse != Vec<D>{}) continue;
        point = {Real(contacts.feature[c]), impulse};
        break;
      }
    }
  }
  /// Only with springs.
  Elastic& elastic(const ContactGraph<D>& contacts, std::size_t c) { return elastic_.of(contacts, c); }
  const Elastic& elastic(const ContactGraph<D>& contacts, std::size_t c) const {
    return elastic_.of(contacts, c);
  }
  bool has_springs() const { return has_springs_; }
  std::size_t bytes() const { return rigid_.bytes() + elastic_.bytes() + points_.bytes(); }

 private:
  /// Calls f with the field in use.
  template <class Self, class F>
  static auto visit(Self& self, F&& f) {
    if (self.has_springs_) return f(self.elastic_);
    return self.has_shapes_ ? f(self.points_) : f(self.rigid_);
  }

  /// `found`: of the contacts of a pair, the first of which is `first`.
  void hand_on(const ContactGraph<D>& contacts, std::size_t first, std::span<Vec<D>> found) const {
    const auto is_there = [&](Real feature) {
      for (std::size_t k = 0; k < found.size(); ++k)
        if (feature == Real(contacts.feature[first + k])) return true;
      return false;
    };
    Vec<D> lost;
    for (const auto& point : points_.of(contacts, first).point)
      if (point.impulse != Vec<D>{} && !is_there(point.feature)) lost += point.impulse;
    if (lost == Vec<D>{}) return;
    const auto n_new = std::ranges::count(found, Vec<D>{});
    const Vec<D> share = lost * (1 / static_cast<Real>(n_new > 0 ? n_new : std::ssize(found)));
    for (Vec<D>& impulse : found)
      if (n_new == 0 || impulse == Vec<D>{}) impulse += share;
  }

  bool has_springs_, has_shapes_;
  ContactField<Vec<D>> rigid_;
  ContactField<Elastic> elastic_;
  ContactField<Points> points_;
};

}  // namespace scree
