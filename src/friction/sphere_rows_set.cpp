// Compiled once per instruction set, with SCREE_SET naming the set (see friction/CMakeLists.txt).
#include "friction/lane_ends.hpp"
#include "friction/sphere_rows.hpp"

namespace scree::SCREE_SET {

namespace {

/// Cuts x to |x| <= max.
template <int n>
inline void cut_to(Lanes (&x)[n], Lanes max) {
  Lanes square = x[0] * x[0];
  for (int i = 1; i < n; ++i) square += x[i] * x[i];
  const Lanes length = square_root(square);
  const Lanes factor = length > max ? max / length : Lanes{} + 1;
  for (int i = 0; i < n; ++i) x[i] *= factor;
}

/// Cuts r to r_N >= 0, then r_T to |r_T| <= mu r_N.
template <int D>
inline void cut(Lanes (&r)[D], Lanes mu) {
  const Lanes zero{};
  r[0] = r[0] < zero ? zero : r[0];
  const Lanes max = mu * r[0];
  const Lanes square = tangential_square<D>(r);
  const Mask beyond = square > max * max;
  if (!any_less(max * max, square)) return;  // most contacts stick: no root for them
  const Lanes length = square_root(square);
  const Lanes factor = (beyond & (length > max)) ? max / length : zero + 1;
  for (int i = 1; i < D; ++i) r[i] *= factor;
}

/// `width` contacts of a group from place `at` on, with the velocities of both ends.
template <int D, class Number>
struct Contacts {
  Ends<D, Number> a, b;
  const SphereGroup<D>& group;
  std::size_t at;
  Lanes F[D][D], s[2], c[2];

  Contacts(const SphereGroup<D>& of, std::size_t from, Number* y, const RollingSweep<D>& = {})
      : a(y, of.a + from), b(y, of.b + from), group(of), at(from) {
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
  void begin() {}
  void begin_moved(SweepMomentum) {}
  void keep_solution() {}
  void keep_change() {}
  /// The local solution from impulses r (N.2): W is diagonal and the same along all tangents, so r_N comes
  /// first, then r_T.
  void solve(const Lanes (&r)[D], Lanes (&next)[D], Lanes (&change)[D]) const {
    Lanes u[D];
    find_relative_velocity(u);
    for (int i = 0; i < D; ++i)
      next[i] = r[i] - load(group.inverse_W[i > 0] + at) *
                           (u[i] + load(group.w[i] + at) + load(group.g[i > 0] + at) * r[i]);
    cut<D>(next, load(group.mu + at));
    for (int i = 0; i < D; ++i) change[i] = next[i] - r[i];
  }
  /// d . (W + G) d of the change d; inverse_W is 0 in lanes that are not used.
  Lanes square(const Lanes (&change)[D]) const {
    const Lanes zero{};
    Lanes square{};
    for (int side = 0; side < 2; ++side) {
      const Lanes inverse = load(group.inverse_W[side] + at);
      const Lanes part = side == 0 ? change[0] * change[0] : tangential_square<D>(change);
      square += part / (inverse > zero ? inverse : zero + 1);
    }
    return square;
  }
};

/// Resistance of `width` contacts of a group to rolling, in the axes of turning_frame().
template <int D>
struct Rolling {
  static constexpr int n = n_turns<D>;
  Lanes j[2], mu, coupling, inverse_W, inverse_WT;
  const GroupEntry* bias;
  std::size_t at;

