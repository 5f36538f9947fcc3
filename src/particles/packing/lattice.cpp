#include <algorithm>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "particles/initial_packing.hpp"
#include "particles/packing/free_space.hpp"
#include "particles/packing/region.hpp"
#include "particles/packing/room.hpp"
#include "particles/packing/sites.hpp"

namespace scree {
namespace {

/// Bodies on the sites of a regular lattice, numbered in site order; each rank makes a run of sites. Sites
/// where the largest body of the group, moved by the jitter, could leave the region or touch an obstacle stay
/// empty.
template <int D>
class LatticePacking final : public InitialPacking<D> {
 public:
  void describe(Section& section) override {
    region_.describe(section);
    section.choice("arrangement", is_densest_,
                   {{D == 2 ? "square" : "cubic", false}, {D == 2 ? "hexagonal" : "hcp", true}},
                   {.doc = "how sites are arranged; the second one is the densest"});
    section.real("spacing", spacing_,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "distance of neighbouring sites, all of which get a body; 0: found from count"});
    section.integer(
        "count", count_,
        {.range = non_negative,
         .doc = "number of bodies, on the widest lattice with that many sites; 0: found from spacing"});
    section.real("jitter", jitter_,
                 {.range = unit_interval,
                  .doc = "every coordinate is moved by up to this fraction of the spacing, at random"});
    if (!section.reading()) return;
    where_ = section.where("type");
    if ((spacing_ > 0) == (count_ > 0)) section.fail("type", "a lattice needs either spacing or count");
  }

  NewBodies<D> create(const PackingContext<D>& context) const override {
    Region<D> region = region_;
    region.fit(context.box);
    const Real radius = context.sizes.largest();
    const auto lattice = [&](Real spacing) {
      Real n = 1;
      for (int k = 0; k < D; ++k) n *= std::max(region.bounds().length(k) / spacing, 1.0);
      constexpr Real max_sites = 1e15;  // they are counted one row after the other
      if (!(n < max_sites))
        throw InputError(
            fmt::format("{}: a lattice with a spacing of {:g} m has about {:.3g} sites in the region; "
                        "at most {:g} are possible",
                        where_, spacing, n, max_sites));
      return Sites<D>(region.bounds(), is_densest_, spacing, margin(radius, spacing));
    };
    const Sites<D> sites =
        lattice(count_ > 0 ? spacing_for_count(context, region, radius, lattice) : spacing_);
    std::vector<NewBody<D>> bodies;
    const std::int64_t n_max = n_within(context.comm, region, sites, radius);
    share_errors(context.comm, [&] {
      require_memory(static_cast<Real>(n_max) * bytes_of_body,
                     fmt::format("{}: a lattice of {} sites on one rank", where_, n_max));
    });
    bodies.reserve(n_max);
    for_each_free(context, region, sites, radius, [&](const Vec<D>& x) { bodies.push_back({0, x, 0}); });

    const auto n_mine = static_cast<std::int64_t>(bodies.size());
    const std::int64_t n_before = context.comm.sum_before(n_mine);
    const std::int64_t n_all = context.comm.sum(n_mine);
    if (n_all == 0)
      throw InputError(where_ +
                       ": no site of the lattice is free: the region is too small or full of obstacles");

    const std::int64_t n_wanted = count_ > 0 ? count_ : n_all;
    bodies.resize(std::clamp<std::int64_t>(n_wanted - n_before, 0, n_mine));
    GlobalId next_id = context.first_id + n_before;
    for (NewBody<D>& body : bodies) {
      body.id = next_id++;
      RandomStream radius_stream(context.seed, body.id, purpose::radius);
      body.take(context.sizes.draw(radius_stream));
      if (jitter_ > 0) {
        RandomStream stream(context.seed, body.id, purpose::jitter);
        const Real max = jitter_ * sites.spacing();
        for (int k = 0; k < D; ++k) body.position[k] += stream.uniform(-max, max);
      }
      body.position = wrapped(context.box, body.position);
    }
    return bodies;
  }

 private:
  Real margin(Real radius, Real spacing) const { return radius + jitter_ * spacing; }

