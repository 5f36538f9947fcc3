#include "geometry/mesh.hpp"

#include "geometry/mesh_sides.hpp"

namespace scree {

Real enclosed_volume(const TriangleMesh& mesh) {
  const Vec<3> origin = mesh.vertices.front();
  Real sum = 0;
  for (const auto& corner : mesh.triangles) {
    const auto arm = [&](std::size_t k) { return mesh.vertices[corner[k]] - origin; };
    sum += dot(arm(0), cross(arm(1), arm(2)));
  }
  return sum / 6;
}

MeshDefects defects_of(const TriangleMesh& mesh) {
  MeshDefects defects;
  const std::vector<TriangleSide> sides = sides_of(mesh);
  for_each_edge(sides, [&](std::span<const TriangleSide> at_edge) {
    const std::size_t n = at_edge.size();
    if (n == 2 && at_edge[0].forwards != at_edge[1].forwards) return;
    ++(n == 1 ? defects.n_open_edges : n > 2 ? defects.n_crowded_edges : defects.n_inverted_edges);
    if (defects.first.size() < 2)
      defects.first.push_back({0.5 * (mesh.vertices[at_edge[0].low] + mesh.vertices[at_edge[0].high]),
                               mesh.number[at_edge[0].triangle]});
  });
  return defects;
}

}  // namespace scree
