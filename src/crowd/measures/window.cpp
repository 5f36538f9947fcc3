#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "analysis/floor.hpp"
#include "analysis/gathered.hpp"
#include "analysis/measure.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/crowd_world.hpp"
#include "crowd/plan/polygon_area.hpp"
#include "crowd/plan/voronoi_cells.hpp"
#include "particles/fill/region.hpp"

namespace scree {
namespace {

/// Density and speed in a window W, of the area |W| that people can walk on (all of it in runs without a
/// floor plan). Classic, over the N persons with their centre in it:
///     density = N / |W|,                          speed = sum |v_i| / N.
/// Voronoi, after B. Steffen and A. Seyfried (Methods for measuring pedestrian density, flow, speed and
/// direction with minimal scatter, Physica A 389, 2010): person i has the cell A_i of all points that are
/// nearer to it than to others, at most `cutoff` away, walkable and not cut off from it by a wall; with p = 1
/// / |A_i| and v = |v_i| in A_i, 0 and undefined where there is no cell,
///     density = integral of p over W / |W|,       speed = integral of v over W / area of the cells in W.
///
/// The disk of the cutoff is a polygon of 64 corners with its area. Nearness is along straight lines, through
/// walls too: a person behind a thin wall narrows the cells before it, though a part of a cell that lies
/// behind a wall is left out. v_i is the velocity at the end of the step. Images in periodic domains count.
/// Cost a row: O(bodies) for a classic window; for Voronoi cells every rank also gets the m persons within
/// three cutoffs of the window and finds their cells, O(m log m), while the cutting of cells by walls is
/// shared out.
class Window final : public Measure<2> {
 public:
  void describe(Section& section) override {
    std::vector<std::vector<Real>> corners;
    std::vector<Real> lower, upper;
    section.points("polygon", corners, 2, {.unit = Unit::length, .doc = "corners of the window"});
    section.reals("lower", lower, 2,
                  {.unit = Unit::length, .doc = "lowest corner of a rectangle, instead of the polygon"});
    section.reals("upper", upper, 2, {.unit = Unit::length, .doc = "highest corner of the rectangle"});
    floor_.describe(section);
    section.choice("method", is_voronoi_, {{"classic", false}, {"voronoi", true}},
                   {.doc = "how density and speed are found"});
    section.real("cutoff", cutoff_,
                 {.unit = Unit::length,
                  .range = positive,
                  .doc = "Voronoi cells reach at most this far from the centre of a person"});
    if (!section.reading()) return;
    const bool is_polygon = !corners.empty();
    where_ = section.where(is_polygon ? "polygon" : "lower");
    if (is_polygon == !lower.empty() || lower.empty() != upper.empty())
      section.fail(is_polygon ? "polygon" : "lower",
                   "a window is given by its polygon, or by lower and upper: one of the two");
    if (is_polygon) {
      ring_ = ring_of(corners);
    } else {
      if (!(upper[0] > lower[0] && upper[1] > lower[1]))
        section.fail("upper", "the window is empty: upper must exceed lower along both axes");
      ring_ = {
          {{lower[0], lower[1]}}, {{upper[0], lower[1]}}, {{upper[0], upper[1]}}, {{lower[0], upper[1]}}};
    }
    if (const std::string fault = fault_of(ring_); !fault.empty())
      section.fail("polygon", "the window is no simple polygon: " + fault);
    bounds_ = bounds_of(ring_);
  }

  std::vector<ColumnInfo> columns(const State<2>& state) const override {
    for (int k = 0; k < 2; ++k)
      if (state.box.is_periodic(k) &&
          (bounds_.lower[k] < state.box.lower[k] || bounds_.upper[k] > state.box.upper[k]))
        throw InputError(
            fmt::format("{}: the window reaches beyond the domain, {:g} to {:g} m along the periodic axis {}",
                        where_, state.box.lower[k], state.box.upper[k], "xy"[k]));
    const int level = floor_.level(state);
    if (!(areas(state, level)->window() > 0))
      throw InputError(where_ + ": no part of the window is walkable");
    const std::string no_one = is_voronoi_ ? "; nan if there are none" : "; nan without them";
    return {{"bodies", "-", "bodies with their centre in the window"},
            {"density", "1/m2",
             is_voronoi_ ? "integral of 1 / area of the Voronoi cell over the window, over its area"
                         : "these bodies over the walkable area of the window"},
            {"speed", "m/s",
             (is_voronoi_ ? "integral of the speed over the Voronoi cells in the window, over their area"
                          : "mean speed of these bodies") +
                 no_one}};
  }

