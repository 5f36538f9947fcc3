// How ScaledProblem packs contacts of round bodies.
#include <algorithm>

#include "friction/scaled_problem.hpp"

namespace scree {

/// With v_c = 1.
template <int D>
void ScaledProblem<D>::build_spheres() {
  const FrictionProblem<D>& problem = *problem_;
  spheres_.begin(n_local());
  for_each_stretch([&](Index first, Index last) {
    for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c) {
      const auto [a, b] = ends_of(c);
      if (problem.wall_of(c) >= 0)
        spheres_.defer();
      else
        fill_sphere(c, spheres_.add(a, b));
    }
    spheres_.end_stretch();
  });
  for_each_wall_stretch(
      [&](std::size_t c) {
        const auto [a, b] = ends_of(c);
        fill_sphere(c, spheres_.add(c, a, b));
      },
      [&] { spheres_.end_stretch(); });
  if (problem.rolls()) set_spin_bias();
}

template <int D>
void ScaledProblem<D>::fill_sphere(std::size_t c, std::size_t place) {
  const FrictionProblem<D>& problem = *problem_;
  SphereGroup<D>& group = spheres_.group(place);
  const std::size_t lane = place % group_size;
  const auto body = ends_of(c);
  Real along_normal = 0;
  Real by_spin = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto [by_push, by_turn] = roots_.answer_of_sphere(static_cast<std::size_t>(body[side]));
    const Real s = group.s[side][lane] = by_push;
    const Real t = group.c[side][lane] = by_turn * problem.arm[2 * c + side];
    along_normal += s * s;
    by_spin += t * t;
  }
  for (std::size_t side = 0; side < 2 && !problem.compliance.empty(); ++side)
    group.g[side][lane] = mass_scale_ * problem.compliance[2 * c + side];
  group.inverse_W[0][lane] = 1 / (along_normal + group.g[0][lane]);
  group.inverse_W[1][lane] = 1 / (along_normal + by_spin + group.g[1][lane]);
  const auto& frame = problem.frame[c];
  for (std::size_t i = 0; i < D; ++i) {
    for (std::size_t k = 0; k < D; ++k) group.F[i][k][lane] = frame[i][static_cast<int>(k)];
    group.w[i][lane] = bias(c, i);
  }
  group.mu[lane] = problem.mu[c];
  if (problem.rolls()) add_rolling(c, place);
}

template <int D>
void ScaledProblem<D>::add_rolling(std::size_t c, std::size_t place) {
  auto& groups = spheres_.rolling();
  groups.resize(spheres_.groups().size());  // zeros
  const Real mu = problem_->rolling[2 * c], radius = problem_->rolling[2 * c + 1];
  const SphereGroup<D>& of_contact = spheres_.group(place);
  RollingGroup<D>& group = groups[place / group_size];
  const std::size_t lane = place % group_size;
  Real j[2], W = 0, coupling = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    const Index body = (side == 0 ? of_contact.a : of_contact.b)[lane];
    j[side] = problem_->arm[2 * c + side] > 0
                  ? roots_.answer_of_sphere(static_cast<std::size_t>(body))[1] * radius
                  : 0;
    W += j[side] * j[side];
    coupling += (side == 0 ? 1 : -1) * of_contact.c[side][lane] * j[side];
  }
  if (mu == 0 || W == 0) return;
  for (std::size_t side = 0; side < 2; ++side) group.j[side][lane] = j[side];
  group.mu[lane] = mu;
  group.coupling[lane] = coupling;
  group.inverse_W[lane] = 1 / W;
  group.inverse_WT[lane] = 1 / (W - coupling * coupling * of_contact.inverse_W[1][lane]);
}

/// With v_c = 1.
template <int D>
void ScaledProblem<D>::set_spin_bias() {
  for (std::size_t c = 0; c < spheres_.size(); ++c) set_spin_bias(c, 1);
}

/// In units of `unit`.
template <int D>
void ScaledProblem<D>::set_spin_bias(std::size_t c, Real unit) const {
  constexpr std::size_t n = n_turns<D>;
  const std::size_t place = spheres_.lanes().place()[c];
  for (std::size_t k = 0; k < n; ++k) {
    Real spin = problem_->spin_bias[c * n + k];
    problem_->at_walls.for_each_row(c, [&](std::size_t direction, std::size_t row) {
      spin += problem_->at_walls.turn[row * n + k] * walls_[direction].velocity;
    });
    spheres_.rolling()[place / group_size].w[k][place % group_size] =
        problem_->rolling[2 * c + 1] * spin / unit;
  }
}

template void ScaledProblem<2>::build_spheres();
template void ScaledProblem<3>::build_spheres();
template void ScaledProblem<2>::set_spin_bias();
template void ScaledProblem<3>::set_spin_bias();
template void ScaledProblem<2>::set_spin_bias(std::size_t, Real) const;
template void ScaledProblem<3>::set_spin_bias(std::size_t, Real) const;

}  // namespace scree
