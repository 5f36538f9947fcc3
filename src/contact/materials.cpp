#include "contact/materials.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "contact/cohesion.hpp"
#include "core/error.hpp"

namespace scree {

template <int D>
void Materials<D>::describe(Section& root) {
  root.tables(
      "materials", {.doc = "What bodies and obstacles are made of."},
      [&](const std::string& name, Section& section) {
        Material material;
        material.name = name;
        section.real("density", material.density,
                     {.unit = Unit::density,
                      .range = positive,
                      .required = true,
                      .doc = D == 2 ? "Mass per volume; disks count as 1 m thick" : "Mass per volume"});
        std::string word;
        section.real_or_word("young_modulus", material.young_modulus, word, {"rigid"},
                             {.unit = Unit::pressure,
                              .range = positive,
                              .doc = "Young's modulus of Hertz contacts in the scheme \"dem\"; \"rigid\": "
                                     "only the other body deforms"});
        Real poisson_ratio = -2;  // not given: a value that the key refuses
        section.real("poisson_ratio", poisson_ratio,
                     {.range = {.min = -1, .max = 0.5, .min_open = true}, .doc = "Goes with young_modulus"});
        if (!section.reading()) return;
        if (word == "rigid") material.young_modulus = HUGE_VAL;
        if (section.has("poisson_ratio")) material.poisson_ratio = poisson_ratio;
        if (material.young_modulus == 0 && section.has("poisson_ratio"))
          section.fail("poisson_ratio",
                       "poisson_ratio has no effect without young_modulus: give both or none");
        material.where = section.where("density");
        list_.push_back(std::move(material));
      });
  pair_of_.assign(list_.size() * list_.size(), -1);
  root.tables(
      "pairs",
      {.doc = "Contact of two materials; the name is \"A-B\" in any order. There are no mixing rules: bodies "
              "and obstacles that may touch need their pair."},
      [&](const std::string& name, Section& section) {
        PairProperties<D> properties;
        section.real("friction", properties.friction,
                     {.range = non_negative, .required = true, .doc = "Coefficient of Coulomb friction"});
        section.real("restitution", properties.restitution,
                     {.range = unit_interval,
                      .required = true,
                      .doc = "Coefficient of restitution: rebound over approach speed"});
        section.real("impact_stiffness", properties.impact_stiffness,
                     {.range = positive,
                      .doc = "Stiffness in [nonsmooth] impacts = \"wave\", beside that of other pairs: only "
                             "ratios count"});
        section.real("rolling_friction", properties.rolling_friction,
                     {.range = non_negative,
                      .doc = "Coefficient of rolling friction: torque against rolling and spinning, over "
                             "effective radius and normal force"});
        properties.elasticity.describe(section);
        section.optional_table("cohesion", {.doc = "Attraction of the two surfaces"}, [&](Section& table) {
          std::unique_ptr<Cohesion<D>> cohesion;
          table.kind("type", cohesion, {.required = true, .doc = "Kind of attraction"});
          if (!table.reading()) return;
          has_cohesion_ = true;
          properties.cohesion = std::move(cohesion);
        });
        if (!section.reading()) return;
        has_rolling_friction_ |= properties.rolling_friction > 0;
        (properties.elasticity.rigid() ? has_rigid_pairs_ : has_elastic_pairs_) = true;
        properties.damping = impact_damping(properties.restitution);
        properties.where = section.where("friction");
        // Names may hold hyphens themselves: the split must give two materials.
        int a = -1;
        int b = -1;
        for (std::size_t hyphen = name.find('-'); hyphen != name.npos; hyphen = name.find('-', hyphen + 1)) {
          const auto first = std::ranges::find(list_, name.substr(0, hyphen), &Material::name);
          const auto second = std::ranges::find(list_, name.substr(hyphen + 1), &Material::name);
          if (first == list_.end() || second == list_.end()) continue;
          a = static_cast<int>(first - list_.begin());
          b = static_cast<int>(second - list_.begin());
        }
        if (a < 0) {
          std::string known;
          for (const Material& material : list_) known += (known.empty() ? "" : ", ") + material.name;
          section.fail("friction",
                       fmt::format("\"{}\" is no pair of materials: the name must be A-B, with A and "
                                   "B among {}",
                                   name, known.empty() ? "(none: add [materials.NAME])" : known));
        }
        const auto n = list_.size();
        if (pair_of_[index(a) * n + index(b)] >= 0)
          section.fail("friction", fmt::format("the pair of {} and {} is given twice", list_[index(a)].name,
                                               list_[index(b)].name));
        pair_of_[index(a) * n + index(b)] = pair_of_[index(b) * n + index(a)] =
            static_cast<int>(pairs_.size());
        pairs_.push_back(std::move(properties));
      });
}

template <int D>
std::string Materials<D>::density_doubt(int material) const {
  constexpr Real lightest_solid = 25;  // [kg/m3], of foam
  if (density(material) >= lightest_solid) return "";
  return fmt::format("{}: the density of {} is {:g} kg/m3, less than that of foam: is \"{:g} g/cm3\" meant?",
                     where(material), name(material), density(material), density(material));
}

template <int D>
int Materials<D>::find(std::string_view name, const std::string& where) const {
  std::string known;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].name == name) return static_cast<int>(i);
    known += (known.empty() ? "" : ", ") + list_[i].name;
  }
  if (name.empty() && list_.size() == 1) return 0;
  if (name.empty())
    throw InputError(
        fmt::format("{}: a material is missing: give material = \"NAME\" of a [materials.NAME] "
                    "table ({})",
                    where, known.empty() ? "there is none" : known));
  throw InputError(fmt::format("{}: there is no material '{}'; the deck has {}", where, name,
                               known.empty() ? "none" : known));
}

template <int D>
void Materials<D>::require_pair(int a, int b) const {
  if (pair(a, b)) return;
  throw InputError(
      fmt::format("{}: {} and {} may touch, but the deck has no properties of this pair: add "
                  "[pairs.\"{}-{}\"] with friction and restitution",
                  list_[index(a)].where, name(a), name(b), name(a), name(b)));
}

template class Materials<2>;
template class Materials<3>;

}  // namespace scree
