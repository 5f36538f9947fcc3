#pragma once
#include <optional>
#include <string>
#include <vector>

#include "friction/newton/semismooth_newton.hpp"

namespace scree {

/// Proximal points: contact problems that are soft around the last impulses r_k, one after the other
/// (docs/method.md, eq. P.1),
///     u = J y + w + G r + alpha / m_c (r - r_k),   s = its solution,   r_{k+1} = r_k + omega (s - r_k),
/// each solved by Newton steps (SemismoothNewton::solve_proximal) to a share of its initial error. The term
/// vanishes where the sequence converges, so its limit solves the problem itself. A smaller alpha converges
/// in fewer rounds with harder problems: alpha falls while a few Newton steps solve them; after a failure it
/// grows, and the next decrease waits longer each time.
///
/// Shapes  as ScaledProblem. Units: scaled, none.
/// Cost    some Newton steps a round: an assembly and a factorisation each.
/// Ranks   collective; agrees to round-off of the sums on different numbers of ranks.
/// Makes progress from any start and with many redundant contacts (stacks, arches, towers), for problems
/// small enough to factorise. Coulomb's law is not monotone, so there is no proof of convergence. Source  R.
/// T. Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898; J. Eckstein, D. P. Bertsekas, Math.
///         Program. 55 (1992) 293-318, for omega; for contacts V. Acary, M. Bremond, O. Huber, in: Advanced
///         Topics in Nonsmooth Dynamics, Springer (2018) 375-457.
template <int D>
class ProximalPoints {
 public:
  struct Settings {
    Real alpha = 1e-2;      ///< of the first round
    Real relaxation = 1.5;  ///< omega
    typename SemismoothNewton<D>::Settings newton;
    void describe(Section& section);  ///< keys alpha, relaxation and those of SemismoothNewton
  };

  explicit ProximalPoints(const Settings& settings) : settings_(settings), newton_(settings.newton) {}

  /// Begins a new sequence at the next improve().
  void start_over() { alpha_ = settings_.alpha, min_wait_ = first_wait; }
  /// Runs rounds from r until monitor.done(), max_rounds, or Newton steps fail for every alpha; the monitor
  /// checks each s, and r becomes the best of them. Starts with the last alpha. False if no further progress
  /// is possible. Collective.
  bool improve(const ScaledProblem<D>& problem, std::int64_t max_rounds, std::span<Real> r,
               SolveMonitor<D>& monitor);

 private:
  static constexpr int first_wait = 2;

  Settings settings_;
  SemismoothNewton<D> newton_;
  Real alpha_ = settings_.alpha;
  int min_wait_ = first_wait;
  std::vector<Real> solution_, best_, y_;
};

}  // namespace scree
