// Round contacts, four at a time: the bits of one contact after the other, with any instruction set; and the
// rows that other solvers see.
#include "friction/sphere_rows.hpp"

#include <catch2/catch.hpp>

#include "core/parallel.hpp"
#include "friction/cone.hpp"
#include "friction/friction_solver.hpp"
#include "friction/residual.hpp"
#include "replay/split_problem.hpp"
#include "support/lattice_problem.hpp"

using namespace scree;

namespace {

Real noise(std::size_t i) {
  return std::sin(12.9898 * static_cast<Real>(i + 1));
}

/// The bodies and contacts of `split`, as if all bodies were round, with all kinds of mu and compliance.
template <int D>
FrictionProblem<D> rounded(const SplitProblem<D>& split) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  FrictionProblem<D> problem = split.problem();
  const std::size_t n = problem.n_contacts();
  problem.arm.assign(2 * n, 0.0);
  problem.frame.resize(n);
  problem.compliance.assign(2 * n, 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    const auto ends = std::array{problem.a[c], problem.b[c]};
    const std::size_t seen = ends[1] >= 0 ? 1 : 0;
    for (std::size_t i = 0; i < D; ++i)
      for (int k = 0; k < D; ++k)
        problem.frame[c][i][k] = (seen == 1 ? 1 : -1) *
                                 problem.jacobian[((c * 2 + seen) * D + i) * q + static_cast<std::size_t>(k)];
    for (std::size_t side = 0; side < 2; ++side)
      if (ends[side] >= 0)
        problem.arm[2 * c + side] = 0.4 + 0.1 * noise(static_cast<std::size_t>(ends[side]));
    problem.mu[c] = c % 5 == 0 ? 0 : 0.3 + 0.2 * noise(c);
    if (c % 3 == 0) problem.compliance[2 * c] = 0.1;
    if (c % 4 == 0) problem.compliance[2 * c + 1] = 0.05;
    problem.bias[c * D] = 2e-3 * noise(3 * c);
  }
  problem.jacobian.clear();
  return problem;
}

/// Cuts r to the cone, the normal part first.
template <int D>
void cut(Real* r, Real mu) {
  r[0] = std::max(r[0], 0.0);
  Real square = 0;
  for (int i = 1; i < D; ++i) square += r[i] * r[i];
  const Real max = mu * r[0];
  const Real length = std::sqrt(square);
  if (square > max * max && length > max)
    for (int i = 1; i < D; ++i) r[i] *= max / length;
}

/// What sweeps change.
struct Sweeping {
  std::vector<Real> r, p, d, y;  // p, d: momentum and change of the impulses
};

/// Equations N.1-N.3, N.5 of docs/method.md, one contact after the other. Returns d . (W + G) d of each
/// contact.
template <int D>
std::vector<Real> plain_sweep(const ScaledProblem<D>& problem, SweepMomentum momentum, Sweeping& x) {
  std::vector<Real> squares;
  for (std::size_t c = 0; c < problem.spheres().size(); ++c) {
    const SphereContact<D> row = problem.spheres()[c];
    Real* rc = &x.r[c * D];
    Real u[D], next[D];
    for (std::size_t i = c * D; i < (c + 1) * D; ++i) {
      const Real moved = momentum.beta * x.p[i];
      x.r[i] += moved;
      x.p[i] = moved + momentum.share * x.d[i];
    }
    row.relative_velocity(x.y.data(), u);
    for (int i = 0; i < D; ++i)
      next[i] = rc[i] - row.inverse_W[i > 0] * (u[i] + row.w[i] + row.compliance(i) * rc[i]);
    cut<D>(next, row.mu);
    Real* change = &x.d[c * D];
    for (int i = 0; i < D; ++i) {
      change[i] = next[i] - rc[i];
      rc[i] = next[i];
    }
    row.add_impulse(change, x.y.data());
    Real along_tangents = change[1] * change[1];
    if (D == 3) along_tangents += change[D - 1] * change[D - 1];
    squares.push_back(change[0] * change[0] / row.inverse_W[0] + along_tangents / row.inverse_W[1]);
  }
  return squares;
}

