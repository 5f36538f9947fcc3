#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "schemes/nonsmooth/contact_work.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"

namespace scree {

/// A few spheres, with or without obstacles: their contacts and friction problem, to which a law adds.
template <int D>
struct FewSpheres {
  struct Sphere {
    Vec<D> position, velocity;
    Real radius = 1, mass = 1;
  };

  /// `tables`: [pairs."m-m"] and obstacles of a deck; all is of the material m.
  FewSpheres(const std::vector<Sphere>& spheres, Real dt, const std::string& tables)
      : state{.comm = Comm(MPI_COMM_SELF), .box = {.lower = filled<D>(-9.0), .upper = filled<D>(9.0)}},
        neighborhood(state.comm, {}, Outside::error),
        assembler(state, neighborhood) {
    Deck deck = Deck::from_text("[materials.m]\ndensity = 1\n" + tables, "test.toml");
    state.materials.describe(deck.root());
    state.obstacles.describe(deck.root());
    state.type_material = {0};
    state.obstacle_material.assign(state.obstacles.list().size(), 0);
    BodyStore<D>& bodies = state.bodies;
    bodies.carry(FieldSet::with_inertia);
    bodies.resize(static_cast<Index>(spheres.size()), 0);
    for (std::size_t i = 0; i < spheres.size(); ++i) {
      bodies.id()[i] = static_cast<GlobalId>(i);
      bodies.position()[i] = bodies.previous()[i] = spheres[i].position;
      bodies.radius()[i] = spheres[i].radius;
      bodies.mass()[i] = spheres[i].mass;
      bodies.mobility()[i] = 1 / spheres[i].mass;
      bodies.velocity()[i] = spheres[i].velocity;
      bodies.orientation()[i] = upright<D>();
    }
    state.memory.clear(bodies.n_owned());
    state.obstacles.place(0);
    neighborhood.make_lattice(state, 1);
    neighborhood.rebuild(state);
    memory =
        ImpulseMemory<D>(state.materials.has_elastic_pairs(), false, state.materials.has_rolling_friction());
    memory.resize(neighborhood);
    law.dt = dt;
    assemble();
  }
  FewSpheres(const FewSpheres&) = delete;

  /// The problem without laws, of pairs within 1 % of their radii.
  void assemble() {
    free.predict(state, law.dt);
    FrictionStep<D> step;
    step.dt = law.dt;
    step.free_velocity = free.velocity();
    step.start_velocity = free.start_velocity();
    step.laws = [this](const ContactGraph<D>& contacts, FrictionProblem<D>& problem) {
      pairs.clear();
      for (std::size_t c = 0; c < contacts.size(); ++c) {
        pairs.push_back(&pair_of(state, contacts, c));
        problem.mu[c] = pairs[c]->friction;
      }
    };
    neighborhood.detect(state, {.tolerance = 0.01}, assembler.contacts());
    assembler.assemble(step);
  }
  StepContacts<D> step() {
    return {
        {state, assembler.contacts(), 1e-4}, assembler.problem(), law, pairs, assembler.surface_velocity(),
        assembler.mean_surface_velocity()};
  }
  FrictionProblem<D>& problem() { return assembler.problem(); }
  /// Where the velocities of a sphere begin: the neighbour list brings spheres into its own order.
  std::size_t at(std::size_t sphere) const {
    const auto ids = state.bodies.id();
    return static_cast<std::size_t>(std::ranges::find(ids, static_cast<GlobalId>(sphere)) - ids.begin()) *
           n_velocities<D>;
  }
  /// Of an impulse of the only contact, with the velocities that follow from it.
  ContactSolution<D> solution(const std::array<Real, D>& impulse) {
    r.assign(impulse.begin(), impulse.end());
    r.resize(problem().n_impulses());
    v = problem().free_velocity;
    add_impulse<D>(problem(), 0, impulse, v);
    mean = v;
    for (std::size_t i = 0; i < v.size(); ++i) mean[i] = 0.5 * (v[i] + problem().start_velocity[i]);
    return {r, v, mean};
  }

  State<D> state;
  Neighborhood<D> neighborhood;
  FrictionAssembler<D> assembler;
  FreeMotion<D> free;
  ImpulseMemory<D> memory{false, false, false};
  ContactLaw law{.impulse_scaling = 1};
  std::vector<const PairProperties<D>*> pairs;
  std::vector<Real> r, v, mean;
};

/// Two disks of mass 1 and radius 1 that touch, and approach each other at 2 m/s and slip at 1 m/s.
inline std::vector<FewSpheres<2>::Sphere> two_disks() {
  return {{.position = {-1, 0}, .velocity = {1, 0}}, {.position = {1, 0}, .velocity = {-1, 1}}};
}
/// A disk on a floor, which it meets at 2 m/s.
inline std::vector<FewSpheres<2>::Sphere> disk_on_floor() {
  return {{.position = {0, 1}, .velocity = {0, -2}, .mass = 2}};
}
inline const std::string floor_table = "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0]\nnormal = [0, 1]\n";

}  // namespace scree
