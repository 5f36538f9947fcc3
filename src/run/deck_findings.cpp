#include "run/deck_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "events/inlets.hpp"
#include "geometry/driven_motion.hpp"
#include "io/environment_output.hpp"

namespace scree {

namespace {

/// Middles of cells that fill the domain, with what obstacles are near.
template <int D>
class Survey {
 public:
  Survey(const RunDeck<D>& deck, const State<D>& state) : state_(state) {
    const Box<D>& box = state.box;
    Real longest = 0;
    for (int k = 0; k < D; ++k) longest = std::max(longest, box.length(k));
    constexpr int n_along = D == 2 ? 96 : 28;
    std::size_t n = 1;
    for (int k = 0; k < D; ++k) {
      n_[k] = std::max(1, static_cast<int>(std::round(n_along * box.length(k) / longest)));
      edge_[k] = box.length(k) / n_[k];
      widest_ = std::max(widest_, edge_[k]);
      n *= static_cast<std::size_t>(n_[k]);
    }
    for (std::size_t cell = 0; cell < n; ++cell) middles_.push_back(middle(cell));

    const auto n_obstacles = state.obstacles.list().size();
    nearest_of_.assign(n_obstacles, HUGE_VAL);
    // A path from cell to cell passes a wall no farther than half an edge from one of the two middles.
    const Real blocked = widest_ / 2 * (1 + 1e-6);
    is_blocked_.assign(n, 0);
    constexpr Real max_distances = 3e8;
    is_done_ = static_cast<Real>(n) * state.obstacles.n_constraints() < max_distances;
    if (!is_done_) return;
    for (std::size_t o = 0; o < n_obstacles; ++o)
      for (std::size_t cell = 0; cell < n; ++cell) {
        const Real distance = state.obstacles.closest(static_cast<int>(o), middles_[cell]).distance;
        nearest_of_[o] = std::min(nearest_of_[o], std::max(distance, 0.0));
        if (distance <= blocked) is_blocked_[cell] = 1;
      }
    reach(deck);
  }

  bool is_done() const { return is_done_; }
  /// Whether a body can come to this face from where bodies are or are put.
  bool is_open(int axis, bool upper) const { return is_open_[2 * axis + upper] != 0; }
  /// The distance of an obstacle from the domain is at least this [m].
  Real distance_of(std::size_t obstacle) const {
    Real half_diagonal = 0;
    for (int k = 0; k < D; ++k) half_diagonal += edge_[k] * edge_[k] / 4;
    return nearest_of_[obstacle] - std::sqrt(half_diagonal);
  }
  /// Middles of the cells along the lower face of an axis, put on it.
  std::vector<Vec<D>> on_lower_face(int axis) const {
    std::vector<Vec<D>> points;
    for (std::size_t cell = 0; cell < middles_.size(); ++cell)
      if (place(cell)[axis] == 0) {
        points.push_back(middles_[cell]);
        points.back()[axis] = state_.box.lower[axis];
      }
    return points;
  }

 private:
  std::array<int, D> place(std::size_t cell) const {
    std::array<int, D> at;
    for (std::size_t k = 0; k < D; ++k) {
      at[k] = static_cast<int>(cell % static_cast<std::size_t>(n_[k]));
      cell /= static_cast<std::size_t>(n_[k]);
    }
    return at;
  }
  std::size_t number(const std::array<int, D>& at) const {
    std::size_t cell = 0;
    for (std::size_t k = D; k-- > 0;)
      cell = cell * static_cast<std::size_t>(n_[k]) + static_cast<std::size_t>(at[k]);
    return cell;
  }
  Vec<D> middle(std::size_t cell) const {
    const std::array<int, D> at = place(cell);
    Vec<D> x;
    for (int k = 0; k < D; ++k) x[k] = state_.box.lower[k] + (at[k] + 0.5) * edge_[k];
    return x;
  }
  std::size_t cell_of(const Vec<D>& x) const {
    std::array<int, D> at;
    for (int k = 0; k < D; ++k) {
      at[k] = static_cast<int>(std::clamp((x[k] - state_.box.lower[k]) / edge_[k], 0.0, Real(n_[k] - 1)));
    }
    return number(at);
  }

