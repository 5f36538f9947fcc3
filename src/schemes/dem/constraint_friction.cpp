#include "schemes/dem/constraint_friction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/contact_rows.hpp"
#include "schemes/common/contact_pair.hpp"
#include "schemes/common/rotation.hpp"
#include "state/force_field.hpp"

namespace scree {

namespace {

constexpr Real solve_tolerance = 1e-12;
/// Share of the largest limit in the run up to which friction at its limit still sticks: an equality but for
/// round-off would else flip the mode for ever.
constexpr Real limit_tolerance = 1e-9;
/// Contacts this far beyond their limit let go together; of the others only the worst around.
constexpr Real clear_excess = 0.1;
/// Rounds of a step in which some of the contacts beyond their limit may hold on, and rounds at most.
constexpr std::int64_t careful_rounds = 40, most_rounds = 80;
/// Slip of sticking contacts at the start that is reported, as a share of the speeds in the run.
constexpr Real notable_slip = 1e-6;

template <int D>
Vec<D> vector_of(const ContactMode& mode) {
  Vec<D> v;
  for (int k = 0; k < D; ++k) v[k] = mode.vector[k];
  return v;
}
template <int D>
void set(ContactMode& mode, Real kind, const Vec<D>& vector) {
  mode = {.kind = kind};
  for (int k = 0; k < D; ++k) mode.vector[k] = vector[k];
}

/// spin x n.
template <int D>
Vec<D> velocity_of_turning(const Spin<D>& spin, const Vec<D>& n) {
  if constexpr (D == 2)
    return {{-spin[0] * n[1], spin[0] * n[0]}};
  else
    return cross(spin, n);
}
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
      halo_(state, neighborhood.ghosts()),
      settings_(settings),
      integrator_(make_integrator<D>(settings.integrator)),
      kernels_(force_kernels()) {
  laws_.prepare(state, {.law = settings.law, .friction = false});
  const Materials<D>& materials = state.materials;
  for (int a = 0; a < materials.size(); ++a)
    for (int b = 0; b <= a; ++b)
      if (const PairProperties<D>* pair = materials.pair(a, b); pair && pair->rolling_friction > 0)
        throw InputError(
            fmt::format("{}: the pair of {} and {} has rolling_friction, which [dem] friction = \"dae\" does "
                        "not know: remove it or take friction = \"spring\"",
                        materials.where(a), materials.name(a), materials.name(b)));
  rows_.halo = &halo_;
  rows_.width = q;
}

template <int D>
Carried ConstraintFriction<D>::carries(const std::string& integrator) {
  return make_integrator<D>(integrator)->history_width() > 0 ? Carried::with_derivatives
                                                             : Carried::with_accelerations;
}

template <int D>
void ConstraintFriction<D>::prepare() {
  const BodyStore<D>& bodies = state_.bodies;
  const auto n_held = static_cast<std::size_t>(bodies.n_held());
  for (std::vector<Real>* array : {&v_, &a_, &force_}) array->assign(n_held * q, 0.0);
  for (std::vector<Real>* array : {&moved_, &moving_}) array->assign(size(), 0.0);
  worst_.resize(n_held * 3);
  field_force_.resize(static_cast<std::size_t>(bodies.n_owned()));
  rows_.inverse_mass.assign(n_held * q, 0.0);
  for (std::size_t i = 0; i < n_held; ++i) {
    if (bodies.mobility()[i] == 0) continue;
    const Real mass = bodies.mass()[i];
    Real* inverse = &rows_.inverse_mass[i * q];
    std::fill_n(inverse, D, 1 / mass);
    if (state_.group_rotates[static_cast<std::size_t>(bodies.group()[i])])
      std::fill(inverse + D, inverse + q, 1 / moment_of_inertia<D>(mass, bodies.radius()[i]));
  }
  modes_.recall(state_, neighborhood_);
  closed_.clear();
  for (const std::span<ContactMode> list : {modes_.pairs(), modes_.walls()})
    for (ContactMode& mode : list)
      if (mode.kind != ContactMode::open) closed_.push_back(&mode);
  touching_.clear();
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
    const Real* inverse = &rows_.inverse_mass[i * q];
    Real* v = &v_[i * q];
    for (int k = 0; k < D; ++k) v[k] = inverse[0] > 0 ? bodies.velocity()[i][k] : 0;
    for (int k = 0; k < n_spins<D>; ++k) v[D + k] = inverse[D] > 0 ? bodies.angular_velocity()[i][k] : 0;
  }
}

template <int D>
void ConstraintFriction<D>::put_velocities() {
  BodyStore<D>& bodies = state_.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const Real* inverse = &rows_.inverse_mass[i * q];
    if (inverse[0] > 0) std::copy_n(&v_[i * q], D, bodies.velocity()[i].component.begin());
    if (inverse[D] > 0)
      std::copy_n(&v_[i * q + D], n_spins<D>, bodies.angular_velocity()[i].component.begin());
  }
}

