#include "geometry/floor_plan.hpp"

#include <stdexcept>

namespace scree {
struct FloorPlan::Content {};
FloorPlan::FloorPlan() = default;
FloorPlan::~FloorPlan() = default;
bool ring_contains(const Ring&, const Vec<2>&) {
  throw std::logic_error("later");
}
void FloorPlan::describe(Section&) {}
const std::string& FloorPlan::where() const {
  throw std::logic_error("later");
}
std::vector<Ring> FloorPlan::regions_of_colour(const std::string&, const std::string&) const {
  throw std::logic_error("later");
}
Ring FloorPlan::open_exit(const Vec<2>&, const Vec<2>&, Real, const std::string&) {
  throw std::logic_error("later");
}
std::span<const PolygonWithHoles> FloorPlan::area() const {
  throw std::logic_error("later");
}
std::span<const Columns::Column> FloorPlan::columns() const {
  throw std::logic_error("later");
}
std::vector<Edge> FloorPlan::walls() const {
  throw std::logic_error("later");
}
Box<2> FloorPlan::bounds() const {
  throw std::logic_error("later");
}
bool FloorPlan::contains(const Vec<2>&) const {
  throw std::logic_error("later");
}
Real FloorPlan::free_area() const {
  throw std::logic_error("later");
}
Real FloorPlan::free_area(const Ring&) const {
  throw std::logic_error("later");
}
std::string FloorPlan::wkt() const {
  throw std::logic_error("later");
}
int FloorPlan::part_of(const Vec<2>&, Real) const {
  throw std::logic_error("later");
}
std::vector<PlanFinding> FloorPlan::narrow_places(Real) const {
  throw std::logic_error("later");
}
}  // namespace scree
