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

/// Elastic contacts: springs with dampers along the normal and, unless the deck says "rigid", along the
/// tangents (docs/method.md, eq. D.6-D.11, D.24). Arrays are per contact of the step. Local.
template <int D>
class SpringLaw {
 public:
  void begin_step() { stays_.clear(); }
  /// Writes compliance and own scale, and adds to the bias.
  void add_to(const StepContacts<D>& step, const ImpulseMemory<D>& memory) {
    const std::size_t n = step.contacts.size();
    start_speed_.resize(n);
    start_gap_.resize(n);
    start_energy_.resize(n);
    along_normal_.resize(n);
    start_stretch_.resize(n);
    phase_.resize(n);
    share_.resize(n);
    guess_.resize(n * D);
    if (stays_.size() != n) reset(stays_, n);
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
  /// Whether contacts of this rank ended in the step that was solved but were pushed together again, so that
  /// they would store more than they took. In the next add_to() they go on. Not at driven walls, the
  /// velocities of which are not in `velocity`.
  bool keep_pressed(const StepContacts<D>& step, std::span<const Real> impulse,
                    std::span<const Real> velocity) {
    bool found = false;
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      if (!presses(step, impulse, c) || step.problem.wall_of(c) >= 0 || stays_[c] != 0) continue;
      const NormalEnd end = normal_end(step, c, impulse[c * D], velocity);
      if (end.before == 0 || end.energy <= end.max + end.inexact) continue;
      stays_[c] = 1;
      found = true;
    }
    return found;
  }
  /// Remembers stretches and loads of the end of the step. `stored`: see ContactWork.
  void store(const StepContacts<D>& step, const ContactSolution<D>& solution, ImpulseMemory<D>& memory,
             std::vector<std::array<Real, 2>>& stored) {
    reset(stored, step.contacts.size());
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      auto& remembered = memory.elastic(step.contacts, c);
      remembered.spring = {};
      remembered.load = remembered.shift = remembered.energy = 0;
      if (!step.is_rigid(c)) store_spring(step, solution, c, remembered, stored[c]);
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
    const bool is_new = remembered.impulse == Vec<D>{};
    const Vec<D> speed = start_speed_[c] = start_speed(step, c);
    const Real end_speed = surface_velocity(problem, step.obstacle_velocity, c, problem.free_velocity)[0];
    const Real load = is_new ? end_speed - speed[0] : law.impulse_scaling * remembered.load;
    const Real along_normal = along_normal_[c] = inverse_mass(problem, c, false);
    const SpringStep& along_line =
        normal_spring_.get(stiffness.normal, along_normal, pair.damping.share, law.dt);
    start_gap_[c] = step.contacts.gap[c] + shift_of(step, c, remembered, speed[0], along_line);
    start_energy_[c] = is_new
                           ? along_line.energy_of(std::max(0.0, along_line.lag() * speed[0] - start_gap_[c]))
                           : remembered.energy;
    const ContactLine line = is_at_servo(problem, c)
                                 ? implicit_spring(stiffness.normal, start_gap_[c], law.dt)
                                 : along_line.unilateral(pair.damping, {.gap = start_gap_[c],
                                                                        .speed = speed[0],
                                                                        .load = load,
                                                                        .rest_speed = law.rest_speed,
                                                                        .may_end = stays_[c] == 0});
    problem.compliance[2 * c] = line.compliance;
    problem.bias[c * D] += line.bias;
    // What the spring or gravity change in a step by themselves: of an impact, the most that it changes.
    const Real angle_squared = stiffness.normal * along_normal * law.dt * law.dt;
    const Real of_spring = angle_squared / (1 + angle_squared / 4) * speed[0] * speed[0];
    problem.own_scale[c] =
        std::max(std::sqrt(of_spring + law.fall_speed * law.fall_speed), std::numeric_limits<Real>::min());
    Real* guess = &guess_[c * D];
    guess[0] = std::max(0.0, -(speed[0] + load + line.bias) / (along_normal + line.compliance));
    for (std::size_t i = 1; i < D; ++i)
      guess[i] = law.impulse_scaling * dot(problem.frame[c][i], remembered.impulse);
    if (!std::isinf(stiffness.tangential)) {
      const Real along_tangents = inverse_mass(problem, c, true);
      const SpringStep& spring =
          tangential_spring(step, c, stiffness.tangential, along_normal, along_tangents);
      phase_[c] = is_pushed_along(problem, c) || spring.too_stiff() ? Phase::implicit : Phase::goes_on;
      if (phase_[c] == Phase::goes_on && is_new) {
        share_[c] = along_line.share_after_begin(start_gap_[c], speed[0], end_speed);
        if (share_[c] <= whole) phase_[c] = Phase::begins;
      }
      add_tangential(step, c, remembered.spring, spring, along_tangents);
    }
    shorten_tangent(guess, problem.mu[c] * guess[0]);
  }
  /// Velocity of the surfaces, with that of obstacles in the middle of the step before.
  static Vec<D> start_speed(const StepContacts<D>& step, std::size_t c) {
    Vec<D> speed =
        surface_velocity(step.problem, step.mean_obstacle_velocity, c, step.problem.start_velocity);
    for (std::size_t i = 0; i < D; ++i)
      speed[static_cast<int>(i)] +=
          step.mean_obstacle_velocity[c * D + i] - step.obstacle_velocity[c * D + i];
    return speed;
  }
  /// What is added to the gap of contact c (docs/method.md, eq. D.24). In a step of another length than the
  /// last one the oscillator goes on from where it was; and what closed in that step without pressing stores
  /// nothing yet.
  Real shift_of(const StepContacts<D>& step, std::size_t c, const Remembered& remembered, Real speed,
                const SpringStep& spring) {
    const bool pressed = remembered.impulse != Vec<D>{};
    const Real gap = step.contacts.gap[c], last_dt = step.law.last_dt;
    // As long as what has left would come into touch again without it.
    const Real shift = pressed || std::min(gap, gap - spring.lag() * speed) < 0 ? remembered.shift : 0;
    const Real now = gap + shift - spring.lag() * speed;
    if (pressed ? last_dt == step.law.dt : now >= 0 || gap + shift < last_dt * speed) return shift;
    if (last_dt == 0 || is_at_servo(step.problem, c)) return shift;
    const SpringStep& last = last_normal_spring_.get(stiffness_of(step, c).normal, along_normal_[c],
                                                     step.pair[c]->damping.share, last_dt);
    const Real before = gap + shift - last.lag() * speed;
    return shift + (pressed ? before : std::max(0.0, before)) - now;
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
    bool is_pushed = false;
    problem.at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
      const Real* along = &problem.at_walls.row[row * D];
      is_pushed = is_pushed || (is_servo(problem.walls[k]) && (along[1] != 0 || along[D - 1] != 0));
    });
    return is_pushed;
  }
  /// `remembered`: stretch, less lag u.
  void add_tangential(const StepContacts<D>& step, std::size_t c, const Vec<D>& remembered,
                      const SpringStep& spring, Real along_tangents) {
    FrictionProblem<D>& problem = step.problem;
    const bool is_pushed = is_pushed_along(problem, c);
    const ContactLine begun = phase_[c] == Phase::begins ? spring.begun(share_[c], 1) : ContactLine{};
    const auto line_of = [&](Real x, Real u) {
      if (is_pushed) return implicit_spring(stiffness_of(step, c).tangential, x, step.law.dt);
      return phase_[c] == Phase::begins ? ContactLine{begun.compliance, begun.bias * u}
                                        : spring.bilateral(x, u);
    };
    Real* guess = &guess_[c * D];
    start_stretch_[c] = {};
    for (std::size_t i = 1; i < D; ++i) {
      const Real slip_speed = start_speed_[c][static_cast<int>(i)];
      const Real stretch = dot(problem.frame[c][i], remembered) + lag_of(c, spring) * slip_speed;
      start_stretch_[c] += stretch * problem.frame[c][i];
      const ContactLine slip = line_of(stretch, slip_speed);
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
  /// Between the stretch that is remembered and x; an implicit spring remembers x.
  Real lag_of(std::size_t c, const SpringStep& spring) const {
    return phase_[c] == Phase::implicit ? 0 : spring.lag();
  }
  void store_spring(const StepContacts<D>& step, const ContactSolution<D>& solution, std::size_t c,
                    Remembered& remembered, std::array<Real, 2>& stored) {
    const FrictionProblem<D>& problem = step.problem;
    const Real pressing = solution.impulse[c * D], dt = step.law.dt;
    const Vec<D> speed = surface_velocity(problem, step.obstacle_velocity, c, solution.velocity);
    const Real along_normal = along_normal_[c];
    const auto [normal, tangential] = stiffness_of(step, c);
    const Real gap = start_gap_[c], end_gap = gap + dt * speed[0];
    if (is_at_servo(problem, c)) {
      if (pressing > 0) stored[0] = 0.25 * normal * (overlap_squared(gap) + overlap_squared(end_gap));
    } else {
      const NormalEnd end = normal_end(step, c, pressing, solution.velocity);
      const Real overlap = end.allowed_overlap();
      stored[0] = end.stored(overlap, end_gap - 0.5 * dt * speed[0]);
      remembered.shift = gap - step.contacts.gap[c] + end.overlap - overlap;
    }
    remembered.energy = stored[0];
    if (pressing <= 0) return;
    remembered.load = speed[0] - start_speed_[c][0] - along_normal * pressing;
    if (std::isinf(tangential)) return;
    const SpringStep& spring =
        tangential_spring(step, c, tangential, along_normal, inverse_mass(problem, c, true));
    Vec<D>& stretch = remembered.spring;
    if (phase_[c] == Phase::begins) {
      stretch = stretch_after_begin(step, solution, c, speed, spring);
    } else {
      stretch = start_stretch_[c];
      for (std::size_t i = 1; i < D; ++i)
        stretch += (dt - lag_of(c, spring)) * speed[static_cast<int>(i)] * problem.frame[c][i];
    }
    // So that sliding stores no more than what friction carries.
    const Real max = problem.mu[c] * pressing / (tangential * dt), length = norm(stretch);
    if (length > max) stretch = (max / length) * stretch;
    stored[1] = is_pushed_along(problem, c)
                    ? 0.25 * tangential * (dot(start_stretch_[c], start_stretch_[c]) + dot(stretch, stretch))
                    : spring.energy_of(norm(stretch));
  }
  /// A normal spring at the end of the step.
  struct NormalEnd {
    const SpringStep& spring;
    Real stiffness;
    Real overlap;         // y of the oscillator [m]
    Real without_shift;   // the same if the gap were not shifted
    Real before, energy;  // what it stored before and stores now [J]
    Real max, inexact;    // what it stored before and took, and what may be added to that [J]

    /// What it stores [J]. With damping neither the energy of the oscillator, which is that of a single
    /// impact, nor that of the midpoint rule is what a contact in a network gives back: what it took, between
    /// the two. `mean_gap`: of the start and the end of the step.
    Real stored(Real oscillator_overlap, Real mean_gap) const {
      const Real of_oscillator = spring.energy_of(oscillator_overlap);
      if (spring.lag() == 0) return of_oscillator;
      const Real of_midpoint = 0.5 * stiffness * overlap_squared(mean_gap + overlap - oscillator_overlap);
      const auto [low, high] = std::minmax(of_oscillator, of_midpoint);
      return std::clamp(max, low, high);
    }
    /// y that stores no more than `max`. Half of what the damper takes brings it to what it is without shift.
    Real allowed_overlap() const {
      if (energy > max + inexact) return spring.stretch_of(max + inexact);
      if (without_shift <= overlap || energy > max) return overlap;
      return std::max(overlap, std::min(without_shift, spring.stretch_of(0.5 * (energy + max))));
    }
  };
  NormalEnd normal_end(const StepContacts<D>& step, std::size_t c, Real pressing,
                       std::span<const Real> velocity) {
    // Share of the energies that is left to errors of the solve, and to (D.7) with damping: in a network its
    // spring is not the oscillator.
    const Real inexact = step.pair[c]->damping.share > 0 ? 1 : 1e-3;
    const Real stiffness = stiffness_of(step, c).normal;
    const SpringStep& spring =
        normal_spring_.get(stiffness, along_normal_[c], step.pair[c]->damping.share, step.law.dt);
    const Real start_speed = start_speed_[c][0];
    const Real speed = surface_velocity(step.problem, step.obstacle_velocity, c, velocity)[0];
    const auto overlap_of = [&](Real gap) {
      return std::max(0.0, spring.lag() * speed - gap - step.law.dt * speed);
    };
    const Real overlap = overlap_of(start_gap_[c]);
    const Real before = start_energy_[c];
    const Real taken = -0.5 * pressing * (start_speed + speed);
    return {.spring = spring,
            .stiffness = stiffness,
            .overlap = overlap,
            .without_shift = overlap_of(step.contacts.gap[c]),
            .before = before,
            .energy = spring.energy_of(overlap),
            .max = std::max(0.0, before + taken),
            .inexact = inexact * (before + std::abs(taken))};
  }
  static Real overlap_squared(Real gap) { return gap < 0 ? gap * gap : 0; }
  /// The stretch holds what bodies lost in the step (docs/method.md, eq. D.11).
  Vec<D> stretch_after_begin(const StepContacts<D>& step, const ContactSolution<D>& solution, std::size_t c,
                             const Vec<D>& speed, const SpringStep& spring) const {
    const Real* impulse = &solution.impulse[c * D];
    const Real length = tangential_norm<D>(impulse);
    Real taken = 0;
    Vec<D> direction;
    for (std::size_t i = 1; i < D && length > 0; ++i) {
      const int k = static_cast<int>(i);
      taken -= 0.5 * impulse[i] * (start_speed_[c][k] + speed[k]);
      direction -= impulse[i] / length * step.problem.frame[c][i];
    }
    return spring.stretch_of(spring.stored_share(share_[c]) * std::max(taken, 0.0)) * direction;
  }

  /// Of a tangential spring in the step: the contact begins within it, or it was there before, or the spring
  /// is that of the end of the step.
  enum class Phase : char { begins, goes_on, implicit };
  static constexpr Real whole = 0.99;  // share of the step beyond which it has begun with it

  std::vector<char> stays_;         // of each contact, whether keep_pressed() found it in this step
  std::vector<Real> along_normal_;  // inverse mass [1/kg]
  // Of each contact, at the start of the step: velocity in its frame, gap, stretch, energy; phase, and the
  // share of the step for which it lasts if it begins; and impulses to start from.
  std::vector<Vec<D>> start_speed_, start_stretch_;
  std::vector<Phase> phase_;
  std::vector<Real> start_gap_, start_energy_, share_, guess_;
  KnownSpring normal_spring_, last_normal_spring_, tangential_spring_;
};

}  // namespace scree
