#pragma once
#include <array>
#include <memory>
#include <vector>

#include "io/vtk_series.hpp"
#include "state/state.hpp"

namespace scree {

/// The surface of a rounded body as triangles, for pictures; in the plane they fill the body.
template <int D>
struct DrawnSurface {
  std::vector<Vec<D>> points;
  std::vector<std::array<int, 3>> triangles;  ///< counter-clockwise from outside
};

/// The true surfaces of bodies, for ParaView: triangles with id, type, shape and speed of their body.
template <int D>
class BodySurfaces {
 public:
  explicit BodySurfaces(std::unique_ptr<VtkSeries> series) : series_(std::move(series)) {}

  /// A frame of the owned bodies of all ranks. Collective.
  void write(const State<D>& state);
  VtkSeries* series() { return series_.get(); }

 private:
  std::unique_ptr<VtkSeries> series_;
  std::vector<DrawnSurface<D>> drawn_;  // of each shape, of size 1
};

}  // namespace scree
