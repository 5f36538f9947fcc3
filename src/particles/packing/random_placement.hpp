#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "core/sparse_all_to_all.hpp"
#include "particles/initial_packing.hpp"
#include "particles/packing/bins.hpp"
#include "particles/packing/patches.hpp"
#include "particles/packing/region.hpp"
#include "particles/packing/true_fit.hpp"

namespace scree {

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
/// a smaller id). With a TrueFit true shapes count for overlap, and the bodies must lie in its region; else
/// circumscribed spheres. This rule knows nothing of ranks, so neither does the result. Larger bodies are
/// placed first, in classes by powers of 2.
///
/// Space is cut into one patch per rank; the rank that owns a draw's patch decides on it, knowing all that is
/// within reach of the patch. Bodies are numbered without regard to place. Cost per rank: O(draws / ranks)
/// and one all-to-all exchange per round.
///
/// Space, where bodies may be, has
///   bounds()              the smallest box around it
///   draw(stream, radius)  a point drawn evenly from it
///   free(x, reach)        for points within the domain, 1 for each whose sphere of that reach touches no
///                         obstacle, else 0
template <int D, class Space>
class RandomPlacement {
 public:
  /// `bodies`: this rank's share, radii given, with `fit` orientations too. `earlier`: bodies that are there
  /// already, as ranks have them.
  RandomPlacement(const Comm& comm, const Box<D>& box, std::uint64_t seed, const Space& space, Real clearance,
                  std::vector<NewBody<D>> bodies, std::span<const NewBody<D>> earlier,
                  const TrueFit<D>* fit = nullptr)
      : comm_(comm),
        box_(box),
        seed_(seed),
        space_(space),
        clearance_(clearance),
        fit_(fit),
        patches_(comm, space.bounds(), box),
        n_bodies_(comm.sum(static_cast<std::int64_t>(bodies.size()))) {
    Real min = HUGE_VAL;
    for (const auto& group : {std::span<const NewBody<D>>(bodies), earlier})
      for (const NewBody<D>& body : group) {
        largest_ = std::max(largest_, body.radius);
        min = std::min(min, body.radius);
      }
    largest_ = comm.max(largest_);
    min = comm.min(min);
    n_classes_ = std::min(max_classes, 1 + static_cast<std::size_t>(std::ilogb(largest_ / min)));

    waiting_.resize(n_classes_);
    for (const NewBody<D>& body : bodies) waiting_[class_of(body.radius)].push_back(body);
    make_bins(earlier);
    for (const NewBody<D>& body : earlier) announce(body, largest_, true);
  }

  /// Places the bodies; true if all found a place. Gives up after `tries` draws per body on average.
  /// Collective.
  bool run(std::int64_t tries) {
    // A few bodies are cheap to try more often.
    const Real max_draws = static_cast<Real>(tries) * static_cast<Real>(n_bodies_) + 1e5;
    Real n_draws = 0;
    for (active_ = 0; active_ < n_classes_; ++active_) {
      while (const std::int64_t n_remaining = n_waiting()) {
        if (n_draws > max_draws) return false;
        n_draws += static_cast<Real>(n_remaining);
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

  std::int64_t n_waiting() const { return comm_.sum(static_cast<std::int64_t>(waiting_[active_].size())); }

  void make_bins(std::span<const NewBody<D>> earlier) {
    std::vector<std::int64_t> n_of_class(n_classes_, 0);
    for (std::size_t c = 0; c < n_classes_; ++c)
      n_of_class[c] = static_cast<std::int64_t>(waiting_[c].size());
    for (const NewBody<D>& body : earlier) ++n_of_class[class_of(body.radius)];
    comm_.sum(n_of_class);
    const Vec<D> corner = patches_.corner(comm_.rank());
    const Vec<D> rim = filled<D>(2 * largest_ + clearance_);
    for (std::size_t c = 0; c < n_classes_; ++c)
      bins_.emplace_back(corner - rim, corner + patches_.extent() + rim, 2 * class_radius(c) + clearance_,
                         n_of_class[c] / comm_.size());
  }

  void send(int rank, const NewBody<D>& body, Role role) {
    outbox_.push_back({body, role});
    destination_.push_back(rank);
  }
  /// Tells of a placed body wherever bodies of up to `largest` may meet it. `everywhere`: also here.
  void announce(const NewBody<D>& body, Real largest, bool everywhere) {
    const Real reach = reach_of(body.radius, largest);
    patches_.for_each_near(body.position, reach, [&](int rank, const Vec<D>& image) {
      if (everywhere || rank != comm_.rank() || image != body.position)
        send(rank, moved(body, image), Role::placed);
    });
  }
  static NewBody<D> moved(NewBody<D> body, const Vec<D>& to) {
    body.position = to;
    return body;
  }
  /// Distance of centres below which two bodies may not come, with room for rounding.
  Real reach_of(Real a, Real b) const { return (a + b + clearance_) * (1 + 1e-9); }

  void play_round() {
    draw_places();
    std::vector<Message<D>> inbox = exchange_values<Message<D>>(comm_, outbox_, destination_);
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
    const std::uint64_t seed = RandomStream(seed_, round_++, purpose::position).bits();
    for (NewBody<D>& body : waiting_[active_]) {
      RandomStream stream(seed, body.id, purpose::position);
      body.position = space_.draw(stream, fit_ ? fit_->inscribed_radius(body) : body.radius);
      const int owner = patches_.owner(body.position);
      const Real reach = reach_of(body.radius, class_radius(active_));
      patches_.for_each_near(body.position, reach, [&](int rank, const Vec<D>& image) {
        const bool decides = rank == owner && image == body.position;
        send(rank, moved(body, image), decides ? Role::proposed : Role::proposed_near);
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
            const Real min = body.radius + other.radius + clearance_;
            return dot(apart, apart) < min * min && (!fit_ || fit_->meet(body, other));
          }))
        return true;
    }
    return false;
  }

  void check_obstacles() {
    std::vector<Vec<D>> at;
    std::vector<Real> reach, inner_reach;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      if (!free_[i]) continue;
      at.push_back(wrapped(box_, drawn_[i].position));
      reach.push_back(drawn_[i].radius + clearance_);
      if (fit_) inner_reach.push_back(fit_->inscribed_radius(drawn_[i]) + clearance_);
      which.push_back(i);
    }
    const std::vector<char> is_free = space_.free(at, reach);
    for (std::size_t i = 0; i < at.size(); ++i) free_[which[i]] = is_free[i];
    if (!fit_) return;
    const std::vector<char> inside_is_free = space_.free(at, inner_reach);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const NewBody<D>& body = drawn_[which[i]];
      free_[which[i]] =
          fit_->is_in_region(body) && (is_free[i] || (inside_is_free[i] && !fit_->meets_obstacle(body)));
    }
  }

  Comm comm_;
  Box<D> box_;
  std::uint64_t seed_;
  const Space& space_;
  Real clearance_;
  const TrueFit<D>* fit_;  // null: circumscribed spheres
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

}  // namespace scree