  /// How far the largest body reaches into the region; a site that touches its rim exactly must not be lost
  /// to rounding.
  Real reach(Real radius, Real spacing) const { return margin(radius, spacing) * (1 - 1e-9); }

  /// Calls f(row, first, last) for the sites of this rank's share that lie in the region, in order. Regions
  /// are convex, so those of a row follow one another and only its ends are looked at.
  template <class F>
  void for_each_run(const Comm& comm, const Region<D>& region, const Sites<D>& sites, Real radius,
                    F&& f) const {
    const std::int64_t n = sites.size(), length = sites.row_length();
    const auto [begin, end] = EvenShare(comm, n);
    if (begin == end) return;
    const Real reach_in_region = reach(radius, sites.spacing());
    for (std::int64_t r = begin / length; r * length < end; ++r) {
      const typename Sites<D>::Row row = sites.row(r);
      std::int64_t first = 0, last = length;
      while (first < last && !region.holds(row.place(first), reach_in_region)) ++first;
      while (first < last && !region.holds(row.place(last - 1), reach_in_region)) --last;
      first = std::max(first, begin - r * length);
      last = std::min(last, end - r * length);
      if (first < last) f(row, first, last);
    }
  }

  /// Number of this rank's sites that lie in the region, obstacles or not. Local.
  std::int64_t n_within(const Comm& comm, const Region<D>& region, const Sites<D>& sites, Real radius) const {
    std::int64_t n = 0;
    for_each_run(
        comm, region, sites, radius,
        [&](const typename Sites<D>::Row&, std::int64_t first, std::int64_t last) { n += last - first; });
    return n;
  }

  /// Calls f(x) for the free ones among this rank's share of the sites, in order. Local.
  template <class F>
  void for_each_free(const PackingContext<D>& context, const Region<D>& region, const Sites<D>& sites,
                     Real radius, F&& f) const {
    constexpr std::size_t n_at_once = 4096;  // few enough to stay in the cache
    const std::vector<Real> reaches(n_at_once, reach(radius, sites.spacing()));
    std::vector<Vec<D>> inside, at;
    const auto test = [&] {
      const std::vector<char> is_free =
          free_of_obstacles<D>(context.obstacles, at, std::span(reaches).first(at.size()));
      for (std::size_t i = 0; i < inside.size(); ++i)
        if (is_free[i]) f(inside[i]);
      inside.clear();
      at.clear();
    };
    for_each_run(context.comm, region, sites, radius,
                 [&](const typename Sites<D>::Row& row, std::int64_t first, std::int64_t last) {
                   for (std::int64_t i = first; i < last; ++i) {
                     inside.push_back(row.place(i));
                     at.push_back(wrapped(context.box, inside.back()));
                     if (at.size() == n_at_once) test();
                   }
                 });
    test();
  }

  /// The widest spacing that leaves at least count free sites; bodies may touch at least.
  template <class MakeSites>
  Real spacing_for_count(const PackingContext<D>& context, const Region<D>& region, Real radius,
                         const MakeSites& lattice) const {
    const auto n_free = [&](Real spacing) {
      const Sites<D> sites = lattice(spacing);
      std::int64_t mine = 0;
      if (context.obstacles.n_constraints() == 0)
        mine = n_within(context.comm, region, sites, radius);
      else
        for_each_free(context, region, sites, radius, [&](const Vec<D>&) { ++mine; });
      return context.comm.sum(mine);
    };
    const Real contact_distance = 2 * radius;
    const std::optional<Real> spacing = widest_spacing(
        n_free, count_, contact_distance, std::pow(region.volume() / static_cast<Real>(count_), 1.0 / D));
    if (!spacing)
      throw InputError(where_ + ": count = " + std::to_string(count_) +
                       " bodies do not fit: a lattice of touching bodies has " +
                       std::to_string(n_free(contact_distance)) + " free sites in the region");
    return *spacing;
  }

  Region<D> region_;
  std::string where_;
  bool is_densest_ = false;
  Real spacing_ = 0;
  std::int64_t count_ = 0;
  Real jitter_ = 0;
};

}  // namespace

SCREE_PLUGIN(InitialPacking, lattice, LatticePacking, "on the sites of a regular lattice")

}  // namespace scree
