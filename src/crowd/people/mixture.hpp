#pragma once
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/people/distribution.hpp"

namespace scree {

/// Radii and speeds of one [agents.NAME] table.
struct AgentTraits {
  std::string name;
  std::shared_ptr<const Distribution<Unit::length>> radius;
  std::shared_ptr<const Distribution<Unit::speed>> speed;
};

/// What one person is like.
struct Traits {
  std::int32_t kind = 0;
  Real radius = 0;         ///< [m]
  Real desired_speed = 0;  ///< [m/s]
  Real premovement = 0;    ///< time before it walks [s]
};

/// Kinds with their shares, and a premovement time: what people of a population or source are like.
class Mixture {
 public:
  /// Declares and reads agents, shares and premovement. `kinds` must stay where it is.
  void describe(Section& section, const std::vector<AgentTraits>& kinds);

  /// Drawn from streams of (seed, number): each number stands for one person.
  Traits draw(std::uint64_t seed, GlobalId number) const;
  Real radius(std::uint64_t seed, GlobalId number) const;
  Real mean_disk_area() const;  ///< mean of pi r^2 [m2]
  Real largest_radius() const;  ///< [m]
  Real typical_radius() const;  ///< of the smallest kind [m]

 private:
  std::size_t draw_kind(std::uint64_t seed, GlobalId number) const;
  const AgentTraits& traits(std::size_t k) const { return (*kinds_)[kind_[k]]; }

  const std::vector<AgentTraits>* kinds_ = nullptr;
  std::vector<std::size_t> kind_;
  std::vector<Real> cumulative_;
  std::shared_ptr<const Distribution<Unit::time>> premovement_;
};

}  // namespace scree
