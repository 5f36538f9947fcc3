#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/log.hpp"
#include "particles/initial_packing.hpp"
#include "particles/packing/free_space.hpp"
#include "particles/packing/region.hpp"
#include "particles/packing/room.hpp"
#include "particles/volume.hpp"

namespace scree {
namespace {

/// Bodies packed densely: they begin small at random places and grow, pushing each other away, until they
/// have their radii. Their number follows from the solid fraction asked for, or they are as many as fit until
/// they jam.
template <int D>
class DensePacking final : public InitialPacking<D> {
 public:
  void describe(Section& section) override {
    region_.describe(section);
    section.real_or_word(
        "solid_fraction", solid_fraction_, fraction_word_, {"jammed"},
        {.range = {.min = 0, .max = 1, .min_open = true},
         .doc = "volume of the bodies over the free space of the region, that is its volume less what "
                "obstacles and "
                "bodies of earlier groups take of it; \"jammed\": as many bodies as fit until they jam"});
    if (!section.reading()) return;
    where_ = section.where("type");
    where_fraction_ = section.where("solid_fraction");
  }
  Real overlap_limit() const override { return remaining_overlap; }

  NewBodies<D> create(const PackingContext<D>& context) const override {
    if (!context.packer) throw InputError(where_ + ": nothing here can pack bodies");
    Region<D> region = region_;
    region.fit(context.box);
    const Spaces spaces = measure(context, region);
    NewBodies<D> made = fraction_word_.empty() ? pack_to_fraction(context, region, spaces)
                                               : pack_until_jammed(context, region, spaces);
    if (context.sizes.has_shapes())
      for (const NewBody<D>& body : made.bodies)
        made.orientation.push_back(
            combined<D>(body.orientation, reversed<D>(context.shapes[body.shape].to_body_axes)));
    return made;
  }

 private:
  static constexpr Real remaining_overlap = 1e-6;   // as a share of the smallest radius
  static constexpr Real thin = D == 2 ? 0.3 : 0.2;  // solid fraction at which bodies begin to grow
  using Bodies = std::vector<NewBody<D>>;

  /// Where bodies can be.
  struct Spaces {
    Real free = 0;  // volume [m2 or m3]
    Real core = 0;  // of what is farther than this from obstacles and faces of the region
    Real core_margin = 0;
    bool has_walls = false;
  };

  Spaces measure(const PackingContext<D>& context, const Region<D>& region) const {
    const Comm& comm = context.comm;
    Spaces spaces;
    const Real largest = context.sizes.largest();
    for (int k = 0; k < D; ++k)
      if (region.bounds().lower[k] < context.box.lower[k] || region.bounds().upper[k] > context.box.upper[k])
        throw InputError(region.where() + ": a region to be packed must not reach through a periodic face");
    if (largest > region.largest_radius())
      throw InputError(
          fmt::format("{}: the region is too small for a body of radius {:g} m", where_, largest));
    spaces.core_margin = 4 * mean_radius(context);
    spaces.has_walls = context.obstacles.n_constraints() > 0 || region.is_sphere();
    for (int k = 0; k < D; ++k) spaces.has_walls = spaces.has_walls || !region.bounds().is_periodic(k);
    spaces.free = region.volume();
    if (spaces.has_walls) {
      // The shares of points drawn evenly: good to a thousandth.
      constexpr std::int64_t n_points = std::int64_t{1} << 18;
      std::vector<Vec<D>> points;
      const EvenShare share(comm, n_points);
      for (std::int64_t i = share.first; i < share.last; ++i) {
        RandomStream stream(context.seed, i, purpose::free_volume);
        points.push_back(region.draw(stream, 0));
      }
      const auto share_of = [&](Real margin) {
        const std::vector<Real> reach(points.size(), margin);
        const std::vector<char> is_free = free_of_obstacles<D>(context.obstacles, points, reach);
        std::int64_t n = 0;
        for (std::size_t i = 0; i < points.size(); ++i)
          n += is_free[i] && region.holds(points[i], margin) ? 1 : 0;
        return static_cast<Real>(comm.sum(n)) / static_cast<Real>(n_points);
      };
      if (context.obstacles.n_constraints() > 0) spaces.free *= share_of(0);
      spaces.core = region.volume() * share_of(spaces.core_margin);
    }
    std::vector<Real> taken;
    for (const NewBody<D>& body : context.earlier)
      if (region.holds(body.position, 0)) taken.push_back(context.shapes.volume(body.shape, body.radius));
    spaces.free -= ReproducibleSum::sum(comm, taken);
    if (!(spaces.free > 0))
      throw InputError(where_ + ": obstacles or bodies leave no free space in the region");
    return spaces;
  }

