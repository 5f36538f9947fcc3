#pragma once
#include <vector>

#include "geometry/edge.hpp"

namespace scree {

// Shapes with many parts that programs make, not decks: the walls and columns of a floor plan.

/// Straight walls without thickness, one part each: see ThinWall. The cost does not depend on how many there
/// are.
class WallSegments final : public ThinWall {
 public:
  explicit WallSegments(std::vector<Edge> edges) {
    edges_ = std::move(edges);
    join();
  }
  void describe(Section&) override {}
};

/// Round columns, one part each, touched from outside.
class Columns final : public Shape<2> {
 public:
  struct Column {
    Vec<2> centre;
    Real radius;
    Box<2> bounds() const { return {centre - filled<2>(radius), centre + filled<2>(radius), {}}; }
  };
  explicit Columns(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void describe(Section&) override {}
  int n_parts() const override { return static_cast<int>(columns_.size()); }
  Box<2> bounds(int part, const Box<2>& domain) const override;
  void nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>> from,
               std::span<SurfacePoint<2>> result) const override;
  Outline<2> outline(const Box<2>& domain) const override;

 private:
  std::vector<Column> columns_;
};

}  // namespace scree
