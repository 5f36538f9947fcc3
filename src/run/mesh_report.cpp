#include "run/mesh_report.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/input_file.hpp"
#include "core/json.hpp"
#include "geometry/mesh.hpp"

namespace scree {

std::string report_mesh(const std::string& path, const MeshReportOptions& options) {
  TriangleMesh mesh = parse_mesh(path, read_input(path), options.scale);
  const MeshRepairs repairs = mend(mesh, options.is_scene ? Orient::outer_shells : Orient::all);
  if (mesh.triangles.empty()) throw InputError(path + ": there is no triangle with an area");
  std::vector<std::string> mended = repairs.lines(path);
  if (mesh.n_bytes_beyond > 0)
    mended.push_back(
        fmt::format("{} bytes after the triangles of '{}' are passed over", mesh.n_bytes_beyond, path));
  const MeshDefects defects = defects_of(mesh);
  const bool is_closed = defects.is_closed() && repairs.one_sided < 0;
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
  Vec<3> lower = mesh.vertices[static_cast<std::size_t>(mesh.triangles[0][0])], upper = lower;
  for (const auto& corners : mesh.triangles)
    for (const int v : corners)
      for (int k = 0; k < 3; ++k) {
        lower[k] = std::min(lower[k], mesh.vertices[static_cast<std::size_t>(v)][k]);
        upper[k] = std::max(upper[k], mesh.vertices[static_cast<std::size_t>(v)][k]);
      }
  if (!options.output.empty()) {
    if (!options.output.ends_with(".stl"))
      throw InputError(options.output + ": the mended mesh is written as a file that ends with .stl");
    if (!repairs.is_outward)
      for (auto& corners : mesh.triangles) std::swap(corners[1], corners[2]);
    files::write_atomically(options.output, stl_text(mesh));
  }
  if (options.json)
    return Json{{"file", path},
                {"triangles", mesh.triangles.size()},
                {"corners", mesh.vertices.size()},
                {"lower_m", lower.component},
                {"upper_m", upper.component},
                {"area_m2", area},
                {"volume_m3", is_closed ? Json(volume) : Json(nullptr)},
                {"closed", is_closed},
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
                  mesh.triangles.size(), mesh.vertices.size(), fmt::join(lower.component, ", "),
                  fmt::join(upper.component, ", "), area);
  if (is_closed)
    text += fmt::format(
        "closed, volume {:.6g} m3, triangles face {}wards: for side = \"outside\", \"inside\" or \"both\"\n",
        volume, repairs.is_outward ? "out" : "in");
  else if (repairs.one_sided >= 0)
    text += fmt::format(
        "its triangles cannot all face the same way, the first is number {}: for side = \"both\"\n",
        mesh.number[static_cast<std::size_t>(repairs.one_sided)]);
  else
    text += fmt::format(
        "not closed: {} edges have one triangle and {} more than two, the first at ({:.6g}) m (triangle {}): "
        "for side = \"both\"\n",
        defects.n_open_edges, defects.n_crowded_edges,
        fmt::join(defects.first.front().middle.component, ", "), defects.first.front().triangle);
  text += lines;
  for (const std::string& line : mended) text += "mended: " + line + "\n";
  if (!options.output.empty()) text += fmt::format("written: {}\n", options.output);
  return text;
}

}  // namespace scree
