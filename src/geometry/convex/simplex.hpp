#pragma once
#include "core/types.hpp"

namespace scree {

/// A corner of the difference a - b of two cores, and the corners it comes from.
template <int D>
struct Difference {
  Vec<D> w;
  int a = 0, b = 0;
};

/// Up to D + 1 corners of a - b, and weights of the point of their hull that is closest to 0. Weights are at
/// least 0 and sum to 1 but for round-off, so that closest() is a point of a - b and its length a bound of
/// the distance from above, however thin the simplex.
template <int D>
class Simplex {
 public:
  int size() const { return n_; }
  const Difference<D>& operator[](int i) const { return corner_[i]; }
  Real weight(int i) const { return weight_[i]; }

  bool has(const Difference<D>& other) const {
    for (int i = 0; i < n_; ++i)
      if ((*this)[i].a == other.a && (*this)[i].b == other.b) return true;
    return false;
  }
  Vec<D> closest() const {
    Vec<D> sum;
    for (int i = 0; i < n_; ++i) sum += weight(i) * (*this)[i].w;
    return sum;
  }
  /// Adds a corner and keeps the corners of the part that is closest to 0; false if 0 is inside, which leaves
  /// D + 1 corners.
  bool add(const Difference<D>& next);

 private:
  void set(int i, const Difference<D>& corner, Real weight) {
    corner_[i] = corner;
    weight_[i] = weight;
  }
  void be_point(const Difference<D>& p) { set(0, p, 1), n_ = 1; }
  void be_segment(const Difference<D>& p, const Difference<D>& q, Real share_of_q) {
    set(0, p, 1 - share_of_q), set(1, q, share_of_q), n_ = 2;
  }
  void close_on_segment(const Difference<D>& p, const Difference<D>& q);
  void close_on_triangle(const Difference<D>& p, const Difference<D>& q, const Difference<D>& r);
  bool close_on_tetrahedron(const Difference<D>& p, const Difference<D>& q, const Difference<D>& r,
                            const Difference<D>& s);

  std::array<Difference<D>, D + 1> corner_;
  std::array<Real, D + 1> weight_{};
  int n_ = 0;
};

template <int D>
void Simplex<D>::close_on_segment(const Difference<D>& p, const Difference<D>& q) {
  const Vec<D> along = q.w - p.w;
  const Real share = -dot(p.w, along), whole = dot(along, along);
  if (!(share > 0)) return be_point(p);
  if (share >= whole) return be_point(q);
  be_segment(p, q, share / whole);
}

// The regions of a triangle's corners, sides and inside, by the signs of projections on its sides and of the
// areas that 0 makes with them.
template <int D>
void Simplex<D>::close_on_triangle(const Difference<D>& p, const Difference<D>& q, const Difference<D>& r) {
  const Vec<D> pq = q.w - p.w, pr = r.w - p.w;
  const Real p_q = -dot(pq, p.w), p_r = -dot(pr, p.w);
  if (p_q <= 0 && p_r <= 0) return be_point(p);
  const Real q_q = -dot(pq, q.w), q_r = -dot(pr, q.w);
  if (q_q >= 0 && q_r <= q_q) return be_point(q);
  const Real r_q = -dot(pq, r.w), r_r = -dot(pr, r.w);
  if (r_r >= 0 && r_q <= r_r) return be_point(r);
  const Real area_r = p_q * q_r - q_q * p_r;
  if (area_r <= 0 && p_q >= 0 && q_q <= 0) return be_segment(p, q, p_q / (p_q - q_q));
  const Real area_q = r_q * p_r - p_q * r_r;
  if (area_q <= 0 && p_r >= 0 && r_r <= 0) return be_segment(p, r, p_r / (p_r - r_r));
  const Real area_p = q_q * r_r - r_q * q_r, to_r = q_r - q_q, to_q = r_q - r_r;
  if (area_p <= 0 && to_r >= 0 && to_q >= 0) return be_segment(q, r, to_r / (to_r + to_q));
  const Real whole = area_p + area_q + area_r;
  // Round-off makes a thin triangle look like none of this: its longest side will do.
  if (!(area_p > 0 && area_q > 0 && area_r > 0)) return close_on_segment(p, r);
  set(0, p, area_p / whole), set(1, q, area_q / whole), set(2, r, area_r / whole), n_ = 3;
}

// 0 can be beyond the faces at the new corner s only.
template <int D>
bool Simplex<D>::close_on_tetrahedron(const Difference<D>& p, const Difference<D>& q, const Difference<D>& r,
                                      const Difference<D>& s) {
  if constexpr (D == 3) {
    const Vec<3> sp = p.w - s.w, sq = q.w - s.w, sr = r.w - s.w;
    const Vec<3> pq = cross(sp, sq), qr = cross(sq, sr), rp = cross(sr, sp);
    const Real whole = dot(sp, qr);
    Simplex best;
    Real min = HUGE_VAL;
    const auto meet = [&](const Difference<3>& x, const Difference<3>& y) {
      Simplex face;
      face.close_on_triangle(x, y, s);
      const Vec<3> v = face.closest();
      if (dot(v, v) < min) min = dot(v, v), best = face;
    };
    // Seen from s, 0 is at -s.w: beyond a face if it is not on the side of the remaining corner.
    if (dot(s.w, pq) * whole >= 0) meet(p, q);
    if (dot(s.w, qr) * whole >= 0) meet(q, r);
    if (dot(s.w, rp) * whole >= 0) meet(r, p);
    if (min == HUGE_VAL) return false;
    *this = best;
    return true;
  }
  return false;
}

template <int D>
bool Simplex<D>::add(const Difference<D>& next) {
  const std::array<Difference<D>, D + 1> old = corner_;
  if (n_ == 0) return be_point(next), true;
  if (n_ == 1) return close_on_segment(old[0], next), true;
  if (n_ == 2) {
    close_on_triangle(old[0], old[1], next);
    return D == 3 || n_ < 3;
  }
  if constexpr (D == 3) return close_on_tetrahedron(old[0], old[1], old[2], next);
  return false;
}

}  // namespace scree
