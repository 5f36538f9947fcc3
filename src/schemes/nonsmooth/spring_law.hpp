#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "contact/elastic_contact.hpp"
#include "friction/cone.hpp"
#include "schemes/nonsmooth/contact_work.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"

namespace scree {

/// Contacts that give way: springs with dampers along the normal and, unless the deck says "rigid", along the
/// tangents (docs/method.md, eq. D.6-D.11). Arrays are per contact of the step. Local.
template <int D>
class SpringLaw {
 public:
  /// Writes compliance and own scale, and adds to the bias.
  void add_to(const StepContacts<D>& step, const ImpulseMemory<D>& memory) {
    const std::size_t n = step.contacts.size();
    start_speed_.resize(n);
    start_stretch_.resize(n);
    phase_.resize(n);
    share_.resize(n);
    guess_.resize(n * D);
    reset(step.problem.own_scale, n);
    for (std::size_t c = 0; c < n; ++c)
      if (!step.is_rigid(c)) add_spring(step, c, memory.elastic(step.contacts, c));
  }
  /// Puts `share` of what springs will give if all else does what it did in the step before into the first
  /// guess.
  void guess(const StepContacts<D>& step, Real share, std::span<Real> impulse) const {
    for (std::size_t c = 0; c < step.contacts.size(); ++c)
      for (std::size_t i = c * D; i < (c + 1) * D && !step.is_rigid(c); ++i) impulse[i] = share * guess_[i];
  }
  /// Whether contact c is a spring that presses.
  static bool presses(const StepContacts<D>& step, std::span<const Real> impulse, std::size_t c) {
    return !step.is_rigid(c) && impulse[c * D] > 0;
  }
  /// Remembers stretches and loads of the end of the step. `stored`: see ContactWork.
  void store(const StepContacts<D>& step, const ContactSolution<D>& solution, ImpulseMemory<D>& memory,
             std::vector<std::array<Real, 2>>& stored) {
    reset(stored, step.contacts.size());
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      auto& remembered = memory.elastic(step.contacts, c);
      remembered.spring = {};
      remembered.load = 0;
      if (presses(step, solution.impulse, c)) store_spring(step, solution, c, remembered, stored[c]);
    }
  }

 private:
  using Remembered = typename ImpulseMemory<D>::Elastic;
  /// The last SpringStep that was asked for. Contacts of equal bodies ask for the same, and making one costs
  /// more than all else that is done with it.
  struct KnownSpring {
    std::array<Real, 4> asked{};
    std::optional<SpringStep> step;
    const SpringStep& get(Real stiffness, Real inverse_mass, Real damping_share, Real dt) {
      const std::array now{stiffness, inverse_mass, damping_share, dt};
      if (!step || asked != now) {
        asked = now;
        step.emplace(stiffness, inverse_mass, damping_share, dt);
      }
      return *step;
    }
  };

