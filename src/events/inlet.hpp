#pragma once
#include <string>

#include "core/random.hpp"
#include "core/section.hpp"
#include "geometry/box.hpp"

namespace scree {

/// Where bodies are put that are made during a run.
template <int D>
class Inlet {
 public:
  virtual ~Inlet() = default;
  virtual void describe(Section& section) = 0;
  /// Fits the places to the domain; the calls below need it. Throws InputError, alike on all ranks, if a body
  /// of radius `largest` has no place.
  virtual void fit(const Box<D>& domain, Real largest) = 0;
  /// A place to try: the body lies within the domain along open axes. A function of the stream and the radius
  /// alone. Local.
  virtual Vec<D> draw(RandomStream& stream, Real radius) const = 0;
  /// A box around all places that draw() gives.
  virtual const Box<D>& bounds() const = 0;
  /// The places in words, for messages: "the region (0, 0) to (1, 1) m".
  virtual std::string text() const = 0;
};

template <>
std::span<const Entry<Inlet<2>>> registry<Inlet<2>>();
template <>
std::span<const Entry<Inlet<3>>> registry<Inlet<3>>();

}  // namespace scree