template <int D>
Vec<D> ConstraintFriction<D>::linear(Index body) const {
  Vec<D> v;
  if (body >= 0) std::copy_n(&v_[static_cast<std::size_t>(body) * q], D, v.component.begin());
  return v;
}
template <int D>
Spin<D> ConstraintFriction<D>::spin(Index body) const {
  Spin<D> w;
  if (body >= 0) std::copy_n(&v_[static_cast<std::size_t>(body) * q + D], n_spins<D>, w.component.begin());
  return w;
}

template <int D>
Vec<D> ConstraintFriction<D>::velocity_of_wall(Index constraint, const Vec<D>& point, Real time) const {
  const auto obstacle = static_cast<std::size_t>(state_.obstacles.obstacle_of(constraint));
  const Motion<D>* motion = state_.obstacles.list()[obstacle].motion.get();
  return motion ? motion->velocity(point, time) : Vec<D>{};
}

/// Finds what touches at the present positions and velocities, with normal forces.
template <int D>
void ConstraintFriction<D>::look(Real time) {
  state_.obstacles.place(time);
  halo_.copy_to_ghosts(v_, q);
  neighborhood_.detect(state_, {.keeps_sides = true}, graph_);
  touching_.clear();
  passed_ = {};
  for (std::size_t c = 0; c < graph_.size(); ++c) {
    if (graph_.gap[c] >= 0) continue;
    touching_.push_back(touch_of(graph_, c, time));
    // A centre behind the surface.
    if (graph_.b[c] < 0 && dot(graph_.branch[c], graph_.normal[c]) < 0 &&
        state_.obstacles.is_thin(graph_.wall[c]))
      passed_.add(state_.bodies.id()[static_cast<std::size_t>(graph_.a[c])], graph_.wall[c]);
  }
}

template <int D>
typename ConstraintFriction<D>::Touch ConstraintFriction<D>::touch_of(const ContactGraph<D>& contacts,
                                                                      std::size_t c, Real time) {
  const auto radius = std::as_const(state_.bodies).radius();
  Touch touch{.a = contacts.a[c],
              .b = contacts.b[c],
              .index = static_cast<Index>(c),
              .normal = contacts.normal[c],
              .overlap = -contacts.gap[c]};
  const auto a = static_cast<std::size_t>(touch.a);
  if (touch.b >= 0) {
    const Real radius_b = radius[static_cast<std::size_t>(touch.b)];
    touch.distance = radius[a] + radius_b - touch.overlap;
    touch.lever_a = radius[a] - 0.5 * touch.overlap;
    touch.lever_b = radius_b - 0.5 * touch.overlap;
  } else {
    touch.distance = touch.lever_a = radius[a] - touch.overlap;
    const Vec<D> point = std::as_const(state_.bodies).position()[a] + contacts.branch[c];
    touch.surface_velocity = velocity_of_wall(contacts.wall[c], point, time);
  }
  touch.friction = pair_of(state_, contacts, c).friction;
  touch.mode = &modes_.of(contacts, c);
  find_normal_force(touch, contacts.wall[c]);
  return touch;
}

