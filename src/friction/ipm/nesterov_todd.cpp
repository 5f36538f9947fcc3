#include "friction/ipm/nesterov_todd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/timing.hpp"
#include "friction/cone.hpp"

namespace scree {

namespace {

/// Inverse of a symmetric positive definite block.
template <int D>
void invert(Real (&A)[D][D]) {
  // Gauss-Jordan without pivoting.
  for (int k = 0; k < D; ++k) {
    const Real pivot = 1 / A[k][k];
    A[k][k] = 1;
    for (int j = 0; j < D; ++j) A[k][j] *= pivot;
    for (int i = 0; i < D; ++i) {
      if (i == k) continue;
      const Real factor = A[i][k];
      A[i][k] = 0;
      for (int j = 0; j < D; ++j) A[i][j] -= factor * A[k][j];
    }
  }
}

/// Below this mu a contact counts as frictionless: its cone is thinner than round-off.
constexpr Real min_mu = 1e-12;

/// Least mean of X . Z aimed at; worth a residual far below any tolerance.
constexpr Real min_gap = 1e-24;

/// The proximal term, in units of 1 / m_c.
constexpr Real proximal = 1e-6;

}  // namespace

template <int D>
bool NesterovTodd<D>::start(const ScaledProblem<D>& problem, const Settings& settings, std::span<Real> r,
                            SolveMonitor<D>& monitor, Real* residual) {
  const std::size_t n = contacts_.size();
  Real largest = 0;
  for (const Real x : r) largest = std::max(largest, std::abs(x));
  const bool warm = problem.comm().max(largest) > 0;
  *residual = monitor.check(0, r, y_);
  if (monitor.done()) return false;

  // The residual estimates the distance from the solution. A warm start that far inside the cones is neither
  // too close to the boundary nor moved away.
  const Real inside = warm ? std::min(*residual, settings.start) : settings.start;
  for (std::size_t c = 0; c < n; ++c) {
    Contact& contact = contacts_[c];
    const Real mu = problem.contacts()[c].mu;
    const bool rough = mu > min_mu;
    contact.p[0] = rough ? 1 / mu : 1;
    contact.p[1] = rough ? 1 : 0;
    Real* rc = r.data() + c * D;
    Real x[D];
    x[0] = rc[0] / contact.p[0];
    for (int k = 1; k < D; ++k) x[k] = rc[k] * contact.p[1];
    contact.X.set(x, std::max(x[0] - tangential_norm<D>(x), inside / contact.p[0]));
    for (int k = 0; k < D; ++k) rc[k] = contact.p[k > 0] * contact.X.x[k];
  }
  *residual = monitor.check(0, r, y_);
  for (std::size_t c = 0; c < n; ++c) {
    Contact& contact = contacts_[c];
    Real u[D];
    problem.relative_velocity(static_cast<Index>(c), r, y_, u);
    const Real normal = contact.p[0] * std::max(u[0], warm ? inside : 1.0);
    for (int k = 0; k < D; ++k) u[k] *= contact.p[k > 0];
    contact.Z.set(u, normal);
  }
  return true;
}

/// Defect (I.2), scaling and K (I.6) of every contact at the iterate (r, y_, Z).
template <int D>
void NesterovTodd<D>::linearise(const ScaledProblem<D>& problem, std::span<const Real> r) {
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    const auto& row = problem.contacts()[c];
    const Real* p = contact.p;
    Real u[D];
    problem.relative_velocity(static_cast<Index>(c), r, y_, u);
    contact.defect[0] =
        p[0] * u[0] - contact.Z.inside + p[1] * tangential_norm<D>(u) - tangential_norm<D>(contact.Z.x);
    for (int k = 1; k < D; ++k) contact.defect[k] = p[1] * u[k] - contact.Z.x[k];

    contact.T.set(contact.X, contact.Z);
    const Real eps = proximal / row.effective_mass();
    for (int k = 0; k < 2; ++k) contact.soft[k] = p[k] * p[k] * (row.g[k] + eps);

    // B = (I + T P^-1 (G + eps / m_c) P^-1 T)^-1,  K = P^-1 T B T P^-1.
    Real T[D][D];  // symmetric
    for (int k = 0; k < D; ++k) {
      Real unit[D] = {};
      unit[k] = 1;
      contact.T.apply(unit, T[k]);
    }
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        contact.B[i][j] = i == j ? 1 : 0;
        for (int k = 0; k < D; ++k) contact.B[i][j] += T[i][k] * contact.soft[k > 0] * T[k][j];
      }
    invert<D>(contact.B);
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        Real sum = 0;
        for (int k = 0; k < D; ++k) {
          Real inner = 0;
          for (int l = 0; l < D; ++l) inner += contact.B[k][l] * T[l][j];
          sum += T[i][k] * inner;
        }
        blocks_[(c * D + static_cast<std::size_t>(i)) * D + static_cast<std::size_t>(j)] =
            p[i > 0] * sum * p[j > 0];
      }
  }
}

