#include "crowd/people.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "core/error.hpp"
#include "crowd/arrivals.hpp"
#include "crowd/crowd_placement.hpp"
#include "crowd/mixture.hpp"
#include "crowd/ring.hpp"
#include "crowd/start_space.hpp"
#include "geometry/plan_gap.hpp"
#include "particles/fill/bins.hpp"
#include "particles/fill/region.hpp"
#include "particles/redistribute.hpp"

namespace scree {

namespace {

// The densest arrangement of equal disks: pi / sqrt(12).
const Real densest = std::numbers::pi / std::sqrt(12.0);

/// How many people with their centres in the space there can be, taken as disks of their mean area.
Real most_that_fit(const StartSpace& space, const Mixture& mixture) {
  const Real area = mixture.mean_disk_area();
  return densest * space.usable_area(2 * std::sqrt(area / std::numbers::pi)) / area;
}

struct Population {
  std::string name;
  std::string where;  // its place in the deck
  Mixture mixture;
  Ring region;  // empty: the whole plan
  std::int64_t count = 0;
  Real density = 0;  // [1/m2]; 0: count is given
  bool on_lattice = false;
  int journey = -1;

  std::int64_t n_people(Real area) const {
    return count > 0 ? count : static_cast<std::int64_t>(std::llround(density * area));
  }
};

enum class WhenFull { wait, drop, error };

struct Source {
  std::string name;
  std::string where;
  Mixture mixture;
  Ring region;
  Arrivals arrivals;
  WhenFull when_full = WhenFull::wait;
  int journey = -1;
};

/// How many of a source came, or never will.
std::int64_t n_settled(const InletProgress& progress) {
  return progress.n_made + progress.n_dropped;
}

/// Somebody whom a source is about to send.
struct Arrival {
  std::size_t source;
  NewBody<2> body;
  Traits traits;
};

void put_person(State<2>& state, Index i, const NewBody<2>& made, const Traits& traits, std::size_t group,
                int journey) {
  BodyStore<2>& bodies = state.bodies;
  const auto at = static_cast<std::size_t>(i);
  bodies.id()[at] = made.id;
  bodies.position()[at] = made.position;
  bodies.previous()[at] = made.position;
  bodies.radius()[at] = made.radius;
  bodies.mobility()[at] = 1;
  bodies.group()[at] = static_cast<std::int32_t>(group);
  bodies.kind()[at] = traits.kind;
  bodies.desired_speed()[at] = traits.desired_speed;
  bodies.entered_at()[at] = state.clock.time;
  bodies.walks_from()[at] = state.clock.time + traits.premovement;
  bodies.journey()[at] = journey;
  bodies.journey_step()[at] = 0;
  bodies.destination()[at] = -1;
}

}  // namespace

struct People::Content {
  std::vector<AgentKind> kinds;
  std::vector<AgentTraits> traits;  // of each kind
  std::vector<Population> populations;
  std::vector<Source> sources;
  const Journeys* journeys = nullptr;
  std::size_t first_inlet = 0;  // in State::inlets, of the sources

  /// Where sources put people: spaces for good, the grid of obstacles as long as the same ones stand in the
  /// same places.
  struct Places {
    Places(const ObstacleSet<2>& obstacles, std::span<const Exit> exits, const Box<2>& domain, Real reach)
        : near(obstacles, exits, domain, reach) {}
    NearObstacles near;  // spaces refer to it
    std::vector<std::unique_ptr<StartSpace>> spaces;
    std::vector<char> active;
    std::int64_t step = 0;
  };
  mutable std::unique_ptr<Places> places;

  void describe_kinds(Section& root);
  void describe_populations(Section& root);
  void describe_sources(Section& root);
  int read_journey(Section& section) const;