  /// Spreads from the cells with bodies, and those where inlets put them, through cells that are free.
  void reach(const RunDeck<D>& deck) {
    std::vector<std::int64_t> is_seed(middles_.size(), 0);
    const std::size_t n_owned = state_.bodies.n_owned();
    for (const Vec<D>& x : state_.bodies.position().first(n_owned)) is_seed[cell_of(x)] = 1;
    for (const InletTable<D>& inlet : deck.events.inlets.list())
      for (std::size_t cell = 0; cell < middles_.size(); ++cell)
        if (inlet.places->bounds().contains(middles_[cell])) is_seed[cell] = 1;
    state_.comm.sum(is_seed);
    std::vector<char> seen(middles_.size(), 0);
    std::vector<std::size_t> to_do;
    const auto visit = [&](std::size_t cell) {
      if (seen[cell] != 0 || is_blocked_[cell] != 0) return;
      seen[cell] = 1;
      to_do.push_back(cell);
    };
    for (std::size_t cell = 0; cell < middles_.size(); ++cell)
      if (is_seed[cell] != 0) visit(cell);
    while (!to_do.empty()) {
      const std::array<int, D> at = place(to_do.back());
      to_do.pop_back();
      for (std::size_t k = 0; k < D; ++k)
        for (const int step : {-1, 1}) {
          std::array<int, D> next = at;
          next[k] += step;
          if (next[k] < 0 || next[k] >= n_[k]) {
            if (!state_.box.periodic[k]) is_open_[2 * k + (step > 0 ? 1 : 0)] = 1;
            next[k] = (next[k] + n_[k]) % n_[k];
            if (!state_.box.periodic[k]) continue;
          }
          visit(number(next));
        }
    }
  }

