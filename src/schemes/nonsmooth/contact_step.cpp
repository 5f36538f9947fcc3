#include "schemes/nonsmooth/contact_step.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "contact/cohesion.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/reset.hpp"
#include "friction/cone.hpp"
#include "schemes/common/contact_pair.hpp"

namespace scree {

namespace {
/// Cuts the tangential part of an impulse to `most`.
template <int D>
void shorten_tangent(Real* r, Real most) {
  const Real length = tangential_norm<D>(r);
  for (int i = 1; i < D && length > most; ++i) r[i] *= most / length;
}

}  // namespace

template <int D>
void ContactStep<D>::assemble(FreeMotion<D>& motion) {
  carries_solved_ = false;
  neighborhood_.ghosts().copy_to_ghosts(motion.displacement());
  if (state_.bodies.carries_shapes()) neighborhood_.ghosts().copy_to_ghosts(motion.turn());
  const Real fall_speed = motion.fall_speed(state_);
  // In proportion to the step; after a very short one impulses may be those of impacts, which do not grow.
  constexpr Real most_growth = 2;
  const Real last_dt = state_.clock.last_dt;
  const bool pushes = settings_.correction == NonsmoothSettings<D>::Correction::baumgarte;
  law_ = {.dt = motion.dt(),
          .fall_speed = fall_speed,
          .rest_speed = settings_.rest_speed_word.empty() ? settings_.rest_speed : fall_speed,
          .contact_slop = settings_.contact_slop,
          .baumgarte = pushes ? settings_.baumgarte : 0,
          .same_force = last_dt > 0 ? std::min(motion.dt() / last_dt, most_growth) : 0};
  if (n_added_ > 0 && !memory_.has_springs()) kept_.clear();  // of a step that was refused
  n_added_ = n_rebounds_stopped_ = 0;
  if (state_.obstacles.driven().empty()) {
    build(motion, nullptr);
  } else {
    with_fastest_walls([&] { neighborhood_.detect(state_, rules_of(motion), wider_); });
    build(motion, &wider_);
  }
  guess_impulses(settings_.warm_start * law_.same_force);
}

template <int D>
void ContactStep<D>::assemble_again(FreeMotion<D>& motion) {
  build(motion, nullptr, true);
  driven_.change_guess(state_, contacts(), problem(), solve_.impulse());
}

/// Calls detect() while walls under load have their largest speeds, so that the contacts of a step do not
/// depend on the velocities that are tried.
template <int D>
void ContactStep<D>::with_fastest_walls(auto&& detect) {
  const auto walls = state_.obstacles.driven();
  wall_speeds_.resize(walls.size());
  for (std::size_t k = 0; k < walls.size(); ++k) {
    wall_speeds_[k] = walls[k].velocity;
    if (walls[k].order.kind == DrivenOrder::Kind::speed) continue;
    walls[k].velocity =
        std::copysign(state_.obstacles.drive_of(walls[k]).max_speed(), target_of(state_.obstacles, walls[k]));
  }
  detect();
  for (std::size_t k = 0; k < walls.size(); ++k) walls[k].velocity = wall_speeds_[k];
}

/// The problem of the contacts `found`; without, of those that free motion makes, or of the same as before.
template <int D>
void ContactStep<D>::build(FreeMotion<D>& motion, ContactGraph<D>* found, bool same_contacts) {
  FrictionStep<D> step;
  step.dt = motion.dt();
  step.found = found;
  step.same_contacts = same_contacts;
  if (!found && !same_contacts) step.rules = rules_of(motion);
  step.velocity_floor = law_.fall_speed;
  step.free_velocity = motion.velocity();
  step.start_velocity = motion.start_velocity();
  step.laws = [this](const ContactGraph<D>&, FrictionProblem<D>& problem) {
    memory_.pass_on(contacts(), neighborhood_);
    kept_.pass_on(contacts(), neighborhood_);
    apply_laws(problem);
  };
  assembler_.assemble(step);
}

template <int D>
ContactRules<D> ContactStep<D>::rules_of(FreeMotion<D>& motion) const {
  ContactRules<D> rules;
  // A spring pushes a little beyond the range in which rigid bodies meet.
  if (memory_.has_springs() || n_added_ > 0) rules = kept_.template rules<D>(0);
  rules.tolerance = settings_.speculative_margin;
  rules.displacement = motion.displacement();
  rules.turn = motion.turn();
  rules.dt = motion.dt();
  return rules;
}

template <int D>
void ContactStep<D>::apply_laws(FrictionProblem<D>& problem) {
  const std::size_t n = contacts().size();
  if (memory_.has_springs()) {
    start_speed_.resize(n);
    start_stretch_.resize(n);
    spring_guess_.resize(n * D);
    reset(problem.own_scale, n);
  }
  pairs_.resize(n);
  for (std::size_t c = 0; c < n; ++c) {
    pairs_[c] = &pair_of(state_, contacts(), c);
    problem.mu[c] = pairs_[c]->friction;
  }
  if (collides_one_by_one()) collide(problem);
  for (std::size_t c = 0; c < n; ++c) {
    if (pairs_[c]->elasticity.rigid())
      problem.bias[c * D] += normal_bias_of(c, law_.rebounds ? restitution_of(c, start_speed_of(c)) : 0);
    else
      apply_springs(c, problem);
  }
  if (memory_.has_rolling()) resist_rolling(problem);
  if (state_.materials.has_cohesion()) attract(problem);
  if (!state_.obstacles.driven().empty())
    driven_.soften(state_, contacts(), problem, carries_solved_ ? 1 : law_.same_force, [this](auto&& f) {
      (carries_solved_ ? carried_ : memory_).for_each_impulse(contacts(), f);
    });
}

/// Of an impact at this normal velocity [m/s]: 0 where attraction holds what would bounce (docs/method.md,
/// eq. H.16), and at a wall under load, which takes the velocity that its load asks for.
template <int D>
Real ContactStep<D>::restitution_of(std::size_t c, Real speed) const {
  if (DrivenContacts<D>::wall_of(state_, contacts(), c) >= 0) return 0;
  const PairProperties<D>& pair = *pairs_[c];
  if (!pair.cohesion || pair.cohesion->range() == 0) return pair.restitution;
  const Real leaving = pair.restitution * speed;
  const Real energy = 0.5 * leaving * leaving / inverse_mass(problem(), c, false);
  return energy <= pair.cohesion->range() * pull_off_of(contacts(), c) ? 0 : pair.restitution;
}

/// F_c [N]; 0 if the surfaces do not attract each other.
template <int D>
Real ContactStep<D>::pull_off_of(const ContactGraph<D>& contacts, std::size_t c) const {
  const PairProperties<D>& pair = pair_of(state_, contacts, c);
  if (!pair.cohesion) return 0;
  Real lighter = HUGE_VAL;
  for (const Index body : {contacts.a[c], contacts.b[c]})
    if (body >= 0 && state_.bodies.mobility()[static_cast<std::size_t>(body)] != 0)
      lighter = std::min(lighter, state_.bodies.mass()[static_cast<std::size_t>(body)]);
  if (std::isinf(lighter)) return 0;
  return pair.cohesion->pull_off(norm(state_.gravity)).of(geometry_of(contacts).effective_radius(c), lighter);
}

/// Whether contact c touches as far as attraction goes: what was held in the last step still does at a gap
/// that its solve left.
template <int D>
bool ContactStep<D>::is_attracted(const ContactGraph<D>& contacts, std::size_t c) const {
  constexpr Real left = 10;
  const Real touching = geometry_of(contacts).slop(c);
  if (contacts.gap[c] <= touching) return true;
  return contacts.gap[c] <= left * touching && memory_.impulse(contacts, c) != Vec<D>{};
}

/// Attraction is an external force on both bodies (docs/method.md, eq. H.15): in free velocities, in the
/// order of a sweep.
template <int D>
void ContactStep<D>::attract(FrictionProblem<D>& problem) {
  reset(pull_, contacts().size());
  for (std::size_t c = 0; c < pull_.size(); ++c)
    if (pairs_[c]->cohesion && is_attracted(contacts(), c)) pull_[c] = law_.dt * pull_off_of(contacts(), c);
  BodyHalo& halo = *problem.halo;
  const std::span<Real> v(problem.free_velocity);
  run_sweep_colours(halo, problem.colour_first, problem.interior_first, v, static_cast<int>(q),
                    [&](Index first, Index last) {
                      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c)
                        if (pull_[c] != 0) add_impulse<D>(problem, c, {-pull_[c]}, v);
                    });
  halo.copy_to_ghosts(v, static_cast<int>(q));
}

