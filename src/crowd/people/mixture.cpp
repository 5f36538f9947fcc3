#include "crowd/people/mixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "core/suggestion.hpp"

namespace scree {

void Mixture::describe(Section& section, const std::vector<AgentType>& kinds) {
  std::vector<std::string> agents;
  std::vector<Real> shares;
  section.texts("agents", agents,
                {.doc = "names of [agents.NAME] tables; not given: the first one of the deck"});
  section.reals("shares", shares, -1,
                {.range = non_negative,
                 .doc = "share of each of agents; they need not sum to 1; none given: equal shares. The type "
                        "of each person is drawn with them"});
  premovement_ = constant_distribution<Unit::time>(0);
  describe_distribution<Unit::time>(section, "premovement", premovement_,
                                    "Premovement times: people start to walk after them; not given: 0 s.");
  if (!section.reading()) return;
  kinds_ = &kinds;
  std::vector<std::string> names;
  for (const AgentType& kind : kinds) names.push_back(kind.name);
  if (agents.empty()) agents = {names[0]};
  for (const std::string& agent : agents) {
    const auto found = std::ranges::find(names, agent);
    if (found == names.end()) section.fail("agents", no_such_table("agents", agent, names));
    kind_.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  if (shares.empty()) shares.assign(kind_.size(), 1);
  if (shares.size() != kind_.size())
    section.fail("shares", fmt::format("there must be as many shares as agents ({}), not {}", kind_.size(),
                                       shares.size()));
  cumulative_.resize(shares.size());
  std::inclusive_scan(shares.begin(), shares.end(), cumulative_.begin());
  if (!(cumulative_.back() > 0)) section.fail("shares", "the shares sum to 0; one at least must be positive");
}

std::size_t Mixture::draw_kind(std::uint64_t seed, GlobalId number) const {
  RandomStream stream(seed, number, purpose::agent_kind);
  const auto found = std::ranges::upper_bound(cumulative_, stream.uniform() * cumulative_.back());
  return std::min(static_cast<std::size_t>(found - cumulative_.begin()), kind_.size() - 1);
}

Real Mixture::radius(std::uint64_t seed, GlobalId number) const {
  RandomStream stream(seed, number, purpose::radius);
  return traits(draw_kind(seed, number)).radius->draw(stream);
}

Traits Mixture::draw(std::uint64_t seed, GlobalId number) const {
  return draw_as(static_cast<std::int32_t>(kind_[draw_kind(seed, number)]), seed, number);
}

Traits Mixture::draw_as(std::int32_t kind, std::uint64_t seed, GlobalId number) const {
  const AgentType& type = (*kinds_)[static_cast<std::size_t>(kind)];
  RandomStream radius(seed, number, purpose::radius), speed(seed, number, purpose::desired_speed),
      premovement(seed, number, purpose::premovement);
  return {kind, type.radius->draw(radius), type.speed->draw(speed), premovement_->draw(premovement)};
}

Traits Mixture::draw(std::uint64_t seed, GlobalId number, const FilePerson& person) const {
  Traits drawn = person.kind >= 0 ? draw_as(person.kind, seed, number) : draw(seed, number);
  if (!std::isnan(person.radius)) drawn.radius = person.radius;
  if (!std::isnan(person.speed)) drawn.desired_speed = person.speed;
  if (!std::isnan(person.premovement)) drawn.premovement = person.premovement;
  return drawn;
}

Real Mixture::mean_disk_area() const {
  Real area = 0;
  for (std::size_t k = 0; k < kind_.size(); ++k)
    area += (cumulative_[k] - (k == 0 ? 0 : cumulative_[k - 1])) / cumulative_.back() *
            traits(k).radius->mean_of([](Real r) { return std::numbers::pi * r * r; });
  return area;
}

Real Mixture::largest_radius() const {
  Real largest = 0;
  for (std::size_t k = 0; k < kind_.size(); ++k) largest = std::max(largest, traits(k).radius->most());
  return largest;
}

Real Mixture::typical_radius() const {
  Real least = HUGE_VAL;
  for (std::size_t k = 0; k < kind_.size(); ++k) least = std::min(least, traits(k).radius->quantile(0.5));
  return least;
}

}  // namespace scree
