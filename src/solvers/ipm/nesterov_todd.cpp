#include "solvers/ipm/nesterov_todd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/timing.hpp"
#include "solvers/cone.hpp"

namespace scree {

namespace {

/// x_0^2 - |x_1|^2 without cancellation.
template <int D>
Real lorentz(const Real* x) {
  const Real t = tangential_norm<D>(x);
  return (x[0] - t) * (x[0] + t);
}

/// out = T x, or T^-1 x with sign = -1 (and 1/eta).
template <int D>
void scale_by(Real eta, const Real* w, Real sign, const Real* x, Real* out) {
  Real across = 0;
  for (int k = 1; k < D; ++k) across += w[k] * x[k];
  const Real along = sign * x[0] + across / (1 + w[0]);
  out[0] = eta * (w[0] * x[0] + sign * across);
  for (int k = 1; k < D; ++k) out[k] = eta * (x[k] + along * w[k]);
}

/// Jordan product: (a . b, a_0 b_1 + b_0 a_1).
template <int D>
Vec<D> jordan(const Real* a, const Real* b) {
  Vec<D> product;
  for (int k = 0; k < D; ++k) product[0] += a[k] * b[k];
  for (int k = 1; k < D; ++k) product[k] = a[0] * b[k] + b[0] * a[k];
  return product;
}

/// The x with a o x = b, for a inside the cone.
template <int D>
Vec<D> divide(const Real* a, const Vec<D>& b) {
  Real across = 0;
  for (int k = 1; k < D; ++k) across += a[k] * b[k];
  Vec<D> x;
  x[0] = (a[0] * b[0] - across) / lorentz<D>(a);
  for (int k = 1; k < D; ++k) x[k] = (b[k] - x[0] * a[k]) / a[0];
  return x;
}

/// Largest a with x + a d in the cone, for x inside it. Found in the frame in which x is the unit element.
template <int D>
Real longest_step_in_cone(const Real* x, const Real* d) {
  const Real size = std::sqrt(lorentz<D>(x));
  Real across = 0;
  for (int k = 1; k < D; ++k) across += x[k] * d[k];
  const Real along = (x[0] * d[0] - across) / size;
  const Real factor = (d[0] + along) / (x[0] + size);
  Real square = 0;
  for (int k = 1; k < D; ++k) {
    const Real t = d[k] - factor * x[k];
    square += t * t;
  }
  const Real rate = std::sqrt(square) - along;
  return rate > 0 ? size / rate : HUGE_VAL;
}

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
constexpr Real least_mu = 1e-12;

/// Least mean of X . Z aimed at: below it, x_0 - |x_1| of a sliding contact is lost in round-off.
constexpr Real least_gap = 1e-15;

}  // namespace

template <int D>
bool NesterovTodd<D>::start(const ScaledProblem<D>& problem, const Settings& settings, std::span<Real> r,
                            SolveMonitor<D>& monitor, Real* residual) {
  const std::size_t n = contacts_.size();
  Real largest = 0;
  for (const Real x : r) largest = std::max(largest, std::abs(x));
  const bool warm = problem.comm().max(largest) > 0;
  *residual = monitor.look(0, r, y_);
  if (monitor.done()) return false;

  // The residual is about the distance from the solution: as far inside the cones, a warm start is neither
  // crowded at the boundary nor moved away.
  const Real inside = warm ? std::min(*residual, settings.start) : settings.start;
  for (std::size_t c = 0; c < n; ++c) {
    Contact& contact = contacts_[c];
    const Real mu = problem.contacts()[c].mu;
    const bool rough = mu > least_mu;
    contact.p[0] = rough ? 1 / mu : 1;
    contact.p[1] = rough ? 1 : 0;
    const Real height = inside / contact.p[0];
    Real* rc = r.data() + c * D;
    contact.X[0] = rc[0] / contact.p[0];
    for (int k = 1; k < D; ++k) contact.X[k] = rc[k] * contact.p[1];
    contact.X[0] = std::max(contact.X[0], tangential_norm<D>(contact.X) + height);
    rc[0] = contact.X[0] * contact.p[0];
    for (int k = 1; k < D; ++k) rc[k] = contact.X[k] * contact.p[1];
  }
  *residual = monitor.look(0, r, y_);
  for (std::size_t c = 0; c < n; ++c) {
    Contact& contact = contacts_[c];
    Real u[D];
    problem.relative_velocity(static_cast<Index>(c), r, y_, u);
    for (int k = 1; k < D; ++k) contact.Z[k] = u[k] * contact.p[1];
    contact.Z[0] = tangential_norm<D>(contact.Z) + contact.p[0] * std::max(u[0], warm ? inside : 1.0);
  }
  return true;
}

/// Scaling, K and defect of every contact at the iterate (r, y_, Z).
template <int D>
void NesterovTodd<D>::linearise(const ScaledProblem<D>& problem, std::span<const Real> r) {
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    const auto& row = problem.contacts()[c];
    const Real* p = contact.p;
    Real u[D];
    problem.relative_velocity(static_cast<Index>(c), r, y_, u);
    contact.defect[0] = p[0] * u[0] + p[1] * tangential_norm<D>(u) - contact.Z[0];
    for (int k = 1; k < D; ++k) contact.defect[k] = p[1] * u[k] - contact.Z[k];

    const Real size_X = std::sqrt(lorentz<D>(contact.X));
    const Real size_Z = std::sqrt(lorentz<D>(contact.Z));
    Real cosine = 0;
    for (int k = 0; k < D; ++k) cosine += contact.X[k] / size_X * (contact.Z[k] / size_Z);
    const Real gamma = std::sqrt(0.5 * (1 + cosine));
    contact.eta = std::sqrt(size_X / size_Z);
    Real square = 0;
    for (int k = 1; k < D; ++k) {
      contact.w[k] = (contact.X[k] / size_X - contact.Z[k] / size_Z) / (2 * gamma);
      square += contact.w[k] * contact.w[k];
    }
    contact.w[0] = std::sqrt(1 + square);
    scale_by<D>(contact.eta, contact.w, 1, contact.Z, contact.lambda);

    // B = (I + T P^-1 G P^-1 T)^-1,  K = P^-1 T B T P^-1.
    Real T[D][D];  // symmetric
    for (int k = 0; k < D; ++k) {
      Real unit[D] = {};
      unit[k] = 1;
      scale_by<D>(contact.eta, contact.w, 1, unit, T[k]);
    }
    const bool rigid = row.g[0] == 0 && row.g[1] == 0;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        contact.B[i][j] = i == j ? 1 : 0;
        if (rigid) continue;
        for (int k = 0; k < D; ++k)
          contact.B[i][j] += T[i][k] * row.compliance(k) * p[k > 0] * p[k > 0] * T[k][j];
      }
    if (!rigid) invert<D>(contact.B);
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        Real sum = 0;
        for (int k = 0; k < D; ++k) {
          Real inner = 0;
          for (int l = 0; l < D; ++l) inner += contact.B[k][l] * T[l][j];
          sum += T[i][k] * inner;
        }
        K_[(c * D + static_cast<std::size_t>(i)) * D + static_cast<std::size_t>(j)] =
            p[i > 0] * sum * p[j > 0];
      }
  }
}

