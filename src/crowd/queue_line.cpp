#include "crowd/queue_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.hpp"
#include "core/random.hpp"
#include "crowd/counter.hpp"
#include "crowd/plan/floor_plan.hpp"
#include "crowd/plan/ring.hpp"

namespace scree {

void QueueLine::describe(Section& section, const std::string& name_if_none) {
  name = name_if_none;
  std::string given;
  std::vector<std::vector<Real>> corners;
  section.text("name", given,
               {.doc = "name in results; not given: journey and number of the step, as \"go_2\""});
  section.points(
      "line", corners, 2,
      {.unit = Unit::length,
       .required = true,
       .doc = "corners of the line in which people stand, from the counter to the end, where they join"});
  section.real("spacing", spacing,
               {.unit = Unit::length, .range = positive, .doc = "distance of places along the line"});
  section.integer(
      "servers", servers,
      {.range = {.min = 1}, .doc = "how many are served at once, at the first places of the line"});
  describe_distribution(section, "service", Unit::time, service, "How long a person is served; required.");
  if (!section.reading()) return;
  if (!given.empty()) name = given;
  where = section.where("line");
  if (!service)
    section.fail("service", "a queue needs service, such as { distribution = \"constant\", value = 10 }");
  for (const std::vector<Real>& corner : corners) {
    line.push_back({{corner[0], corner[1]}});
    if (line.size() > 1) length += norm(line.back() - line[line.size() - 2]);
  }
  if (!(length > 0)) section.fail("line", "a line needs two corners or more, not all the same");
  constexpr Real max_places = 1e5;
  if (length / spacing > max_places)
    section.fail("spacing", fmt::format("the line has more than {:g} places", max_places));
  if (servers > n_places())
    section.fail("servers",
                 fmt::format("the line of {:g} m has {} places, {:g} m apart: too few for {} servers", length,
                             n_places(), spacing, servers));
}

std::int64_t QueueLine::n_places() const {
  constexpr Real rounding = 1e-9;  // of lengths that are whole multiples of the spacing
  return 1 + static_cast<std::int64_t>(length / spacing + rounding);
}

Vec<2> QueueLine::point(Real along) const {
  for (std::size_t k = 1; k < line.size(); ++k) {
    const Vec<2> edge = line[k] - line[k - 1];
    const Real here = norm(edge);
    if (along <= here && here > 0) return line[k - 1] + along / here * edge;
    along -= here;
  }
  return line.back();
}

Vec<2> QueueLine::place(std::int64_t k) const {
  return point(static_cast<Real>(k - 1) * spacing);
}

std::vector<Vec<2>> QueueLine::joining_area() const {
  constexpr int n_corners = 16;
  return polygon_of_disk(line.back(), spacing, n_corners);
}

void QueueLine::require_room(const FloorPlan& plan, Real largest_radius) const {
  if (spacing < 2 * largest_radius)
    throw InputError(
        fmt::format("{}: the places of the queue \"{}\" are {:g} m apart, but people are up to {:g} m "
                    "wide: enlarge spacing",
                    where, name, spacing, 2 * largest_radius));
  for (std::int64_t k = 1; k <= n_places(); ++k)
    if (const Vec<2> x = place(k); !plan.contains(x))
      throw InputError(fmt::format("{}: place {} of the queue \"{}\", at ({:.3g}, {:.3g}) m, is not walkable",
                                   where, k, name, x[0], x[1]));
}

QueueLine::Path QueueLine::path(const Vec<2>& x, std::int64_t k) const {
  const Real goal = std::min(static_cast<Real>(k - 1) * spacing, length);
  // The nearest point of the line from the place on.
  Real begin = 0, nearest = HUGE_VAL, at = goal;
  for (std::size_t c = 1; c < line.size(); ++c) {
    const Vec<2> edge = line[c] - line[c - 1];
    const Real here = norm(edge);
    if (here > 0 && begin + here >= goal) {
      const Real foot = std::clamp(dot(x - line[c - 1], edge) / here, std::max(goal - begin, 0.0), here);
      const Real distance = norm(x - (line[c - 1] + foot / here * edge));
      if (distance < nearest) nearest = distance, at = begin + foot;
    }
    begin += here;
  }
  constexpr Real ahead = 0.5;  // [m]
  const Vec<2> aim = point(std::max(goal, at - ahead));
  Path path{aim - x, 0, at, 0};
  const Real distance = norm(path.direction);
  path.length = distance + std::max(at - ahead - goal, 0.0);
  path.to_place = at - ahead > goal ? at - goal : distance;
  if (distance > 0) path.direction *= 1 / distance;
  return path;
}

bool QueueLine::is_at(const Vec<2>& x, std::int64_t k) const {
  return norm(x - place(k)) <= 0.5 * spacing;
}

Real QueueLine::service_time(std::uint64_t seed, GlobalId id, Real since) const {
  RandomStream of_person(seed, id, purpose::service);
  RandomStream of_visit(of_person.bits(), std::bit_cast<GlobalId>(since), purpose::service);
  return service->draw(of_visit);
}

void assign_places(std::span<Queuer> people, std::int64_t servers, Real time,
                   const std::function<bool(const Queuer&)>& is_there) {
  const auto at_counter = Counter{servers}.admit(people, queue_order);
  for (std::size_t k = 0; k < people.size(); ++k) people[k].place = static_cast<std::int32_t>(k + 1);
  for (Queuer& q : at_counter) {
    if (q.served_from > 0) continue;
    if (!is_there(q)) return;
    q.served_from = time;
  }
}

}  // namespace scree
