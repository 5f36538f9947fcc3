#include "friction/residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "friction/cone.hpp"

namespace scree {

Real value_of(const Residual& residual, ResidualNorm norm) {
  return norm == ResidualNorm::natural ? residual.natural
                                       : std::max(residual.fclib_absolute, residual.fclib_relative);
}

namespace {

/// Puts walls where they are with these impulses, as ScaledProblem::find_wall_impulses() has them, before
/// contacts are looked at. Returns their part of the natural residual. Collective.
template <int D, class Get>
Real residual_of_walls(const ScaledProblem<D>& problem, Get&& get) {
  if (problem.walls().empty()) return 0;
  constexpr std::size_t few = 16;
  std::array<Real, few> room{};
  std::vector<Real> many(problem.walls().size() > few ? problem.walls().size() : 0);
  const std::span<Real> impulse =
      many.empty() ? std::span(room).first(problem.walls().size()) : std::span(many);
  problem.find_wall_impulses(impulse, get);
  return problem.place_walls(impulse);
}
template <int D>
Real residual_of_walls(const ScaledProblem<D>& problem, std::span<const Real> r) {
  return residual_of_walls(problem, [&](std::size_t c, Real* of_contact, Real* turning) {
    std::copy_n(&r[c * D], D, of_contact);
    const auto n = static_cast<std::size_t>(problem.n_contacts()) * D;
    if (r.size() > n) std::copy_n(&r[n + c * n_turns<D>], n_turns<D>, turning);
  });
}
/// The residual of all, from that of contacts and of walls.
template <int D>
Real with_walls(const ScaledProblem<D>& problem, Real of_contacts, Real of_walls) {
  problem.walls().contact_residual = of_contacts;
  return std::max(of_contacts, of_walls);
}

/// Residual::natural and own_error, from the squares of the natural maps of this rank's contacts and those of
/// (F.8). Collective.
template <int D>
std::array<Real, 2> norms_of(const ScaledProblem<D>& problem, std::span<const Real> squares,
                             std::span<const Real> own_squares) {
  const std::int64_t n = problem.n_contacts_of_all(), n_own = problem.n_own_of_all();
  if (n == 0) return {0, 0};
  std::array<Real, 2> norm{};
  // In scaled units |H v_free + w|_2 is sqrt(nc), or less where the velocity floor acts.
  if (n > n_own)
    norm[0] = std::sqrt(ReproducibleSum::sum(problem.comm(), squares) / static_cast<Real>(n - n_own));
  if (n_own == 0) return norm;
  const Real rms = std::sqrt(ReproducibleSum::sum(problem.comm(), own_squares) / static_cast<Real>(n_own));
  Real largest = 0;
  for (const Real square : own_squares) largest = std::max(largest, square);
  norm[1] = std::sqrt(problem.comm().max(largest));
  norm[0] = std::max({norm[0], rms, norm[1] / Residual::max_of_one});
  return norm;
}

/// The squares of (F.8) of this rank's contacts, whose natural ones become 0.
template <int D>
void find_own_squares(const SphereRows<D>& rows, std::span<const GroupImpulses<D>> r, std::span<const Real> y,
                      std::span<Real> squares, std::span<Real> own_squares, RollingSweep<D> rolling) {
  rows.kernels().own_squares(rows.groups(), rows.own_scales().data(), r.data(), y.data(), own_squares.data(),
                             rolling);
  for (std::size_t k = 0; k < rows.own_scales().size(); ++k)
    for (std::size_t lane = 0; lane < group_size; ++lane)
      if (rows.own_scales()[k].weight[0][lane] > 0) squares[k * group_size + lane] = 0;
}

}  // namespace

template <int D>
Real natural_residual_of_packed(const ScaledProblem<D>& problem, std::span<const GroupImpulses<D>> r,
                                std::span<const Real> y, RollingSweep<D> rolling) {
  const std::size_t n = r.size() * group_size;
  const LaneGroups& lanes = problem.has_spheres() ? problem.spheres().lanes() : problem.general().lanes();
  const Real of_walls = residual_of_walls(problem, [&](std::size_t c, Real* of_contact, Real* turning) {
    const std::size_t place = lanes.place()[c];
    const std::size_t group = place / group_size, lane = place % group_size;
    for (std::size_t i = 0; i < D; ++i) of_contact[i] = r[group].r[i][lane];
    for (std::size_t i = 0; i < n_turns<D> && rolling.rows != nullptr; ++i)
      turning[i] = rolling.impulses[group].r[i][lane];
  });
  const bool has_own = problem.has_spheres() && !problem.spheres().own_scales().empty();
  const std::span<Real> room = problem.lane_scratch(has_own ? 2 * n : n);
  const std::span<Real> square = room.first(n), own = room.subspan(n);
  if (!problem.has_spheres()) {
    const GeneralRows<D>& rows = problem.general();
    rows.kernels().natural_squares(rows.groups(), r.data(), y.data(), square.data());
  } else if (problem.n_own_of_all() < problem.n_contacts_of_all()) {
    const SphereRows<D>& rows = problem.spheres();
    rows.kernels().natural_squares(rows.groups(), r.data(), y.data(), square.data(), rolling);
  }
  if (has_own) find_own_squares<D>(problem.spheres(), r, y, square, own, rolling);
  return with_walls(problem, norms_of<D>(problem, square, own)[0], of_walls);
}

namespace {

/// Residual::natural for r whose velocities y are known. Collective.
template <int D>
Real natural_residual_of(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<const Real> y) {
  if (problem.n_contacts_of_all() == 0) return 0;
  if (problem.has_spheres())
    return natural_residual_of_packed<D>(problem, problem.packed(r), y, problem.pack_rolling(r));
  const Real of_walls = residual_of_walls(problem, r);
  // The sum reads its terms twice, so they are computed first.
  const std::span<Real> square = problem.scratch(1);
  const auto& rows = problem.contacts();
  for (std::size_t c = 0; c < square.size(); ++c) {
    Real u[D];
    problem.relative_velocity(rows[c], c, r, y, u);
    const Vec<D> e = natural_map<D>(r.data() + c * D, u, rows[c].mu);
    square[c] = dot(e, e);
  }
  return with_walls(problem, norms_of<D>(problem, square, {})[0], of_walls);
}

/// The measures of FCLIB for r whose velocities y are known. Collective.
template <int D>
void find_fclib_norms(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<const Real> y,
                      Residual& residual) {
  const Real velocity = problem.velocity_scale();
  const Real impulse = problem.mass_scale() * velocity;
  const std::size_t n = problem.n_contacts();
  // Sums of squares of the natural map, r and u.
  const std::span<Real> squares = problem.scratch(3);
  problem.with_rows([&](const auto& rows) {
    for (std::size_t c = 0; c < n; ++c) {
      Real u[D], of_r[D];
      problem.relative_velocity(rows[c], c, r, y, u);
      Real* square = &squares[3 * c];
      square[1] = square[2] = 0;
      for (std::size_t k = 0; k < D; ++k) {
        u[k] *= velocity;
        of_r[k] = r[c * D + k] * impulse;
        square[1] += of_r[k] * of_r[k];
        square[2] += u[k] * u[k];
      }
      const Vec<D> e = natural_map<D>(of_r, u, rows[c].mu);
      square[0] = dot(e, e);
    }
  });
  std::array<Real, 3> norm{};
  ReproducibleSum::sum(problem.comm(), n, norm, [&](std::size_t c, std::span<Real> term) {
    std::copy_n(&squares[3 * c], 3, term.begin());
  });
  for (Real& x : norm) x = std::sqrt(x);
  const Real free = problem.free_norm();
  const Real largest = std::max({free, norm[1], norm[2]});
  residual.fclib_absolute = norm[0] / std::max(1.0, free);
  residual.fclib_relative = largest > 0 ? norm[0] / largest : 0;
}

/// find_residual() for r whose velocities y are known. Collective.
template <int D>
Real residual_of(const ScaledProblem<D>& problem, ResidualNorm norm, std::span<const Real> r,
                 std::span<const Real> y) {
  if (norm == ResidualNorm::natural) return natural_residual_of(problem, r, y);
  Residual residual;
  find_fclib_norms(problem, r, y, residual);
  return value_of(residual, norm);
}

}  // namespace

template <int D>
Real find_residual(const ScaledProblem<D>& problem, ResidualNorm norm, std::span<const Real> r,
                   std::span<Real> y) {
  if (problem.has_spheres() && norm == ResidualNorm::natural) {
    const std::span<const GroupImpulses<D>> packed = problem.packed(r);
    const RollingSweep<D> rolling = problem.pack_rolling(r);
    problem.velocity_from_impulse(packed, y, rolling);
    return natural_residual_of_packed<D>(problem, packed, y, rolling);
  }
  problem.velocity_from_impulse(r, y);
  return residual_of<D>(problem, norm, r, y);
}

template <int D>
Real find_residual_of_velocities(const ScaledProblem<D>& problem, ResidualNorm norm, std::span<const Real> r,
                                 std::span<Real> y) {
  problem.make_ghosts_current(y);
  return residual_of<D>(problem, norm, r, y);
}

template <int D>
Residual evaluate_residual(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<Real> y,
                           ResidualNorm norm) {
  Residual residual;
  std::span<const GroupImpulses<D>> packed;
  RollingSweep<D> rolling;
  if (problem.has_spheres())
    problem.velocity_from_impulse(packed = problem.packed(r), y, rolling = problem.pack_rolling(r));
  else
    problem.velocity_from_impulse(r, y);
  if (norm == ResidualNorm::fclib) find_fclib_norms<D>(problem, r, y, residual);
  if (problem.n_contacts_of_all() == 0) return residual;
  const Real of_walls = residual_of_walls(problem, r);
  const bool has_own = problem.has_spheres() && !problem.spheres().own_scales().empty();
  const std::size_t n = problem.lane_scratch().size();
  const std::span<Real> room = problem.lane_scratch(has_own ? 2 * n : n);
  const std::span<Real> square = room.first(n), own = room.subspan(n);
  std::array<Real, SphereRows<D>::n_measures> worst{};
  if (problem.has_spheres()) {
    const SphereRows<D>& rows = problem.spheres();
    rows.kernels().measure(rows.groups(), packed.data(), y.data(), square.data(), worst.data(), rolling);
    if (has_own) find_own_squares<D>(rows, packed, y, square, own, rolling);
  } else {
    const auto& rows = problem.contacts();
    for (std::size_t c = 0; c < rows.size(); ++c) {
      Real u[D];
      problem.relative_velocity(rows[c], c, r, y, u);
      const Real* rc = r.data() + c * D;
      const Real mu = rows[c].mu;
      const Vec<D> e = natural_map<D>(rc, u, mu);
      square[c] = dot(e, e);
      Real work = 0;
      for (int k = 1; k < D; ++k) work += u[k] * rc[k];
      const std::array parts{-u[0], std::max(tangential_norm<D>(rc) - mu * rc[0], -rc[0]),
                             std::abs(u[0] * rc[0]), mu * rc[0] * tangential_norm<D>(u) + work,
                             rows[c].g[0] * rc[0]};
      for (std::size_t k = 0; k < parts.size(); ++k) worst[k] = std::max(worst[k], parts[k]);
    }
  }
  const auto [natural, own_error] = norms_of<D>(problem, square, own);
  residual.natural = with_walls(problem, natural, of_walls);
  residual.own_error = own_error;
  problem.comm().max(worst);
  const Real velocity = problem.velocity_scale();
  const Real impulse = problem.mass_scale() * velocity;
  residual.penetration_rate = worst[0] * velocity;
  residual.cone_violation = worst[1] * impulse;
  residual.complementarity = worst[2] * velocity * impulse;
  residual.dissipation_error = worst[3] * velocity * impulse;
  residual.implied_overlap = worst[4] * velocity * problem.original().time_step;
  return residual;
}

template Real find_residual<2>(const ScaledProblem<2>&, ResidualNorm, std::span<const Real>, std::span<Real>);
template Real find_residual<3>(const ScaledProblem<3>&, ResidualNorm, std::span<const Real>, std::span<Real>);
template Real natural_residual_of_packed<2>(const ScaledProblem<2>&, std::span<const GroupImpulses<2>>,
                                            std::span<const Real>, RollingSweep<2>);
template Real natural_residual_of_packed<3>(const ScaledProblem<3>&, std::span<const GroupImpulses<3>>,
                                            std::span<const Real>, RollingSweep<3>);
template Real find_residual_of_velocities<2>(const ScaledProblem<2>&, ResidualNorm, std::span<const Real>,
                                             std::span<Real>);
template Real find_residual_of_velocities<3>(const ScaledProblem<3>&, ResidualNorm, std::span<const Real>,
                                             std::span<Real>);
template Residual evaluate_residual<2>(const ScaledProblem<2>&, std::span<const Real>, std::span<Real>,
                                       ResidualNorm);
template Residual evaluate_residual<3>(const ScaledProblem<3>&, std::span<const Real>, std::span<Real>,
                                       ResidualNorm);

}  // namespace scree
