#pragma once
#include "contact/contact_graph.hpp"
#include "core/section.hpp"

namespace scree {

/// What body a exerts on body b, or on the obstacle: normal reaction and friction [N; m/s in first-order
/// schemes].
template <int D>
Vec<D> force_on_b(const ContactGraph<D>& contacts, std::size_t c) {
  const Vec<D> normal = contacts.force[c] * contacts.normal[c];
  return contacts.friction.empty() ? normal : normal + contacts.friction[c];
}

/// Which contacts a measure counts.
struct CountedContacts {
  bool loaded = false;
  Real tolerance = 0;

  /// Declares and reads the keys.
  void describe(Section& section) {
    section.real("tolerance", tolerance,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "pairs with a gap of at most this count as contacts"});
    section.boolean(
        "loaded", loaded,
        {.doc = "whether contacts are instead the pairs that push each other, whatever their gap"});
  }

  template <int D>
  bool operator()(const ContactGraph<D>& contacts, std::size_t c) const {
    return loaded ? contacts.force[c] > 0 : contacts.gap[c] <= tolerance;
  }
};

}  // namespace scree
