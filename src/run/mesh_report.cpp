#include "run/mesh_report.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/input_file.hpp"
#include "core/json.hpp"
#include "geometry/box.hpp"
#include "geometry/mesh.hpp"

namespace scree {

namespace {

bool is_closed(const MeshRepairs& repairs, const MeshDefects& defects) {
  return defects.is_closed() && repairs.one_sided < 0;
}

/// Whether the mesh is closed, and for which sides it is good.
std::string facing_text(const TriangleMesh& mesh, const MeshRepairs& repairs, const MeshDefects& defects,
                        Real volume) {
  if (is_closed(repairs, defects))
    return fmt::format(
        "closed, volume {:.6g} m3, triangles face {}wards: for side = \"outside\", \"inside\" or \"both\"\n",
        volume, repairs.is_outward ? "out" : "in");
  if (repairs.one_sided >= 0)
    return fmt::format(
        "its triangles cannot all face the same way, the first is number {}: for side = \"both\"\n",
        mesh.number[repairs.one_sided]);
  return fmt::format(
      "not closed: {} edges have one triangle and {} more than two, the first at ({:.6g}) m (triangle {}): "
      "for side = \"both\"\n",
      defects.n_open_edges, defects.n_crowded_edges, fmt::join(defects.first.front().middle.component, ", "),
      defects.first.front().triangle);
}

/// Writes the mended mesh; what is inside out turned.
void write_mended(const std::string& path, TriangleMesh& mesh, const MeshRepairs& repairs) {
  if (!path.ends_with(".stl"))
    throw InputError(path + ": the mended mesh is written as a file that ends with .stl");
  if (!repairs.is_outward)
    for (auto& corners : mesh.triangles) std::swap(corners[1], corners[2]);
  files::write_atomically(path, stl_text(mesh));
}

}  // namespace

std::string report_mesh(const std::string& path, const MeshReportOptions& options) {
  TriangleMesh mesh = parse_mesh(path, read_input(path), options.scale);
  const MeshRepairs repairs = mend(mesh, options.keeps_inner_shells ? Orient::outer_shells : Orient::all);
  if (mesh.triangles.empty()) throw InputError(path + ": there is no triangle with an area");
  std::vector<std::string> mended = repairs.lines(path);
  if (mesh.n_bytes_beyond > 0)
    mended.push_back(
        fmt::format("{} bytes after the triangles of '{}' are passed over", mesh.n_bytes_beyond, path));
  const MeshDefects defects = defects_of(mesh);
  Real area = 0, volume = 0;
  Json shells = Json::array();
  std::string lines;
  for (const MeshShell& shell : repairs.shells) {
    const Real outward = repairs.is_outward ? shell.volume : -shell.volume;
    const int number = mesh.number[shell.first];
    area += shell.area;
    volume += outward;
    shells.push_back({{"triangles", shell.n_triangles},
                      {"first_triangle", number},
                      {"closed", shell.is_closed},
                      {"depth", shell.depth},
                      {"area_m2", shell.area},
                      {"volume_m3", shell.is_closed ? Json(outward) : Json(nullptr)}});
    lines += fmt::format("  shell of {} triangles, the first number {}: area {:.6g} m2, {}\n",
                         shell.n_triangles, number, shell.area,
                         shell.is_closed ? fmt::format("closed, volume {:.6g} m3{}", std::abs(outward),
                                                       shell.depth % 2 == 0 ? "" : ", a hollow")
                                         : "open");
  }
  Box<3> around = Box<3>::empty();
  for (const auto& corners : mesh.triangles)
    for (const int v : corners) around.include(mesh.vertices[v]);
  if (!options.output.empty()) write_mended(options.output, mesh, repairs);
  if (options.json)
    return Json{{"file", path},
                {"triangles", mesh.triangles.size()},
                {"corners", mesh.vertices.size()},
                {"lower_m", around.lower.component},
                {"upper_m", around.upper.component},
                {"area_m2", area},
                {"volume_m3", is_closed(repairs, defects) ? Json(volume) : Json(nullptr)},
                {"closed", is_closed(repairs, defects)},
                {"outward", repairs.is_outward},
                {"open_edges", defects.n_open_edges},
                {"crowded_edges", defects.n_crowded_edges},
                {"two_sided", repairs.one_sided < 0},
                {"shells", shells},
                {"mended", mended}}
               .dump(2) +
           "\n";
  std::string text =
      fmt::format("{}: {} triangles, {} corners, from ({:.6g}) to ({:.6g}) m, area {:.6g} m2\n", path,
                  mesh.triangles.size(), mesh.vertices.size(), fmt::join(around.lower.component, ", "),
                  fmt::join(around.upper.component, ", "), area);
  text += facing_text(mesh, repairs, defects, volume) + lines;
  for (const std::string& line : mended) text += "mended: " + line + "\n";
  if (!options.output.empty()) text += fmt::format("written: {}\n", options.output);
  return text;
}

}  // namespace scree
