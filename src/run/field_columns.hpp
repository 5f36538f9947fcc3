#pragma once
#include <deque>
#include <vector>

#include "io/frame.hpp"
#include "particles/body_store.hpp"
#include "state/state.hpp"

namespace scree {

enum class FieldFile { frames, h5md };

/// The fields of owned bodies that a file has, as its columns and in the order that fields.def gives. Frames
/// for ParaView have vectors of three components and orientations as quaternions (w, x, y, z), in the plane
/// about z; H5MD files have as many components as the run. Orientations are those in which shapes were
/// described. Valid while the state does not change. Local; O(bodies).
template <int D>
class FieldColumns {
 public:
  FieldColumns(const State<D>& state, FieldFile file);
  /// A column that is no field of bodies, at its place among the others.
  void add(int place, Column column);
  /// All of them; once.
  std::vector<Column> columns();

 private:
  template <class T>
  void add_field(int place, const FieldInfo& field, std::span<const T> values);
  /// Returns the number of components.
  template <int n>
  int add_vectors(Column& column, std::span<const Vec<n>> values);

  const State<D>& state_;
  FieldFile file_;
  struct Placed {
    int place;
    Column column;
  };
  std::vector<Placed> placed_;
  std::deque<std::vector<double>> converted_;
};

}  // namespace scree
