#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "particles/initial_packing.hpp"
#include "particles/packing/free_space.hpp"
#include "particles/packing/random_placement.hpp"
#include "particles/packing/region.hpp"
#include "particles/packing/room.hpp"

namespace scree {
namespace {

/// A region less what obstacles take of it.
template <int D>
struct OpenSpace {
  const Region<D>& region;
  const ObstacleSet<D>& obstacles;

  const Box<D>& bounds() const { return region.bounds(); }
  Vec<D> draw(RandomStream& stream, Real radius) const { return region.draw(stream, radius); }
  std::vector<char> free(std::span<const Vec<D>> x, std::span<const Real> reach) const {
    return free_of_obstacles<D>(obstacles, x, reach);
  }
};

/// Bodies at random places, without overlap: random sequential addition. Their number is given, or follows
/// from the share of the region that they fill and the mean volume of the radii.
template <int D>
class RandomPacking final : public InitialPacking<D> {
 public:
  void describe(Section& section) override {
    region_.describe(section);
    section.integer("count", count_,
                    {.range = non_negative, .doc = "number of bodies; 0: found from solid_fraction"});
    section.real(
        "solid_fraction", solid_fraction_,
        {.range = unit_interval,
         .doc = "volume of the bodies over that of the region, on average over the radii; 0: use count"});
    section.real("clearance", clearance_,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "smallest gap between bodies, and between bodies and obstacles"});
    section.choice(
        "fit", by_shape_, {{"sphere", false}, {"shape", true}},
        {.doc = "what of a body with a shape must not overlap: its circumscribed \"sphere\", or the "
                "\"shape\" itself, so that flat and long bodies find places closer together"});
    section.integer("tries", tries_,
                    {.range = positive, .doc = "attempts per body, on average, before the run stops"});
    if (!section.reading()) return;
    where_ = section.where("type");
    if ((count_ > 0) == (solid_fraction_ > 0))
      section.fail("type", "a random packing needs either count or solid_fraction");
  }

  NewBodies<D> create(const PackingContext<D>& context) const override {
    Region<D> region = region_;
    region.fit(context.box);
    const Real mean_volume = context.sizes.mean_volume();
    const Real wanted =
        count_ > 0 ? static_cast<Real>(count_) : std::round(solid_fraction_ * region.volume() / mean_volume);
    refuse_more_than_possible(context.comm, wanted, wanted * mean_volume / region.volume());
    const auto n = static_cast<std::int64_t>(wanted);
    if (n == 0) throw InputError(where_ + ": solid_fraction is less than half a body in this region");

    const Comm& comm = context.comm;
    const TrueFit<D> fit(context.box, context.shapes, region, context.obstacles, clearance_);
    std::vector<NewBody<D>> bodies;
    Real largest = 0;
    const EvenShare share(comm, n);
    for (std::int64_t i = share.first; i < share.last; ++i) {
      const NewBody<D>& body = bodies.emplace_back(context.draw(context.first_id + i));
      largest = std::max(largest, by_shape_ ? fit.inscribed_radius(body) : body.radius);
    }
    if (comm.max(largest) > region.largest_radius())
      throw InputError(where_ + ": the region is too small for a body of radius " +
                       fmt::format("{:g} m", comm.max(largest)));

    const OpenSpace<D> space{region, context.obstacles};
    RandomPlacement<D, OpenSpace<D>> placement(comm, context.box, context.seed, space, clearance_,
                                               std::move(bodies), context.earlier,
                                               by_shape_ ? &fit : nullptr);
    if (!placement.run(tries_)) fail(context, region, n, placement.placed());
    bodies = placement.placed();
    for (NewBody<D>& body : bodies) body.position = wrapped(context.box, body.position);
    return bodies;
  }

 private:
  void refuse_more_than_possible(const Comm& comm, Real n, Real solid) const {
    if (!(solid <= 1))
      throw InputError(fmt::format(
          "{}: {:.10g} bodies have {:.3g} times the volume of the region; ask for fewer", where_, n, solid));
    require_memory(n / comm.size() * bytes_of_body,
                   fmt::format("{}: a packing of {:.10g} bodies", where_, n));
  }
  [[noreturn]] void fail(const PackingContext<D>& context, const Region<D>& region, std::int64_t n,
                         const std::vector<NewBody<D>>& placed) const {
    std::vector<Real> volumes;
    for (const NewBody<D>& body : placed) volumes.push_back(context.shapes.volume(body.shape, body.radius));
    const Real solid = ReproducibleSum::sum(context.comm, volumes) / region.volume();
    const std::int64_t n_placed = context.comm.sum(static_cast<std::int64_t>(placed.size()));
    throw InputError(fmt::format(
        "{}: {} of {} bodies found a place (solid fraction {:.4f} of the region); ask for fewer, "
        "raise tries = {}, "
        "or use a lattice: random places seldom fill more than {} of the space{}",
        where_, n_placed, n, solid, tries_, D == 2 ? "0.5" : "0.35", obstacles_within(context, region)));
  }

  /// Names obstacles that take most of the region: a wall whose normal points the wrong way does.
  std::string obstacles_within(const PackingContext<D>& context, const Region<D>& region) const {
    constexpr std::size_t n_points = 1000;
    RandomStream stream(context.seed, 0, purpose::jitter);
    std::vector<Vec<D>> points(n_points);
    for (Vec<D>& x : points) x = wrapped(context.box, region.draw(stream, 0));
    std::vector<std::array<char, n_points>> is_inside(context.obstacles.list().size(),
                                                      std::array<char, n_points>{});
    for (std::size_t o = 0; o < is_inside.size(); ++o)
      for (std::size_t i = 0; i < n_points; ++i)
        is_inside[o][i] = context.obstacles.closest(static_cast<int>(o), points[i]).distance < 0 ? 1 : 0;
    std::string text;
    for (std::size_t o = 0; o < is_inside.size(); ++o) {
      const auto share = static_cast<Real>(std::ranges::count(is_inside[o], 1)) / n_points;
      if (share < 0.5) continue;
      const Obstacle<D>& obstacle = context.obstacles.list()[o];
      text += fmt::format(
          "; [obstacles.{}] of {} takes {:.0f} % of the region: if bodies belong there, its normal points "
          "the "
          "wrong way",
          obstacle.name, obstacle.where, 100 * share);
    }
    return text;
  }

  Region<D> region_;
  std::string where_;
  std::int64_t count_ = 0;
  Real solid_fraction_ = 0;
  Real clearance_ = 0;
  bool by_shape_ = false;
  std::int64_t tries_ = 200;
};

}  // namespace

SCREE_PLUGIN(InitialPacking, random, RandomPacking, "at random places without overlap")

}  // namespace scree
