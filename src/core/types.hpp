#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace scree {

using Real = double;
using Index = std::int32_t;     ///< a place in an array of this rank
using GlobalId = std::int64_t;  ///< a body, the same on all ranks and for its whole life

/// A point or direction with D Cartesian components; trivially copyable, so it travels in messages as it is.
template <int D>
struct Vec {
  std::array<Real, D> component{};

  constexpr Real& operator[](int axis) { return component[axis]; }
  constexpr Real operator[](int axis) const { return component[axis]; }

  constexpr Vec& operator+=(const Vec& other) {
    for (int k = 0; k < D; ++k) (*this)[k] += other[k];
    return *this;
  }
  constexpr Vec& operator-=(const Vec& other) {
    for (int k = 0; k < D; ++k) (*this)[k] -= other[k];
    return *this;
  }
  constexpr Vec& operator*=(Real factor) {
    for (int k = 0; k < D; ++k) (*this)[k] *= factor;
    return *this;
  }
  friend constexpr Vec operator+(Vec a, const Vec& b) { return a += b; }
  friend constexpr Vec operator-(Vec a, const Vec& b) { return a -= b; }
  friend constexpr Vec operator-(Vec a) { return a *= -1.0; }
  friend constexpr Vec operator*(Real factor, Vec a) { return a *= factor; }
  friend constexpr Vec operator*(Vec a, Real factor) { return a *= factor; }
  friend constexpr bool operator==(const Vec&, const Vec&) = default;
};

template <int D>
constexpr Real dot(const Vec<D>& a, const Vec<D>& b) {
  Real sum = 0;
  for (int k = 0; k < D; ++k) sum += a[k] * b[k];
  return sum;
}
template <int D>
Real norm(const Vec<D>& a) {
  return std::sqrt(dot(a, a));
}
template <int D>
constexpr Vec<D> filled(Real value) {
  Vec<D> v;
  for (int k = 0; k < D; ++k) v[k] = value;
  return v;
}
/// The axis-aligned unit vector along `axis`.
template <int D>
constexpr Vec<D> unit_vector(int axis, Real length = 1) {
  Vec<D> v;
  v[axis] = length;
  return v;
}
constexpr Vec<3> cross(const Vec<3>& a, const Vec<3>& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

}  // namespace scree
