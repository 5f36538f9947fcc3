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
  return {law.stiffness, law.tangential, law.damping, law.damping_ratio, law.friction, law.rolling_friction};
}
/// The laws of `width` contacts.
Law<Lanes> laws_of(const ForceBatches& p, Lanes material_a, Lanes material_b) {
  const Lanes zero{};
  if (p.n_materials == 1) {
    const SoftLaw& one = p.laws[0];
    return {zero + one.stiffness,     zero + one.tangential, zero + one.damping,
            zero + one.damping_ratio, zero + one.friction,   zero + one.rolling_friction};
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
  }
  return laws;
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

History<Real> history_of(const ContactHistory& h) {
  return {three(h.spring), h.stiffness};
}
ContactHistory record_of(const History<Real>& h) {
  return {{h.spring.x, h.spring.y, h.spring.z}, h.stiffness};
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
const Quad& quad(const SweepRecord& record) {
  return reinterpret_cast<const Quad&>(record);
}

/// Adds the forces of `width` contacts one by one, so that sums do not depend on the width.
void add_forces(const Force<Lanes>& f, const Contact<Lanes>& c, const Index* low, const Index* high,
                ForceRecord* forces) {
  static constexpr auto places = [] {
    std::array<Index, width> all{};
    for (Index k = 0; k < width; ++k) all[static_cast<std::size_t>(k)] = k;
    return all;
  }();
  const Lanes zero{};
  const auto rows = [&](const Three<Lanes>& v, SweepRecord* to) {
    store({v.x, v.y, v.z, zero}, to, places.data());
  };
  SweepRecord force[width];
  SweepRecord torque_a[width];
  SweepRecord torque_b[width];
  rows(f.force, force);
  rows(c.lever_a * f.torque + f.rolling, torque_a);
  rows(c.lever_b * f.torque - f.rolling, torque_b);
  for (int k = 0; k < width; ++k) {
    ForceRecord& a = forces[low[k]];
    ForceRecord& b = forces[high[k]];
    quad(a.force) -= quad(force[k]);
    quad(a.torque) -= quad(torque_a[k]);
    quad(b.force) += quad(force[k]);
    quad(b.torque) -= quad(torque_b[k]);
  }
}
void add_force(const Force<Real>& f, const Contact<Real>& c, ForceRecord& a, ForceRecord& b) {
  const Three<Real> on_a = c.lever_a * f.torque + f.rolling;
  const Three<Real> on_b = c.lever_b * f.torque - f.rolling;
  quad(a.force) -= Quad{f.force.x, f.force.y, f.force.z, 0};
  quad(a.torque) -= Quad{on_a.x, on_a.y, on_a.z, 0};
  quad(b.force) += Quad{f.force.x, f.force.y, f.force.z, 0};
  quad(b.torque) -= Quad{on_b.x, on_b.y, on_b.z, 0};
}

/// Lists the places of touching pairs as 2 * place + whether they touched before.
template <bool shifted>
Index find_touching(const ForceBatches& p) {
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
      const unsigned touches = less(dot(d, d), reach * reach);
      for (int k = 0; k < width; ++k) {
        const unsigned now = touches >> k & 1U;
        std::uint8_t& flag = p.touching[place + k];
        p.list[n] = 2 * (place + k) + flag;
        flag = static_cast<std::uint8_t>(now);
        n += static_cast<Index>(now);
      }
    }
  return n;
}

template <NormalLaw law, TangentialLaw tangential, bool shifted>
ForceCounts run(const ForceBatches& p) {
  const Index n = find_touching<shifted>(p);
  const auto ends_of = [&](Index place) {
    return p.ends + 2 * batch_size * (place / batch_size) + place % batch_size;
  };
  const auto shift_of = [&](Index place) { return three(p.shift_table + 3 * p.shifts[place]); };
  constexpr Index ahead = 16;
  const Lanes zero{};
  Lanes deepest = zero;
  Lanes n_held = zero;
  Index next = 0;
  for (; next + width <= n; next += width) {
    Index place[width];
    Index low[width];
    Index high[width];
    Lanes remembers = zero;
    for (int k = 0; k < width; ++k) {
      if (next + k + ahead < n) {
        const Index coming = p.list[next + k + ahead] >> 1;
        const Index* ends = ends_of(coming);
        __builtin_prefetch(p.motions + ends[0]);
        __builtin_prefetch(p.motions + ends[batch_size]);
        __builtin_prefetch(p.forces + ends[0], 1);
        __builtin_prefetch(p.forces + ends[batch_size], 1);
        __builtin_prefetch(p.history + coming, 1);
      }
      const Index entry = p.list[next + k];
      place[k] = entry >> 1;
      remembers[k] = entry & 1;
      const Index* ends = ends_of(place[k]);
      low[k] = ends[0];
      high[k] = ends[batch_size];
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
    const LaneMotion a = load_motion(p.motions, low);
    const LaneMotion b = load_motion(p.motions, high);
    // Pairs that are both held in place do not count; what their forces come to does not matter.
    const auto moves = a.motion.inverse_mass + b.motion.inverse_mass > 0;
    deepest = largest(deepest, moves ? c.overlap : zero);
    n_held += moves ? zero : zero + 1;

    const Bodies before = load(pieces(p.history), place);
    History<Lanes> history{
        {remembers > 0 ? before.x : zero, remembers > 0 ? before.y : zero, remembers > 0 ? before.z : zero},
        remembers > 0 ? before.radius : zero};
    const Force<Lanes> f =
        force_of<law, tangential>(p, laws_of(p, a.material, b.material), c, a.motion, b.motion, history);
    const Three<Lanes>& spring = history.spring;
    store({spring.x, spring.y, spring.z, history.stiffness}, pieces(p.history), place);
    add_forces(f, c, low, high, p.forces);
  }

  ForceCounts counts;
  counts.n_touching = n;
  for (int k = 0; k < width; ++k) {
    counts.deepest = std::max(counts.deepest, deepest[k]);
    counts.n_touching -= static_cast<Index>(n_held[k]);
  }
  for (; next < n; ++next) {
    const Index place = p.list[next] >> 1;
    const Index* ends = ends_of(place);
    const Index low = ends[0];
    const Index high = ends[batch_size];
    const MotionRecord& a = p.motions[low];
    const MotionRecord& b = p.motions[high];
    Three<Real> vector = three(p.places[high].x) - three(p.places[low].x);
    if constexpr (shifted) vector = vector - shift_of(place);
    const Contact<Real> c = contact_of(vector, p.places[low].radius, p.places[high].radius);
    if (a.inverse_mass + b.inverse_mass > 0)
      counts.deepest = std::max(counts.deepest, c.overlap);
    else
      --counts.n_touching;
    History<Real> history = (p.list[next] & 1) != 0 ? history_of(p.history[place]) : History<Real>{};
    const Force<Real> f = force_of<law, tangential>(p, numbers_of(law_of(p, a.material, b.material)), c,
                                                    motion_of(a), motion_of(b), history);
    p.history[place] = record_of(history);
    add_force(f, c, p.forces[low], p.forces[high]);
  }
  return counts;
}

template <NormalLaw law, TangentialLaw tangential>
SoftForce single(const ForceBatches& p, const SoftContact& contact, const MotionRecord& a,
                 const MotionRecord& b, ContactHistory& history) {
  const Contact<Real> c{three(contact.normal.component.data()), contact.overlap, contact.effective_radius,
                        contact.lever_a, contact.lever_b};
  History<Real> now = history_of(history);
  const Force<Real> f = force_of<law, tangential>(p, numbers_of(law_of(p, a.material, b.material)), c,
                                                  motion_of(a), motion_of(b), now);
  history = record_of(now);
  const auto vec = [](const Three<Real>& v) { return Vec<3>{{v.x, v.y, v.z}}; };
  return {vec(f.force), vec(f.torque), vec(f.rolling)};
}

Lanes column(const Real* first, std::size_t stride) {
  Lanes v{};
  for (std::size_t k = 0; k < width; ++k) v[k] = first[k * stride];
  return v;
}

void turn(Orientation<3>* orientations, const Spin<3>* spins, std::size_t n, Real dt) {
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const Real* first_q = orientations[i].component.data();
    const Real* first_spin = spins[i].component.data();
    const std::array<Lanes, 4> q{column(first_q, 4), column(first_q + 1, 4), column(first_q + 2, 4),
                                 column(first_q + 3, 4)};
    const std::array<Lanes, 3> spin{column(first_spin, 3), column(first_spin + 1, 3),
                                    column(first_spin + 2, 3)};
    const Lanes h_squared = 0.25 * dt * dt * (spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]);
    if (any_less(Lanes{} + small_turn, h_squared)) {
      for (std::size_t k = i; k < i + width; ++k) orientations[k] = turned<3>(orientations[k], spins[k], dt);
      continue;
    }
    const std::array<Lanes, 4> next = turned_a_little(q, spin, h_squared, dt);
    for (std::size_t k = 0; k < width; ++k)
      for (std::size_t c = 0; c < 4; ++c) orientations[i + k].component[c] = next[c][k];
  }
  for (; i < n; ++i) orientations[i] = turned<3>(orientations[i], spins[i], dt);
}

template <NormalLaw law, TangentialLaw tangential>
constexpr LawKernels kernels_of{{&run<law, tangential, false>, &run<law, tangential, true>},
                                &single<law, tangential>};

}  // namespace

extern const ForceKernels force_kernels_of_set{name_of_set,
                                               {{kernels_of<NormalLaw::linear, TangentialLaw::whole>,
                                                 kernels_of<NormalLaw::linear, TangentialLaw::whole>,
                                                 kernels_of<NormalLaw::linear, TangentialLaw::whole>},
                                                {kernels_of<NormalLaw::hertz, TangentialLaw::whole>,
                                                 kernels_of<NormalLaw::hertz, TangentialLaw::increments>,
                                                 kernels_of<NormalLaw::hertz, TangentialLaw::rescaled>}},
                                               &turn};

}  // namespace scree::SCREE_SET
