#pragma once
#include "particles/volume.hpp"
#include "verify/grain_cases.hpp"

namespace scree {

/// Velocity and spin of a sphere.
struct Movement {
  Vec<3> velocity;
  Vec<3> spin;
};

struct Sphere {
  Real radius = 0;
  Real density = 0;
  Movement start{};
  Real mass() const { return density * body_volume<3>(radius); }
};

/// Sphere a meets sphere b, or a plane at rest if b has no radius.
struct Impact {
  std::string variant;
  Vec<3> normal;  ///< from a to b
  Sphere a, b;
  Real mu = 0, e = 0;

  bool meets_floor() const { return b.radius == 0; }
  Real inverse_mass() const { return 1 / a.mass() + (meets_floor() ? 0 : 1 / b.mass()); }
  /// Speed [m/s].
  Real approach() const { return dot(a.start.velocity - b.start.velocity, normal); }
  /// Velocity of the surface of b over that of a, along both.
  Vec<3> slip(const Movement& of_a, const Movement& of_b) const;
};

/// What rigid spheres do: the normal velocity of approach v_n reverses to e v_n, J_n = (1 + e) v_n m*, and
/// friction takes away the slip v_s of the surfaces or as much of it as Coulomb's law lets it,
/// J_t = min(mu J_n, 2/7 v_s m*). Source: impulse balance, spheres of I = 2/5 m r^2.
struct RigidImpact {
  Movement a, b;
  Vec<3> tangent;  ///< direction of the slip of b over a
  bool slips;      ///< to the end: J_t = mu J_n

  explicit RigidImpact(const Impact& impact);
};

/// Tests of Y. C. Chung and J. Y. Ooi, Granular Matter 13 (2011) 643, with spheres of this density.
std::vector<Impact> chung_3(Real density);
std::vector<Impact> chung_4(Real density);
std::vector<Impact> chung_5(Real density);
std::vector<Impact> chung_6(Real density);
std::vector<Impact> chung_7(Real density);
std::vector<Impact> chung_8(Real density);

/// Of the plane that spheres fall on.
inline const Vec<3> down{{0, 0, -1}};
/// Off the axes, so that nothing is zero by chance; `aside` is at right angles to it.
inline const Vec<3> oblique{{2.0 / 3, -1.0 / 3, 2.0 / 3}};
inline const Vec<3> aside{{1.0 / 3, -2.0 / 3, -2.0 / 3}};

/// How impacts share a box.
struct ImpactBox {
  Real gap = 0;  ///< to close [m]
  Real dt = 0;   ///< [s]
  std::optional<Elasticity> elasticity;
  std::string pair_keys;  ///< further ones of all pairs
};

/// All impacts of a case, each in a place of its own: bodies in the order of impacts, a before b.
GrainDeck<3> impact_deck(const std::vector<Impact>& impacts, const ImpactBox& box);

/// On more than one rank some pair has to have its spheres on two. Collective.
void demand_split_pair(GrainTable& table, const std::string& name, const std::vector<Impact>& impacts,
                       const Simulation<3>& simulation);

/// When the slowest sphere has closed its gap [s].
Real last_arrival(const std::vector<Impact>& impacts, Real gap);

}  // namespace scree
