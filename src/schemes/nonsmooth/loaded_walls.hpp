#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/reset.hpp"
#include "geometry/drive.hpp"
#include "schemes/common/assembler.hpp"
#include "schemes/nonsmooth/contact_geometry.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"

namespace scree {

/// Contacts with walls under load (docs/method.md, eq. D.17). A wall that jams rigid bodies carries any load
/// at the velocity 0, so that its velocity does not determine its load. Therefore each of its contacts gives
/// way by what its impulse r differs from a reference r_old, that of the last step:
///     u = H v + w + (r - r_old)/(s m),   m the mass of the body, s its stiffness [-].
/// The load then grows with the velocity of the wall, in a wall that jams by sum(way^2) s m / dt. With r_old
/// = r the law is the rigid one again. Arrays are per contact of the problem; `impulse`: those that solve it.
/// Both arguments of the constructor must outlive it. Local, but where it says collective.
template <int D>
class LoadedWalls {
 public:
  /// What a wall carries: its numbers in ObstacleSet::driven().
  struct Reaction {
    Real load = 0;        ///< against its axis [N]
    Real slope = 0;       ///< most by which that grows with the velocity [N s/m]
    Real pressed = 0;     ///< the part of contacts that press in it
    Real deflection = 0;  ///< how much slower the wall goes than is asked, as its contacts give way [m/s]
  };

  LoadedWalls(State<D>& state, FrictionAssembler<D>& assembler)
      : state_(state), assembler_(assembler), solved_(false, state.bodies.carries_shapes(), false) {}

  /// The number of the wall of contact c that a load moves; -1: none.
  int wall_of(std::size_t c) const {
    return contacts().b[c] < 0 ? state_.obstacles.driven_of(contacts().wall[c]) : -1;
  }
  /// Whether the contacts of wall k do not give way: it goes at its largest speed whatever it carries.
  void set_rigid(std::size_t k, bool rigid) {
    if (is_rigid_.size() <= k) is_rigid_.resize(k + 1, 0);
    is_rigid_[k] = rigid ? 1 : 0;
  }
  bool is_rigid(std::size_t k) const { return k < is_rigid_.size() && is_rigid_[k] != 0; }
  /// s of contacts that give way, from the next add_to() on.
  void set_stiffness(Real stiffness) { stiffness_ = stiffness; }