/// By the kernels of soft contact with laws that have no friction.
template <int D>
void ConstraintFriction<D>::find_normal_force(Touch& touch, Index wall) const {
  const BodyStore<D>& bodies = state_.bodies;
  const auto motion_of = [&](Index body) {
    MotionRecord motion{};
    const auto i = static_cast<std::size_t>(body);
    motion.inverse_mass = rows_.inverse_mass[i * q];
    motion.material = state_.group_material[static_cast<std::size_t>(bodies.group()[i])];
    const Vec<D> v = linear(body);
    for (int k = 0; k < D; ++k) motion.velocity[k] = v[k];
    return motion;
  };
  SoftContact contact;
  for (int k = 0; k < D; ++k) contact.normal[k] = touch.normal[k];
  contact.distance = touch.distance;
  contact.overlap = touch.overlap;
  const Real radius_a = bodies.radius()[static_cast<std::size_t>(touch.a)];
  MotionRecord other{};
  if (touch.b >= 0) {
    contact.effective_radius = effective_radius(radius_a, bodies.radius()[static_cast<std::size_t>(touch.b)]);
    other = motion_of(touch.b);
  } else {
    contact.effective_radius = radius_a;
    for (int k = 0; k < D; ++k) other.velocity[k] = touch.surface_velocity[k];
    other.material = state_.obstacle_material[static_cast<std::size_t>(state_.obstacles.obstacle_of(wall))];
  }
  ForceBatches operands;
  operands.laws = laws_.laws().data();
  operands.n_materials = laws_.n_materials();
  ContactHistory none{};
  const SoftForce force =
      kernels_.contact[static_cast<int>(settings_.law)](operands, contact, motion_of(touch.a), other, none);
  touch.normal_force = dot(force.force, contact.normal);
}

/// u: of b, or the obstacle, against a at the contact point.
template <int D>
Vec<D> ConstraintFriction<D>::slip_velocity(const Touch& touch) const {
  const Vec<D> other = touch.b >= 0 ? linear(touch.b) : touch.surface_velocity;
  const Spin<D> turning = touch.lever_a * spin(touch.a) + touch.lever_b * spin(touch.b);
  return other - linear(touch.a) - velocity_of_turning<D>(turning, touch.normal);
}

/// The part of du/dt across the normal that is no acceleration of bodies, for u along the normal (eq. K.7).
template <int D>
Vec<D> ConstraintFriction<D>::drift(const Touch& touch, Real time) const {
  const Vec<D>& n = touch.normal;
  if (touch.b < 0) {
    // The normal of an obstacle counts as fixed. Its surface is seen where the contact point goes.
    const Vec<D> of_body = linear(touch.a);
    const Real opening = dot(n, touch.surface_velocity - of_body);
    const Index wall = graph_.wall[static_cast<std::size_t>(touch.index)];
    Vec<D> speeding_up;
    const Real h = 0.5 * step_;
    if (h > 0) {
      const Vec<D> point =
          std::as_const(state_.bodies).position()[static_cast<std::size_t>(touch.a)] + touch.distance * n;
      const Vec<D> path = h * (of_body + opening * n);
      speeding_up = (1 / step_) * (velocity_of_wall(wall, point + path, time + h) -
                                   velocity_of_wall(wall, point - path, time - h));
    }
    return speeding_up - velocity_of_turning<D>(opening * spin(touch.a), n);
  }
  const Vec<D> apart = linear(touch.b) - linear(touch.a);
  const Real opening = dot(n, apart);
  const Vec<D> turn = (1 / touch.distance) * (apart - opening * n);  // dn/dt
  const Spin<D> spin_a = spin(touch.a);
  const Spin<D> spin_b = spin(touch.b);
  return -opening * turn - velocity_of_turning<D>(0.5 * opening * (spin_a + spin_b), n) -
         velocity_of_turning<D>(touch.lever_a * spin_a + touch.lever_b * spin_b, turn);
}

/// Contacts that opened forget their modes, those that closed get one.
template <int D>
void ConstraintFriction<D>::begin_modes() {
  modes_.pass_on(graph_, neighborhood_);
  const auto flip = [](ContactMode& mode) { mode.kind = -mode.kind; };
  for (ContactMode* mode : closed_) flip(*mode);
  for (const Touch& touch : touching_)
    if (touch.mode->kind < 0) flip(*touch.mode);
  for (ContactMode* mode : closed_)
    if (mode->kind < 0) *mode = {};
  closed_.clear();
  for (const Touch& touch : touching_) {
    adopt(touch);
    closed_.push_back(touch.mode);
  }
}

