#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/cone.hpp"
#include "friction/one_contact.hpp"
#include "friction/residual.hpp"
#include "friction/scaled_problem.hpp"
#include "friction/wall_root.hpp"

namespace scree {

/// Sweeps of block Gauss-Seidel over all contacts, with momentum or without (docs/method.md, eq. N.1-N.5):
/// in groups, if ScaledProblem has them, else one contact after the other. Between begin() and store(),
/// impulses are in groups; velocities y go along.
///
/// Shapes  as ScaledProblem.
/// Ranks   sweeps are collective; the same bits on any number of ranks.
template <int D>
class ContactSweeps {
 public:
  /// Of this problem, from impulses r, which must outlive the sweeps. Collective.
  void begin(const ScaledProblem<D>& problem, std::span<Real> r) {
    problem_ = &problem;
    r_ = r;
    y_.resize(problem.velocity_size());
    spheres_ = problem.has_spheres() ? &problem.spheres() : nullptr;
    general_ = spheres_ != nullptr || problem.general().empty() ? nullptr : &problem.general();
    lanes_ = spheres_ != nullptr ? &spheres_->lanes() : general_ != nullptr ? &general_->lanes() : nullptr;
    if (spheres_ == nullptr)
      reset(slip_, lanes_ != nullptr ? lanes_->n_groups() * group_size
                                     : static_cast<std::size_t>(problem.n_contacts()));
    momentum_.clear();  // of the problem before
    change_.clear();
    start_velocity_.clear();
    start();
  }
  /// Sweeps go on from the impulses r. Collective.
  void start() {
    if (lanes_ != nullptr) lanes_->pack(r_, impulses_);
    rolling_ = problem_->pack_rolling(r_, turns_);
    if (spheres_ != nullptr)
      problem_->velocity_from_impulse(std::span<const GroupImpulses<D>>(impulses_), y_, rolling_);
    else
      problem_->velocity_from_impulse(r_, y_);
  }

  /// The impulses as they are now. Local.
  void store(std::span<Real> r) const {
    if (rolling_.rows != nullptr)
      lanes_->unpack<n_turns<D>>(turns_, r.subspan(static_cast<std::size_t>(problem_->n_contacts()) * D));
    if (lanes_ != nullptr)
      lanes_->unpack<D>(impulses_, r);
    else if (r.data() != r_.data())
      std::ranges::copy(r_, r.begin());
  }

  /// The velocities as they are now; those of ghosts are current after a sweep whose turn is the last.
  std::span<Real> velocity() { return y_; }
  /// After a residual: whether walls go on in another way, see ScaledProblem. Local.
  bool keep_walls_within_speeds() const { return problem_->keep_walls_within_speeds(); }
  /// The residual by these velocities, of impulses that have been stored. Collective.
  Real residual(ResidualNorm norm) {
    if (lanes_ == nullptr || norm != ResidualNorm::natural)
      return find_residual_of_velocities<D>(*problem_, norm, r_, y_);
    problem_->make_ghosts_current(y_);
    return natural_residual_of_packed<D>(*problem_, impulses_, y_, rolling_);
  }

  /// Calls check(velocities), which may replace them by those that follow from the impulses; those of ghosts
  /// must be current. Momentum has no part of this change: it would be taken again in each of the next
  /// sweeps, many times as much in all.
  template <class Check>
  Real check(const Check& check) {
    copy_into(y_, before_check_);
    const Real residual = check(velocity());
    for (std::size_t i = 0; i < start_velocity_.size(); ++i) start_velocity_[i] += y_[i] - before_check_[i];
    return residual;
  }

  /// One sweep without momentum.
  void sweep(SweepTurn turn) {
    Scope timer("nsgs sweep");
    run_stretches(
        turn, [&](std::size_t stretch) { return sweep_groups(stretch); },
        [&](std::size_t c) {
          Real change[D];
          solve(problem_->contacts()[c], c, r_.data() + c * D, change);
          return 0.0;
        });
  }

  /// Sweeps with momentum come, which is none yet. Local.
  void begin_momentum() {
    reset(velocity_momentum_, static_cast<std::size_t>(problem_->n_local()) * ScaledProblem<D>::width);
    reset(start_velocity_, velocity_momentum_.size());
    if (lanes_ != nullptr) {
      reset(of_sweeps_, impulses_.size());
      reset(of_turns_, rolling_.rows == nullptr ? 0 : turns_.size());
      squares_.resize(impulses_.size() * group_size);
      return;
    }
    squares_.resize(problem_->n_contacts());
    reset(momentum_, problem_->impulse_size());
    reset(change_, problem_->impulse_size());
  }