/// The step (dX, dZ) that leaves no defect and has T^-1 dX + T dZ = b, b = target(contact) (I.5).
template <int D>
template <class Target>
bool NesterovTodd<D>::solve(const ScaledProblem<D>& problem, SchurSystem<D>& system, SolveReport& report,
                            const Target& target) {
  const auto multiply = [](const Real(&B)[D][D], const Real* x, Real* out) {
    for (int i = 0; i < D; ++i) {
      out[i] = 0;
      for (int j = 0; j < D; ++j) out[i] += B[i][j] * x[j];
    }
  };
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const Contact& contact = contacts_[c];
    const Vec<D> b = target(contact);
    Real scaled[D], reduced[D], x[D];
    contact.T.apply(contact.defect, scaled);
    for (int k = 0; k < D; ++k) {
      b_[c * D + static_cast<std::size_t>(k)] = b[k];
      scaled[k] = b[k] - scaled[k];
    }
    multiply(contact.B, scaled, reduced);
    contact.T.apply(reduced, x);
    for (int k = 0; k < D; ++k) impulse_[c * D + static_cast<std::size_t>(k)] = contact.p[k > 0] * x[k];
  }
  std::fill(rhs_.begin(), rhs_.end(), 0.0);
  problem.add_impulse(impulse_, rhs_);
  if (!system.solve(rhs_, dy_, report)) return false;

  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    Real change[D], scaled[D], reduced[D];
    problem.contacts()[c].relative_velocity(dy_.data(), change);
    for (int i = 0; i < D; ++i) contact.dZ[i] = contact.p[i > 0] * change[i] + contact.defect[i];
    contact.T.apply(contact.dZ, scaled);
    for (int k = 0; k < D; ++k) scaled[k] = b_[c * D + static_cast<std::size_t>(k)] - scaled[k];
    multiply(contact.B, scaled, reduced);
    contact.T.apply(reduced, contact.dX);
    for (int k = 0; k < D; ++k) contact.dZ[k] += contact.soft[k > 0] * contact.dX[k];
  }
  return true;
}

/// Largest common step that keeps all X and Z in their cones. Collective.
template <int D>
Real NesterovTodd<D>::longest_step(const Comm& comm) const {
  Real longest = HUGE_VAL;
  for (const Contact& contact : contacts_)
    longest = std::min({longest, contact.X.longest_step(contact.dX), contact.Z.longest_step(contact.dZ)});
  return comm.min(longest);
}