template <int D>
void ConstraintFriction<D>::adopt(const Touch& touch) {
  ContactMode& mode = *touch.mode;
  const Vec<D> u = slip_velocity(touch);
  const Vec<D> along = u - dot(u, touch.normal) * touch.normal;
  if (touch.friction == 0) {
    set(mode, ContactMode::slip, Vec<D>{});
  } else if (mode.kind == ContactMode::open) {
    const Real speed = norm(along);
    set(mode, speed > 0 ? ContactMode::slip : ContactMode::stick, speed > 0 ? (1 / speed) * along : along);
  } else if (mode.kind == ContactMode::slip) {
    // The direction turns with the tangent plane.
    const Vec<D> was = vector_of<D>(mode);
    const Vec<D> now = was - dot(was, touch.normal) * touch.normal;
    const Real length = norm(now);
    set(mode, ContactMode::slip, length > 0 ? (1 / length) * now : now);
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

/// b: accelerations of all bodies held by all forces but static friction.
template <int D>
void ConstraintFriction<D>::balance() {
  std::ranges::fill(force_, 0.0);
  for (const Touch& touch : touching_) {
    Vec<D> on_b = touch.normal_force * touch.normal;
    if (touch.mode->kind == ContactMode::slip)
      on_b -= touch.friction * touch.normal_force * vector_of<D>(*touch.mode);
    add_force(touch, on_b);
  }
  halo_.add_to_owners(force_, q);
  const auto n_owned = static_cast<std::size_t>(state_.bodies.n_owned());
  for (std::size_t i = 0; i < n_owned; ++i)
    for (std::size_t k = 0; k < q; ++k) {
      const Real inverse = rows_.inverse_mass[i * q + k];
      Real a = inverse * force_[i * q + k];
      if (k < D && inverse > 0)
        a += inverse * field_force_[i][static_cast<int>(k)] + state_.gravity[static_cast<int>(k)];
      a_[i * q + k] = a;
    }
  halo_.copy_to_ghosts(a_, q);
}

/// G and the rates of surfaces: D - 1 rows for each sticking contact.
template <int D>
void ConstraintFriction<D>::make_rows() {
  rows_.clear();
  sticking_.clear();
  surface_rate_.clear();
  for (std::size_t s = 0; s < touching_.size(); ++s) {
    const Touch& touch = touching_[s];
    if (touch.mode->kind != ContactMode::stick) continue;
    sticking_.push_back(s);
    const auto frame = contact_frame<D>(touch.normal);
    for (std::size_t t = 1; t < D; ++t) {
      Real* row = rows_.add(touch.a, touch.b).data();
      write_contact_row<D>(frame[t], touch.lever_a * touch.normal, -1, row);
      if (touch.b >= 0) write_contact_row<D>(frame[t], -touch.lever_b * touch.normal, 1, row + q);
      surface_rate_.push_back(dot(frame[t], touch.surface_velocity));
    }
  }
  for (std::vector<Real>* array : {&right_, &multipliers_, &rate_}) reset(*array, rows_.n_rows());
}

/// Accelerations with static friction into a_, friction into the modes of sticking contacts.
template <int D>
ConstraintReport ConstraintFriction<D>::solve(Real time) {
  balance();
  make_rows();
  rows_.multiply(a_, right_);
  for (std::size_t s = 0; s < sticking_.size(); ++s) {
    const Touch& touch = touching_[sticking_[s]];
    const Vec<D> more = drift(touch, time);
    const auto frame = contact_frame<D>(touch.normal);
    for (std::size_t t = 1; t < D; ++t) right_[s * (D - 1) + t - 1] += dot(frame[t], more);
  }
  const ConstraintReport report = solver_.solve(rows_, right_, multipliers_, {.relative = solve_tolerance});
  for (std::size_t s = 0; s < sticking_.size(); ++s) {
    const Touch& touch = touching_[sticking_[s]];
    const auto frame = contact_frame<D>(touch.normal);
    Vec<D> on_b;
    for (std::size_t t = 1; t < D; ++t) on_b -= multipliers_[s * (D - 1) + t - 1] * frame[t];
    set(*touch.mode, ContactMode::stick, on_b);
  }
  return report;
}

/// Lets go contacts whose friction exceeds its limit; returns how many. Collective.
template <int D>
std::int64_t ConstraintFriction<D>::release(bool all) {
  const Comm& comm = state_.comm;
  Real largest = 0;
  for (const std::size_t s : sticking_)
    largest = std::max(largest, touching_[s].friction * touching_[s].normal_force);
  const Real tolerance = limit_tolerance * comm.max(largest);
  reset(excess_, sticking_.size());
  bool any = false;
  bool clear = false;
  for (std::size_t s = 0; s < sticking_.size(); ++s) {
    const Touch& touch = touching_[sticking_[s]];
    const Real limit = touch.friction * touch.normal_force;
    const Real excess = norm(vector_of<D>(*touch.mode)) - limit;
    if (excess <= tolerance) continue;
    excess_[s] = excess;
    any = true;
    clear = clear || excess > clear_excess * limit;
  }
  if (!comm.any(any)) return 0;
  clear = comm.any(clear);
  if (!clear && !all) find_worst();
  std::int64_t n = 0;
  for (std::size_t s = 0; s < sticking_.size(); ++s) {
    if (excess_[s] == 0) continue;
    const Touch& touch = touching_[sticking_[s]];
    if (!all && (clear ? excess_[s] <= clear_excess * touch.friction * touch.normal_force
                       : !is_worst(touch, excess_[s])))
      continue;
    const Vec<D> friction = vector_of<D>(*touch.mode);
    set(*touch.mode, ContactMode::slip, (-1 / norm(friction)) * friction);
    ++n;
  }
  return comm.sum(n);
}

/// What orders contacts that exceed their limits: by how much, then who they are.
template <int D>
std::array<Real, 3> ConstraintFriction<D>::rank_of(const Touch& touch, Real excess) const {
  const auto id = std::as_const(state_.bodies).id();
  const GlobalId other = touch.b >= 0 ? id[static_cast<std::size_t>(touch.b)]
                                      : -1 - GlobalId{graph_.wall[static_cast<std::size_t>(touch.index)]};
  return {excess, static_cast<Real>(id[static_cast<std::size_t>(touch.a)]), static_cast<Real>(other)};
}

/// The largest excess at each body, found as a sweep: each body has one active copy.
template <int D>
void ConstraintFriction<D>::find_worst() {
  std::ranges::fill(worst_, 0.0);
  std::size_t s = 0;
  const auto visit = [&](Index, Index end) {
    for (; s < sticking_.size() && touching_[sticking_[s]].index < end; ++s) {
      if (excess_[s] == 0) continue;
      const Touch& touch = touching_[sticking_[s]];
      const auto mine = rank_of(touch, excess_[s]);
      for (const Index body : {touch.a, touch.b})
        if (body >= 0)
          if (Real* worst = &worst_[static_cast<std::size_t>(body) * 3];
              std::lexicographical_compare(worst, worst + 3, mine.begin(), mine.end()))
            std::ranges::copy(mine, worst);
    }
  };
  // Zeros everywhere: whoever touches a body first has the right values.
  run_sweep_colours(halo_, graph_.colour_first, graph_.interior_first, worst_, 3, visit, {.first = false});
  halo_.copy_to_ghosts(worst_, 3);
}

/// Whether no contact that shares a body that moves is worse.
template <int D>
bool ConstraintFriction<D>::is_worst(const Touch& touch, Real excess) const {
  const auto mine = rank_of(touch, excess);
  return std::ranges::all_of(std::array{touch.a, touch.b}, [&](Index body) {
    if (body < 0 || rows_.inverse_mass[static_cast<std::size_t>(body) * q] == 0) return true;
    return std::equal(mine.begin(), mine.end(), &worst_[static_cast<std::size_t>(body) * 3]);
  });
}

/// Solves until no sticking contact is beyond its limit.
template <int D>
void ConstraintFriction<D>::decide(Real time) {
  begin_modes();
  report_.n_released = report_.n_rounds = 0;
  while (true) {
    report_.residual = solve(time).residual;
    if (++report_.n_rounds == most_rounds) break;
    const std::int64_t n = release(report_.n_rounds > careful_rounds);
    if (n == 0) break;
    report_.n_released += n;
  }
}

template <int D>
void ConstraintFriction<D>::accelerate(Real time, int stage, std::span<const Real> x, std::span<const Real> v,
                                       std::span<Real> a) {
  Scope timer("forces");
  BodyStore<D>& bodies = state_.bodies;
  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
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
    for (const Touch& touch : touching_)
      if (touch.mode->kind == ContactMode::open) closed_.push_back(touch.mode);
    modes_.pass_on(graph_, neighborhood_);
    for (const Touch& touch : touching_) adopt(touch);
    solve(time);
  }
  solver_.add_impulses(rows_, multipliers_, -1, a_);
  std::copy_n(a_.begin(), a.size(), a.begin());
  for (std::size_t i = 0; i < n_owned; ++i)
    std::copy_n(&a_[i * q], D, bodies.acceleration()[i].component.begin());
}

/// Contacts that slip against their direction stick; in space the direction follows the slip.
template <int D>
void ConstraintFriction<D>::turn_back() {
  for (const Touch& touch : touching_) {
    if (touch.mode->kind != ContactMode::slip || touch.friction == 0) continue;
    const Vec<D> u = slip_velocity(touch);
    const Vec<D> along = u - dot(u, touch.normal) * touch.normal;
    const Vec<D> direction = vector_of<D>(*touch.mode);
    const Real forward = dot(along, direction);
    if (forward < 0)
      set(*touch.mode, ContactMode::stick, -touch.friction * touch.normal_force * direction);
    else if (forward > 0)
      set(*touch.mode, ContactMode::slip, (1 / norm(along)) * along);
  }
}

/// Largest |t . u| of the rows. Collective.
template <int D>
Real ConstraintFriction<D>::find_slip() {
  rows_.multiply(v_, rate_);
  Real largest = 0;
  for (std::size_t r = 0; r < rate_.size(); ++r)
    largest = std::max(largest, std::abs(rate_[r] + surface_rate_[r]));
  return state_.comm.max(largest);
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
    return;
  }
  look(state_.clock.time);
  make_rows();
  if (!settings_.projection) return;
  Real fastest = norm(state_.gravity) * dt;
  for (const Real v : v_) fastest = std::max(fastest, std::abs(v));
  const Real slip = find_slip();
  if (slip <= notable_slip * state_.comm.max(fastest)) return;
  solver_.project_velocity(rows_, v_, 2, surface_rate_);
  put_velocities();
  log::warn("sticking contacts slipped by up to {:.3g} m/s at the start; their velocities were projected",
            slip);
}

