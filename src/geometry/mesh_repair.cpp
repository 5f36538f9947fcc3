#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <unordered_map>

#include "core/file_checksum.hpp"
#include "geometry/box.hpp"
#include "geometry/mesh.hpp"
#include "geometry/mesh_sides.hpp"

namespace scree {
namespace {

/// Keeps the triangles t that keeps(t) is true for; returns how many were left out.
template <class Keeps>
std::size_t keep(TriangleMesh& mesh, const Keeps& keeps) {
  std::size_t kept = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!keeps(t)) continue;
    mesh.triangles[kept] = mesh.triangles[t];
    mesh.number[kept++] = mesh.number[t];
  }
  const std::size_t n_removed = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  mesh.number.resize(kept);
  return n_removed;
}

bool is_line(const TriangleMesh& mesh, std::size_t t) {
  constexpr Real thinnest = 1e-12;
  const Vec<3>&a = corner_of(mesh, t, 0), &b = corner_of(mesh, t, 1), &c = corner_of(mesh, t, 2);
  const Vec<3> p = b - a, q = c - a, r = c - b;
  return !(norm(cross(p, q)) > thinnest * std::max({dot(p, p), dot(q, q), dot(r, r)}));
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
  std::size_t n_removed = 0;
  for (;;) {
    std::vector<char> is_gone(mesh.triangles.size(), 0);
    bool any = false;
    for (std::size_t t = 0; t < is_gone.size(); ++t) {
      is_gone[t] = is_line(mesh, t) ? 1 : 0;
      any = any || is_gone[t] != 0;
    }
    if (!any) return n_removed;
    // The other triangle at each side of those; -1: none, or several, or it is cut already.
    std::vector<std::array<int, 3>> across(mesh.triangles.size(), {-1, -1, -1});
    const std::vector<TriangleSide> sides = sides_of(mesh);
    for_each_edge(sides, [&](std::span<const TriangleSide> at_edge) {
      if (at_edge.size() != 2) return;
      for (const int i : {0, 1}) {
        const std::size_t t = at_edge[i].triangle;
        for (std::size_t k = 0; k < 3; ++k) {
          const int a = mesh.triangles[t][k], b = mesh.triangles[t][(k + 1) % 3];
          if (std::pair(std::min(a, b), std::max(a, b)) == at_edge[0].edge())
            across[t][k] = at_edge[1 - i].triangle;
        }
      }
    });
    const std::size_t n = mesh.triangles.size();
    for (std::size_t t = 0; t < n; ++t) {
      if (is_gone[t] != 1 || std::ranges::find(across[t], -1) != across[t].end()) continue;
      std::size_t longest = 0;
      for (std::size_t k = 1; k < 3; ++k)
        if (norm(corner_of(mesh, t, k + 1) - corner_of(mesh, t, k)) >
            norm(corner_of(mesh, t, longest + 1) - corner_of(mesh, t, longest)))
          longest = k;
      const std::size_t other = across[t][longest];
      if (is_gone[other] != 0) continue;  // in the next round, or cut by another
      const int a = mesh.triangles[t][longest], b = mesh.triangles[t][(longest + 1) % 3],
                between = mesh.triangles[t][(longest + 2) % 3];
      std::array<int, 3> with_a = mesh.triangles[other], with_b = with_a;
      std::ranges::replace(with_a, b, between);
      std::ranges::replace(with_b, a, between);
      is_gone[other] = 2;
      for (const auto& half : {with_a, with_b}) {
        mesh.triangles.push_back(half);
        mesh.number.push_back(mesh.number[other]);
        is_gone.push_back(0);
      }
    }
    const std::size_t n_cut = static_cast<std::size_t>(std::ranges::count(is_gone, 2));
    n_removed += keep(mesh, [&](std::size_t t) { return is_gone[t] == 0; }) - n_cut;
  }
}

