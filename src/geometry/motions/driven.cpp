#include <fmt/format.h>

#include "geometry/driven_motion.hpp"

namespace scree {

namespace {

/// The entry of decks for driven walls: DrivenMotions move them, this stays where the deck has the wall.
template <int D>
class Driven final : public Motion<D> {
 public:
  void describe(Section& section) override {
    add("").describe(section);
    section.list("further",
                 {.doc = "Further directions in which the wall moves, each with a load of its own. All moves "
                         "along axes are at right angles to each other; one that turns comes last, and then "
                         "point is the centre of mass of the wall"},
                 [&](std::size_t, Section& entry) {
                   std::string name;
                   entry.text("name", name,
                              {.required = true,
                               .doc = "Name of the direction: drive and measures call it OBSTACLE.NAME"});
                   DrivenMotion<D>& direction = add(name);
                   direction.describe(entry);
                   if (entry.reading()) check_last(entry);
                 });
  }
  Pose<D> pose(Real) const override { return {}; }
  Vec<D> velocity(const Vec<D>&, Real) const override { return {}; }
  Vec<D == 2 ? 1 : 3> spin(Real) const override { return {}; }
  std::vector<std::shared_ptr<const DrivenMotion<D>>> driven_motions() const override {
    return {directions_.begin(), directions_.end()};
  }

 private:
  DrivenMotion<D>& add(const std::string& name) {
    directions_.push_back(std::make_shared<DrivenMotion<D>>());
    directions_.back()->set_name(name);
    return *directions_.back();
  }
  /// Against those before it.
  void check_last(const Section& entry) const {
    const DrivenMotion<D>& last = *directions_.back();
    for (std::size_t i = 0; i + 1 < directions_.size(); ++i) {
      const DrivenMotion<D>& other = *directions_[i];
      if (other.name() == last.name() && i > 0)
        entry.fail("name", fmt::format("the direction '{}' is given twice", last.name()));
      if (other.turns())
        entry.fail("axis",
                   "a direction that turns comes last, and there is one at most: the others move "
                   "along axes");
      if (other.control() != last.control())
        entry.fail("control", "all directions of a wall have the same control");
      if (!last.turns() && !other.is_across(last))
        entry.fail("axis", fmt::format("it is not at right angles to the axis of {}",
                                       i == 0 ? "the motion" : fmt::format("'{}'", other.name())));
    }
  }

  std::vector<std::shared_ptr<DrivenMotion<D>>> directions_;
};

}  // namespace

SCREE_PLUGIN(Motion, driven, Driven, "motion under a load, a pressure or a torque: bodies push back")

}  // namespace scree
