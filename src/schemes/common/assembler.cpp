#include "schemes/common/assembler.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/contact_rows.hpp"
#include "particles/orientation.hpp"
#include "particles/volume.hpp"
#include "state/energy_balance.hpp"

namespace scree {

template <int D>
const FrictionProblem<D>& FrictionAssembler<D>::assemble(const FrictionStep<D>& step) {
  Scope timer("friction problem");
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
  const std::size_t n_local = bodies.n_local();
  // Spheres change with the list of neighbours only.
  if (bodies.carries_shapes() || list_of_masses_ != neighborhood_.n_rebuilds() ||
      !std::ranges::equal(density_of_masses_, step.density))
    fill_masses(step.density);
  SCREE_ASSERT(step.free_velocity.size() == static_cast<std::size_t>(bodies.n_owned()) * q);
  problem_.free_velocity.resize(n_local * q);
  std::copy(step.free_velocity.begin(), step.free_velocity.end(), problem_.free_velocity.begin());
  halo_.copy_to_ghosts(problem_.free_velocity, q);
  problem_.start_velocity.clear();
  if (!step.start_velocity) return;
  problem_.start_velocity.resize(n_local * q);
  std::copy(step.start_velocity->begin(), step.start_velocity->end(), problem_.start_velocity.begin());
  halo_.copy_to_ghosts(problem_.start_velocity, q);
}

namespace {

/// R I R^T with the principal moments I, into the block of a mass matrix.
template <int D>
void write_inertia(const Vec<n_spins<D>>& moments, const Orientation<D>& orientation, Real* block) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  if constexpr (D == 2) {
    block[q * q - 1] = moments[0];
  } else {
    const auto axes = axes_of<3>(orientation);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) {
        Real sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += moments[static_cast<int>(k)] * axes[k][i] * axes[k][j];
        const auto row = static_cast<std::size_t>(D + i), column = static_cast<std::size_t>(D + j);
        block[row * q + column] = block[column * q + row] = sum;
      }
  }
}

}  // namespace

template <int D>
void FrictionAssembler<D>::fill_masses(std::span<const Real> density) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const BodyStore<D>& bodies = state_.bodies;
  const std::size_t n_local = bodies.n_local();
  list_of_masses_ = neighborhood_.n_rebuilds();
  ++problem_.mass_stamp;
  density_of_masses_.assign(density.begin(), density.end());
  problem_.body_id.assign(bodies.id().begin(), bodies.id().end());
  problem_.mass.assign(n_local * q * q, 0.0);
  for (std::size_t i = 0; i < n_local; ++i) {
    const Real r = bodies.radius()[i];
    const Real mass = bodies.has_inertia() ? bodies.mass()[i] : density[bodies.type()[i]] * body_volume<D>(r);
    Real* block = &problem_.mass[i * q * q];
    for (std::size_t k = 0; k < D; ++k) block[k * q + k] = mass;
    if (bodies.carries_shapes())
      write_inertia<D>(state_.shapes.moments(bodies.shape()[i], mass, r), bodies.orientation()[i], block);
    else
      for (std::size_t k = D; k < q; ++k) block[k * q + k] = moment_of_inertia<D>(mass, r);
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
  const bool has_mean = state_.materials.has_elastic_pairs() && state_.obstacles.moves();
  reset(mean_surface_velocity_, has_mean ? n * D : 0);
  const Real last_dt = state_.clock.last_dt;
  const Real middle_before = last_dt > 0 ? state_.clock.time - last_dt / 2 : state_.clock.time + step.dt / 2;
  const bool has_shapes = state_.bodies.carries_shapes();
  reset(problem_.arm, has_shapes ? 0 : n * 2);
  reset(problem_.jacobian, has_shapes ? n * 2 * D * FrictionProblem<D>::q : 0);
  const auto mobility = std::as_const(state_.bodies).mobility();
  const auto type = std::as_const(state_.bodies).type();
  const auto rotates = [&](std::size_t body) {
    return state_.type_rotates.empty() || state_.type_rotates[type[body]];
  };
  for (std::size_t c = 0; c < n; ++c) {
    const auto& frame = problem_.frame[c] = contact_frame<D>(contacts_.normal[c]);
    const Index ends[2] = {contacts_.a[c], contacts_.b[c]};
    for (std::size_t side = 0; side < 2; ++side) {
      if (ends[side] < 0) continue;  // an obstacle
      const std::size_t body = ends[side];
      if (mobility[body] == 0)
        (side == 0 ? problem_.a : problem_.b)[c] = -1;
      else if (has_shapes)
        write_rows(c, side, rotates(body));
      else if (rotates(body))
        problem_.arm[c * 2 + side] = radius[body];
    }
    if (ends[1] >= 0) {
      if (state_.deformation.moves()) add_flow(c);
      continue;
    }
    const Vec<D> point = position[ends[0]] + contacts_.branch[c];
    const auto velocity_at = [&](Real time) {
      return state_.obstacles.surface_velocity(contacts_.wall[c], point, contacts_.normal[c], time);
    };
    const Vec<D> velocity = velocity_at(state_.clock.time + step.dt / 2);
    const Vec<D> mean = has_mean ? 0.5 * (velocity_at(middle_before) + velocity) : Vec<D>{};
    for (std::size_t i = 0; i < D; ++i) {
      surface_velocity_[c * D + i] = dot(frame[i], velocity);
      if (has_mean) mean_surface_velocity_[c * D + i] = dot(frame[i], mean);
      problem_.bias[c * D + i] = surface_velocity_[c * D + i];
    }
  }
  reset(problem_.mu, n);
  reset(problem_.compliance, n * 2);
  step.laws(contacts_, problem_);
}

/// Velocities are those about the flow of the domain, which is that of the image of b about a (H.23).
template <int D>
void FrictionAssembler<D>::add_flow(std::size_t c) {
  const Vec<D> velocity = state_.deformation.gradient_times(state_.box, contacts_.branch[c]);
  for (std::size_t i = 0; i < D; ++i) {
    Real& of_surface = surface_velocity_[c * D + i];
    const Real flow = dot(problem_.frame[c][i], velocity);
    problem_.bias[c * D + i] += flow - of_surface;
    of_surface = flow;
  }
}

template <int D>
void FrictionAssembler<D>::change_flow() {
  for (std::size_t c = 0; c < contacts_.size(); ++c) add_flow(c);
}

/// The rows of H of contact c for one of its bodies.
template <int D>
void FrictionAssembler<D>::write_rows(std::size_t c, std::size_t side, bool rotates) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  Vec<D> lever;
  if (rotates) lever = side == 0 ? contacts_.point[c] : contacts_.point[c] - contacts_.branch[c];
  Real* rows = &problem_.jacobian[(2 * c + side) * D * q];
  for (std::size_t i = 0; i < D; ++i)
    write_contact_row<D>(problem_.frame[c][i], lever, side == 0 ? -1 : 1, rows + i * q);
}

template class FrictionAssembler<2>;
template class FrictionAssembler<3>;

}  // namespace scree