/// The step (dX, dZ) that leaves no defect and has T^-1 dX + T dZ = b, b = target(contact).
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
    scale_by<D>(contact.eta, contact.w, 1, contact.defect, scaled);
    for (int k = 0; k < D; ++k) {
      b_[c * D + static_cast<std::size_t>(k)] = b[k];
      scaled[k] = b[k] - scaled[k];
    }
    multiply(contact.B, scaled, reduced);
    scale_by<D>(contact.eta, contact.w, 1, reduced, x);
    for (int k = 0; k < D; ++k) impulse_[c * D + static_cast<std::size_t>(k)] = contact.p[k > 0] * x[k];
  }
  std::fill(rhs_.begin(), rhs_.end(), 0.0);
  problem.add_impulse(impulse_, rhs_);
  if (!system.solve(rhs_, dy_, report)) return false;

  constexpr int q = ScaledProblem<D>::q;
  constexpr auto width = static_cast<std::size_t>(ScaledProblem<D>::width);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    const auto& row = problem.contacts()[c];
    const Real* ya = dy_.data() + static_cast<std::size_t>(row.a) * width;
    const Real* yb = dy_.data() + static_cast<std::size_t>(row.b) * width;
    Real scaled[D], reduced[D];
    for (int i = 0; i < D; ++i) {
      Real sum = 0;
      for (int k = 0; k < q; ++k) sum += row.J[0][i][k] * ya[k] + row.J[1][i][k] * yb[k];
      contact.dZ[i] = contact.p[i > 0] * sum + contact.defect[i];
    }
    scale_by<D>(contact.eta, contact.w, 1, contact.dZ, scaled);
    for (int k = 0; k < D; ++k) scaled[k] = b_[c * D + static_cast<std::size_t>(k)] - scaled[k];
    multiply(contact.B, scaled, reduced);
    scale_by<D>(contact.eta, contact.w, 1, reduced, contact.dX);
    for (int k = 0; k < D; ++k)
      contact.dZ[k] += contact.p[k > 0] * row.compliance(k) * contact.p[k > 0] * contact.dX[k];
  }
  return true;
}

