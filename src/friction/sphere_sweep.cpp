#include "friction/sphere_sweep.hpp"

#include <algorithm>
#include <tuple>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/timing.hpp"
#include "friction/residual.hpp"

namespace scree {

#define SCREE_DECLARE_SET(name)                           \
  namespace name {                                        \
  extern const SphereSweep<2>::Kernels sphere_kernels_2d; \
  extern const SphereSweep<3>::Kernels sphere_kernels_3d; \
  }
SCREE_DECLARE_SET(portable)
#ifdef SCREE_WIDE_KERNELS
SCREE_DECLARE_SET(avx2)
#endif
#undef SCREE_DECLARE_SET

template <int D>
std::span<const typename SphereSweep<D>::Kernels* const> available_sphere_kernels() {
  const auto pick = [](const auto&... of_dimensions) { return &std::get<D - 2>(std::tie(of_dimensions...)); };
  static const auto sets = runnable<typename SphereSweep<D>::Kernels>(
      {pick(portable::sphere_kernels_2d, portable::sphere_kernels_3d),
#ifdef SCREE_WIDE_KERNELS
       pick(avx2::sphere_kernels_2d, avx2::sphere_kernels_3d)
#endif
      });
  return sets;
}

template <int D>
void SphereSweep<D>::load(const ScaledProblem<D>& problem, std::span<const Real> r) {
  Scope timer("packing");
  if (!kernels_) kernels_ = &chosen(available_sphere_kernels<D>());
  const auto& rows = problem.sphere_contacts();
  constexpr std::size_t size = SphereGroup<D>::size;
  const Index none = problem.n_held();
  groups_.clear();
  n_in_group_.clear();
  group_first_.assign(1, 0);
  const auto begin_group = [&] {
    SphereGroup<D>& group = groups_.emplace_back();  // zeros
    std::fill_n(group.a, size, none);
    std::fill_n(group.b, size, none);
    n_in_group_.push_back(0);
  };
  const auto meets = [&](const SphereGroup<D>& group, Index body) {
    return body != none && (std::find(group.a, group.a + size, body) != group.a + size ||
                            std::find(group.b, group.b + size, body) != group.b + size);
  };
  const auto pack = [&](Index first, Index last) {
    for (auto contact = static_cast<std::size_t>(first); contact < static_cast<std::size_t>(last);
         ++contact) {
      const auto& row = rows[contact];
      if (groups_.size() == group_first_.back() || n_in_group_.back() == static_cast<Index>(size) ||
          meets(groups_.back(), row.a) || meets(groups_.back(), row.b))
        begin_group();
      SphereGroup<D>& group = groups_.back();
      const auto k = static_cast<std::size_t>(n_in_group_.back()++);
      group.a[k] = row.a;
      group.b[k] = row.b;
      for (std::size_t i = 0; i < D; ++i) {
        for (std::size_t j = 0; j < D; ++j) group.F[i][j][k] = row.F[i][j];
        group.w[i][k] = row.w[i];
        group.r[i][k] = r[contact * D + i];
      }
      for (std::size_t side = 0; side < 2; ++side) {
        group.s[side][k] = row.s[side];
        group.c[side][k] = row.c[side];
        group.inverse_W[side][k] = row.inverse_W[side];
        group.g[side][k] = row.g[side];
      }
      group.mu[k] = row.mu;
    }
    group_first_.push_back(groups_.size());
  };
  problem.for_each_stretch(pack);
}

template <int D>
void SphereSweep<D>::run(const ScaledProblem<D>& problem, SweepTurn turn, std::span<Real> y) {
  Scope timer("nsgs sweep");
  std::size_t stretch = 0;
  problem.run_colours(y, turn, [&](Index, Index) {
    const std::size_t first = group_first_[stretch++];
    kernels_->sweep(std::span(groups_).subspan(first, group_first_[stretch] - first), y.data());
  });
}

template <int D>
Real SphereSweep<D>::run_on(const ScaledProblem<D>& problem, SweepMomentum momentum, std::span<Real> y) {
  Scope timer("nsgs sweep");
  squares_.resize(groups_.size() * SphereGroup<D>::size);
  std::size_t stretch = 0;
  problem.run_colours(y, [&](Index, Index) {
    const std::size_t first = group_first_[stretch++];
    kernels_->sweep_on(std::span(groups_).subspan(first, group_first_[stretch] - first), y.data(), momentum,
                       squares_.data() + first * SphereGroup<D>::size);
  });
  return ReproducibleSum::sum(problem.comm(), squares_);
}

template <int D>
Real SphereSweep<D>::natural_residual(const ScaledProblem<D>& problem, std::span<Real> y) {
  problem.make_ghosts_current(y);
  squares_.resize(groups_.size() * SphereGroup<D>::size);
  kernels_->natural_squares(groups_, y.data(), squares_.data());
  return natural_norm(problem, squares_);
}

template <int D>
void SphereSweep<D>::store(std::span<Real> r) const {
  std::size_t contact = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t k = 0; k < static_cast<std::size_t>(n_in_group_[g]); ++k, ++contact)
      for (std::size_t i = 0; i < D; ++i) r[contact * D + i] = groups_[g].r[i][k];
}

template <int D>
void SphereSweep<D>::replace(std::span<const Real> r) {
  std::size_t contact = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t k = 0; k < static_cast<std::size_t>(n_in_group_[g]); ++k, ++contact)
      for (std::size_t i = 0; i < D; ++i) groups_[g].r[i][k] = r[contact * D + i];
}

template class SphereSweep<2>;
template class SphereSweep<3>;
template std::span<const SphereSweep<2>::Kernels* const> available_sphere_kernels<2>();
template std::span<const SphereSweep<3>::Kernels* const> available_sphere_kernels<3>();

}  // namespace scree
