#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/people/people.hpp"
#include "events/place_arrivals.hpp"
#include "particles/packing/bins.hpp"
#include "particles/packing/region.hpp"

namespace scree {

namespace {

/// How many of a source came, or never will.
std::int64_t n_settled(const InletProgress& progress) {
  return progress.n_made + progress.n_dropped;
}

/// Places for the people of one source (place_arrivals).
class SourcePlaces {
 public:
  /// `arrivals`: who came in this step so far, from all sources; nobody is larger than `largest` [m].
  SourcePlaces(std::size_t s, const Source& source, State<2>& state, const BuildingPlan& building,
               const StartSpace& space, std::uint64_t seed, Real largest, std::vector<Person>& arrivals)
      : source_(source),
        state_(state),
        space_(space),
        stream_of_source_(People::stream_of(s, seed)),
        largest_(largest),
        arrivals_(arrivals),
        near_{
            space.bounds().lower - filled<2>(2 * largest), space.bounds().upper + filled<2>(2 * largest), {}},
        present_(near_.lower, near_.upper, 2 * largest, 1024),
        new_ones_(present_) {
    const BodyStore<2>& bodies = state.bodies;
    const auto counts = [&](const Vec<2>& x, int level) {
      return building.may_touch(x, level, source.level, 2 * largest);
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      if (counts(bodies.position()[i], level_of(bodies, i)))
        add(present_, {bodies.id()[i], bodies.position()[i], bodies.radius()[i]});
    for (const Person& arrival : arrivals)
      if (counts(arrival.x, arrival.level)) add(new_ones_, {arrival.id, arrival.x, arrival.radius});
  }

  void begin_batch() {
    drawn_.clear();
    at_.clear();
  }
  void draw_body(GlobalId number) {
    Person given{.level = source_.level, .journey = source_.journey};
    if (!source_.listed.empty()) given = source_.listed[number];
    given.body_type = source_.body_type;
    drawn_.push_back(source_.mixture.draw(stream_of_source_, number, given));
    stream_of_person_ = RandomStream(stream_of_source_, number, purpose::source).bits();
  }
  Vec<2> draw_place(std::int64_t attempt) {
    RandomStream stream(stream_of_person_, attempt, purpose::position);
    const Person& person = drawn_.back();
    at_.push_back(std::isfinite(person.x[0]) ? wrapped(state_.box, person.x)
                                             : space_.draw(stream, person.radius));
    return at_.back();
  }
  /// Each rank compares all places with its own people, and a share of them with the obstacles.
  void block(std::span<const Vec<2>> at, std::int64_t n_each, std::span<std::int64_t> counts) const {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto k = static_cast<std::int64_t>(i);
      const Real radius = drawn_[k / n_each].radius;
      const bool is_mine = k % state_.comm.size() == state_.comm.rank();
      const bool meets_obstacle =
          is_mine && (!space_.holds(at[i]) || space_.obstacles().touches(at[i], radius));
      counts[i] = meets_obstacle || meets(present_, at[i], radius) ? 1 : 0;
    }
  }
  bool meets_new(std::size_t body, std::size_t place) const {
    return meets(new_ones_, at_[place], drawn_[body].radius);
  }
  void accept(std::size_t body, std::size_t place) {
    Person& person = arrivals_.emplace_back(drawn_[body]);
    if (person.id < 0) person.id = state_.next_id++;
    person.x = at_[place];
    add(new_ones_, {person.id, person.x, person.radius});
  }

 private:
  /// Only those within reach of the region, with periodic images.
  void add(Bins<2>& bins, const NewBody<2>& body) const {
    for_each_image(state_.box, wrapped(state_.box, body.position), [&](const Vec<2>& image) {
      if (near_.contains(image)) bins.add({body.id, image, body.radius});
    });
  }
  bool meets(const Bins<2>& bins, const Vec<2>& x, Real radius) const {
    return bins.any_near(x, radius + largest_, [&](Index i) {
      const Vec<2> apart = x - bins[i].position;
      const Real min = radius + bins[i].radius;
      return dot(apart, apart) < min * min;
    });
  }