/// Largest common step that keeps all X and Z in their cones. Collective.
template <int D>
Real NesterovTodd<D>::longest_step(const Comm& comm) const {
  Real longest = HUGE_VAL;
  for (const Contact& contact : contacts_)
    longest = std::min({longest, longest_step_in_cone<D>(contact.X, contact.dX),
                        longest_step_in_cone<D>(contact.Z, contact.dZ)});
  return comm.min(longest);
}

template <int D>
void NesterovTodd<D>::iterate(const ScaledProblem<D>& problem, const Settings& settings,
                              SchurSystem<D>& system, std::span<Real> r, SolveMonitor<D>& monitor) {
  SolveReport& report = monitor.report();
  const Comm& comm = problem.comm();
  contacts_.resize(static_cast<std::size_t>(problem.n_contacts()));
  y_.resize(problem.velocity_size());
  rhs_.resize(problem.velocity_size());
  dy_.resize(problem.velocity_size());
  K_.resize(problem.impulse_size() * D);
  impulse_.resize(problem.impulse_size());
  b_.resize(problem.impulse_size());
  Real residual = 0;
  if (!start(problem, settings, r, monitor, &residual)) return;
  system.set_pattern(problem, report);

  for (std::int64_t step = 1; step <= settings.max_steps && !monitor.done(); ++step) {
    Scope timer("ipm step");
    linearise(problem, r);
    system.assemble(K_, 1, report);

    const bool predicted = solve(problem, system, report, [](const Contact& contact) {
      Vec<D> b;
      for (int k = 0; k < D; ++k) b[k] = -contact.lambda[k];
      return b;
    });
    if (!predicted) {
      report.decisions.push_back(fmt::format("ipm: step {} has no direction: {}", step, system.failure()));
      return;
    }
    Real sums[2] = {};  // X . Z and dX . dZ
    for (const Contact& contact : contacts_)
      for (int k = 0; k < D; ++k) {
        sums[0] += contact.X[k] * contact.Z[k];
        sums[1] += contact.dX[k] * contact.dZ[k];
      }
    comm.sum_to_round_off(sums);
    const Real gap = sums[0] / static_cast<Real>(problem.n_contacts_of_all());
    const Real reach = std::min(longest_step(comm), 1.0);
    // The predictor alone would leave (1 - reach) of the gap and the product of the steps.
    const Real remaining = std::clamp((1 - reach) + reach * reach * sums[1] / sums[0], 0.0, 1.0);
    const Real centring = std::pow(remaining, std::max(1.0, 3 * reach * reach)) * gap;
    // A gap far below the residual leaves iterates at the boundary while s still moves.
    const Real floor = std::min(residual, 1.0);
    const Real aim = std::max({centring, floor * floor, least_gap});

    const bool corrected = solve(problem, system, report, [&](const Contact& contact) {
      Real scaled_X[D], scaled_Z[D];
      scale_by<D>(1 / contact.eta, contact.w, -1, contact.dX, scaled_X);
      scale_by<D>(contact.eta, contact.w, 1, contact.dZ, scaled_Z);
      Vec<D> product = -jordan<D>(contact.lambda, contact.lambda) - jordan<D>(scaled_X, scaled_Z);
      product[0] += aim;
      return divide<D>(contact.lambda, product);
    });
    if (!corrected) {
      report.decisions.push_back(fmt::format("ipm: step {} has no direction: {}", step, system.failure()));
      return;
    }
    const Real longest = longest_step(comm);
    const Real alpha = std::min(1.0, (0.9 + 0.095 * std::min(1.0, longest)) * longest);
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      Contact& contact = contacts_[c];
      for (int k = 0; k < D; ++k) {
        contact.X[k] += alpha * contact.dX[k];
        contact.Z[k] += alpha * contact.dZ[k];
        r[c * D + static_cast<std::size_t>(k)] = contact.p[k > 0] * contact.X[k];
      }
    }
    ++report.newton_steps;
    residual = monitor.look(step, r, y_);
    if (!std::isfinite(residual) || alpha < 1e-12) {
      report.decisions.push_back(fmt::format("ipm: stopped at step {}, its length is {:.1e}", step, alpha));
      return;
    }
  }
}

template class NesterovTodd<2>;
template class NesterovTodd<3>;

}  // namespace scree
