#include <algorithm>
#include <limits>

#include "analysis/gathered.hpp"
#include "analysis/measure.hpp"
#include "analysis/region.hpp"

namespace scree {
namespace {

/// Density and speed in a single file along an axis. With x_i the places along it in their order, person i
/// has the length d_i = (x_(i+1) - x_(i-1)) / 2, half of the way to both neighbours, and
///     density = n / sum_i d_i,    mean speed = sum_i |v_i| / n,    density * mean speed = flow
/// over the n persons with a neighbour on both sides: all of them in a file that is closed through the
/// periodic axis, all but the first and the last in an open one. This is the Voronoi density in one
/// dimension, averaged over the occupied length (B. Steffen, A. Seyfried, Methods for measuring pedestrian
/// density, flow, speed and direction with minimal scatter, Physica A 389, 2010).
///
/// Cost: every rank gets all bodies in the region and sorts them: for single files, not for crowds.
class OneDimensional final : public Measure<2> {
 public:
  void describe(Section& section) override {
    section.choice("axis", axis_, {{"x", 0}, {"y", 1}}, {.doc = "axis along which people walk"});
    region_.describe(section);
  }

  void check(const State<2>& state) const override { region_.require_inside(state); }

  MeasuredRow record(const Sample<2>& sample) override {
    const State<2>& state = sample.state;
    std::vector<Person> mine;
    const int level = region_.level(state);
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      const Vec<2>& x = state.bodies.position()[i];
      if (is_on_level(state, i, level) && region_.holds(state.box, x))
        mine.push_back(
            {state.bodies.id()[i], wrapped(state.box, x)[axis_], norm(state.bodies.velocity()[i])});
    }
    std::vector<Person> file = gathered_by_id(state.comm, mine);
    std::ranges::stable_sort(file, {}, &Person::place);
    const std::size_t n = file.size();

    const Box<2> box = region_.box(state.box);
    const bool is_closed = state.box.is_periodic(axis_) && box.lower[axis_] == state.box.lower[axis_] &&
                           box.upper[axis_] == state.box.upper[axis_];
    Real length = 0, speed = 0;
    std::size_t n_between = 0;
    if (is_closed && n > 0) {
      length = state.box.length(axis_);
      n_between = n;
      for (const Person& person : file) speed += person.speed;
    } else if (!is_closed && n > 2) {
      n_between = n - 2;
      for (std::size_t i = 1; i + 1 < n; ++i) {
        length += (file[i + 1].place - file[i - 1].place) / 2;
        speed += file[i].speed;
      }
    }
    const bool is_known = n_between > 0 && length > 0;
    const auto count = static_cast<Real>(n_between);
    constexpr Real none = std::numeric_limits<Real>::quiet_NaN();
    return {
        {"n_bodies", "-", "bodies in the region", static_cast<Real>(n)},
        {"density", "1/m",
         "of those with a neighbour on both sides: their number over the length of their "
         "cells, each half of the way to both neighbours; nan if there are none",
         is_known ? count / length : none},
        {"speed", "m/s", "their mean speed; nan if there are none", n_between > 0 ? speed / count : none}};
  }

 private:
  struct Person {
    GlobalId id;
    Real place;  // along the axis
    Real speed;
  };

  int axis_ = 0;
  MeasuredRegion<2> region_;
};

}  // namespace

SCREE_PLUGIN_ONLY(Measure, 2, one_dimensional, OneDimensional,
                  "density and speed of single-file motion along an axis")

}  // namespace scree