/// The X . Z that the corrector aims at (I.8), from how far the predictor's step gets.
template <int D>
Real NesterovTodd<D>::corrector_target(const ScaledProblem<D>& problem, Real residual) const {
  Real sums[2] = {};  // X . Z and dX . dZ
  for (const Contact& contact : contacts_) {
    sums[0] += dot(contact.X, contact.Z);
    for (int k = 0; k < D; ++k) sums[1] += contact.dX[k] * contact.dZ[k];
  }
  problem.comm().sum_to_round_off(sums);
  const Real gap = sums[0] / static_cast<Real>(problem.n_contacts_of_all());
  const Real reach = std::min(longest_step(problem.comm()), 1.0);
  // The predictor alone would leave (1 - reach) of the gap and the product of the steps.
  const Real remaining = std::clamp((1 - reach) + reach * reach * sums[1] / sums[0], 0.0, 1.0);
  const Real centring = std::pow(remaining, std::max(1.0, 3 * reach * reach)) * gap;
  const Real floor = std::min(residual, 1.0) * std::min(residual, 1.0);
  // A gap far below the residual keeps iterates at the boundary while s still changes; but it has to fall.
  return std::max({centring, floor, std::min(100 * floor, 0.4 * gap), min_gap});
}

/// Moves X, Z and the impulses r = P^-1 X by a share alpha of the corrector's step.
template <int D>
void NesterovTodd<D>::move(Real alpha, std::span<Real> r) {
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    contact.X.move(contact.dX, alpha);
    contact.Z.move(contact.dZ, alpha);
    for (int k = 0; k < D; ++k) r[c * D + static_cast<std::size_t>(k)] = contact.p[k > 0] * contact.X.x[k];
  }
}

template <int D>
void NesterovTodd<D>::iterate(const ScaledProblem<D>& problem, const Settings& settings,
                              SchurSystem<D>& system, std::span<Real> r, SolveMonitor<D>& monitor) {
  SolveReport& report = monitor.report();
  const Comm& comm = problem.comm();
  contacts_.resize(problem.n_contacts());
  y_.resize(problem.velocity_size());
  rhs_.resize(problem.velocity_size());
  dy_.resize(problem.velocity_size());
  blocks_.resize(problem.impulse_size() * D);
  impulse_.resize(problem.impulse_size());
  b_.resize(problem.impulse_size());
  Real residual = 0;
  if (!start(problem, settings, r, monitor, &residual)) return;
  system.set_pattern(problem, report);

  for (std::int64_t step = 1; step <= settings.max_steps && !monitor.done(); ++step) {
    Scope timer("ipm step");
    linearise(problem, r);
    system.assemble(blocks_, 1, report);

    const bool predicted = solve(problem, system, report, [](const Contact& contact) {
      Vec<D> b;
      for (int k = 0; k < D; ++k) b[k] = -contact.T.lambda[k];
      return b;
    });
    if (!predicted) {
      report.decisions.push_back(fmt::format("ipm: step {} has no direction: {}", step, system.failure()));
      return;
    }
    const Real aim = corrector_target(problem, residual);
    const bool corrected = solve(problem, system, report, [&](const Contact& contact) {
      Real scaled_X[D], scaled_Z[D];
      contact.T.apply_inverse(contact.dX, scaled_X);
      contact.T.apply(contact.dZ, scaled_Z);
      const Real* lambda = contact.T.lambda;
      Vec<D> product = -jordan_product<D>(lambda, lambda) - jordan_product<D>(scaled_X, scaled_Z);
      product[0] += aim;
      return jordan_quotient<D>(product, lambda);
    });
    if (!corrected) {
      report.decisions.push_back(fmt::format("ipm: step {} has no direction: {}", step, system.failure()));
      return;
    }
    const Real longest = longest_step(comm);
    const Real alpha = std::min(1.0, (0.9 + 0.095 * std::min(1.0, longest)) * longest);
    move(alpha, r);
    ++report.newton_steps;
    residual = monitor.check(step, r, y_);
    if (!std::isfinite(residual) || alpha < 1e-12) {
      report.decisions.push_back(fmt::format("ipm: stopped at step {}, its length is {:.1e}", step, alpha));
      return;
    }
  }
}

template class NesterovTodd<2>;
template class NesterovTodd<3>;

}  // namespace scree
