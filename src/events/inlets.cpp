#include "events/inlets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "events/place_arrivals.hpp"
#include "particles/packing/bins.hpp"
#include "particles/packing/free_space.hpp"
#include "particles/packing/region.hpp"
#include "state/step_messages.hpp"

namespace scree {

namespace {

/// Bodies within reach of an inlet's places, with their periodic images.
template <int D>
class Neighbours {
 public:
  /// For new bodies of radius up to `largest`, among bodies of radius up to `largest_other`.
  Neighbours(const Box<D>& domain, const Box<D>& places, Real largest, Real largest_other,
             std::int64_t n_expected)
      : domain_(domain), largest_(largest), largest_other_(largest_other) {
    near_.lower = places.lower - filled<D>(largest + largest_other);
    near_.upper = places.upper + filled<D>(largest + largest_other);
    bins_ = Bins<D>(near_.lower, near_.upper, largest + largest_other, n_expected);
  }

  void add(const NewBody<D>& body) {
    for_each_image(domain_, wrapped(domain_, body.position), [&](const Vec<D>& image) {
      if (near_.contains(image)) bins_.add({body.id, image, body.radius});
    });
  }
  bool meets(const Vec<D>& x, Real radius) const {
    return bins_.any_near(x, radius + largest_other_, [&](Index i) {
      const Vec<D> apart = x - bins_[i].position;
      const Real min = radius + bins_[i].radius;
      return dot(apart, apart) < min * min;
    });
  }

 private:
  Box<D> domain_, near_;
  Real largest_, largest_other_;
  Bins<D> bins_;
};

/// Places for the bodies of one inlet (place_arrivals).
template <int D>
class InletPlaces {
 public:
  /// `fed`: the bodies of this step so far, of all inlets, of radius up to `largest_fed`.
  InletPlaces(std::size_t f, const InletTable<D>& inlet, State<D>& state, std::uint64_t seed,
              Real largest_fed, std::vector<InletBody<D>>& fed)
      : f_(f),
        inlet_(inlet),
        state_(state),
        stream_of_inlet_(RandomStream(seed, static_cast<GlobalId>(f), purpose::inlet).bits()),
        fed_(fed),
        present_(state.box, inlet.places->bounds(), inlet.bodies.sizes.largest(), largest_owned(state),
                 state.bodies.n_owned()),
        new_ones_(state.box, inlet.places->bounds(), inlet.bodies.sizes.largest(), largest_fed,
                  static_cast<std::int64_t>(fed.size()) + max_arrivals_at_once) {
    const BodyStore<D>& bodies = state.bodies;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      present_.add({bodies.id()[i], bodies.position()[i], bodies.radius()[i]});
    for (const InletBody<D>& other : fed) new_ones_.add(other.body);
  }

  void begin_batch() {
    at_.clear();
    wrapped_at_.clear();
    radius_.clear();
    shape_.clear();
  }
  void draw_body(GlobalId number) {
    RandomStream radius_stream(stream_of_inlet_, number, purpose::radius);
    next_ = inlet_.bodies.sizes.draw(radius_stream);
    stream_of_body_ = RandomStream(stream_of_inlet_, number, purpose::inlet).bits();
  }
  Vec<D> draw_place(std::int64_t attempt) {
    RandomStream stream(stream_of_body_, attempt, purpose::position);
    at_.push_back(inlet_.places->draw(stream, next_.radius));
    wrapped_at_.push_back(wrapped(state_.box, at_.back()));
    radius_.push_back(next_.radius);
    shape_.push_back(next_.shape);
    return at_.back();
  }
  /// Each rank compares all places with its own bodies, and a share of them with the obstacles.
  void block(std::span<const Vec<D>> at, std::int64_t /*n_each*/, std::span<std::int64_t> counts) const {
    for (std::size_t i = 0; i < at.size(); ++i) counts[i] = present_.meets(at[i], radius_[i]) ? 1 : 0;
    const EvenShare even(state_.comm, static_cast<std::int64_t>(at.size()));
    const std::size_t first = even.first;
    const std::size_t share = even.size();
    const std::vector<char> is_free =
        free_of_obstacles<D>(state_.obstacles, std::span<const Vec<D>>(wrapped_at_).subspan(first, share),
                             std::span<const Real>(radius_).subspan(first, share));
    for (std::size_t i = 0; i < share; ++i) counts[first + i] += is_free[i] == 0 ? 1 : 0;
  }
  bool meets_new(std::size_t /*body*/, std::size_t place) const {
    return new_ones_.meets(at_[place], radius_[place]);
  }
  void accept(std::size_t /*body*/, std::size_t place) {
    fed_.push_back({f_, {state_.next_id++, wrapped_at_[place], radius_[place], shape_[place]}});
    new_ones_.add(fed_.back().body);
  }

