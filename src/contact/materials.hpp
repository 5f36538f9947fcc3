#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contact/compliance.hpp"
#include "contact/elastic_contact.hpp"
#include "core/section.hpp"

namespace scree {

template <int D>
class Cohesion;

/// What two surfaces do to each other.
template <int D>
struct PairProperties {
  Real friction = 0;          ///< Coulomb's coefficient mu >= 0 [-]
  Real restitution = 0;       ///< Newton's coefficient e in [0, 1] [-]
  Real impact_stiffness = 1;  ///< in impacts, beside those of other pairs: only ratios count [-]
  Real rolling_friction = 0;  ///< mu_r: resisting torque over effective radius and normal force [-]
  ContactElasticity<D> elasticity;
  ImpactDamping damping;                        ///< of elastic contacts, as restitution asks
  std::shared_ptr<const Cohesion<D>> cohesion;  ///< null: the surfaces do not attract each other
  std::string where;                            ///< place in the deck
};

/// [materials.NAME] and [pairs."A-B"]: what bodies and walls are made of, by name. Nothing is mixed: two
/// materials that may touch need a pair of their own.
template <int D>
class Materials {
 public:
  /// Declares and reads both tables. Throws InputError for a pair of unknown materials or one given twice.
  void describe(Section& root);

  bool empty() const { return list_.empty(); }
  int size() const { return static_cast<int>(list_.size()); }
  const std::string& name(int material) const { return list_[index(material)].name; }
  /// Place in the deck.
  const std::string& where(int material) const { return list_[index(material)].where; }
  Real density(int material) const { return list_[index(material)].density; }  ///< [kg/m3]
  /// A question with its place in the deck if no solid is so light; else empty.
  std::string density_doubt(int material) const;
  /// Young's modulus [Pa]: 0 if the deck does not give it, infinite if "rigid".
  Real young_modulus(int material) const { return list_[index(material)].young_modulus; }
  Real poisson_ratio(int material) const { return list_[index(material)].poisson_ratio; }
  /// The material called `name`; the only one if the name is empty. Throws InputError that starts with
  /// `where` if there is none.
  int find(std::string_view name, const std::string& where) const;
  /// Null if the deck does not give the pair.
  const PairProperties<D>* pair(int a, int b) const {
    const int p = pair_of_[index(a) * list_.size() + index(b)];
    return p < 0 ? nullptr : &pairs_[index(p)];
  }
  bool has_rolling_friction() const { return has_rolling_friction_; }
  /// Whether the surfaces of some pair attract each other.
  bool has_cohesion() const { return has_cohesion_; }
  /// Whether some pair is elastic, and whether some pair is rigid.
  bool has_elastic_pairs() const { return has_elastic_pairs_; }
  bool has_rigid_pairs() const { return has_rigid_pairs_; }
  /// Throws InputError naming the pair if the deck does not give it.
  void require_pair(int a, int b) const;

 private:
  struct Material {
    std::string name;
    std::string where;
    Real density = 0;
    Real young_modulus = 0;
    Real poisson_ratio = 0;
  };
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  std::vector<Material> list_;
  std::vector<PairProperties<D>> pairs_;
  bool has_rolling_friction_ = false, has_cohesion_ = false, has_elastic_pairs_ = false,
       has_rigid_pairs_ = false;
  std::vector<int> pair_of_;  // size() x size(), -1: not given
};

}  // namespace scree
