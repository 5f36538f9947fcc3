#include "events/inlets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "particles/fill/bins.hpp"
#include "particles/fill/free_space.hpp"
#include "particles/fill/region.hpp"
#include "particles/redistribute.hpp"
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
      const Real least = radius + bins_[i].radius;
      return dot(apart, apart) < least * least;
    });
  }

 private:
  Box<D> domain_, near_;
  Real largest_, largest_other_;
  Bins<D> bins_;
};

}  // namespace

template <int D>
void InletTable<D>::describe(const std::string& name, Section& section) {
  bodies.name = name;
  describe_bodies(section, bodies);
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
  if (!bodies.radius) refuse_without_radius(section);
  if ((rate > 0) == (mass_rate > 0))
    section.fail("rate", fmt::format("[{}] needs either rate or mass_rate", section.path()));
  if (until <= start)
    section.fail("until", fmt::format("[{}] ends before it starts: until must exceed start", section.path()));
}

template <int D>
Real InletTable<D>::bodies_per_second() const {
  return rate > 0 ? rate : mass_rate / (bodies.density * bodies.radius->mean_volume());
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
void Inlets<D>::describe(Section& root) {
  root.tables("inlets", {.doc = "A source that makes bodies during the run."},
              [&](const std::string& name, Section& section) {
                InletTable<D> inlet;
                inlet.describe(name, section);
                if (section.reading()) inlets_.push_back(std::move(inlet));
              });
}

template <int D>
void Inlets<D>::fit(const Box<D>& domain) {
  for (InletTable<D>& inlet : inlets_) inlet.places->fit(domain, inlet.bodies.radius->largest());
}

template <int D>
void Inlets<D>::prepare(State<D>& state) const {
  state.inlets.clear();
  for (const InletTable<D>& inlet : inlets_) state.inlets.push_back({.name = inlet.bodies.name});
  note_due(state);
}

template <int D>
void Inlets<D>::note_due(State<D>& state) const {
  for (std::size_t f = 0; f < inlets_.size(); ++f) state.inlets[f].n_due = inlets_[f].n_due(state.clock.time);
}

template <int D>
BodiesToCome Inlets<D>::to_come(Real end_time) const {
  BodiesToCome bodies;
  for (const InletTable<D>& inlet : inlets_) {
    bodies.count += inlet.n_due(end_time);
    bodies.largest = std::max(bodies.largest, inlet.bodies.radius->largest());
    bodies.smallest =
        std::min(bodies.smallest, std::pow(inlet.bodies.radius->mean_volume() / body_volume<D>(1), 1.0 / D));
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
  note_due(state);
  for (std::size_t f = 0; f < inlets_.size(); ++f)
    if (state.inlets[f].n_made < state.inlets[f].n_due) feed(f, state, seed, fed);
  return fed;
}

template <int D>
void Inlets<D>::feed(std::size_t f, State<D>& state, std::uint64_t seed,
                     std::vector<InletBody<D>>& fed) const {
  constexpr std::int64_t most_bodies = 256;    // of a batch
  constexpr std::int64_t tries_per_step = 64;  // of one body
  const InletTable<D>& inlet = inlets_[f];
  InletProgress& progress = state.inlets[f];
  const std::uint64_t stream_of_inlet = RandomStream(seed, static_cast<GlobalId>(f), purpose::inlet).bits();
  const RadiusDistribution<D>& radii = *inlet.bodies.radius;

  const auto n_owned = static_cast<std::size_t>(state.bodies.n_owned());
  const auto owned = state.bodies.radius().first(n_owned);
  Real largest_fed = 0;
  for (const InletTable<D>& other : inlets_)
    largest_fed = std::max(largest_fed, other.bodies.radius->largest());
  Neighbours<D> present(state.box, inlet.places->bounds(), radii.largest(),
                        owned.empty() ? 0 : std::ranges::max(owned), state.bodies.n_owned());
  for (std::size_t i = 0; i < n_owned; ++i)
    present.add({state.bodies.id()[i], state.bodies.position()[i], owned[i]});
  Neighbours<D> new_ones(state.box, inlet.places->bounds(), radii.largest(), largest_fed,
                         static_cast<std::int64_t>(fed.size()) + most_bodies);
  for (const InletBody<D>& other : fed) new_ones.add(other.body);

  const std::int64_t due = progress.n_due;
  std::int64_t n_tried = 0;  // in this step, by the body that is next
  std::vector<Vec<D>> at, wrapped_at;
  std::vector<Real> radius;
  std::vector<std::int64_t> is_blocked;
  while (progress.n_made < due && n_tried < tries_per_step) {
    at.clear();
    wrapped_at.clear();
    radius.clear();
    // A body that was in vain comes alone: those behind it wait, so as not to overtake it. How places are
    // shared out to batches does not change which of them are taken.
    const std::int64_t n_bodies = n_tried > 0 ? 1 : std::min(due - progress.n_made, most_bodies);
    const std::int64_t tries_at_once = n_tried > 0 ? 20 : 4;
    for (std::int64_t b = 0; b < n_bodies; ++b) {
      const GlobalId number = progress.n_made + b;
      RandomStream radius_stream(stream_of_inlet, number, purpose::radius);
      const Real r = radii.draw(radius_stream);
      const std::uint64_t stream_of_body = RandomStream(stream_of_inlet, number, purpose::inlet).bits();
      for (std::int64_t a = 0; a < tries_at_once; ++a) {
        RandomStream stream(stream_of_body, (b == 0 ? progress.n_tries : 0) + a, purpose::position);
        at.push_back(inlet.places->draw(stream, r));
        wrapped_at.push_back(wrapped(state.box, at.back()));
        radius.push_back(r);
      }
    }

    // Each rank compares all places with its own bodies, and a share of them with the obstacles.
    is_blocked.assign(at.size(), 0);
    for (std::size_t i = 0; i < at.size(); ++i) is_blocked[i] = present.meets(at[i], radius[i]) ? 1 : 0;
    const auto n = static_cast<std::int64_t>(at.size());
    const auto first = static_cast<std::size_t>(share_begin(n, state.comm.rank(), state.comm.size()));
    const auto share =
        static_cast<std::size_t>(share_begin(n, state.comm.rank() + 1, state.comm.size())) - first;
    const std::vector<char> is_free =
        free_of_obstacles<D>(state.obstacles, std::span<const Vec<D>>(wrapped_at).subspan(first, share),
                             std::span<const Real>(radius).subspan(first, share));
    for (std::size_t i = 0; i < share; ++i) is_blocked[first + i] += is_free[i] == 0 ? 1 : 0;
    state.comm.sum(is_blocked);

    for (std::int64_t b = 0; b < n_bodies; ++b) {
      std::int64_t a = 0;
      auto i = static_cast<std::size_t>(b * tries_at_once);
      while (a < tries_at_once && (is_blocked[i] > 0 || new_ones.meets(at[i], radius[i]))) ++a, ++i;
      if (a == tries_at_once) {
        progress.n_tries += tries_at_once;
        n_tried += tries_at_once;
        break;
      }
      fed.push_back({f, {state.next_id++, wrapped_at[i], radius[i]}});
      new_ones.add(fed.back().body);
      ++progress.n_made;
      progress.n_tries = 0;
      n_tried = 0;
    }
  }
  if (progress.n_made == due) return;
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
