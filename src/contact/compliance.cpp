#include "contact/compliance.hpp"

#include <numbers>

namespace scree {

template <int D>
void ContactElasticity<D>::describe(Section& section) {
  section.real_or_word(
      "stiffness", stiffness_, stiffness_word_, {"rigid"},
      {.unit = Unit::stiffness,
       .range = positive,
       .doc = "Normal force of a contact per overlap; \"rigid\" (also if no elastic constants "
              "are given): no overlap under load"});
  section.real(
      "young_modulus", young_modulus_,
      {.unit = Unit::pressure,
       .range = positive,
       .doc = D == 2 ? "Instead of stiffness: that of two parallel cylinders 1 m long of this modulus"
                     : "Instead of stiffness: that of Hertz's contact of two spheres of this modulus "
                       "at reference_load"});
  section.real("poisson_ratio", poisson_ratio_,
               {.range = {.min = -1, .max = 0.5, .min_open = true}, .doc = "Goes with young_modulus"});
  if constexpr (D == 3) {
    section.real(
        "reference_load", reference_load_,
        {.unit = Unit::force,
         .range = positive,
         .doc = "Normal force at which Hertz's contact is replaced by a spring; goes with young_modulus"});
    section.choice(
        "linearization", is_tangent_, {{"secant", false}, {"tangent", true}},
        {.doc = "Stiffness at reference_load: \"secant\" overlaps as Hertz says there, \"tangent\" "
                "oscillates as Hertz says about it. Goes with young_modulus"});
  }
  section.real_or_word(
      "tangential_ratio", tangential_ratio_, tangential_word_, {"rigid", "mindlin"},
      {.range = positive,
       .doc = "Tangential over normal stiffness: 2/7 beside a stiffness if not given; \"mindlin\" (beside "
              "young_modulus if not given): 2 (1 - nu) / (2 - nu); \"rigid\": contacts that stick do not "
              "deform"});
  if (!section.reading()) return;

  const bool elastic = young_modulus_ > 0;
  if (elastic && (stiffness_ > 0 || section.has("stiffness")))
    section.fail("stiffness",
                 "stiffness and young_modulus both say how stiff a contact is: give one of them");
  if (elastic && poisson_ratio_ == not_given)
    section.fail("young_modulus", "young_modulus needs poisson_ratio as well (about 0.3 for most solids)");
  if (!elastic && poisson_ratio_ != not_given)
    section.fail("poisson_ratio", "poisson_ratio has no effect without young_modulus: give both or none");
  if constexpr (D == 3) {
    if (elastic && reference_load_ == not_given)
      section.fail("young_modulus",
                   "young_modulus needs reference_load as well, since the stiffness of Hertz's contact grows "
                   "with its load; a typical contact force of the run is a good choice");
    if (!elastic && reference_load_ != not_given)
      section.fail("reference_load", "reference_load has no effect without young_modulus: remove it");
    if (!elastic && is_tangent_)
      section.fail("linearization", "linearization has no effect without young_modulus: remove it");
  }
  if (tangential_word_ == "mindlin" && !elastic)
    section.fail(
        "tangential_ratio",
        "tangential_ratio = \"mindlin\" needs young_modulus and poisson_ratio; with stiffness give a "
        "number (0.8 is that of a Poisson ratio of 0.33)");
  if ((tangential_ratio_ > 0 || tangential_word_ == "mindlin") && rigid())
    section.fail(
        "tangential_ratio",
        "tangential_ratio has no effect on a rigid contact: give stiffness or young_modulus, or remove it");
}

template <int D>
Real ContactElasticity<D>::normal_stiffness(Real effective_radius) const {
  if (rigid()) return HUGE_VAL;
  if (stiffness_ > 0) return stiffness_;
  const Real modulus = young_modulus_ / (2 * (1 - poisson_ratio_ * poisson_ratio_));
  if constexpr (D == 2) return std::numbers::pi / 4 * modulus;
  // F = c d^(3/2), so F/d = c^(2/3) F^(1/3).
  const Real c = 4.0 / 3 * modulus * std::sqrt(effective_radius);
  const Real secant = std::cbrt(c * c * reference_load_);
  return is_tangent_ ? 1.5 * secant : secant;
}

template <int D>
typename ContactElasticity<D>::Stiffness ContactElasticity<D>::stiffness(Real effective_radius) const {
  const Real normal = normal_stiffness(effective_radius);
  if (rigid() || tangential_word_ == "rigid") return {normal, HUGE_VAL};
  if (tangential_ratio_ > 0) return {normal, tangential_ratio_ * normal};
  if (stiffness_ > 0) return {normal, usual_tangential_ratio * normal};
  return {normal, 2 * (1 - poisson_ratio_) / (2 - poisson_ratio_) * normal};
}

template class ContactElasticity<2>;
template class ContactElasticity<3>;

}  // namespace scree
