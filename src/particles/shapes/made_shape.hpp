#pragma once
#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "particles/shape_table.hpp"

namespace scree {

/// What the kinds of shapes share: the key `rounding_radius`, and errors with their place in the deck.
template <int D>
class MadeShape : public ShapeKind<D> {
 public:
  const ConvexShape<D>& shape() const override { return shape_; }

 protected:
  void describe_rounding(Section& section) {
    section.real_or_word(
        "rounding_radius", rounding_, rounding_word_, {"auto"},
        {.unit = Unit::length,
         .range = positive,
         .doc = "Radius of edges and corners, which bodies need to have one normal where they touch; outer "
                "extents stay as they are. \"auto\": 0.001 of the smallest extent"});
  }
  std::optional<Real> rounding() const {
    return rounding_word_.empty() ? std::optional<Real>(rounding_) : std::nullopt;
  }
  /// What `maker` makes; where it cannot, its message gets the place in the deck.
  template <class Maker>
  static auto with_place(const Section& section, const Maker& maker) {
    try {
      return maker();
    } catch (const InputError& error) {
      section.fail("type", "[" + section.path() + "] " + error.what());
    }
  }
  void set(ConvexShape<D> shape) { shape_ = std::move(shape); }

 private:
  Real rounding_ = 0;
  std::string rounding_word_ = "auto";
  ConvexShape<D> shape_;
};

}  // namespace scree
