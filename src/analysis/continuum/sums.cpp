#include "analysis/continuum/sums.hpp"

#include "analysis/contacts.hpp"
#include "particles/packing/region.hpp"
#include "particles/volume.hpp"

namespace scree {

template <int D>
ContinuumGrid<D> ContinuumGrid<D>::make(const Box<D>& box, int axis, Real cell, Real reach) {
  ContinuumGrid grid;
  for (int k = 0; k < D; ++k) {
    grid.active[k] = axis < 0 || axis == k;
    grid.periodic[k] = box.is_periodic(k);
    if (!grid.active[k]) grid.per_area /= box.length(k);
    if (!grid.active[k] || grid.periodic[k]) {
      grid.n[k] = grid.active[k] ? std::max<std::int64_t>(1, std::llround(box.length(k) / cell)) : 1;
      grid.origin[k] = box.lower[k];
      grid.cell[k] = box.length(k) / static_cast<Real>(grid.n[k]);
      continue;
    }
    const Real first = std::floor((box.lower[k] - reach) / cell);
    grid.n[k] = static_cast<std::int64_t>(std::ceil((box.upper[k] + reach) / cell) - first);
    grid.origin[k] = first * cell;
    grid.cell[k] = cell;
  }
  return grid;
}

template <int D>
Real ContinuumTerms<D>::count_unit() const {
  Real unit = 1 / grid.per_area;
  for (const bool active : grid.active)
    if (active) unit *= kernel.width();
  return unit;
}

/// Calls add(sums, weight(index...)) for the cells that the kernel reaches from the segment.
template <int D>
template <class Weight, class Add>
void ContinuumTerms<D>::spread(const Vec<D>& from, const Vec<D>& to, const Weight& weight,
                               const Add& add_to) {
  const Real reach = kernel.reach();
  std::array<std::int64_t, D> first{}, last{};
  for (int axis = 0; axis < D; ++axis) {
    if (!grid.active[axis]) continue;
    // Cells whose middles lie between these.
    const Real low = std::min(from[axis], to[axis]) - reach, high = std::max(from[axis], to[axis]) + reach;
    first[axis] = static_cast<std::int64_t>(std::ceil((low - grid.origin[axis]) / grid.cell[axis] - 0.5));
    last[axis] = static_cast<std::int64_t>(std::floor((high - grid.origin[axis]) / grid.cell[axis] - 0.5));
    if (grid.periodic[axis]) continue;
    first[axis] = std::max<std::int64_t>(first[axis], 0);
    last[axis] = std::min(last[axis], grid.n[axis] - 1);
  }
  // Images through periodic faces are cells beyond the grid, counted on and folded back.
  std::array<std::int64_t, D> at = first;
  for (std::size_t k = 0; k < D; ++k)
    if (first[k] > last[k]) return;
  while (true) {
    std::int64_t cell = 0;
    Vec<D> r{};
    for (int axis = D - 1; axis >= 0; --axis) {
      std::int64_t index = at[axis];
      if (grid.active[axis]) r[axis] = grid.centre(axis, index) - from[axis];
      if (index < 0 || index >= grid.n[axis]) index = (index % grid.n[axis] + grid.n[axis]) % grid.n[axis];
      cell = cell * grid.n[axis] + index;
    }
    const Real w = weight(r);
    if (w != 0) add_to(cell, w);
    std::size_t k = 0;
    while (k < D && ++at[k] > last[k]) {
      at[k] = first[k];
      ++k;
    }
    if (k == D) return;
  }
}

template <int D>
template <std::size_t n>
void ContinuumTerms<D>::add(typename CellSums<D>::Sums& to, std::size_t first,
                            const std::array<Real, n>& terms, Real weight) {
  constexpr Real largest = 0x1p50;
  bool small = true;
  for (std::size_t k = 0; k < n; ++k) {
    const Real term = terms[k] * weight;
    small = small && std::abs(term) < largest;
    if (small) to[first + k] += fixed_point(term);
  }
  fits = fits && small;
}

namespace {

/// The axis of a profile, -1 for a grid along all.
template <int D>
int only_axis(const ContinuumGrid<D>& grid) {
  const auto n_active = std::ranges::count(grid.active, true);
  if (n_active == D) return -1;
  return static_cast<int>(std::ranges::find(grid.active, true) - grid.active.begin());
}

}  // namespace

template <int D>
void ContinuumTerms<D>::body(const Vec<D>& x, Real mass, Real volume, const Vec<D>& v) {
  using P = ContinuumPlaces<D>;
  std::array<Real, P::ends> terms{mass, volume, count_unit()};
  for (int k = 0; k < D; ++k) terms[P::momentum + static_cast<std::size_t>(k)] = mass * v[k];
  std::size_t place = P::flux;
  for_each_symmetric<D>([&](int i, int j) { terms[place++] = mass * v[i] * v[j]; });
  const int axis = only_axis(grid);
  spread(
      x, x,
      [&](const Vec<D>& r) {
        return axis < 0 ? kernel.weight(r) : kernel.weight_along(r[axis]) * grid.per_area;
      },
      [&](std::int64_t cell, Real w) { add(sums.at(cell), 0, terms, share * w); });
}

template <int D>
void ContinuumTerms<D>::contact(const Vec<D>& x, const Vec<D>& branch, const Vec<D>& force,
                                const Vec<D>& normal, bool with_wall) {
  using P = ContinuumPlaces<D>;
  std::array<Real, P::wall - P::contact> terms{};
  std::size_t place = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) terms[place++] = force[i] * branch[j];
  terms[place++] = count_unit();
  for_each_symmetric<D>([&](int i, int j) { terms[place++] = count_unit() * normal[i] * normal[j]; });
  const int axis = only_axis(grid);
  spread(
      x, x + branch,
      [&](const Vec<D>& r) {
        return axis < 0 ? kernel.line(r, branch) : kernel.line_along(r[axis], branch[axis]) * grid.per_area;
      },
      [&](std::int64_t cell, Real w) { add(sums.at(cell), P::contact, terms, share * w); });

