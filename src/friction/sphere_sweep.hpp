#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "friction/scaled_problem.hpp"

namespace scree {

/// Four sphere contacts (ScaledProblem::SphereContact), lane k for contact k. They follow each other in the
/// order of a sweep and share no body that moves, so a sweep treats them at once. Unused lanes have bodies
/// n_held and zeros.
template <int D>
struct alignas(32) SphereGroup {
  static constexpr std::size_t size = 4;
  using Entry = Real[size];
  Index a[size], b[size];
  Entry F[D][D], s[2], c[2], inverse_W[2], w[D], mu, g[2];
  Entry r[D];  ///< the impulses that a sweep works on
  Entry p[D];  ///< momentum of the sweeps before
  Entry d[D];  ///< what the last sweep changed r by, beyond momentum
};

/// What a sweep takes over from those before: r starts at r + beta p, and p becomes beta p + share d
/// (docs/method.md, eq. N.5).
struct SweepMomentum {
  Real beta = 0;
  Real share = 0;  ///< 1; 0 where momentum starts anew
};

/// Sweeps of block Gauss-Seidel (docs/method.md, eq. N.1-N.3) over sphere contacts, four at a time. The
/// bits are those of one contact after the other, with any instruction set.
template <int D>
class SphereSweep {
 public:
  struct Kernels {
    std::string_view instruction_set;
    /// One sweep over the groups; y: velocities of all held and of nobody, on 16 bytes.
    void (*sweep)(std::span<SphereGroup<D>> groups, Real* y);
    /// The same with momentum. squares: d . (W + G) d of each lane, 0 of unused ones.
    void (*sweep_on)(std::span<SphereGroup<D>> groups, Real* y, SweepMomentum momentum, Real* squares);
    /// |r - P_K(r - u^)|^2 of each lane (eq. F.6), 0 of unused ones.
    void (*natural_squares)(std::span<const SphereGroup<D>> groups, const Real* y, Real* squares);
  };

  /// Packs the contacts, in O(contacts). Local.
  void load(const ScaledProblem<D>& problem, std::span<const Real> r);
  /// One sweep: changes y and the impulses that were loaded. Collective.
  void run(const ScaledProblem<D>& problem, SweepTurn turn, std::span<Real> y);
  /// The same with momentum, which y has already. Returns the sum of d . (W + G) d over all contacts, exact.
  Real run_on(const ScaledProblem<D>& problem, SweepMomentum momentum, std::span<Real> y);
  /// Natural residual of the impulses as they are now, for velocities y that sweeps updated at owned bodies.
  /// Leaves ghosts current. The same bits as find_residual_of_velocities(), and as collective.
  Real natural_residual(const ScaledProblem<D>& problem, std::span<Real> y);
  /// The impulses as they are now, and others in their place. Local.
  void store(std::span<Real> r) const;
  void replace(std::span<const Real> r);
  /// For tests: use these kernels.
  void use(const Kernels& kernels) { kernels_ = &kernels; }

 private:
  const Kernels* kernels_ = nullptr;
  std::vector<SphereGroup<D>> groups_;
  std::vector<Real> squares_;
  std::vector<Index> n_in_group_;
  std::vector<std::size_t> group_first_;  // of each stretch of run_colours, in its order
};

/// The kernels that this processor can run, the portable ones first.
template <int D>
std::span<const typename SphereSweep<D>::Kernels* const> available_sphere_kernels();

}  // namespace scree
