#include "events/events.hpp"

#include "core/timing.hpp"
#include "schemes/common/body_change.hpp"
#include "state/energy_balance.hpp"

namespace scree {

template <int D>
void Events<D>::prepare(State<D>& state) const {
  inlets.prepare(state);
  outlets.prepare(state);
  state.stage = {};
}

template <int D>
void Events<D>::apply(State<D>& state, Stepper<D>& stepper, std::size_t first_group, std::uint64_t seed) {
  Scene<D>* scene = stepper.scene();
  if (!change_bodies() && stages.empty() && !scene) return;
  Scope timer("events");
  BodyStore<D>& bodies = state.bodies;
  BodyChange<D> change(state, stepper);
  const auto energy = [&] { return bodies.has_inertia() ? mechanical_energy(state).total() : 0; };

  if (outlets.find(state, staying_)) {
    outlets.record(state);
    const Real before = energy();
    change.take_out(staying_);
    state.energy_balance.outflow += before - energy();
  }

  const std::vector<InletBody<D>> fed = inlets.find_places(state, seed);
  if (!fed.empty()) {
    change.begin();
    const Real before = energy();
    // A body may begin on any rank: it migrates with the next list.
    const auto rank = static_cast<std::size_t>(state.comm.rank());
    const auto size = static_cast<std::size_t>(state.comm.size());
    Index n = bodies.n_owned();
    bodies.resize(n, 0);
    for (std::size_t k = rank; k < fed.size(); k += size) {
      bodies.resize(n + 1, 0);
      const ParticleGroup<D>& group = inlets.list()[fed[k].inlet].bodies;
      NewBody<D> body = fed[k].body;
      body.orientation = group.turn.of(body.id, state.shapes[body.shape], seed);
      put_body(bodies, n, body, static_cast<std::int32_t>(first_group + fed[k].inlet), group, state.shapes,
               seed);
      if (bodies.carries_path()) bodies.previous()[static_cast<std::size_t>(n)] = fed[k].body.position;
      state.memory.start.push_back(state.memory.start.back());
      ++n;
    }
    state.energy_balance.inflow += energy() - before;
  }

  if (scene) scene->after_step(state, seed, change);

  // Last, so that a stage that waits for bodies ends with the step that brings them.
  if (stages.advance(state)) change.begin();
  change.end();
}

template struct Events<2>;
template struct Events<3>;

}  // namespace scree
