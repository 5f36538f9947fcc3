// Compiled once per instruction set, with SCREE_SET naming the set (see schemes/CMakeLists.txt). The
// arithmetic of a contact is the same in all of them; only the number of contacts per register differs.
#include <algorithm>

#include "neighbors/lanes.hpp"
#include "schemes/common/rotation.hpp"
#include "schemes/dem/force_kernels.hpp"
#include "schemes/dem/force_law.hpp"

namespace scree::SCREE_SET {

namespace {

const SoftLaw& law_of(const ForceBatches& p, Real material_a, Real material_b) {
  return p.laws[static_cast<Index>(material_a) * p.n_materials + static_cast<Index>(material_b)];
}
Law<Real> numbers_of(const SoftLaw& law) {
  return {law.stiffness, law.tangential,       law.damping,           law.damping_ratio,
          law.friction,  law.rolling_friction, law.rolling_stiffness, law.rolling_damping};
}
/// The laws of `width` contacts.
Law<Lanes> laws_of(const ForceBatches& p, Lanes material_a, Lanes material_b) {
  const Lanes zero{};
  if (p.n_materials == 1) {
    const SoftLaw& one = p.laws[0];
    return {zero + one.stiffness,         zero + one.tangential,     zero + one.damping,
            zero + one.damping_ratio,     zero + one.friction,       zero + one.rolling_friction,
            zero + one.rolling_stiffness, zero + one.rolling_damping};
  }
  Law<Lanes> laws{};
  for (int k = 0; k < width; ++k) {
    const SoftLaw& law = law_of(p, material_a[k], material_b[k]);
    laws.stiffness[k] = law.stiffness;
    laws.tangential[k] = law.tangential;
    laws.damping[k] = law.damping;
    laws.damping_ratio[k] = law.damping_ratio;
    laws.friction[k] = law.friction;
    laws.rolling_friction[k] = law.rolling_friction;
    if (!p.rolling_springs) continue;
    laws.rolling_stiffness[k] = law.rolling_stiffness;
    laws.rolling_damping[k] = law.rolling_damping;
  }
  return laws;
}
/// What the laws of `width` contacts attract with, or of one.
template <Pulls pulls, class T>
[[gnu::always_inline]] inline Pull<pulls, T> pulls_of(const ForceBatches& p, T material_a, T material_b) {
  if constexpr (pulls == Pulls::never) {
    return {};
  } else {
    T constant = 0 * material_a, per_length = constant, per_mass = constant, share = constant;
    std::array<const SoftLaw*, n_contacts_of<T>> laws{};
    for (int k = 0; k < n_contacts_of<T>; ++k) {
      const SoftLaw& law = law_of(p, number(material_a, k), number(material_b, k));
      laws[k] = &law;
      set_number(constant, k, law.pull.constant);
      set_number(per_length, k, law.pull.per_length);
      set_number(per_mass, k, law.pull.per_mass);
      set_number(share, k, law.pull_share);
    }
    if constexpr (pulls == Pulls::in_contact)
      return {constant, per_length, per_mass, share};
    else
      return {{constant, per_length, per_mass, share}, laws};
  }
}

Three<Real> three(const Real* v) {
  return {v[0], v[1], v[2]};
}
Three<Lanes> three(const Bodies& v) {
  return {v.x, v.y, v.z};
}
BodyMotion<Real> motion_of(const MotionRecord& m) {
  return {three(m.velocity), m.inverse_mass, three(m.spin)};
}

History<Real> history_of(const ContactHistory& h, const RollingHistory* rolling) {
  return {three(h.spring), h.stiffness, rolling == nullptr ? Three<Real>{} : three(rolling->angle)};
}
void record(const History<Real>& h, ContactHistory& history, RollingHistory* rolling) {
  history = {{h.spring.x, h.spring.y, h.spring.z}, h.stiffness};
  if (rolling != nullptr) *rolling = {{h.angle.x, h.angle.y, h.angle.z}, 0};
}

/// Records of the kernels are made of pieces of four numbers, which lanes are loaded from.
template <class Record>
const SweepRecord* pieces(const Record* records) {
  static_assert(sizeof(Record) % sizeof(SweepRecord) == 0);
  return reinterpret_cast<const SweepRecord*>(records);
}
template <class Record>
SweepRecord* pieces(Record* records) {
  return reinterpret_cast<SweepRecord*>(records);
}

struct LaneMotion {
  BodyMotion<Lanes> motion;
  Lanes material;
};
LaneMotion load_motion(const MotionRecord* motions, const Index* which) {
  Index first[width];
  Index second[width];
  for (int k = 0; k < width; ++k) {
    first[k] = 2 * which[k];
    second[k] = 2 * which[k] + 1;
  }
  const Bodies velocity = load(pieces(motions), first);
  const Bodies spin = load(pieces(motions), second);
  return {{three(velocity), velocity.radius, three(spin)}, spin.radius};
}

/// Four numbers in one register, or two.
using Quad = Real __attribute__((vector_size(32), may_alias));
Quad& quad(Real* four) {
  return *reinterpret_cast<Quad*>(four);
}
[[maybe_unused]] const Quad& quad(const SweepRecord& record) {
  return reinterpret_cast<const Quad&>(record);
}

/// `step` * k + `first` for all lanes k.
template <Index step, Index first>
constexpr auto each = [] {
  std::array<Index, width> all{};
  for (Index k = 0; k < width; ++k) all[k] = step * k + first;
  return all;
}();

/// Adds the forces of `width` contacts one by one, so that sums do not depend on the width.
void add_forces(const Force<Lanes>& f, const Contact<Lanes>& c, const Index* low, const Index* high,
                ForceRecord* forces) {
  const Lanes zero{};
  const Three<Lanes> torque_a = c.lever_a * f.torque + f.rolling;
  const Three<Lanes> torque_b = c.lever_b * f.torque - f.rolling;
#if defined(__AVX512F__)
  // A record is a register.
  using Register = Real __attribute__((vector_size(64), may_alias));
  const auto negative = [&](const Three<Lanes>& v) { return Three<Lanes>{-v.x, -v.y, -v.z}; };
  const auto make = [&](const Three<Lanes>& force, const Three<Lanes>& torque, Lanes* records) {
    const Bodies first = transpose(force.x, force.y, force.z, zero);
    const Bodies second = transpose(torque.x, torque.y, torque.z, zero);
    const Lanes of_force[4] = {first.x, first.y, first.z, first.radius};
    const Lanes of_torque[4] = {second.x, second.y, second.z, second.radius};
    for (int k = 0; k < 4; ++k) {
      records[k] = __builtin_shufflevector(of_force[k], of_torque[k], 0, 1, 2, 3, 8, 9, 10, 11);
      records[k + 4] = __builtin_shufflevector(of_force[k], of_torque[k], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  };
  Lanes on_a[width];
  Lanes on_b[width];
  make(negative(f.force), negative(torque_a), on_a);
  make(f.force, negative(torque_b), on_b);
  for (int k = 0; k < width; ++k) {
    reinterpret_cast<Register&>(forces[low[k]]) += on_a[k];
    reinterpret_cast<Register&>(forces[high[k]]) += on_b[k];
  }
#else
  const auto rows = [&](const Three<Lanes>& v, SweepRecord* to) {
    store({v.x, v.y, v.z, zero}, to, each<1, 0>.data());
  };
  SweepRecord force[width];
  SweepRecord on_a[width];
  SweepRecord on_b[width];
  rows(f.force, force);
  rows(torque_a, on_a);
  rows(torque_b, on_b);
  for (int k = 0; k < width; ++k) {
    ForceRecord& a = forces[low[k]];
    ForceRecord& b = forces[high[k]];
    quad(a.force) -= quad(force[k]);
    quad(a.torque) -= quad(on_a[k]);
    quad(b.force) += quad(force[k]);
    quad(b.torque) -= quad(on_b[k]);
  }
#endif
}
void add_force(const Force<Real>& f, const Contact<Real>& c, ForceRecord& a, ForceRecord& b) {
  const Three<Real> on_a = c.lever_a * f.torque + f.rolling;
  const Three<Real> on_b = c.lever_b * f.torque - f.rolling;
  quad(a.force) -= Quad{f.force.x, f.force.y, f.force.z, 0};
  quad(a.torque) -= Quad{on_a.x, on_a.y, on_a.z, 0};
  quad(b.force) += Quad{f.force.x, f.force.y, f.force.z, 0};
  quad(b.torque) -= Quad{on_b.x, on_b.y, on_b.z, 0};
}

/// Touching pairs, one after the other: scratch of a call. `entry` is 2 * place + whether they touched
/// before.
struct ContactRows {
  Index* entry;
  Index* low;
  Index* high;

  explicit ContactRows(const ForceBatches& p)
      : entry(p.list), low(p.list + batch_size * p.n_batches), high(p.list + 2 * batch_size * p.n_batches) {}
};

/// Appends the pairs of one register that touch to those before, which are n.
Index append_contacts(const ForceBatches& p, const ContactRows& list, Index n, Index place, const Index* low,
                      unsigned touches) {
#if defined(__AVX512F__)
  const auto mask = static_cast<__mmask8>(touches);
  const auto append = [&](Index* to, __m256i numbers) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + n), _mm256_maskz_compress_epi32(mask, numbers));
  };
  const auto numbers = [](const Index* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  };
  auto* flags = reinterpret_cast<__m128i*>(p.touched + place);
  const __m256i twice_k = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
  const __m256i entries = _mm256_add_epi32(_mm256_add_epi32(_mm256_set1_epi32(2 * place), twice_k),
                                           _mm256_cvtepu8_epi32(_mm_loadl_epi64(flags)));
  append(list.entry, entries);
  append(list.low, numbers(low));
  append(list.high, numbers(low + batch_size));
  _mm_storel_epi64(flags, _mm256_maskz_cvtepi32_epi8(0xff, _mm256_maskz_set1_epi32(mask, 1)));
  return n + __builtin_popcount(touches);
#else
  for (int k = 0; k < width; ++k) {
    const unsigned now = touches >> k & 1U;
    std::uint8_t& flag = p.touched[place + k];
    list.entry[n] = 2 * (place + k) + flag;
    list.low[n] = low[k];
    list.high[n] = low[k + batch_size];
    flag = static_cast<std::uint8_t>(now);
    n += static_cast<Index>(now);
  }
  return n;
#endif
}

/// Of the pairs of one register that are within p.reach of touching, those that touch: with attraction
/// beyond contact a pair that touched before does so up to the gap at which its law ends.
unsigned bonded_of(const ForceBatches& p, Index place, const Index* low, const Lanes& squared,
                   const Lanes& radii, unsigned near) {
  unsigned bonded = 0;
  for (int k = 0; k < width; ++k) {
    if ((near >> k & 1U) == 0) continue;
    const Real sum = radii[k];
    bool touches = squared[k] < sum * sum;
    if (!touches && p.touched[place + k] != 0) {
      const Index a = low[k], b = low[k + batch_size];
      const SoftLaw& law = law_of(p, p.motions[a].material, p.motions[b].material);
      const Real radius_a = p.places[a].radius, radius_b = p.places[b].radius;
      touches =
          is_bonded(law, p.law, std::sqrt(squared[k]) - sum, radius_a * radius_b / (radius_a + radius_b));
    }
    if (touches) bonded |= 1U << k;
  }
  return bonded;
}

template <bool shifted, Pulls pulls>
Index find_contact_pairs(const ForceBatches& p, const ContactRows& list) {
  Index n = 0;
  for (Index batch = 0; batch < p.n_batches; ++batch)
    for (int part = 0; part < batch_size; part += width) {
      const Index* low = p.ends + 2 * batch_size * batch + part;
      const Index place = batch * batch_size + part;
      const Bodies i = load(p.places, low);
      const Bodies j = load(p.places, low + batch_size);
      Three<Lanes> d = three(i) - three(j);
      if constexpr (shifted)
        for (int k = 0; k < width; ++k) {
          const Real* shift = p.shift_table + 3 * p.shifts[place + k];
          d.x[k] += shift[0];
          d.y[k] += shift[1];
          d.z[k] += shift[2];
        }
      const Lanes reach = i.radius + j.radius;
      if constexpr (pulls == Pulls::beyond) {
        const Lanes wide = reach + (Lanes{} + p.reach);
        const unsigned near = less(dot(d, d), wide * wide);
        const unsigned bonded = near != 0 ? bonded_of(p, place, low, dot(d, d), reach, near) : 0;
        n = append_contacts(p, list, n, place, low, bonded);
      } else {
        n = append_contacts(p, list, n, place, low, less(dot(d, d), reach * reach));
      }
    }
  return n;
}

/// What a pair through a periodic face adds to p.face_virial, one after the other in all sets.
void add_face_virial(const ForceBatches& p, const Three<Real>& force, const Three<Real>& shift) {
  const std::array<Real, 3> f{force.x, force.y, force.z}, s{shift.x, shift.y, shift.z};
  for (std::size_t k = 0; k < 3; ++k) p.face_virial[k] += f[k] * s[k];
  p.face_virial[3] += f[p.flow] * s[p.gradient];
}

template <NormalLaw law, TangentialLaw tangential, Pulls pulls, bool shifted>
ForceCounts run(const ForceBatches& p) {
  const ContactRows list(p);
  const Index n = find_contact_pairs<shifted, pulls>(p, list);
  const auto shift_of = [&](Index place) { return three(p.shift_table + 3 * p.shifts[place]); };
  constexpr Index ahead = 16;
  const Lanes zero{};
  Lanes deepest = zero, beyond = zero - HUGE_VAL, n_fixed = zero;
  Index next = 0;
  const std::size_t lines_each = p.prefetch ? p.prefetch->share(static_cast<std::size_t>(n / width)) : 0;
  for (; next + width <= n; next += width) {
    if (lines_each > 0) p.prefetch->fetch(lines_each);
    const Index* low = list.low + next;
    const Index* high = list.high + next;
    Index place[width];
    Lanes remembers = zero;
    for (int k = 0; k < width; ++k) {
      place[k] = list.entry[next + k] >> 1;
      remembers[k] = list.entry[next + k] & 1;
    }
    if (next + width + ahead <= n)
      for (int k = ahead; k < ahead + width; ++k) {
        __builtin_prefetch(p.motions + low[k]);
        __builtin_prefetch(p.motions + high[k]);
        __builtin_prefetch(p.forces + low[k], 1);
        __builtin_prefetch(p.forces + high[k], 1);
        __builtin_prefetch(p.history + (list.entry[next + k] >> 1), 1);
      }
    const Bodies at_a = load(p.places, low);
    const Bodies at_b = load(p.places, high);
    Three<Lanes> vector = three(at_b) - three(at_a);
    if constexpr (shifted)
      for (int k = 0; k < width; ++k) {
        const Three<Real> shift = shift_of(place[k]);
        vector.x[k] -= shift.x;
        vector.y[k] -= shift.y;
        vector.z[k] -= shift.z;
      }
    const Contact<Lanes> c = contact_of(vector, at_a.radius, at_b.radius);
    LaneMotion a = load_motion(p.motions, low);
    if constexpr (shifted)
      if (p.shift_velocities)
        for (int k = 0; k < width; ++k) {
          const Three<Real> velocity = three(p.shift_velocities + 3 * p.shifts[place[k]]);
          a.motion.velocity.x[k] += velocity.x;
          a.motion.velocity.y[k] += velocity.y;
          a.motion.velocity.z[k] += velocity.z;
        }
    const LaneMotion b = load_motion(p.motions, high);
    // Pairs that are both fixed do not count; what their forces come to does not matter.
    const auto moves = a.motion.inverse_mass + b.motion.inverse_mass > 0;
    deepest = largest(deepest, moves ? c.overlap : zero);
    const Lanes smaller = at_a.radius < at_b.radius ? at_a.radius : at_b.radius;
    const Lanes too_deep = largest(c.overlap, zero) - (zero + p.overlap_limit) * smaller;
    beyond = largest(beyond, moves ? too_deep : beyond);
    n_fixed += moves ? zero : zero + 1;

    const Bodies before = load(pieces(p.history), place);
    History<Lanes> history{
        {remembers > 0 ? before.x : zero, remembers > 0 ? before.y : zero, remembers > 0 ? before.z : zero},
        remembers > 0 ? before.radius : zero,
        {zero, zero, zero}};
    if (p.rolling != nullptr) {
      const Bodies angle = load(pieces(p.rolling), place);
      history.angle = {remembers > 0 ? angle.x : zero, remembers > 0 ? angle.y : zero,
                       remembers > 0 ? angle.z : zero};
    }
    const Force<Lanes> f = force_of<law, tangential, pulls>(p, laws_of(p, a.material, b.material),
                                                            pulls_of<pulls>(p, a.material, b.material), c,
                                                            a.motion, b.motion, history);
    const Three<Lanes>& spring = history.spring;
    store({spring.x, spring.y, spring.z, history.stiffness}, pieces(p.history), place);
    if (p.rolling != nullptr)
      store({history.angle.x, history.angle.y, history.angle.z, zero}, pieces(p.rolling), place);
    add_forces(f, c, low, high, p.forces);
    if constexpr (shifted)
      if (p.face_virial)
        for (int k = 0; k < width; ++k)
          add_face_virial(p, {f.force.x[k], f.force.y[k], f.force.z[k]}, shift_of(place[k]));
  }

  ForceCounts counts;
  counts.n_contacts = n;
  for (int k = 0; k < width; ++k) {
    counts.deepest = std::max(counts.deepest, deepest[k]);
    counts.beyond = std::max(counts.beyond, beyond[k]);
    counts.n_contacts -= static_cast<Index>(n_fixed[k]);
  }
  for (; next < n; ++next) {
    const Index place = list.entry[next] >> 1;
    const Index low = list.low[next];
    const Index high = list.high[next];
    const MotionRecord& a = p.motions[low];
    const MotionRecord& b = p.motions[high];
    Three<Real> vector = three(p.places[high].x) - three(p.places[low].x);
    if constexpr (shifted) vector = vector - shift_of(place);
    const Contact<Real> c = contact_of(vector, p.places[low].radius, p.places[high].radius);
    if (a.inverse_mass + b.inverse_mass > 0) {
      counts.meet(c.overlap, p.overlap_limit * std::min(p.places[low].radius, p.places[high].radius));
    } else {
      --counts.n_contacts;
    }
    RollingHistory* rolling = p.rolling == nullptr ? nullptr : p.rolling + place;
    History<Real> history =
        (list.entry[next] & 1) != 0 ? history_of(p.history[place], rolling) : History<Real>{};
    BodyMotion<Real> motion_a = motion_of(a);
    if constexpr (shifted)
      if (p.shift_velocities)
        motion_a.velocity = motion_a.velocity + three(p.shift_velocities + 3 * p.shifts[place]);
    const Force<Real> f = force_of<law, tangential, pulls>(p, numbers_of(law_of(p, a.material, b.material)),
                                                           pulls_of<pulls>(p, a.material, b.material), c,
                                                           motion_a, motion_of(b), history);
    record(history, p.history[place], rolling);
    add_force(f, c, p.forces[low], p.forces[high]);
    if constexpr (shifted)
      if (p.face_virial) add_face_virial(p, f.force, shift_of(place));
  }
  return counts;
}

template <NormalLaw law, TangentialLaw tangential, Pulls pulls>
SoftForce single(const ForceBatches& p, const SoftContact& contact, const MotionRecord& a,
                 const MotionRecord& b, ContactHistory& history, RollingHistory* rolling) {
  const Contact<Real> c{three(contact.normal.component.data()), contact.overlap, contact.effective_radius,
                        contact.lever_a, contact.lever_b};
  History<Real> now = history_of(history, rolling);
  const Force<Real> f = force_of<law, tangential, pulls>(p, numbers_of(law_of(p, a.material, b.material)),
                                                         pulls_of<pulls>(p, a.material, b.material), c,
                                                         motion_of(a), motion_of(b), now);
  record(now, history, rolling);
  const auto vec = [](const Three<Real>& v) { return Vec<3>{{v.x, v.y, v.z}}; };
  return {vec(f.force), vec(f.torque), vec(f.rolling), f.pull, f.load};
}

template <class V>
Three<Lanes> load_three(const V* vectors) {
  const Vectors v = load_vectors(vectors->component.data());
  return {v.x, v.y, v.z};
}
template <class V>
void store_three(const Three<Lanes>& v, V* vectors) {
  store_vectors({v.x, v.y, v.z}, vectors->component.data());
}

void drift(const BodyArrays& bodies, std::size_t n, Real dt) {
  const Lanes half = Lanes{} + 0.5 * dt;
  for (std::size_t i = 0; i < n; i += width) {
    const Three<Lanes> velocity =
        load_three(bodies.velocity + i) + half * load_three(bodies.acceleration + i);
    const Three<Lanes> spin =
        load_three(bodies.spin + i) + half * load_three(bodies.angular_acceleration + i);
    const Three<Lanes> before = load_three(bodies.position + i);
    const Three<Lanes> position = before + (Lanes{} + dt) * velocity;
    store_three(velocity, bodies.velocity + i);
    store_three(spin, bodies.spin + i);
    store_three(before, bodies.previous + i);
    store_three(position, bodies.position + i);

    Orientation<3>* orientation = bodies.orientation + i;
    const Lanes h_squared = 0.25 * dt * dt * (spin.x * spin.x + spin.y * spin.y + spin.z * spin.z);
    if (any_less(Lanes{} + small_turn, h_squared)) {
      for (std::size_t k = 0; k < width; ++k)
        orientation[k] = turned<3>(orientation[k], bodies.spin[i + k], dt);
    } else {
      const Bodies q = load_rows(orientation->component.data());
      const auto next =
          turned_a_little<Lanes>({q.x, q.y, q.z, q.radius}, {spin.x, spin.y, spin.z}, h_squared, dt);
      store_rows({next[0], next[1], next[2], next[3]}, orientation->component.data());
    }

    const Lanes zero{};
    store_in_space({position.x, position.y, position.z, zero}, bodies.places + i, each<1, 0>.data());
    SweepRecord* motions = pieces(bodies.motions + i);
    store_in_space({velocity.x, velocity.y, velocity.z, zero}, motions, each<2, 0>.data());
    store_in_space({spin.x, spin.y, spin.z, zero}, motions, each<2, 1>.data());
    for (std::size_t k = 0; k < width; ++k) {
      quad(bodies.forces[i + k].force) = Quad{};
      quad(bodies.forces[i + k].torque) = Quad{};
    }
  }
}

Real kick(const BodyArrays& bodies, std::size_t n, Real dt, const Vec<3>& gravity) {
  const Lanes zero{};
  const Lanes half = zero + 0.5 * dt;
  const Three<Lanes> fall{zero + gravity[0], zero + gravity[1], zero + gravity[2]};
  Lanes farthest = zero;
  Lanes n_strange = zero;
  for (std::size_t i = 0; i < n; i += width) {
    const Lanes mass = load(bodies.mass + i);
    const Lanes radius = load(bodies.radius + i);
    const Bodies force = load(pieces(bodies.forces + i), each<2, 0>.data());
    const Bodies torque = load(pieces(bodies.forces + i), each<2, 1>.data());
    const Three<Lanes> acceleration = (1 / mass) * three(force) + fall;
    const Three<Lanes> turning = (1 / (0.4 * mass * radius * radius)) * three(torque);  // moment_of_inertia()
    const Three<Lanes> velocity = load_three(bodies.velocity + i) + half * acceleration;
    store_three(acceleration, bodies.acceleration + i);
    store_three(turning, bodies.angular_acceleration + i);
    store_three(velocity, bodies.velocity + i);
    store_three(load_three(bodies.spin + i) + half * turning, bodies.spin + i);
    const Three<Lanes> displacement =
        (load_three(bodies.position + i) - load_three(bodies.reference_position + i)) +
        (zero + dt) * (velocity + half * acceleration);
    const Lanes squared = dot(displacement, displacement);
    farthest = largest(squared, farthest);
    n_strange += squared >= 0 ? zero : zero + 1;
  }
  Real max = 0;
  for (int k = 0; k < width; ++k) max = std::max(max, n_strange[k] > 0 ? HUGE_VAL : farthest[k]);
  return max;
}

template <NormalLaw law, TangentialLaw tangential, Pulls pulls>
constexpr LawKernels kernels_of{{&run<law, tangential, pulls, false>, &run<law, tangential, pulls, true>},
                                &single<law, tangential, pulls>};

// clang-format off
#define SCREE_LAWS_OF(pulls)                                                                              \
  {{kernels_of<NormalLaw::linear, TangentialLaw::whole, pulls>,                                           \
    kernels_of<NormalLaw::linear, TangentialLaw::whole, pulls>,                                           \
    kernels_of<NormalLaw::linear, TangentialLaw::whole, pulls>},                                          \
   {kernels_of<NormalLaw::hertz, TangentialLaw::whole, pulls>,                                            \
    kernels_of<NormalLaw::hertz, TangentialLaw::increments, pulls>,                                       \
    kernels_of<NormalLaw::hertz, TangentialLaw::rescaled, pulls>}}
// clang-format on

}  // namespace

extern const ForceKernels force_kernels_of_set{
    name_of_set,
    {SCREE_LAWS_OF(Pulls::never), SCREE_LAWS_OF(Pulls::in_contact), SCREE_LAWS_OF(Pulls::beyond)},
    &drift,
    &kick};
#undef SCREE_LAWS_OF

}  // namespace scree::SCREE_SET
