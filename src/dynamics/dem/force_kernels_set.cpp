// Compiled once per instruction set, with SCREE_SET naming the set (see dynamics/CMakeLists.txt). The
// arithmetic of a contact is the same in all of them.
#include <algorithm>

#include "dynamics/dem/force_kernels.hpp"
#include "dynamics/kernels/lanes.hpp"

namespace scree::SCREE_SET {

namespace {

/// A vector of three components and a spare one in one register, or two.
using Quad = Real __attribute__((vector_size(32)));

Quad quad(const Real* four) {
  Quad v;
  __builtin_memcpy(&v, four, sizeof v);
  return v;
}
Quad quad(const Vec<3>& v) {
  return Quad{v[0], v[1], v[2], 0};
}
void put(Quad v, Real* four) {
  __builtin_memcpy(four, &v, sizeof v);
}
Vec<3> three(Quad v) {
  return {{v[0], v[1], v[2]}};
}
/// Of the first three components.
Real dot3(Quad a, Quad b) {
  const Quad p = a * b;
  return p[0] + p[1] + p[2];
}
/// The spare component comes out as 0 if those of the factors are finite.
Quad cross3(Quad a, Quad b) {
  const Quad p =
      a * __builtin_shufflevector(b, b, 1, 2, 0, 3) - __builtin_shufflevector(a, a, 1, 2, 0, 3) * b;
  return __builtin_shufflevector(p, p, 1, 2, 0, 3);
}

struct Contact {
  Quad normal;  // from a to b; all spare components are 0
  Real overlap, effective_radius, lever_a, lever_b;
};
struct Force {
  Quad force, torque, rolling;
};

/// docs/method.md, eq. S.1-S.5.
template <NormalLaw law>
[[gnu::always_inline]] inline Force force_of(const ForceBatches& p, const SoftLaw& pair, const Contact& c,
                                             const MotionRecord& a, const MotionRecord& b, Quad& spring) {
  const Quad spare_off{1, 1, 1, 0};
  const Quad turning = (c.lever_a * quad(a.spin) + c.lever_b * quad(b.spin)) * spare_off;
  const Quad slip =
      (quad(b.velocity) - quad(a.velocity)) * spare_off - cross3(turning, c.normal);  // of b against a
  const Real opening = dot3(slip, c.normal);
  const Quad along_tangent = slip - opening * c.normal;
  const Real mass = 1 / (a.inverse_mass + b.inverse_mass);

  Real k_normal = pair.stiffness;
  Real k_tangent = pair.tangential;
  Real elastic = k_normal * c.overlap;
  if constexpr (law == NormalLaw::hertz) {
    const Real root = std::sqrt(c.effective_radius * c.overlap);
    k_normal *= root;
    k_tangent *= root;
    elastic = 2.0 / 3 * k_normal * c.overlap;
  }
  const Real gamma = pair.damping * std::sqrt(mass * k_normal);
  const Real normal_force = std::max(elastic - gamma * opening, p.least_force);

  spring += along_tangent * p.dt;
  spring -= dot3(spring, c.normal) * c.normal;  // the tangent plane turns with the bodies
  const Real gamma_tangent = pair.damping_ratio * gamma;
  const Quad damping = gamma_tangent * along_tangent;
  Quad friction = -(k_tangent * spring) - damping;
  const Real most = pair.friction * std::abs(normal_force);
  const Real squared = dot3(friction, friction);
  if (squared > most * most) {
    friction *= most / std::sqrt(squared);
    // The spring gives way by what slides; without a spring there is nothing to remember.
    spring = k_tangent > 0 ? (friction + damping) * (-1 / k_tangent) : Quad{};
  }
  Force result;
  result.force = normal_force * c.normal + friction;
  result.torque = cross3(c.normal, friction);
  result.rolling = Quad{};
  if (pair.rolling_friction > 0) {
    const Quad rolling = (quad(b.spin) - quad(a.spin)) * spare_off;
    const Real speed = std::sqrt(dot3(rolling, rolling));
    if (speed > 0)
      result.rolling =
          rolling * (-pair.rolling_friction * c.effective_radius * std::abs(normal_force) / speed);
  }
  return result;
}

const SoftLaw& law_of(const ForceBatches& p, const MotionRecord& a, const MotionRecord& b) {
  if (p.n_materials == 1) return p.laws[0];
  return p.laws[static_cast<Index>(a.material) * p.n_materials + static_cast<Index>(b.material)];
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
      Lanes dx = i.x - j.x;
      Lanes dy = i.y - j.y;
      Lanes dz = i.z - j.z;
      if constexpr (shifted)
        for (int k = 0; k < width; ++k) {
          const Real* shift = p.shift_table + 3 * p.shifts[place + k];
          dx[k] += shift[0];
          dy[k] += shift[1];
          dz[k] += shift[2];
        }
      const Lanes reach = i.radius + j.radius;
      const auto touches = dx * dx + dy * dy + dz * dz < reach * reach;
      for (int k = 0; k < width; ++k) {
        const Index now = touches[k] != 0;
        std::uint8_t& flag = p.touching[place + k];
        p.list[n] = 2 * (place + k) + flag;
        flag = static_cast<std::uint8_t>(now);
        n += now;
      }
    }
  return n;
}

template <NormalLaw law, bool shifted>
ForceCounts run(const ForceBatches& p) {
  ForceCounts counts;
  counts.n_touching = find_touching<shifted>(p);
  const auto ends_of = [&](Index entry) {
    const Index place = entry >> 1;
    return p.ends + 2 * batch_size * (place / batch_size) + place % batch_size;
  };
  constexpr Index ahead = 8;
  for (Index k = 0; k < counts.n_touching; ++k) {
    if (k + ahead < counts.n_touching) {
      const Index* coming = ends_of(p.list[k + ahead]);
      __builtin_prefetch(p.motions + coming[0]);
      __builtin_prefetch(p.motions + coming[batch_size]);
      __builtin_prefetch(p.forces + coming[0], 1);
      __builtin_prefetch(p.forces + coming[batch_size], 1);
      __builtin_prefetch(p.history + (p.list[k + ahead] >> 1), 1);
    }
    const Index entry = p.list[k];
    const Index* ends = ends_of(entry);
    const Index low = ends[0];
    const Index high = ends[batch_size];
    const MotionRecord& a = p.motions[low];
    const MotionRecord& b = p.motions[high];
    if (a.inverse_mass + b.inverse_mass == 0) continue;  // both held: nothing passes between them
    const Quad at_a = quad(p.places[low].x);
    const Quad at_b = quad(p.places[high].x);
    Quad d = at_b - at_a;
    if constexpr (shifted) {
      const Real* shift = p.shift_table + 3 * p.shifts[entry >> 1];
      d -= Quad{shift[0], shift[1], shift[2], 0};
    }
    const Real radius_a = at_a[3];
    const Real radius_b = at_b[3];
    d[3] = 0;
    const Real distance = std::sqrt(dot3(d, d));
    Contact c;
    c.normal = distance > 0 ? d * (1 / distance) : Quad{1, 0, 0, 0};
    c.overlap = radius_a + radius_b - distance;
    c.effective_radius = radius_a * radius_b / (radius_a + radius_b);
    c.lever_a = radius_a - 0.5 * c.overlap;
    c.lever_b = radius_b - 0.5 * c.overlap;
    counts.deepest = std::max(counts.deepest, c.overlap);

    ContactHistory& history = p.history[entry >> 1];
    Quad spring = (entry & 1) != 0 ? quad(history.spring) : Quad{};
    const Force f = force_of<law>(p, law_of(p, a, b), c, a, b, spring);
    put(spring, history.spring);
    ForceRecord& on_a = p.forces[low];
    ForceRecord& on_b = p.forces[high];
    put(quad(on_a.force) - f.force, on_a.force);
    put(quad(on_a.torque) - c.lever_a * f.torque - f.rolling, on_a.torque);
    put(quad(on_b.force) + f.force, on_b.force);
    put(quad(on_b.torque) - c.lever_b * f.torque + f.rolling, on_b.torque);
  }
  return counts;
}

template <NormalLaw law>
SoftForce single(const ForceBatches& p, const SoftContact& contact, const MotionRecord& a,
                 const MotionRecord& b, ContactHistory& history) {
  const Contact c{quad(contact.normal), contact.overlap, contact.effective_radius, contact.lever_a,
                  contact.lever_b};
  Quad spring = quad(history.spring);
  const Force f = force_of<law>(p, law_of(p, a, b), c, a, b, spring);
  put(spring, history.spring);
  return {three(f.force), three(f.torque), three(f.rolling)};
}

#define SCREE_TEXT_OF(name) #name
#define SCREE_TEXT(name) SCREE_TEXT_OF(name)

}  // namespace

extern const ForceKernels force_kernels_of_set{
    SCREE_TEXT(SCREE_SET),
    {{&run<NormalLaw::linear, false>, &run<NormalLaw::linear, true>},
     {&run<NormalLaw::hertz, false>, &run<NormalLaw::hertz, true>}},
    {&single<NormalLaw::linear>, &single<NormalLaw::hertz>}};

}  // namespace scree::SCREE_SET
