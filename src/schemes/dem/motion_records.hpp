#pragma once
#include <algorithm>
#include <vector>

#include "comm/ghost_exchange.hpp"
#include "schemes/dem/force_kernels.hpp"
#include "state/state.hpp"

namespace scree {

/// Records know motion in space: plane motion turns about the third axis.
template <int D>
constexpr int first_spin = 3 - n_spins<D>;
/// A vector of the plane or of space in space, and back.
template <int N>
Vec<3> in_space(const Vec<N>& v) {
  Vec<3> w;
  for (int k = 0; k < N; ++k) w[k] = v[k];
  return w;
}
template <int D>
Vec<D> in_dimension(const Vec<3>& v) {
  Vec<D> w;
  for (int k = 0; k < D; ++k) w[k] = v[k];
  return w;
}

/// Where the local bodies are, how they move and what pushes them, as force kernels read it.
template <int D>
struct MotionRecords {
  std::vector<SweepRecord> positions;  ///< and two dummies, which never touch
  std::vector<MotionRecord> motions;
  std::vector<ForceRecord> forces;

  /// After a list build: fits the present bodies. Where they are and how they move comes with load(). Local.
  void prepare(const State<D>& state) {
    const BodyStore<D>& bodies = state.bodies;
    const std::size_t n = bodies.n_local();
    positions.assign(n + 2, SweepRecord{});
    positions[n + 1].x[0] = 1;  // the dummies are points one metre apart
    motions.assign(n, MotionRecord{});
    forces.assign(n, ForceRecord{});
    for (std::size_t i = 0; i < n; ++i) {
      positions[i].radius = bodies.radius()[i];
      motions[i].inverse_mass = bodies.mobility()[i] == 0 ? 0 : 1 / bodies.mass()[i];
      motions[i].material = state.type_material[bodies.type()[i]];
    }
  }
  /// Owned bodies [first, last) as in `bodies`, with no forces. Local.
  void load(const BodyStore<D>& bodies, std::size_t first, std::size_t last) {
    const auto position = bodies.position();
    const auto velocity = bodies.velocity();
    const auto spin = bodies.angular_velocity();
    for (std::size_t i = first; i < last; ++i) {
      for (int k = 0; k < D; ++k) positions[i].x[k] = position[i][k];
      forces[i] = {};
      MotionRecord& motion = motions[i];
      if (motion.inverse_mass == 0) continue;
      for (int k = 0; k < D; ++k) motion.velocity[k] = velocity[i][k];
      for (int k = 0; k < n_spins<D>; ++k) motion.spin[first_spin<D> + k] = spin[i][k];
    }
  }
  void load(const BodyStore<D>& bodies) { load(bodies, 0, static_cast<std::size_t>(bodies.n_owned())); }

  /// Sends positions and motions to the ranks that hold these bodies as ghosts. Collective.
  void begin_copy_to_ghosts(GhostExchange<D>& ghosts) const {
    ghosts.begin_copy_to_ghosts(motion_width, [this](Index body, Real* out) {
      out = std::copy_n(positions[body].x, D, out);
      out = std::copy_n(motions[body].velocity, D, out);
      std::copy_n(motions[body].spin + first_spin<D>, n_spins<D>, out);
    });
  }
  void end_copy_to_ghosts(GhostExchange<D>& ghosts) {
    ghosts.end_copy_to_ghosts(motion_width, [this](Index body, const Real* in) {
      std::copy_n(in, D, positions[body].x);
      std::copy_n(in + D, D, motions[body].velocity);
      std::copy_n(in + 2 * D, n_spins<D>, motions[body].spin + first_spin<D>);
    });
  }
  void copy_to_ghosts(GhostExchange<D>& ghosts) {
    begin_copy_to_ghosts(ghosts);
    end_copy_to_ghosts(ghosts);
  }

 private:
  static constexpr int motion_width = 2 * D + n_spins<D>;  // numbers that change from step to step
};

}  // namespace scree
