#include "schemes/dem/constraint_friction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "schemes/common/contact_pair.hpp"
#include "schemes/common/overlap.hpp"
#include "schemes/common/rotation.hpp"
#include "state/force_field.hpp"

namespace scree {

namespace {

/// Slip of sticking contacts at the start that is reported, as a share of the speeds in the run.
constexpr Real notable_slip = 1e-6;

/// n x force.
template <int D>
Spin<D> torque_of(const Vec<D>& n, const Vec<D>& force) {
  if constexpr (D == 2)
    return {{n[0] * force[1] - n[1] * force[0]}};
  else
    return cross(n, force);
}

}  // namespace

template <int D>
ConstraintFriction<D>::ConstraintFriction(State<D>& state, Neighborhood<D>& neighborhood,
                                          const Settings& settings)
    : state_(state),
      neighborhood_(neighborhood),
      halo_(neighborhood.ghosts()),
      settings_(settings),
      integrator_(make_integrator<D>(settings.integrator)),
      kernels_(force_kernels().of(settings.law, TangentialLaw::whole)),
      sticking_(halo_) {
  laws_.prepare(state, {.law = settings.law, .friction = false});
  const Materials<D>& materials = state.materials;
  for (int a = 0; a < materials.size(); ++a)
    for (int b = 0; b <= a; ++b)
      if (const PairProperties<D>* pair = materials.pair(a, b); pair && pair->rolling_friction > 0)
        throw InputError(
            fmt::format("{}: the pair of {} and {} has rolling_friction, which [dem] friction = \"dae\" does "
                        "not know: remove it or take friction = \"spring\"",
                        materials.where(a), materials.name(a), materials.name(b)));
}

template <int D>
FieldSet ConstraintFriction<D>::field_set(const std::string& integrator) {
  return make_integrator<D>(integrator)->history_width() > 0 ? FieldSet::with_derivatives
                                                             : FieldSet::with_accelerations;
}

template <int D>
void ConstraintFriction<D>::prepare() {
  const BodyStore<D>& bodies = state_.bodies;
  const std::size_t n_local = bodies.n_local();
  for (std::vector<Real>* array : {&v_, &a_, &force_}) array->assign(n_local * q, 0.0);
  for (std::vector<Real>* array : {&moved_, &moving_}) array->assign(size(), 0.0);
  worst_.resize(n_local * 3);
  field_force_.resize(bodies.n_owned());
  sticking_.inverse_mass().assign(n_local * q, 0.0);
  for (std::size_t i = 0; i < n_local; ++i) {
    if (bodies.mobility()[i] == 0) continue;
    const Real mass = bodies.mass()[i];
    Real* inverse = &sticking_.inverse_mass()[i * q];
    std::fill_n(inverse, D, 1 / mass);
    if (state_.type_rotates[bodies.type()[i]])
      std::fill(inverse + D, inverse + q, 1 / moment_of_inertia<D>(mass, bodies.radius()[i]));
  }
  modes_.restore(state_, neighborhood_);
  closed_.clear();
  for (const std::span<ContactMode> list : {modes_.pairs(), modes_.walls()})
    for (ContactMode& mode : list)
      if (mode.kind != ContactMode::open) closed_.push_back(&mode);
  contacts_.clear();
}

template <int D>
ContactMemory ConstraintFriction<D>::remember() {
  return modes_.remember(state_, neighborhood_);
}

template <int D>
void ConstraintFriction<D>::set_free(std::size_t body) {
  state_.bodies.acceleration()[body] = state_.gravity;
  if (integrator_->history_width() == 0) return;
  // The first level of a history is dt^2/2 times the acceleration.
  for (int k = 0; k < D; ++k)
    state_.bodies.derivatives()[body][k] = 0.5 * history_dt_ * history_dt_ * state_.gravity[k];
}

template <int D>
MotionArrays ConstraintFriction<D>::arrays() {
  MotionArrays arrays{moved_, moving_, {}};
  if (integrator_->history_width() > 0) {
    const auto derivatives = state_.bodies.derivatives();
    arrays.history = {reinterpret_cast<Real*>(derivatives.data()), derivatives.size() * 4 * q};
  }
  return arrays;
}

/// v_ of owned bodies; what cannot move has velocity 0, as it has for forces.
template <int D>
void ConstraintFriction<D>::take_velocities() {
  const BodyStore<D>& bodies = state_.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const Real* inverse = sticking_.inverse_mass_of(i);
    Real* v = &v_[i * q];
    for (int k = 0; k < D; ++k) v[k] = inverse[0] > 0 ? bodies.velocity()[i][k] : 0;
    for (int k = 0; k < n_spins<D>; ++k) v[D + k] = inverse[D] > 0 ? bodies.angular_velocity()[i][k] : 0;
  }
}

