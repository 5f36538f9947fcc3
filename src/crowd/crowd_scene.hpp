#pragma once
#include <memory>
#include <string>
#include <vector>

#include "crowd/journeys.hpp"
#include "crowd/navigation.hpp"
#include "crowd/people.hpp"
#include "schemes/common/scene.hpp"

namespace scree {

/// A building with people in it: the tables [walkable], [exits], [waypoints], [zones], [journeys], [agents],
/// [populations], [sources] and [navigation], and what happens between two steps.
class CrowdScene final : public Scene<2> {
 public:
  /// Declares and reads all tables of the scene. Local.
  void describe(Section& root);

  void furnish(Box<2>& box, bool box_given, ObstacleSet<2>& obstacles) override;
  void prepare(State<2>& state) override;
  bool change_bodies() const override { return true; }
  BodiesToCome to_come(Real end_time) const override { return people_.to_come(end_time); }
  void populate(State<2>& state, std::uint64_t seed) override;
  void start(State<2>& state, std::uint64_t seed) override;
  void after_step(State<2>& state, std::uint64_t seed, const std::function<void()>& before_change) override;
  bool finished(const State<2>& state) const override;
  std::span<Real> memory() override { return ways_.density(); }
  std::string fault_of_body(const BodyStore<2>& bodies, std::size_t i) const override;
  std::vector<std::string> findings(const State<2>& state) const override;

  /// Whether people without a destination are told where to walk.
  void set_led(bool is_led) { is_led_ = is_led; }
  /// No speed on free ground is higher [m/s].
  Real fastest() const;
  /// Of the run.
  std::uint64_t seed() const { return seed_; }
  const People& people() const { return people_; }
  const Journeys& journeys() const { return journeys_; }
  const Navigation& ways() const { return ways_; }
  Navigation& ways() { return ways_; }

 private:
  std::shared_ptr<FloorPlan> plan_ = std::make_shared<FloorPlan>();
  Journeys journeys_;
  Navigation ways_;
  People people_;
  std::size_t first_outlet_ = 0;  // in State::outlets, of the exits
  std::vector<Index> staying_;
  std::uint64_t seed_ = 0;
  bool is_led_ = false;
  bool is_empty_ = false;  // nobody is there after the last step
};

}  // namespace scree
