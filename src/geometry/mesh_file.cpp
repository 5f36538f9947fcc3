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
#include "geometry/mesh.hpp"
#include "geometry/mesh_sides.hpp"

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
    ++n_in_file_;
    if (a == b || b == c || c == a) {
      ++mesh_.n_degenerate;
    } else {
      mesh_.triangles.push_back({a, b, c});
      mesh_.number.push_back(n_in_file_);
    }
  }
  void begin_solid(std::string name) { mesh_.solids.emplace_back(std::move(name), n_in_file_ + 1); }
  void set_bytes_beyond(std::size_t n) { mesh_.n_bytes_beyond = n; }

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
  int n_in_file_ = 0;
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
  /// In small or capital letters.
  bool starts_with_word(std::string_view word) const {
    const auto small = [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    };
    return std::ranges::equal(words_.front(), word, {}, small);
  }
  bool is_comment() const {
    const std::string_view word = words_.front();
    return word.starts_with('#') || word.starts_with("//") || word.starts_with(';');
  }
  /// The line after its first word.
  std::string rest_of_line() const {
    if (words_.size() < 2) return {};
    const char* const begin = words_[1].data();
    return {begin, static_cast<std::size_t>(words_.back().data() + words_.back().size() - begin)};
  }
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
/// More may follow: then a byte 0, which no text has, shows that it is one.
std::optional<std::size_t> triangles_of_binary_stl(std::string_view bytes) {
  if (bytes.size() < stl_header) return std::nullopt;
  const std::size_t n = number_at<std::uint32_t>(bytes, stl_header - 4);
  const std::size_t length = stl_header + n * stl_record;
  const bool is_longer = n > 0 && bytes.size() > length && bytes.substr(0, length).find('\0') != bytes.npos;
  if (bytes.size() != length && !is_longer) return std::nullopt;
  return n;
}

void parse_binary_stl(const std::string& path, std::string_view bytes, std::size_t n, MeshBuilder& mesh) {
  mesh.set_bytes_beyond(bytes.size() - stl_header - n * stl_record);
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
  std::string first_line;
  while (lines.next()) {
    if (first_line.empty()) first_line = lines.where();
    if (lines.starts_with_word("solid")) {
      in_solid = true;
      mesh.begin_solid(lines.rest_of_line());
    } else if (!in_solid || lines.is_comment()) {
      continue;
    } else if (lines.starts_with_word("facet")) {
      corners.clear();
    } else if (lines.starts_with_word("vertex")) {
      corners.push_back(mesh.add_vertex(lines.place(1), lines.where()));
    } else if (lines.starts_with_word("endfacet")) {
      if (corners.size() != 3)
        throw InputError(
            fmt::format("{}: a facet with {} corners, expected 3", lines.where(), corners.size()));
      mesh.add_triangle(corners[0], corners[1], corners[2]);
      corners.clear();
    } else if (!lines.starts_with_word("outer") && !lines.starts_with_word("endloop") &&
               !lines.starts_with_word("endsolid")) {
      throw InputError(
          fmt::format("{}: \"{}\" is no word of an STL file", lines.where(), lines.words().front()));
    }
  }
  if (!corners.empty()) throw InputError(lines.where() + ": the file ends within a facet");
  if (!in_solid && !first_line.empty())
    throw InputError(
        first_line +
        ": neither an STL file of text, in which solids begin with \"solid\", nor a whole binary "
        "one, which has 84 bytes and 50 for each triangle");
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
        corners.push_back(place[i > 0 ? i - 1 : n + i]);
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
  } else if (text.size() >= stl_header && text.find('\0') != text.npos) {
    const std::size_t named = number_at<std::uint32_t>(text, stl_header - 4);
    throw InputError(
        fmt::format("{}: neither an STL file of text, which has no byte 0, nor a whole binary one: the {} "
                    "triangles that it names take {} bytes, but it has {}",
                    path, named, stl_header + named * stl_record, text.size()));
  } else {
    parse_text_stl(path, text, mesh);
  }
  return mesh.take();
}

std::string stl_text(const TriangleMesh& mesh) {
  std::string text;
  std::size_t solid = 0, t = 0;
  const std::size_t n = mesh.triangles.size();
  do {
    const bool has_names = !mesh.solids.empty(), is_last = solid + 1 >= mesh.solids.size();
    const std::string name = has_names ? mesh.solids[solid].first : std::string();
    text += fmt::format("solid {}\n", name);
    for (; t < n && (is_last || mesh.number[t] < mesh.solids[solid + 1].second); ++t) {
      text += "facet normal 0 0 0\nouter loop\n";
      for (std::size_t k = 0; k < 3; ++k)
        text += fmt::format("vertex {}\n", fmt::join(corner_of(mesh, t, k).component, " "));
      text += "endloop\nendfacet\n";
    }
    text += fmt::format("endsolid {}\n", name);
  } while (++solid < mesh.solids.size());
  return text;
}

}  // namespace scree
