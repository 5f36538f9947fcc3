#include "crowd/journeys.hpp"

#include <stdexcept>

namespace scree {
bool Exit::is_open(Real) const {
  throw std::logic_error("later");
}
void Journeys::describe(Section&) {}
void Journeys::place(FloorPlan&) {}
void Journeys::add_doors(ObstacleSet<2>&) {}
int Journeys::find(const std::string&, const std::string&) const {
  throw std::logic_error("later");
}
Real Journeys::speed_factor(const Vec<2>&) const {
  throw std::logic_error("later");
}
bool Journeys::switch_doors(State<2>&, const std::function<void()>&) const {
  return false;
}
void Journeys::choose(State<2>&, const Navigation&, std::uint64_t) {}
bool Journeys::absorb(State<2>&, std::size_t, std::vector<Index>&) {
  return false;
}
}  // namespace scree
