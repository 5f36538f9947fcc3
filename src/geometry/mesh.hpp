#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// A surface of triangles [m]; corners are counter-clockwise seen from outside if the file has them so.
struct TriangleMesh {
  std::vector<Vec<3>> vertices;  ///< each place once
  std::vector<std::array<int, 3>> triangles;
  std::size_t n_degenerate = 0;  ///< triangles of the file left out, as two of their corners are one place
};

/// Reads STL (text or binary, told apart by their length) or Wavefront OBJ by the ending of `path` in any
/// case. Polygons of OBJ become fans of triangles; all but lines v and f are passed over. `text` is the
/// content of the file. Lengths are multiplied with `scale`. Vertices are merged if all bits of their
/// coordinates agree, and are in the order of the file. Errors: InputError "PATH:LINE: ..." (binary: "PATH:
/// triangle N ...") for another ending, a damaged file, a coordinate that is not finite, a corner that does
/// not exist, and no triangles at all. Cost O(n log n); a million triangles take two seconds. Local.
TriangleMesh parse_mesh(const std::string& path, std::string_view text, Real scale = 1);

/// The volume inside a closed surface whose triangles are counter-clockwise from outside [m3]; negative if
/// they are clockwise.
Real enclosed_volume(const TriangleMesh& mesh);

struct MeshDefects {
  std::size_t n_open_edges = 0;      ///< edges of one triangle alone
  std::size_t n_crowded_edges = 0;   ///< edges of more than two
  std::size_t n_inverted_edges = 0;  ///< edges whose two triangles run along them in the same direction
  std::vector<Vec<3>> first;         ///< middles of the first such edges, two at most [m]
};
/// O(n log n).
MeshDefects defects_of(const TriangleMesh& mesh);

/// Takes out triangles that have the corners of an earlier one, in any order; returns how many. O(n log n).
std::size_t leave_out_doubled(TriangleMesh& mesh);
/// Takes out triangles no wider than 1e-12 of their length, which have no normal; returns how many. O(n).
std::size_t leave_out_lines(TriangleMesh& mesh);

}  // namespace scree