template <int D>
void ContactStep<D>::remember_pulls() {
  knows_pulls_ = true;
  pulled_.clear();
  for (std::size_t c = 0; c < pull_.size(); ++c) {
    Pulled& pulled = pulled_.of(contacts(), c);
    pulled.force += (pull_[c] / law_.dt) * problem().frame[c][0];
    if (impulse()[c * D] != 0) pulled.pressed = 1;
  }
}

/// From the forces: the attraction that bodies felt, along the normals of the step. What it is after a
/// restart or a new list is told by the gaps, as at the start of a step.
template <int D>
void ContactStep<D>::subtract_pulls(ContactGraph<D>& contacts) const {
  const bool has_shapes = state_.bodies.carries_shapes();
  for (std::size_t first = 0, last = 0; first < contacts.size(); first = last) {
    last = has_shapes ? contacts.end_of_pair(first) : first + 1;
    for (std::size_t c = first; c < last; ++c) {
      if (knows_pulls_) {
        const Vec<D> pull = (1 / static_cast<Real>(last - first)) * pulled_.of(contacts, c).force;
        const Real along = dot(pull, contacts.normal[c]);
        contacts.force[c] -= along;
        contacts.friction[c] -= pull - along * contacts.normal[c];
      } else if (is_attracted(contacts, c)) {
        contacts.force[c] -= pull_off_of(contacts, c);
      }
    }
  }
}