  Real largest_radius() const {
    Real largest = 0;
    for (const AgentKind& kind : kinds) largest = std::max(largest, kind.max_radius);
    return largest;
  }
  const Places& places_of_sources(const State<2>& state, const FloorPlan& plan) const;
  void feed(std::size_t s, State<2>& state, const StartSpace& space, std::uint64_t seed,
            std::vector<Arrival>& arrivals) const;
};

People::People() : content_(std::make_unique<Content>()) {}
People::~People() = default;

// ---- deck

/// What people are like if the deck says nothing (docs/crowd.md, "Calibration").
AgentTraits usual_traits(const std::string& name) {
  return {name, normal_distribution<Unit::length>(0.202, 0.01, 0.15, 0.24),
          normal_distribution<Unit::speed>(1.34, 0.26, 0.5, 2.2)};
}

void People::Content::describe_kinds(Section& root) {
  root.tables(
      "agents",
      {.doc = "A kind of people. Without any there is one, \"person\", with the values that are "
              "used where a key is not given."},
      [&](const std::string& name, Section& section) {
        AgentKind kind;
        AgentTraits trait = usual_traits(name);
        kind.name = name;
        describe_distribution<Unit::length>(
            section, "radius", trait.radius,
            "Radii of the disks that people are; not given: normal, mean 0.202 m, deviation 0.01 m, from "
            "0.15 m to 0.24 m.");
        describe_distribution<Unit::speed>(
            section, "speed", trait.speed,
            "Speeds that people have where nothing is in the way; not given: normal, mean 1.34 m/s, "
            "deviation 0.26 m/s, from 0.5 m/s to 2.2 m/s.");
        section.real("headway_time", kind.headway_time,
                     {.unit = Unit::time,
                      .range = non_negative,
                      .doc = "people walk no faster than lets them reach the one ahead in this time"});
        section.real("push_speed", kind.push_speed,
                     {.unit = Unit::speed,
                      .range = non_negative,
                      .doc = "speed that people want at least, however close the one ahead is"});
        if (!section.reading()) return;
        kind.where = section.where("radius");
        kind.min_radius = trait.radius->least();
        kind.max_radius = trait.radius->most();
        kind.max_speed = trait.speed->most();
        if (!std::isfinite(kind.max_radius) || !(kind.min_radius > 0))
          section.fail("radius", "radii of people need bounds: give min, more than 0 m, and max");
        if (!std::isfinite(kind.max_speed)) section.fail("speed", "speeds of people need a bound: give max");
        kinds.push_back(std::move(kind));
        traits.push_back(std::move(trait));
      });
  if (!root.reading() || !kinds.empty()) return;
  AgentTraits trait = usual_traits("person");
  kinds.push_back({.name = trait.name,
                   .where = {},
                   .max_radius = trait.radius->most(),
                   .min_radius = trait.radius->least(),
                   .max_speed = trait.speed->most()});
  traits.push_back(std::move(trait));
}

int People::Content::read_journey(Section& section) const {
  std::string journey;
  section.text("journey", journey,
               {.doc = "name of the [journeys.NAME] that they follow; may be left out if there is but one. "
                       "Without any, they leave by the nearest exit"});
  return section.reading() ? journeys->find(journey, section.where("journey")) : -1;
}

void People::Content::describe_populations(Section& root) {
  root.tables(
      "populations", {.doc = "People who are there at the start."},
      [&](const std::string& name, Section& section) {
        Population population;
        population.name = name;
        population.mixture.describe(section, traits);
        population.region = read_ring(section, "region", false,
                                      "corners of where their centres are; not given: the whole plan. "
                                      "Exits, and what is behind them, are left out");
        section.integer("count", population.count,
                        {.range = positive, .doc = "number of people; or give density"});
        section.real("density", population.density,
                     {.range = positive, .doc = "people per square metre of the free part of the region"});
        std::string placement = "random";
        section.choice("placement", placement, {"random", "lattice"},
                       {.doc = "at random, or on a hexagonal lattice, as wide as their number allows"});
        population.journey = read_journey(section);
        if (!section.reading()) return;
        population.where = section.where(population.count > 0 ? "count" : "density");
        population.on_lattice = placement == "lattice";
        if ((population.count > 0) == (population.density > 0))
          section.fail("count", fmt::format("[{}] needs either count or density", section.path()));
        populations.push_back(std::move(population));
      });
}

void People::Content::describe_sources(Section& root) {
  root.tables("sources", {.doc = "Where people come in during the run."},
              [&](const std::string& name, Section& section) {
                Source source;
                source.name = name;
                source.mixture.describe(section, traits);
                source.region =
                    read_ring(section, "region", true, "corners of where their centres are when they come");
                source.arrivals.describe(section);
                std::string when_full = "wait";
                section.choice("when_full", when_full, {"wait", "drop", "error"},
                               {.doc = "what becomes of somebody for whom there is no room: waits outside, "
                                       "and those behind as well; never comes, nor do the others of "
                                       "that step; or the run stops"});
                source.journey = read_journey(section);
                if (!section.reading()) return;
                source.where = section.where("region");
                source.when_full = when_full == "wait"   ? WhenFull::wait
                                   : when_full == "drop" ? WhenFull::drop
                                                         : WhenFull::error;
                sources.push_back(std::move(source));
              });
}

void People::describe(Section& root, const Journeys& journeys) {
  content_->journeys = &journeys;
  content_->describe_kinds(root);
  content_->describe_populations(root);
  content_->describe_sources(root);
}

std::span<const AgentKind> People::kinds() const {
  return content_->kinds;
}
std::vector<std::string> People::group_names() const {
  std::vector<std::string> names;
  for (const Population& population : content_->populations) names.push_back(population.name);
  for (const Source& source : content_->sources) names.push_back(source.name);
  return names;
}
Real People::largest_radius() const {
  return content_->largest_radius();
}
Real People::smallest_radius() const {
  Real smallest = HUGE_VAL;
  for (const AgentKind& kind : content_->kinds) smallest = std::min(smallest, kind.min_radius);
  return smallest;
}
Real People::fastest() const {
  Real fastest = 0;
  for (const AgentKind& kind : content_->kinds) fastest = std::max(fastest, kind.max_speed);
  return fastest;
}
Real People::longest_headway() const {
  Real longest = 0;
  for (const AgentKind& kind : content_->kinds) longest = std::max(longest, kind.headway_time);
  return longest;
}

bool People::has_sources() const {
  return !content_->sources.empty();
}

BodiesToCome People::to_come(Real end_time) const {
  BodiesToCome bodies;
  for (const Source& source : content_->sources)
    bodies.include(
        {source.arrivals.n_due(end_time), source.mixture.typical_radius(), source.mixture.largest_radius()});
  return bodies;
}

void People::prepare(State<2>& state) {
  content_->first_inlet = state.inlets.size();
  for (const Source& source : content_->sources) state.inlets.push_back({.name = source.name});
}

void People::note_due(State<2>& state) const {
  for (std::size_t s = 0; s < content_->sources.size(); ++s)
    state.inlets[content_->first_inlet + s].n_due = content_->sources[s].arrivals.n_due(state.clock.time);
}

// ---- the start

void People::populate(State<2>& state, const FloorPlan& plan, std::uint64_t seed) const {
  const Content& content = *content_;
  if (content.populations.empty()) return;
  const NearObstacles near(state.obstacles, content.journeys->exits(), state.box, largest_radius());

  std::vector<NewBody<2>> fixed;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    fixed.push_back({state.bodies.id()[i], state.bodies.position()[i], state.bodies.radius()[i]});
  std::vector<std::unique_ptr<StartSpace>> spaces;
  std::vector<const StartSpace*> views;
  std::vector<PlacedPerson> people;
  for (const Population& population : content.populations) {
    spaces.push_back(std::make_unique<StartSpace>(plan, near, content.journeys->exits(), state.box,
                                                  population.region, population.where));
    views.push_back(spaces.back().get());
    const StartSpace& space = *views.back();
    const std::int64_t n = population.n_people(space.area());
    const Mixture& mixture = population.mixture;
    const auto most = static_cast<std::int64_t>(most_that_fit(space, mixture));
    const auto refuse = [&](const std::string& reason) {
      throw InputError(fmt::format(
          "{}: the {} people of [populations.{}] {}: {} holds {} such people at most, as close as "
          "disks can be; ask for fewer, or for a larger region",
          population.where, n, population.name, reason, space.text(), most));
    };
    if (n == 0)
      throw InputError(fmt::format("{}: density = {:g} is less than half a person in {}", population.where,
                                   population.density, space.text()));
    if (n > most) refuse("do not fit");
    const PlacementTask task{state.comm,    state.box, seed,
                             state.next_id, n,         [&](GlobalId id) { return mixture.radius(seed, id); },
                             views,         fixed};
    const bool has_room =
        population.on_lattice ? place_on_lattice(task, people) : place_at_random(task, people);
    if (!has_room)
      refuse(population.on_lattice
                 ? "do not fit on a lattice that is wide enough for the largest of them and clear of others"
                 : "found no room without overlaps");
    state.next_id += n;
  }

  Index i = state.bodies.n_owned();
  state.bodies.resize(i + static_cast<Index>(people.size()), 0);
  for (const PlacedPerson& person : people) {
    const auto group = static_cast<std::size_t>(person.space);
    const Population& population = content.populations[group];
    put_person(state, i++, person.body, population.mixture.draw(seed, person.body.id), group,
               population.journey);
  }
}

// ---- sources

const People::Content::Places& People::Content::places_of_sources(const State<2>& state,
                                                                  const FloorPlan& plan) const {
  std::vector<char> active;
  const auto n_obstacles = static_cast<int>(state.obstacles.list().size());
  for (int o = 0; o < n_obstacles; ++o) active.push_back(state.obstacles.active(o) ? 1 : 0);
  const bool is_new = !places;
  const bool may_have_moved = !is_new && state.obstacles.moves() && state.clock.step != places->step;
  if (!is_new && !may_have_moved && active == places->active) return *places;
  if (is_new)
    places = std::make_unique<Places>(state.obstacles, journeys->exits(), state.box, largest_radius());
  else
    places->near.update(state.box);
  places->active = std::move(active);
  places->step = state.clock.step;
  if (!is_new) return *places;
  for (const Source& source : sources)
    places->spaces.push_back(std::make_unique<StartSpace>(plan, places->near, journeys->exits(), state.box,
                                                          source.region, source.where));
  return *places;
}

bool People::feed(State<2>& state, const FloorPlan& plan, std::uint64_t seed,
                  const std::function<void()>& before_change) const {
  const Content& content = *content_;
  std::vector<Arrival> arrivals;
  note_due(state);
  for (std::size_t s = 0; s < content.sources.size(); ++s) {
    if (state.inlets[content.first_inlet + s].n_waiting() == 0) continue;
    const Content::Places& places = content.places_of_sources(state, plan);
    content.feed(s, state, *places.spaces[s], seed, arrivals);
  }
  if (arrivals.empty()) return false;
  before_change();
  // Somebody may begin on any rank and goes to the right one with the next list.
  const auto rank = static_cast<std::size_t>(state.comm.rank());
  const auto size = static_cast<std::size_t>(state.comm.size());
  BodyStore<2>& bodies = state.bodies;
  bodies.resize(bodies.n_owned(), 0);
  for (std::size_t k = rank; k < arrivals.size(); k += size) {
    const Arrival& arrival = arrivals[k];
    const Index i = bodies.n_owned();
    bodies.resize(i + 1, 0);
    put_person(state, i, arrival.body, arrival.traits, content.populations.size() + arrival.source,
               content.sources[arrival.source].journey);
    state.memory.start.push_back(state.memory.start.back());
  }
  return true;
}

void People::Content::feed(std::size_t s, State<2>& state, const StartSpace& space, std::uint64_t seed,
                           std::vector<Arrival>& arrivals) const {
  constexpr std::int64_t most_people = 256;    // of a batch
  constexpr std::int64_t tries_per_step = 64;  // of one person
  const Source& source = sources[s];
  InletProgress& progress = state.inlets[first_inlet + s];
  const std::uint64_t stream_of_source = RandomStream(seed, static_cast<GlobalId>(s), purpose::source).bits();
  const Real largest = largest_radius();

  // Who is within reach of the region, with periodic images: of this rank, and who came in this step.
  const Box<2>& bounds = space.bounds();
  const Box<2> near{bounds.lower - filled<2>(2 * largest), bounds.upper + filled<2>(2 * largest), {}};
  Bins<2> present(near.lower, near.upper, 2 * largest, 1024), new_ones = present;
  const auto add = [&](Bins<2>& bins, const NewBody<2>& body) {
    for_each_image(state.box, wrapped(state.box, body.position), [&](const Vec<2>& image) {
      if (near.contains(image)) bins.add({body.id, image, body.radius});
    });
  };
  const auto meets = [&](const Bins<2>& bins, const Vec<2>& x, Real radius) {
    return bins.any_near(x, radius + largest, [&](Index i) {
      const Vec<2> apart = x - bins[i].position;
      const Real least = radius + bins[i].radius;
      return dot(apart, apart) < least * least;
    });
  };
  const BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    add(present, {bodies.id()[i], bodies.position()[i], bodies.radius()[i]});
  for (const Arrival& arrival : arrivals) add(new_ones, arrival.body);

  const std::int64_t due = source.arrivals.n_due(state.clock.time);
  std::int64_t n_tried = 0;  // in this step, by the person who is next
  while (n_settled(progress) < due) {
    if (n_tried >= tries_per_step) {
      if (source.when_full == WhenFull::wait) break;
      if (source.when_full == WhenFull::error)
        throw RunError(
            fmt::format("t = {:.6g} s: the source \"{}\" ({}) finds no room for its person {} in "
                        "{}. Lower the rate, enlarge the region, or let people wait or drop with "
                        "when_full",
                        state.clock.time, source.name, source.where, n_settled(progress) + 1, space.text()));
      // A region without room for one has hardly any for those who come at the same time: to try for each of
      // them would take for ever where many more come than can get in.
      progress.n_dropped += due - n_settled(progress);
      progress.n_tries = 0;
      break;
    }
    // Somebody who tried in vain comes alone: those behind wait, so as not to overtake. How places are shared
    // out to batches does not change which of them are taken.
    const std::int64_t n_people = n_tried > 0 ? 1 : std::min(due - n_settled(progress), most_people);
    const std::int64_t tries_at_once = n_tried > 0 ? 20 : 4;
    std::vector<Traits> drawn;
    std::vector<Vec<2>> at;
    std::vector<std::int64_t> is_blocked;
    for (std::int64_t b = 0; b < n_people; ++b) {
      const GlobalId number = n_settled(progress) + b;
      drawn.push_back(source.mixture.draw(stream_of_source, number));
      const std::uint64_t stream_of_person = RandomStream(stream_of_source, number, purpose::source).bits();
      for (std::int64_t a = 0; a < tries_at_once; ++a) {
        RandomStream stream(stream_of_person, (b == 0 ? progress.n_tries : 0) + a, purpose::position);
        at.push_back(space.draw(stream, drawn.back().radius));
      }
    }
    // Each rank compares all places with its own people, and a share of them with the obstacles.
    const auto n = static_cast<std::int64_t>(at.size());
    for (std::int64_t k = 0; k < n; ++k) {
      const auto place = static_cast<std::size_t>(k);
      const Real radius = drawn[static_cast<std::size_t>(k / tries_at_once)].radius;
      const bool is_mine = k % state.comm.size() == state.comm.rank();
      const bool meets_obstacle =
          is_mine && (!space.holds(at[place]) || space.obstacles().touches(at[place], radius));
      is_blocked.push_back(meets_obstacle || meets(present, at[place], radius) ? 1 : 0);
    }
    state.comm.sum(is_blocked);

    for (std::int64_t b = 0; b < n_people; ++b) {
      const Traits& one = drawn[static_cast<std::size_t>(b)];
      std::int64_t a = 0;
      auto i = static_cast<std::size_t>(b * tries_at_once);
      while (a < tries_at_once && (is_blocked[i] > 0 || meets(new_ones, at[i], one.radius))) ++a, ++i;
      if (a == tries_at_once) {
        progress.n_tries += tries_at_once;
        n_tried += tries_at_once;
        break;
      }
      arrivals.push_back({s, {state.next_id++, at[i], one.radius}, one});
      add(new_ones, arrivals.back().body);
      ++progress.n_made;
      progress.n_tries = 0;
      n_tried = 0;
    }
  }
}

bool People::exhausted(const State<2>& state) const {
  for (std::size_t s = 0; s < content_->sources.size(); ++s)
    if (n_settled(state.inlets[content_->first_inlet + s]) < content_->sources[s].arrivals.n_total())
      return false;
  return true;
}

// ---- checks

std::vector<std::string> People::findings(const FloorPlan& plan, const Journeys& journeys,
                                          bool is_led) const {
  const Content& content = *content_;
  std::vector<std::string> found;
  // Without obstacles of the deck: what the plan alone says.
  const ObstacleSet<2> none;
  const Box<2> domain = plan.bounds();
  const NearObstacles near(none, journeys.exits(), domain, largest_radius());

  const auto look = [&](const std::string& table, const std::string& where, const Mixture& mixture,
                        const Ring& region, int journey, std::int64_t count, Real density) {
    const StartSpace space(plan, near, journeys.exits(), domain, region, where);
    const Real n = count > 0 ? static_cast<Real>(count) : density * space.area();
    const Real filled_share = densest * n / most_that_fit(space, mixture);
    constexpr Real tight = 0.75;  // random disks jam at about 0.84
    if (filled_share > densest)
      found.push_back(fmt::format("error: {}: [{}] asks for {:.0f} people, who would fill {:.0f} % of {}",
                                  where, table, n, 100 * filled_share, space.text()));
    else if (filled_share > tight)
      found.push_back(fmt::format("{}: the {:.0f} people of [{}] fill {:.0f} % of {}: they may not fit",
                                  where, n, table, 100 * filled_share, space.text()));
    if (journey < 0) {
      if (!is_led)
        found.push_back(fmt::format(
            "{}: people of [{}] will stand still: they have no journey, and crowd.direction is not set",
            where, table));
      return;
    }
    // Parts of the plan that the largest of them can leave.
    const Real radius = mixture.largest_radius() * (1 - 1e-6);
    const std::vector<Journeys::Step>& steps = journeys.journeys()[static_cast<std::size_t>(journey)].steps;
    std::set<int> parts;
    Vec<2> destination{};  // a point of one
    for (const int to : steps[0].exits)
      for (const Ring& ring : journeys.destinations()[static_cast<std::size_t>(to)].regions) {
        const Box<2> bounds = bounds_of(ring);
        constexpr int n_points = 8;  // along each axis
        for (int i = 0; i <= n_points; ++i)
          for (int j = 0; j <= n_points; ++j) {
            const Vec<2> x{{bounds.lower[0] + bounds.length(0) * i / n_points,
                            bounds.lower[1] + bounds.length(1) * j / n_points}};
            if (!ring_contains(ring, x)) continue;
            parts.insert(plan.part_of(x, radius));
            destination = x;
          }
      }
    parts.erase(-1);
    constexpr int n_points = 64;
    for (int i = 0; i < n_points; ++i)
      for (int j = 0; j < n_points; ++j) {
        const Vec<2> x{{space.bounds().lower[0] + space.bounds().length(0) * (i + 0.5) / n_points,
                        space.bounds().lower[1] + space.bounds().length(1) * (j + 0.5) / n_points}};
        if (!space.holds(x)) continue;
        const int part = plan.part_of(x, radius);
        if (part < 0 || parts.contains(part)) continue;
        found.push_back(
            fmt::format("{}: people of [{}] of radius {:g} m have no way from ({:.2f}, {:.2f}) m to "
                        "where the journey \"{}\" leads first{}",
                        where, table, mixture.largest_radius(), x[0], x[1],
                        journeys.journeys()[static_cast<std::size_t>(journey)].name,
                        gap_text(plan.area(), x, destination)));
        return;
      }
  };
  for (const Population& p : content.populations)
    look("populations." + p.name, p.where, p.mixture, p.region, p.journey, p.count, p.density);
  for (const Source& s : content.sources)
    look("sources." + s.name, s.where, s.mixture, s.region, s.journey, 0, 0);
  return found;
}

}  // namespace scree
