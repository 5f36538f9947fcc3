// Contacts of any bodies, eight at a time: the bits of one contact after the other, with any instruction set.
#include "friction/general_rows.hpp"

#include <catch2/catch.hpp>

#include "friction/cone.hpp"
#include "friction/one_contact.hpp"
#include "friction/scaled_problem.hpp"
#include "replay/split_problem.hpp"
#include "support/lattice_problem.hpp"

using namespace scree;

namespace {

Real noise(std::size_t i) {
  return std::sin(12.9898 * static_cast<Real>(i + 1));
}

/// What sweeps change; p, d: momentum and change of the impulses.
struct Sweeping {
  std::vector<Real> r, p, d, y, slip;
};

/// Equations N.1-N.3, N.5 of docs/method.md, one contact after the other. Returns d . (W + G) d of each.
template <int D>
std::vector<Real> plain_sweep(const ScaledProblem<D>& problem, SweepMomentum momentum, Sweeping& x) {
  std::vector<Real> squares;
  for (std::size_t c = 0; c < problem.contacts().size(); ++c) {
    const auto& row = problem.contacts()[c];
    Real* rc = &x.r[c * D];
    Real* d = &x.d[c * D];
    Real W[D][D], rest[D];
    for (std::size_t i = 0; i < D; ++i) {
      const Real moved = momentum.beta * x.p[c * D + i];
      rc[i] += moved;
      x.p[c * D + i] = moved + momentum.share * d[i];
    }
    row.relative_velocity(x.y.data(), rest);
    for (int i = 0; i < D; ++i) {
      rest[i] += row.w[i];
      for (int j = 0; j < D; ++j) {
        rest[i] -= row.W[i][j] * rc[j];
        W[i][j] = row.W[i][j];
      }
      W[i][i] += row.compliance(i);
    }
    const Vec<D> next = solve_one_contact<D>(W, rest, row.mu, x.slip[c]);
    squares.push_back(0);
    for (int i = 0; i < D; ++i) {
      d[i] = next[i] - rc[i];
      rc[i] = next[i];
    }
    for (int i = 0; i < D; ++i) {
      Real along = 0;
      for (int j = 0; j < D; ++j) along += W[i][j] * d[j];
      squares.back() += d[i] * along;
    }
    row.add_impulse(d, x.y.data());
  }
  return squares;
}

/// Pushes the lattice around, so that contacts open, stick and slip; with all kinds of mu and compliance.
template <int D>
FrictionProblem<D> shaken(const SplitProblem<D>& split) {
  FrictionProblem<D> problem = split.problem();
  const std::size_t n = problem.n_contacts();
  problem.compliance.assign(2 * n, 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    problem.mu[c] = c % 5 == 0 ? 0 : 0.3 + 0.2 * noise(c);
    if (c % 3 == 0) problem.compliance[2 * c] = 0.1;
    if (c % 4 == 0) problem.compliance[2 * c + 1] = 0.05;
    // Levers that couple N and T.
    for (std::size_t i = 2 * c * D * FrictionProblem<D>::q; i < 2 * (c + 1) * D * FrictionProblem<D>::q; ++i)
      if (problem.jacobian[i] != 0) problem.jacobian[i] += 0.3 * noise(i);
  }
  for (std::size_t i = 0; i < problem.free_velocity.size(); ++i)
    problem.free_velocity[i] += 0.05 * noise(i + 5);
  return problem;
}

template <int D>
void compare(int n) {
  const SplitProblem<D> split(Comm(), lattice_problem<D>(n));
  const FrictionProblem<D> problem = shaken(split);
  ScaledProblem<D> scaled;
  scaled.rebuild(problem);
  REQUIRE(!scaled.has_spheres());
  REQUIRE(!scaled.general().empty());
  const std::vector<Real> none(scaled.impulse_size());
  const std::vector<Real> y_free = scaled.free_velocity();
  std::vector<Real> start(none.size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = i % D == 0 ? std::abs(noise(i)) : 0.2 * noise(i);

  Sweeping plain{start, none, none, y_free, std::vector<Real>(scaled.contacts().size())};
  std::vector<std::vector<Real>> changes;
  const SweepMomentum in_turn[] = {{0, 0, 0x1p20}, {0, 1, 0x1p30}, {0.5, 1, 0x1p34}, {0.25, 0, 0x1p60}};
  for (int sweep = 0; sweep < 2; ++sweep) plain_sweep(scaled, {}, plain);
  for (const SweepMomentum& momentum : in_turn) changes.push_back(plain_sweep(scaled, momentum, plain));
  int n_open = 0, n_slip = 0, n_stick = 0;
  std::vector<Real> natural;
  for (std::size_t c = 0; c < scaled.contacts().size(); ++c) {
    Real u[D];
    const Real* rc = &plain.r[c * D];
    scaled.relative_velocity(static_cast<Index>(c), plain.r, plain.y, u);
    const Vec<D> e = natural_map<D>(rc, u, problem.mu[c]);
    natural.push_back(dot(e, e));
    ++(rc[0] == 0 ? n_open : plain.slip[c] > 0 ? n_slip : n_stick);
  }
  CHECK(*std::ranges::max_element(natural) > 0);
  CHECK(n_open > 5);
  CHECK(n_slip > 5);
  CHECK(n_stick > 5);

  for (const auto* kernels : available_general_kernels<D>()) {
    INFO(D << "D, " << kernels->instruction_set);
    const GeneralRows<D>& rows = scaled.general();
    const auto groups = rows.groups();
    CHECK(groups.size() < scaled.contacts().size() / 3);
    std::vector<GroupImpulses<D>> r;
    rows.lanes().pack(start, r);
    std::vector<GroupMomentum<D>> of_sweeps(groups.size());
    std::vector<Real> squares(groups.size() * group_size), slip(squares.size()), y = y_free;
    const auto of_contacts = [&](const std::vector<Real>& values) {
      std::vector<Real> listed;
      for (const Index place : rows.lanes().place()) listed.push_back(values[place]);
      return listed;
    };
    for (int sweep = 0; sweep < 2; ++sweep) kernels->sweep(groups, r.data(), slip.data(), y.data());
    for (std::size_t k = 0; k < changes.size(); ++k) {
      const Real sum = kernels->sweep_on(groups, r.data(), of_sweeps.data(), slip.data(), y.data(),
                                         in_turn[k], squares.data());
      CHECK(of_contacts(squares) == changes[k]);
      Real expected = 0;
      for (const Real change : changes[k]) expected += SweepChange::term(change, in_turn[k].unit);
      CHECK(sum == expected);
      CHECK(sum > 0);
    }
    std::vector<Real> r_of_contacts(start.size());
    rows.lanes().template unpack<D>(r, r_of_contacts);
    CHECK(r_of_contacts == plain.r);
    CHECK(y == plain.y);
    CHECK(of_contacts(slip) == plain.slip);
    kernels->natural_squares(groups, r.data(), y.data(), squares.data());
    CHECK(of_contacts(squares) == natural);
  }
}

}  // namespace

TEST_CASE("general contacts in groups: sweeps and residuals have the bits of one contact after the other",
          "[solvers]") {
  compare<2>(9);
  compare<3>(4);
}
