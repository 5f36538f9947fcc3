#include "geometry/driven_motion.hpp"

namespace scree {

namespace {

/// The entry of decks for driven walls: DrivenMotion moves them, this stays where the deck has the wall.
template <int D>
class Driven final : public Motion<D> {
 public:
  void describe(Section& section) override { driven_motion_->describe(section); }
  Pose<D> pose(Real) const override { return {}; }
  Vec<D> velocity(const Vec<D>&, Real) const override { return {}; }
  Vec<D == 2 ? 1 : 3> spin(Real) const override { return {}; }
  std::shared_ptr<const DrivenMotion<D>> driven_motion() const override { return driven_motion_; }

 private:
  std::shared_ptr<DrivenMotion<D>> driven_motion_ = std::make_shared<DrivenMotion<D>>();
};

}  // namespace

SCREE_PLUGIN(Motion, driven, Driven, "motion under a load, a pressure or a torque: bodies push back")

}  // namespace scree
