#pragma once
#include <vector>

#include "crowd/crowd_environment.hpp"
#include "crowd/look_ahead.hpp"

namespace scree {

/// The velocities that people want (docs/method.md, eq. P.1): along the route to their destination, as fast
/// as the headway law lets them, turned where that gets them on faster, towards the side with more room,
/// aside for those who come towards them. Keys of [crowd]: speed_law to noise, and [crowd.avoidance].
class WalkingModel {
 public:
  explicit WalkingModel(CrowdEnvironment& environment) : environment_(environment) {}

  void describe(Section& section);
  /// Whether people without a destination are led.
  bool leads() const { return norm(direction_) > 0; }
  /// How far apart two people may be of whom one minds the other [m].
  Real needed_range() const;
  /// How far each of the owned people may ever see others who matter to it [m], as WalkingIntent::sight.
  /// Local.
  void find_sights(const State<2>& state, std::vector<Real>& sight) const;
  /// What is looked for, with `range` and `reach` as in Perception.
  LookAhead::Perception perception(Real range, Real reach) const;
  /// Desired velocities of the owned people for a step of dt; `velocity` gets n_local entries. Looks ahead.
  /// Collective.
  void find_desired(State<2>& state, Neighborhood<2>& neighborhood, LookAhead& look_ahead,
                    const LookAhead::Perception& perception, Real dt, std::vector<Vec<2>>& velocity) const;

  /// In plan, of person i who walks in `direction` [m/s].
  Real speed_on_free_ground(const State<2>& state, std::size_t i, const Vec<2>& direction) const;
  /// Whether people avoid those who come towards them.
  bool avoids() const { return horizon_ > 0; }

 private:
  void choose_directions(State<2>& state, LookAhead& look_ahead) const;
  void avoid_oncoming(State<2>& state, Neighborhood<2>& neighborhood, LookAhead& look_ahead,
                      const LookAhead::Perception& perception) const;
  Vec<2> desired_velocity(std::size_t i, const LookAhead& look_ahead, const WalkingIntent& walk,
                          const AgentType& type) const;
  Real lateral_speed(std::size_t i, const LookAhead& look_ahead, Real speed, const Vec<2>& velocity) const;
  Real sight(Real speed, const AgentType& type) const;
  const AgentType& type_of(const State<2>& state, std::size_t i) const;
  bool walks(const State<2>& state, std::size_t i) const;
  bool walk_in_queue(const State<2>& state, std::size_t i, WalkingIntent& walk) const;

  static constexpr Real side_range = 1;  // room beyond that to a side is as good as any [m]

  CrowdEnvironment& environment_;
  Real noise_ = 0;
  Vec<2> direction_{};  // unit, or zero
  bool keeps_headway_ = true;
  Real headway_width_ = 0.86;
  Real moving_width_ = 0.58;
  Real spreading_ = 0.8;
  Real turning_angle_ = 0.3;
  Real turning_share_ = 0.82;
  Real horizon_ = 0;
  Real aside_angle_ = 1.2;
  Real lateral_clearance_ = 0.2;
};

}  // namespace scree
