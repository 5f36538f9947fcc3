#include <algorithm>

#include "core/error.hpp"
#include "particles/fill.hpp"
#include "particles/fill/free_space.hpp"
#include "particles/fill/region.hpp"
#include "particles/fill/sites.hpp"
#include "particles/redistribute.hpp"

namespace scree {
namespace {

/// Bodies on the sites of a regular lattice, numbered in site order; each rank makes a run of sites. Sites
/// where the largest body of the group, moved by the jitter, could leave the region or touch an obstacle stay
/// empty.
template <int D>
class LatticeFill final : public Fill<D> {
 public:
  void describe(Section& section) override {
    region_.describe(section);
    section.choice(
        "arrangement", arrangement_,
        D == 2 ? std::vector<std::string>{"square", "hexagonal"} : std::vector<std::string>{"cubic", "hcp"},
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

  std::vector<NewBody<D>> create(const FillContext<D>& context) const override {
    Region<D> region = region_;
    region.fit(context.box);
    const Real radius = context.radius->largest();
    const auto lattice = [&](Real spacing) {
      return Sites<D>(region.bounds(), arrangement_ == "hexagonal" || arrangement_ == "hcp", spacing,
                      margin(radius, spacing));
    };
    const Sites<D> sites =
        lattice(count_ > 0 ? spacing_for_count(context, region, radius, lattice) : spacing_);
    const std::vector<Vec<D>> places = free_sites(context, region, sites, radius);

    const auto n_mine = static_cast<std::int64_t>(places.size());
    const std::int64_t n_before = context.comm.sum_before(n_mine);
    const std::int64_t n_all = context.comm.sum(n_mine);
    if (n_all == 0)
      throw InputError(where_ +
                       ": no site of the lattice is free: the region is too small or full of obstacles");

    const std::int64_t n_wanted = count_ > 0 ? count_ : n_all;
    std::vector<NewBody<D>> bodies;
    for (std::int64_t i = 0; i < n_mine && n_before + i < n_wanted; ++i) {
      NewBody<D> body{context.first_id + n_before + i, places[static_cast<std::size_t>(i)], 0};
      RandomStream radius_stream(context.seed, body.id, purpose::radius);
      body.radius = context.radius->draw(radius_stream);
      if (jitter_ > 0) {
        RandomStream stream(context.seed, body.id, purpose::jitter);
        const Real most = jitter_ * sites.spacing();
        for (int k = 0; k < D; ++k) body.position[k] += stream.uniform(-most, most);
      }
      body.position = wrapped(context.box, body.position);
      bodies.push_back(body);
    }
    return bodies;
  }

 private:
  Real margin(Real radius, Real spacing) const { return radius + jitter_ * spacing; }

  /// The free ones among this rank's share of the sites, in order.
  std::vector<Vec<D>> free_sites(const FillContext<D>& context, const Region<D>& region,
                                 const Sites<D>& sites, Real radius) const {
    const std::int64_t n = sites.size();
    const int rank = context.comm.rank(), size = context.comm.size();
    const Real reach = margin(radius, sites.spacing());
    // A site that touches the rim of the region exactly must not be lost to rounding.
    const Real reach_in_region = reach * (1 - 1e-9);
    std::vector<Vec<D>> inside, at;
    for (std::int64_t site = share_begin(n, rank, size); site < share_begin(n, rank + 1, size); ++site) {
      const Vec<D> x = sites.place(site);
      if (!region.holds(x, reach_in_region)) continue;
      inside.push_back(x);
      at.push_back(wrapped(context.box, x));
    }
    const std::vector<char> is_free =
        free_of_obstacles<D>(context.obstacles, at, std::vector<Real>(at.size(), reach_in_region));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < inside.size(); ++i)
      if (is_free[i]) inside[kept++] = inside[i];
    inside.resize(kept);
    return inside;
  }

  /// The widest spacing that leaves at least count free sites; bodies may touch at least.
  template <class MakeSites>
  Real spacing_for_count(const FillContext<D>& context, const Region<D>& region, Real radius,
                         const MakeSites& lattice) const {
    const auto n_free = [&](Real spacing) {
      const auto mine = free_sites(context, region, lattice(spacing), radius).size();
      return context.comm.sum(static_cast<std::int64_t>(mine));
    };
    const Real touching = 2 * radius;
    const std::optional<Real> spacing = widest_spacing(
        n_free, count_, touching, std::pow(region.volume() / static_cast<Real>(count_), 1.0 / D));
    if (!spacing)
      throw InputError(where_ + ": count = " + std::to_string(count_) +
                       " bodies do not fit: a lattice of touching bodies has " +
                       std::to_string(n_free(touching)) + " free sites in the region");
    return *spacing;
  }

  Region<D> region_;
  std::string where_;
  std::string arrangement_ = D == 2 ? "square" : "cubic";
  Real spacing_ = 0;
  std::int64_t count_ = 0;
  Real jitter_ = 0;
};

}  // namespace

SCREE_PLUGIN(Fill, lattice, LatticeFill, "on the sites of a regular lattice")

}  // namespace scree