/// Of the contacts that were held, those that this step broke.
template <int D>
void ContactStep<D>::count_pulled_off() {
  std::array<std::int64_t, 2> counts{};
  for (std::size_t c = 0; c < pull_.size(); ++c) {
    if (pull_[c] == 0 || memory_.impulse(contacts(), c) == Vec<D>{}) continue;
    ++counts[0];
    if (impulse()[c * D] <= 0) ++counts[1];
  }
  state_.comm.sum(counts);
  n_attracted_ = counts[0];
  n_pulled_off_ = counts[1];
}

/// Impacts change the velocities that the step starts with.
template <int D>
void ContactStep<D>::collide(FrictionProblem<D>& problem) {
  constexpr int most_sweeps = 100;
  copy_into(problem.start_velocity, before_impacts_);
  reset(impact_work_, contacts().size());
  collide_one_by_one<D>(
      problem, state_.comm, obstacle_velocity(), most_sweeps,
      [this](std::size_t c, const Vec<D>& u) {
        const PairProperties<D>& pair = *pairs_[c];
        const Real touching = geometry().slop(c);
        const bool impact = pair.elasticity.rigid() && pair.restitution > 0 && u[0] < -law_.rest_speed &&
                            contacts().gap[c] + law_.dt * u[0] <= touching;
        return impact ? restitution_of(c, u[0]) : -1;
      },
      impact_work_);
  for (std::size_t i = 0; i < before_impacts_.size(); ++i)
    problem.free_velocity[i] += problem.start_velocity[i] - before_impacts_[i];
}

template <int D>
Real ContactStep<D>::start_speed_of(std::size_t c) const {
  return problem().normal_velocity(c, problem().start_velocity) + obstacle_velocity()[c * D];
}

template <int D>
Real ContactStep<D>::normal_bias_of(std::size_t c, Real restitution) const {
  const Real of_obstacle = obstacle_velocity()[c * D];
  const Real start_speed = start_speed_of(c);
  // Gravity turns nothing, and moves both bodies alike unless one is held or an obstacle.
  Real free_speed = start_speed;
  if (problem().a[c] < 0) free_speed += law_.dt * dot(state_.gravity, contacts().normal[c]);
  if (problem().b[c] < 0) free_speed -= law_.dt * dot(state_.gravity, contacts().normal[c]);
  if (!state_.forces.empty())
    free_speed = problem().normal_velocity(c, problem().free_velocity) + of_obstacle;
  const Real touching = geometry().slop(c);
  return normal_bias(law_, contacts().gap[c], touching, restitution, start_speed, free_speed);
}

