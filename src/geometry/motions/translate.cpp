#include "geometry/motions/active_time.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

namespace {

/// Displacement v s, with s the time moved since `start`.
template <int D>
class Translate final : public Motion<D> {
 public:
  void describe(Section& section) override {
    section.point<D>("velocity", velocity_, {.unit = Unit::speed, .required = true, .doc = "velocity"});
    active_.describe(section);
  }

  Pose<D> pose(Real time) const override { return {.translation = velocity_ * active_.elapsed(time)}; }

  Vec<D> velocity(const Vec<D>&, Real time) const override {
    return active_.contains(time) ? velocity_ : Vec<D>{};
  }

  Vec<D == 2 ? 1 : 3> spin(Real) const override { return {}; }

 private:
  Vec<D> velocity_{};
  ActiveTime active_;
};

}  // namespace

SCREE_PLUGIN(Motion, translate, Translate, "straight motion at constant velocity")

}  // namespace scree