template <int D>
void ConstraintFriction<D>::put_velocities() {
  BodyStore<D>& bodies = state_.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const Real* inverse = sticking_.inverse_mass_of(i);
    if (inverse[0] > 0) std::copy_n(&v_[i * q], D, bodies.velocity()[i].component.begin());
    if (inverse[D] > 0)
      std::copy_n(&v_[i * q + D], n_spins<D>, bodies.angular_velocity()[i].component.begin());
  }
}

template <int D>
void ConstraintFriction<D>::add_force(const Touch& touch, const Vec<D>& on_b) {
  const Spin<D> torque = torque_of<D>(touch.normal, on_b);
  const auto add = [&](Index body, Real sign, Real lever) {
    Real* force = &force_[static_cast<std::size_t>(body) * q];
    for (int k = 0; k < D; ++k) force[k] += sign * on_b[k];
    for (int k = 0; k < n_spins<D>; ++k) force[D + k] -= lever * torque[k];
  };
  add(touch.a, -1, touch.lever_a);
  if (touch.b >= 0) add(touch.b, 1, touch.lever_b);
}

/// b: accelerations of all local bodies by all forces but static friction.
template <int D>
void ConstraintFriction<D>::balance() {
  std::ranges::fill(force_, 0.0);
  for (const Touch& touch : contacts_) {
    Vec<D> on_b = touch.normal_force * touch.normal;
    if (touch.mode->kind == ContactMode::slip)
      on_b -= touch.friction * touch.normal_force * vector_of<D>(*touch.mode);
    add_force(touch, on_b);
  }
  halo_.add_to_owners(force_, q);
  const std::size_t n_owned = state_.bodies.n_owned();
  for (std::size_t i = 0; i < n_owned; ++i)
    for (std::size_t k = 0; k < q; ++k) {
      const Real inverse = sticking_.inverse_mass_of(i)[k];
      Real a = inverse * force_[i * q + k];
      if (k < D && inverse > 0)
        a += inverse * field_force_[i][static_cast<int>(k)] + state_.gravity[static_cast<int>(k)];
      a_[i * q + k] = a;
    }
  halo_.copy_to_ghosts(a_, q);
}

/// Accelerations without static friction into a_, that friction into the modes of sticking contacts.
template <int D>
ConstraintReport ConstraintFriction<D>::solve(Real time) {
  balance();
  sticking_.find(contacts_);
  return sticking_.solve(contacts_, a_, [&](const Touch& touch) { return drift(touch, time); });
}

template <int D>
void ConstraintFriction<D>::accelerate(Real time, int stage, std::span<const Real> x, std::span<const Real> v,
                                       std::span<Real> a) {
  Scope timer("forces");
  BodyStore<D>& bodies = state_.bodies;
  const std::size_t n_owned = bodies.n_owned();
  const auto position = bodies.position();
  const auto previous = std::as_const(bodies).previous();
  for (std::size_t i = 0; i < n_owned; ++i) {
    position[i] = previous[i];
    for (int k = 0; k < D; ++k) position[i][k] += x[i * q + static_cast<std::size_t>(k)];
  }
  std::ranges::copy(v, v_.begin());
  put_velocities();
  look(time);
  std::ranges::fill(field_force_, Vec<D>{});
  for (const auto& field : state_.forces) field->add(state_, time, field_force_);
  if (stage == 0) {
    decide(time);
  } else {
    for (const Touch& touch : contacts_)
      if (touch.mode->kind == ContactMode::open) closed_.push_back(touch.mode);
    modes_.inherit(graph_, neighborhood_);
    for (const Touch& touch : contacts_) adopt(touch);
    solve(time);
  }
  sticking_.add_friction(a_);
  std::copy_n(a_.begin(), a.size(), a.begin());
  for (std::size_t i = 0; i < n_owned; ++i)
    std::copy_n(&a_[i * q], D, bodies.acceleration()[i].component.begin());
}