  static Real mean_radius(const PackingContext<D>& context) {
    const Real unit = body_volume<D>(1.0);
    return std::pow(context.sizes.mean_volume() / unit, 1.0 / D);
  }

  /// This rank's share of the bodies number 0 to n - 1, with their radii, not yet at any place.
  Bodies draw(const PackingContext<D>& context, std::int64_t n) const {
    Bodies bodies;
    const Comm& comm = context.comm;
    const EvenShare share(comm, n);
    for (std::int64_t i = share.first; i < share.last; ++i)
      bodies.push_back(context.draw(context.first_id + i));
    return bodies;
  }
  static Real volume_of(const PackingContext<D>& context, const Bodies& bodies) {
    std::vector<Real> volumes;
    for (const NewBody<D>& body : bodies) volumes.push_back(context.shapes.volume(body.shape, body.radius));
    return ReproducibleSum::sum(context.comm, volumes);
  }

  /// As many bodies as fill `volume` best.
  Bodies draw_volume(const PackingContext<D>& context, Real volume) const {
    const Real mean = context.sizes.mean_volume();
    if (!(volume / mean < static_cast<Real>(std::numeric_limits<Index>::max())))
      throw InputError(
          fmt::format("{}: {:.3g} bodies of these radii would fill the region; at most {} can be packed",
                      where_, volume / mean, std::numeric_limits<Index>::max()));
    auto n = std::llround(volume / mean);
    share_errors(context.comm, [&] {
      require_memory(static_cast<Real>(n) / context.comm.size() * bytes_of_body,
                     fmt::format("{}: a packing of {} bodies", where_, n));
    });
    std::int64_t best = n;
    Real min = HUGE_VAL;
    for (int tries = 0; tries < 8; ++tries) {
      const Real missing = volume - volume_of(context, draw(context, n));
      if (std::abs(missing) < min) min = std::abs(missing), best = n;
      const auto change = std::llround(missing / mean);
      if (change == 0) break;
      n = std::max<std::int64_t>(n + change, 0);
    }
    if (best == 0) throw InputError(where_ + ": solid_fraction is less than half a body in this region");
    return draw(context, best);
  }

  /// Puts bodies at random places of the region off obstacles.
  void scatter(const PackingContext<D>& context, const Region<D>& region, Real factor, Bodies& bodies) const {
    std::vector<RandomStream> streams;
    std::vector<std::size_t> remaining;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      streams.emplace_back(context.seed, bodies[i].id, purpose::position);
      remaining.push_back(i);
    }
    constexpr int max_tries = 2000;
    for (int t = 0; t < max_tries && context.comm.any(!remaining.empty()); ++t) {
      std::vector<Vec<D>> x;
      std::vector<Real> reach;
      for (const std::size_t i : remaining) {
        reach.push_back(factor * bodies[i].radius);
        x.push_back(region.draw(streams[i], reach.back()));
        bodies[i].position = wrapped(context.box, x.back());
      }
      const std::vector<char> is_free = free_of_obstacles<D>(context.obstacles, x, reach);
      std::size_t n_remaining = 0;
      for (std::size_t k = 0; k < remaining.size(); ++k)
        if (is_free[k] == 0) remaining[n_remaining++] = remaining[k];
      remaining.resize(n_remaining);
    }
    if (context.comm.any(!remaining.empty()))
      throw InputError(where_ +
                       ": obstacles leave too little free space in the region for bodies of these radii");
  }

  typename BodyPacker<D>::Report pack(const PackingContext<D>& context, const Region<D>& region, Real start,
                                      Bodies& bodies) const {
    return context.packer->pack({context.comm, context.box, context.obstacles, context.shapes, region,
                                 context.earlier, remaining_overlap},
                                start, bodies);
  }

  /// From random places, with all of the volume asked for.
  typename BodyPacker<D>::Report repack(const PackingContext<D>& context, const Region<D>& region,
                                        Real fraction, Bodies& bodies) const {
    const Real start = std::min(1.0, std::pow(thin / fraction, 1.0 / D));
    scatter(context, region, start, bodies);
    return pack(context, region, start, bodies);
  }

