#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/section.hpp"
#include "geometry/box.hpp"
#include "geometry/obstacle.hpp"
#include "particles/body_sizes.hpp"
#include "particles/body_store.hpp"
#include "particles/orientation.hpp"

namespace scree {

/// A new body as an initial packing makes it.
template <int D>
struct NewBody {
  GlobalId id;
  Vec<D> position;                            ///< within the domain [m]
  Real radius;                                ///< [m]
  std::int32_t shape = 0;                     ///< in the ShapeTable
  Orientation<D> orientation = upright<D>();  ///< of body axes

  void take(const BodySize& size) {
    radius = size.radius;
    shape = size.shape;
  }
};

/// The bodies that a source makes on this rank. What a source says about their motion at first is one entry
/// per body; it says nothing, and the deck's keys hold, if a list is empty on all ranks.
template <int D>
struct NewBodies {
  NewBodies(std::vector<NewBody<D>> made = {}) : bodies(std::move(made)) {}
  std::vector<NewBody<D>> bodies;
  std::vector<Vec<D>> velocity;             ///< [m/s]
  std::vector<Spin<D>> angular_velocity;    ///< [rad/s]
  std::vector<Orientation<D>> orientation;  ///< as the field of bodies
};

/// How bodies of a group are turned at first: the frame in which their shape was described.
template <int D>
struct FirstTurn {
  bool is_random = false;
  Orientation<D> given = upright<D>();

  /// Orientation of the body axes of body `id`. `seed`: of the run.
  Orientation<D> of(GlobalId id, const BodyShape<D>& shape, std::uint64_t seed) const {
    RandomStream stream(seed, id, purpose::orientation);
    return combined<D>(is_random ? random_orientation<D>(stream) : given, shape.to_body_axes);
  }
};

template <int D>
class Region;

/// Moves bodies apart while they grow: what a dense source asks of the level above, which knows contacts.
template <int D>
class BodyPacker {
 public:
  virtual ~BodyPacker() = default;
  struct Task {
    const Comm& comm;
    const Box<D>& box;
    const ObstacleSet<D>& obstacles;  ///< placed
    const ShapeTable<D>& shapes;
    const Region<D>& region;               ///< which bodies may not leave, fitted to the box
    std::span<const NewBody<D>> standing;  ///< bodies in the way, which stay where they are
    Real overlap_limit;  ///< deepest overlap that may be left, as a share of the smallest radius, with shapes
                         ///< of inscribed spheres
  };
  struct Report {
    Real growth = 0;   ///< 1: all radii are as asked for; below: where they jammed, as a share of that
    Real overlap = 0;  ///< deepest that is left at the radii asked for, as a share of the smallest radius
    std::int64_t n_sweeps = 0;
  };
  /// `bodies`: anywhere in the region off obstacles, overlapping as they may, with the radii that they are to
  /// have; the circumscribed sphere of one with a shape may reach beyond. They begin at the share `start` of
  /// their radii, grow, push each other away, and come back from wherever they are by then, in the order of
  /// nothing. The same bits on any number of ranks. Collective.
  virtual Report pack(const Task& task, Real start, std::vector<NewBody<D>>& bodies) const = 0;
};

/// What an initial packing may use. Everything but `earlier` is the same on all ranks.
template <int D>
struct PackingContext {
  const Comm& comm;
  const Box<D>& box;
  const ObstacleSet<D>& obstacles;  ///< placed at the start time
  const ShapeTable<D>& shapes;
  const BodySizes<D>& sizes;  ///< not known if the source has to give the radii itself
  const FirstTurn<D>& turn;
  std::uint64_t seed;
  GlobalId first_id;  ///< ids of this group are first_id, first_id + 1, ... without gaps
  std::span<const NewBody<D>> earlier = {};  ///< bodies of the groups before, as this rank made them
  const BodyPacker<D>* packer = nullptr;     ///< null: there is none, and dense sources refuse