  const State<D>& state_;
  std::array<int, D> n_{};
  Vec<D> edge_{};
  Real widest_ = 0;
  std::vector<Vec<D>> middles_;
  std::vector<char> is_blocked_;
  std::vector<Real> nearest_of_;  // of each obstacle
  std::array<char, 2 * D> is_open_{};
  bool is_done_ = false;
};

template <int D>
void find_open_faces(const RunDeck<D>& deck, const State<D>& state, const Survey<D>& survey,
                     std::vector<std::string>& findings) {
  if (deck.outside != Outside::error) return;
  const Real gravity = norm(state.gravity);
  std::vector<std::string> open;
  for (int k = 0; k < D; ++k)
    for (const bool upper : {false, true}) {
      const bool is_uphill = (upper ? -1 : 1) * state.gravity[k] > 0.1 * gravity;
      if (survey.is_open(k, upper) && !is_uphill)
        open.push_back(fmt::format("{} {}", upper ? "upper" : "lower", "xyz"[k]));
    }
  if (open.empty()) return;
  findings.push_back(fmt::format(
      "{}: nothing closes the face{} {} of the domain: the first body that passes ends the run; add "
      "obstacles, make the axis periodic, or say outside = \"delete\" or \"keep\" in [domain]",
      deck.box_place, open.size() == 1 ? "" : "s", fmt::join(open, ", ")));
}

/// No body, of the start or to come, has a larger radius. Collective.
template <int D>
Real largest_radius(const RunDeck<D>& deck, const State<D>& state) {
  Real largest = deck.events.inlets.to_come(deck.end_time).largest;
  for (const Real radius : state.bodies.radius().first(state.bodies.n_owned()))
    largest = std::max(largest, radius);
  return state.comm.max(largest);
}

template <int D>
void find_far_obstacles(const State<D>& state, const Survey<D>& survey, Real largest,
                        std::vector<std::string>& findings) {
  for (std::size_t o = 0; o < state.obstacles.list().size(); ++o) {
    const Obstacle<D>& obstacle = state.obstacles.list()[o];
    const Real distance = survey.distance_of(o);
    if (obstacle.motion || !state.obstacles.active(static_cast<int>(o)) || !(distance > largest)) continue;
    findings.push_back(
        fmt::format("{}: [obstacles.{}] lies at least {:.3g} m outside of the domain: no body meets it",
                    obstacle.where, obstacle.name, distance));
  }
}

/// Where the nearest of all obstacles that are there is from a point.
template <int D>
struct NearestObstacle {
  SurfacePoint<D> surface = SurfacePoint<D>::none();
  int obstacle = -1;
};
template <int D>
std::vector<NearestObstacle<D>> nearest_obstacles(const ObstacleSet<D>& obstacles,
                                                  const std::vector<Vec<D>>& points) {
  std::vector<NearestObstacle<D>> nearest(points.size());
  for (int o = 0; o < static_cast<int>(obstacles.list().size()); ++o)
    for (std::size_t i = 0; i < points.size(); ++i)
      if (const SurfacePoint<D> seen = obstacles.closest(o, points[i]);
          seen.distance < nearest[i].surface.distance)
        nearest[i] = {seen, o};
  return nearest;
}

/// Obstacles that bodies of radius `largest` meet on one of two faces that are the same place, and not alike
/// on the other.
template <int D>
void find_cut_obstacles(const State<D>& state, const Survey<D>& survey, Real largest,
                        std::vector<std::string>& findings) {
  const Real unlike = 0.01 * largest;
  const auto is_near = [&](const Vec<D>& x) {  // to the domain
    for (int k = 0; k < D; ++k)
      if (x[k] < state.box.lower[k] - largest || x[k] > state.box.upper[k] + largest) return false;
    return true;
  };
  for (int k = 0; k < D; ++k) {
    if (!state.box.is_periodic(k)) continue;
    std::vector<char> is_cut(state.obstacles.list().size(), 0);
    for (const bool from_upper : {false, true}) {
      std::vector<Vec<D>> points = survey.on_lower_face(k);
      const auto put_on_face = [&](bool upper) {
        for (Vec<D>& x : points) x[k] = upper ? state.box.upper[k] : state.box.lower[k];
      };
      // To where the surface cuts the face.
      put_on_face(from_upper);
      const auto start = nearest_obstacles(state.obstacles, points);
      for (std::size_t i = 0; i < points.size(); ++i)
        if (start[i].obstacle >= 0) points[i] -= start[i].surface.distance * start[i].surface.normal;
      put_on_face(false);
      const auto at_low = nearest_obstacles(state.obstacles, points);
      put_on_face(true);
      const auto at_high = nearest_obstacles(state.obstacles, points);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Real low = at_low[i].surface.distance, high = at_high[i].surface.distance;
        if (is_near(points[i]) && std::min(low, high) < largest && std::abs(low - high) > unlike)
          is_cut[(low < high ? at_low : at_high)[i].obstacle] = 1;
      }
    }
    for (std::size_t o = 0; o < is_cut.size(); ++o)
      if (is_cut[o] != 0)
        findings.push_back(fmt::format(
            "{}: [obstacles.{}] is different on the two faces of the periodic axis {}, which are one "
            "place: bodies that pass there come out inside of it or away from it",
            state.obstacles.list()[o].where, state.obstacles.list()[o].name, "xyz"[k]));
  }
}

/// Surfaces whose edges pass into bodies with shapes, as far as they are in the domain.
template <int D>
void find_undetected_edges(const RunDeck<D>& deck, const State<D>& state,
                           std::vector<std::string>& findings) {
  if (!deck.has_shapes()) return;
  Real longest = 0;
  for (int k = 0; k < D; ++k) longest = std::max(longest, state.box.length(k));
  const Box<D> within = state.box.grown(filled<D>(-1e-6 * longest));
  for (int o = 0; o < static_cast<int>(state.obstacles.list().size()); ++o) {
    const Obstacle<D>& obstacle = state.obstacles.list()[o];
    for (const auto& [from, to] : obstacle.shape->undetected_edges()) {
      const Vec<D> middle = state.obstacles.pose_of(o).to_world(0.5 * (from + to));
      if (!obstacle.motion && !obstacle.is_driven() && !within.contains(middle)) continue;
      findings.push_back(fmt::format(
          "{}: only corners of bodies touch the mesh [obstacles.{}], but it has sharp edges, the first at "
          "({:g}) m: they pass into faces and edges of [shapes.{}]. Take a box, a cylinder or another shape "
          "of scree for it, or spheres",
          obstacle.where, obstacle.name, fmt::join(middle.component, ", "),
          fmt::join(state.shapes.names(), "], [shapes.")));
      break;
    }
  }
}

/// Bodies whose mass is noticeably more than what is inside of their rounded surface: the cube of a fifth has
/// 2.4 % too much.
template <int D>
void find_rounded_shapes(const State<D>& state, std::vector<std::string>& findings) {
  constexpr Real noticeable = 0.2;  // of the inscribed radius
  for (std::int32_t number = 1; number < state.shapes.size(); ++number) {
    const BodyShape<D>& shape = state.shapes[number];
    const Real share = shape.form.rounding / shape.form.inscribed_radius;
    const bool is_capsule = shape.core.vertices().size() == 2;  // known exactly
    if (share > noticeable && !is_capsule)
      findings.push_back(fmt::format(
          "[shapes.{}] rounding_radius is {:.2g} of the inscribed radius, but mass and moments are those "
          "of the shape with sharp edges; make it smaller, or the density",
          shape.name, share));
  }
}

template <int D>
void find_missing_output(const RunDeck<D>& deck, std::vector<std::string>& findings) {
  const OutputSettings& output = deck.output;
  if (!deck.measures.empty() && !output.scalars.ever())
    findings.push_back(
        "[measures] are never written: give 'every' or 'every_steps' in [analysis], for NAME.scalars.csv");
  const bool is_any = output.fclib.ever() || output.scalars.ever() || !deck.outputs.empty() ||
                      (deck.stepper->environment() && deck.stepper->environment()->output().is_asked_for());
  if (!is_any && deck.measures.empty())
    findings.push_back(
        "the deck asks for no results: give 'every' in [output.vtk], [output.h5md] or [analysis]; "
        "certificate and "
        "checkpoint are written in any case");
}

}  // namespace

