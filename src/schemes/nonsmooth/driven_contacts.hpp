#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/memory.hpp"
#include "core/reset.hpp"
#include "friction/friction_problem.hpp"
#include "geometry/drive.hpp"
#include "state/state.hpp"

namespace scree {

/// Contacts with walls under load in a friction problem (docs/method.md, eq. D.17). A wall that jams rigid
/// bodies carries any load at the velocity 0, so that its velocity does not determine its load. Therefore
/// each of its contacts gives way by what its impulse r differs from the one that it remembers, r_old:
///     u = H v + w + (r - r_old)/(s m),   m the mass of the body, s its stiffness [-].
/// The load then grows with the velocity of the wall, in a wall that jams by sum(way^2) s m / dt. With r_old
/// = r the law is the rigid one again. Arrays are per contact of the problem.
template <int D>
class DrivenContacts {
 public:
  /// What a wall carries: its numbers in ObstacleSet::driven().
  struct Reaction {
    Real load = 0;        ///< against its axis [N]
    Real slope = 0;       ///< most by which that grows with the velocity [N s/m]
    Real pressed = 0;     ///< the part of contacts that press in it
    Real deflection = 0;  ///< how much slower the wall goes than is asked, as its contacts give way [m/s]
  };

  /// The number of the wall of contact c that a load moves; -1: none.
  static int wall_of(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
    return contacts.b[c] < 0 ? state.obstacles.driven_of(contacts.wall[c]) : -1;
  }
  /// Whether the contacts of wall k do not give way: it goes at its largest speed whatever it carries.
  void set_hard(std::size_t k, bool hard) {
    if (is_hard_.size() <= k) is_hard_.resize(k + 1, 0);
    is_hard_[k] = hard ? 1 : 0;
  }
  bool is_hard(std::size_t k) const { return k < is_hard_.size() && is_hard_[k] != 0; }
  /// s of contacts that give way, from the next soften() on.
  void set_stiffness(Real stiffness) { stiffness_ = stiffness; }
  /// Lets the contacts give way. `remembered` calls f(c, r_old in world axes) for every contact.
  template <class ForEach>
  void soften(const State<D>& state, const ContactGraph<D>& contacts, FrictionProblem<D>& problem,
              Real factor, const ForEach& for_each_remembered) {
    constexpr std::size_t q = FrictionProblem<D>::q;
    reset(softness_, contacts.size());
    reset(carried_, contacts.size() * D);
    set_scale(state, problem);
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const int k = wall_of(state, contacts, c);
      if (k < 0 || problem.a[c] < 0 || is_hard(static_cast<std::size_t>(k)) ||
          state.obstacles.driven()[static_cast<std::size_t>(k)].order.kind == DrivenOrder::Kind::speed)
        continue;
      softness_[c] = 1 / (stiffness_ * problem.mass[static_cast<std::size_t>(problem.a[c]) * q * q]);
    }
    for_each_remembered([&](std::size_t c, const Vec<D>& impulse) {
      if (softness_[c] == 0 || impulse == Vec<D>{}) return;
      for (std::size_t i = 0; i < D; ++i) carried_[c * D + i] = factor * dot(problem.frame[c][i], impulse);
      if (carried_[c * D] <= 0) std::fill_n(&carried_[c * D], D, 0.0);
    });
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (softness_[c] == 0) continue;
      problem.compliance[2 * c] += softness_[c];
      problem.compliance[2 * c + 1] += softness_[c];
      for (std::size_t i = 0; i < D; ++i) problem.bias[c * D + i] -= softness_[c] * carried_[c * D + i];
    }
  }
  /// What the walls carry with these impulses. Exact sums. Collective.
  std::span<const Reaction> react(const State<D>& state, const ContactGraph<D>& contacts,
                                  const FrictionProblem<D>& problem, std::span<const Real> impulse) {
    const auto walls = state.obstacles.driven();
    constexpr std::size_t width = 5;
    touching_.clear();
    for (std::size_t c = 0; c < contacts.size(); ++c)
      if (wall_of(state, contacts, c) >= 0 && (softness_[c] > 0 || impulse[c * D] > 0))
        touching_.push_back(c);
    sums_.assign(walls.size() * width, 0.0);
    const Real dt = problem.time_step;
    ReproducibleSum::sum(state.comm, touching_.size(), sums_, [&](std::size_t i, std::span<Real> terms) {
      std::ranges::fill(terms, 0.0);
      const std::size_t c = touching_[i];
      const auto k = static_cast<std::size_t>(wall_of(state, contacts, c));
      const Vec<D> way = way_of(state, contacts, c);
      for (std::size_t d = 0; d < D; ++d) {
        const Real r = impulse[c * D + d], old = carried_[c * D + d], along = -dot(problem.frame[c][d], way);
        terms[k * width] += r * along / dt;
        // Where impulses have gone those remembered count, so that the mean does not jump.
        terms[k * width + 2] += (r + old) * softness_[c] * (r - old);
        terms[k * width + 4] += (r + old) * along;
      }
      if (problem.rolls()) {
        const auto axes = turning_frame<D>(problem.frame[c]);
        const auto spin = state.obstacles.drive_of(walls[k]).spin();
        for (std::size_t d = 0; d < axes.size(); ++d)
          terms[k * width] -= impulse[contacts.size() * D + c * axes.size() + d] * dot(axes[d], spin) / dt;
      }
      if (softness_[c] > 0) terms[k * width + 1] = dot(way, way) / (softness_[c] * dt);
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
  void ask_for(std::size_t k, Real load) {
    if (asked_.size() <= k) asked_.resize(k + 1, 0);
    asked_[k] = load;
  }
  /// Changes the guess as was asked for, in contacts that press: where bodies jam that is what another
  /// velocity of the wall does. What the guess is off by a solve finds, but for its tolerance: without this a
  /// wall would get a little faster and carry no more, as the impulses before solve this problem too. Local.
  void change_guess(const State<D>& state, const ContactGraph<D>& contacts, const FrictionProblem<D>& problem,
                    std::span<Real> impulse) {
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (softness_[c] == 0 || impulse[c * D] <= 0) continue;
      const auto k = static_cast<std::size_t>(wall_of(state, contacts, c));
      if (k >= asked_.size() || asked_[k] == 0 || reactions_[k].pressed == 0) continue;
      const Real velocity = asked_[k] / reactions_[k].pressed;
      const Vec<D> way = way_of(state, contacts, c);
      for (std::size_t i = 0; i < D; ++i)
        impulse[c * D + i] -= velocity * dot(problem.frame[c][i], way) / softness_[c];
      if (impulse[c * D] <= 0) std::fill_n(&impulse[c * D], D, 0.0);
    }
    std::ranges::fill(asked_, 0.0);
  }
  /// How much more one contact with a wall gives way than all do on average, at most [m/s]: what the wall
  /// would sink into a body, or keep from one that it presses. After react(). Collective.
  Real spread(const State<D>& state, const ContactGraph<D>& contacts, const FrictionProblem<D>& problem,
              std::span<const Real> impulse) const {
    Real most = 0;
    for (const std::size_t c : touching_) {
      if (softness_[c] == 0 || impulse[c * D] <= 0) continue;
      const Real along = -dot(problem.frame[c][0], way_of(state, contacts, c));
      const Real of_all =
          along * reactions_[static_cast<std::size_t>(wall_of(state, contacts, c))].deflection;
      most = std::max(most, std::abs(softness_[c] * (impulse[c * D] - carried_[c * D]) - of_all));
    }
    return state.comm.max(most);
  }
  /// Makes the walls slower by `deflection`, in the surface velocities of obstacles (in the frames of
  /// contacts) and in the problem, whose contacts give way from these impulses on.
  void slow_down(const State<D>& state, const ContactGraph<D>& contacts, FrictionProblem<D>& problem,
                 std::span<const Real> impulse, std::span<Real> surface_velocity) {
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (softness_[c] == 0) continue;
      const Real slower = reactions_[static_cast<std::size_t>(wall_of(state, contacts, c))].deflection;
      const Vec<D> way = way_of(state, contacts, c);
      for (std::size_t i = 0; i < D; ++i) {
        const Real along = slower * dot(problem.frame[c][i], way);
        surface_velocity[c * D + i] -= along;
        problem.bias[c * D + i] -= along + softness_[c] * (impulse[c * D + i] - carried_[c * D + i]);
        carried_[c * D + i] = impulse[c * D + i];
      }
    }
  }
  /// What the normal bias of contact c holds because it gives way [m/s].
  Real given_way(std::size_t c) const { return softness_[c] * carried_[c * D]; }
  std::size_t bytes() const {
    return held_bytes(softness_, carried_, touching_, sums_, reactions_, is_hard_, asked_);
  }

 private:
  /// What errors are compared to is what it would be if contacts did not give way: impulses that they
  /// remember are no velocities. Of a contact with a spring, what the spring lets its error do. Before
  /// soften() changes the bias. Collective.
  static void set_scale(const State<D>& state, FrictionProblem<D>& problem) {
    const auto n = static_cast<std::size_t>(problem.n_contacts());
    std::array<Real, 1> sum{};
    ReproducibleSum::sum(state.comm, n, sum, [&](std::size_t c, std::span<Real> term) {
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
    const std::int64_t n_all = state.comm.sum(static_cast<std::int64_t>(n));
    const Real rms = n_all > 0 ? std::sqrt(sum[0] / static_cast<Real>(n_all)) : 0;
    problem.velocity_scale = std::max(rms, problem.velocity_floor);
  }
  /// W/(W + G) along the normal.
  static Real share_of_spring(const FrictionProblem<D>& problem, std::size_t c) {
    constexpr std::size_t q = FrictionProblem<D>::q;
    Real inverse_mass = 0;
    for (const Index body : {problem.a[c], problem.b[c]})
      if (body >= 0) inverse_mass += 1 / problem.mass[static_cast<std::size_t>(body) * q * q];
    return inverse_mass / (inverse_mass + problem.compliance[2 * c]);
  }
  static Vec<D> way_of(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
    const auto k = static_cast<std::size_t>(wall_of(state, contacts, c));
    const Vec<D> point =
        state.bodies.position()[static_cast<std::size_t>(contacts.a[c])] + contacts.branch[c];
    return state.obstacles.drive_of(state.obstacles.driven()[k])
        .way(state.obstacles.at_obstacle(contacts.wall[c], point));
  }

  std::vector<Real> softness_;  // [1/kg]; 0: not of a wall under load
  std::vector<Real> carried_;   // n_contacts * D: r_old in the frames [N s]
  std::vector<std::size_t> touching_;
  std::vector<Real> sums_;
  std::vector<Reaction> reactions_;
  std::vector<std::uint8_t> is_hard_;  // of each wall
  std::vector<Real> asked_;            // [N]
  Real stiffness_ = 1;
};

}  // namespace scree