/// Springs with dampers along the normal and, unless the deck says "rigid", along the tangents.
template <int D>
void ContactStep<D>::apply_springs(std::size_t c, FrictionProblem<D>& problem) {
  const PairProperties<D>& pair = *pairs_[c];
  const auto stiffness = pair.elasticity.stiffness(geometry().effective_radius(c));
  const auto& remembered = memory_.elastic(contacts(), c);
  start_stretch_[c] = remembered.spring;
  const Vec<D> speed = surface_velocity(problem, obstacle_velocity(), c, problem.start_velocity);
  start_speed_[c] = speed[0];
  const Real along_normal = inverse_mass(problem, c, false);
  const ContactLine line = normal_spring_.get(stiffness.normal, along_normal, pair.damping.share, law_.dt)
                               .unilateral(pair.damping, {.gap = contacts().gap[c],
                                                          .speed = speed[0],
                                                          .load = law_.same_force * remembered.load,
                                                          .rest_speed = law_.rest_speed});
  problem.compliance[2 * c] = line.compliance;
  problem.bias[c * D] += line.bias;
  // What the spring or gravity change in a step by themselves: of an impact, the most that it changes.
  const Real angle_squared = stiffness.normal * along_normal * law_.dt * law_.dt;
  const Real of_spring = angle_squared / (1 + angle_squared / 4) * speed[0] * speed[0];
  problem.own_scale[c] =
      std::max(std::sqrt(of_spring + law_.fall_speed * law_.fall_speed), std::numeric_limits<Real>::min());
  // The first guess: what the spring gives if all else does what it did in the step before.
  const auto& frame = problem.frame[c];
  Real* guess = &spring_guess_[c * D];
  guess[0] = std::max(
      0.0, -(speed[0] + law_.same_force * remembered.load + line.bias) / (along_normal + line.compliance));
  const Real most = problem.mu[c] * guess[0];
  for (std::size_t i = 1; i < D; ++i) guess[i] = law_.same_force * dot(frame[i], remembered.impulse);
  if (std::isinf(stiffness.tangential)) return shorten_tangent<D>(guess, most);
  // The same damper along the tangents, but for sqrt(k_T/k_N).
  const Real along_tangents = inverse_mass(problem, c, true);
  const SpringStep& tangent =
      tangential_spring_.get(stiffness.tangential, along_tangents,
                             pair.damping.share * std::sqrt(along_tangents / along_normal), law_.dt);
  for (std::size_t i = 1; i < D; ++i) {
    const Real slip_speed = speed[static_cast<int>(i)];
    const ContactLine slip = tangent.both_ways(dot(frame[i], remembered.spring), slip_speed);
    problem.compliance[2 * c + 1] = slip.compliance;
    problem.bias[c * D + i] += slip.bias;
    // All else stopped what the impulse before drove.
    guess[i] = (along_tangents * guess[i] - slip_speed - slip.bias) / (along_tangents + slip.compliance);
  }
  shorten_tangent<D>(guess, most);
}

/// Rows of the problem for resistance to rolling, against the spin of the wall (docs/method.md, eq. D.5).
template <int D>
void ContactStep<D>::resist_rolling(FrictionProblem<D>& problem) {
  reset(problem.rolling, contacts().size() * 2);
  reset(problem.spin_bias, contacts().size() * n_turns<D>);
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    problem.rolling[2 * c] = pairs_[c]->rolling_friction;
    problem.rolling[2 * c + 1] = geometry().effective_radius(c);
    if (contacts().b[c] >= 0 || pairs_[c]->rolling_friction == 0) continue;
    const auto spin = state_.obstacles.spin(contacts().wall[c], state_.clock.time + law_.dt / 2);
    const auto axes = turning_frame<D>(problem.frame[c]);
    for (std::size_t k = 0; k < axes.size(); ++k) problem.spin_bias[c * n_turns<D> + k] = dot(axes[k], spin);
  }
}