 private:
  static Real largest_owned(const State<D>& state) {
    const auto owned = state.bodies.radius().first(state.bodies.n_owned());
    return owned.empty() ? 0 : std::ranges::max(owned);
  }

  std::size_t f_;
  const InletTable<D>& inlet_;
  State<D>& state_;
  std::uint64_t stream_of_inlet_, stream_of_body_ = 0;
  BodySize next_;
  std::vector<InletBody<D>>& fed_;
  Neighbours<D> present_, new_ones_;
  std::vector<Vec<D>> at_, wrapped_at_;
  std::vector<Real> radius_;
  std::vector<std::int32_t> shape_;
};

}  // namespace

template <int D>
void InletTable<D>::describe(const std::string& name, const ShapeTable<D>& shapes, Section& section) {
  bodies.name = name;
  describe_bodies(section, shapes, bodies);
  section.kind("type", places, {.required = true, .doc = "Where the bodies are put"});
  section.real("rate", rate,
               {.unit = Unit::rate, .range = positive, .doc = "Bodies per time; or give mass_rate"});
  section.real("mass_rate", mass_rate,
               {.unit = Unit::mass_rate,
                .range = positive,
                .doc = "Mass per time, on average over the radii, in schemes with inertia; or give rate"});
  section.integer("count", count, {.range = positive, .doc = "Bodies after which the inlet ends"});
  section.real("start", start, {.unit = Unit::time, .range = non_negative, .doc = "When the inlet begins"});
  section.real("until", until, {.unit = Unit::time, .range = positive, .doc = "When the inlet ends"});
  section.real("max_delay", max_delay,
               {.unit = Unit::time,
                .range = non_negative,
                .doc = "A body that finds no place waits, up to this time; then the run stops"});
  if (!section.reading()) return;
  bodies.where = section.where("type");
  where_mass_rate = section.where("mass_rate");
  if (!bodies.sizes.known()) refuse_without_radius(section);
  if ((rate > 0) == (mass_rate > 0))
    section.fail("rate", fmt::format("[{}] needs either rate or mass_rate", section.path()));
  if (until <= start)
    section.fail("until", fmt::format("[{}] ends before it starts: until must exceed start", section.path()));
}

template <int D>
Real InletTable<D>::bodies_per_second() const {
  return rate > 0 ? rate : mass_rate / (bodies.density * bodies.sizes.mean_volume());
}

template <int D>
std::int64_t InletTable<D>::n_due(Real time) const {
  constexpr Real rounding = 1e-6;  // times are sums of steps
  const Real n = std::floor(bodies_per_second() * (std::min(time, until) - start) + rounding);
  constexpr Real endless = 1e15;  // more than any run sees, and a number that can be counted
  return static_cast<std::int64_t>(std::clamp(n, 0.0, count > 0 ? static_cast<Real>(count) : endless));
}

template <int D>
Real InletTable<D>::achieved_rate(std::int64_t n_made, Real time) const {
  const Real elapsed = std::min(time, until) - start;
  return elapsed > 0 ? static_cast<Real>(n_made) / elapsed : 0;
}

template <int D>
std::string Inlets<D>::shortfall(std::size_t f, const State<D>& state, bool is_over) const {
  const InletTable<D>& inlet = inlets_[f];
  const InletProgress& progress = state.inlets[f];
  const std::string name = fmt::format("{}: the inlet \"{}\"", inlet.bodies.where, inlet.bodies.name);
  if (progress.n_waiting() > 0)
    return fmt::format(
        "{} made {} of the {} bodies due by t = {:g} s, {:.3g} per second instead of {:.3g}: the others "
        "found no "
        "free place in {}. Enlarge the region, reduce the rate, or give the bodies a velocity that takes "
        "them away",
        name, progress.n_made, progress.n_due, state.clock.time,
        inlet.achieved_rate(progress.n_made, state.clock.time), inlet.bodies_per_second(),
        inlet.places->text());
  if (is_over && progress.n_made < inlet.count)
    return fmt::format("{} made {} of its {} bodies: the run ended at t = {:g} s, before the others were due",
                       name, progress.n_made, inlet.count, state.clock.time);
  return {};
}

template <int D>
void Inlets<D>::describe(Section& root, const ShapeTable<D>& shapes) {
  root.tables("inlets", {.doc = "A source that makes bodies during the run."},
              [&](const std::string& name, Section& section) {
                InletTable<D> inlet;
                inlet.describe(name, shapes, section);
                if (section.reading()) inlets_.push_back(std::move(inlet));
              });
}

template <int D>
void Inlets<D>::fit(const Box<D>& domain) {
  for (InletTable<D>& inlet : inlets_) inlet.places->fit(domain, inlet.bodies.sizes.largest());
}

template <int D>
void Inlets<D>::prepare(State<D>& state) const {
  state.inlets.clear();
  for (const InletTable<D>& inlet : inlets_) state.inlets.push_back({.name = inlet.bodies.name});
  record_due(state);
}

template <int D>
void Inlets<D>::record_due(State<D>& state) const {
  for (std::size_t f = 0; f < inlets_.size(); ++f) state.inlets[f].n_due = inlets_[f].n_due(state.clock.time);
}

template <int D>
BodiesToCome Inlets<D>::to_come(Real end_time) const {
  BodiesToCome bodies;
  for (const InletTable<D>& inlet : inlets_) {
    bodies.count += inlet.n_due(end_time);
    bodies.largest = std::max(bodies.largest, inlet.bodies.sizes.largest());
    bodies.smallest =
        std::min(bodies.smallest, std::pow(inlet.bodies.sizes.mean_volume() / body_volume<D>(1), 1.0 / D));
  }
  return bodies;
}

template <int D>
Real Inlets<D>::fastest() const {
  Real speed = 0;
  for (const InletTable<D>& inlet : inlets_) speed = std::max(speed, norm(inlet.bodies.velocity));
  return speed;
}

template <int D>
std::vector<InletBody<D>> Inlets<D>::find_places(State<D>& state, std::uint64_t seed) const {
  std::vector<InletBody<D>> fed;
  record_due(state);
  for (std::size_t f = 0; f < inlets_.size(); ++f)
    if (state.inlets[f].n_made < state.inlets[f].n_due) feed(f, state, seed, fed);
  return fed;
}

template <int D>
void Inlets<D>::feed(std::size_t f, State<D>& state, std::uint64_t seed,
                     std::vector<InletBody<D>>& fed) const {
  Real largest_fed = 0;
  for (const InletTable<D>& other : inlets_)
    largest_fed = std::max(largest_fed, other.bodies.sizes.largest());
  const InletTable<D>& inlet = inlets_[f];
  InletProgress& progress = state.inlets[f];
  InletPlaces<D> places(f, inlet, state, seed, largest_fed, fed);
  if (place_arrivals<D>(state.comm, progress, places)) return;
  const Real behind =
      state.clock.time - inlet.start - static_cast<Real>(progress.n_made + 1) / inlet.bodies_per_second();
  if (behind > inlet.max_delay) give_up(f, state, behind);
}

template <int D>
void Inlets<D>::give_up(std::size_t f, const State<D>& state, Real behind) const {
  const InletTable<D>& inlet = inlets_[f];
  throw RunError(fmt::format(
      "{}: the inlet \"{}\" ({}) finds no place for its next body in {} and is {:.3g} s behind, more than "
      "max_delay = {:g} s; {} of the {} bodies due at {:g} per second were made. Enlarge the region, reduce "
      "the rate, give the bodies a velocity that takes them away, or end the inlet with count or until",
      step_label(state.clock), inlet.bodies.name, inlet.bodies.where, inlet.places->text(), behind,
      inlet.max_delay, state.inlets[f].n_made, state.inlets[f].n_due, inlet.bodies_per_second()));
}

template struct InletTable<2>;
template struct InletTable<3>;
template class Inlets<2>;
template class Inlets<3>;

}  // namespace scree
