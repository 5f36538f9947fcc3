#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "particles/fill.hpp"
#include "particles/fill/bins.hpp"
#include "particles/fill/free_space.hpp"
#include "particles/fill/region.hpp"
#include "particles/redistribute.hpp"

namespace scree {
namespace {

/// The region's bounds cut into one patch per rank.
template <int D>
class Patches {
 public:
  Patches(const Comm& comm, const Box<D>& bounds, const Box<D>& domain)
      : lower_(bounds.lower), domain_(domain) {
    MPI_Dims_create(comm.size(), D, count_.data());
    for (int k = 0; k < D; ++k) width_[k] = bounds.length(k) / n(k);
  }

  int owner(const Vec<D>& x) const {
    int rank = 0;
    for (int k = D - 1; k >= 0; --k) rank = rank * n(k) + std::clamp(slot(k, x[k]), 0, n(k) - 1);
    return rank;
  }
  /// Calls f(rank, image) for every patch and periodic image of x that are less than `reach` apart.
  template <class F>
  void for_each_near(const Vec<D>& x, Real reach, const F& f) const {
    Vec<D> image = x;
    visit(D - 1, 0, x, reach, image, f);
  }
  /// Lowest corner of a rank's patch, and its extent.
  Vec<D> corner(int rank) const {
    Vec<D> x = lower_;
    for (int k = 0; k < D; ++k) x[k] += width_[k] * (rank % n(k)), rank /= n(k);
    return x;
  }
  const Vec<D>& extent() const { return width_; }

 private:
  int n(int axis) const { return count_[static_cast<std::size_t>(axis)]; }
  /// -1 below the patches, n(axis) above.
  int slot(int axis, Real x) const {
    return static_cast<int>(std::floor(std::clamp((x - lower_[axis]) / width_[axis], -1.0, Real(n(axis)))));
  }
  template <class F>
  void visit(int axis, int rank, const Vec<D>& x, Real reach, Vec<D>& image, const F& f) const {
    if (axis < 0) {
      f(rank, image);
      return;
    }
    const int turns = domain_.is_periodic(axis) ? 1 : 0;
    for (int turn = -turns; turn <= turns; ++turn) {
      image[axis] = x[axis] + turn * domain_.length(axis);
      const int first = std::max(slot(axis, image[axis] - reach), 0);
      const int last = std::min(slot(axis, image[axis] + reach), n(axis) - 1);
      for (int k = first; k <= last; ++k) visit(axis - 1, rank * n(axis) + k, x, reach, image, f);
    }
  }

  Vec<D> lower_, width_{};
  Box<D> domain_;
  std::array<int, D> count_{};
};

/// How a body reaches a rank.
enum class Role : std::int32_t {
  proposed,       ///< for this rank to accept or not
  proposed_near,  ///< for another rank, but close enough to compete with proposals here
  placed          ///< accepted before by another rank, or an image across a periodic face
};
template <int D>
struct Message {
  NewBody<D> body;
  Role role;
};

/// Random sequential addition by all ranks at once. Bodies are tried in rounds: in round t every body that
/// has no place yet draws one, from a stream of (seed, t, id). A draw is accepted if it overlaps neither an
/// obstacle, nor a body of an earlier round, nor another draw of its round by a larger body (for equal radii,
/// a smaller id). This rule knows nothing of ranks, so neither does the result. Larger bodies are placed
/// first, in classes by powers of 2.
///
/// Space is cut into one patch per rank; the rank that owns a draw's patch decides on it, knowing all that is
/// within reach of the patch. Bodies are numbered without regard to place. Cost per rank: O(draws / ranks)
/// and one all-to-all exchange per round.
template <int D>
class Placement {
 public:
  Placement(const FillContext<D>& context, const Region<D>& region, Real clearance,
            std::vector<NewBody<D>> bodies)
      : context_(context),
        region_(region),
        clearance_(clearance),
        patches_(context.comm, region.bounds(), context.box),
        n_bodies_(context.comm.sum(static_cast<std::int64_t>(bodies.size()))) {
    const Comm& comm = context.comm;
    Real least = HUGE_VAL;
    for (const auto& group : {std::span<const NewBody<D>>(bodies), context.earlier})
      for (const NewBody<D>& body : group) {
        largest_ = std::max(largest_, body.radius);
        least = std::min(least, body.radius);
      }
    largest_ = comm.max(largest_);
    least = comm.min(least);
    n_classes_ = std::min(max_classes, 1 + static_cast<std::size_t>(std::ilogb(largest_ / least)));

    waiting_.resize(n_classes_);
    for (const NewBody<D>& body : bodies) waiting_[class_of(body.radius)].push_back(body);
    make_bins();
    for (const NewBody<D>& body : context.earlier) announce(body, largest_, true);
  }

