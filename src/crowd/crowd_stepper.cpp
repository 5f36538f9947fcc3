#include "crowd/crowd_scene.hpp"
#include "crowd/crowd_scheme.hpp"

namespace scree {

/// People as disks in first-order motion.
class CrowdStepper final : public Stepper<2> {
 public:
  void describe(Section& root) override { scene_.describe(root); }
  Carried carries() const override { return Carried::walking; }
  Scene<2>* scene() override { return &scene_; }
  Real travel_per_step(const State<2>&, Real dt) const override { return dt * scene_.people().fastest(); }
  void start(State<2>&, Neighborhood<2>& neighborhood, Real) override { neighborhood_ = &neighborhood; }
  void advance(State<2>& state, Real dt, bool) override { state.clock.last_dt = dt; }
  void bodies_changed(State<2>& state) override { neighborhood_->rebuild(state); }
  void save(State<2>& state) override { state.memory.clear(state.bodies.n_owned()); }
  void find_contacts(State<2>& state, Real tolerance, ContactGraph<2>& contacts) override {
    neighborhood_->detect(state, {.tolerance = tolerance}, contacts);
  }
  std::vector<CertificateEntry> certificate() const override { return {}; }
  std::size_t bytes() const override { return 0; }

 private:
  CrowdScene scene_;
  Neighborhood<2>* neighborhood_ = nullptr;
};

SCREE_PLUGIN_ONLY(Stepper, 2, crowd, CrowdStepper, "people who walk to exits, kept apart exactly")

template <int D>
Entry<Stepper<D>> crowd_scheme() {
  return Stepper_crowd<D>();
}
template Entry<Stepper<2>> crowd_scheme<2>();
template Entry<Stepper<3>> crowd_scheme<3>();

}  // namespace scree
