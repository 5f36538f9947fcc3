#include <algorithm>

#include "core/parallel.hpp"
#include "friction/anderson.hpp"
#include "friction/contact_sweeps.hpp"
#include "friction/friction_solver.hpp"

namespace scree {

/// Block Gauss-Seidel with momentum: one contact at a time, the others held (deck: solver.type = "nsgs").
///
///     u = J y + w + G r,  q = u - (W_cc + G_c) r_c                                     (docs/method.md, N.1)
///     r* = the r that obeys Coulomb's law in u = (W_cc + G_c) r + q                    (N.2)
///     r_c <- r*;  y <- y + J_c^T (its change)                                          (N.3)
///     with s of contacts that resist rolling found beside r_T                          (N.7)
///     between sweeps r <- r + beta p, as in the conjugate gradient method              (N.5)
///     where these cycle, steps of Anderson's method over ten sweeps each               (N.6)
///
/// Shapes  as ScaledProblem. Stops on the natural residual, checked where the rate so far says that it is
///         met, and every `check_every` sweeps. Most checks use the incrementally updated y.
/// Cost    a sweep is O(contacts), one stream over the contact rows (392 bytes each in 3D, eight contacts at
///         once; 424 one by one where these form chains or have a coupling; 176 of round bodies, for which
///         N.2 needs no search) and 72 bytes of impulse and momentum, n_colours transfers and a reduction; a
///         check costs about a sweep.
/// Ranks   collective; the order of visits is that of the problem, so all bits are the same on any number of
///         ranks.
/// Weak at long force chains, large mass ratios and tight tolerances: sweeps grow with the number of layers.
/// Source  M. Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235-257; F. Jourdan, P. Alart, M. Jean,
///         ibid. 155 (1998) 31-47; momentum: M. Silcowitz, S. Niebe, K. Erleben, The Visual Computer 26
///         (2010) 893-901.
template <int D>
class Nsgs final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.integer("max_sweeps", max_sweeps_,
                    {.range = positive, .doc = "Most sweeps of a solve", .audience = Audience::laboratory});
    section.integer("check_every", check_every_,
                    {.range = positive,
                     .doc = "Most sweeps between checks of the residual, which come where it should be met",
                     .audience = Audience::laboratory});
  }
  bool same_on_any_ranks() const override { return true; }
  bool takes_rolling() const override { return true; }
  bool takes_walls() const override { return true; }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    begin(problem, r, monitor);
    // Sweeps with momentum may cycle; steps of Anderson's method lead out of that. They cost too much, or go
    // astray, where sweeps get on. Where they lead nowhere twice, sweeps without momentum do: these leave
    // impulses elsewhere on the cycle.
    const Real size = static_cast<Real>(problem.n_bodies_of_all()) / 1000;
    const auto first_patience = static_cast<std::int64_t>(400 * std::pow(std::max(size, 1.0), 0.25));
    std::int64_t patience = first_patience;
    bool is_plain = false;
    for (int n_failed = 0; goes_on();) {
      sweep_until_slow(is_plain ? first_patience : patience, is_plain);
      if (!goes_on()) break;
      // Impulses of other contacts mostly creep along self-stress, which is no cycle: where a step has
      // failed, new momentum gets a little further in the same time (docs/performance-friction.md).
      if (n_failed > 0 && !problem.is_round_everywhere()) continue;
      const Real before = monitor.best();
      extrapolate();
      const bool paid = monitor.best() < enough * before;
      n_failed = paid ? 0 : n_failed + 1;
      is_plain = !is_plain && n_failed >= 2;
      if (!is_plain) patience = paid ? first_patience : std::min(2 * patience, max_patience);
    }
  }

 private:
  // Easy problems are solved before momentum would gain anything.
  static constexpr std::int64_t first_check = 2, checks_to_renewal = 10, n_plain_sweeps = 4;
  static constexpr std::int64_t max_patience = 3200, sweeps_of_step = 10, max_idle_steps = 20;
  static constexpr Real enough = 0.3;  // of the residual, after which extrapolation paid

  bool goes_on() const { return (!monitor_->done() || sweep_ < min_sweeps_) && sweep_ < last_sweep_; }

  void begin(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) {
    problem_ = &problem;
    r_ = r;
    monitor_ = &monitor;
    sweeps_.begin(problem, r);
    sweep_ = checked_ = n_checks_ = 0;
    next_check_ = std::min(first_check, check_every_);
    last_sweep_ = std::min(max_sweeps_, monitor.max_iterations());
    // A guess within the tolerance would be an error of the same sign in each step of an impact: contacts
    // with a scale of their own are swept in any case, and there are as many checks as without.
    min_sweeps_ = problem.n_own_of_all() > 0 ? next_check_ : 0;
    // What follows in a sequence changes the bias by what all these sweeps answer.
    if (monitor.keeps_guess()) min_sweeps_ = last_sweep_;
    residual_ = HUGE_VAL;
    if (problem.n_own_of_all() == problem.n_contacts_of_all()) return;
    residual_ = check_velocities(0);
    // By the usual scales, impulses of zero have a residual of about 1: a first guess far beyond, which is
    // worse than these, leads nowhere.
    constexpr Real useless = 3;
    if (residual_ > useless && !monitor.keeps_guess()) {
      before_.assign(r.begin(), r.end());
      const Real of_guess = residual_;
      std::ranges::fill(r, 0.0);
      sweeps_.start();
      residual_ = check_velocities(0);
      if (residual_ > of_guess) {
        std::ranges::copy(before_, r.begin());
        sweeps_.start();
        residual_ = check_velocities(0);
      }
    }
  }

  /// Sweeps, all but the first of a solve with momentum unless `plain`, until the best residual has not
  /// halved for `patience` of them.
  void sweep_until_slow(std::int64_t patience, bool plain) {
    SweepMomentum momentum;
    Real last_change = HUGE_VAL;
    bool has_momentum = false;
    Real best = monitor_->best();
    for (std::int64_t since = sweep_; goes_on() && sweep_ - since < patience;) {
      if (plain || sweep_ < n_plain_sweeps) {
        sweeps_.sweep(turn());
      } else {
        if (!has_momentum) sweeps_.begin_momentum();
        has_momentum = true;
        const Real change = sweeps_.sweep_on(turn(), momentum, last_change);
        momentum = change < last_change ? SweepMomentum{change / last_change, 1} : SweepMomentum{};
        last_change = change;
      }
      count_sweep();
      if (monitor_->best() > best / 2) continue;
      best = monitor_->best();
      since = sweep_;
    }
  }

  /// Steps of Anderson's method over sweeps_of_step sweeps each, until they lead nowhere.
  void extrapolate() {
    anderson_.begin(*problem_);
    before_.resize(r_.size());
    last_change_.resize(r_.size());
    Real min = HUGE_VAL, min_before = HUGE_VAL;
    for (std::int64_t idle = 0; goes_on() && idle < max_idle_steps; ++idle) {
      for (int k = 0; k < sweeps_of_step && goes_on(); ++k) {
        if (k + 1 == sweeps_of_step) sweeps_.store(before_);
        sweeps_.sweep(turn());
        count_sweep();
      }
      if (!goes_on()) return;
      sweeps_.store(r_);
      for (std::size_t i = 0; i < r_.size(); ++i) last_change_[i] = r_[i] - before_[i];
      const Real change = anderson_.step(*problem_, last_change_, r_);
      if (change > 2 * min) break;
      min = std::min(min, change);
      if (min < 0.7 * min_before) {
        min_before = min;
        idle = -1;
      }
      sweeps_.start();
    }
    // The best impulses stand.
    std::ranges::copy(monitor_->best_impulse(), r_.begin());
    sweeps_.start();
  }

  /// The residual of r_, whose velocities are known, is noted and returned. Collective.
  Real check_velocities(std::int64_t sweep) {
    const Real known = sweeps_.residual(monitor_->norm());
    return sweeps_.check([&](std::span<Real> y) { return monitor_->check_known(known, sweep, r_, y); });
  }

  /// Checks the residual if it is time to.
  void count_sweep() {
    ++sweep_;
    ++monitor_->report().sweeps;
    if (!check_is_due(sweep_)) return;
    sweeps_.store(r_);
    // Every tenth check recomputes y from r, which removes the round-off of the updates; every one does where
    // impulses are so large that it could be seen, as they become in problems without a solution.
    constexpr Real round_off = 1e-13, share_of_tolerance = 0.01;
    const bool drifts = round_off * largest_impulse() > share_of_tolerance * monitor_->tolerance();
    const Real before = residual_;
    if (++n_checks_ % checks_to_renewal == 0 || drifts) {
      problem_->make_ghosts_current(sweeps_.velocity());
      residual_ = sweeps_.check([&](std::span<Real> y) { return monitor_->check(sweep_, r_, y); });
    } else {
      residual_ = check_velocities(sweep_);
    }
    const bool starts_over = sweeps_.keep_walls_within_speeds();
    next_check_ = sweep_ + sweeps_to(monitor_->tolerance(), residual_, starts_over ? HUGE_VAL : before,
                                     sweep_ - checked_);
    checked_ = sweep_;
  }

  /// Whether the residual is checked after so many sweeps.
  bool check_is_due(std::int64_t sweeps) const { return sweeps >= next_check_ || sweeps >= last_sweep_; }

  /// How the next sweep takes over velocities and leaves them: it follows another one, or all holders of a
  /// body know its velocity, and only a check needs it back at the owner.
  SweepTurn turn() const {
    if (!problem_->walls().empty()) return {};  // their owners have bodies when walls come
    return {.first = false, .last = check_is_due(sweep_ + 1)};
  }

  Real largest_impulse() const {
    Real largest = 0;
    for (const Real r : r_) largest = std::max(largest, std::abs(r));
    return problem_->comm().max(largest);
  }

  /// Sweeps until the residual should be at `target` if it goes on to fall as it fell in the last `sweeps`;
  /// at least 1, at most check_every.
  std::int64_t sweeps_to(Real target, Real residual, Real before, std::int64_t sweeps) const {
    // Where it was not looked at before, sweeps of springs leave about a quarter of it.
    constexpr Real usual = 4;
    if (std::isinf(before) && problem_->n_own_of_all() > 0)
      before = residual * std::pow(usual, static_cast<Real>(sweeps));
    if (!(residual < before) || !(residual > target)) return check_every_;
    const Real needed = static_cast<Real>(sweeps) * std::log(target / residual) / std::log(residual / before);
    return needed < static_cast<Real>(check_every_)
               ? std::max<std::int64_t>(1, std::llround(std::ceil(needed)))
               : check_every_;
  }

  std::int64_t max_sweeps_ = 20'000;
  std::int64_t check_every_ = 10;
  // Of the solve that goes on.
  const ScaledProblem<D>* problem_ = nullptr;
  SolveMonitor<D>* monitor_ = nullptr;
  std::span<Real> r_;
  ContactSweeps<D> sweeps_;
  std::int64_t sweep_ = 0, last_sweep_ = 0, min_sweeps_ = 0, next_check_ = 0, checked_ = 0, n_checks_ = 0;
  Real residual_ = 0;
  AndersonSteps<D> anderson_;
  std::vector<Real> before_, last_change_;  // of the last sweep of a step
};

SCREE_PLUGIN(FrictionSolver, nsgs, Nsgs,
             "block Gauss-Seidel with momentum, one contact at a time; the same bits on any number of ranks")

}  // namespace scree