  /// Places the bodies; true if all found a place. Gives up after `tries` draws per body on average.
  /// Collective.
  bool run(std::int64_t tries) {
    // A few bodies are cheap to try more often.
    const Real most_draws = static_cast<Real>(tries) * static_cast<Real>(n_bodies_) + 1e5;
    Real n_draws = 0;
    for (active_ = 0; active_ < n_classes_; ++active_) {
      while (const std::int64_t n_left = n_waiting()) {
        if (n_draws > most_draws) return false;
        n_draws += static_cast<Real>(n_left);
        play_round();
      }
    }
    return true;
  }

  /// The bodies that were placed in this rank's patch.
  const std::vector<NewBody<D>>& placed() const { return placed_; }

 private:
  static constexpr std::size_t max_classes = 20;

  std::size_t class_of(Real radius) const {
    return std::min(n_classes_ - 1, static_cast<std::size_t>(std::ilogb(largest_ / radius)));
  }
  /// No radius of the class exceeds it.
  Real class_radius(std::size_t c) const { return std::ldexp(largest_, -static_cast<int>(c)); }

  std::int64_t n_waiting() const {
    return context_.comm.sum(static_cast<std::int64_t>(waiting_[active_].size()));
  }

  void make_bins() {
    std::vector<std::int64_t> n_of_class(n_classes_, 0);
    for (std::size_t c = 0; c < n_classes_; ++c)
      n_of_class[c] = static_cast<std::int64_t>(waiting_[c].size());
    for (const NewBody<D>& body : context_.earlier) ++n_of_class[class_of(body.radius)];
    context_.comm.sum(n_of_class);
    const Vec<D> corner = patches_.corner(context_.comm.rank());
    const Vec<D> rim = filled<D>(2 * largest_ + clearance_);
    for (std::size_t c = 0; c < n_classes_; ++c)
      bins_.emplace_back(corner - rim, corner + patches_.extent() + rim, 2 * class_radius(c) + clearance_,
                         n_of_class[c] / context_.comm.size());
  }

  void send(int rank, const NewBody<D>& body, Role role) {
    outbox_.push_back({body, role});
    destination_.push_back(rank);
  }
  /// Tells of a placed body wherever bodies of up to `largest` may meet it. `everywhere`: also here.
  void announce(const NewBody<D>& body, Real largest, bool everywhere) {
    const Real reach = reach_of(body.radius, largest);
    patches_.for_each_near(body.position, reach, [&](int rank, const Vec<D>& image) {
      if (everywhere || rank != context_.comm.rank() || image != body.position)
        send(rank, {body.id, image, body.radius}, Role::placed);
    });
  }
  /// Distance of centres below which two bodies may not come, with room for rounding.
  Real reach_of(Real a, Real b) const { return (a + b + clearance_) * (1 + 1e-9); }

  void play_round() {
    draw_places();
    std::vector<Message<D>> inbox = redistribute<Message<D>>(context_.comm, outbox_, destination_);
    outbox_.clear();
    destination_.clear();

    for (const Message<D>& message : inbox)
      if (message.role == Role::placed) bins_[class_of(message.body.radius)].add(message.body);
    Bins<D>& bins = bins_[active_];
    const Index n_settled = bins.size();
    for (const Message<D>& message : inbox)
      if (message.role != Role::placed) bins.add(message.body);

    drawn_.clear();
    free_.clear();
    Index drawn = n_settled;
    for (const Message<D>& message : inbox) {
      if (message.role == Role::placed) continue;
      const Index self = drawn++;
      if (message.role == Role::proposed_near) continue;
      drawn_.push_back(message.body);
      free_.push_back(!meets_body(message.body, self, n_settled));
    }
    while (bins.size() > n_settled) bins.remove_last();
    check_obstacles();

    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      const NewBody<D>& body = drawn_[i];
      if (!free_[i]) {
        waiting_[active_].push_back(body);
        continue;
      }
      bins.add(body);
      placed_.push_back(body);
      announce(body, class_radius(active_), false);
    }
  }

  /// Draws a place for every waiting body of the active class and sends it to where it is decided upon.
  void draw_places() {
    const std::uint64_t seed = RandomStream(context_.seed, round_++, purpose::position).bits();
    for (NewBody<D>& body : waiting_[active_]) {
      RandomStream stream(seed, body.id, purpose::position);
      body.position = region_.draw(stream, body.radius);
      const int owner = patches_.owner(body.position);
      const Real reach = reach_of(body.radius, class_radius(active_));
      patches_.for_each_near(body.position, reach, [&](int rank, const Vec<D>& image) {
        const bool decides = rank == owner && image == body.position;
        send(rank, {body.id, image, body.radius}, decides ? Role::proposed : Role::proposed_near);
      });
    }
    waiting_[active_].clear();
  }

