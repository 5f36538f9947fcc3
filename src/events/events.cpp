#include "events/events.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "core/timing.hpp"
#include "schemes/common/body_change.hpp"
#include "state/energy_balance.hpp"
#include "state/force_field.hpp"

namespace scree {

template <int D>
void Events<D>::prepare(State<D>& state) const {
  inlets.prepare(state);
  outlets.prepare(state);
  state.stage = {};
}

/// Whether what acts on the moving bodies from outside, gravity, force fields, obstacles and local bodies,
/// adds up to at most half of the sum of magnitudes. Alone in gravity bodies fall; in an impact they turn
/// round.
template <int D>
bool Events<D>::is_carried(State<D>& state, Stepper<D>& stepper) {
  const BodyStore<D>& bodies = state.bodies;
  const std::size_t n_owned = bodies.n_owned();
  std::vector<Vec<D>> forces(n_owned);
  for (const auto& field : state.forces) field->add(state, state.clock.time, forces);
  for (std::size_t i = 0; i < n_owned; ++i)
    forces[i] = bodies.mobility()[i] == 0 ? Vec<D>{} : forces[i] + bodies.mass()[i] * state.gravity;
  if (!state.comm.any(std::ranges::any_of(forces, [](const Vec<D>& f) { return f != Vec<D>{}; })))
    return true;
  constexpr Real tolerance = 1e-3;
  stepper.find_contacts(state, tolerance, contacts_);
  const auto moves = [&](Index i) { return i >= 0 && bodies.mobility()[i] != 0; };
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const bool a_moves = moves(contacts_.a[c]), b_moves = moves(contacts_.b[c]);
    if (a_moves == b_moves) continue;
    const Vec<D> on_b = contacts_.force[c] * contacts_.normal[c] +
                        (contacts_.friction.empty() ? Vec<D>{} : contacts_.friction[c]);
    forces.push_back(a_moves ? -on_b : on_b);
  }
  std::array<Real, D + 1> sums{};  // and of magnitudes
  ReproducibleSum::sum(state.comm, forces.size(), sums, [&](std::size_t k, std::span<Real> terms) {
    std::ranges::copy(forces[k].component, terms.begin());
    terms[D] = norm(forces[k]);
  });
  Vec<D> net;
  std::copy_n(sums.begin(), D, net.component.begin());
  return norm(net) <= 0.5 * sums[D];
}

template <int D>
void Events<D>::apply(State<D>& state, Stepper<D>& stepper, std::size_t first_group, std::uint64_t seed) {
  Environment<D>* environment = stepper.environment();
  if (!change_bodies() && stages.empty() && !environment) return;
  Scope timer("events");
  BodyStore<D>& bodies = state.bodies;
  BodyChange<D> change(state, stepper);
  const auto energy = [&] { return bodies.has_inertia() ? mechanical_energy(state).total() : 0; };

  if (outlets.find(state, staying_)) {
    outlets.record(state);
    const Real before = energy();
    change.remove_bodies(staying_);
    state.energy_balance.outflow += before - energy();
  }

  const std::vector<InletBody<D>> fed = inlets.find_places(state, seed);
  if (!fed.empty()) {
    change.begin();
    const Real before = energy();
    // A body may begin on any rank: it migrates with the next list.
    const std::size_t rank = state.comm.rank();
    const std::size_t size = state.comm.size();
    Index n = bodies.n_owned();
    bodies.resize(n, 0);
    for (std::size_t k = rank; k < fed.size(); k += size) {
      bodies.resize(n + 1, 0);
      const ParticleGroup<D>& group = inlets.list()[fed[k].inlet].bodies;
      NewBody<D> body = fed[k].body;
      body.orientation = group.turn.of(body.id, state.shapes[body.shape], seed);
      put_body(bodies, n, body, static_cast<std::int32_t>(first_group + fed[k].inlet), group, state.shapes,
               seed);
      if (bodies.carries_path()) bodies.previous()[n] = fed[k].body.position;
      state.memory.start.push_back(state.memory.start.back());
      ++n;
    }
    state.energy_balance.inflow += energy() - before;
  }

  if (environment) environment->after_step(state, seed, change);

  // Last, so that a stage that waits for bodies ends with the step that brings them.
  // Contacts are known between bodies that were there in the step.
  const auto carried = [&] { return !change.has_begun() && is_carried(state, stepper); };
  if (stages.advance(state, std::ref(carried))) change.begin();  // by reference: nothing is allocated
  change.end();
}

template struct Events<2>;
template struct Events<3>;

}  // namespace scree
