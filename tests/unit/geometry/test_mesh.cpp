// Meshes as files: text and binary STL, OBJ; what is wrong with them is said with its line.
#include "geometry/mesh.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/error.hpp"

namespace scree {
namespace {

/// A tetrahedron with corners at 0 and on the axes: volume 1/6.
constexpr int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
constexpr float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

std::string text_stl(const char* line_end = "\n") {
  std::string text = std::string("solid of a file") + line_end;
  for (const auto& face : faces) {
    text += std::string("  facet normal 0 0 0") + line_end + "    outer loop" + line_end;
    for (const int i : face) {
      text += "\tvertex";
      for (const float x : corners[i]) text += " " + std::to_string(x);
      text += line_end;
    }
    text += std::string("    endloop") + line_end + "  endfacet" + line_end;
  }
  return text + "endsolid of a file" + line_end;
}

template <class T>
void append(std::string& bytes, T value) {
  char as_bytes[sizeof value];
  std::memcpy(as_bytes, &value, sizeof value);
  bytes.append(as_bytes, sizeof value);
}

std::string binary_stl() {
  std::string bytes = "solid, as some programs write even here";
  bytes.resize(80);
  append(bytes, std::uint32_t{4});
  for (const auto& face : faces) {
    for (int k = 0; k < 3; ++k) append(bytes, 0.0f);
    for (const int i : face)
      for (const float x : corners[i]) append(bytes, x);
    append(bytes, std::uint16_t{0});
  }
  return bytes;
}

const std::string obj =
    "# a comment\no body\nv 0 0 0\nv 1 0 0 1.0\nvn 0 0 1\nv 0 1 0\n\nv 0 0 1\nvt 0 0\n"
    "f 1 3 2\nf 1/1 2/1/1 4//1\ns off\nf -4 -1 -2\nf 2 3 4\n";

void check_tetrahedron(const TriangleMesh& mesh, Real scale = 1) {
  CHECK(mesh.vertices.size() == 4);
  CHECK(mesh.triangles.size() == 4);
  CHECK(mesh.n_degenerate == 0);
  CHECK(enclosed_volume(mesh) == Approx(scale * scale * scale / 6).epsilon(1e-14));
  const MeshDefects defects = defects_of(mesh);
  CHECK(defects.n_open_edges + defects.n_crowded_edges + defects.n_inverted_edges == 0);
}

}  // namespace

TEST_CASE("mesh: the same body as text, binary and OBJ", "[mesh]") {
  check_tetrahedron(parse_mesh("a.stl", text_stl()));
  check_tetrahedron(parse_mesh("a.STL", text_stl("\r\n")));
  check_tetrahedron(parse_mesh("a.stl", text_stl("\r"), 1e-3), 1e-3);
  check_tetrahedron(parse_mesh("b.stl", binary_stl()));
  check_tetrahedron(parse_mesh("c.obj", obj));
  CHECK(parse_mesh("b.stl", binary_stl()).vertices == parse_mesh("a.stl", text_stl()).vertices);
}

TEST_CASE("mesh: faces of OBJ with more corners become fans", "[mesh]") {
  const TriangleMesh mesh =
      parse_mesh("square.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.0 1 -0\nf 1 2 3 4 5\n");
  CHECK(mesh.vertices.size() == 4);
  CHECK(mesh.triangles == std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}});
  CHECK(mesh.n_degenerate == 1);
  CHECK(defects_of(mesh).n_open_edges == 4);
}

TEST_CASE("mesh: defects are counted", "[mesh]") {
  std::string inverted = obj;
  inverted.replace(inverted.find("f 2 3 4"), 7, "f 3 2 4");
  CHECK(defects_of(parse_mesh("a.obj", inverted)).n_inverted_edges == 3);
  CHECK(defects_of(parse_mesh("a.obj", obj + "v 1 1 1\nf 1 2 5\n")).n_crowded_edges == 1);
  TriangleMesh repaired = parse_mesh("a.obj", obj + "f 2 3 1\nv 0.5 0 0\nf 1 2 5\n");
  CHECK(leave_out_doubled(repaired) == 1);
  CHECK(leave_out_lines(repaired) == 1);
  CHECK(repaired.triangles.size() == 4);
}

TEST_CASE("mesh: comments, capital letters, names of solids and bytes at the end", "[mesh]") {
  std::string text = text_stl();
  text.replace(0, 5, "# made by hand\n\nSOLID");
  text.insert(text.find("outer"), "# within\n");
  const TriangleMesh mesh = parse_mesh("a.stl", text);
  check_tetrahedron(mesh);
  CHECK(mesh.solids == std::vector<std::pair<std::string, int>>{{"of a file", 1}});
  std::string longer = binary_stl() + "xy";
  longer.replace(0, 6, "solid ");
  check_tetrahedron(parse_mesh("a.stl", longer));
  CHECK(parse_mesh("a.stl", longer).n_bytes_beyond == 2);
}

