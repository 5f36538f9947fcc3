#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "analysis/floor.hpp"
#include "analysis/gathered.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/crowd_world.hpp"
#include "crowd/plan/polygon_area.hpp"
#include "crowd/plan/voronoi_cells.hpp"
#include "particles/packing/region.hpp"

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
/// With `direction`, of the unit vector e, one more: the speed along e as experiments have it, from
/// displacements, the same mean of
///     |e . (x_i(t) - x_i(t - T))| / T,    T = over to 2 over.
/// At the first step from each multiple of `over` on all positions are marked; T is since the last mark that
/// is at least `over` old. For who came later it is since the first mark after that, and before this the
/// component of v_i. Displacements are in plan.
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
    std::vector<Real> direction;
    section.reals("direction", direction, 2,
                  {.doc = "the table gets a column with the speed along this direction, of any length, from "
                          "displacements"});
    section.real("over", over_,
                 {.unit = Unit::time,
                  .range = positive,
                  .doc = "of direction: displacements are over this time; 0.5 s if not given"});
    if (!section.reading()) return;
    if (!direction.empty()) {
      along_ = {{direction[0], direction[1]}};
      if (!(norm(along_) > 0)) section.fail("direction", "the direction has no length");
      along_ *= 1 / norm(along_);
    }
    if (!std::isfinite(over_))
      over_ = 0.5;
    else if (!has_direction())
      section.fail("over", "over is the time of displacements along a direction: give direction, too");
    std::string path = section.path();
    std::ranges::replace(path, '/', '_');  // names of arrays in checkpoints have none
    field_names_.clear();
    for (const char* what : {"x", "y", "earlier_x", "earlier_y", "marks"})
      field_names_.push_back(path + "." + what);
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

  void check(const State<2>& state) const override {
    require_between_faces(state, bounds_, "window", where_);
    const int level = floor_.level(state);
    if (!(areas(state, level)->window() > 0))
      throw InputError(where_ + ": no part of the window is walkable");
  }

  void add_fields(State<2>& state) override {
    if (!has_direction()) return;
    for (const std::string& name : field_names_) {
      const bool is_count = &name == &field_names_.back();
      const std::size_t number = state.bodies.add_extra(
          {{name, is_count ? "-" : "m", Ghosts::none, true, FieldSet::always, "of a measure"}, is_count});
      if (&name == &field_names_.front()) first_field_ = number;
    }
  }

  void write_fields(State<2>& state) override {
    if (!has_direction()) return;
    constexpr Real rounding = 1e-6;  // times are sums of steps
    const auto number_at = [&](Real time) { return std::floor(time / over_ + rounding); };
    const Real time = state.clock.time;
    if (number_at(time) == number_at(time - state.clock.last_dt)) return;
    mark_times_ = {time, mark_times_[0]};
    BodyStore<2>& bodies = state.bodies;
    const auto n_marks = bodies.extra<std::int32_t>(first_field_ + 4);
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      const Vec<2> x = followed_position(state, i);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto last = bodies.extra<Real>(first_field_ + k);
        bodies.extra<Real>(first_field_ + 2 + k)[i] = last[i];
        last[i] = x[static_cast<int>(k)];
      }
      n_marks[i] = std::min(n_marks[i] + 1, 2);
    }
  }

  std::span<Real> memory() override {
    return has_direction() ? std::span<Real>(mark_times_) : std::span<Real>();
  }

  MeasuredRow record(const Sample<2>& sample) override {
    const State<2>& state = sample.state;
    if (!areas_) areas_ = areas(state, level_ = floor_.level(state));
    const auto is_here = [&](std::size_t i) { return level_of(state.bodies, i) == level_; };
    const std::size_t n_owned = state.bodies.n_owned();
    std::vector<Real> speeds, along;  // of those in the window
    for (std::size_t i = 0; i < n_owned; ++i)
      if (is_here(i) && ring_contains(ring_, wrapped(state.box, state.bodies.position()[i]))) {
        speeds.push_back(norm(state.bodies.velocity()[i]));
        if (has_direction()) along.push_back(speed_along(state, i));
      }
    const auto n = static_cast<Real>(state.comm.sum(static_cast<std::int64_t>(speeds.size())));
    const auto mean = [&](const std::vector<Real>& values) {
      const Real sum = ReproducibleSum::sum(state.comm, values);
      return n > 0 ? sum / n : std::numeric_limits<Real>::quiet_NaN();
    };
    const Means means = is_voronoi_
                            ? voronoi_means(state)
                            : Means{n / areas_->window(), mean(speeds), has_direction() ? mean(along) : 0};
    const std::string no_one = is_voronoi_ ? "; nan if there are none" : "; nan without them";
    MeasuredRow row{
        {"n_bodies", "-", "bodies with their centre in the window", n},
        {"density", "1/m2",
         is_voronoi_ ? "integral of 1 / area of the Voronoi cell over the window, over its area"
                     : "these bodies over the walkable area of the window",
         means.density},
        {"speed", "m/s",
         (is_voronoi_ ? "integral of the speed over the Voronoi cells in the window, over their area"
                      : "mean speed of these bodies") +
             no_one,
         means.speed}};
    if (has_direction())
      row.push_back({"speed_along", "m/s",
                     "the same mean of the component along direction, without its sign, of displacements "
                     "over a time" +
                         no_one,
                     means.speed_along});
    return row;
  }

 private:
  struct Person {
    GlobalId id;
    Vec<2> x;
    std::array<Real, 2> speed;  // and along the direction
  };

  struct Means {
    Real density, speed, speed_along;  // the last one with a direction only
  };

  bool has_direction() const { return along_ != Vec<2>{}; }

  /// Of body i, along the direction, from its displacement.
  Real speed_along(const State<2>& state, std::size_t i) const {
    const BodyStore<2>& bodies = state.bodies;
    constexpr Real rounding = 1e-6;
    const Real time = state.clock.time;
    const std::int32_t n_marks = bodies.extra<std::int32_t>(first_field_ + 4)[i];
    const bool takes_last = time - mark_times_[0] > over_ * (1 - rounding) || n_marks < 2;
    const Real since = mark_times_[takes_last ? 0 : 1];
    if (n_marks == 0 || !(time > since)) return std::abs(dot(along_, bodies.velocity()[i]));
    const std::size_t first = first_field_ + (takes_last ? 0 : 2);
    const Vec<2> then{{bodies.extra<Real>(first)[i], bodies.extra<Real>(first + 1)[i]}};
    return std::abs(dot(along_, followed_position(state, i) - then)) / (time - since);
  }

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

  /// Every rank knows the same persons and takes every n-th of them.
  Means voronoi_means(const State<2>& state) const {
    const Box<2> near = reach();
    std::vector<Person> mine;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      if (level_of(state.bodies, i) != level_) continue;
      const Person person{state.bodies.id()[i],
                          wrapped(state.box, state.bodies.position()[i]),
                          {norm(state.bodies.velocity()[i]), has_direction() ? speed_along(state, i) : 0}};
      bool is_near = false;
      for_each_shift(state.box, {person.x, person.x, {}}, near, [&](const Vec<2>&) { is_near = true; });
      if (is_near) mine.push_back(person);
    }
    std::vector<Vec<2>> sites;
    std::vector<std::array<Real, 2>> speed;
    for (const Person& person : gathered_by_id(state.comm, mine))
      for_each_shift(state.box, {person.x, person.x, {}}, near, [&](const Vec<2>& shift) {
        sites.push_back(person.x + shift);
        speed.push_back(person.speed);
      });
    const VoronoiCells cells(sites, near);
    const Box<2> near_window{bounds_.lower - filled<2>(cutoff_), bounds_.upper + filled<2>(cutoff_), {}};

    struct Part {
      Real density, area, speed, along;
    };
    std::vector<Part> parts;
    const std::size_t rank = state.comm.rank();
    const std::size_t n_ranks = state.comm.size();
    for (std::size_t i = rank; i < sites.size(); i += n_ranks) {
      if (!near_window.contains(sites[i])) continue;
      const std::size_t owner = cells.same[i];
      const WindowAreas::Share share = areas_->around(
          sites[owner], cells.ring[owner], polygon_of_disk(sites[owner], cutoff_, n_corners_of_disk));
      if (!(share.in_window > 0)) continue;
      const Real area = share.in_window / cells.n_same[owner];
      parts.push_back({share.in_window / share.whole, area, area * speed[i][0], area * speed[i][1]});
    }
    std::array<Real, 4> all_sums{};
    const std::span<Real> sums(all_sums.data(), has_direction() ? 4 : 3);
    ReproducibleSum::sum(state.comm, parts.size(), sums, [&](std::size_t i, std::span<Real> term) {
      term[0] = parts[i].density;
      term[1] = parts[i].area;
      term[2] = parts[i].speed;
      if (has_direction()) term[3] = parts[i].along;
    });
    const auto mean = [&](std::size_t k) {
      return sums[1] > 0 ? all_sums[k] / sums[1] : std::numeric_limits<Real>::quiet_NaN();
    };
    return {sums[0] / areas_->window(), mean(2), mean(3)};
  }

  static constexpr int n_corners_of_disk = 64;

  Ring ring_;
  MeasuredFloor<2> floor_;
  int level_ = 0;
  Box<2> bounds_;
  bool is_voronoi_ = false;
  Real cutoff_ = 2;
  Vec<2> along_{};            // unit vector; zero: no such column
  Real over_ = std::nan("");  // [s]
  std::vector<std::string> field_names_;
  std::size_t first_field_ = 0;  // of last and earlier position, and how many of the two a body has
  std::array<Real, 2> mark_times_{std::nan(""), std::nan("")};  // last, earlier [s]
  std::unique_ptr<WindowAreas> areas_;  // of the first sample: the plan does not change
};

}  // namespace

SCREE_PLUGIN_ONLY(Measure, 2, window, Window,
                  "number of persons, density and speed in a window, classic or with Voronoi cells")

}  // namespace scree
