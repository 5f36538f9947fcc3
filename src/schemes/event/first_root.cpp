#include "schemes/event/first_root.hpp"

#include <array>

namespace scree {

namespace {

constexpr std::size_t max_coefficients = 5;

/// Numbers in ascending order, few enough to be kept in place.
struct Times {
  std::array<Real, max_coefficients + 1> time{};
  std::size_t count = 0;
  void add(Real t) { time[count++] = t; }
};

Real value(std::span<const Real> p, Real t) {
  Real sum = 0;
  for (std::size_t k = p.size(); k-- > 0;) sum = sum * t + p[k];
  return sum;
}

/// Where p changes sign between two times with values of different sign: the last time at which it has the
/// sign of p(from).
Real bisect(std::span<const Real> p, Real from, Real to) {
  constexpr int max_halvings = 200;  // roots near 0 have many bits to find
  const bool starts_negative = value(p, from) < 0;
  for (int i = 0; i < max_halvings; ++i) {
    const Real middle = 0.5 * (from + to);
    if (middle <= from || middle >= to) break;
    ((value(p, middle) < 0) == starts_negative ? from : to) = middle;
  }
  return from;
}

/// 0, the places in (0, end) where p' changes sign, and end: p is monotone between them.
Times monotone_pieces(std::span<const Real> p, Real end) {
  Times pieces;
  pieces.add(0);
  if (p.size() > 2) {
    std::array<Real, max_coefficients> derivative{};
    for (std::size_t k = 1; k < p.size(); ++k) derivative[k - 1] = static_cast<Real>(k) * p[k];
    const std::span<const Real> dp(derivative.data(), p.size() - 1);
    const Times of_derivative = monotone_pieces(dp, end);
    for (std::size_t i = 0; i + 1 < of_derivative.count; ++i) {
      const Real from = of_derivative.time[i];
      const Real to = of_derivative.time[i + 1];
      if ((value(dp, from) < 0) != (value(dp, to) < 0)) pieces.add(bisect(dp, from, to));
    }
  }
  pieces.add(end);
  return pieces;
}

}  // namespace

Real first_root(std::span<const Real> coefficients, Real end) {
  const Times pieces = monotone_pieces(coefficients, end);
  for (std::size_t i = 0; i + 1 < pieces.count; ++i) {
    const Real from = pieces.time[i];
    const Real to = pieces.time[i + 1];
    const Real at_start = value(coefficients, from);
    const Real at_end = value(coefficients, to);
    if (at_end >= at_start) continue;
    if (at_start <= 0) return from;
    if (at_end < 0) return bisect(coefficients, from, to);
  }
  return HUGE_VAL;
}

}  // namespace scree
