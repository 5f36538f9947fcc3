#pragma once
#include <span>
#include <vector>

#include "friction/scaled_problem.hpp"

namespace scree {

/// Anderson's method (type II) for a sequence of impulses r -> g(r), with changes f = g - r:
///     gamma = argmin |f_k - dF gamma|_W',  r <- g_k - dG gamma        (docs/method.md, eq. N.6)
/// dF, dG: differences of the last steps, at most 10; W': diagonal of W + G of each contact.
/// Ranks   all sums are exact and the small system is solved alike on all ranks: the same bits on any number.
/// Cost    O(10 contacts) and one reduction per step; 20 vectors of impulses.
/// Source  D. G. Anderson, J. ACM 12 (1965) 547-560; H. F. Walker, P. Ni, SIAM J. Numer. Anal. 49 (2011)
///         1715-1735.
template <int D>
class AndersonSteps {
 public:
  static constexpr std::size_t window = 10;

  /// Forgets all steps. Local.
  void begin(const ScaledProblem<D>& problem);
  /// Takes the last change f and where it led, g; replaces g by the next guess, cut to the cones. Returns
  /// |f|_W'. Collective.
  Real step(const ScaledProblem<D>& problem, std::span<const Real> f, std::span<Real> g);

 private:
  /// In scaled units, of a contact of a problem with resistance to rolling.
  struct RollingOfContact {
    Real mu, inverse_W;
  };
  static RollingOfContact rolling_of(const ScaledProblem<D>& problem, std::size_t c);
  void remember(std::span<const Real> f, std::span<const Real> g);
  bool fit(const ScaledProblem<D>& problem, std::span<const Real> f, Real& squared);

  std::vector<Real> weight_;  // of each number
  std::size_t n_contacts_ = 0;
  std::vector<Real> last_f_, last_g_;
  std::vector<Real> df_[window], dg_[window];
  std::size_t n_steps_ = 0;  // since begin()
  Real gram_[window][window] = {}, product_[window] = {}, gamma_[window] = {};
};

}  // namespace scree