  /// After a list build.
  void forget(const Neighborhood<D>& neighborhood) { solved_.fit(neighborhood); }
  void begin_step() { refers_to_solved_ = false; }
  /// From here on in this step r_old are the present impulses.
  void set_reference_impulse(std::span<const Real> impulse) {
    refers_to_solved_ = true;
    solved_.store(problem(), contacts(), [&](std::size_t c, std::size_t i) { return impulse[c * D + i]; });
  }
  /// Lets contacts give way, with `factor` times what `memory` has of the last step as r_old. Collective.
  void add_to(const ImpulseMemory<D>& memory, Real factor) {
    constexpr std::size_t q = FrictionProblem<D>::q;
    FrictionProblem<D>& problem = assembler_.problem();
    if (refers_to_solved_) factor = 1;
    reset(softness_, contacts().size());
    reset(reference_, contacts().size() * D);
    set_scale(problem);
    for (std::size_t c = 0; c < contacts().size(); ++c) {
      const int k = wall_of(c);
      if (k < 0 || problem.a[c] < 0 || is_rigid(static_cast<std::size_t>(k)) ||
          state_.obstacles.driven()[static_cast<std::size_t>(k)].order.kind == DrivenOrder::Kind::speed)
        continue;
      softness_[c] = 1 / (stiffness_ * problem.mass[static_cast<std::size_t>(problem.a[c]) * q * q]);
    }
    const auto refer = [&](std::size_t c, const Vec<D>& impulse) {
      if (softness_[c] == 0 || impulse == Vec<D>{}) return;
      for (std::size_t i = 0; i < D; ++i) reference_[c * D + i] = factor * dot(problem.frame[c][i], impulse);
      if (reference_[c * D] <= 0) std::fill_n(&reference_[c * D], D, 0.0);
    };
    (refers_to_solved_ ? solved_ : memory).for_each_impulse(contacts(), refer);
    for (std::size_t c = 0; c < contacts().size(); ++c) {
      if (softness_[c] == 0) continue;
      problem.compliance[2 * c] += softness_[c];
      problem.compliance[2 * c + 1] += softness_[c];
      for (std::size_t i = 0; i < D; ++i) problem.bias[c * D + i] -= softness_[c] * reference_[c * D + i];
    }
  }
  /// What the walls carry. Exact sums. Good until the next call. Collective.
  std::span<const Reaction> react(std::span<const Real> impulse) {
    const auto walls = state_.obstacles.driven();
    constexpr std::size_t width = 5;
    touching_.clear();
    for (std::size_t c = 0; c < contacts().size(); ++c)
      if (wall_of(c) >= 0 && (softness_[c] > 0 || impulse[c * D] > 0)) touching_.push_back(c);
    sums_.assign(walls.size() * width, 0.0);
    const Real dt = problem().time_step;
    ReproducibleSum::sum(state_.comm, touching_.size(), sums_, [&](std::size_t i, std::span<Real> terms) {
      std::ranges::fill(terms, 0.0);
      const std::size_t c = touching_[i];
      const auto k = static_cast<std::size_t>(wall_of(c));
      const Vec<D> direction = direction_at(c);
      for (std::size_t d = 0; d < D; ++d) {
        const Real r = impulse[c * D + d], old = reference_[c * D + d],
                   along = -dot(problem().frame[c][d], direction);
        terms[k * width] += r * along / dt;
        // Where impulses have gone those remembered count, so that the mean does not jump.
        terms[k * width + 2] += (r + old) * softness_[c] * (r - old);
        terms[k * width + 4] += (r + old) * along;
      }
      if (problem().rolls()) {
        const auto axes = turning_frame<D>(problem().frame[c]);
        const auto spin = state_.obstacles.drive_of(walls[k]).spin();
        for (std::size_t d = 0; d < axes.size(); ++d)
          terms[k * width] -= impulse[contacts().size() * D + c * axes.size() + d] * dot(axes[d], spin) / dt;
      }
      if (softness_[c] > 0) terms[k * width + 1] = dot(direction, direction) / (softness_[c] * dt);
      if (impulse[c * D] > 0) terms[k * width + 3] = terms[k * width + 1];
    });
    reactions_.resize(walls.size());
    for (std::size_t k = 0; k < walls.size(); ++k) {
      const Real given = sums_[k * width + 2], weight = sums_[k * width + 4];
      reactions_[k] = {sums_[k * width], sums_[k * width + 1], sums_[k * width + 3],
                       weight != 0 ? given / weight : 0};
    }
    return reactions_;
  }
  /// The next first guess of the impulses is to carry this much more [N] at wall k.
  void set_target_load(std::size_t k, Real load) {
    if (asked_.size() <= k) asked_.resize(k + 1, 0);
    asked_[k] = load;
  }
  /// Changes the guess as was asked for, in contacts that press: where bodies jam that is what another
  /// velocity of the wall does. What the guess is off by a solve finds, but for its tolerance: without this a
  /// wall would get a little faster and carry no more, as the impulses before solve this problem too.
  void change_guess(std::span<Real> impulse) {
    for (std::size_t c = 0; c < contacts().size(); ++c) {
      if (softness_[c] == 0 || impulse[c * D] <= 0) continue;
      const auto k = static_cast<std::size_t>(wall_of(c));
      if (k >= asked_.size() || asked_[k] == 0 || reactions_[k].pressed == 0) continue;
      const Real velocity = asked_[k] / reactions_[k].pressed;
      const Vec<D> direction = direction_at(c);
      for (std::size_t i = 0; i < D; ++i)
        impulse[c * D + i] -= velocity * dot(problem().frame[c][i], direction) / softness_[c];
      if (impulse[c * D] <= 0) std::fill_n(&impulse[c * D], D, 0.0);
    }
    std::ranges::fill(asked_, 0.0);
  }
  /// How much more one contact with a wall gives way than all do on average, at most [m/s]: what the wall
  /// would sink into a body, or keep from one that it presses. After react(). Collective.
  Real largest_penetration_rate(std::span<const Real> impulse) const {
    Real max = 0;
    for (const std::size_t c : touching_) {
      if (softness_[c] == 0 || impulse[c * D] <= 0) continue;
      const Real along = -dot(problem().frame[c][0], direction_at(c));
      const Real of_all = along * reactions_[static_cast<std::size_t>(wall_of(c))].deflection;
      max = std::max(max, std::abs(softness_[c] * (impulse[c * D] - reference_[c * D]) - of_all));
    }
    return state_.comm.max(max);
  }
  /// Makes the walls slower by `deflection`, in the surface velocities of obstacles and in the problem, whose
  /// contacts give way from these impulses on. After react(), once.
  void slow_down(std::span<const Real> impulse) {
    const std::span<Real> surface_velocity = assembler_.surface_velocity();
    for (std::size_t c = 0; c < contacts().size(); ++c) {
      if (softness_[c] == 0) continue;
      const Real slower = reactions_[static_cast<std::size_t>(wall_of(c))].deflection;
      const Vec<D> direction = direction_at(c);
      for (std::size_t i = 0; i < D; ++i) {
        const Real along = slower * dot(problem().frame[c][i], direction);
        surface_velocity[c * D + i] -= along;
        assembler_.problem().bias[c * D + i] -=
            along + softness_[c] * (impulse[c * D + i] - reference_[c * D + i]);
        reference_[c * D + i] = impulse[c * D + i];
      }
    }
  }
  /// What errors of velocities are compared to [m/s].
  Real velocity_scale() const { return problem().velocity_scale; }
  /// What the normal bias of contact c holds because it gives way [m/s].
  Real compliance_velocity(std::size_t c) const { return softness_[c] * reference_[c * D]; }

