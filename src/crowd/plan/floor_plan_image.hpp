#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "crowd/plan/floor_plan_geos.hpp"

namespace scree {

/// A colour, one byte each for red, green and blue from the highest byte down.
using Colour = std::uint32_t;

/// Reads "#rrggbb". Throws InputError that starts with `where`.
Colour read_colour(const std::string& text, const std::string& where);

/// An image that shows a floor plan, in runs of pixels of one colour: rows from the bottom up, as y counts.
class PlanImage {
 public:
  struct Run {
    int begin;  ///< first pixel of its row; the run ends where the next one begins
    Colour colour;
  };

  /// Reads a PNG file; what is transparent becomes white. `pixel` is the size of a pixel [m], `origin` the
  /// lower left corner of the image [m]. Two colours count as equal if no part differs by more than
  /// `tolerance` (0 to 255). Throws InputError that starts with `source`. Local; O(pixels).
  PlanImage(const std::string& path, Real pixel, const Vec<2>& origin, int tolerance,
            const std::string& source);

  /// What is not of the colour `walls`. Throws InputError that starts with `source` if there is nothing.
  /// Outlines follow the edges of pixels; where they go up and down in steps of one pixel, they go through
  /// the middles of the steps instead (a slanted wall stays straight), and corners that lie within half a
  /// pixel of a line are left out. Pixels that meet at a corner only are not connected. O(n log n) in the
  /// corners of the outlines.
  Geometry all_but(const Geos& geos, Colour walls, const std::string& source) const;
  /// The pixels of a colour in the same way. Throws InputError that names the colours there are.
  Geometry all_of(const Geos& geos, Colour colour, const std::string& source) const;

 private:
  bool matches(Colour a, Colour b) const;
  std::span<const Run> row(int y) const {
    const std::size_t at = y;
    return {runs_.data() + first_run_[at], runs_.data() + first_run_[at + 1]};
  }
  std::vector<char> mask(Colour colour, bool equal) const;
  Geometry outlines_of(const Geos& geos, const std::vector<char>& mask) const;
  std::string colours_text() const;

  int width_ = 0;
  int height_ = 0;
  Real pixel_;
  Vec<2> origin_;
  int tolerance_;
  std::vector<Run> runs_;
  std::vector<std::size_t> first_run_;  // of each row, and the end
};

}  // namespace scree
