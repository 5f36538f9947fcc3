#pragma once
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/familiarity.hpp"
#include "crowd/people/distribution.hpp"
#include "crowd/people/person_rows.hpp"

namespace scree {

/// A kind of people: [agents.NAME]. Radius and speed are drawn for each person; the rest is the same for all.
/// Values that the deck does not give: docs/crowd.md, "Calibration".
struct AgentType {
  std::string name;
  std::shared_ptr<const Distribution> radius = normal_distribution(0.19, 0.01, 0.15, 0.199);
  std::shared_ptr<const Distribution> speed = normal_distribution(1.34, 0.26, 0.5, 2.2);
  Real headway_time = 0.95;  ///< T of the headway law [s]
  Real creep_speed = 0.03;   ///< least speed wanted, however close others are [m/s]
  std::string age{}, sex{};  ///< of those of the kind, for speeds on stairs; empty: not given
  Familiarity familiarity{};
  std::string where_follows{};  ///< its place in the deck
};

/// Their names, in the order of the deck.
std::vector<std::string> names_of(const std::vector<AgentType>& kinds);

/// Kinds with their shares, and a premovement time: what people of a population or source are like.
class Mixture {
 public:
  /// Declares and reads agents, shares and premovement. `kinds` must stay where it is.
  void describe(Section& section, const std::vector<AgentType>& kinds);

  /// What is not given of a person, its kind and numbers, drawn from streams of (seed, number): each number
  /// stands for one person.
  Person draw(std::uint64_t seed, GlobalId number, Person given = {}) const;
  Real radius(std::uint64_t seed, GlobalId number) const;
  Real mean_disk_area() const;  ///< mean of pi r^2 [m2]
  Real largest_radius() const;  ///< [m]
  Real typical_radius() const;  ///< of the smallest kind [m]

 private:
  std::size_t draw_kind(std::uint64_t seed, GlobalId number) const;
  const AgentType& type(std::size_t k) const { return (*kinds_)[kind_[k]]; }

  const std::vector<AgentType>* kinds_ = nullptr;
  std::vector<std::size_t> kind_;
  std::vector<Real> cumulative_;
  std::shared_ptr<const Distribution> premovement_;
};

}  // namespace scree
