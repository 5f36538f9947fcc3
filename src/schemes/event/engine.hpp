#pragma once
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "geometry/obstacle.hpp"
#include "schemes/event/impact_law.hpp"

namespace scree {

/// A body as the event-driven scheme sees it.
template <int D>
struct FlyingBody {
  GlobalId id = 0;
  Vec<D> position{};
  Vec<D> velocity{};
  Real radius = 0;
  Real mass = 0;
  int material = 0;
  bool fixed = false;  ///< does not move, whatever meets it
};

/// A piece of a fixed obstacle.
template <int D>
struct FixedPiece {
  SurfacePiece<D> surface;
  int constraint = 0;  ///< part of an obstacle that it belongs to
  int material = 0;
};

/// What one contact took during a step.
struct ContactImpulse {
  GlobalId a = 0;
  GlobalId b = 0;      ///< the larger id, or -1 - constraint
  Real magnitude = 0;  ///< [N s]
};

struct EventCounts {
  std::int64_t events = 0;      ///< contacts that closed, and ends of edges passed
  std::int64_t impacts = 0;     ///< clusters that the law was asked about
  std::int64_t law_steps = 0;   ///< its steps
  std::int64_t unresolved = 0;  ///< of the impacts: ended by the limit of steps, then by projection
  std::int64_t hops = 0;        ///< contacts kept closed by hops
  Real dissipated = 0;          ///< kinetic energy that impacts took [J]
};

/// Few frictionless bodies between obstacles, from impact to impact (docs/method.md, "Impacts"). Between
/// events each body flies with a constant acceleration, so the times of contacts are roots of polynomials.
/// Everything here is serial and a function of its input alone.
template <int D>
class EventEngine {
 public:
  struct Settings {
    Real tolerance = 1e-9;  ///< gaps up to this share of the radii are closed
    Real rest_speed = 0;    ///< contacts approached at most this fast do not rebound, unless e = 1 [m/s]
    std::int64_t max_events = 100'000;
    Vec<D> gravity{};
    std::function<Real(int material_a, int material_b)> restitution;
  };

  EventEngine(ImpactLaw<D>& law, Settings settings) : law_(law), settings_(std::move(settings)) {}

  void set_rest_speed(Real speed) { settings_.rest_speed = speed; }

  /// Moves the bodies, which are in the order of their ids, for `dt` [s]. Throws StepRefused, with `place`
  /// in front, when there are more than max_events. O(bodies^2) to begin with, then O(bodies) per event.
  void advance(std::vector<FlyingBody<D>>& bodies, std::span<const FixedPiece<D>> pieces, Real dt,
               const std::string& place);

  /// Of the last step.
  const EventCounts& counts() const { return counts_; }
  std::span<const ContactImpulse> impulses() const { return impulses_; }
  /// Smallest gap at the end of the last step, negative: an overlap [m]; infinite if there is no pair.
  Real smallest_gap() const { return smallest_gap_; }

 private:
  // The other end of a contact: a body, or -1 - piece.
  using Partner = int;
  static constexpr Partner none = std::numeric_limits<int>::max();

  /// x(t) = x + v (t - since) + a (t - since)^2 / 2.
  struct Flight {
    Vec<D> x, v, a;
    Real since = 0;
  };
  struct Prediction {
    Real time = HUGE_VAL;
    Partner partner = none;
  };
  /// A contact of a body that stays closed until the next event of either end.
  struct Closed {
    Partner partner = none;
    bool kept = false;  ///< pressed, or not about to open: it cannot close again
    Real force = 0;     ///< [N]
  };
  struct Contact {
    Partner partner = none;
    ImpactConstraint<D> constraint{};  ///< between places among the members
    Real curvature = 0;  ///< 1 / distance of the centres [1/m], negative inside of a sphere; 0: flat
  };
  static constexpr Real same_normal = 1e-9;  // [rad]

  Flight at(int body, Real time) const;
  bool mobile(int body) const { return !(*bodies_)[body].fixed; }
  Real gap(int body, Partner partner, Real time) const;
  bool hides_corner(int piece, const Vec<D>& x, Real radius) const;
  Vec<D> normal(int body, Partner partner, Real time) const;
  bool touches(int body, Partner partner, Real time) const;
  Real speed_floor(Real radius) const;
  void find_corners();
  void find_smallest_gap();

  void settle(int body, Real time, const std::string& place_in_run);
  void find_cluster(int body, Real time);
  void add_contact(int body, Partner partner, Real time);
  bool is_at_rest() const;
  void collide();
  void keep_closed(const std::string& place_in_run);
  void find_closed();
  static Vec<D> tangential(const ImpactConstraint<D>& constraint, std::span<const Vec<D>> v);
  bool is_steady(std::size_t c) const;
  void hop(const std::vector<bool>& hops, const std::string& place_in_run);

  void predict(int body, Real now);
  struct Approach;
  Real contact_time(int body, Partner partner, Real now) const;
  Real edge_contact_time(const Approach& approach, const SurfacePiece<D>& edge) const;
  void record_resting(int body, Real time);
  void record_impulses();
  void record(int body, Partner partner, Real magnitude);

  ImpactLaw<D>& law_;
  Settings settings_;
  std::vector<FlyingBody<D>>* bodies_ = nullptr;
  std::span<const FixedPiece<D>> pieces_;
  std::vector<std::vector<int>> edges_at_;  // of each piece that is a corner
  Real end_ = 0;

  std::vector<Flight> flights_;
  std::vector<Prediction> predictions_;
  std::vector<std::vector<Closed>>
      closed_;  // of each body; a pair is in both lists, but fixed bodies have none

  /// Bodies that touch each other, and what they do.
  struct Cluster {
    std::vector<int> members;
    std::vector<int> place;  // of each body among the members, -1
    std::vector<Real> mass;
    std::vector<Vec<D>> velocity, acceleration;
    std::vector<Contact> contacts;
    std::vector<std::pair<std::size_t, Partner>> repeats;  // pieces that repeat the one of a contact
    std::vector<Real> impulse;                             // of each contact
    Real start_speed = 0;
    std::vector<std::size_t> closed_contacts;  // places in contacts
    std::vector<Real> bound, force;            // of each closed contact
    Real acceleration_scale = 0;
    std::vector<ImpactConstraint<D>> constraints;  // of contacts or closed_contacts
  } cluster_;                                      // that is dealt with

  EventCounts counts_;
  std::vector<ContactImpulse> impulses_;
  Real smallest_gap_ = HUGE_VAL;
};

}  // namespace scree