template <int D>
void ConstraintFriction<D>::step(Real dt) {
  const Real time = state_.clock.time;
  BodyStore<D>& bodies = state_.bodies;
  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
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
  make_rows();
  if (settings_.projection)
    report_.slip = solver_.project_velocity(rows_, v_, 2, surface_rate_).after;
  else
    report_.slip = find_slip();
  std::array<std::int64_t, 3> counts{static_cast<std::int64_t>(touching_.size()),
                                     static_cast<std::int64_t>(sticking_.size()), passed_.count};
  state_.comm.sum(counts);
  report_.n_touching = counts[0];
  report_.n_sticking = counts[1];
  report_.n_passed_through = counts[2];
  Real deepest = 0;
  for (const Touch& touch : touching_) deepest = std::max(deepest, touch.overlap);
  report_.overlap = state_.comm.max(deepest);
}

template <int D>
void ConstraintFriction<D>::tell_forces(ContactGraph<D>& contacts) {
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

template <int D>
std::size_t ConstraintFriction<D>::bytes() const {
  const auto held = [](const auto&... vectors) { return ((vectors.capacity() * sizeof(vectors[0])) + ...); };
  return held(touching_, sticking_, moved_, moving_, v_, a_, force_, field_force_, right_, multipliers_,
              surface_rate_, rate_, excess_, worst_) +
         modes_.bytes() + closed_.capacity() * sizeof(void*);
}

template class ConstraintFriction<2>;
template class ConstraintFriction<3>;

}  // namespace scree
