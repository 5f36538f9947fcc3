#include "geometry/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "core/error.hpp"
#include "core/file_checksum.hpp"
#include "core/input_file.hpp"

namespace scree {
namespace {

class MeshBuilder {
 public:
  MeshBuilder(const std::string& path, Real scale) : path_(path), scale_(scale) {}

  int add_vertex(Vec<3> place, const std::string& where) {
    for (int k = 0; k < 3; ++k) {
      place[k] = place[k] * scale_ + 0.0;  // -0 is 0
      if (!std::isfinite(place[k])) throw InputError(where + ": a coordinate is not a finite number");
    }
    const auto [known, is_new] =
        place_of_.try_emplace(place.component, static_cast<int>(mesh_.vertices.size()));
    if (is_new) mesh_.vertices.push_back(place);
    return known->second;
  }

  void add_triangle(int a, int b, int c) {
    if (a == b || b == c || c == a)
      ++mesh_.n_degenerate;
    else
      mesh_.triangles.push_back({a, b, c});
  }

  TriangleMesh take() {
    if (mesh_.triangles.empty()) throw InputError(path_ + ": there are no triangles");
    return std::move(mesh_);
  }

 private:
  struct HashOfPlace {
    std::size_t operator()(const std::array<Real, 3>& place) const {
      return static_cast<std::size_t>(
          checksum_of({reinterpret_cast<const char*>(place.data()), sizeof place}));
    }
  };

  std::string path_;
  Real scale_;
  TriangleMesh mesh_;
  std::unordered_map<std::array<Real, 3>, int, HashOfPlace> place_of_;
};

/// Lines of a text with their numbers, and the words of each.
class Lines {
 public:
  Lines(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  bool next() {
    do {
      if (rest_.empty()) return false;
      const auto end = rest_.find_first_of("\n\r");
      line_ = rest_.substr(0, end);
      const bool is_pair = end != rest_.npos && rest_.substr(end, 2) == "\r\n";
      rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + (is_pair ? 2 : 1));
      ++number_;
      split();
    } while (words_.empty());
    return true;
  }
  const std::vector<std::string_view>& words() const { return words_; }
  bool starts_with(std::string_view word) const { return words_.front() == word; }
  std::string where() const { return fmt::format("{}:{}", path_, number_); }

  /// Three numbers from word `first` on.
  Vec<3> place(std::size_t first) const {
    Vec<3> x;
    for (std::size_t k = 0; k < 3; ++k)
      if (words_.size() <= first + k || !parse(words_[first + k], x[static_cast<int>(k)]))
        throw InputError(fmt::format("{}: expected three numbers after \"{}\"", where(), words_[first - 1]));
    return x;
  }

 private:
  void split() {
    words_.clear();
    for (std::string_view left = line_;;) {
      const auto begin = left.find_first_not_of(" \t");
      if (begin == left.npos) return;
      left.remove_prefix(begin);
      const auto end = std::min(left.find_first_of(" \t"), left.size());
      words_.push_back(left.substr(0, end));
      left.remove_prefix(end);
    }
  }

  std::string path_;
  std::string_view rest_, line_;
  std::vector<std::string_view> words_;
  std::size_t number_ = 0;
};

constexpr std::size_t stl_header = 84, stl_record = 50;

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  static_assert(std::endian::native == std::endian::little,
                "STL files have the order of bytes of this processor");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// A header of any 80 bytes, the number of triangles, and for each a normal, three corners and two bytes.
std::optional<std::size_t> triangles_of_binary_stl(std::string_view bytes) {
  if (bytes.size() < stl_header) return std::nullopt;
  const std::size_t n = number_at<std::uint32_t>(bytes, stl_header - 4);
  if (bytes.size() != stl_header + n * stl_record) return std::nullopt;
  return n;
}

void parse_binary_stl(const std::string& path, std::string_view bytes, std::size_t n, MeshBuilder& mesh) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t corners = stl_header + i * stl_record + 3 * sizeof(float);
    std::array<int, 3> corner{};
    for (std::size_t c = 0; c < 3; ++c) {
      Vec<3> x;
      for (std::size_t k = 0; k < 3; ++k)
        x[static_cast<int>(k)] = number_at<float>(bytes, corners + (3 * c + k) * sizeof(float));
      corner[c] = mesh.add_vertex(x, fmt::format("{}: triangle {}", path, i + 1));
    }
    mesh.add_triangle(corner[0], corner[1], corner[2]);
  }
}

void parse_text_stl(const std::string& path, std::string_view text, MeshBuilder& mesh) {
  Lines lines(path, text);
  std::vector<int> corners;
  bool in_solid = false;
  while (lines.next()) {
    if (lines.starts_with("solid")) {
      in_solid = true;
    } else if (!in_solid) {
      throw InputError(lines.where() +
                       ": neither an STL file of text, which starts with \"solid\", nor a whole binary one, "
                       "whose length is 84 bytes and 50 for each triangle");
    } else if (lines.starts_with("facet")) {
      corners.clear();
    } else if (lines.starts_with("vertex")) {
      corners.push_back(mesh.add_vertex(lines.place(1), lines.where()));
    } else if (lines.starts_with("endfacet")) {
      if (corners.size() != 3)
        throw InputError(
            fmt::format("{}: a facet with {} corners, expected 3", lines.where(), corners.size()));
      mesh.add_triangle(corners[0], corners[1], corners[2]);
      corners.clear();
    } else if (!lines.starts_with("outer") && !lines.starts_with("endloop") &&
               !lines.starts_with("endsolid")) {
      throw InputError(
          fmt::format("{}: \"{}\" is no word of an STL file", lines.where(), lines.words().front()));
    }
  }
  if (!corners.empty()) throw InputError(lines.where() + ": the file ends within a facet");
}