template <int D>
void ConstraintFriction<D>::start(Real dt) {
  const bool begins = state_.clock.step == 0;
  step_ = dt;
  history_dt_ = begins ? dt : state_.clock.last_dt;
  BodyStore<D>& bodies = state_.bodies;
  std::ranges::copy(std::as_const(bodies).position().first(bodies.previous().size()),
                    bodies.previous().begin());
  take_velocities();
  std::copy_n(v_.begin(), size(), moving_.begin());
  if (begins) {
    // Contacts are new: those with a slip velocity slip.
    integrator_->start(*this, state_.clock.time, dt, arrays());
    look(state_.clock.time);
    share_result();
    return;
  }
  look(state_.clock.time);
  sticking_.find(contacts_);
  if (!settings_.projection) return;
  Real fastest = norm(state_.gravity) * dt;
  for (const Real v : v_) fastest = std::max(fastest, std::abs(v));
  const Real slip = state_.comm.max(sticking_.slip(v_));
  if (slip <= notable_slip * state_.comm.max(fastest)) return;
  sticking_.project(v_);
  put_velocities();
  log::warn("sticking contacts slipped by up to {:.3g} m/s at the start; their velocities were projected",
            slip);
}

template <int D>
void ConstraintFriction<D>::step(Real dt) {
  const Real time = state_.clock.time;
  BodyStore<D>& bodies = state_.bodies;
  const std::size_t n_owned = bodies.n_owned();
  step_ = dt;
  if (dt != history_dt_) integrator_->rescale(*this, dt / history_dt_, arrays().history);
  history_dt_ = dt;
  std::ranges::copy(std::as_const(bodies).position().first(n_owned), bodies.previous().begin());
  take_velocities();
  std::copy_n(v_.begin(), size(), moving_.begin());
  std::ranges::fill(moved_, 0.0);
  integrator_->step(*this, time, dt, arrays());

  for (std::size_t i = 0; i < n_owned; ++i) {
    const Real* moved = &moved_[i * q];
    bodies.position()[i] = bodies.previous()[i];
    for (int k = 0; k < D; ++k) bodies.position()[i][k] += moved[k];
    Spin<D> turned_by;
    std::copy_n(moved + D, n_spins<D>, turned_by.component.begin());
    bodies.orientation()[i] = turned<D>(bodies.orientation()[i], turned_by, 1);
  }
  std::ranges::copy(moving_, v_.begin());
  look(time + dt);
  settle();
  put_velocities();
}

/// Modes and velocities at the end of a step. Modes first: a contact that is about to slip must not be
/// stopped before.
template <int D>
void ConstraintFriction<D>::settle() {
  turn_back();
  sticking_.find(contacts_);
  report_.slip = settings_.projection ? sticking_.project(v_) : state_.comm.max(sticking_.slip(v_));
  share_result();
}

/// What touches, of all ranks.
template <int D>
void ConstraintFriction<D>::share_result() {
  std::array<std::int64_t, 3> counts{static_cast<std::int64_t>(contacts_.size()),
                                     static_cast<std::int64_t>(sticking_.places().size()), passed_.count};
  state_.comm.sum(counts);
  report_.n_sticking = counts[1];
  std::array<Real, 2> max{0, -HUGE_VAL};
  for (const Touch& touch : contacts_) {
    const Real limit = settings_.overlap_limit * smaller_radius(state_, touch.a, touch.b);
    max[0] = std::max(max[0], touch.overlap);
    max[1] = std::max(max[1], touch.overlap - limit);
  }
  state_.comm.max(max);
  this->result_ = {counts[0], max[0], max[1], counts[2]};
}

template <int D>
void ConstraintFriction<D>::export_forces(ContactGraph<D>& contacts) {
  take_velocities();
  halo_.copy_to_ghosts(v_, q);
  contacts.force.assign(contacts.size(), 0);
  contacts.friction.assign(contacts.size(), Vec<D>{});
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (contacts.gap[c] >= 0) continue;
    const Touch touch = touch_of(contacts, c, state_.clock.time);
    contacts.force[c] = touch.normal_force;
    Vec<D> friction = vector_of<D>(*touch.mode);
    if (touch.mode->kind == ContactMode::slip) friction *= -touch.friction * touch.normal_force;
    contacts.friction[c] = friction - dot(friction, touch.normal) * touch.normal;
  }
}

template <int D>
std::vector<CertificateEntry> ConstraintFriction<D>::certificate() const {
  return {{"sticking", "-", static_cast<Real>(report_.n_sticking)},
          {"releases", "-", static_cast<Real>(report_.n_released)},
          {"rounds", "-", static_cast<Real>(report_.n_rounds)},
          {"residual", "-", report_.residual},
          {"slip", "m/s", report_.slip}};
}

template class ConstraintFriction<2>;
template class ConstraintFriction<3>;

}  // namespace scree