  const auto weight = [&](const Vec<D>& r) {
    return axis < 0 ? kernel.weight(r) : kernel.weight_along(r[axis]) * grid.per_area;
  };
  const auto end_at = [&](const Vec<D>& at) {
    spread(at, at, weight, [&](std::int64_t cell, Real w) {
      add(sums.at(cell), P::ends, std::array<Real, 1>{count_unit()}, share * w);
    });
  };
  end_at(x);
  const Vec<D> far = x + branch;
  if (!with_wall) return end_at(far);
  std::array<Real, D> on_body{};
  for (int k = 0; k < D; ++k) on_body[k] = -force[k];
  spread(far, far, weight,
         [&](std::int64_t cell, Real w) { add(sums.at(cell), P::wall, on_body, share * w); });
}

template <int D>
bool add_terms(const State<D>& state, const ContactGraph<D>& contacts, const SmoothingKernel<D>& kernel,
               const ContinuumGrid<D>& grid, Real share, CellSums<D>& sums) {
  const BodyStore<D>& bodies = state.bodies;
  ContinuumTerms<D> terms{kernel, grid, share, sums};
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    terms.body(wrapped(state.box, bodies.position()[i]), bodies.mass()[i],
               body_volume<D>(equal_sphere_radius(state, i)), bodies.velocity()[i]);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Vec<D> force = force_on_b(contacts, c);
    if (force == Vec<D>{}) continue;
    const Vec<D>& x = bodies.position()[contacts.a[c]];
    terms.contact(wrapped(state.box, x), contacts.branch[c], force, contacts.normal[c], contacts.b[c] < 0);
  }
  return terms.fits;
}

template struct ContinuumGrid<2>;
template struct ContinuumGrid<3>;
template struct ContinuumTerms<2>;
template struct ContinuumTerms<3>;
template bool add_terms(const State<2>&, const ContactGraph<2>&, const SmoothingKernel<2>&,
                        const ContinuumGrid<2>&, Real, CellSums<2>&);
template bool add_terms(const State<3>&, const ContactGraph<3>&, const SmoothingKernel<3>&,
                        const ContinuumGrid<3>&, Real, CellSums<3>&);

}  // namespace scree
