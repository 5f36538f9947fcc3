#include "replay/round_form.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

namespace {

constexpr Real round_off = 1e-12;  // relative

/// Whether the mass is m I, J I.
template <int D>
bool is_round_mass(const Real* block) {
  constexpr int q = FrictionProblem<D>::q;
  for (int i = 0; i < q; ++i)
    for (int j = 0; j < q; ++j) {
      const Real expected = i != j ? 0 : block[i < D ? 0 : q * q - 1];
      if (std::abs(block[i * q + j] - expected) > round_off * expected) return false;
    }
  return true;
}

/// Frame and levers of contact c of `round` from the rows of a general problem; whether these are the same.
template <int D>
bool find_frame(const FrictionProblem<D>& general, std::size_t c, FrictionProblem<D>& round) {
  constexpr int q = FrictionProblem<D>::q;
  const Index ends[2] = {general.a[c], general.b[c]};
  const auto rows_of = [&](std::size_t side) { return &general.jacobian[(c * 2 + side) * D * q]; };
  const std::size_t seen = ends[1] >= 0 ? 1 : 0;
  const Real sign = seen == 1 ? 1 : -1;
  auto& frame = round.frame[c];
  for (int i = 0; i < D; ++i)
    for (int k = 0; k < D; ++k) frame[i][k] = sign * rows_of(seen)[i * q + k];
  for (std::size_t i = 0; i < D; ++i)
    for (std::size_t j = 0; j < D; ++j)
      if (std::abs(dot(frame[i], frame[j]) - (i == j ? 1 : 0)) > round_off) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    if (ends[side] < 0) continue;
    // Row T1 turns with -R n x T1, which is -R T2; in the plane with -R.
    const Real* turn = rows_of(side) + q + D;
    Real lever = 0;
    if constexpr (D == 2)
      lever = -turn[0];
    else
      for (int k = 0; k < 3; ++k) lever -= turn[k] * frame[2][k];
    round.arm[2 * c + side] = lever;
    Real rows[D * q];
    round.find_rows(c, side, rows);
    for (int k = 0; k < D * q; ++k)
      if (std::abs(rows[k] - rows_of(side)[k]) > round_off * std::max(1.0, std::abs(lever))) return false;
  }
  return true;
}

}  // namespace

template <int D>
bool take_round_form(FrictionProblem<D>& problem) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  FrictionProblem<D> round;
  round.a = problem.a;
  round.b = problem.b;
  round.frame.resize(problem.a.size());
  round.arm.assign(2 * problem.a.size(), 0.0);
  bool is_round = true;
  for (std::size_t i = 0; i < problem.mass.size() / (q * q) && is_round; ++i)
    is_round = is_round_mass<D>(&problem.mass[i * q * q]);
  for (std::size_t c = 0; c < problem.a.size() && is_round; ++c) is_round = find_frame(problem, c, round);
  if (!problem.halo->comm().all(is_round)) return false;
  problem.frame = std::move(round.frame);
  problem.arm = std::move(round.arm);
  problem.jacobian.clear();
  return true;
}

template bool take_round_form<2>(FrictionProblem<2>&);
template bool take_round_form<3>(FrictionProblem<3>&);

}  // namespace scree
