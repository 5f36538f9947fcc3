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

/// Which contacts a measure counts: those that carry load, or all pairs up to a gap. Rigid bodies at rest
/// touch with gaps of either sign, so only the load distinguishes their contacts from near misses.
struct CountedContacts {
  bool loaded = true;
  Real tolerance = 0;  ///< [m]; of no meaning if loaded

  /// Declares and reads the keys.
  void describe(Section& section) {
    section.real("tolerance", tolerance,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "pairs with a gap of at most this count as contacts, whatever they carry; if given, "
                         "loaded is false"});
    if (section.reading() && section.has("tolerance")) loaded = false;
    section.boolean(
        "loaded", loaded,
        {.doc = "whether contacts are the pairs that carry load (normal force, impulse or pressure "
                "above 0), whatever their gap; before the first step that is none, except in "
                "\"dem\""});
    if (section.reading() && loaded && tolerance > 0)
      section.fail("tolerance", "tolerance has no effect with loaded = true: give one of them");
  }

  template <int D>
  bool operator()(const ContactGraph<D>& contacts, std::size_t c) const {
    return loaded ? contacts.force[c] > 0 : contacts.gap[c] <= tolerance;
  }
};

}  // namespace scree