template <int D>
FrictionProblem<D> ContactStep<D>::problem_without_rolling() const {
  FrictionProblem<D> without = problem();
  const std::span<Real> v(without.free_velocity);
  const auto turn = [&](std::size_t c, std::size_t side, Index body) {
    if (body < 0 || without.arm[2 * c + side] == 0) return;
    const std::size_t at = static_cast<std::size_t>(body) * q;
    const Vec<n_turns<D>> s = turning_impulse(c);
    const auto axes = turning_frame<D>(without.frame[c]);
    for (std::size_t k = 0; k < axes.size(); ++k)
      for (std::size_t i = 0; i < axes.size(); ++i)
        v[at + D + i] += (side == 0 ? -1 : 1) * s[static_cast<int>(k)] * axes[k][static_cast<int>(i)] /
                         without.mass[at * q + q * q - 1];
  };
  run_sweep_colours(*without.halo, without.colour_first, without.interior_first, v, static_cast<int>(q),
                    [&](Index first, Index last) {
                      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last);
                           ++c) {
                        turn(c, 0, without.a[c]);
                        turn(c, 1, without.b[c]);
                      }
                    });
  without.halo->copy_to_ghosts(v, static_cast<int>(q));
  without.rolling.clear();
  without.spin_bias.clear();
  return without;
}

/// `factor` times what contacts remember, in their present frames; of those that give way what their springs
/// will give.
template <int D>
void ContactStep<D>::guess_impulses(Real factor) {
  std::vector<Real>& impulse = solve_.restart(problem());
  memory_.for_each_impulse(contacts(), [&](std::size_t c, const Vec<D>& remembered) {
    if (!pairs_[c]->elasticity.rigid()) {
      for (std::size_t i = 0; i < D; ++i)
        impulse[c * D + i] = settings_.warm_start * spring_guess_[c * D + i];
      return;
    }
    if (remembered == Vec<D>{}) return;
    const auto& frame = problem().frame[c];
    for (std::size_t i = 0; i < D; ++i) impulse[c * D + i] = dot(frame[i], factor * remembered);
    if (impulse[c * D] <= 0) std::fill_n(&impulse[c * D], D, 0.0);
  });
  for (std::size_t c = 0; c < contacts().size() && memory_.has_rolling(); ++c) {
    if (impulse[c * D] <= 0) continue;
    const auto axes = turning_frame<D>(problem().frame[c]);
    for (std::size_t k = 0; k < axes.size(); ++k)
      impulse[first_turning(c) + k] = factor * dot(axes[k], memory_.turning(contacts(), c));
  }
}

template <int D>
void ContactStep<D>::carry_solved() {
  carries_solved_ = true;
  carried_.clear();
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    Vec<D> impulse;
    for (std::size_t i = 0; i < D; ++i) impulse += solve_.impulse()[c * D + i] * problem().frame[c][i];
    carried_.set_impulse(contacts(), c, impulse);
  }
}

template <int D>
const SolveReport& ContactStep<D>::solve(FreeMotion<D>& motion, Real deep, bool keeps_guess) {
  constexpr int most_rounds = 5;
  solve_.run(problem(), keeps_guess);
  if (!solve_.report().converged && stop_rebounds()) {
    guess_impulses(settings_.warm_start * law_.same_force);
    solve_.run(problem(), keeps_guess);
  }
  for (int round = 0; round < most_rounds && add_contacts(motion, deep); ++round)
    if (!solve_.run_with_more(problem(), origin_, keeps_guess)) break;
  n_contacts_ = state_.comm.sum(std::int64_t{problem().n_contacts()});
  return solve_.report();
}

/// Where a problem is far from solved, as bodies have no room to bounce (docs/method.md, D.4), rigid contacts
/// do not bounce in this step. False on all ranks: it is not, or the deck asks for another end of such steps.
template <int D>
bool ContactStep<D>::stop_rebounds() {
  constexpr Real far = 0.01;
  if (solve_.report().residual.natural < far || settings_.on_failure.may_refuse()) return false;
  std::int64_t n_stopped = 0;
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    if (!pairs_[c]->elasticity.rigid()) continue;
    const Real change = normal_bias_of(c, 0) - normal_bias_of(c, restitution_of(c, start_speed_of(c)));
    if (change == 0) continue;
    assembler_.problem().bias[c * D] += change;
    ++n_stopped;
  }
  n_rebounds_stopped_ = state_.comm.sum(n_stopped);
  law_.rebounds = n_rebounds_stopped_ == 0;
  return n_rebounds_stopped_ > 0;
}

