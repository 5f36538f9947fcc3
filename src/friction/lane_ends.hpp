#pragma once
// Groups of contacts, for kernels that are compiled once per instruction set, with SCREE_SET naming the set.
#include <span>

#include "core/lanes.hpp"
#include "friction/lane_groups.hpp"

namespace scree::SCREE_SET {

namespace {

using Mask = std::int64_t __attribute__((vector_size(8 * width)));
static_assert(group_size % width == 0);

/// Numbers 2 p and 2 p + 1 of the velocities of `width` bodies.
inline void load_pair(const Real* const* of_body, int p, Lanes& even, Lanes& odd) {
  const auto part = [&](int k) { return reinterpret_cast<const Half*>(of_body[k])[p]; };
#ifdef __AVX512F__
  const auto four = [&](int k) {
    return __builtin_shufflevector(__builtin_shufflevector(part(k), part(k + 2), 0, 1, 2, 3),
                                   __builtin_shufflevector(part(k + 4), part(k + 6), 0, 1, 2, 3), 0, 1, 2, 3,
                                   4, 5, 6, 7);
  };
  const Lanes first = four(0), second = four(1);
  even = __builtin_shufflevector(first, second, 0, 8, 2, 10, 4, 12, 6, 14);
  odd = __builtin_shufflevector(first, second, 1, 9, 3, 11, 5, 13, 7, 15);
#elif defined(__AVX2__)
  const Lanes first = __builtin_shufflevector(part(0), part(2), 0, 1, 2, 3);
  const Lanes second = __builtin_shufflevector(part(1), part(3), 0, 1, 2, 3);
  even = __builtin_shufflevector(first, second, 0, 4, 2, 6);
  odd = __builtin_shufflevector(first, second, 1, 5, 3, 7);
#else
  even = __builtin_shufflevector(part(0), part(1), 0, 2);
  odd = __builtin_shufflevector(part(0), part(1), 1, 3);
#endif
}
inline void store_pair(Real* const* of_body, int p, Lanes even, Lanes odd) {
  const auto part = [&](int k) -> Half& { return reinterpret_cast<Half*>(of_body[k])[p]; };
#ifdef __AVX512F__
  const Lanes first = __builtin_shufflevector(even, odd, 0, 8, 2, 10, 4, 12, 6, 14);
  const Lanes second = __builtin_shufflevector(even, odd, 1, 9, 3, 11, 5, 13, 7, 15);
  part(0) = __builtin_shufflevector(first, first, 0, 1);
  part(1) = __builtin_shufflevector(second, second, 0, 1);
  part(2) = __builtin_shufflevector(first, first, 2, 3);
  part(3) = __builtin_shufflevector(second, second, 2, 3);
  part(4) = __builtin_shufflevector(first, first, 4, 5);
  part(5) = __builtin_shufflevector(second, second, 4, 5);
  part(6) = __builtin_shufflevector(first, first, 6, 7);
  part(7) = __builtin_shufflevector(second, second, 6, 7);
#elif defined(__AVX2__)
  const Lanes first = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
  const Lanes second = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
  part(0) = __builtin_shufflevector(first, first, 0, 1);
  part(1) = __builtin_shufflevector(second, second, 0, 1);
  part(2) = __builtin_shufflevector(first, first, 2, 3);
  part(3) = __builtin_shufflevector(second, second, 2, 3);
#else
  part(0) = __builtin_shufflevector(even, odd, 0, 2);
  part(1) = __builtin_shufflevector(even, odd, 1, 3);
#endif
}

/// The velocities of one end of `width` contacts, each number of all of them together; one more than needed
/// in the plane.
template <int D, class Number>
struct Ends {
  static constexpr int n_pairs = D == 2 ? 2 : 3;
  Number* of_body[width];
  Lanes v[2 * n_pairs];

