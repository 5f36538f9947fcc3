#include "crowd/people/mixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "core/suggestion.hpp"

namespace scree {

std::vector<std::string> names_of(const std::vector<AgentType>& kinds) {
  std::vector<std::string> names;
  for (const AgentType& kind : kinds) names.push_back(kind.name);
  return names;
}

void Mixture::describe(Section& section, const std::vector<AgentType>& kinds) {
  std::vector<std::string> agents;
  std::vector<Real> shares;
  section.texts("agents", agents,
                {.doc = "names of [agents.NAME] tables; not given: the first one of the deck"});
  section.reals("shares", shares, -1,
                {.range = non_negative,
                 .doc = "share of each of agents; they need not sum to 1; none given: equal shares. The type "
                        "of each person is drawn with them"});
  premovement_ = constant_distribution(0);
  describe_distribution(section, "premovement", Unit::time, premovement_,
                        "Premovement times: people start to walk after them; not given: 0 s.");
  if (!section.reading()) return;
  kinds_ = &kinds;
  const std::vector<std::string> names = names_of(kinds);
  if (agents.empty()) agents = {names[0]};
  for (const std::string& agent : agents)
    kind_.push_back(static_cast<std::size_t>(table_named("agents", agent, names, section.where("agents"))));
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
  return type(draw_kind(seed, number)).radius->draw(stream);
}

Person Mixture::draw(std::uint64_t seed, GlobalId number, Person given) const {
  if (given.kind < 0) given.kind = static_cast<std::int32_t>(kind_[draw_kind(seed, number)]);
  const AgentType& type = (*kinds_)[given.kind];
  const auto draw = [&](Real& value, const Distribution& distribution, std::uint32_t what) {
    if (!std::isnan(value)) return;
    RandomStream stream(seed, number, what);
    value = distribution.draw(stream);
  };
  draw(given.radius, *type.radius, purpose::radius);
  draw(given.speed, *type.speed, purpose::desired_speed);
  draw(given.premovement, *premovement_, purpose::premovement);
  return given;
}

Real Mixture::mean_disk_area() const {
  Real area = 0;
  for (std::size_t k = 0; k < kind_.size(); ++k)
    area += (cumulative_[k] - (k == 0 ? 0 : cumulative_[k - 1])) / cumulative_.back() *
            type(k).radius->mean_of([](Real r) { return std::numbers::pi * r * r; });
  return area;
}

Real Mixture::largest_radius() const {
  Real largest = 0;
  for (std::size_t k = 0; k < kind_.size(); ++k) largest = std::max(largest, type(k).radius->max());
  return largest;
}

Real Mixture::typical_radius() const {
  Real min = HUGE_VAL;
  for (std::size_t k = 0; k < kind_.size(); ++k) min = std::min(min, type(k).radius->quantile(0.5));
  return min;
}

}  // namespace scree