/// Lists the pairs that the solved velocities let overlap by more than `deep`, with the impulses found so
/// far. False on all ranks, with the problem as it was, if there are none.
template <int D>
bool ContactStep<D>::add_contacts(FreeMotion<D>& motion, Real deep) {
  const Real dt = motion.dt();
  solved_displacement_.resize(static_cast<std::size_t>(state_.bodies.n_held()));
  solved_turn_.resize(state_.bodies.carries_shapes() ? solved_displacement_.size() : 0);
  for (std::size_t i = 0; i < solved_displacement_.size(); ++i)
    for (std::size_t k = 0; k < D; ++k)
      solved_displacement_[i][static_cast<int>(k)] = dt * velocity()[i * q + k];
  for (std::size_t i = 0; i < solved_turn_.size(); ++i)
    for (std::size_t k = D; k < q; ++k) solved_turn_[i][static_cast<int>(k - D)] = dt * velocity()[i * q + k];
  ContactRules<D> rules = rules_of(motion);
  rules.other_displacement = solved_displacement_;
  rules.other_turn = solved_turn_;
  rules.deep = deep;
  bool misses = false;
  with_fastest_walls([&] {
    misses = neighborhood_.misses_contacts(state_, rules);
    if (misses) neighborhood_.detect(state_, rules, wider_);
  });
  if (!misses) return false;
  // Both lists are in the same order, and the wider one has all pairs of the other; of bodies with shapes it
  // may have other points.
  reset(origin_, wider_.size(), Index{-1});
  const bool has_shapes = state_.bodies.carries_shapes();
  for (std::size_t w = 0, c = 0; w < wider_.size();) {
    const std::size_t w_end = has_shapes ? wider_.end_of_pair(w) : w + 1;
    if (c == contacts().size() || !wider_.same_pair(w, contacts(), c)) {
      kept_.of(wider_, w) = 1;
      w = w_end;
      continue;
    }
    const std::size_t c_end = has_shapes ? contacts().end_of_pair(c) : c + 1;
    for (; w < w_end; ++w) {
      std::size_t same = c;
      while (has_shapes && same < c_end && contacts().feature[same] != wider_.feature[w]) ++same;
      if (same < c_end) origin_[w] = static_cast<Index>(same);
    }
    c = c_end;
  }
  n_added_ += state_.comm.sum(static_cast<std::int64_t>(std::ranges::count(origin_, Index{-1})));
  build(motion, &wider_);
  return true;
}

template <int D>
Real ContactStep<D>::separate(Real radius, std::int64_t most_sweeps) {
  // A pile whose overlaps are all below `worth_it` is left alone. More than `most` in one step would throw
  // other bodies about; what is thin and turns overlaps by more, and is taken apart at once.
  const Real worth_it = 5e-3 * radius, negligible = 1e-3 * radius,
             most = (state_.bodies.carries_shapes() ? 0.3 : 0.03) * radius;
  FrictionProblem<D>& problem = assembler_.problem();
  const bool drives = !state_.obstacles.driven().empty();
  Real deepest = 0;
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    const Real overlap = -(contacts().gap[c] + geometry().allowed_overlap(c));
    if (overlap <= negligible || !pairs_[c]->elasticity.rigid()) continue;
    deepest = std::max(deepest, overlap);
    Real& bias = problem.bias[c * D];
    const Real given_way = drives ? driven_.given_way(c) : 0;
    bias = std::min(bias, obstacle_velocity()[c * D] - std::min(overlap, most) / law_.dt - given_way);
  }
  deepest = state_.comm.max(deepest);
  separates_ = deepest > worth_it;
  if (!separates_) return 0;
  separating_impulse_.resize(impulse().size());
  std::ranges::copy(impulse(), separating_impulse_.begin());
  separating_velocity_.resize(velocity().size());
  StopRule stop = settings_.solver.stop_rule();
  stop.tolerance *= 0.01;  // few contacts overlap, and the residual is that of all
  stop.most_iterations = most_sweeps;
  stop.takes_last = true;
  solve_.run_with_bias(problem, *sweeps_, stop, separating_impulse_, separating_velocity_);
  limit_separation(2 * most);
  if (drives) give_way_to_separation(2 * most);
  return deepest;
}

