// What a deck asks for and its scheme, or another part of the deck, does not go with.
#include <fmt/format.h>

#include "contact/cohesion.hpp"
#include "core/error.hpp"
#include "geometry/drive.hpp"
#include "run/run_deck.hpp"

namespace scree {

/// Where nothing would come of it.
template <int D>
void RunDeck<D>::refuse_cohesion(const std::string& scheme) const {
  const bool taken = stepper->traits().takes_cohesion;
  for (int a = 0; a < materials.size(); ++a)
    for (int b = 0; b <= a; ++b) {
      const PairProperties<D>* pair = materials.pair(a, b);
      if (!pair || !pair->cohesion || (taken && !has_shapes())) continue;
      throw InputError(
          fmt::format("{}: {} and {} attract each other, but {}; remove [pairs.\"...\".cohesion]",
                      pair->cohesion->where(), materials.name(a), materials.name(b),
                      taken ? "some bodies have a shape: cohesion is a law of round bodies"
                            : fmt::format("the scheme \"{}\" knows no cohesion as this deck has it set up: "
                                          "\"dem\" (with friction = \"spring\" or \"none\") and "
                                          "\"nonsmooth\" do",
                                          scheme)));
    }
}

template <int D>
void RunDeck<D>::refuse_driven_walls(const std::string& scheme) const {
  for (const DrivenState& wall : obstacles.driven())
    throw InputError(
        fmt::format("{}: type = \"driven\" is for the schemes \"nonsmooth\" and \"dem\" (there with friction "
                    "= \"spring\" or \"none\"), not for \"{}\" as this deck has it",
                    obstacles.drive_of(wall).where(), scheme));
}

/// Springs and resistance to rolling are laws of round contacts.
template <int D>
void RunDeck<D>::refuse_soft_shapes() const {
  for (int a = 0; a < materials.size(); ++a)
    for (int b = 0; b <= a; ++b) {
      const PairProperties<D>* pair = materials.pair(a, b);
      if (!pair || (pair->elasticity.rigid() && pair->rolling_friction == 0)) continue;
      throw InputError(
          fmt::format("{}: {} and {} have {}, a law of round bodies, but some bodies have a shape; "
                      "{}",
                      pair->where, materials.name(a), materials.name(b),
                      pair->elasticity.rigid() ? "rolling friction" : "a stiffness",
                      pair->elasticity.rigid() ? "set rolling_friction = 0: what is not round does "
                                                 "not roll for long"
                                               : "bodies with shapes are rigid"));
    }
}

template <int D>
void RunDeck<D>::refuse_shapes(const std::string& scheme) const {
  for (const ParticleGroup<D>* group : all_groups())
    if (group->sizes.has_shapes())
      throw InputError(
          fmt::format("{}: \"{}\" has a shape, but the scheme \"{}\" moves balls only; the schemes "
                      "\"nonsmooth\" and \"pbd\" move bodies with shapes",
                      group->where, group->name, scheme));
}

template <int D>
void RunDeck<D>::refuse_contact_problems(const std::string& scheme) const {
  if (output.where_fclib.empty()) return;
  throw InputError(
      fmt::format("{}: [output.fclib] has no effect: the scheme \"{}\" solves no contact problems; remove it",
                  output.where_fclib, scheme));
}

/// An impact is over when a row is written.
template <int D>
void RunDeck<D>::refuse_forces_of_contacts(const std::string& scheme) const {
  const auto refuse = [&](const std::string& where, const std::string& what) {
    throw InputError(
        fmt::format("{}: {} needs the forces of contacts, but the scheme \"{}\" does not tell "
                    "those of impacts; remove it, or take the scheme \"nonsmooth\" or \"dem\"",
                    where, what, scheme));
  };
  for (const NamedMeasure<D>& m : measures)
    if (m.measure->needs_forces()) refuse(m.where, fmt::format("the measure \"{}\"", m.name));
  if (continuum->is_asked_for()) refuse(continuum->where(), "[output.continuum]");
}

template <int D>
void RunDeck<D>::refuse_bodies_beside_scene(const std::string& scheme) const {
  for (const ParticleGroup<D>* group : all_groups())
    throw InputError(
        fmt::format("{}: [particles] and [inlets] have no effect in the scheme \"{}\": {}; remove \"{}\"",
                    group->where, scheme, stepper->scene()->words().instead_of_particles, group->name));
}

template <int D>
void RunDeck<D>::refuse_inertia(const std::string& scheme, const std::string& where_gravity) const {
  const auto refuse = [&](const std::string& where, const std::string& what) {
    throw InputError(fmt::format("{}: {} has no effect: the scheme \"{}\" knows no inertia; remove it", where,
                                 what, scheme));
  };
  if (!where_gravity.empty()) refuse(where_gravity, "gravity");
  if (!forces.empty()) refuse(forces[0]->where(), fmt::format("[forces.{}]", forces[0]->name()));
  for (const ParticleGroup<D>* group : all_groups()) {
    if (!group->material.empty()) refuse(group->where_material, "material");
    if (group->velocity != Vec<D>{} || group->angular_velocity != Spin<D>{} || group->random_speed > 0)
      refuse(group->where, "the velocity at the start");
    if (!group->rotates) refuse(group->where, "rotates");
  }
  for (const InletTable<D>& inlet : events.inlets.list())
    if (inlet.mass_rate > 0) refuse(inlet.where_mass_rate, "mass_rate");
  for (const auto& stage : events.stages.list())
    if (stage.kinetic_energy >= 0) refuse(stage.where_kinetic_energy, "kinetic_energy");
  for (const Obstacle<D>& obstacle : obstacles.list())
    if (!obstacle.material.empty()) refuse(obstacle.where_material, "material");
  if (!materials.empty()) refuse(materials.where(0), "[materials]");
}

/// A stage cannot wait for stresses that the cell is not asked for by then.
template <int D>
void RunDeck<D>::check_cell_orders() const {
  DeformingCell<D> then = cell;
  then.start_orders();
  for (const auto& stage : events.stages.list()) {
    if (!stage.where_cell.empty()) cell.check_order(box, stage.cell, stage.where_cell);
    then.change_order(stage.cell);
    if (stage.stress_within < 0 || then.is_stress_driven()) continue;
    throw InputError(
        fmt::format("{}: stage \"{}\" waits for stresses of the cell, but {}", stage.where_stress, stage.name,
                    cell.is_given() ? "the cell is asked for none by then: give stress or pressure in "
                                      "[domain.deformation] or in deformation of the stage"
                                    : "there is no [domain.deformation]"));
  }
}

/// The cell must be all that there is to the boundary.
template <int D>
void RunDeck<D>::check_deformation(const std::string& scheme, const std::string& where_gravity) const {
  check_cell_orders();
  if (!cell.is_given()) return;
  const auto refuse = [&](const std::string& where, const std::string& what) {
    throw InputError(fmt::format("{}: [domain.deformation] {}", where, what));
  };
  if (!stepper->traits().deforms_cells)
    refuse(cell.where(),
           fmt::format("is for the scheme \"dem\" with friction = \"spring\" or \"none\", not for "
                       "\"{}\" as this deck has it",
                       scheme));
  for (int k = 0; k < D; ++k)
    if (!box.is_periodic(k))
      refuse(cell.where(),
             fmt::format("needs a domain that is periodic along all axes: axis {} is open", "xyz"[k]));
  for (const Obstacle<D>& obstacle : obstacles.list())
    refuse(cell.where(),
           fmt::format("does not go with obstacles: images of \"{}\" would have to move with the cell",
                       obstacle.name));
  for (const ParticleGroup<D>& group : groups)
    if (group.mobility == 0)
      refuse(group.where, "does not go with mobility = 0: what is held in place would not go with the flow");
  if (gravity != Vec<D>{}) refuse(where_gravity, "does not go with gravity: nothing would hold the bodies");
  for (const InletTable<D>& inlet : events.inlets.list())
    refuse(inlet.bodies.where, "does not go with [inlets], which have a place in space");
  if (!events.outlets.empty())
    refuse(cell.where(), "does not go with [outlets], which have a place in space");
  for (const auto& field : forces)
    if (field->has_potential())
      refuse(field->where(), fmt::format("does not go with [forces.{}], whose energy depends on the place in "
                                         "space: images of a body would have other energies",
                                         field->name()));
  if (continuum->is_asked_for())
    refuse(cell.where(), "does not go with [output.continuum]: take the measures \"stress\" and \"profile\"");
}

#define SCREE_REFUSALS(D)                                                                 \
  template void RunDeck<D>::refuse_cohesion(const std::string&) const;                    \
  template void RunDeck<D>::refuse_driven_walls(const std::string&) const;                \
  template void RunDeck<D>::refuse_soft_shapes() const;                                   \
  template void RunDeck<D>::refuse_shapes(const std::string&) const;                      \
  template void RunDeck<D>::refuse_contact_problems(const std::string&) const;            \
  template void RunDeck<D>::refuse_forces_of_contacts(const std::string&) const;          \
  template void RunDeck<D>::refuse_bodies_beside_scene(const std::string&) const;         \
  template void RunDeck<D>::refuse_inertia(const std::string&, const std::string&) const; \
  template void RunDeck<D>::check_cell_orders() const;                                    \
  template void RunDeck<D>::check_deformation(const std::string&, const std::string&) const;
SCREE_REFUSALS(2)
SCREE_REFUSALS(3)
#undef SCREE_REFUSALS

}  // namespace scree
