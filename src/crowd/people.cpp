#include "crowd/people.hpp"

#include <stdexcept>

namespace scree {
struct People::Content {};
People::People() = default;
People::~People() = default;
void People::describe(Section&, const Journeys&) {}
std::span<const AgentKind> People::kinds() const {
  throw std::logic_error("later");
}
std::vector<std::string> People::group_names() const {
  throw std::logic_error("later");
}
Real People::largest_radius() const {
  throw std::logic_error("later");
}
Real People::smallest_radius() const {
  throw std::logic_error("later");
}
Real People::fastest() const {
  throw std::logic_error("later");
}
Real People::longest_headway() const {
  throw std::logic_error("later");
}
bool People::has_sources() const {
  return false;
}
BodiesToCome People::to_come(Real) const {
  return {};
}
void People::prepare(State<2>&) {}
void People::populate(State<2>&, const FloorPlan&, std::uint64_t) const {}
bool People::feed(State<2>&, const FloorPlan&, std::uint64_t, const std::function<void()>&) const {
  return false;
}
bool People::exhausted(const State<2>&) const {
  return true;
}
std::vector<std::string> People::findings(const FloorPlan&, const Journeys&) const {
  return {};
}
}  // namespace scree