/// Bodies that have no room under a wall under load lift it: it goes by as much as its contacts give way in
/// the separation, at most by `most` [m].
template <int D>
void ContactStep<D>::give_way_to_separation(Real most) {
  const auto reactions = driven_.react(state_, contacts(), problem(), separating_impulse_);
  const auto walls = state_.obstacles.driven();
  for (std::size_t k = 0; k < walls.size(); ++k)
    walls[k].position -= std::clamp(law_.dt * reactions[k].deflection, -most, most);
  state_.obstacles.place(state_.clock.time + law_.dt);
}

/// Where bodies have no room, impulses grow without end: none moves on by more than `most` [m].
template <int D>
void ContactStep<D>::limit_separation(Real most) {
  for (std::size_t i = 0; i < separating_velocity_.size(); i += q) {
    Real squared = 0;
    for (std::size_t k = 0; k < D; ++k)
      squared += (separating_velocity_[i + k] - velocity()[i + k]) *
                 (separating_velocity_[i + k] - velocity()[i + k]);
    const Real way = law_.dt * std::sqrt(squared);
    if (way <= most) continue;
    for (std::size_t k = 0; k < q; ++k)
      separating_velocity_[i + k] =
          velocity()[i + k] + most / way * (separating_velocity_[i + k] - velocity()[i + k]);
  }
}

template <int D>
void ContactStep<D>::remember_impulses() {
  if (state_.materials.has_cohesion()) {
    count_pulled_off();
    remember_pulls();
  }
  memory_.clear();
  if (memory_.has_springs() || n_added_ > 0) kept_.clear();
  if (memory_.has_springs()) reset(stored_energy_, contacts().size());
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    const auto& frame = problem().frame[c];
    Vec<D> r;
    for (std::size_t i = 0; i < D; ++i)
      r += (impulse()[c * D + i] + (collides_one_by_one() ? impact_work_[c].impulse[i] : 0)) * frame[i];
    memory_.set_impulse(contacts(), c, r);
    if (memory_.has_rolling()) {
      const auto axes = turning_frame<D>(frame);
      Vec<n_turns<D>> s;
      for (std::size_t k = 0; k < axes.size(); ++k) s += impulse()[first_turning(c) + k] * axes[k];
      memory_.set_turning(contacts(), c, s);
    }
    if (memory_.has_springs()) remember_springs(c);
  }
}

/// The stretch goes on with the slip at the end of the step, up to what friction can carry.
template <int D>
void ContactStep<D>::remember_springs(std::size_t c) {
  auto& remembered = memory_.elastic(contacts(), c);
  remembered.spring = {};
  remembered.load = 0;
  const Real pressing = impulse()[c * D];
  const PairProperties<D>& pair = *pairs_[c];
  if (pair.elasticity.rigid() || pressing <= 0) return;
  kept_.of(contacts(), c) = 1;
  const Vec<D> speed = surface_velocity(problem(), obstacle_velocity(), c, velocity());
  remembered.load = speed[0] - start_speed_[c] - inverse_mass(problem(), c, false) * pressing;
  const auto [normal, stiffness] = pair.elasticity.stiffness(geometry().effective_radius(c));
  // Without damping the sum of this and of the kinetic energy is constant (docs/method.md, eq. D.8).
  const Real overlap = std::max(0.0, -(contacts().gap[c] + 0.5 * problem().time_step * speed[0]));
  stored_energy_[c][0] = 0.5 * normal * overlap * overlap;
  if (std::isinf(stiffness)) return;
  const auto& frame = problem().frame[c];
  const Real dt = problem().time_step;
  Vec<D> stretch, before;
  for (std::size_t i = 1; i < D; ++i) {
    before += dot(frame[i], start_stretch_[c]) * frame[i];
    stretch += (dot(frame[i], start_stretch_[c]) + dt * speed[static_cast<int>(i)]) * frame[i];
  }
  const Real most = problem().mu[c] * pressing / (stiffness * dt);
  const Real length = norm(stretch);
  remembered.spring = length > most ? (most / length) * stretch : stretch;
  const Vec<D> in_the_middle = 0.5 * (before + remembered.spring);  // y of (D.8) where the contact sticks
  stored_energy_[c][1] = 0.5 * stiffness * dot(in_the_middle, in_the_middle);
}

