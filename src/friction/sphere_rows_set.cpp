// Compiled once per instruction set, with SCREE_SET naming the set (see friction/CMakeLists.txt).
#include "core/lanes.hpp"
#include "friction/sphere_rows.hpp"

namespace scree::SCREE_SET {

namespace {

using Mask = std::int64_t __attribute__((vector_size(8 * width)));
static_assert(SphereGroup<2>::size % width == 0);

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

/// `width` contacts of a group from place `at` on, with the velocities of both ends.
template <int D, class Number>
struct Contacts {
  Ends<D, Number> a, b;
  Lanes F[D][D], s[2], c[2];

  Contacts(const SphereGroup<D>& group, std::size_t at, Number* y) : a(y, group.a + at), b(y, group.b + at) {
    for (int i = 0; i < D; ++i)
      for (int k = 0; k < D; ++k) F[i][k] = load(group.F[i][k] + at);
    for (int side = 0; side < 2; ++side) {
      s[side] = load(group.s[side] + at);
      c[side] = load(group.c[side] + at);
    }
  }
  /// u = J y.
  void find_relative_velocity(Lanes (&u)[D]) const {
    Lanes d[D];
    for (int k = 0; k < D; ++k) d[k] = s[1] * b.v[k] - s[0] * a.v[k];
    for (int i = 0; i < D; ++i) {
      u[i] = F[i][0] * d[0];
      for (int k = 1; k < D; ++k) u[i] += F[i][k] * d[k];
    }
    if constexpr (D == 2) {
      u[1] -= c[0] * a.v[2] + c[1] * b.v[2];
    } else {
      for (int k = 0; k < 3; ++k) {
        const Lanes spin = c[0] * a.v[3 + k] + c[1] * b.v[3 + k];
        u[1] -= F[2][k] * spin;
        u[2] += F[1][k] * spin;
      }
    }
  }
  /// y += J^T change.
  void add_impulse(const Lanes (&change)[D]) {
    for (int k = 0; k < D; ++k) {
      Lanes force = F[0][k] * change[0];
      for (int i = 1; i < D; ++i) force += F[i][k] * change[i];
      a.v[k] -= s[0] * force;
      b.v[k] += s[1] * force;
    }
    if constexpr (D == 2) {
      a.v[2] -= c[0] * change[1];
      b.v[2] -= c[1] * change[1];
    } else {
      for (int k = 0; k < 3; ++k) {
        const Lanes torque = F[1][k] * change[2] - F[2][k] * change[1];
        a.v[3 + k] += c[0] * torque;
        b.v[3 + k] += c[1] * torque;
      }
    }
    a.put();
    b.put();
  }
};

/// |x_T|^2.
template <int D>
inline Lanes tangential_square(const Lanes (&x)[D]) {
  Lanes square = x[1] * x[1];
  if constexpr (D == 3) square += x[2] * x[2];
  return square;
}

/// Cuts r to r_N >= 0, then r_T to |r_T| <= mu r_N.
template <int D>
inline void cut(Lanes (&r)[D], Lanes mu) {
  const Lanes zero{};
  r[0] = r[0] < zero ? zero : r[0];
  const Lanes most = mu * r[0];
  const Lanes square = tangential_square<D>(r);
  const Mask beyond = square > most * most;
  if (!any_less(most * most, square)) return;  // most contacts stick: no root for them
  const Lanes length = square_root(square);
  const Lanes factor = (beyond & (length > most)) ? most / length : zero + 1;
  for (int i = 1; i < D; ++i) r[i] *= factor;
}

/// Impulses of `width` contacts of a group.
template <int D>
inline void load_impulse(const SphereImpulses<D>& impulses, std::size_t at, Lanes (&r)[D]) {
  for (int i = 0; i < D; ++i) r[i] = load(impulses.r[i] + at);
}

/// The local solution from impulses r (N.2): W is diagonal and the same along all tangents, so r_N comes
/// first, then r_T.
template <int D>
inline void solve(const SphereGroup<D>& group, std::size_t at, const Contacts<D, Real>& contacts,
                  const Lanes (&r)[D], Lanes (&next)[D], Lanes (&change)[D]) {
  Lanes u[D];
  contacts.find_relative_velocity(u);
  for (int i = 0; i < D; ++i)
    next[i] = r[i] - load(group.inverse_W[i > 0] + at) *
                         (u[i] + load(group.w[i] + at) + load(group.g[i > 0] + at) * r[i]);
  cut<D>(next, load(group.mu + at));
  for (int i = 0; i < D; ++i) change[i] = next[i] - r[i];
}

template <int D>
void sweep(std::span<const SphereGroup<D>> groups, SphereImpulses<D>* impulses, Real* y) {
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width) {
      Contacts<D, Real> contacts(group, at, y);
      Lanes r[D], next[D], change[D];
      load_impulse<D>(*impulses, at, r);
      solve<D>(group, at, contacts, r, next, change);
      for (int i = 0; i < D; ++i) store(next[i], impulses->r[i] + at);
      contacts.add_impulse(change);
    }
    ++impulses;
  }
}