  Ends(Number* y, const Index* body) {
    for (int k = 0; k < width; ++k) of_body[k] = y + static_cast<std::size_t>(body[k]) * velocity_width<D>;
    for (int p = 0; p < n_pairs; ++p) load_pair(of_body, p, v[2 * p], v[2 * p + 1]);
  }
  void put() const {
    for (int p = 0; p < n_pairs; ++p) store_pair(of_body, p, v[2 * p], v[2 * p + 1]);
  }
};

/// |x_T|^2.
template <int D>
inline Lanes tangential_square(const Lanes (&x)[D]) {
  Lanes square = x[1] * x[1];
  if constexpr (D == 3) square += x[2] * x[2];
  return square;
}

/// Impulses of `width` contacts of a group.
template <int D>
inline void load_impulse(const GroupImpulses<D>& impulses, std::size_t at, Lanes (&r)[D]) {
  for (int i = 0; i < D; ++i) r[i] = load(impulses.r[i] + at);
}

/// The same with the momentum of the sweeps before, which goes on.
template <int N>
inline void load_moved(const GroupImpulses<N>& impulses, GroupMomentum<N>& of_sweeps, std::size_t at,
                       SweepMomentum momentum, Lanes (&r)[N]) {
  const Lanes beta = Lanes{} + momentum.beta, share = Lanes{} + momentum.share;
  for (int i = 0; i < N; ++i) {
    const Lanes p = beta * load(of_sweeps.p[i] + at);
    r[i] = load(impulses.r[i] + at) + p;
    store(p + share * load(of_sweeps.d[i] + at), of_sweeps.p[i] + at);
  }
}

/// One sweep of block Gauss-Seidel (docs/method.md, eq. N.1-N.3). A Part is made of a group, a place in it, y
/// and `more`, and solves the contacts there from what it has loaded.
template <class Part, int D, class Group, class More>
void sweep_groups(std::span<const Group> groups, GroupImpulses<D>* impulses, Real* y, More more) {
  for (const Group& group : groups) {
    for (std::size_t at = 0; at < group_size; at += width) {
      Part part(group, at, y, more);
      Lanes r[D], next[D], change[D];
      load_impulse<D>(*impulses, at, r);
      part.begin();
      part.solve(r, next, change);
      for (int i = 0; i < D; ++i) store(next[i], impulses->r[i] + at);
      part.keep_solution();
      part.add_impulse(change);
    }
    ++impulses;
    more = more.from(1);
  }
}

/// The same with momentum. squares: d . (W + G) d of each lane, 0 of unused ones. Returns the sum of their
/// SweepChange::terms.
template <class Part, int D, class Group, class More>
Real sweep_groups_on(std::span<const Group> groups, GroupImpulses<D>* impulses, GroupMomentum<D>* of_sweeps,
                     Real* y, SweepMomentum momentum, Real* squares, More more) {
  const Lanes zero{}, unit = zero + momentum.unit;
  const Lanes max = zero + SweepChange::max, to_integer = zero + SweepChange::to_integer;
  Lanes sum{};
  for (const Group& group : groups) {
    for (std::size_t at = 0; at < group_size; at += width, squares += width) {
      Part part(group, at, y, more);
      Lanes r[D], next[D], change[D];
      load_moved<D>(*impulses, *of_sweeps, at, momentum, r);
      part.begin_moved(momentum);
      part.solve(r, next, change);
      part.add_impulse(change);
      for (int i = 0; i < D; ++i) {
        store(next[i], impulses->r[i] + at);
        store(change[i], of_sweeps->d[i] + at);
      }
      part.keep_change();
      const Lanes square = part.square(change);
      store(square, squares);
      const Lanes scaled = square * unit;
      sum += ((scaled < max ? scaled : max) + to_integer) - to_integer;
    }
    ++impulses;
    ++of_sweeps;
    more = more.from(1);
  }
  Real total = 0;
  for (int k = 0; k < width; ++k) total += sum[k];
  return total;
}

/// |r - P_K(r - u^)|^2 (eq. F.6), by the formulas of natural_map() and project_on_cone(), step by step.
template <int D>
inline Lanes natural_square(const Lanes (&r)[D], const Lanes (&u)[D], Lanes mu) {
  Lanes x[D];
  for (int i = 0; i < D; ++i) x[i] = r[i] - u[i];
  x[0] -= mu * square_root(tangential_square<D>(u));
  const Lanes t = square_root(tangential_square<D>(x));
  const Lanes zero{};
  const Mask inside = (x[0] >= zero) & (t <= mu * x[0]);
  const Mask on_edge = mu * t > -x[0];
  const Lanes n = (x[0] + mu * t) / (1 + mu * mu);
  Lanes square{};
  for (int i = 0; i < D; ++i) {
    const Lanes edge = i == 0 ? n : mu * n * (x[i] / t);
    const Lanes e = r[i] - (inside ? x[i] : on_edge ? edge : zero);
    square += e * e;
  }
  return square;
}

}  // namespace

}  // namespace scree::SCREE_SET