std::size_t weld(TriangleMesh& mesh) {
  constexpr Real share = 2e-6;  // each is where it is meant to be within 1e-6
  Box<3> around = Box<3>::empty();
  for (const Vec<3>& x : mesh.vertices) around.include(x);
  const Real apart = share * std::max({around.length(0), around.length(1), around.length(2)});
  if (!(apart > 0)) return 0;
  // Corners that stay, by cells twice as wide as that: others are in the eight cells around.
  using Cell = std::array<std::int64_t, 3>;
  struct HashOfCell {
    std::size_t operator()(const Cell& cell) const {
      return static_cast<std::size_t>(checksum_of({reinterpret_cast<const char*>(cell.data()), sizeof cell}));
    }
  };
  const auto is_near = [apart](const Vec<3>& x, const Vec<3>& y) {
    return std::max({std::abs(x[0] - y[0]), std::abs(x[1] - y[1]), std::abs(x[2] - y[2])}) <= apart;
  };
  std::unordered_map<Cell, int, HashOfCell> first_in;
  std::vector<Vec<3>> kept;
  std::vector<int> next, new_number;  // in its cell
  for (const Vec<3>& x : mesh.vertices) {
    Cell cell{}, beside{};
    for (int k = 0; k < 3; ++k) {
      const Real at = (x[k] - around.lower[k]) / (2 * apart);
      cell[k] = static_cast<std::int64_t>(std::floor(at));
      beside[k] = cell[k] + (at - std::floor(at) < 0.5 ? -1 : 1);
    }
    int same = -1;
    for (unsigned c = 0; c < 8; ++c) {
      Cell near = cell;
      for (std::size_t k = 0; k < 3; ++k)
        if ((c >> k & 1U) != 0) near[k] = beside[k];
      const auto found = first_in.find(near);
      for (int i = found == first_in.end() ? -1 : found->second; i >= 0; i = next[i])
        if (is_near(kept[i], x) && (same < 0 || i < same)) same = i;
    }
    if (same < 0) {
      same = static_cast<int>(kept.size());
      const auto [place, is_new] = first_in.try_emplace(cell, same);
      next.push_back(is_new ? -1 : place->second);
      place->second = same;
      kept.push_back(x);
    }
    new_number.push_back(same);
  }
  const std::size_t n_welded = mesh.vertices.size() - kept.size();
  if (n_welded == 0) return 0;
  mesh.vertices = std::move(kept);
  for (auto& corners : mesh.triangles)
    for (int& v : corners) v = new_number[v];
  mesh.n_degenerate += keep(mesh, [&](std::size_t t) {
    const auto& [a, b, c] = mesh.triangles[t];
    return a != b && b != c && c != a;
  });
  return n_welded;
}

namespace {

/// Finds the shells of a mesh, and lets the triangles of each face the same way.
class Orienter {
 public:
  Orienter(TriangleMesh& mesh, MeshRepairs& repairs, bool turns_inner)
      : mesh_(mesh), repairs_(repairs), turns_inner_(turns_inner) {}

  void run() {
    find_shells();
    measure();
    turn_shells();
  }

 private:
  void turn(std::size_t t) { std::swap(mesh_.triangles[t][1], mesh_.triangles[t][2]); }

  void find_shells() {
    const std::size_t n = mesh_.triangles.size();
    std::vector<std::vector<std::pair<int, bool>>> beside(n);  // and whether it faces the other way
    std::vector<char> is_open(n, 0);
    const std::vector<TriangleSide> sides = sides_of(mesh_);
    for_each_edge(sides, [&](std::span<const TriangleSide> at_edge) {
      if (at_edge.size() != 2) {
        for (const TriangleSide& side : at_edge) is_open[side.triangle] = 1;
        return;
      }
      const bool is_inverted = at_edge[0].forwards == at_edge[1].forwards;
      for (const std::size_t i : {0U, 1U})
        beside[at_edge[i].triangle].emplace_back(at_edge[1 - i].triangle, is_inverted);
    });
    shell_of_.assign(n, -1);
    std::vector<char> is_turned(n, 0);
    for (std::size_t start = 0; start < n; ++start) {
      if (shell_of_[start] >= 0) continue;
      const int number = static_cast<int>(repairs_.shells.size());
      MeshShell& shell = repairs_.shells.emplace_back();
      shell.first = start;
      std::vector<std::size_t> members{start};
      shell_of_[start] = number;
      std::size_t n_turned = 0;
      for (std::size_t m = 0; m < members.size(); ++m) {
        const std::size_t t = members[m];
        shell.is_closed = shell.is_closed && is_open[t] == 0;
        n_turned += is_turned[t] != 0 ? 1 : 0;
        for (const auto& [other, is_inverted] : beside[t]) {
          const std::size_t o = other;
          const char wanted = static_cast<char>((is_turned[t] != 0) != is_inverted);
          if (shell_of_[o] < 0) {
            shell_of_[o] = number;
            is_turned[o] = wanted;
            members.push_back(o);
          } else if (is_turned[o] != wanted && repairs_.one_sided < 0) {
            repairs_.one_sided = other;
          }
        }
      }
      shell.n_triangles = members.size();
      const bool turns_max = 2 * n_turned > members.size();
      for (const std::size_t t : members)
        if ((is_turned[t] != 0) != turns_max) {
          turn(t);
          ++repairs_.n_turned;
        }
    }
  }

