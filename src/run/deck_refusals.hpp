#pragma once
#include <fmt/format.h>

#include <string>

#include "contact/cohesion.hpp"
#include "core/error.hpp"
#include "geometry/driven_motion.hpp"
#include "run/run_deck.hpp"

namespace scree {

/// What a deck asks for and its scheme, or another part of the deck, does not go with: a part of
/// run_deck.cpp. All members throw InputError.
template <int D>
class DeckRefusals {
 public:
  DeckRefusals(const RunDeck<D>& deck, const std::string& scheme, const std::string& where_gravity)
      : deck_(deck), scheme_(scheme), where_gravity_(where_gravity) {}

  /// Where nothing would come of it.
  void refuse_cohesion() const {
    const bool taken = deck_.stepper->traits().takes_cohesion;
    for (int a = 0; a < deck_.materials.size(); ++a)
      for (int b = 0; b <= a; ++b) {
        const PairProperties<D>* pair = deck_.materials.pair(a, b);
        if (!pair || !pair->cohesion || (taken && !deck_.has_shapes())) continue;
        throw InputError(
            fmt::format("{}: {} and {} attract each other, but {}; remove [pairs.\"...\".cohesion]",
                        pair->cohesion->where(), deck_.materials.name(a), deck_.materials.name(b),
                        taken ? "some bodies have a shape: cohesion is a law of round bodies"
                              : fmt::format("the scheme \"{}\" knows no cohesion as this deck has it set up: "
                                            "\"dem\" (with friction = \"spring\" or \"none\") and "
                                            "\"nonsmooth\" do",
                                            scheme_)));
      }
  }

  void refuse_driven_walls() const {
    for (const DrivenState& wall : deck_.obstacles.driven())
      throw InputError(fmt::format(
          "{}: type = \"driven\" is for the schemes \"nonsmooth\" and \"dem\" (there with friction "
          "= \"spring\" or \"none\"), not for \"{}\" as this deck has it",
          deck_.obstacles.driven_motion_of(wall).where(), scheme_));
  }

  /// Springs and resistance to rolling are laws of round contacts.
  void refuse_soft_shapes() const {
    if (!deck_.has_shapes()) return;
    for (int a = 0; a < deck_.materials.size(); ++a)
      for (int b = 0; b <= a; ++b) {
        const PairProperties<D>* pair = deck_.materials.pair(a, b);
        if (!pair || (pair->elasticity.rigid() && pair->rolling_friction == 0)) continue;
        throw InputError(
            fmt::format("{}: {} and {} have {}, a law of round bodies, but some bodies have a shape; "
                        "{}",
                        pair->where, deck_.materials.name(a), deck_.materials.name(b),
                        pair->elasticity.rigid() ? "rolling friction" : "a stiffness",
                        pair->elasticity.rigid() ? "set rolling_friction = 0: what is not round does "
                                                   "not roll for long"
                                                 : "bodies with shapes are rigid"));
      }
  }

  void refuse_shapes() const {
    for (const ParticleGroup<D>* group : deck_.all_groups())
      if (group->sizes.has_shapes())
        throw InputError(
            fmt::format("{}: \"{}\" has a shape, but the scheme \"{}\" moves spheres only; the schemes "
                        "\"nonsmooth\" and \"pbd\" move bodies with shapes",
                        group->where, group->name, scheme_));
  }

  void refuse_contact_problems() const {
    if (deck_.output.where_fclib.empty()) return;
    throw InputError(fmt::format(
        "{}: [output.fclib] has no effect: the scheme \"{}\" solves no contact problems; remove it",
        deck_.output.where_fclib, scheme_));
  }

  /// An impact is over when a row is written.
  void refuse_forces_of_contacts() const {
    const auto refuse = [&](const std::string& where, const std::string& what) {
      throw InputError(
          fmt::format("{}: {} needs the forces of contacts, but the scheme \"{}\" does not report "
                      "those of impacts; remove it, or take the scheme \"nonsmooth\" or \"dem\"",
                      where, what, scheme_));
    };
    for (const NamedMeasure<D>& m : deck_.measures)
      if (m.measure->needs_forces()) refuse(m.where, fmt::format("the measure \"{}\"", m.name));
  }

  void refuse_bodies_beside_environment() const {
    for (const ParticleGroup<D>* group : deck_.all_groups())
      throw InputError(fmt::format(
          "{}: [particles] and [inlets] have no effect in the scheme \"{}\": {}; remove \"{}\"", group->where,
          scheme_, deck_.stepper->environment()->messages().instead_of_particles, group->name));
  }