  /// A sweep with momentum after one that changed impulses by `last` (infinite: none). Returns the sum of
  /// d . (W + G) d over the changes d of all contacts. Collective.
  Real sweep_on(SweepTurn turn, SweepMomentum momentum, Real last) {
    move_on(momentum);
    momentum.unit = unit_for(last);
    return sum_of_changes(momentum, last, run_on(turn, momentum));
  }

 private:
  /// The velocities with momentum (N.5), which r gets contact by contact. Between sweeps the rank that
  /// touches a body first has its velocity (see turn), always the same one, which thus knows that of the
  /// sweep before; what others compute of it is not used.
  void move_on(SweepMomentum momentum) {
    problem_->spheres().kernels().take_momentum(velocity_momentum_.size(), momentum, y_.data(),
                                                velocity_momentum_.data(), start_velocity_.data());
  }

  /// The local solution of contact c from its impulse rc, which it replaces, and the change d. Returns
  /// d . (W + G) d.
  template <class Row>
  Real solve(const Row& row, std::size_t c, Real* rc, Real* change) {
    Real W[D][D], rest[D];
    row.relative_velocity(y_.data(), rest);
    for (int i = 0; i < D; ++i) {
      rest[i] += row.w[i];
      for (int j = 0; j < D; ++j) {
        rest[i] -= row.W[i][j] * rc[j];
        W[i][j] = row.W[i][j];
      }
      W[i][i] += row.compliance(i);
    }
    const Vec<D> found = solve_one_contact<D>(W, rest, row.mu, slip_[c]);
    for (int i = 0; i < D; ++i) {
      change[i] = found[i] - rc[i];
      rc[i] = found[i];
    }
    row.add_impulse(change, y_.data());
    Real square = 0;
    for (int i = 0; i < D; ++i) {
      Real along = 0;
      for (int j = 0; j < D; ++j) along += W[i][j] * change[j];
      square += change[i] * along;
    }
    return square;
  }

  /// The contacts of it. Leaves d . (W + G) d in squares_ and returns the sum of their terms on this
  /// rank.
  Real run_on(SweepTurn turn, SweepMomentum momentum) {
    Scope timer("nsgs sweep");
    rolling_.of_sweeps = of_turns_.data();
    return run_stretches(
        turn, [&](std::size_t stretch) { return sweep_groups_on(stretch, momentum); },
        [&](std::size_t c) { return SweepChange::term(squares_[c] = solve_on(c, momentum), momentum.unit); });
  }

  /// A sweep with of_groups(stretch) of contacts in groups, of_contact(c) of others; then walls that loads
  /// move. Returns the sum of what they return.
  template <class Groups, class OneContact>
  Real run_stretches(SweepTurn turn, const Groups& of_groups, const OneContact& of_contact) {
    std::size_t stretch = 0;
    Real sum = 0;
    problem_->run_colours(y_, turn, [&](Index first, Index last) {
      if (lanes_ != nullptr) {
        sum += of_groups(stretch++);
        return;
      }
      for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c)
        if (problem_->original().wall_of(c) < 0) sum += of_contact(c);
    });
    for (const auto& wall : problem_->walls().walls()) {
      sum += solve_wall(wall, stretch, [&] {
        if (lanes_ != nullptr) return of_groups(stretch);
        Real of_wall = 0;
        for (const Index c : problem_->walls().contacts_of(wall))
          of_wall += of_contact(static_cast<std::size_t>(c));
        return of_wall;
      });
      ++stretch;
    }
    return sum;
  }
  Real sweep_groups(std::size_t stretch) {
    const std::size_t group = lanes_->first_group(stretch);
    GroupImpulses<D>* impulses = impulses_.data() + group;
    if (spheres_ != nullptr)
      spheres_->kernels().sweep(spheres_->groups_of(stretch), impulses, y_.data(), rolling_.from(group));
    else
      general_->kernels().sweep(general_->groups_of(stretch), impulses, slip_.data() + group * group_size,
                                y_.data());
    return 0;
  }
  Real sweep_groups_on(std::size_t stretch, SweepMomentum momentum) {
    const std::size_t group = lanes_->first_group(stretch), lane = group * group_size;
    GroupImpulses<D>* impulses = impulses_.data() + group;
    GroupMomentum<D>* of_sweeps = of_sweeps_.data() + group;
    if (spheres_ != nullptr)
      return spheres_->kernels().sweep_on(spheres_->groups_of(stretch), impulses, of_sweeps, y_.data(),
                                          momentum, squares_.data() + lane, rolling_.from(group));
    return general_->kernels().sweep_on(general_->groups_of(stretch), impulses, of_sweeps,
                                        slip_.data() + lane, y_.data(), momentum, squares_.data() + lane);
  }

  using Wall = typename WallRows<D>::Wall;