  void sample(const Sample<2>& sample, std::vector<Real>& row) override {
    const State<2>& state = sample.state;
    if (!areas_) areas_ = areas(state, level_ = floor_.level(state));
    const auto is_here = [&](std::size_t i) { return level_of(state.bodies, i) == level_; };
    const auto n_owned = static_cast<std::size_t>(state.bodies.n_owned());
    std::vector<Real> speeds;  // of those in the window
    for (std::size_t i = 0; i < n_owned; ++i)
      if (is_here(i) && ring_contains(ring_, wrapped(state.box, state.bodies.position()[i])))
        speeds.push_back(norm(state.bodies.velocity()[i]));
    const auto n = static_cast<Real>(state.comm.sum(static_cast<std::int64_t>(speeds.size())));
    row.push_back(n);
    if (is_voronoi_) return add_voronoi(state, row);
    const Real sum = ReproducibleSum::sum(state.comm, speeds);
    row.insert(row.end(), {n / areas_->window(), n > 0 ? sum / n : std::numeric_limits<Real>::quiet_NaN()});
  }

 private:
  struct Person {
    GlobalId id;
    Vec<2> x;
    Real speed;
  };

  /// The window and all who can matter: those whose cell reaches into it, a cutoff away, and their
  /// neighbours, whose bisectors are nearer than the cutoff.
  Box<2> reach() const {
    return {bounds_.lower - filled<2>(3 * cutoff_), bounds_.upper + filled<2>(3 * cutoff_), {}};
  }

  std::unique_ptr<WindowAreas> areas(const State<2>& state, int level) const {
    const CrowdWorld* world = crowd_world(state);
    if (!world) return std::make_unique<WindowAreas>(ring_);
    return std::make_unique<WindowAreas>(ring_, world->building->plan(level).area(),
                                         world->building->plan(level).columns(), state.box, reach());
  }

  /// Appends density and speed. Every rank knows the same persons and takes every n-th of them.
  void add_voronoi(const State<2>& state, std::vector<Real>& row) const {
    const Box<2> near = reach();
    std::vector<Person> mine;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      if (level_of(state.bodies, i) != level_) continue;
      const Person person{state.bodies.id()[i], wrapped(state.box, state.bodies.position()[i]),
                          norm(state.bodies.velocity()[i])};
      bool is_near = false;
      for_each_shift(state.box, {person.x, person.x, {}}, near, [&](const Vec<2>&) { is_near = true; });
      if (is_near) mine.push_back(person);
    }
    std::vector<Vec<2>> sites;
    std::vector<Real> speed;
    for (const Person& person : gathered_by_id(state.comm, mine))
      for_each_shift(state.box, {person.x, person.x, {}}, near, [&](const Vec<2>& shift) {
        sites.push_back(person.x + shift);
        speed.push_back(person.speed);
      });
    const VoronoiCells cells(sites, near);
    const Box<2> near_window{bounds_.lower - filled<2>(cutoff_), bounds_.upper + filled<2>(cutoff_), {}};

    struct Part {
      Real density, area, speed;
    };
    std::vector<Part> parts;
    const auto rank = static_cast<std::size_t>(state.comm.rank());
    const auto n_ranks = static_cast<std::size_t>(state.comm.size());
    for (std::size_t i = rank; i < sites.size(); i += n_ranks) {
      if (!near_window.contains(sites[i])) continue;
      const std::size_t owner = cells.same[i];
      const WindowAreas::Share share = areas_->around(
          sites[owner], cells.ring[owner], polygon_of_disk(sites[owner], cutoff_, n_corners_of_disk));
      if (!(share.in_window > 0)) continue;
      const Real area = share.in_window / cells.n_same[owner];
      parts.push_back({share.in_window / share.whole, area, area * speed[i]});
    }
    std::array<Real, 3> sums{};
    ReproducibleSum::sum(state.comm, parts.size(), sums, [&](std::size_t i, std::span<Real> term) {
      term[0] = parts[i].density;
      term[1] = parts[i].area;
      term[2] = parts[i].speed;
    });
    row.insert(row.end(), {sums[0] / areas_->window(),
                           sums[1] > 0 ? sums[2] / sums[1] : std::numeric_limits<Real>::quiet_NaN()});
  }

  static constexpr int n_corners_of_disk = 64;

  Ring ring_;
  MeasuredFloor<2> floor_;
  int level_ = 0;
  Box<2> bounds_;
  bool is_voronoi_ = false;
  Real cutoff_ = 2;
  std::unique_ptr<WindowAreas> areas_;  // of the first sample: the plan does not change
};

}  // namespace

SCREE_PLUGIN_ONLY(Measure, 2, window, Window,
                  "number of persons, density and speed in a window, classic or with Voronoi cells")

}  // namespace scree
