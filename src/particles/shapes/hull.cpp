#include <fmt/format.h>

#include <cmath>

#include "core/file_checksum.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"
#include "geometry/convex/manifold.hpp"
#include "geometry/mesh.hpp"
#include "particles/shapes/made_shape.hpp"

namespace scree {
namespace {

/// The convex hull of the corners of a mesh.
class HullBody final : public MadeShape<3> {
 public:
  void describe(Section& section) override {
    section.text("file", file_, {.required = true, .doc = "STL or OBJ file with a closed surface"});
    section.real("scale", scale_,
                 {.range = positive, .doc = "What its lengths are multiplied with to be metres"});
    section.real_or_word("accept_hull", accept_hull_, accept_hull_word_, {"any"},
                         {.range = non_negative,
                          .doc = "Share by which the volume of the hull may exceed that of the mesh, which "
                                 "bodies lose their hollows by; \"any\": whatever it is"});
    describe_rounding(section);
    if (section.reading()) set(shape_of_file(section));
    describe_checksum(section, "file", file_);
  }

 private:
  ConvexShape<3> shape_of_file(const Section& section) const {
    const std::string where = section.where("file"), path = path_of_input(file_, where);
    if (const std::string why = obstacle_to_read(path); !why.empty())
      section.fail("file", fmt::format("'{}' is not there or cannot be opened: {}", file_, why));
    TriangleMesh mesh = parse_mesh(path, read_input(path), scale_);
    for (const std::string& line : mend(mesh, Orient::all).lines(file_)) log::info("{}: {}", where, line);
    if (mesh.triangles.empty()) section.fail("file", fmt::format("'{}' has no triangle with an area", file_));
    const MeshDefects defects = defects_of(mesh);
    const bool any = !accept_hull_word_.empty();
    if (!any && !defects.is_closed())
      section.fail("file", fmt::format("the surface in '{}' is not closed: {} edges have one triangle, {} "
                                       "more than two; close it, or set accept_hull = \"any\"",
                                       file_, defects.n_open_edges, defects.n_crowded_edges));
    if (defects.n_inverted_edges > 0)
      log::info("{}: triangles on both sides of {} edges of '{}' face opposite ways: its hull is taken",
                where, defects.n_inverted_edges, file_);
    const ConvexHull<3> hull = with_place(section, [&] { return hull_of<3>(mesh.vertices); });
    ConvexShape<3> shape = with_place(section, [&] { return hull_shape<3>(mesh.vertices, rounding()); });
    if (!core_fits(ConvexCore<3>(shape.core)))
      section.fail("file",
                   fmt::format("the hull of '{}' has {} faces and {} corners: at most {} of each, and "
                               "32 corners of a face; make the mesh coarser",
                               file_, hull.faces.size(), hull.vertices.size(), max_faces));
    if (hull.faces.size() > many_faces)
      log::warn(
          "{}: the hull of '{}' has {} faces; contacts of such bodies cost much, and a mesh of some 50 "
          "triangles looks the same",
          where, file_, hull.faces.size());
    if (any || defects.n_inverted_edges > 0) return shape;
    const Real of_hull = mass_properties(hull).volume, of_mesh = std::abs(enclosed_volume(mesh));
    if (of_hull > (1 + accept_hull_) * of_mesh)
      section.fail("accept_hull",
                   fmt::format("the surface in '{}' is not convex: its hull has {:.3g} times its volume; a "
                               "body is convex. Accept it with accept_hull = {:.2g} or \"any\"",
                               file_, of_hull / of_mesh, std::ceil(100 * (of_hull / of_mesh - 1)) / 100));
    return shape;
  }

  static constexpr int max_faces = 4094;
  static constexpr std::size_t many_faces = 256;
  std::string file_;
  Real scale_ = 1;
  Real accept_hull_ = 0.02;
  std::string accept_hull_word_;
};

}  // namespace

SCREE_PLUGIN_ONLY(ShapeKind, 3, hull, HullBody, "convex hull of a mesh, with round edges")

}  // namespace scree