  /// All contacts with a wall at once, with the velocities of the wall that meet its loads (D.18): run()
  /// sweeps over them with the present ones. Returns what the last run() does. Collective.
  template <class Run>
  Real solve_wall(const Wall& wall, std::size_t stretch, const Run& run) {
    bool is_free = false;
    for (std::size_t k = wall.first; k < wall.end; ++k) is_free = is_free || is_unknown(k);
    if (is_free) before_wall_.keep(*this, wall, stretch);
    const auto run_again = [&] {
      before_wall_.put_back(*this, wall, stretch);
      return run();
    };
    Real sum = run();
    for (std::size_t k = wall.first; k < wall.end; ++k)
      if (is_unknown(k)) sum = solve_direction(k, sum, run_again);
    return sum;
  }
  bool is_unknown(std::size_t k) const {
    return !problem_->original().walls[k].is_known && problem_->walls()[k].limit == 0;
  }
  /// The velocity along direction k, with those along others as they are. `sum`: of the run before.
  template <class Run>
  Real solve_direction(std::size_t k, Real sum, const Run& run_again) {
    typename WallRows<D>::Direction& wall = problem_->walls()[k];
    const WallUnknown& given = problem_->original().walls[k];
    constexpr int max_tries = 60;
    constexpr Real beyond = 1e9, round_off = 1e-12;
    const Real far = beyond * given.max_speed;
    WallRoot root(far);
    for (int n = 1;; ++n) {
      const auto [impulse, slope] = answer_of_wall(k);
      const Real change = given.inertia * (wall.velocity - given.velocity_before);
      const Real missing = change - given.impulse - impulse;
      const Real exact = round_off * (std::abs(change) + std::abs(given.impulse) + std::abs(impulse));
      if (std::abs(missing) <= exact || n == max_tries) return sum;
      const Real next = root.next(wall.velocity, missing, given.inertia + slope);
      if (next == wall.velocity && std::abs(next) < far) return sum;
      if (next == wall.velocity) {  // nothing keeps it
        wall.limit = next > 0 ? 1 : -1;
        problem_->move_wall(k, wall.limit * given.max_speed);
        return run_again();
      }
      problem_->move_wall(k, next);
      sum = run_again();
    }
  }
  /// The impulse of its contacts along direction k of a wall, and by how much it falls as the wall gets
  /// faster, nearly [N s, kg]. Collective.
  std::array<Real, 2> answer_of_wall(std::size_t k) const {
    const FrictionProblem<D>& original = problem_->original();
    const std::span<const Index> contacts = problem_->walls().contacts_along(k);
    std::array<Real, 2> sums{};
    ReproducibleSum::sum(problem_->comm(), contacts.size(), sums, [&](std::size_t i, std::span<Real> terms) {
      const std::size_t c = contacts[i];
      const std::size_t row = original.at_walls.first[c] + static_cast<Index>(k) - original.at_walls.wall[c];
      Real r[D], s[n_turns<D>], tangential = 0;
      impulse_of(c, r, s);
      terms[0] = problem_->impulse_of_row(c, row, r, original.rolls() ? s : nullptr);
      terms[1] = 0;
      if (r[0] <= 0) return;
      for (int j = 1; j < D; ++j) tangential = std::hypot(tangential, r[j]);
      const bool sticks = tangential < original.mu[c] * r[0] * (1 - 1e-9);
      for (std::size_t j = 0; j < (sticks ? D : 1); ++j) {
        const Real along = original.at_walls.row[row * D + j];
        terms[1] += problem_->mass_scale() * along * along / diagonal(c, static_cast<int>(j));
      }
    });
    return sums;
  }
  /// Of contact c, as it is now.
  void impulse_of(std::size_t c, Real* r, Real* s) const {
    if (lanes_ == nullptr) {
      std::copy_n(&r_[c * D], D, r);
      return;
    }
    const std::size_t place = lanes_->place()[c];
    const std::size_t group = place / group_size, lane = place % group_size;
    for (std::size_t i = 0; i < D; ++i) r[i] = impulses_[group].r[i][lane];
    for (std::size_t i = 0; i < n_turns<D> && rolling_.rows != nullptr; ++i) s[i] = turns_[group].r[i][lane];
  }
  /// Of W + G of contact c.
  Real diagonal(std::size_t c, int i) const {
    if (spheres_ == nullptr) return problem_->contacts()[c].diagonal(i);
    const std::size_t place = lanes_->place()[c];
    return 1 / spheres_->groups()[place / group_size].inverse_W[i > 0][place % group_size];
  }

