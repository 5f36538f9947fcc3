#include "schemes/common/assembler.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/contact_rows.hpp"
#include "particles/volume.hpp"
#include "state/energy_balance.hpp"

namespace scree {

template <int D>
const FrictionProblem<D>& FrictionAssembler<D>::assemble(const FrictionStep<D>& step) {
  Scope timer("friction problem");
  if (step.found)
    std::swap(contacts_, *step.found);
  else
    neighborhood_.detect(state_, step.rules, contacts_);
  problem_.time_step = step.dt;
  problem_.velocity_floor = step.velocity_floor;
  fill_bodies(step);
  fill_contacts(step);
  return problem_;
}

template <int D>
void FrictionAssembler<D>::fill_bodies(const FrictionStep<D>& step) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const BodyStore<D>& bodies = state_.bodies;
  const auto n_held = static_cast<std::size_t>(bodies.n_held());
  // Bodies change with the list of neighbours only.
  if (list_of_masses_ != neighborhood_.n_rebuilds() || !std::ranges::equal(density_of_masses_, step.density))
    fill_masses(step.density);
  SCREE_ASSERT(step.free_velocity.size() == static_cast<std::size_t>(bodies.n_owned()) * q);
  problem_.free_velocity.resize(n_held * q);
  std::copy(step.free_velocity.begin(), step.free_velocity.end(), problem_.free_velocity.begin());
  halo_.copy_to_ghosts(problem_.free_velocity, q);
  problem_.start_velocity.clear();
  if (!step.start_velocity) return;
  problem_.start_velocity.resize(n_held * q);
  std::copy(step.start_velocity->begin(), step.start_velocity->end(), problem_.start_velocity.begin());
  halo_.copy_to_ghosts(problem_.start_velocity, q);
}

template <int D>
void FrictionAssembler<D>::fill_masses(std::span<const Real> density) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const BodyStore<D>& bodies = state_.bodies;
  const auto n_held = static_cast<std::size_t>(bodies.n_held());
  list_of_masses_ = neighborhood_.n_rebuilds();
  ++problem_.mass_stamp;
  density_of_masses_.assign(density.begin(), density.end());
  problem_.body_id.assign(bodies.id().begin(), bodies.id().end());
  problem_.mass.assign(n_held * q * q, 0.0);
  for (std::size_t i = 0; i < n_held; ++i) {
    const Real r = bodies.radius()[i];
    const Real mass = bodies.has_inertia()
                          ? bodies.mass()[i]
                          : density[static_cast<std::size_t>(bodies.group()[i])] * body_volume<D>(r);
    const Real inertia = moment_of_inertia<D>(mass, r);
    for (std::size_t k = 0; k < q; ++k) problem_.mass[(i * q + k) * q + k] = k < D ? mass : inertia;
  }
}

template <int D>
void FrictionAssembler<D>::fill_contacts(const FrictionStep<D>& step) {
  const auto radius = std::as_const(state_.bodies).radius();
  const auto position = std::as_const(state_.bodies).position();
  const std::size_t n = contacts_.size();
  copy_into(contacts_.a, problem_.a);
  copy_into(contacts_.b, problem_.b);
  problem_.colour_first = contacts_.colour_first;
  problem_.interior_first = contacts_.interior_first;
  problem_.frame.resize(n);
  reset(problem_.bias, n * D);
  reset(surface_velocity_, n * D);
  reset(problem_.arm, n * 2);
  const auto mobility = std::as_const(state_.bodies).mobility();
  const auto group = std::as_const(state_.bodies).group();
  for (std::size_t c = 0; c < n; ++c) {
    const auto& frame = problem_.frame[c] = contact_frame<D>(contacts_.normal[c]);
    const Index ends[2] = {contacts_.a[c], contacts_.b[c]};
    for (std::size_t side = 0; side < 2; ++side) {
      if (ends[side] < 0) continue;  // an obstacle
      const auto body = static_cast<std::size_t>(ends[side]);
      if (mobility[body] == 0)
        (side == 0 ? problem_.a : problem_.b)[c] = -1;
      else if (state_.group_rotates.empty() || state_.group_rotates[static_cast<std::size_t>(group[body])])
        problem_.arm[c * 2 + side] = radius[body];
    }
    if (ends[1] >= 0) continue;
    const Vec<D> point = position[static_cast<std::size_t>(ends[0])] + contacts_.branch[c];
    const Vec<D> velocity =
        state_.obstacles.velocity(contacts_.wall[c], point, state_.clock.time + step.dt / 2);
    for (std::size_t i = 0; i < D; ++i) {
      surface_velocity_[c * D + i] = dot(frame[i], velocity);
      problem_.bias[c * D + i] = surface_velocity_[c * D + i];
    }
  }
  reset(problem_.mu, n);
  reset(problem_.compliance, n * 2);
  step.laws(contacts_, problem_);
}

template <int D>
std::size_t FrictionAssembler<D>::bytes() const {
  const FrictionProblem<D>& p = problem_;
  const ContactGraph<D>& g = contacts_;
  return held_bytes(p.body_id, p.mass, p.free_velocity, p.start_velocity, p.a, p.b, p.frame, p.bias, p.mu,
                    p.compliance, p.arm, g.a, g.b, g.wall, g.gap, g.normal, g.branch, g.place,
                    surface_velocity_);
}

template class FrictionAssembler<2>;
template class FrictionAssembler<3>;

}  // namespace scree