  NewBodies<D> pack_to_fraction(const PackingContext<D>& context, const Region<D>& region,
                                const Spaces& spaces) const {
    Bodies bodies = draw_volume(context, solid_fraction_ * spaces.free);
    const std::int64_t n = context.comm.sum(static_cast<std::int64_t>(bodies.size()));
    typename BodyPacker<D>::Report report = repack(context, region, solid_fraction_, bodies);
    if (!is_packed(report)) {
      // How dense can it be? The bodies have the same radii, number by number.
      bodies = jam(context, region, spaces, report);
      const Real reached = volume_of(context, bodies) / spaces.free;
      if (context.comm.sum(static_cast<std::int64_t>(bodies.size())) < n)
        throw InputError(
            fmt::format("{}: solid_fraction = {:g} cannot be reached: the bodies jam at {:.4f}; ask for "
                        "less, or for \"jammed\"",
                        where_fraction_, solid_fraction_, reached));
      std::erase_if(bodies, [&](const NewBody<D>& body) { return body.id >= context.first_id + n; });
    }
    log_result(context, region, spaces, bodies, report);
    return bodies;
  }

  NewBodies<D> pack_until_jammed(const PackingContext<D>& context, const Region<D>& region,
                                 const Spaces& spaces) const {
    typename BodyPacker<D>::Report report;
    Bodies bodies = jam(context, region, spaces, report);
    log_result(context, region, spaces, bodies, report);
    return bodies;
  }

  static bool is_packed(const typename BodyPacker<D>::Report& report) {
    return report.growth >= 1 && report.overlap <= remaining_overlap;
  }

  /// As many bodies as fit, numbered without gaps.
  Bodies jam(const PackingContext<D>& context, const Region<D>& region, const Spaces& spaces,
             typename BodyPacker<D>::Report& report) const {
    // More bodies than fit grow until they jam: that shows how many do.
    Real fraction = D == 2 ? 0.9 : 0.7;
    Bodies bodies;
    constexpr int max_tries = 12;
    for (int tries = 0; tries < max_tries; ++tries) {
      bodies = draw_volume(context, fraction * spaces.free);
      report = repack(context, region, fraction, bodies);
      if (!is_packed(report)) break;
      fraction *= 1.05;
    }
    if (is_packed(report)) return bodies;
    const std::int64_t n_before = context.comm.sum(static_cast<std::int64_t>(bodies.size()));
    // Those too many go, and the others grow back from where they are.
    Real share = std::pow(report.growth, D);
    std::int64_t n_last = n_before + 1;
    for (int tries = 0; tries < 4 * max_tries; ++tries) {
      constexpr Real step = 0.004, smaller = 0.98;
      share *= 1 - step;
      const std::int64_t n =
          std::min(n_last - 1, static_cast<std::int64_t>(share * static_cast<Real>(n_before)));
      if (n < 1) break;
      n_last = n;
      std::erase_if(bodies, [&](const NewBody<D>& body) { return body.id >= context.first_id + n; });
      report = pack(context, region, std::pow(share, 1.0 / D) * smaller, bodies);
      if (is_packed(report)) return bodies;
    }
    throw InputError(
        fmt::format("{}: no dense packing was found in the region: overlaps of {:.3g} of the smallest "
                    "radius stay; ask for a lower solid_fraction",
                    where_, report.overlap));
  }

  void log_result(const PackingContext<D>& context, const Region<D>& region, const Spaces& spaces,
                  const Bodies& bodies, const typename BodyPacker<D>::Report& report) const {
    const Comm& comm = context.comm;
    std::string core;
    if (spaces.has_walls && spaces.core > 0 && !comm.any(!context.earlier.empty())) {
      Bodies inner;
      std::vector<Vec<D>> x;
      for (const NewBody<D>& body : bodies) x.push_back(body.position);
      const std::vector<Real> reach(x.size(), spaces.core_margin);
      const std::vector<char> is_free = free_of_obstacles<D>(context.obstacles, x, reach);
      for (std::size_t i = 0; i < bodies.size(); ++i)
        if (is_free[i] && region.holds(x[i], spaces.core_margin)) inner.push_back(bodies[i]);
      if (comm.sum(static_cast<std::int64_t>(inner.size())) >= 100)
        core = fmt::format(", {:.4f} farther than two diameters from walls",
                           volume_of(context, inner) / spaces.core);
    }
    log::info(
        "packed {} bodies: solid fraction {:.4f} of the free space{}; deepest overlap {:.2g} of the smallest "
        "radius; {} sweeps",
        comm.sum(static_cast<std::int64_t>(bodies.size())), volume_of(context, bodies) / spaces.free, core,
        std::max(report.overlap, 0.0), report.n_sweeps);
  }

  Region<D> region_;
  std::string where_, where_fraction_;
  Real solid_fraction_ = 0;
  std::string fraction_word_ = "jammed";
};

}  // namespace

SCREE_PLUGIN(InitialPacking, packed, DensePacking,
             "dense random packing without overlap: bodies grow until they touch")

}  // namespace scree
