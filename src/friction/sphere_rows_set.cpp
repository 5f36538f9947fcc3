// Compiled once per instruction set, with SCREE_SET naming the set (see friction/CMakeLists.txt).
#include "friction/lane_ends.hpp"
#include "friction/sphere_rows.hpp"

namespace scree::SCREE_SET {

namespace {

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
void sweep(std::span<const SphereGroup<D>> groups, GroupImpulses<D>* impulses, Real* y) {
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
Real sweep_on(std::span<const SphereGroup<D>> groups, GroupImpulses<D>* impulses, GroupMomentum<D>* of_sweeps,
              Real* y, SweepMomentum momentum, Real* squares) {
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
void add(std::span<const SphereGroup<D>> groups, const GroupImpulses<D>* impulses, Real* y) {
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

  Solution(const SphereGroup<D>& group, const GroupImpulses<D>& impulses, std::size_t at, const Real* y)
      : mu(load(group.mu + at)) {
    const Contacts<D, const Real> contacts(group, at, y);
    contacts.find_relative_velocity(u);
    load_impulse<D>(impulses, at, r);
    for (int i = 0; i < D; ++i) u[i] += load(group.w[i] + at) + load(group.g[i > 0] + at) * r[i];
  }
};

template <int D>
void natural_squares(std::span<const SphereGroup<D>> groups, const GroupImpulses<D>* impulses, const Real* y,
                     Real* squares) {
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width, squares += width) {
      const Solution<D> x(group, *impulses, at, y);
      store(natural_square<D>(x.r, x.u, x.mu), squares);
    }
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
void measure(std::span<const SphereGroup<D>> groups, const GroupImpulses<D>* impulses, const Real* y,
             Real* squares, Real* most) {
  constexpr auto n = SphereRows<D>::n_measures;
  Lanes worst[n] = {};
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < SphereGroup<D>::size; at += width, squares += width) {
      const Solution<D> solution(group, *impulses, at, y);
      const auto& [u, r, mu] = solution;
      store(natural_square<D>(r, u, mu), squares);
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