  void add_spring(const StepContacts<D>& step, std::size_t c, const Remembered& remembered) {
    FrictionProblem<D>& problem = step.problem;
    const PairProperties<D>& pair = *step.pair[c];
    const ContactLaw& law = step.law;
    const auto stiffness = stiffness_of(step, c);
    start_stretch_[c] = remembered.spring;
    const Vec<D> speed = surface_velocity(problem, step.obstacle_velocity, c, problem.start_velocity);
    start_speed_[c] = speed;
    const Real along_normal = inverse_mass(problem, c, false);
    const SpringStep& along_line =
        normal_spring_.get(stiffness.normal, along_normal, pair.damping.share, law.dt);
    const ContactLine line =
        is_at_servo(problem, c)
            ? implicit_spring(stiffness.normal, step.contacts.gap[c], law.dt)
            : along_line.unilateral(pair.damping, {.gap = step.contacts.gap[c],
                                                   .speed = speed[0],
                                                   .load = law.impulse_scaling * remembered.load,
                                                   .rest_speed = law.rest_speed});
    problem.compliance[2 * c] = line.compliance;
    problem.bias[c * D] += line.bias;
    // What the spring or gravity change in a step by themselves: of an impact, the most that it changes.
    const Real angle_squared = stiffness.normal * along_normal * law.dt * law.dt;
    const Real of_spring = angle_squared / (1 + angle_squared / 4) * speed[0] * speed[0];
    problem.own_scale[c] =
        std::max(std::sqrt(of_spring + law.fall_speed * law.fall_speed), std::numeric_limits<Real>::min());
    Real* guess = &guess_[c * D];
    guess[0] = std::max(0.0, -(speed[0] + law.impulse_scaling * remembered.load + line.bias) /
                                 (along_normal + line.compliance));
    for (std::size_t i = 1; i < D; ++i)
      guess[i] = law.impulse_scaling * dot(problem.frame[c][i], remembered.impulse);
    if (!std::isinf(stiffness.tangential)) {
      const Real along_tangents = inverse_mass(problem, c, true);
      const SpringStep& spring =
          tangential_spring(step, c, stiffness.tangential, along_normal, along_tangents);
      const bool is_pushed = is_pushed_along(problem, c);
      phase_[c] = is_pushed || spring.too_stiff() ? Phase::implicit : Phase::goes_on;
      if (phase_[c] == Phase::goes_on && remembered.impulse == Vec<D>{}) {
        const Real end_speed = surface_velocity(problem, step.obstacle_velocity, c, problem.free_velocity)[0];
        share_[c] = along_line.share_after_begin(step.contacts.gap[c], speed[0], end_speed);
        if (share_[c] <= whole)
          phase_[c] = Phase::begins;
        else  // goes on from y = 0
          for (std::size_t i = 1; i < D; ++i)
            start_stretch_[c] += spring.lag() * speed[static_cast<int>(i)] * problem.frame[c][i];
      }
      const ContactLine begun = phase_[c] == Phase::begins ? spring.begun(share_[c], 1) : ContactLine{};
      add_tangential(
          [&](Real x, Real u) {
            if (is_pushed) return implicit_spring(stiffness.tangential, x, law.dt);
            return phase_[c] == Phase::begins ? ContactLine{begun.compliance, begun.bias * u}
                                              : spring.bilateral(x, u);
          },
          problem, c, speed, along_tangents);
    }
    shorten_tangent(guess, problem.mu[c] * guess[0]);
  }
  static auto stiffness_of(const StepContacts<D>& step, std::size_t c) {
    return step.pair[c]->elasticity.stiffness(step.effective_radius(c));
  }
  /// With the same damper as along the normal, but for sqrt(k_T/k_N). `along_...`: inverse masses.
  const SpringStep& tangential_spring(const StepContacts<D>& step, std::size_t c, Real stiffness,
                                      Real along_normal, Real along_tangents) {
    const Real share = step.pair[c]->damping.share * std::sqrt(along_tangents / along_normal);
    return tangential_spring_.get(stiffness, along_tangents, share, step.law.dt);
  }
  /// A wall without mass has no oscillation that a step could sample: its spring is that of the end of the
  /// step, k (x + dt u'). It settles in one step, and of an impact gives nothing back.
  static ContactLine implicit_spring(Real stiffness, Real x, Real dt) {
    return {1 / (stiffness * dt * dt), x / dt};
  }
  /// Whether a servo moves along the tangents of contact c.
  static bool is_pushed_along(const FrictionProblem<D>& problem, std::size_t c) {
    const auto row = [&](std::size_t i) { return problem.at_walls.row[c * D + i]; };
    return is_at_servo(problem, c) && (row(1) != 0 || row(D - 1) != 0);
  }
  /// `line_of(x, u)`: what a spring asks for along a tangent.
  template <class LineOf>
  void add_tangential(const LineOf& line_of, FrictionProblem<D>& problem, std::size_t c, const Vec<D>& speed,
                      Real along_tangents) {
    Real* guess = &guess_[c * D];
    for (std::size_t i = 1; i < D; ++i) {
      const Real slip_speed = speed[static_cast<int>(i)];
      const ContactLine slip = line_of(dot(problem.frame[c][i], start_stretch_[c]), slip_speed);
      problem.compliance[2 * c + 1] = slip.compliance;
      problem.bias[c * D + i] += slip.bias;
      // All else stopped what the impulse before drove.
      guess[i] = (along_tangents * guess[i] - slip_speed - slip.bias) / (along_tangents + slip.compliance);
    }
  }
  /// Cuts the tangential part of an impulse to `max`.
  static void shorten_tangent(Real* r, Real max) {
    const Real length = tangential_norm<D>(r);
    for (int i = 1; i < D && length > max; ++i) r[i] *= max / length;
  }
  void store_spring(const StepContacts<D>& step, const ContactSolution<D>& solution, std::size_t c,
                    Remembered& remembered, std::array<Real, 2>& stored) {
    const FrictionProblem<D>& problem = step.problem;
    const Real pressing = solution.impulse[c * D], dt = problem.time_step;
    const Vec<D> speed = surface_velocity(problem, step.obstacle_velocity, c, solution.velocity);
    remembered.load = speed[0] - start_speed_[c][0] - inverse_mass(problem, c, false) * pressing;
    const auto [normal, tangential] = stiffness_of(step, c);
    const Real gap = step.contacts.gap[c];
    stored[0] = is_at_servo(problem, c)
                    ? 0.25 * normal * (overlap_squared(gap) + overlap_squared(gap + dt * speed[0]))
                    : 0.5 * normal * overlap_squared(gap + 0.5 * dt * speed[0]);
    if (std::isinf(tangential)) return;
    const Real max_stretch = problem.mu[c] * pressing / (tangential * dt);
    stored[1] = phase_[c] == Phase::begins
                    ? begin(step, solution, c, speed, max_stretch, remembered.spring)
                    : tangential * go_on(step, c, speed, max_stretch, remembered.spring);
  }
  static Real overlap_squared(Real gap) { return gap < 0 ? gap * gap : 0; }
  /// The stretch goes on with the slip. y of (D.8) is at most what friction carries, so that sliding holds
  /// no more. Returns what is stored, over the stiffness: y^2/2, or of an implicit spring the mean of before
  /// and after.
  Real go_on(const StepContacts<D>& step, std::size_t c, const Vec<D>& speed, Real max_stretch,
             Vec<D>& spring) const {
    const auto& frame = step.problem.frame[c];
    Vec<D> slip, before;
    for (std::size_t i = 1; i < D; ++i) {
      before += dot(frame[i], start_stretch_[c]) * frame[i];
      slip += step.law.dt * speed[static_cast<int>(i)] * frame[i];
    }
    if (phase_[c] == Phase::implicit) {
      spring = shortened(before + slip, max_stretch);
      return 0.25 * (dot(before, before) + dot(spring, spring));
    }
    const Vec<D> stored_stretch = shortened(before + 0.5 * slip, max_stretch);
    spring = stored_stretch + 0.5 * slip;
    return 0.5 * dot(stored_stretch, stored_stretch);
  }
  /// The stretch holds what bodies lost in the step (docs/method.md, eq. D.11). Returns what is stored.
  Real begin(const StepContacts<D>& step, const ContactSolution<D>& solution, std::size_t c,
             const Vec<D>& speed, Real max_stretch, Vec<D>& spring) {
    const Real stiffness = stiffness_of(step, c).tangential;
    const SpringStep& law = tangential_spring(step, c, stiffness, inverse_mass(step.problem, c, false),
                                              inverse_mass(step.problem, c, true));
    const Real* impulse = &solution.impulse[c * D];
    const Real length = tangential_norm<D>(impulse);
    Real taken = 0;
    Vec<D> direction, slip_speed;
    for (std::size_t i = 1; i < D; ++i) {
      const int k = static_cast<int>(i);
      taken -= 0.5 * impulse[i] * (start_speed_[c][k] + speed[k]);
      slip_speed += speed[k] * step.problem.frame[c][i];
      if (length > 0) direction -= impulse[i] / length * step.problem.frame[c][i];
    }
    const Real energy = law.stored_share(share_[c]) * std::max(taken, 0.0);
    const Vec<D> stored_stretch = shortened(law.stretch_of(energy) * direction, max_stretch);
    spring = stored_stretch + law.lag() * slip_speed;
    return stiffness * std::min(energy / stiffness, 0.5 * dot(stored_stretch, stored_stretch));
  }
  static Vec<D> shortened(const Vec<D>& stretch, Real max_stretch) {
    const Real length = norm(stretch);
    return length > max_stretch ? (max_stretch / length) * stretch : stretch;
  }

  /// Of a tangential spring in the step: the contact begins within it, or it was there before, or the spring
  /// is that of the end of the step.
  enum class Phase : char { begins, goes_on, implicit };
  static constexpr Real whole = 0.99;  // share of the step beyond which it has begun with it

  // Of each contact, at the start of the step: velocity in its frame, stretch; phase, and the share of the
  // step for which it lasts if it begins; and impulses to start from.
  std::vector<Vec<D>> start_speed_, start_stretch_;
  std::vector<Phase> phase_;
  std::vector<Real> share_, guess_;
  KnownSpring normal_spring_, tangential_spring_;
};

}  // namespace scree
