#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "particles/initial_packing.hpp"
#include "schemes/pbd/packer.hpp"
#include "support/message_of.hpp"

namespace scree {

/// Bodies of a deck text that has [particles.NAME] tables and may have [obstacles.NAME], as this rank makes
/// them.
template <int D>
struct Start {
  ObstacleSet<D> obstacles;
  std::vector<ParticleGroup<D>> groups;
  BodyStore<D> bodies;
  GlobalId next_id = 0;

  std::size_t size() const { return static_cast<std::size_t>(bodies.n_owned()); }
};

template <int D>
Start<D> make_bodies(const Comm& comm, const Box<D>& box, const std::string& toml, std::uint64_t seed = 7,
                     FieldSet field_set = FieldSet::always) {
  Deck deck = Deck::from_text(toml, "test.toml");
  Start<D> start;
  start.bodies.carry(field_set);
  start.obstacles.describe(deck.root());
  ShapeTable<D> shapes;
  shapes.describe(deck.root());
  start.groups = describe_particle_groups<D>(deck.root(), shapes);
  deck.require_all_read();
  start.bodies.carry_shapes(!shapes.only_spheres());
  start.obstacles.place(0);
  const PbdPacker<D> packer;
  start.next_id =
      create_bodies(comm, box, start.obstacles, shapes, seed, start.groups, start.bodies, &packer);
  return start;
}

/// One group "bed", made by this rank alone, from the lines of its table.
template <int D>
Start<D> make_bed(const Box<D>& box, const std::string& lines, FieldSet field_set = FieldSet::always) {
  return make_bodies(Comm(MPI_COMM_SELF), box, "[particles.bed]\n" + lines, 7, field_set);
}

/// Vector from b to the nearest image of a.
template <int D>
Vec<D> apart(const Box<D>& box, const Vec<D>& a, const Vec<D>& b) {
  Vec<D> d = a - b;
  for (int k = 0; k < D; ++k)
    if (box.is_periodic(k)) d[k] -= box.length(k) * std::round(d[k] / box.length(k));
  return d;
}

/// Smallest gap between the surfaces of two bodies [m], by looking at all pairs.
template <int D>
Real smallest_gap(const Box<D>& box, const BodyStore<D>& bodies) {
  Real gap = HUGE_VAL;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    for (std::size_t j = 0; j < i; ++j)
      gap = std::min(gap, norm(apart(box, bodies.position()[i], bodies.position()[j])) - bodies.radius()[i] -
                              bodies.radius()[j]);
  return gap;
}

/// Smallest gap between a body and an obstacle [m].
template <int D>
Real smallest_obstacle_gap(const Start<D>& start) {
  Real gap = HUGE_VAL;
  for (int constraint = 0; constraint < start.obstacles.n_constraints(); ++constraint)
    for (std::size_t i = 0; i < start.size(); ++i) {
      const Vec<D> x = start.bodies.position()[i];
      SurfacePoint<D> nearest;
      start.obstacles.nearest(constraint, {&x, 1}, {&x, 1}, {&nearest, 1});
      gap = std::min(gap, nearest.distance - start.bodies.radius()[i]);
    }
  return gap;
}

}  // namespace scree