template <int D>
Real sweep_on(std::span<const SphereGroup<D>> groups, SphereImpulses<D>* impulses,
              SphereMomentum<D>* of_sweeps, Real* y, SweepMomentum momentum, Real* squares) {
  const Lanes zero{};
  const Lanes beta = zero + momentum.beta, share = zero + momentum.share, unit = zero + momentum.unit;
  const Lanes most = zero + SweepChange::most, to_integer = zero + SweepChange::to_integer;
  Lanes sum{};
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width, squares += width) {
      Contacts<D, Real> contacts(group, at, y);
      Lanes r[D], next[D], change[D];
      for (int i = 0; i < D; ++i) {
        const Lanes p = beta * load(of_sweeps->p[i] + at);
        r[i] = load(impulses->r[i] + at) + p;
        store(p + share * load(of_sweeps->d[i] + at), of_sweeps->p[i] + at);
      }
      solve<D>(group, at, contacts, r, next, change);
      contacts.add_impulse(change);
      for (int i = 0; i < D; ++i) {
        store(next[i], impulses->r[i] + at);
        store(change[i], of_sweeps->d[i] + at);
      }
      // d . (W + G) d; inverse_W is 0 in lanes that are not used.
      Lanes square{};
      for (int side = 0; side < 2; ++side) {
        const Lanes inverse = load(group.inverse_W[side] + at);
        const Lanes part = side == 0 ? change[0] * change[0] : tangential_square<D>(change);
        square += part / (inverse > zero ? inverse : zero + 1);
      }
      store(square, squares);
      const Lanes scaled = square * unit;
      sum += ((scaled < most ? scaled : most) + to_integer) - to_integer;
    }
    ++impulses;
    ++of_sweeps;
  }
  Real total = 0;
  for (int k = 0; k < width; ++k) total += sum[k];
  return total;
}

template <int D>
void add(std::span<const SphereGroup<D>> groups, const SphereImpulses<D>* impulses, Real* y) {
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width) {
      Contacts<D, Real> contacts(group, at, y);
      Lanes r[D];
      load_impulse<D>(*impulses, at, r);
      contacts.add_impulse(r);
    }
    ++impulses;
  }
}

template <int D>
void free_squares(std::span<const SphereGroup<D>> groups, const Real* y, Real* squares) {
  for (const SphereGroup<D>& group : groups)
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width, squares += width) {
      const Contacts<D, const Real> contacts(group, at, y);
      Lanes u[D], square{};
      contacts.find_relative_velocity(u);
      for (int i = 0; i < D; ++i) {
        u[i] += load(group.w[i] + at);
        square += u[i] * u[i];
      }
      store(square, squares);
    }
}

/// Relative velocities and impulses of `width` contacts.
template <int D>
struct Solution {
  Lanes u[D], r[D], mu;

  Solution(const SphereGroup<D>& group, const SphereImpulses<D>& impulses, std::size_t at, const Real* y)
      : mu(load(group.mu + at)) {
    const Contacts<D, const Real> contacts(group, at, y);
    contacts.find_relative_velocity(u);
    load_impulse<D>(impulses, at, r);
    for (int i = 0; i < D; ++i) u[i] += load(group.w[i] + at) + load(group.g[i > 0] + at) * r[i];
  }
  /// The formulas of natural_map() and project_on_cone(), step by step.
  Lanes natural_square() const {
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
};

template <int D>
void natural_squares(std::span<const SphereGroup<D>> groups, const SphereImpulses<D>* impulses, const Real* y,
                     Real* squares) {
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width, squares += width)
      store(Solution<D>(group, *impulses, at, y).natural_square(), squares);
    ++impulses;
  }
}

void take_momentum(std::size_t n, SweepMomentum momentum, Real* y, Real* p, Real* start) {
  for (std::size_t i = 0; i < n; ++i) {
    const Real moved = momentum.beta * p[i];
    p[i] = moved + momentum.share * (y[i] - start[i]);
    y[i] += moved;
    start[i] = y[i];
  }
}

template <int D>
void measure(std::span<const SphereGroup<D>> groups, const SphereImpulses<D>* impulses, const Real* y,
             Real* squares, Real* most) {
  constexpr auto n = SphereRows<D>::n_measures;
  Lanes worst[n] = {};
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width, squares += width) {
      const Solution<D> solution(group, *impulses, at, y);
      const auto& [u, r, mu] = solution;
      store(solution.natural_square(), squares);
      Lanes work{};
      for (int i = 1; i < D; ++i) work += u[i] * r[i];
      const Lanes product = u[0] * r[0];
      worst[0] = largest(-u[0], worst[0]);
      worst[1] = largest(square_root(tangential_square<D>(r)) - mu * r[0], largest(-r[0], worst[1]));
      worst[2] = largest(product, largest(-product, worst[2]));
      worst[3] = largest(mu * r[0] * square_root(tangential_square<D>(u)) + work, worst[3]);
      worst[4] = largest(load(group.g[0] + at) * r[0], worst[4]);
    }
    ++impulses;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (int k = 0; k < width; ++k) most[i] = most[i] < worst[i][k] ? worst[i][k] : most[i];
}

}  // namespace

template <int D>
constexpr
    typename SphereRows<D>::Kernels of_set{name_of_set, sweep<D>,        sweep_on<D>,        take_momentum,
                                           add<D>,      free_squares<D>, natural_squares<D>, measure<D>};
extern const SphereRows<2>::Kernels sphere_kernels_2d;
extern const SphereRows<3>::Kernels sphere_kernels_3d;
const SphereRows<2>::Kernels sphere_kernels_2d = of_set<2>;
const SphereRows<3>::Kernels sphere_kernels_3d = of_set<3>;

}  // namespace scree::SCREE_SET