  void measure() {
    const Vec<3> origin = mesh_.vertices.front();
    boxes_.assign(repairs_.shells.size(), Box<3>::empty());
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      const std::size_t s = shell_of_[t];
      MeshShell& shell = repairs_.shells[s];
      const Vec<3> a = corner_of(mesh_, t, 0), b = corner_of(mesh_, t, 1), c = corner_of(mesh_, t, 2);
      shell.area += 0.5 * norm(cross(b - a, c - a));
      shell.volume += dot(a - origin, cross(b - origin, c - origin)) / 6;
      for (const Vec<3>& x : {a, b, c}) boxes_[s].include(x);
    }
    for (std::size_t s = 0; s < boxes_.size(); ++s)
      for (std::size_t other = 0; other < boxes_.size(); ++other)
        if (other != s && repairs_.shells[other].is_closed && holds_box(boxes_[other], boxes_[s]) &&
            holds(static_cast<int>(other), static_cast<int>(s)))
          ++repairs_.shells[s].depth;
  }
  static bool holds_box(const Box<3>& outer, const Box<3>& inner) {
    return outer.contains(inner.lower) && outer.contains(inner.upper);
  }
  /// Whether a closed shell has the whole of another in it, by some of its triangles: solids that reach into
  /// each other are none in the other.
  bool holds(int outer, int inner) const {
    constexpr std::size_t max_asked = 64;
    const std::size_t stride = repairs_.shells[inner].n_triangles / max_asked + 1;
    std::size_t place = 0;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (shell_of_[t] != inner || place++ % stride != 0) continue;
      const Vec<3> middle =
          (1.0 / 3) * (corner_of(mesh_, t, 0) + corner_of(mesh_, t, 1) + corner_of(mesh_, t, 2));
      if (!(std::abs(turns_around(middle, outer)) > 0.5)) return false;
    }
    return true;
  }
  /// How often a shell winds around x: the sum of solid angles.
  /// Source: A. van Oosterom and J. Strackee, IEEE Trans. Biomed. Eng. 30 (1983) 125.
  Real turns_around(const Vec<3>& x, int shell) const {
    Real angle = 0;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (shell_of_[t] != shell) continue;
      const Vec<3> a = corner_of(mesh_, t, 0) - x, b = corner_of(mesh_, t, 1) - x,
                   c = corner_of(mesh_, t, 2) - x;
      const Real la = norm(a), lb = norm(b), lc = norm(c);
      angle += 2 * std::atan2(dot(a, cross(b, c)),
                              la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
    }
    return angle / (4 * std::numbers::pi);
  }

  /// All out of the solid, or all into it, whichever turns fewer triangles.
  void turn_shells() {
    std::size_t n_closed = 0, n_inward = 0;
    const auto faces_out = [](const MeshShell& shell) {
      return (shell.volume > 0) == (shell.depth % 2 == 0);
    };
    const auto may_turn = [&](const MeshShell& shell) {
      return shell.is_closed && (turns_inner_ || shell.depth == 0);
    };
    for (const MeshShell& shell : repairs_.shells) {
      if (!may_turn(shell)) continue;
      n_closed += shell.n_triangles;
      n_inward += faces_out(shell) ? 0 : shell.n_triangles;
    }
    repairs_.is_outward = 2 * n_inward <= n_closed;
    std::vector<char> turns(repairs_.shells.size(), 0);
    for (std::size_t s = 0; s < turns.size(); ++s) {
      MeshShell& shell = repairs_.shells[s];
      if (!may_turn(shell) || faces_out(shell) == repairs_.is_outward) continue;
      turns[s] = 1;
      shell.volume = -shell.volume;
      ++repairs_.n_shells_turned;
    }
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
      if (turns[shell_of_[t]] != 0) turn(t);
  }

  TriangleMesh& mesh_;
  MeshRepairs& repairs_;
  bool turns_inner_;
  std::vector<int> shell_of_;
  std::vector<Box<3>> boxes_;
};

}  // namespace

MeshRepairs mend(TriangleMesh& mesh, Orient orient) {
  MeshRepairs repairs;
  repairs.n_welded = weld(mesh);
  repairs.n_doubled = leave_out_doubled(mesh);
  repairs.n_lines = mesh.n_degenerate + leave_out_lines(mesh);
  if (orient != Orient::nothing && !mesh.triangles.empty())
    Orienter(mesh, repairs, orient == Orient::all).run();
  return repairs;
}

std::vector<std::string> MeshRepairs::lines(const std::string& name) const {
  std::vector<std::string> lines;
  const auto add = [&](std::size_t n, const std::string& what) {
    if (n > 0) lines.push_back(fmt::format("{} {}", n, what));
  };
  add(n_welded,
      fmt::format("corners of '{}' are within 2e-6 of its size of others and are one with them", name));
  add(n_lines, fmt::format("triangles of '{}' have no area and are left out", name));
  add(n_doubled, fmt::format("triangles of '{}' repeat others and are left out", name));
  add(n_turned,
      fmt::format("triangles of '{}' face another way than those around them and are turned", name));
  add(n_shells_turned,
      fmt::format("closed shells of '{}' face into the solid instead of out of it, or out of a "
                  "hollow, and are turned inside out",
                  name));
  return lines;
}

}  // namespace scree
