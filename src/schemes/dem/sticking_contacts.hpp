#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/reset.hpp"
#include "friction/contact_rows.hpp"
#include "friction/linear/constraints.hpp"

namespace scree {

/// What a contact with friction as a constraint remembers: four numbers, all 0 while it is open.
struct ContactMode {
  static constexpr Real open = 0, stick = 1, slip = 2;
  Real kind = open;
  /// World axes. Where it sticks: friction on b [N]; where it slips: the direction in which b slides against
  /// a, a unit vector across the normal (0 without friction).
  Real vector[3] = {};
};

/// The vector of a mode, in D dimensions.
template <int D>
Vec<D> vector_of(const ContactMode& mode) {
  Vec<D> v;
  for (int k = 0; k < D; ++k) v[k] = mode.vector[k];
  return v;
}
template <int D>
void set_mode(ContactMode& mode, Real kind, const Vec<D>& vector) {
  mode = {.kind = kind};
  for (int k = 0; k < D; ++k) mode.vector[k] = vector[k];
}

/// A contact at the present positions and velocities.
template <int D>
struct FrictionContact {
  Index a, b;   // local; b = -1: an obstacle
  Index index;  // in the ContactGraph
  Vec<D> normal;
  Real overlap = 0, distance = 0;  // of the centres; of centre and obstacle
  Real lever_a = 0, lever_b = 0;
  Vec<D> surface_velocity{};  // of the obstacle
  Real friction = 0;          // coefficient
  Real normal_force = 0;
  ContactMode* mode = nullptr;
};

/// Friction of contacts that stick, as constraints t . u = 0 on their slip velocities u along all tangents t
/// (docs/method.md, eq. K.5-K.7): D - 1 rows t . u = surface rate + G v for each. Velocities and
/// accelerations have q numbers per local body.
template <int D>
class StickingContacts {
 public:
  static constexpr std::size_t q = D + n_spins<D>;
  static constexpr std::size_t n_rows = D - 1;  ///< of a contact

  explicit StickingContacts(BodyHalo& halo) {
    rows_.halo = &halo;
    rows_.width = q;
  }
  /// n_local * q: the diagonal of M^-1; 0 holds a velocity fixed.
  std::vector<Real>& inverse_mass() { return rows_.inverse_mass; }
  const Real* inverse_mass_of(std::size_t body) const { return &rows_.inverse_mass[body * q]; }

  /// Takes those of these contacts that stick. Local.
  void find(std::span<const FrictionContact<D>> contacts) {
    rows_.clear();
    places_.clear();
    surface_rate_.clear();
    for (std::size_t s = 0; s < contacts.size(); ++s) {
      const FrictionContact<D>& contact = contacts[s];
      if (contact.mode->kind != ContactMode::stick) continue;
      places_.push_back(s);
      const auto frame = contact_frame<D>(contact.normal);
      for (std::size_t t = 1; t < D; ++t) {
        Real* row = rows_.add(contact.a, contact.b).data();
        write_contact_row<D>(frame[t], contact.lever_a * contact.normal, -1, row);
        if (contact.b >= 0) write_contact_row<D>(frame[t], -contact.lever_b * contact.normal, 1, row + q);
        surface_rate_.push_back(dot(frame[t], contact.surface_velocity));
      }
    }
    for (std::vector<Real>* array : {&right_, &multipliers_, &rate_}) reset(*array, rows_.n_rows());
  }
  /// Their places among the contacts, in the order of rows.
  std::span<const std::size_t> places() const { return places_; }

  /// Friction that keeps them sticking, into their modes, where bodies have accelerations `a` by all other
  /// forces; drift(contact): the part of du/dt that is no acceleration of bodies. Collective.
  template <class Drift>
  ConstraintReport solve(std::span<const FrictionContact<D>> contacts, std::span<const Real> a,
                         Drift&& drift) {
    constexpr Real tolerance = 1e-12;
    rows_.multiply(a, right_);
    for (std::size_t s = 0; s < places_.size(); ++s) {
      const FrictionContact<D>& contact = contacts[places_[s]];
      const Vec<D> more = drift(contact);
      const auto frame = contact_frame<D>(contact.normal);
      for (std::size_t t = 1; t < D; ++t) right_[s * n_rows + t - 1] += dot(frame[t], more);
    }
    const ConstraintReport report = solver_.solve(rows_, right_, multipliers_, {.relative = tolerance});
    for (std::size_t s = 0; s < places_.size(); ++s) {
      const FrictionContact<D>& contact = contacts[places_[s]];
      const auto frame = contact_frame<D>(contact.normal);
      Vec<D> on_b;
      for (std::size_t t = 1; t < D; ++t) on_b -= multipliers_[s * n_rows + t - 1] * frame[t];
      set_mode(*contact.mode, ContactMode::stick, on_b);
    }
    return report;
  }
  /// Adds what that friction does to accelerations. Collective.
  void add_friction(std::span<Real> a) { solver_.add_impulses(rows_, multipliers_, -1, a); }
  /// Largest |t . u| of this rank. Local.
  Real slip(std::span<const Real> v) {
    rows_.multiply(v, rate_);
    Real largest = 0;
    for (std::size_t r = 0; r < rate_.size(); ++r)
      largest = std::max(largest, std::abs(rate_[r] + surface_rate_[r]));
    return largest;
  }
  /// Velocities in which they stick, in the sense of least change; returns the largest |t . u| left.
  /// Collective.
  Real project(std::span<Real> v) { return solver_.project_velocity(rows_, v, surface_rate_).after; }

 private:
  ConstraintRows rows_;
  ConstraintSolver solver_;
  std::vector<std::size_t> places_;
  std::vector<Real> right_, multipliers_;
  std::vector<Real> surface_rate_, rate_;
};

}  // namespace scree
