#pragma once
#include <array>
#include <cstdint>

#include "core/parallel.hpp"

namespace scree {

/// What a block holds that takes time.
enum class Load : std::uint8_t { bodies, pairs, walls, contacts };
inline constexpr std::size_t n_loads = 4;
/// Numbers of bodies, candidate pairs, candidates at walls and contacts, in this order.
using LoadCounts = std::array<std::int64_t, n_loads>;

/// Time that a body, a pair, ... takes in a step, from what ranks had and how long they computed: least
/// squares over ranks and recent lists with non-negative coefficients, held to a first guess where the data
/// do not say. One set of coefficients for the run, so the hiccup of a rank does not pass for load.
///
/// With n the counts of a rank, T its seconds per step, T' their mean over ranks and g the guess, c minimises
///     sum over lists (weight 0.9^age) and ranks of (T - n.c)^2 / T'^2  +  ridge sum_k ((c_k - g_k) n'_k /
///     T')^2.
/// The guess gives bodies, pairs and candidates at walls the same time, and contacts none.
class BlockCosts {
 public:
  explicit BlockCosts(const Comm& comm) : comm_(comm) {}

  /// A list has had its time: this rank had `counts` and computed for `seconds` per step. Collective, two
  /// reductions of a few integers, so all ranks get the same bits.
  void observe(const LoadCounts& counts, Real seconds);
  /// [s], the same on all ranks; zeros before the first observation.
  const std::array<Real, n_loads>& seconds() const { return seconds_; }
  /// Weights of one body, pair, ... as integers, the same on all ranks, the largest 2^20; {1, 1, 0, 0} before
  /// the first observation.
  LoadCounts weights() const;

 private:
  Comm comm_;
  std::array<std::array<Real, n_loads>, n_loads> matrix_{};  // normal equations
  std::array<Real, n_loads> right_{};
  std::array<Real, n_loads> seconds_{};
};

}  // namespace scree