  Rolling(const RollingGroup<D>& group, std::size_t place)
      : j{load(group.j[0] + place), load(group.j[1] + place)},
        mu(load(group.mu + place)),
        coupling(load(group.coupling + place)),
        inverse_W(load(group.inverse_W + place)),
        inverse_WT(load(group.inverse_WT + place)),
        bias(group.w),
        at(place) {}
  /// R w.
  template <class Number>
  void find_relative_velocity(const Contacts<D, Number>& x, Lanes (&w)[n]) const {
    Lanes d[n];
    for (int k = 0; k < n; ++k) d[k] = j[1] * x.b.v[D + k] - j[0] * x.a.v[D + k];
    if constexpr (D == 2) {
      w[0] = d[0];
    } else {
      for (int i = 0; i < n; ++i) w[i] = Lanes{};
      for (int k = 0; k < 3; ++k) {
        w[0] += x.F[2][k] * d[k];
        w[1] -= x.F[1][k] * d[k];
        w[2] += x.F[0][k] * d[k];
      }
    }
    for (int i = 0; i < n; ++i) w[i] += load(bias[i] + at);
  }
  /// Adds s / R to velocities that add_impulse() puts back.
  void add(Contacts<D, Real>& x, const Lanes (&change)[n]) const {
    for (int k = 0; k < n; ++k) {
      Lanes turn;
      if constexpr (D == 2)
        turn = change[0];
      else
        turn = x.F[2][k] * change[0] - x.F[1][k] * change[1] + x.F[0][k] * change[2];
      x.a.v[D + k] -= j[0] * turn;
      x.b.v[D + k] += j[1] * turn;
    }
  }
};

/// The same where contacts resist rolling (N.7).
template <int D, class Number>
struct RollingContacts : Contacts<D, Number> {
  using Base = Contacts<D, Number>;
  static constexpr int n = n_turns<D>;
  Rolling<D> rolling;
  GroupImpulses<n>* impulses;
  GroupMomentum<n>* of_sweeps;
  Lanes s[n], next_s[n], change_s[n];

