#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/cone.hpp"
#include "friction/one_contact.hpp"
#include "friction/residual.hpp"
#include "friction/scaled_problem.hpp"

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
  /// The residual by these velocities, of impulses that have been stored. Collective.
  Real residual(ResidualNorm norm) {
    if (lanes_ == nullptr || norm != ResidualNorm::natural)
      return find_residual_of_velocities<D>(*problem_, norm, r_, y_);
    problem_->make_ghosts_current(y_);
    return natural_residual_of_packed<D>(*problem_, impulses_, y_, rolling_);
  }

  /// One sweep without momentum.
  void sweep(SweepTurn turn) {
    Scope timer("nsgs sweep");
    std::size_t stretch = 0;
    problem_->run_colours(y_, turn, [&](Index first, Index last) {
      if (lanes_ != nullptr) {
        const std::size_t group = lanes_->first_group(stretch);
        GroupImpulses<D>* impulses = impulses_.data() + group;
        if (spheres_ != nullptr)
          spheres_->kernels().sweep(spheres_->groups_of(stretch), impulses, y_.data(), rolling_.from(group));
        else
          general_->kernels().sweep(general_->groups_of(stretch), impulses, slip_.data() + group * group_size,
                                    y_.data());
        ++stretch;
        return;
      }
      const auto& rows = problem_->contacts();
      Real change[D];
      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c)
        solve(rows[c], c, r_.data() + c * D, change);
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
    squares_.resize(static_cast<std::size_t>(problem_->n_contacts()));
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
    std::size_t stretch = 0;
    Real sum = 0;
    rolling_.of_sweeps = of_turns_.data();
    problem_->run_colours(y_, turn, [&](Index first, Index last) {
      if (lanes_ != nullptr) {
        const std::size_t group = lanes_->first_group(stretch), lane = group * group_size;
        GroupImpulses<D>* impulses = impulses_.data() + group;
        GroupMomentum<D>* of_sweeps = of_sweeps_.data() + group;
        sum += spheres_ != nullptr ? spheres_->kernels().sweep_on(
                                         spheres_->groups_of(stretch), impulses, of_sweeps, y_.data(),
                                         momentum, squares_.data() + lane, rolling_.from(group))
                                   : general_->kernels().sweep_on(general_->groups_of(stretch), impulses,
                                                                  of_sweeps, slip_.data() + lane, y_.data(),
                                                                  momentum, squares_.data() + lane);
        ++stretch;
        return;
      }
      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c)
        sum += SweepChange::term(squares_[c] = solve_on(c, momentum), momentum.unit);
    });
    return sum;
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
  std::vector<Real> momentum_, change_;                   // of contacts that are not packed
  std::vector<Real> squares_;                             // change of each contact in a sweep
};

}  // namespace scree