  /// One contact of it. Returns d . (W + G) d.
  Real solve_on(std::size_t c, SweepMomentum momentum) {
    const auto& row = problem_->contacts()[c];
    Real* rc = r_.data() + c * D;
    Real* d = &change_[c * D];
    for (std::size_t i = 0; i < D; ++i) {
      Real& p = momentum_[c * D + i];
      const Real moved = momentum.beta * p;
      rc[i] += moved;
      p = moved + momentum.share * d[i];
    }
    return solve(row, c, rc, d);
  }

  /// The unit in which a sweep adds up its changes after one with `last`.
  static Real unit_for(Real last) {
    if (!(last > 0 && std::isfinite(last))) return 1;
    int exponent = 0;
    std::frexp(last, &exponent);
    return SweepChange::of_last * std::ldexp(1.0, -std::clamp(exponent, -900, 900));
  }

  /// The sum of d . (W + G) d over all contacts, from that of the terms of this rank where it is less than
  /// `last`. Collective.
  Real sum_of_changes(SweepMomentum momentum, Real last, Real of_rank) {
    if (last > 0 && std::isfinite(last)) {
      const Real change =
          static_cast<Real>(problem_->comm().sum(static_cast<std::int64_t>(std::min(of_rank, 0x1p53)))) /
          momentum.unit;
      if (change < last) return change;
    }
    return ReproducibleSum::sum(problem_->comm(), squares_);
  }

  /// What a sweep over the contacts with a wall changes, as it was before.
  class BeforeWall {
   public:
    void keep(ContactSweeps& sweeps, const Wall& wall, std::size_t stretch) {
      kept_.clear();
      visit(sweeps, wall, stretch,
            [&](std::span<Real> values) { kept_.insert(kept_.end(), values.begin(), values.end()); });
    }
    void put_back(ContactSweeps& sweeps, const Wall& wall, std::size_t stretch) const {
      const Real* next = kept_.data();
      visit(sweeps, wall, stretch, [&](std::span<Real> values) {
        std::copy_n(next, values.size(), values.begin());
        next += values.size();
      });
    }

   private:
    template <class F>
    static void visit(ContactSweeps& sweeps, const Wall& wall, std::size_t stretch, const F& f) {
      const LaneGroups* lanes = sweeps.lanes_;
      for (const Index contact : sweeps.problem_->walls().contacts_of(wall)) {
        const std::size_t c = contact;
        const Index body = sweeps.problem_->original().a[c];
        constexpr std::size_t width = ScaledProblem<D>::width;
        if (body >= 0) f(std::span(sweeps.y_).subspan(static_cast<std::size_t>(body) * width, width));
        if (lanes != nullptr) continue;
        for (std::span<Real> values : {sweeps.r_, std::span(sweeps.momentum_), std::span(sweeps.change_)})
          if (!values.empty()) f(values.subspan(c * D, D));
        f(std::span(sweeps.slip_).subspan(c, 1));
      }
      if (lanes == nullptr) return;
      const std::size_t first = lanes->first_group(stretch), n = lanes->n_groups_of(stretch);
      const auto take = [&](auto& groups) {
        using Group = typename std::remove_reference_t<decltype(groups)>::value_type;
        if (groups.size() < first + n || n == 0) return;
        f(std::span(reinterpret_cast<Real*>(groups.data() + first), n * (sizeof(Group) / sizeof(Real))));
      };
      take(sweeps.impulses_), take(sweeps.of_sweeps_), take(sweeps.turns_), take(sweeps.of_turns_);
      if (sweeps.spheres_ == nullptr) f(std::span(sweeps.slip_).subspan(first * group_size, n * group_size));
    }
    std::vector<Real> kept_;
  };

  const ScaledProblem<D>* problem_ = nullptr;
  std::span<Real> r_;
  // Contacts in groups, whose impulses are those in impulses_: none, or one of the two, and their lanes.
  const SphereRows<D>* spheres_ = nullptr;
  const GeneralRows<D>* general_ = nullptr;
  const LaneGroups* lanes_ = nullptr;
  std::vector<Real> y_;
  std::vector<GroupImpulses<D>> impulses_;
  std::vector<GroupMomentum<D>> of_sweeps_;
  RollingSweep<D> rolling_;  // with what follows, where contacts resist rolling
  std::vector<GroupImpulses<n_turns<D>>> turns_;
  std::vector<GroupMomentum<n_turns<D>>> of_turns_;
  std::vector<Real> slip_;  // of each contact but round ones, the guess of the next local solve
  std::vector<Real> velocity_momentum_, start_velocity_;  // of local bodies
  std::vector<Real> before_check_;                        // velocities
  std::vector<Real> momentum_, change_;                   // of contacts that are not packed
  std::vector<Real> squares_;                             // change of each contact in a sweep
  BeforeWall before_wall_;
};

}  // namespace scree