  RollingContacts(const SphereGroup<D>& of, std::size_t from, Number* y, const RollingSweep<D>& of_sweep)
      : Base(of, from, y),
        rolling(*of_sweep.rows, from),
        impulses(of_sweep.impulses),
        of_sweeps(of_sweep.of_sweeps) {}
  void begin() { load_impulse<n>(*impulses, this->at, s); }
  void begin_moved(SweepMomentum momentum) { load_moved<n>(*impulses, *of_sweeps, this->at, momentum, s); }
  void keep_solution() {
    for (int i = 0; i < n; ++i) store(next_s[i], impulses->r[i] + this->at);
  }
  void keep_change() {
    keep_solution();
    for (int i = 0; i < n; ++i) store(change_s[i], of_sweeps->d[i] + this->at);
  }
  /// r_N comes first: nothing that turns changes u_N. Then r_T and s that hold both, if they are within their
  /// limits; else r_T, s and r_T again, each for the other as it is, of which the next sweep goes on. Only
  /// solutions stay as they are.
  void solve(const Lanes (&r)[D], Lanes (&next)[D], Lanes (&change)[D]) {
    constexpr int n_tangents = D - 1;
    Lanes u[D], w[n];
    this->find_relative_velocity(u);
    rolling.find_relative_velocity(*this, w);
    for (int i = 0; i < D; ++i)
      u[i] += load(this->group.w[i] + this->at) + load(this->group.g[i > 0] + this->at) * r[i];
    const Lanes zero{}, inverse_T = load(this->group.inverse_W[1] + this->at);
    const Lanes normal = r[0] - load(this->group.inverse_W[0] + this->at) * u[0];
    next[0] = normal < zero ? zero : normal;
    const Lanes max = load(this->group.mu + this->at) * next[0], max_s = rolling.mu * next[0];
    const Lanes tilt = rolling.coupling * inverse_T;
    Lanes sticking[D], sticking_s[n], square{}, square_s{};
    for (int i = 0; i < n; ++i) {
      sticking_s[i] = i < n_tangents ? s[i] - rolling.inverse_WT * (w[i] - tilt * u[i + 1])
                                     : s[i] - rolling.inverse_W * w[i];
      square_s += sticking_s[i] * sticking_s[i];
    }
    for (int i = 1; i < D; ++i) {
      sticking[i] = r[i] - inverse_T * (u[i] + rolling.coupling * (sticking_s[i - 1] - s[i - 1]));
      square += sticking[i] * sticking[i];
    }
    const Mask holds = (square <= max * max) & (square_s <= max_s * max_s);
    Lanes tangential[n_tangents];
    for (int i = 0; i < n_tangents; ++i) tangential[i] = r[i + 1] - inverse_T * u[i + 1];
    cut_to<n_tangents>(tangential, max);
    for (int i = 0; i < n; ++i) {
      const Lanes by_slip = i < n_tangents ? rolling.coupling * (tangential[i] - r[i + 1]) : zero;
      next_s[i] = s[i] - rolling.inverse_W * (w[i] + by_slip);
    }
    cut_to<n>(next_s, max_s);
    for (int i = 0; i < n_tangents; ++i)
      tangential[i] = r[i + 1] - inverse_T * (u[i + 1] + rolling.coupling * (next_s[i] - s[i]));
    cut_to<n_tangents>(tangential, max);
    for (int i = 0; i < n; ++i) next_s[i] = holds ? sticking_s[i] : next_s[i];
    for (int i = 0; i < n_tangents; ++i) next[i + 1] = holds ? sticking[i + 1] : tangential[i];
    for (int i = 0; i < D; ++i) change[i] = next[i] - r[i];
    for (int i = 0; i < n; ++i) change_s[i] = next_s[i] - s[i];
  }
  void add_impulse(const Lanes (&change)[D]) {
    rolling.add(*this, change_s);
    Base::add_impulse(change);
  }
  Lanes square(const Lanes (&change)[D]) const {
    Lanes square = Base::square(change);
    for (int i = 0; i < n; ++i) {
      square += (rolling.j[0] * rolling.j[0] + rolling.j[1] * rolling.j[1]) * change_s[i] * change_s[i];
      if (i < D - 1) square += 2 * rolling.coupling * change[i + 1] * change_s[i];
    }
    return square;
  }
};

template <int D>
void sweep(std::span<const SphereGroup<D>> groups, GroupImpulses<D>* impulses, Real* y,
           RollingSweep<D> rolling) {
  if (rolling.rows != nullptr)
    sweep_groups<RollingContacts<D, Real>, D>(groups, impulses, y, rolling);
  else
    sweep_groups<Contacts<D, Real>, D>(groups, impulses, y, rolling);
}

template <int D>
Real sweep_on(std::span<const SphereGroup<D>> groups, GroupImpulses<D>* impulses, GroupMomentum<D>* of_sweeps,
              Real* y, SweepMomentum momentum, Real* squares, RollingSweep<D> rolling) {
  if (rolling.rows != nullptr)
    return sweep_groups_on<RollingContacts<D, Real>, D>(groups, impulses, of_sweeps, y, momentum, squares,
                                                        rolling);
  return sweep_groups_on<Contacts<D, Real>, D>(groups, impulses, of_sweeps, y, momentum, squares, rolling);
}

template <int D>
void add(std::span<const SphereGroup<D>> groups, const GroupImpulses<D>* impulses, Real* y,
         RollingSweep<D> rolling) {
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < group_size; at += width) {
      Contacts<D, Real> contacts(group, at, y);
      Lanes r[D];
      load_impulse<D>(*impulses, at, r);
      if (rolling.rows != nullptr) {
        Lanes s[n_turns<D>];
        load_impulse<n_turns<D>>(*rolling.impulses, at, s);
        Rolling<D>(*rolling.rows, at).add(contacts, s);
      }
      contacts.add_impulse(r);
    }
    ++impulses;
    rolling = rolling.from(1);
  }
}

template <int D>
void free_squares(std::span<const SphereGroup<D>> groups, const Real* y, Real* squares) {
  for (const SphereGroup<D>& group : groups)
    for (std::size_t at = 0; at < group_size; at += width, squares += width) {
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

/// The same of resistance to rolling, with what it needs of a Solution.
template <int D>
struct RollingSolution {
  static constexpr int n = n_turns<D>;
  Lanes w[n], s[n], max;

  RollingSolution(const SphereGroup<D>& group, const RollingSweep<D>& rolling, std::size_t at, const Real* y,
                  Lanes normal) {
    const Contacts<D, const Real> contacts(group, at, y);
    const Rolling<D> resists(*rolling.rows, at);
    resists.find_relative_velocity(contacts, w);
    load_impulse<n>(*rolling.impulses, at, s);
    const Lanes zero{};
    max = resists.mu * (normal < zero ? zero : normal);
    // Where nothing turns or nothing resists, w is no error.
    for (int i = 0; i < n; ++i) w[i] = resists.inverse_W > zero ? w[i] : zero;
  }
  /// |s/R - P(s/R - R w)|^2 with P the nearest point of |s/R| <= mu_r r_N (eq. F.6).
  Lanes natural_square() const {
    Lanes x[n], square{};
    for (int i = 0; i < n; ++i) x[i] = s[i] - w[i];
    cut_to<n>(x, max);
    for (int i = 0; i < n; ++i) square += (s[i] - x[i]) * (s[i] - x[i]);
    return square;
  }
};

template <int D>
void natural_squares(std::span<const SphereGroup<D>> groups, const GroupImpulses<D>* impulses, const Real* y,
                     Real* squares, RollingSweep<D> rolling) {
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < group_size; at += width, squares += width) {
      const Solution<D> x(group, *impulses, at, y);
      Lanes square = natural_square<D>(x.r, x.u, x.mu);
      if (rolling.rows != nullptr)
        square += RollingSolution<D>(group, rolling, at, y, x.r[0]).natural_square();
      store(square, squares);
    }
    ++impulses;
    rolling = rolling.from(1);
  }
}

template <int D>
void own_squares(std::span<const SphereGroup<D>> groups, const OwnScales* scales,
                 const GroupImpulses<D>* impulses, const Real* y, Real* squares, RollingSweep<D> rolling) {
  const Lanes zero{};
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < group_size; at += width, squares += width) {
      const Lanes normal = load(scales->weight[0] + at), tangential = load(scales->weight[1] + at);
      Lanes r[D], next[D], change[D], error{};
      load_impulse<D>(*impulses, at, r);
      if (rolling.rows == nullptr) {
        Contacts<D, const Real>(group, at, y).solve(r, next, change);
      } else {
        RollingContacts<D, const Real> x(group, at, y, rolling);
        x.begin();
        x.solve(r, next, change);
        for (int i = 0; i < x.n; ++i) error += x.change_s[i] * x.change_s[i];
        error = normal > zero ? error : zero;
      }
      error +=
          normal * normal * change[0] * change[0] + tangential * tangential * tangential_square<D>(change);
      const Lanes before = r[0] * r[0] + tangential_square<D>(r);
      const Lanes after = next[0] * next[0] + tangential_square<D>(next);
      store(error / (largest(before, after) + load(scales->floor + at)), squares);
    }
    ++impulses;
    ++scales;
    rolling = rolling.from(1);
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
             Real* squares, Real* max, RollingSweep<D> rolling) {
  constexpr auto n = SphereRows<D>::n_measures;
  Lanes worst[n] = {};
  for (const SphereGroup<D>& group : groups) {
    for (std::size_t at = 0; at < group_size; at += width, squares += width) {
      const Solution<D> solution(group, *impulses, at, y);
      const auto& [u, r, mu] = solution;
      Lanes square = natural_square<D>(r, u, mu);
      Lanes work{};
      for (int i = 1; i < D; ++i) work += u[i] * r[i];
      const Lanes product = u[0] * r[0];
      worst[0] = largest(-u[0], worst[0]);
      worst[1] = largest(square_root(tangential_square<D>(r)) - mu * r[0], largest(-r[0], worst[1]));
      worst[2] = largest(product, largest(-product, worst[2]));
      worst[3] = largest(mu * r[0] * square_root(tangential_square<D>(u)) + work, worst[3]);
      worst[4] = largest(load(group.g[0] + at) * r[0], worst[4]);
      if (rolling.rows != nullptr) {
        const RollingSolution<D> x(group, rolling, at, y, r[0]);
        square += x.natural_square();
        Lanes power{}, speed{}, size{};
        for (int i = 0; i < x.n; ++i) {
          power += x.w[i] * x.s[i];
          speed += x.w[i] * x.w[i];
          size += x.s[i] * x.s[i];
        }
        worst[1] = largest(square_root(size) - x.max, worst[1]);
        worst[3] = largest(x.max * square_root(speed) + power, worst[3]);
      }
      store(square, squares);
    }
    ++impulses;
    rolling = rolling.from(1);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (int k = 0; k < width; ++k) max[i] = max[i] < worst[i][k] ? worst[i][k] : max[i];
}

}  // namespace

template <int D>
constexpr typename SphereRows<D>::Kernels of_set{name_of_set,        sweep<D>,       sweep_on<D>,
                                                 take_momentum,      add<D>,         free_squares<D>,
                                                 natural_squares<D>, own_squares<D>, measure<D>};
extern const SphereRows<2>::Kernels sphere_kernels_2d;
extern const SphereRows<3>::Kernels sphere_kernels_3d;
const SphereRows<2>::Kernels sphere_kernels_2d = of_set<2>;
const SphereRows<3>::Kernels sphere_kernels_3d = of_set<3>;

}  // namespace scree::SCREE_SET
