#include "geometry/drive.hpp"

namespace scree {

namespace {

/// The entry of decks for driven walls: Drive moves them, this stays where the deck has the wall.
template <int D>
class Driven final : public Motion<D> {
 public:
  void describe(Section& section) override { drive_->describe(section); }
  Pose<D> pose(Real) const override { return {}; }
  Vec<D> velocity(const Vec<D>&, Real) const override { return {}; }
  Vec<D == 2 ? 1 : 3> spin(Real) const override { return {}; }
  std::shared_ptr<const Drive<D>> drive() const override { return drive_; }

 private:
  std::shared_ptr<Drive<D>> drive_ = std::make_shared<Drive<D>>();
};

}  // namespace

SCREE_PLUGIN(Motion, driven, Driven, "motion under a load, a pressure or a torque: bodies push back")

}  // namespace scree
