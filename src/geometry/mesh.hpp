#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// A surface of triangles [m]; corners are counter-clockwise seen from outside if the file has them so.
struct TriangleMesh {
  std::vector<Vec<3>> vertices;  ///< each place once
  std::vector<std::array<int, 3>> triangles;
  std::vector<int> number;       ///< of each triangle in the file, from 1
  std::size_t n_degenerate = 0;  ///< triangles of the file left out, as two of their corners are one place
  /// Solids of a text file: name, and number of the first triangle.
  std::vector<std::pair<std::string, int>> solids;
  std::size_t n_bytes_beyond = 0;  ///< of a binary file, after its triangles
};

/// Reads STL (text or binary: one has no byte 0) or Wavefront OBJ by the ending of `path` in any case.
/// Polygons of OBJ become fans of triangles; all but lines v and f are passed over. In text STL all before
/// the first solid is passed over, and lines that begin with #, // or ;. `text` is the content of the file.
/// Lengths are multiplied with `scale`. Vertices are merged if all bits of their coordinates agree, and are
/// in the order of the file. Errors: InputError "PATH:LINE: ..." (binary: "PATH: triangle N ...") for another
/// ending, a damaged file, a coordinate that is not finite, a corner that does not exist, and no triangles at
/// all. Cost O(n log n); a million triangles take two seconds. Local.
TriangleMesh parse_mesh(const std::string& path, std::string_view text, Real scale = 1);

/// The volume inside a closed surface whose triangles are counter-clockwise from outside [m3]; negative if
/// they are clockwise.
Real enclosed_volume(const TriangleMesh& mesh);

struct MeshDefects {
  std::size_t n_open_edges = 0;      ///< edges of one triangle alone
  std::size_t n_crowded_edges = 0;   ///< edges of more than two
  std::size_t n_inverted_edges = 0;  ///< edges whose two triangles run along them in the same direction
  struct Place {
    Vec<3> middle;  ///< [m]
    int triangle;   ///< number in the file
  };
  std::vector<Place> first;  ///< of such edges, two at most
  bool is_closed() const { return n_open_edges + n_crowded_edges == 0; }
};
/// O(n log n).
MeshDefects defects_of(const TriangleMesh& mesh);

/// Takes out triangles that have the corners of an earlier one, in any order; returns how many. O(n log n).
std::size_t leave_out_doubled(TriangleMesh& mesh);
/// Takes out triangles no wider than 1e-12 of their length, which have no normal; returns how many. Where the
/// surface goes on beyond all three edges of one, the triangle at its longest is cut in two. O(n log n).
std::size_t leave_out_lines(TriangleMesh& mesh);
/// Makes corners one that differ along no axis by more than 2e-6 of the largest extent of the mesh, as if
/// each were known to 1e-6, and takes out triangles of which nothing is left; returns how many corners are
/// gone. O(n).
std::size_t weld(TriangleMesh& mesh);

/// A part of a mesh that hangs together by edges of two triangles.
struct MeshShell {
  std::size_t n_triangles = 0, first = 0;  ///< and the first of them
  Real area = 0, volume = 0;               ///< [m2, m3]; volume: negative if the triangles face inwards
  bool is_closed = true;
  int depth = 0;  ///< in how many other closed shells it is
};

/// What mend() has done to a mesh.
struct MeshRepairs {
  std::size_t n_welded = 0, n_lines = 0, n_doubled = 0;
  std::size_t n_turned = 0, n_shells_turned = 0;
  std::vector<MeshShell> shells;  ///< as they are now, in the order of their first triangles
  bool is_outward = true;         ///< closed shells face out of the solid, else all of them into it
  int one_sided = -1;  ///< a triangle that cannot face the same way as all its neighbours; -1: none

  /// A sentence without an end for each kind of repair: "3 triangles ... are left out". `name`: of the file.
  std::vector<std::string> lines(const std::string& name) const;
};
/// Which shells mend() turns.
enum class Orient {
  nothing,
  outer_shells,  ///< shells within others, which may be walls of their own, keep their side
  all
};
/// Mends what files of meshes often have: welds corners, takes out what has no area or is there twice. The
/// triangles of a shell then face the same way (as most of them did), and closed shells out of
/// the solid or into it alike: out of it at the even depths 0, 2, ..., into the hollow at the odd ones. A
/// mesh without faults stays as it is, bit for bit. O(n log n), and O(triangles) for each shell in the box of
/// another.
MeshRepairs mend(TriangleMesh& mesh, Orient orient);

/// The mesh as the text of an STL file, which gives the same places again.
std::string stl_text(const TriangleMesh& mesh);

}  // namespace scree