/// The other measures of a residual.
template <int D>
std::array<Real, SphereRows<D>::n_measures> worst_of(const ScaledProblem<D>& problem, const Sweeping& x) {
  std::array<Real, SphereRows<D>::n_measures> worst{};
  for (std::size_t c = 0; c < problem.spheres().size(); ++c) {
    const SphereContact<D> row = problem.spheres()[c];
    Real u[D];
    ScaledProblem<D>::relative_velocity(row, c, x.r, x.y, u);
    const Real* r = &x.r[c * D];
    Real work = 0;
    for (int k = 1; k < D; ++k) work += u[k] * r[k];
    const std::array parts{-u[0], std::max(tangential_norm<D>(r) - row.mu * r[0], -r[0]),
                           std::abs(u[0] * r[0]), row.mu * r[0] * tangential_norm<D>(u) + work,
                           row.g[0] * r[0]};
    for (std::size_t k = 0; k < parts.size(); ++k) worst[k] = std::max(worst[k], parts[k]);
  }
  return worst;
}

template <int D>
void compare(int n) {
  const SplitProblem<D> split(Comm(), lattice_problem<D>(n));
  const FrictionProblem<D> problem = rounded(split);
  ScaledProblem<D> scaled;
  scaled.rebuild(problem);
  REQUIRE(scaled.has_spheres());
  std::vector<Real> start(scaled.impulse_size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = i % D == 0 ? std::abs(noise(i)) : 0.2 * noise(i);
  const std::vector<Real> none(start.size());
  const std::vector<Real> y_free = scaled.free_velocity();

  Sweeping plain{start, none, none, y_free};
  for (std::size_t c = 0; c < scaled.spheres().size(); ++c)
    scaled.spheres()[c].add_impulse(&start[c * D], plain.y.data());
  const std::vector<Real> y_start = plain.y;
  std::vector<std::vector<Real>> changes;
  // Velocities do not get the momentum here: the bits are compared, not the method.
  const SweepMomentum in_turn[] = {{0, 0, 0x1p20}, {0, 1, 0x1p30}, {0.5, 1, 0x1p34}, {0.25, 0, 0x1p60}};
  for (int sweep = 0; sweep < 2; ++sweep) plain_sweep(scaled, {}, plain);
  for (const SweepMomentum& momentum : in_turn) changes.push_back(plain_sweep(scaled, momentum, plain));
  std::vector<Real> natural, of_free;
  for (std::size_t c = 0; c < scaled.spheres().size(); ++c) {
    const SphereContact<D> row = scaled.spheres()[c];
    Real u[D];
    ScaledProblem<D>::relative_velocity(row, c, plain.r, plain.y, u);
    const Vec<D> e = natural_map<D>(&plain.r[c * D], u, row.mu);
    natural.push_back(dot(e, e));
    row.relative_velocity(y_free.data(), u);
    of_free.push_back(0);
    for (int i = 0; i < D; ++i) of_free.back() += (u[i] + row.w[i]) * (u[i] + row.w[i]);
  }
  CHECK(*std::ranges::max_element(natural) > 0);

  for (const auto* kernels : available_sphere_kernels<D>()) {
    INFO(D << "D, " << kernels->instruction_set);
    SphereRows<D>& rows = scaled.spheres();
    rows.use(*kernels);
    const auto groups = rows.groups();
    std::vector<GroupImpulses<D>> r;
    rows.lanes().pack(start, r);
    std::vector<GroupMomentum<D>> of_sweeps(groups.size());
    std::vector<Real> squares(groups.size() * group_size);
    const auto of_contacts = [&] {
      std::vector<Real> values;
      for (const Index place : rows.lanes().place()) values.push_back(squares[place]);
      return values;
    };
    std::vector<Real> y = y_free;
    kernels->free_squares(groups, y.data(), squares.data());
    CHECK(of_contacts() == of_free);
    kernels->add(groups, r.data(), y.data(), {});
    CHECK(y == y_start);
    for (int sweep = 0; sweep < 2; ++sweep) kernels->sweep(groups, r.data(), y.data(), {});
    for (std::size_t k = 0; k < changes.size(); ++k) {
      const Real sum =
          kernels->sweep_on(groups, r.data(), of_sweeps.data(), y.data(), in_turn[k], squares.data(), {});
      CHECK(of_contacts() == changes[k]);
      Real expected = 0;
      for (const Real change : changes[k]) expected += SweepChange::term(change, in_turn[k].unit);
      CHECK(sum == expected);
      CHECK(sum > 0);
    }
    std::vector<Real> r_of_contacts(start.size());
    rows.lanes().template unpack<D>(r, r_of_contacts);
    CHECK(r_of_contacts == plain.r);
    CHECK(y == plain.y);
    kernels->natural_squares(groups, r.data(), y.data(), squares.data(), {});
    CHECK(of_contacts() == natural);
    std::ranges::fill(squares, -1.0);
    std::array<Real, SphereRows<D>::n_measures> largest{};
    kernels->measure(groups, r.data(), y.data(), squares.data(), largest.data(), {});
    CHECK(of_contacts() == natural);
    CHECK(largest == worst_of(scaled, plain));
  }
}

/// Other solvers see the same contacts, as rows of any bodies.
template <int D>
void compare_with_general_rows() {
  const SplitProblem<D> split(Comm(), lattice_problem<D>(3));
  const FrictionProblem<D> problem = rounded(split);
  FrictionProblem<D> general = problem;
  general.arm.clear();
  general.frame.clear();
  constexpr std::size_t block = D * FrictionProblem<D>::q;
  general.jacobian.resize(problem.a.size() * 2 * block);
  for (std::size_t c = 0; c < problem.a.size(); ++c)
    for (std::size_t side = 0; side < 2; ++side)
      problem.find_rows(c, side, &general.jacobian[(c * 2 + side) * block]);
  problem.validate();
  general.validate();
  ScaledProblem<D> round, whole;
  round.rebuild(problem);
  whole.rebuild(general);
  CHECK(round.velocity_scale() == Approx(whole.velocity_scale()).epsilon(1e-14));
  std::vector<Real> r(round.impulse_size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = i % D == 0 ? std::abs(noise(i)) : 0.2 * noise(i);
  std::vector<Real> y_round(round.velocity_size()), y_whole(y_round.size());
  const Residual of_round = evaluate_residual<D>(round, r, y_round, ResidualNorm::natural);
  const Residual of_whole = evaluate_residual<D>(whole, r, y_whole, ResidualNorm::natural);
  for (std::size_t i = 0; i < y_round.size(); ++i) CHECK(y_round[i] == Approx(y_whole[i]).margin(1e-13));
  CHECK(of_round.natural == Approx(of_whole.natural).epsilon(1e-12));
  CHECK(of_round.penetration_rate == Approx(of_whole.penetration_rate).epsilon(1e-12));
  CHECK(of_round.cone_violation == Approx(of_whole.cone_violation).epsilon(1e-12));
  CHECK(of_round.complementarity == Approx(of_whole.complementarity).epsilon(1e-12));
  CHECK(of_round.dissipation_error == Approx(of_whole.dissipation_error).epsilon(1e-12));
  std::vector<Real> v(static_cast<std::size_t>(problem.n_local()) * FrictionProblem<D>::q);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = noise(i + 7);
  for (std::size_t c = 0; c < problem.a.size(); ++c)
    CHECK(norm(problem.relative_velocity(c, v) - general.relative_velocity(c, v)) < 1e-14);
  // Another bias: as made anew.
  FrictionProblem<D> other = problem;
  for (Real& w : other.bias) w = 0.3 * w + 0.01;
  ScaledProblem<D> again, fresh;
  again.rebuild(other);
  for (std::size_t i = 0; i < other.bias.size(); ++i) other.bias[i] = problem.bias[i];
  again.rebuild_bias();
  fresh.rebuild(problem);
  CHECK(again.velocity_scale() == fresh.velocity_scale());
  CHECK(again.free_velocity() == fresh.free_velocity());
  CHECK(again.spheres()[1].w[0] == fresh.spheres()[1].w[0]);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("round contacts: the bits of one after the other", "[solvers]", ((int D), D), 2, 3) {
  for (const int n : {2, 3, 5}) compare<D>(n);
}

TEMPLATE_TEST_CASE_SIG("round contacts: the same as rows of any bodies", "[solvers]", ((int D), D), 2, 3) {
  compare_with_general_rows<D>();
}

namespace {

/// The problem of rounded() with resistance to rolling at most contacts, and obstacles that turn.
template <int D>
FrictionProblem<D> with_rolling(const SplitProblem<D>& split) {
  constexpr std::size_t n = n_turns<D>;
  FrictionProblem<D> problem = rounded(split);
  for (std::size_t c = 0; c < problem.a.size(); ++c) {
    problem.rolling.push_back(c % 7 == 0 ? 0 : 0.1 + 0.05 * noise(c));
    problem.rolling.push_back(0.25 + 0.05 * noise(c + 3));
    const bool at_obstacle = problem.a[c] < 0 || problem.b[c] < 0;
    for (std::size_t k = 0; k < n; ++k)
      problem.spin_bias.push_back(at_obstacle ? 0.02 * noise(c * n + k) : 0);
  }
  return problem;
}

/// |s| - mu_r R r_N, and how far s is from -mu_r R r_N w/|w| or w from 0, at worst.
template <int D>
std::array<Real, 2> rolling_errors(const FrictionProblem<D>& problem, std::span<const Real> r,
                                   std::span<const Real> v) {
  constexpr std::size_t n = n_turns<D>;
  std::array<Real, 2> worst{};
  for (std::size_t c = 0; c < problem.a.size(); ++c) {
    Vec<n_turns<D>> s;
    for (std::size_t k = 0; k < n; ++k) s[static_cast<int>(k)] = r[problem.a.size() * D + c * n + k];
    const Vec<n_turns<D>> w = problem.relative_spin(c, v);
    const Real max = problem.rolling[2 * c] * problem.rolling[2 * c + 1] * r[c * D];
    worst[0] = std::max(worst[0], norm(s) - max);
    worst[1] = std::max(worst[1], max * norm(w) + dot(s, w));
  }
  return worst;
}

template <int D>
void solve_rolling() {
  const SplitProblem<D> split(Comm(), lattice_problem<D>(4));
  const FrictionProblem<D> problem = with_rolling(split);
  std::vector<Real> r(problem.n_impulses()),
      v(static_cast<std::size_t>(problem.n_local()) * FrictionProblem<D>::q);
  const auto solver = make_solver<D>("nsgs");
  const SolveReport report = solve_friction(problem, *solver, {.tolerance = 1e-11}, r, v);
  CHECK(report.converged);
  const auto errors = rolling_errors(problem, r, v);
  CHECK(errors[0] < 1e-13);
  CHECK(errors[1] < 1e-13);
  Real turned = 0;
  for (std::size_t i = problem.a.size() * D; i < r.size(); ++i) turned = std::max(turned, std::abs(r[i]));
  CHECK(turned > 1e-5);
}

template <int D>
void compare_rolling() {
  const SplitProblem<D> split(Comm(), lattice_problem<D>(4));
  const FrictionProblem<D> problem = with_rolling(split);
  ScaledProblem<D> scaled;
  scaled.rebuild(problem);
  std::vector<Real> start(scaled.impulse_size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = 0.2 * std::abs(noise(i));
  std::vector<std::vector<Real>> seen;
  for (const auto* kernels : available_sphere_kernels<D>()) {
    INFO(D << "D, " << kernels->instruction_set);
    SphereRows<D>& rows = scaled.spheres();
    rows.use(*kernels);
    const auto groups = rows.groups();
    std::vector<GroupImpulses<D>> r;
    std::vector<GroupImpulses<n_turns<D>>> s;
    rows.lanes().pack(start, r);
    RollingSweep<D> rolling = scaled.pack_rolling(start, s);
    std::vector<GroupMomentum<D>> of_sweeps(groups.size());
    std::vector<GroupMomentum<n_turns<D>>> of_turns(groups.size());
    rolling.of_sweeps = of_turns.data();
    std::vector<Real> y = scaled.free_velocity(), squares(groups.size() * group_size);
    kernels->add(groups, r.data(), y.data(), rolling);
    kernels->sweep(groups, r.data(), y.data(), rolling);
    const Real sum = kernels->sweep_on(groups, r.data(), of_sweeps.data(), y.data(), {0, 1, 0x1p30},
                                       squares.data(), rolling);
    kernels->sweep_on(groups, r.data(), of_sweeps.data(), y.data(), {0.5, 1, 0x1p34}, squares.data(),
                      rolling);
    std::vector<Real> all(scaled.impulse_size());
    rows.lanes().template unpack<D>(r, all);
    rows.lanes().template unpack<n_turns<D>>(s, std::span(all).subspan(problem.a.size() * D));
    all.insert(all.end(), y.begin(), y.end());
    all.insert(all.end(), squares.begin(), squares.end());
    kernels->natural_squares(groups, r.data(), y.data(), squares.data(), rolling);
    all.insert(all.end(), squares.begin(), squares.end());
    std::array<Real, SphereRows<D>::n_measures> largest{};
    kernels->measure(groups, r.data(), y.data(), squares.data(), largest.data(), rolling);
    all.insert(all.end(), squares.begin(), squares.end());
    all.insert(all.end(), largest.begin(), largest.end());
    all.push_back(sum);
    seen.push_back(all);
    CHECK(seen.back() == seen.front());
  }
}

/// A ball of 1 kg on a floor that is given as seen from below, pressed by 1 N s, with a push along the floor
/// and spins; W is exact in one sweep.
template <int D>
struct OnFloor {
  static constexpr std::size_t q = FrictionProblem<D>::q;
  static constexpr Real k = D == 2 ? 0.5 : 0.4, radius = 0.1;
  SerialHalo halo{Comm(), 1};
  FrictionProblem<D> problem;
  std::vector<Real> r, v = std::vector<Real>(q);

  OnFloor(Real push, Real spin, Real mu_r, Real of_floor = 0) {
    problem.halo = &halo;
    problem.body_id = {0};
    problem.mass.assign(q * q, 0);
    for (std::size_t i = 0; i < q; ++i) problem.mass[i * q + i] = i < D ? 1 : k * radius * radius;
    problem.free_velocity.assign(q, 0);
    problem.free_velocity[0] = push;
    problem.free_velocity[D - 1] = -1;
    problem.free_velocity[q == 3 ? 2 : 4] = spin;
    problem.a = {0};
    problem.b = {-1};
    Vec<D> down;
    down[D - 1] = -1;
    if constexpr (D == 2)
      problem.frame = {{down, {{1, 0}}}};
    else
      problem.frame = {{down, {{1, 0, 0}}, {{0, -1, 0}}}};
    problem.arm = {radius, 0};
    problem.bias.assign(D, 0);
    problem.mu = {0.5};
    problem.rolling = {mu_r, radius};
    problem.spin_bias.assign(n_turns<D>, 0);
    // In turning_frame(): about T2 = -y.
    problem.spin_bias[0] = D == 2 ? of_floor : -of_floor;
    problem.colour_first = {0, 1};
    problem.interior_first = {0};
    r.assign(problem.n_impulses(), 0);
    const auto solver = make_solver<D>("nsgs");
    const SolveReport report = solve_friction(problem, *solver, {.tolerance = 1e-13}, r, v);
    CHECK(report.converged);
    CHECK(report.sweeps <= 3);
  }
  Real spin() const { return v[q == 3 ? 2 : 4]; }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("resistance to rolling: the bits of any instruction set", "[solvers]", ((int D), D), 2,
                       3) {
  compare_rolling<D>();
}

TEMPLATE_TEST_CASE_SIG("resistance to rolling: its law holds in a pile", "[solvers]", ((int D), D), 2, 3) {
  solve_rolling<D>();
}

TEMPLATE_TEST_CASE_SIG("resistance to rolling of one body: closed forms", "[solvers]", ((int D), D), 2, 3) {
  // Rolling towards +x is a negative spin in the plane, a positive one about y in space.
  const Real sense = D == 2 ? -1 : 1, k = OnFloor<D>::k, radius = OnFloor<D>::radius;
  // Below mu_r it stands.
  const OnFloor<D> rests(0.09, 0, 0.1);
  CHECK(std::abs(rests.v[0]) < 1e-14);
  CHECK(std::abs(rests.spin()) < 1e-13);
  CHECK(std::abs(rests.r[D]) == Approx(0.09 * radius).epsilon(1e-12));
  // Above it rolls with the rest: v = (push - mu_r)/(1 + k).
  const OnFloor<D> rolls(0.3, 0, 0.1);
  CHECK(rolls.v[0] == Approx(0.2 / (1 + k)).epsilon(1e-12));
  CHECK(sense * rolls.spin() * radius == Approx(rolls.v[0]).epsilon(1e-12));
  CHECK(std::abs(rolls.r[D]) == Approx(0.1 * radius).epsilon(1e-12));
  // Slips and turns: friction takes 0.5 and turns it, less what resists.
  const OnFloor<D> slips(5, 0, 0.1);
  CHECK(slips.v[0] == Approx(4.5).epsilon(1e-12));
  CHECK(sense * slips.spin() * radius == Approx((0.5 - 0.1) / k).epsilon(1e-12));
  // On a floor that turns with it nothing resists; else it takes the spin of the floor if it can.
  const OnFloor<D> turns(0.1 * sense * 3, 3, 0.2, 3);
  CHECK(turns.spin() == Approx(3).epsilon(1e-12));
  CHECK(std::abs(turns.r[D]) < 1e-14);
}
