#include <algorithm>
#include <array>
#include <limits>

#include "analysis/measure.hpp"
#include "analysis/region.hpp"

namespace scree {
namespace {

/// What crosses a plane: the net number and mass of bodies whose centre went through it, positive along the
/// normal, since the start of the run (or since the restart that added the measure), and the rates since the
/// row before (0 in the first row, which has none before it). Every step counts, not only those with a row. A
/// centre x is beyond the plane when n . (x - point) >= 0; radius and region look at where the straight path
/// of the step meets the plane.
///
/// In a building of several floors crossings on one floor count; who changes level in a step crosses on both.
///
/// Periodic images of the plane are the plane itself; it must be parallel to each periodic axis or
/// perpendicular to it. Bodies that are deleted beyond open faces do not count in the step that deletes them.
/// Cost: O(bodies) and one reduction a step, two more if anything crosses.
template <int D>
class Flow final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.point("point", point_, {.unit = Unit::length, .required = true, .doc = "a point of the plane"});
    section.point(
        "normal", normal_,
        {.required = true, .doc = "direction in which crossings count as positive; its length is ignored"});
    section.real("radius", radius_,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "only crossings up to this far from the point count; 0: all"});
    region_.describe(section);
    if (!section.reading()) return;
    this->where_ = section.where("normal");
    const Real length = norm(normal_);
    if (!(length > 0)) section.fail("normal", "the normal must not be zero");
    normal_ *= 1 / length;
  }

  void check(const State<D>& state) const override {
    const Box<D>& box = state.box;
    region_.require_inside(state);
    for (int k = 0; k < D; ++k)
      if (box.is_periodic(k) && normal_[k] != 0 && std::abs(normal_[k]) != 1)
        throw InputError(
            fmt::format("{}: the domain is periodic along {}, so the plane must be parallel or "
                        "perpendicular to that axis: set the normal's {} to zero, or all its other "
                        "components",
                        this->where_, "xyz"[k], "xyz"[k]));
    if (region_.is_whole()) return;
    const Box<D> window = region_.box(box);
    Real lowest = HUGE_VAL, highest = -HUGE_VAL;
    for (unsigned bits = 0; bits < Box<D>::n_corners; ++bits) {
      const Real distance = dot(normal_, window.corner(bits) - point_);
      lowest = std::min(lowest, distance);
      highest = std::max(highest, distance);
    }
    if (!(lowest < 0 && highest > 0))
      throw InputError(region_.where() +
                       ": the plane does not pass through the inside of the region: nothing would count");
  }

  bool needs_path() const override { return true; }
  void after_step(const State<D>& state) override {
    const BodyStore<D>& bodies = state.bodies;
    const Real period = period_along_normal(state.box);
    const auto side = [&](const Vec<D>& x) {  // grows by one where the plane, or an image of it, is crossed
      const Real distance = dot(normal_, x - point_);
      return period > 0 ? std::floor(distance / period) : (distance >= 0 ? 0.0 : -1.0);
    };
    const int level = region_.level(state);
    crossings_.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      const Vec<D>& from = bodies.previous()[i];
      const Vec<D>& to = bodies.position()[i];
      const Real side_before = side(from), side_after = side(to);
      if (side_before == side_after) continue;
      if (!was_or_is_on_level(state, i, level)) continue;
      const Real plane = period * std::max(side_before, side_after);  // distance of the image that is crossed
      const Real before = dot(normal_, from - point_), after = dot(normal_, to - point_);
      if (!in_window(state.box, from + (plane - before) / (after - before) * (to - from))) continue;
      crossings_.push_back({side_after - side_before, bodies.has_inertia() ? bodies.mass()[i] : 0});
    }
    if (!state.comm.any(!crossings_.empty())) return;
    std::array<Real, 2> sums{};
    ReproducibleSum::sum(state.comm, crossings_.size(), sums, [&](std::size_t i, std::span<Real> term) {
      term[0] = crossings_[i].times;
      term[1] = crossings_[i].times * crossings_[i].mass;
    });
    memory_[bodies_now] += sums[0];
    memory_[mass_now] += sums[1];
  }

  std::span<Real> memory() override { return memory_; }

  MeasuredRow record(const Sample<D>& sample) override {
    const Real elapsed = sample.state.clock.time - memory_[row_time];  // NaN in the first row
    const auto rate = [&](Real change) { return elapsed > 0 ? change / elapsed : 0; };
    MeasuredRow row{
        {"n_bodies", "-",
         "bodies that crossed the plane since the start, those along the normal less those against",
         memory_[bodies_now]},
        {"body_rate", "1/s", "the same since the row before, over the time between; 0 in the first row",
         rate(memory_[bodies_now] - memory_[row_bodies])}};
    if (sample.state.bodies.has_inertia()) {
      row.push_back({"mass", "kg", "mass of these bodies", memory_[mass_now]});
      row.push_back({"mass_rate", "kg/s", "the same since the row before, over the time between",
                     rate(memory_[mass_now] - memory_[row_mass])});
    }
    memory_[row_time] = sample.state.clock.time;
    memory_[row_bodies] = memory_[bodies_now];
    memory_[row_mass] = memory_[mass_now];
    return row;
  }

 private:
  struct Crossing {
    Real times;  ///< +1 along the normal, -1 against it
    Real mass;
  };

  /// Length of the domain along the normal, 0 if it is not periodic that way.
  Real period_along_normal(const Box<D>& box) const {
    for (int k = 0; k < D; ++k)
      if (box.is_periodic(k) && normal_[k] != 0) return box.length(k);
    return 0;
  }

  bool in_window(const Box<D>& box, const Vec<D>& x) const {
    if (!region_.holds(box, x)) return false;
    if (radius_ == 0) return true;
    return norm(box.shortest(x - point_)) <= radius_;
  }

  Vec<D> point_{}, normal_{};
  Real radius_ = 0;
  MeasuredRegion<D> region_;
  std::vector<Crossing> crossings_;  // of this rank in the last step
  enum : std::size_t { bodies_now, mass_now, row_time, row_bodies, row_mass };
  std::array<Real, 5> memory_{0, 0, std::numeric_limits<Real>::quiet_NaN(), 0, 0};
};

}  // namespace

SCREE_PLUGIN(Measure, flow, Flow, "number and mass of the bodies that cross a plane, and their rates")

}  // namespace scree