  /// Body `id` with the size and orientation that are drawn for it, not yet at any place. Local.
  NewBody<D> draw(GlobalId id) const {
    RandomStream stream(seed, id, purpose::radius);
    NewBody<D> body{id, {}, 0};
    body.take(sizes.draw(stream));
    body.orientation = turn.of(id, shapes[body.shape], seed);
    return body;
  }
};

/// Deepest overlap with which bodies of another run may start, as a share of the smaller radius: what soft
/// contact and tolerances leave and rigid contact keeps at rest (docs/method.md, eq. D.12), but no obstacle
/// that was put where bodies are.
inline constexpr Real overlap_of_settled_bodies = 0.03;

/// Makes the bodies of one group. Each rank makes a share of its own choosing (never all on rank 0); the
/// union over ranks, ids included, is the same for any number of ranks.
template <int D>
class InitialPacking {
 public:
  virtual ~InitialPacking() = default;
  virtual void describe(Section& section) = 0;
  /// True if radii can come from here (a file with a radius column), so [particles.NAME] needs no radius.
  virtual bool gives_radii() const { return false; }
  /// Deepest overlap with anything that its bodies may have at the start, as a share of the smaller radius.
  virtual Real overlap_limit() const {
    constexpr Real rounding = 1e-9;
    return rounding;
  }
  /// Collective. Throws InputError on all ranks if the bodies do not fit or cannot be read.
  virtual NewBodies<D> create(const PackingContext<D>& context) const = 0;
};

template <>
std::span<const Entry<InitialPacking<2>>> registry<InitialPacking<2>>();
template <>
std::span<const Entry<InitialPacking<3>>> registry<InitialPacking<3>>();

/// Bodies of one kind: a [particles.NAME] table, or those of an inlet, which have no source.
template <int D>
struct ParticleGroup {
  std::string name;
  std::string where;  ///< its place in the deck
  Real mobility = 1;
  // Of schemes with inertia.
  std::string material;        ///< empty: not given
  std::string where_material;  ///< place of that name in the deck
  Real density = 0;            ///< of the material [kg/m3], filled in by whoever knows materials
  Vec<D> velocity{};           ///< at first [m/s]
  Spin<D> angular_velocity{};  ///< at first [rad/s]
  bool rotates = true;         ///< false: contacts do not change the spin
  Real random_speed = 0;       ///< rms of what is added to velocity, isotropic [m/s]
  BodySizes<D> sizes;
  FirstTurn<D> turn;                          ///< with shapes
  std::unique_ptr<InitialPacking<D>> source;  ///< null: not given; then its bodies must come from elsewhere
};

/// Declares and reads what bodies are like, wherever they come from: size, shape, material, motion at first.
template <int D>
void describe_bodies(Section& section, const ShapeTable<D>& shapes, ParticleGroup<D>& group);
/// Stops with the message that a table of bodies lacks a radius.
[[noreturn]] void refuse_without_radius(const Section& section);
/// Declares and reads [particles.NAME].
template <int D>
std::vector<ParticleGroup<D>> describe_particle_groups(Section& root, const ShapeTable<D>& shapes);

/// Makes entry i of `bodies` (owned) the body `made` of group number `group`: all fields that are saved, at
/// the velocity that bodies of the group have at first. Local.
template <int D>
void put_body(BodyStore<D>& bodies, Index i, const NewBody<D>& made, std::int32_t number,
              const ParticleGroup<D>& group, const ShapeTable<D>& shapes, std::uint64_t seed);

/// Creates the bodies of all groups, in deck order, into `bodies` (owned, no particular place). Returns the
/// first unused global id. Throws InputError on all ranks if a group cannot be made or leaves the domain.
/// Collective.
template <int D>
GlobalId create_bodies(const Comm& comm, const Box<D>& box, const ObstacleSet<D>& obstacles,
                       const ShapeTable<D>& shapes, std::uint64_t seed,
                       const std::vector<ParticleGroup<D>>& groups, BodyStore<D>& bodies,
                       const BodyPacker<D>* packer = nullptr);

}  // namespace scree
