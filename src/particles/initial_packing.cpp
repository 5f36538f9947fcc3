#include "particles/initial_packing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"

namespace scree {

namespace {

/// Of the frame in which the shape was described.
template <int D>
void describe_orientation(Section& section, ParticleGroup<D>& group) {
  section.choice("orientation", group.turn.is_random, {{"aligned", false}, {"random", true}},
                 {.doc = "With a shape: all bodies turned alike, by `angle`, or each at random"});
  Real angle = 0;
  section.real("angle", angle,
               {.unit = Unit::angle, .doc = "With a shape: what aligned bodies are turned by at first"});
  Vec<D> axis = unit_vector<D>(D - 1);
  if constexpr (D == 3) section.point<D>("axis", axis, {.doc = "About which they are turned, of any length"});
  if (!section.reading()) return;
  if (!group.sizes.has_shapes() && (group.turn.is_random || angle != 0))
    section.fail("orientation",
                 "spheres look the same from all sides: orientation is for bodies with a shape");
  if (!(norm(axis) > 0)) section.fail("axis", "has no direction: its length must not be 0");
  if constexpr (D == 2) {
    group.turn.given[0] = angle;
  } else {
    const Vec<3> half = std::sin(0.5 * angle) / norm(axis) * axis;
    group.turn.given = {{std::cos(0.5 * angle), half[0], half[1], half[2]}};
  }
}

}  // namespace

template <int D>
void describe_bodies(Section& section, const ShapeTable<D>& shapes, ParticleGroup<D>& group) {
  group.sizes.describe(section, shapes);
  describe_orientation(section, group);
  section.real(
      "mobility", group.mobility,
      {.range = non_negative,
       .doc = "weight of a body's share of a contact's correction; 0 holds the body in place. In schemes "
              "with inertia the mass is that weight, and only 0 counts"});
  section.text("material", group.material,
               {.doc = "name of a [materials.NAME] table, for schemes with inertia; needed where there are "
                       "several"});
  section.point<D>("velocity", group.velocity,
                   {.unit = Unit::speed, .doc = "initial value, in schemes with inertia"});
  section.point<n_spins<D>>("angular_velocity", group.angular_velocity,
                            {.unit = Unit::angular_speed, .doc = "initial value, in schemes with inertia"});
  section.boolean("rotates", group.rotates,
                  {.doc = "false: bodies do not rotate (infinite moment of inertia)"});
  section.real("random_speed", group.random_speed,
               {.unit = Unit::speed,
                .range = non_negative,
                .doc = "rms speed of an isotropic random velocity added to each body's"});
  if (!section.reading()) return;
  group.where_material = section.where("material");
  const bool spins = group.angular_velocity != Spin<D>{};
  if (group.mobility == 0 && (group.velocity != Vec<D>{} || group.random_speed > 0 || spins))
    section.fail("mobility",
                 "bodies of mobility 0 do not move: remove their velocities, or give an obstacle a motion");
  if (!group.rotates && spins)
    section.fail("rotates", "with rotates = false no contact feels a spin: remove angular_velocity");
}

template <int D>
std::vector<ParticleGroup<D>> describe_particle_groups(Section& root, const ShapeTable<D>& shapes) {
  std::vector<ParticleGroup<D>> groups;
  root.tables("particles", {.doc = "A group of bodies."}, [&](const std::string& name, Section& section) {
    ParticleGroup<D> group;
    group.name = name;
    describe_bodies(section, shapes, group);
    section.optional_table(
        "source",
        {.doc =
             "Where the bodies come from; required unless the run starts from a checkpoint that holds them."},
        [&](Section& source) {
          source.kind("type", group.source, {.required = true, .doc = "how bodies are placed"});
        });
    if (!section.reading()) return;
    group.where = section.where("source");
    if (group.source && !group.sizes.known() && !group.source->gives_radii()) refuse_without_radius(section);
    groups.push_back(std::move(group));
  });
  return groups;
}

void refuse_without_radius(const Section& section) {
  throw InputError(fmt::format(
      "{}: [{}] needs a radius, such as radius = {{ distribution = \"constant\", value = \"5 mm\" }}",
      section.where("radius"), section.path()));
}

template <int D>
void put_body(BodyStore<D>& bodies, Index i, const NewBody<D>& made, std::int32_t number,
              const ParticleGroup<D>& group, const ShapeTable<D>& shapes, std::uint64_t seed) {
  bodies.id()[i] = made.id;
  bodies.position()[i] = made.position;
  bodies.radius()[i] = made.radius;
  bodies.mobility()[i] = group.mobility;
  bodies.type()[i] = number;
  bodies.image()[i] = {};
  bodies.velocity()[i] = group.velocity;
  if (group.random_speed > 0) {
    RandomStream stream(seed, made.id, purpose::velocity);
    for (int k = 0; k < D; ++k)
      bodies.velocity()[i][k] += group.random_speed / std::sqrt(Real{D}) * stream.normal();
  }
  if (bodies.carries_shapes()) bodies.shape()[i] = made.shape;
  if (bodies.carries_turns()) {
    bodies.orientation()[i] = made.orientation;
    bodies.angular_velocity()[i] = group.angular_velocity;
  }
  if (bodies.has_inertia()) bodies.mass()[i] = group.density * shapes.volume(made.shape, made.radius);
}

namespace {

/// Takes away what bodies of this group cannot have, and says so. Throws InputError if the deck and the
/// source both say how bodies move. Collective.
template <int D>
void settle_motion(const Comm& comm, const ParticleGroup<D>& group, bool has_inertia, NewBodies<D>& made) {
  const bool moves = comm.any(!made.velocity.empty());
  const bool spins = comm.any(!made.angular_velocity.empty());
  const bool turned = comm.any(!made.orientation.empty());
  if (!has_inertia || group.mobility == 0) {
    if (moves || spins || (turned && !group.sizes.has_shapes()))
      log::info("[particles.{}]: velocities of its source are not taken: {}", group.name,
                has_inertia ? "bodies of mobility 0 do not move" : "the scheme knows no inertia");
    made.velocity.clear();
    made.angular_velocity.clear();
    if (!group.sizes.has_shapes()) made.orientation.clear();
    return;
  }
  const auto refuse = [&](std::string_view key) {
    throw InputError(
        fmt::format("{}: the source of [particles.{}] gives velocities, and so does its key {}: remove "
                    "the key, or set velocities = false in the source",
                    group.where, group.name, key));
  };
  if (moves && group.velocity != Vec<D>{}) refuse("velocity");
  if (moves && group.random_speed > 0) refuse("random_speed");
  if (spins && group.angular_velocity != Spin<D>{}) refuse("angular_velocity");
  if (!spins || group.rotates) return;
  log::warn(
      "[particles.{}]: angular velocities of its source are not taken: with rotates = false no contact "
      "feels a spin",
      group.name);
  made.angular_velocity.clear();
}

}  // namespace

template <int D>
GlobalId create_bodies(const Comm& comm, const Box<D>& box, const ObstacleSet<D>& obstacles,
                       const ShapeTable<D>& shapes, std::uint64_t seed,
                       const std::vector<ParticleGroup<D>>& groups, BodyStore<D>& bodies,
                       const BodyPacker<D>* packer) {
  std::vector<NewBody<D>> made;
  std::vector<std::int32_t> group_of;
  // Of groups whose source says how bodies move; where it begins in `made`.
  std::vector<std::pair<std::size_t, NewBodies<D>>> moving;
  GlobalId next_id = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const ParticleGroup<D>& group = groups[g];
    if (!group.source)
      throw InputError(
          fmt::format("{}: [particles.{}] needs a source, such as source = {{ type = \"random\", "
                      "count = 100 }}; only a run with --from CHECKPOINT can do without one",
                      group.where, group.name));
    NewBodies<D> created = group.source->create(
        {comm, box, obstacles, shapes, group.sizes, group.turn, seed, next_id, made, packer});
    std::vector<NewBody<D>> added = std::move(created.bodies);
    settle_motion(comm, group, bodies.has_inertia(), created);
    for (std::size_t k = 0; k < added.size(); ++k) {
      const BodyShape<D>& shape = shapes[added[k].shape];
      added[k].orientation = created.orientation.empty()
                                 ? group.turn.of(added[k].id, shape, seed)
                                 : combined<D>(created.orientation[k], shape.to_body_axes);
    }
    if (!created.velocity.empty() || !created.angular_velocity.empty())
      moving.emplace_back(made.size(), std::move(created));
    share_errors(comm, [&] {
      for (const NewBody<D>& body : added)
        for (int k = 0; k < D; ++k)
          if (!box.is_periodic(k) && !(body.position[k] >= box.lower[k] && body.position[k] <= box.upper[k]))
            throw InputError(
                fmt::format("{}: a body of [particles.{}] is outside of the domain: its coordinate {} is "
                            "{:g} m, the domain goes from {:g} m to {:g} m",
                            group.where, group.name, "xyz"[k], body.position[k], box.lower[k], box.upper[k]));
      if (made.size() + added.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
        throw InputError(group.where + ": more than 2147483647 bodies on one rank; use more ranks");
    });
    next_id += comm.sum(static_cast<std::int64_t>(added.size()));
    group_of.insert(group_of.end(), added.size(), static_cast<std::int32_t>(g));
    if (made.empty())
      made = std::move(added);
    else
      made.insert(made.end(), added.begin(), added.end());
  }

  bodies.resize(static_cast<Index>(made.size()), 0);
  for (std::size_t i = 0; i < made.size(); ++i)
    put_body(bodies, static_cast<Index>(i), made[i], group_of[i], groups[group_of[i]], shapes, seed);
  for (const auto& [first, motion] : moving) {
    const auto at = static_cast<std::ptrdiff_t>(first);
    std::ranges::copy(motion.velocity, bodies.velocity().begin() + at);
    std::ranges::copy(motion.angular_velocity, bodies.angular_velocity().begin() + at);
  }
  return next_id;
}

template void put_body<2>(BodyStore<2>&, Index, const NewBody<2>&, std::int32_t, const ParticleGroup<2>&,
                          const ShapeTable<2>&, std::uint64_t);
template void put_body<3>(BodyStore<3>&, Index, const NewBody<3>&, std::int32_t, const ParticleGroup<3>&,
                          const ShapeTable<3>&, std::uint64_t);
template void describe_bodies<2>(Section&, const ShapeTable<2>&, ParticleGroup<2>&);
template void describe_bodies<3>(Section&, const ShapeTable<3>&, ParticleGroup<3>&);
template std::vector<ParticleGroup<2>> describe_particle_groups<2>(Section&, const ShapeTable<2>&);
template std::vector<ParticleGroup<3>> describe_particle_groups<3>(Section&, const ShapeTable<3>&);
template GlobalId create_bodies<2>(const Comm&, const Box<2>&, const ObstacleSet<2>&, const ShapeTable<2>&,
                                   std::uint64_t, const std::vector<ParticleGroup<2>>&, BodyStore<2>&,
                                   const BodyPacker<2>*);
template GlobalId create_bodies<3>(const Comm&, const Box<3>&, const ObstacleSet<3>&, const ShapeTable<3>&,
                                   std::uint64_t, const std::vector<ParticleGroup<3>>&, BodyStore<3>&,
                                   const BodyPacker<3>*);

}  // namespace scree