template <int D>
std::vector<std::string> grave_findings(const RunDeck<D>& deck, const State<D>& state) {
  const Environment<D>* environment = deck.stepper->environment();
  std::vector<std::string> findings;
  if (environment) {
    Scope timer("findings");
    findings = environment->diagnostics(state);
  }
  find_undetected_edges(deck, state, findings);
  if (std::ranges::any_of(findings, [](const std::string& text) { return text.starts_with("error"); }))
    throw InputError(fmt::format("{}", fmt::join(findings, "\n")));
  return findings;
}

template <int D>
std::vector<std::string> deck_findings(const RunDeck<D>& deck, const State<D>& state) {
  std::vector<std::string> findings;
  if (!deck.stepper->environment()) {  // which knows its own walls
    const Real largest = largest_radius(deck, state);
    const Survey<D> survey(deck, state);
    if (survey.is_done()) {
      find_open_faces(deck, state, survey, findings);
      find_far_obstacles(state, survey, largest, findings);
    }
    find_cut_obstacles(state, survey, largest, findings);
  }
  for (int m = 0; m < state.materials.size(); ++m) {
    if (std::ranges::find(state.type_material, m) == state.type_material.end()) continue;  // of walls only
    if (std::string doubt = state.materials.density_doubt(m); !doubt.empty())
      findings.push_back(std::move(doubt));
  }
  find_rounded_shapes(state, findings);
  find_missing_output(deck, findings);
  if (std::string text = about_missing_outputs(deck); !text.empty()) findings.push_back(std::move(text));
  return findings;
}

template <int D>
std::vector<std::string> missing_outputs(const RunDeck<D>& deck) {
  std::vector<std::string> tables;
  if (has_vtk()) return tables;
  for (const auto& output : deck.outputs)
    if (output->is_vtk()) tables.emplace_back(output->name());
  if (Environment<D>* environment = deck.stepper->environment())
    for (std::string& table : environment->output().vtk_tables()) tables.push_back(std::move(table));
  return tables;
}

template <int D>
std::string about_missing_outputs(const RunDeck<D>& deck) {
  const std::vector<std::string> tables = missing_outputs(deck);
  if (tables.empty()) return "";
  return fmt::format(
      "this scree was built without VTK (SCREE_VTK=OFF), so [output.{}] is not written. ParaView opens "
      "NAME.xdmf with NAME.h5 as well, {}",
      fmt::join(tables, "] and [output."),
      deck.asks_for("h5md") ? "which this run writes" : "which the deck gets with 'every' in [output.h5md]");
}

template std::vector<std::string> missing_outputs<2>(const RunDeck<2>&);
template std::vector<std::string> missing_outputs<3>(const RunDeck<3>&);
template std::string about_missing_outputs<2>(const RunDeck<2>&);
template std::string about_missing_outputs<3>(const RunDeck<3>&);
template std::vector<std::string> grave_findings<2>(const RunDeck<2>&, const State<2>&);
template std::vector<std::string> grave_findings<3>(const RunDeck<3>&, const State<3>&);
template std::vector<std::string> deck_findings<2>(const RunDeck<2>&, const State<2>&);
template std::vector<std::string> deck_findings<3>(const RunDeck<3>&, const State<3>&);

}  // namespace scree
