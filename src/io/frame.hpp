#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// One array of an output, of `components` numbers per item, held by the caller.
struct Column {
  std::string name;
  std::string unit;
  int components = 1;
  std::variant<std::span<const double>, std::span<const std::int64_t>, std::span<const std::int32_t>> values;
};

/// This rank's share of the points (or line segments, or triangles) of one frame. Coordinates are always
/// three.
struct Geometry {
  std::span<const double> points;           ///< 3 per point
  std::span<const std::int64_t> lines;      ///< 2 local point numbers per line; empty: none
  std::span<const std::int64_t> triangles;  ///< 3 local point numbers per triangle; empty: none
  bool vertices = true;                     ///< one vertex cell per point (so that ParaView shows them)
  std::vector<Column> point_columns;
  std::vector<Column> cell_columns;  ///< per line or triangle
};

}  // namespace scree