 private:
  const ContactGraph<D>& contacts() const { return assembler_.contacts(); }
  const FrictionProblem<D>& problem() const { return std::as_const(assembler_).problem(); }
  /// What errors are compared to is what it would be if contacts did not give way: impulses that they
  /// remember are no velocities. Of a contact with a spring, what the spring lets its error do. Before the
  /// bias changes. Collective.
  void set_scale(FrictionProblem<D>& problem) const {
    const auto n = static_cast<std::size_t>(problem.n_contacts());
    std::array<Real, 1> sum{};
    ReproducibleSum::sum(state_.comm, n, sum, [&](std::size_t c, std::span<Real> term) {
      if (!problem.own_scale.empty() && problem.own_scale[c] > 0) {
        const Real change = problem.own_scale[c] * share_of_spring(problem, c);
        term[0] = change * change;
        return;
      }
      const Vec<D> u = problem.relative_velocity(c, problem.free_velocity);
      term[0] = 0;
      for (std::size_t i = 0; i < D; ++i) {
        const Real component = u[static_cast<int>(i)] + problem.bias[c * D + i];
        term[0] += component * component;
      }
    });
    const std::int64_t n_all = state_.comm.sum(static_cast<std::int64_t>(n));
    const Real rms = n_all > 0 ? std::sqrt(sum[0] / static_cast<Real>(n_all)) : 0;
    problem.velocity_scale = std::max(rms, problem.velocity_floor);
  }
  /// W/(W + G) along the normal.
  static Real share_of_spring(const FrictionProblem<D>& problem, std::size_t c) {
    const Real w = inverse_mass(problem, c, false);
    return w / (w + problem.compliance[2 * c]);
  }
  /// Velocity of the wall at contact c for the velocity 1 of its drive.
  Vec<D> direction_at(std::size_t c) const {
    const auto k = static_cast<std::size_t>(wall_of(c));
    const Vec<D> point =
        state_.bodies.position()[static_cast<std::size_t>(contacts().a[c])] + contacts().branch[c];
    return state_.obstacles.drive_of(state_.obstacles.driven()[k])
        .direction(state_.obstacles.at_obstacle(contacts().wall[c], point));
  }

  State<D>& state_;
  FrictionAssembler<D>& assembler_;
  ImpulseMemory<D> solved_;  // of set_reference_impulse()
  bool refers_to_solved_ = false;
  std::vector<Real> softness_;   // [1/kg]; 0: not of a wall under load
  std::vector<Real> reference_;  // n_contacts * D: r_old in the frames [N s]
  std::vector<std::size_t> touching_;
  std::vector<Real> sums_;
  std::vector<Reaction> reactions_;
  std::vector<std::uint8_t> is_rigid_;  // of each wall
  std::vector<Real> asked_;             // [N]
  Real stiffness_ = 1;
};

}  // namespace scree
