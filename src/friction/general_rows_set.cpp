// Compiled once per instruction set, with SCREE_SET naming the set (see friction/CMakeLists.txt).
#include "friction/general_rows.hpp"
#include "friction/lane_ends.hpp"
#include "friction/one_contact.hpp"

namespace scree::SCREE_SET {

namespace {

/// Numbers of `width` contacts, for LocalSolution.
struct SideBySide {
  using Number = Lanes;
  using Mask = SCREE_SET::Mask;
  static bool any(Mask mask) { return any_less(mask ? Lanes{} - 1 : Lanes{}, Lanes{}); }
  static Lanes root(Lanes x) { return square_root(x); }
};

/// Of each lane from a group on, the guess of its next local solution.
struct Slips {
  Real* slip = nullptr;
  Slips from(std::size_t group) const { return {slip + group * group_size}; }
};

/// `width` contacts of a group from place `at` on, with the velocities of both ends.
template <int D, class Number>
struct Blocks {
  static constexpr int q = n_velocities<D>;
  Ends<D, Number> a, b;
  const GeneralGroup<D>& group;
  std::size_t at;
  Slips slips;
  Lanes W[D][D];  ///< with compliance, once solved

  Blocks(const GeneralGroup<D>& of, std::size_t from, Number* y, Slips guesses = {})
      : a(y, of.a + from), b(y, of.b + from), group(of), at(from), slips(guesses) {}
  void begin() {}
  void begin_moved(SweepMomentum) {}
  void keep_solution() {}
  void keep_change() {}
  Lanes J(int side, int i, int k) const { return load(group.J[side][i][k] + at); }
  /// u = J y, added up as ScaledProblem::Contact does, as is all that follows.
  void find_relative_velocity(Lanes (&u)[D]) const {
    for (int i = 0; i < D; ++i) {
      Lanes sum_a{}, sum_b{};
      for (int k = 0; k < q; ++k) {
        sum_a += J(0, i, k) * a.v[k];
        sum_b += J(1, i, k) * b.v[k];
      }
      u[i] = sum_a + sum_b;
    }
  }
  /// y += J^T change.
  void add_impulse(const Lanes (&change)[D]) {
    for (int k = 0; k < q; ++k) {
      Lanes sum_a{}, sum_b{};
      for (int i = 0; i < D; ++i) {
        sum_a += J(0, i, k) * change[i];
        sum_b += J(1, i, k) * change[i];
      }
      a.v[k] += sum_a;
      b.v[k] += sum_b;
    }
    a.put();
    b.put();
  }
  Lanes compliance(int i) const { return load(group.g[i > 0] + at); }
  /// The local solution from impulses r (N.2).
  void solve(const Lanes (&r)[D], Lanes (&next)[D], Lanes (&change)[D]) {
    Lanes rest[D];
    for (int i = 0, entry = 0; i < D; ++i)
      for (int j = 0; j <= i; ++j) W[i][j] = W[j][i] = load(group.W[entry++] + at);
    find_relative_velocity(rest);
    for (int i = 0; i < D; ++i) {
      rest[i] += load(group.w[i] + at);
      for (int j = 0; j < D; ++j) rest[i] -= W[i][j] * r[j];
    }
    for (int i = 0; i < D; ++i) W[i][i] += compliance(i);
    Lanes alpha = load(slips.slip + at);
    LocalSolution<SideBySide>::find(W, rest, load(group.mu + at), alpha, next);
    store(alpha, slips.slip + at);
    for (int i = 0; i < D; ++i) change[i] = next[i] - r[i];
  }
  /// d . (W + G) d of the change d.
  Lanes square(const Lanes (&change)[D]) const {
    Lanes square{};
    for (int i = 0; i < D; ++i) {
      Lanes along{};
      for (int j = 0; j < D; ++j) along += W[i][j] * change[j];
      square += change[i] * along;
    }
    return square;
  }
};

template <int D>
void sweep(std::span<const GeneralGroup<D>> groups, GroupImpulses<D>* impulses, Real* slip, Real* y) {
  sweep_groups<Blocks<D, Real>, D>(groups, impulses, y, Slips{slip});
}

template <int D>
Real sweep_on(std::span<const GeneralGroup<D>> groups, GroupImpulses<D>* impulses,
              GroupMomentum<D>* of_sweeps, Real* slip, Real* y, SweepMomentum momentum, Real* squares) {
  return sweep_groups_on<Blocks<D, Real>, D>(groups, impulses, of_sweeps, y, momentum, squares, Slips{slip});
}

template <int D>
void natural_squares(std::span<const GeneralGroup<D>> groups, const GroupImpulses<D>* impulses, const Real* y,
                     Real* squares) {
  for (const GeneralGroup<D>& group : groups) {
    for (std::size_t at = 0; at < group_size; at += width, squares += width) {
      const Blocks<D, const Real> blocks(group, at, y);
      Lanes u[D], r[D];
      blocks.find_relative_velocity(u);
      load_impulse<D>(*impulses, at, r);
      for (int i = 0; i < D; ++i) u[i] += load(group.w[i] + at) + blocks.compliance(i) * r[i];
      store(natural_square<D>(r, u, load(group.mu + at)), squares);
    }
    ++impulses;
  }
}

}  // namespace

template <int D>
constexpr
    typename GeneralRows<D>::Kernels of_general_set{name_of_set, sweep<D>, sweep_on<D>, natural_squares<D>};
extern const GeneralRows<2>::Kernels general_kernels_2d;
extern const GeneralRows<3>::Kernels general_kernels_3d;
const GeneralRows<2>::Kernels general_kernels_2d = of_general_set<2>;
const GeneralRows<3>::Kernels general_kernels_3d = of_general_set<3>;

}  // namespace scree::SCREE_SET