  void refuse_inertia() const {
    const auto refuse = [&](const std::string& where, const std::string& what) {
      throw InputError(fmt::format("{}: {} has no effect: the scheme \"{}\" knows no inertia; remove it",
                                   where, what, scheme_));
    };
    if (!where_gravity_.empty()) refuse(where_gravity_, "gravity");
    if (!deck_.forces.empty())
      refuse(deck_.forces[0]->where(), fmt::format("[forces.{}]", deck_.forces[0]->name()));
    for (const ParticleGroup<D>* group : deck_.all_groups()) {
      if (!group->material.empty()) refuse(group->where_material, "material");
      if (group->velocity != Vec<D>{} || group->angular_velocity != Spin<D>{} || group->random_speed > 0)
        refuse(group->where, "the velocity at the start");
      if (!group->rotates) refuse(group->where, "rotates");
    }
    for (const InletTable<D>& inlet : deck_.events.inlets.list())
      if (inlet.mass_rate > 0) refuse(inlet.where_mass_rate, "mass_rate");
    for (const auto& stage : deck_.events.stages.list())
      if (stage.kinetic_energy >= 0) refuse(stage.where_kinetic_energy, "kinetic_energy");
    for (const Obstacle<D>& obstacle : deck_.obstacles.list())
      if (!obstacle.material.empty()) refuse(obstacle.where_material, "material");
    if (!deck_.materials.empty()) refuse(deck_.materials.where(0), "[materials]");
  }

  /// The flow that answers a stress is found between the sweeps of a solver, and residuals are shares of one.
  void check_loads(const DomainDeformation<D>& deformation, const std::string& where) const {
    if (deformation.is_stress_driven() && deformation.largest_target() == 0)
      throw InputError(where +
                       ": shear_stress = 0 is the only stress that is asked for, so it is not known what is "
                       "little: give a stress or pressure with it, or shear_rate = 0");
    const SchemeTraits traits = deck_.stepper->traits();
    if (!deformation.is_stress_driven() || !traits.deforms_domain || traits.follows_stress) return;
    throw InputError(fmt::format(
        "{}: with the scheme \"{}\" stresses and pressure need solver.type = \"nsgs\"; take it, or "
        "give rates in [domain.deformation]",
        where, scheme_));
  }

  /// A stage cannot wait for stresses that the domain is not asked for by then.
  void check_deformation_orders() const {
    DomainDeformation<D> then = deck_.deformation;
    then.start_orders();
    check_loads(then, deck_.deformation.where());
    for (const auto& stage : deck_.events.stages.list()) {
      if (!stage.where_deformation.empty())
        deck_.deformation.check_order(deck_.box, stage.deformation, stage.where_deformation);
      then.change_order(stage.deformation);
      check_loads(then, stage.where_deformation);
      if (stage.stress_within < 0 || then.is_stress_driven()) continue;
      throw InputError(fmt::format(
          "{}: stage \"{}\" waits for stresses of the domain, but {}", stage.where_stress, stage.name,
          deck_.deformation.is_given() ? "the domain is asked for none by then: give stress, pressure or "
                                         "shear_stress in [domain.deformation] or in deformation of the stage"
                                       : "there is no [domain.deformation]"));
    }
  }

  /// The domain must be all that there is to the boundary.
  void check_deformation() const {
    check_deformation_orders();
    if (!deck_.deformation.is_given()) return;
    const auto refuse = [&](const std::string& where, const std::string& what) {
      throw InputError(fmt::format("{}: [domain.deformation] {}", where, what));
    };
    if (!deck_.stepper->traits().deforms_domain)
      refuse(deck_.deformation.where(),
             fmt::format("is for the schemes \"nonsmooth\" and \"dem\", this with friction = \"spring\" or "
                         "\"none\", not for \"{}\" as this deck has it",
                         scheme_));
    for (int k = 0; k < D; ++k)
      if (!deck_.box.is_periodic(k))
        refuse(deck_.deformation.where(),
               fmt::format("needs a domain that is periodic along all axes: axis {} is open", "xyz"[k]));
    for (const Obstacle<D>& obstacle : deck_.obstacles.list())
      refuse(deck_.deformation.where(),
             fmt::format("does not go with obstacles: images of \"{}\" would have to move with the cell",
                         obstacle.name));
    for (const ParticleGroup<D>& group : deck_.groups)
      if (group.mobility == 0)
        refuse(group.where, "does not go with mobility = 0: what is fixed would not go with the flow");
    if (deck_.gravity != Vec<D>{})
      refuse(where_gravity_, "does not go with gravity: nothing would hold the bodies");
    for (const InletTable<D>& inlet : deck_.events.inlets.list())
      refuse(inlet.bodies.where, "does not go with [inlets], which have a place in space");
    if (!deck_.events.outlets.empty())
      refuse(deck_.deformation.where(), "does not go with [outlets], which have a place in space");
    for (const auto& field : deck_.forces)
      if (field->has_potential())
        refuse(field->where(),
               fmt::format("does not go with [forces.{}], whose energy depends on the place in "
                           "space: images of a body would have other energies",
                           field->name()));
  }

 private:
  const RunDeck<D>& deck_;
  const std::string &scheme_, &where_gravity_;
};

}  // namespace scree