void parse_obj(const std::string& path, std::string_view text, MeshBuilder& mesh) {
  Lines lines(path, text);
  std::vector<int> place;  // of each line v
  std::vector<int> corners;
  while (lines.next()) {
    if (lines.starts_with("v")) {
      place.push_back(mesh.add_vertex(lines.place(1), lines.where()));
    } else if (lines.starts_with("f")) {
      corners.clear();
      for (std::size_t w = 1; w < lines.words().size(); ++w) {
        const std::string_view word = lines.words()[w];
        std::int64_t i = 0;  // from 1, or from -1 backwards; texture and normal follow after /
        const auto n = static_cast<std::int64_t>(place.size());
        if (!parse(word.substr(0, word.find('/')), i) || i == 0 || i > n || i < -n)
          throw InputError(
              fmt::format("{}: \"{}\" names no vertex; {} are known here", lines.where(), word, n));
        corners.push_back(place[static_cast<std::size_t>(i > 0 ? i - 1 : n + i)]);
      }
      if (corners.size() < 3)
        throw InputError(
            fmt::format("{}: a face with {} corners, expected at least 3", lines.where(), corners.size()));
      for (std::size_t k = 1; k + 1 < corners.size(); ++k)
        mesh.add_triangle(corners[0], corners[k], corners[k + 1]);
    }
  }
}

}  // namespace

TriangleMesh parse_mesh(const std::string& path, std::string_view text, Real scale) {
  std::string ending = path.substr(std::min(path.rfind('.'), path.size()));
  for (char& letter : ending)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  MeshBuilder mesh(path, scale);
  if (ending == ".obj") {
    parse_obj(path, text, mesh);
  } else if (ending != ".stl") {
    throw InputError(path + ": meshes are read from files that end with .stl or .obj");
  } else if (const auto n = triangles_of_binary_stl(text)) {
    parse_binary_stl(path, text, *n, mesh);
  } else {
    parse_text_stl(path, text, mesh);
  }
  return mesh.take();
}

Real enclosed_volume(const TriangleMesh& mesh) {
  const Vec<3> origin = mesh.vertices.front();
  Real sum = 0;
  for (const auto& corner : mesh.triangles) {
    const auto arm = [&](std::size_t k) {
      return mesh.vertices[static_cast<std::size_t>(corner[k])] - origin;
    };
    sum += dot(arm(0), cross(arm(1), arm(2)));
  }
  return sum / 6;
}

MeshDefects defects_of(const TriangleMesh& mesh) {
  struct Side {
    int low, high;
    bool forwards;
  };
  std::vector<Side> sides;
  for (const auto& corner : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = corner[k], b = corner[(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), a < b});
    }
  const auto edge_of = [](const Side& side) { return std::pair(side.low, side.high); };
  std::ranges::sort(sides, {}, edge_of);
  MeshDefects defects;
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    int n_forwards = 0;
    for (end = i; end < sides.size() && edge_of(sides[end]) == edge_of(sides[i]); ++end)
      n_forwards += sides[end].forwards ? 1 : 0;
    const std::size_t n = end - i;
    if (n == 2 && n_forwards == 1) continue;
    ++(n == 1 ? defects.n_open_edges : n > 2 ? defects.n_crowded_edges : defects.n_inverted_edges);
    if (defects.first.size() < 2)
      defects.first.push_back(0.5 * (mesh.vertices[static_cast<std::size_t>(sides[i].low)] +
                                     mesh.vertices[static_cast<std::size_t>(sides[i].high)]));
  }
  return defects;
}

namespace {

/// Keeps the triangles t that keeps(t) is true for; returns how many were left out.
template <class Keeps>
std::size_t keep(TriangleMesh& mesh, const Keeps& keeps) {
  std::size_t kept = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (keeps(t)) mesh.triangles[kept++] = mesh.triangles[t];
  const std::size_t n_left_out = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  return n_left_out;
}

}  // namespace

std::size_t leave_out_doubled(TriangleMesh& mesh) {
  std::vector<std::pair<std::array<int, 3>, std::size_t>> sorted;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    sorted.emplace_back(mesh.triangles[t], t);
    std::ranges::sort(sorted.back().first);
  }
  std::ranges::sort(sorted);
  std::vector<char> is_doubled(sorted.size(), 0);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].first == sorted[i - 1].first) is_doubled[sorted[i].second] = 1;
  return keep(mesh, [&](std::size_t t) { return is_doubled[t] == 0; });
}

std::size_t leave_out_lines(TriangleMesh& mesh) {
  constexpr Real thinnest = 1e-12;
  return keep(mesh, [&](std::size_t t) {
    const auto at = [&](std::size_t k) {
      return mesh.vertices[static_cast<std::size_t>(mesh.triangles[t][k])];
    };
    const Vec<3> p = at(1) - at(0), q = at(2) - at(0), r = at(2) - at(1);
    return norm(cross(p, q)) > thinnest * std::max({dot(p, p), dot(q, q), dot(r, r)});
  });
}

}  // namespace scree