  /// True if the draw overlaps a settled body or a draw that goes before it. `self`: its own place in the
  /// bins.
  bool meets_body(const NewBody<D>& body, Index self, Index n_settled) const {
    for (std::size_t c = 0; c < n_classes_; ++c) {
      const Bins<D>& bins = bins_[c];
      if (bins.size() == 0) continue;
      if (bins.any_near(body.position, reach_of(body.radius, class_radius(c)), [&](Index i) {
            const NewBody<D>& other = bins[i];
            if (c == active_ && i >= n_settled) {
              // Its own image across a periodic face, with the same id, is in its way too.
              if (i == self || other.radius < body.radius) return false;
              if (other.radius == body.radius && other.id > body.id) return false;
            }
            const Vec<D> apart = body.position - other.position;
            const Real least = body.radius + other.radius + clearance_;
            return dot(apart, apart) < least * least;
          }))
        return true;
    }
    return false;
  }

  void check_obstacles() {
    if (context_.obstacles.n_constraints() == 0) return;
    std::vector<Vec<D>> at;
    std::vector<Real> reach;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      if (!free_[i]) continue;
      at.push_back(wrapped(context_.box, drawn_[i].position));
      reach.push_back(drawn_[i].radius + clearance_);
      which.push_back(i);
    }
    const std::vector<char> is_free = free_of_obstacles<D>(context_.obstacles, at, reach);
    for (std::size_t i = 0; i < at.size(); ++i) free_[which[i]] = is_free[i];
  }

  const FillContext<D>& context_;
  const Region<D>& region_;
  Real clearance_;
  Patches<D> patches_;
  std::int64_t n_bodies_;
  Real largest_ = 0;
  std::size_t n_classes_ = 1;
  std::size_t active_ = 0;
  GlobalId round_ = 0;
  std::vector<std::vector<NewBody<D>>> waiting_;  // by class, in no order
  std::vector<Bins<D>> bins_;                     // by class: what is within reach of the patch
  std::vector<NewBody<D>> placed_;
  std::vector<Message<D>> outbox_;
  std::vector<int> destination_;
  std::vector<NewBody<D>> drawn_;
  std::vector<char> free_;
};

/// Bodies at random places, without overlap: random sequential addition. Their number is given, or follows
/// from the share of the region that they fill and the mean volume of the radii.
template <int D>
class RandomFill final : public Fill<D> {
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
    section.integer(
        "tries", tries_,
        {.range = positive, .doc = "places tried per body, on average, before the fill is given up"});
    if (!section.reading()) return;
    where_ = section.where("type");
    if ((count_ > 0) == (solid_fraction_ > 0))
      section.fail("type", "a random fill needs either count or solid_fraction");
  }

  std::vector<NewBody<D>> create(const FillContext<D>& context) const override {
    Region<D> region = region_;
    region.fit(context.box);
    const auto n = count_ > 0 ? count_
                              : static_cast<std::int64_t>(std::llround(solid_fraction_ * region.volume() /
                                                                       context.radius->mean_volume()));
    if (n == 0) throw InputError(where_ + ": solid_fraction is less than half a body in this region");

    const Comm& comm = context.comm;
    std::vector<NewBody<D>> bodies;
    Real largest = 0;
    for (std::int64_t i = share_begin(n, comm.rank(), comm.size());
         i < share_begin(n, comm.rank() + 1, comm.size()); ++i) {
      const GlobalId id = context.first_id + i;
      RandomStream stream(context.seed, id, purpose::radius);
      bodies.push_back({id, {}, context.radius->draw(stream)});
      largest = std::max(largest, bodies.back().radius);
    }
    if (comm.max(largest) > region.largest_radius())
      throw InputError(where_ + ": the region is too small for a body of radius " +
                       fmt::format("{:g} m", comm.max(largest)));

    Placement<D> placement(context, region, clearance_, std::move(bodies));
    if (!placement.run(tries_)) fail(context, region, n, placement.placed());
    bodies = placement.placed();
    for (NewBody<D>& body : bodies) body.position = wrapped(context.box, body.position);
    return bodies;
  }

 private:
  [[noreturn]] void fail(const FillContext<D>& context, const Region<D>& region, std::int64_t n,
                         const std::vector<NewBody<D>>& placed) const {
    std::vector<Real> volumes;
    for (const NewBody<D>& body : placed) volumes.push_back(body_volume<D>(body.radius));
    const Real solid = ReproducibleSum::sum(context.comm, volumes) / region.volume();
    const std::int64_t n_placed = context.comm.sum(static_cast<std::int64_t>(placed.size()));
    throw InputError(
        fmt::format("{}: {} of {} bodies found a place (solid fraction {:.4f} of the region); ask for fewer, "
                    "raise tries = {}, "
                    "or use a lattice: random places seldom fill more than {} of the space",
                    where_, n_placed, n, solid, tries_, D == 2 ? "0.5" : "0.35"));
  }

  Region<D> region_;
  std::string where_;
  std::int64_t count_ = 0;
  Real solid_fraction_ = 0;
  Real clearance_ = 0;
  std::int64_t tries_ = 200;
};

}  // namespace

SCREE_PLUGIN(Fill, random, RandomFill, "at random places without overlap")

}  // namespace scree
