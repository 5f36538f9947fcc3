#pragma once
#include <memory>
#include <span>
#include <vector>

#include "schemes/nonsmooth/contact_laws.hpp"

namespace scree {

/// Takes remaining overlap out of positions alone (docs/method.md, eq. D.12): solves the problem of the step
/// once more for velocities that do so, by a few sweeps from the impulses found. Contacts obey friction in
/// it: what sticks goes on to. The arguments of the constructor must outlive it.
template <int D>
class PositionCorrection {
 public:
  PositionCorrection(State<D>& state, const NonsmoothSettings<D>& settings, ContactLaws<D>& laws,
                     ContactSolve<D>& solve)
      : state_(state), settings_(settings), laws_(laws), solve_(solve) {}

  /// After bodies have moved with the velocities of the solve: moves those and walls under load on, if rigid
  /// bodies overlap by more than a small share of `radius`, the smallest of the bodies [m]. Returns the
  /// deepest overlap that it takes on [m]. The problem holds another bias from here on. Collective.
  Real apply(Real radius);
  /// n_held * n_velocities<D>: with which positions have moved in the step, corrected [m/s, rad/s].
  std::span<const Real> velocity() const {
    return acts_ ? std::span<const Real>(velocity_) : solve_.velocity();
  }
  std::size_t bytes() const { return held_bytes(impulse_, velocity_); }

 private:
  static constexpr std::size_t q = FrictionProblem<D>::q;
  Real change_bias(Real negligible, Real most);
  void solve();
  void limit(Real most);
  void move_walls(Real most);

  State<D>& state_;
  const NonsmoothSettings<D>& settings_;
  ContactLaws<D>& laws_;
  ContactSolve<D>& solve_;
  std::unique_ptr<FrictionSolver<D>> sweeps_ = make_solver<D>("nsgs");
  bool acts_ = false;
  std::vector<Real> impulse_, velocity_;
};

}  // namespace scree
