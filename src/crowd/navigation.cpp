#include "crowd/navigation.hpp"

#include <stdexcept>

namespace scree {
struct Navigation::Content {};
Navigation::Navigation() = default;
Navigation::~Navigation() = default;
void Navigation::describe(Section&) {}
Real Navigation::cell() const {
  throw std::logic_error("later");
}
void Navigation::build(const Comm&, const FloorPlan&, const Box<2>&, const std::vector<Zone>&,
                       const std::vector<Destination>&) {}
void Navigation::fetch(std::span<const Vec<2>>, Real) {}
Real Navigation::travel_time(int, const Vec<2>&) const {
  throw std::logic_error("later");
}
Vec<2> Navigation::direction(int, const Vec<2>&) const {
  throw std::logic_error("later");
}
bool Navigation::counts_density() const {
  return false;
}
Real Navigation::density_interval() const {
  return 0;
}
void Navigation::update_density(std::span<const Vec<2>>) {}
std::span<Real> Navigation::density() {
  return {};
}
void Navigation::restore_density() {}
const Navigation::Grid& Navigation::grid() const {
  throw std::logic_error("later");
}
std::vector<Real> Navigation::rows(int, std::int64_t, std::int64_t) const {
  throw std::logic_error("later");
}
std::size_t Navigation::bytes() const {
  return 0;
}
}  // namespace scree
