#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "analysis/floor.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"
#include "particles/packing/region.hpp"

namespace scree {
namespace {

constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

/// Twice the area of the triangle 0, a, b: positive if b is to the left of a.
Real turn(const Vec<2>& a, const Vec<2>& b) {
  return a[0] * b[1] - a[1] * b[0];
}

/// Who walks through a line: with N(t) the crossings of the segment by centres from its left to its right,
/// seen from its first end to its second, less those the other way, since the start of the run,
///     flow J = (N(t) - N(t - window)) / window,     specific flow = J / length of the line.
/// A line up the page counts who walks to the right; the sides of a counter-clockwise polygon count who
/// leaves it. Every step counts, not only those with a row: a crossing is a path of a step, previous() to
/// position(), that meets the segment, or an image of it in a periodic domain. A centre on the line counts as
/// to its left; of two lines that share an end a path crosses one. Before a whole window has passed it is the
/// time since the start. In a building of several floors crossings on one floor count; who changes level in a
/// step crosses on both, so a line on the border of a floor and a connector may be of either.
///
/// N is remembered at n_marks times per window, so the window may be longer than asked for by one part in
/// n_marks and one step. Cost: O(bodies) and one reduction of two integers a step.
class LineFlow final : public Measure<2> {
 public:
  void describe(Section& section) override {
    std::vector<std::vector<Real>> ends;
    section.points("line", ends, 2,
                   {.unit = Unit::length, .required = true, .doc = "the two ends of the line"});
    section.real("window", window_,
                 {.unit = Unit::time, .range = positive, .doc = "time over which the flow is a mean"});
    floor_.describe(section);
    if (!section.reading()) return;
    where_ = section.where("line");
    if (ends.size() != 2)
      section.fail("line", fmt::format("a line has two ends, not {}: [[x, y], [x, y]]", ends.size()));
    a_ = {{ends[0][0], ends[0][1]}};
    b_ = {{ends[1][0], ends[1][1]}};
    if (!(norm(b_ - a_) > 0)) section.fail("line", "the line has no length: its two ends are the same");
  }

  void check(const State<2>& state) const override {
    floor_.level(state);
    Box<2> line{a_, a_, {}};
    for (int k = 0; k < 2; ++k) {
      line.lower[k] = std::min(a_[k], b_[k]);
      line.upper[k] = std::max(a_[k], b_[k]);
    }
    require_between_faces(state, line, "line", where_);
  }

  bool needs_path() const override { return true; }
  void after_step(const State<2>& state) override {
    if (std::isnan(memory_[last_mark])) set_mark(state.clock.time - state.clock.last_dt);
    std::array<std::int64_t, 2> count{};
    const int level = floor_.level(state);
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      const Vec<2>& from = state.bodies.previous()[i];
      std::array<std::int64_t, 2> own{};
      add_crossings(state.box, from, state.bodies.position()[i] - from, own);
      if (own[1] == 0 || !was_or_is_on_level(state, i, level)) continue;
      count[0] += own[0];
      count[1] += own[1];
    }
    state.comm.sum(count);
    memory_[net_now] += static_cast<Real>(count[0]);
    memory_[total_now] += static_cast<Real>(count[1]);
    const Real spacing = window_ / n_marks;
    if (state.clock.time - memory_[last_mark] >= spacing * (1 - round_off)) set_mark(state.clock.time);
  }

  std::span<Real> memory() override { return memory_; }

  MeasuredRow record(const Sample<2>& sample) override {
    const Real now = sample.state.clock.time;
    // From the oldest mark to the latest that is a whole window ago.
    Real begin = not_a_number, net_then = 0;  // no mark yet: nobody has walked
    for (std::size_t k = 0; k < n_kept; ++k) {
      const std::size_t slot = (static_cast<std::size_t>(memory_[next_slot]) + k) % n_kept;
      const Real time = memory_[first_time + slot];
      if (std::isnan(time)) continue;
      if (!std::isnan(begin) && time > now - window_ * (1 - round_off)) break;
      begin = time;
      net_then = memory_[first_net + slot];
    }
    const Real flow = now > begin ? (memory_[net_now] - net_then) / (now - begin) : 0;
    return {
        {"net", "-",
         "crossings since the start, from the left of the line to its right (looking from its first end "
         "to its second) less those from right to left",
         memory_[net_now]},
        {"total", "-", "crossings since the start, both ways", memory_[total_now]},
        {"flow", "1/s", "net crossings in the last window over its length; 0 before the first step", flow},
        {"specific_flow", "1/(m s)", "flow over the length of the line", flow / norm(b_ - a_)}};
  }

 private:
  /// Adds the crossings of a path to the net number and the total.
  void add_crossings(const Box<2>& box, const Vec<2>& from, const Vec<2>& path,
                     std::array<std::int64_t, 2>& count) const {
    const Vec<2> line = b_ - a_;
    for_each_image(box, wrapped(box, from), [&](const Vec<2>& start) {
      const bool left_before = turn(line, start - a_) >= 0;
      const bool left_after = turn(line, start + path - a_) >= 0;
      if (left_before == left_after) return;
      if ((turn(path, a_ - start) >= 0) == (turn(path, b_ - start) >= 0)) return;  // beyond an end
      count[0] += left_before ? 1 : -1;
      ++count[1];
    });
  }

  void set_mark(Real time) {
    const std::size_t slot = memory_[next_slot];
    memory_[first_time + slot] = time;
    memory_[first_net + slot] = memory_[net_now];
    memory_[next_slot] = static_cast<Real>((slot + 1) % n_kept);
    memory_[last_mark] = time;
  }

  static constexpr std::size_t n_marks = 200;
  static constexpr std::size_t n_kept = n_marks + 2;  // the window begins and ends between two
  static constexpr Real round_off = 1e-9;             // of sums of time steps

  MeasuredFloor<2> floor_;
  Vec<2> a_{}, b_{};
  Real window_ = 10;
  enum : std::size_t {
    net_now,
    total_now,
    last_mark,
    next_slot,
    first_time,
    first_net = first_time + n_kept
  };
  std::array<Real, first_net + n_kept> memory_ = nothing_yet();

  static std::array<Real, first_net + n_kept> nothing_yet() {
    std::array<Real, first_net + n_kept> memory{};
    memory[last_mark] = not_a_number;
    std::fill_n(memory.begin() + first_time, n_kept, not_a_number);
    return memory;
  }
};

}  // namespace

SCREE_PLUGIN_ONLY(Measure, 2, line_flow, LineFlow, "flow through a line: crossings, flow and flow per metre")

}  // namespace scree