TEST_CASE("mesh: a mesh without faults is not changed; faults are mended and counted", "[mesh]") {
  TriangleMesh whole = parse_mesh("a.obj", obj);
  const TriangleMesh before = whole;
  const MeshRepairs none = mend(whole, Orient::all);
  CHECK(whole.vertices == before.vertices);
  CHECK(whole.triangles == before.triangles);
  CHECK(none.lines("a").empty());
  REQUIRE(none.shells.size() == 1);
  CHECK(none.shells[0].volume == Approx(1.0 / 6));
  CHECK(enclosed_volume(parse_mesh("a.stl", stl_text(whole))) == enclosed_volume(whole));

  std::string text = obj;
  text.replace(text.find("f 2 3 4"), 7, "v 1e-7 1 0\nf 5 2 4");  // its own corner at (0, 1, 0), and turned
  TriangleMesh mended = parse_mesh("a.obj", text);
  CHECK(defects_of(mended).n_open_edges == 4);
  const MeshRepairs repairs = mend(mended, Orient::all);
  CHECK(repairs.n_welded == 1);
  CHECK(repairs.n_turned == 1);
  CHECK(defects_of(mended).is_closed());
  CHECK(enclosed_volume(mended) == Approx(1.0 / 6));
  CHECK(repairs.is_outward);

  std::string inward = obj;
  for (const auto& [from, to] : {std::pair("f 1 3 2", "f 1 2 3"),
                                 {"f 1/1 2/1/1 4//1", "f 1 4 2"},
                                 {"f -4 -1 -2", "f 1 3 4"},
                                 {"f 2 3 4", "f 2 4 3"}})
    inward.replace(inward.find(from), std::string(from).size(), to);
  TriangleMesh turned = parse_mesh("a.obj", inward);
  const auto triangles = turned.triangles;
  CHECK_FALSE(mend(turned, Orient::all).is_outward);
  CHECK(turned.triangles == triangles);
}

TEST_CASE("mesh: what cannot be read is named with its line", "[mesh]") {
  const auto message = [](const std::string& path, const std::string& text) {
    try {
      parse_mesh(path, text);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("it was read");
  };
  CHECK(message("a.ply", "") == "a.ply: meshes are read from files that end with .stl or .obj");
  CHECK(message("stl", "") == "stl: meshes are read from files that end with .stl or .obj");
  CHECK(message("a.stl", "") == "a.stl: there are no triangles");
  CHECK(message("a.stl", "solid x\nendsolid x\n") == "a.stl: there are no triangles");
  CHECK(message("a.obj", "v 1 2\n") == "a.obj:1: expected three numbers after \"v\"");
  CHECK(message("a.obj", "v 1 2 3\nf 1 1 2\n") == "a.obj:2: \"2\" names no vertex; 1 are known here");
  CHECK(message("a.obj", "v 1 2 3\nf 0 1 1\n") == "a.obj:2: \"0\" names no vertex; 1 are known here");
  CHECK(message("a.obj", "v 1 2 3\nf 1 1\n") == "a.obj:2: a face with 2 corners, expected at least 3");
  CHECK(message("a.obj", "v 1 nan 3\n") == "a.obj:1: a coordinate is not a finite number");
  CHECK(message("a.stl", "solid\nfacet\nvertex 1 2 x\n") ==
        "a.stl:3: expected three numbers after \"vertex\"");
  CHECK(message("a.stl", "solid\nfacet\nvertex 1 2 3\nendfacet\n") ==
        "a.stl:4: a facet with 1 corners, expected 3");
  CHECK(message("a.stl", "solid\nfacet\nvertex 1 2 3\n") == "a.stl:3: the file ends within a facet");
  CHECK(message("a.stl", "solid\ncolour 3\n") == "a.stl:2: \"colour\" is no word of an STL file");
  std::string cut = binary_stl();
  cut.pop_back();
  CHECK(message("a.stl", cut.substr(10)).find("nor a whole binary one") != std::string::npos);
  std::string bad = binary_stl();
  const float infinite = INFINITY;
  std::memcpy(bad.data() + 84 + 50 + 12, &infinite, sizeof infinite);
  CHECK(message("a.stl", bad) == "a.stl: triangle 2: a coordinate is not a finite number");
}

}  // namespace scree