  const Source& source_;
  State<2>& state_;
  const StartSpace& space_;
  std::uint64_t stream_of_source_, stream_of_person_ = 0;
  Real largest_;
  std::vector<Person>& arrivals_;
  Box<2> near_;
  Bins<2> present_, new_ones_;
  std::vector<Person> drawn_;
  std::vector<Vec<2>> at_;
};

}  // namespace

std::uint64_t People::stream_of(std::size_t source, std::uint64_t seed) {
  return RandomStream(seed, static_cast<GlobalId>(source), purpose::source).bits();
}

BodiesToCome People::to_come(Real end_time) const {
  BodiesToCome bodies;
  for (const Source& source : sources_)
    bodies.include({source.arrivals.n_due(end_time), source.mixture.typical_radius(),
                    std::max(source.mixture.largest_radius(), source.file.numbers().largest_radius)});
  return bodies;
}

bool People::may_come(int journey) const {
  return std::ranges::any_of(sources_, [&](const Source& s) { return s.journey == journey; });
}

void People::prepare(State<2>& state) {
  first_inlet_ = state.inlets.size();
  for (const Source& source : sources_) state.inlets.push_back({.name = source.name});
}

void People::record_due(State<2>& state) const {
  for (std::size_t s = 0; s < sources_.size(); ++s)
    state.inlets[first_inlet_ + s].n_due = sources_[s].arrivals.n_due(state.clock.time);
}

const People::Places& People::places_of_sources(const State<2>& state, const BuildingPlan& building) const {
  std::vector<char> active;
  const auto n_obstacles = static_cast<int>(state.obstacles.list().size());
  for (int o = 0; o < n_obstacles; ++o) active.push_back(state.obstacles.active(o) ? 1 : 0);
  if (!places_) {
    places_ = std::make_unique<Places>();
    places_->near.resize(building.n_levels());
    for (const Source& source : sources_) {
      auto& near = places_->near[source.level];
      if (!near)
        near = std::make_unique<NearObstacles>(state.obstacles, journey_plan_->exits(), state.box,
                                               source.level, largest_radius());
      places_->spaces.push_back(std::make_unique<StartSpace>(building, *near, journey_plan_->exits(),
                                                             state.box, source.region, source.where));
    }
  } else if (active != places_->active || (state.obstacles.moves() && state.clock.step != places_->step)) {
    for (const auto& near : places_->near)
      if (near) near->update(state.box);
  }
  places_->active = std::move(active);
  places_->step = state.clock.step;
  return *places_;
}

bool People::feed(State<2>& state, const BuildingPlan& building, std::uint64_t seed,
                  const std::function<void()>& before_change) const {
  std::vector<Person> arrivals;
  record_due(state);
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    if (state.inlets[first_inlet_ + s].n_waiting() == 0) continue;
    const Places& places = places_of_sources(state, building);
    feed(s, state, building, *places.spaces[s], seed, arrivals);
  }
  if (arrivals.empty()) return false;
  before_change();
  // Somebody may begin on any rank and goes to the right one with the next list.
  const std::size_t rank = state.comm.rank();
  const std::size_t size = state.comm.size();
  BodyStore<2>& bodies = state.bodies;
  bodies.resize(bodies.n_owned(), 0);
  for (std::size_t k = rank; k < arrivals.size(); k += size) {
    const Index i = bodies.n_owned();
    bodies.resize(i + 1, 0);
    put_person(state, i, arrivals[k]);
    state.memory.start.push_back(state.memory.start.back());
  }
  return true;
}

void People::feed(std::size_t s, State<2>& state, const BuildingPlan& building, const StartSpace& space,
                  std::uint64_t seed, std::vector<Person>& arrivals) const {
  const Source& source = sources_[s];
  InletProgress& progress = state.inlets[first_inlet_ + s];
  SourcePlaces free_places(s, source, state, building, space, seed, largest_radius(), arrivals);
  if (place_arrivals<2>(state.comm, progress, free_places) || source.when_full == WhenFull::wait) return;
  if (source.when_full == WhenFull::error)
    throw RunError(
        fmt::format("t = {:.6g} s: the source \"{}\" ({}) finds no room for its person {} in "
                    "{}. Lower the rate, enlarge the region, or let people wait or drop with "
                    "when_full",
                    state.clock.time, source.name, source.where, n_settled(progress) + 1, space.text()));
  // A region without room for one has hardly any for those who come at the same time: to try for each of them
  // would take for ever where many more come than can get in.
  progress.n_dropped += progress.n_waiting();
  progress.n_tries = 0;
}

bool People::exhausted(const State<2>& state) const {
  for (std::size_t s = 0; s < sources_.size(); ++s)
    if (n_settled(state.inlets[first_inlet_ + s]) < sources_[s].arrivals.n_total()) return false;
  return true;
}

}  // namespace scree