template <int D>
void ContactStep<D>::find_contacts(Real tolerance, ContactGraph<D>& contacts) {
  const bool has_pulls = knows_pulls_ && state_.materials.has_cohesion();
  neighborhood_.detect(state_, has_pulls ? pulled_.template rules<D>(tolerance) : memory_.rules(tolerance),
                       contacts);
  // A body may have come to another part of a wall since.
  if (has_pulls) pulled_.find_places(contacts, neighborhood_);
  memory_.find_places(contacts, neighborhood_);
  contacts.force.resize(contacts.size());
  contacts.friction.resize(contacts.size());
  const Real per_time = state_.clock.last_dt > 0 ? 1 / state_.clock.last_dt : 1;
  memory_.for_each_impulse(contacts, [&](std::size_t c, const Vec<D>& impulse) {
    const Vec<D> force = per_time * impulse;
    contacts.force[c] = dot(force, contacts.normal[c]);
    contacts.friction[c] = force - contacts.force[c] * contacts.normal[c];
  });
  contacts.rolling.resize(memory_.has_rolling() ? contacts.size() : 0);
  for (std::size_t c = 0; c < contacts.rolling.size(); ++c)
    contacts.rolling[c] = per_time * memory_.turning(contacts, c);
  if (!state_.materials.has_cohesion()) return;
  contacts.load = contacts.force;
  subtract_pulls(contacts);
}

template <int D>
std::vector<CertificateEntry> ContactStep<D>::certificate() const {
  const Residual& residual = solve_.report().residual;
  std::vector<CertificateEntry> entries{
      {"contacts", "-", static_cast<Real>(n_contacts_)},
      {"added", "-", static_cast<Real>(n_added_)},
      {"without_rebound", "-", static_cast<Real>(n_rebounds_stopped_)},
      {"residual", "-", residual.natural, false, settings_.solver.tolerance},
      {"solved", "-", solve_.report().converged ? 1.0 : 0.0, true},
      {"penetration_rate", "m/s", residual.penetration_rate},
      {"cone_violation", "N s", residual.cone_violation},
      {"complementarity", "J", residual.complementarity},
      {"dissipation_error", "J", residual.dissipation_error},
      {"sweeps", "-", static_cast<Real>(solve_.report().sweeps)},
      {"iterations", "-", static_cast<Real>(solve_.report().iterations)},
      {"newton_steps", "-", static_cast<Real>(solve_.report().newton_steps)},
      {"krylov_iterations", "-", static_cast<Real>(solve_.report().krylov_iterations)}};
  if (memory_.has_springs())
    entries.push_back(
        {"spring_error", "-", residual.own_error, false, Residual::most_of_one * settings_.solver.tolerance});
  if (state_.materials.has_cohesion()) {
    entries.push_back({"held", "-", static_cast<Real>(n_attracted_)});
    entries.push_back({"pulled_off", "-", static_cast<Real>(n_pulled_off_)});
  }
  return entries;
}

template <int D>
std::size_t ContactStep<D>::bytes() const {
  return assembler_.bytes() + solve_.bytes() + memory_.bytes() + kept_.bytes() + driven_.bytes() +
         pulled_.bytes() + carried_.bytes() +
         held_bytes(wall_speeds_, origin_, pairs_, start_speed_, start_stretch_, spring_guess_,
                    stored_energy_, impact_work_, before_impacts_, pull_, solved_displacement_, solved_turn_,
                    separating_impulse_, separating_velocity_);
}

template class ContactStep<2>;
template class ContactStep<3>;

}  // namespace scree
