#include <fmt/core.h>

#include "analysis/measure.hpp"
#include "core/error.hpp"
#include "geometry/driven_motion.hpp"

namespace scree {
namespace {

/// What driven walls do: where they are along their axes, how fast they go, what they carry and what they
/// are asked to carry. Loads and strains are positive where a wall moves along its axis against bodies.
template <int D>
class DrivenWalls final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.texts(
        "obstacles", names_,
        {.doc = "names of driven obstacles, or OBSTACLE.NAME of one of their further directions; none "
                "given: all of them"});
    section.real(
        "length", length_,
        {.unit = Unit::length,
         .range = positive,
         .doc = "Length of the sample along the axis, for a column strain: the displacement since the "
                "present stage began over this length"});
    if (section.reading()) this->where_ = section.where("obstacles");
  }

  void check(const State<D>& state) const override { chosen(state.obstacles); }

  MeasuredRow record(const Sample<D>& sample) override {
    const ObstacleSet<D>& obstacles = sample.state.obstacles;
    MeasuredRow row;
    for (const std::size_t k : chosen(obstacles)) {
      const DrivenState& wall = obstacles.driven()[k];
      const std::string name = obstacles.name_of(wall);
      const bool turns = obstacles.driven_motion_of(wall).turns();
      const std::string place = turns ? "rad" : "m", load = turns ? "N m" : "N";
      row.push_back({"position_" + name, place,
                     fmt::format("where {} is along its axis, from its place in the deck", name),
                     wall.position});
      row.push_back({"velocity_" + name, place + "/s", fmt::format("velocity of {} along its axis", name),
                     wall.velocity});
      row.push_back({"load_" + name, load,
                     fmt::format("reaction of the bodies on {}, against its axis", name), wall.reaction});
      row.push_back({"target_" + name, load,
                     fmt::format("load that {} is asked to carry; 0 where it has a speed", name),
                     target_of(obstacles, wall)});
      if (std::isfinite(length_) && !turns)
        row.push_back({"strain_" + name, "-",
                       fmt::format("displacement of {} in this stage over the length", name),
                       (wall.position - wall.stage_position) / length_});
    }
    return row;
  }

 private:
  /// Numbers of the walls to show.
  std::vector<std::size_t> chosen(const ObstacleSet<D>& obstacles) const {
    const auto driven = obstacles.driven();
    std::vector<std::size_t> numbers;
    std::string known;
    for (std::size_t k = 0; k < driven.size(); ++k) {
      known += (known.empty() ? "" : ", ") + obstacles.name_of(driven[k]);
      if (names_.empty()) numbers.push_back(k);
    }
    for (const std::string& name : names_) {
      std::size_t k = 0;
      while (k < driven.size() && obstacles.name_of(driven[k]) != name) ++k;
      if (k == driven.size())
        throw InputError(fmt::format("{}: there is no driven obstacle '{}'; the deck has {}", this->where_,
                                     name, known.empty() ? "none" : known));
      numbers.push_back(k);
    }
    if (numbers.empty())
      throw InputError(
          fmt::format("{}: no obstacle of the deck has a motion of the type \"driven\"", this->where_));
    return numbers;
  }

  std::vector<std::string> names_;
  Real length_ = HUGE_VAL;
};

}  // namespace

SCREE_PLUGIN(Measure, driven, DrivenWalls, "place, velocity and load of driven walls")

}  // namespace scree
