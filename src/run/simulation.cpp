#include "run/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/petsc.hpp"
#include "core/petsc_options.hpp"
#include "core/timing.hpp"
#include "run/starting_point.hpp"
#include "run/writers.hpp"
#include "schemes/pbd/packer.hpp"
#include "state/step_messages.hpp"

namespace scree {

namespace {

/// A 64-bit mixing function: every bit of the input changes half the bits of the result (the finaliser of
/// splitmix64, Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Throws on all ranks, with the message of the smallest key, if any rank has a message.
void throw_if_any(const Comm& comm, GlobalId key, const std::string& message) {
  const std::string first = message_of_smallest(comm, key, message);
  if (!first.empty()) throw InputError(first);
}

}  // namespace

template <int D>
Simulation<D>::Simulation(const Comm& comm, RunDeck<D> deck, const StartingPoint<D>* from)
    : deck_(std::move(deck)),
      state_{.comm = comm,
             .box = deck_.box,
             .obstacles = std::move(deck_.obstacles),
             .deformation = deck_.deformation},
      neighborhood_(comm, deck_.neighbors, deck_.outside) {
  Scope timer("start");
  take_physics();
  deck_.events.stages.set_orders(state_);
  state_.obstacles.place(0);
  if (from) {
    from->take(state_, deck_);
  } else {
    Scope part("packing");
    const PbdPacker<D> packer;
    state_.next_id = create_bodies<D>(comm, state_.box, state_.obstacles, state_.shapes, seed(), deck_.groups,
                                      state_.bodies, &packer);
  }
  if (Environment<D>* environment = stepper().environment()) environment->populate(state_, seed());
  if (!from) state_.memory.clear(state_.bodies.n_owned());
  const Environment<D>* environment_of_run = stepper().environment();
  if (n_bodies() == 0 && environment_of_run && environment_of_run->to_come(deck_.end_time).count == 0)
    throw InputError(fmt::format("the deck makes no {} until its end at t = {:g} s: {}",
                                 environment_of_run->messages().bodies, deck_.end_time,
                                 environment_of_run->messages().if_none_come));
  if (n_bodies() == 0 && !deck_.bodies_come())
    throw InputError("the deck makes no bodies: add a [particles.NAME] or [inlets.NAME] table");
  if (!from || deck_.outside == Outside::error) require_bodies_inside();
  if (state_.bodies.carries_path()) {
    const auto position = state_.bodies.position();
    std::copy(position.begin(), position.end(), state_.bodies.previous().begin());
  }
  const Inlets<D>& inlets = deck_.events.inlets;
  BodiesToCome to_come = inlets.to_come(deck_.end_time);
  if (Environment<D>* environment = stepper().environment()) {
    environment->start(state_, seed());
    to_come.include(environment->to_come(deck_.end_time));
  }
  const ListRequirements needs = list_requirements(to_come.largest);
  neighborhood_.make_lattice(state_, std::max(needs.travel, inlets.fastest() * deck_.dt), to_come,
                             needs.skin);
  neighborhood_.rebuild(state_);
  deck_.stepper->start(state_, neighborhood_, deck_.dt);
  scalars_headings(deck_, state_);  // throws if two columns have one name
  if (const std::string complaint = unmeasured_contacts(to_come.smallest); !complaint.empty())
    throw InputError(complaint);
  if (state_.bodies.has_inertia())
    state_.energy_balance.start = mechanical_energy(state_).total() + state_.energy_balance.elastic;
  if (deck_.allow_overlap) return;
  if (from)
    require_no_overlap(overlap_of_settled_bodies);
  else if (const Environment<D>* environment = stepper().environment();
           environment && environment->overlap_limit() > 0)
    require_no_overlap(environment->overlap_limit());
  else
    require_no_overlap();
}

template <int D>
Simulation<D>::Simulation(const Comm& comm, RunDeck<D> deck, const std::string& checkpoint)
    : deck_(std::move(deck)),
      state_{.comm = comm,
             .box = deck_.box,
             .obstacles = std::move(deck_.obstacles),
             .deformation = deck_.deformation},
      neighborhood_(comm, deck_.neighbors, deck_.outside) {
  Scope timer("start");
  take_physics();
  read_checkpoint<D>(state_, checkpoint, measure_memories(),
                     [this](const BodyStore<D>& bodies, std::size_t i) { return fault_of_body(bodies, i); });
  restore_averages(checkpoint);
  const auto n_stages = static_cast<std::int64_t>(deck_.events.stages.list().size());
  if (state_.stage.index > n_stages)
    throw InputError(fmt::format("{}: stage_index is {}, but there are {} stages", checkpoint,
                                 state_.stage.index, n_stages));
  deck_.events.inlets.record_due(state_);
  require_contacts_listed();
  deck_.events.stages.set_orders(state_);
  if (Environment<D>* environment = stepper().environment()) environment->start(state_, seed());
  // The candidates are a function of where the bodies were when they were found: find the same ones again.
  BodyStore<D>& bodies = state_.bodies;
  const Clock clock = state_.clock;
  state_.clock.time = clock.reference_time;
  state_.obstacles.place(clock.reference_time);
  const bool carries_path = bodies.carries_path();
  bodies.carry_path(true);
  std::copy(bodies.position().begin(), bodies.position().end(), bodies.previous().begin());
  std::copy(bodies.reference_position().begin(), bodies.reference_position().end(),
            bodies.position().begin());
  const Box<D> box = state_.box;
  if (state_.deformation.is_given()) state_.box = state_.deformation.reference();
  neighborhood_.rebuild(state_);
  state_.box = box;
  neighborhood_.list().place_images(state_);
  std::copy(bodies.previous().begin(), bodies.previous().end(), bodies.position().begin());
  bodies.carry_path(carries_path);
  state_.clock = clock;
  state_.obstacles.place(clock.time);
  state_.obstacles.begin_step();
  deck_.stepper->start(state_, neighborhood_, deck_.dt);
  scalars_headings(deck_, state_);  // throws if two columns have one name
  if (const std::string complaint = unmeasured_contacts(); !complaint.empty()) throw InputError(complaint);
}

template <int D>
void Simulation<D>::take_physics() {
  const SchemeTraits traits = deck_.stepper->traits();
  state_.bodies.carry(traits.field_set);
  state_.bodies.carry_shapes(deck_.has_shapes());
  state_.bodies.carry_path(
      traits.needs_path ||
      std::ranges::any_of(deck_.measures, [](const NamedMeasure<D>& m) { return m.measure->needs_path(); }));
  state_.energy_balance.kept =
      traits.balances_energy &&
      (!traits.balance_costs_time || std::ranges::any_of(deck_.measures, [](const NamedMeasure<D>& m) {
        return m.measure->needs_energy_balance();
      }));
  state_.energy_balance.stored = traits.stores_energy;
  state_.energy_balance.pulls = traits.balances_energy && deck_.materials.has_cohesion();
  state_.gravity = deck_.gravity;
  state_.forces = deck_.forces;
  state_.materials = deck_.materials;
  state_.shapes = deck_.shapes;
  state_.type_material = deck_.type_material;
  for (const ParticleGroup<D>* group : deck_.all_groups()) state_.type_rotates.push_back(group->rotates);
  state_.obstacle_material = deck_.obstacle_material;
  deck_.events.prepare(state_);
  if (Environment<D>* environment = stepper().environment()) environment->prepare(state_);
  for (const NamedMeasure<D>& m : deck_.measures) {
    m.measure->check(state_);
    m.measure->add_fields(state_);
  }
  for (const auto& output : deck_.outputs) output->prepare(state_);
}

template <int D>
void Simulation<D>::restore_averages(const std::string& checkpoint) {
  for (const auto& output : deck_.outputs) {
    std::vector<SharedRows> rows = output->to_restore(state_.comm);
    if (rows.empty()) continue;
    if (read_shared_rows(state_.comm, checkpoint, rows) && output->restore(rows)) continue;
    log::warn("{} has no sums for [output.{}] as it is now: the average starts again", checkpoint,
              output->name());
    output->prepare(state_);
  }
}

template <int D>
std::vector<SharedRows> Simulation<D>::shared_rows() {
  std::vector<SharedRows> all;
  for (const auto& output : deck_.outputs)
    std::ranges::move(output->saved(state_.comm), std::back_inserter(all));
  return all;
}

template <int D>
std::vector<NamedNumbers> Simulation<D>::measure_memories() {
  std::vector<NamedNumbers> memories;
  if (Environment<D>* environment = stepper().environment()) memories = environment->memory();
  for (const NamedMeasure<D>& m : deck_.measures) memories.push_back({m.name, m.measure->memory()});
  for (const auto& output : deck_.outputs)
    if (!output->memory().empty())
      memories.push_back({fmt::format("output.{}", output->name()), output->memory()});
  return memories;
}

template <int D>
std::string Simulation<D>::fault_of_body(const BodyStore<D>& bodies, std::size_t i) {
  const Environment<D>* environment = stepper().environment();
  if (environment) return environment->fault_of_body(bodies, i);
  const std::int32_t type = bodies.type()[i];
  const auto n_types = static_cast<std::int32_t>(state_.type_rotates.size());
  return type >= 0 && type < n_types ? "" : fmt::format("type is {}, not in [0, {})", type, n_types);
}

template <int D>
bool Simulation<D>::require_known_options() {
  const bool is_known = deck_.stepper->knows_petsc_options();
  if (is_known) require_petsc_options_used(state_.comm);
  return is_known;
}

template <int D>
Real Simulation<D>::next_dt() const {
  const Real remaining =
      std::min(deck_.end_time - state_.clock.time, deck_.events.stages.remaining_time(state_));
  return remaining < deck_.dt * (1 - 1e-9) ? remaining : deck_.dt;
}

template <int D>
void Simulation<D>::step(bool record_forces) {
  Scope timer("step");
  deck_.stepper->advance(state_, next_dt(), record_forces);
  ++state_.clock.step;
  state_.clock.time += state_.clock.last_dt;
  for (const NamedMeasure<D>& m : deck_.measures) m.measure->write_fields(state_);
  for (const NamedMeasure<D>& m : deck_.measures) m.measure->after_step(state_);
  const GlobalId first_new = state_.next_id;
  deck_.events.apply(state_, *deck_.stepper, deck_.groups.size(), seed());
  if (state_.next_id == first_new) return;
  if (const std::string complaint = unmeasured_contacts(); !complaint.empty())
    refuse_step(state_.clock, complaint, ExitCode::bad_input);
}

template <int D>
const ContactGraph<D>& Simulation<D>::find_contacts(Real tolerance) {
  Scope timer("contacts");
  deck_.stepper->find_contacts(state_, tolerance, contacts_);
  return contacts_;
}

template <int D>
std::span<const std::int32_t> Simulation<D>::count_contacts() {
  contact_counts_.assign(state_.bodies.n_local(), 0);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    ++contact_counts_[contacts_.a[c]];
    if (contacts_.b[c] >= 0) ++contact_counts_[contacts_.b[c]];
  }
  neighborhood_.ghosts().add_to_owners(contact_counts_);
  return contact_counts_;
}

template <int D>
Real Simulation<D>::certified(std::string_view name) const {
  for (const CertificateEntry& entry : deck_.stepper->certificate())
    if (entry.name == name) return entry.value;
  return std::nan("");
}

template <int D>
std::uint64_t Simulation<D>::hash() const {
  const BodyStore<D>& bodies = state_.bodies;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    std::uint64_t h = mix(static_cast<std::uint64_t>(bodies.id()[i]));
    const auto add = [&](auto number) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &number, sizeof number);
      h = mix(h ^ bits);
    };
    for (int k = 0; k < D; ++k) {
      add(bodies.position()[i][k]);
      add(bodies.velocity()[i][k]);
      add(bodies.image()[i][k]);
    }
    add(bodies.radius()[i]);
    if (bodies.carries_turns())
      for (const Real spin : bodies.angular_velocity()[i].component) add(spin);
    if (bodies.carries_shapes()) add(bodies.shape()[i]);
    if (bodies.carries_turns())
      for (const Real part : bodies.orientation()[i].component) add(part);
    sum += h;
  }
  // The sum of integers modulo 2^64 does not depend on order.
  return std::bit_cast<std::uint64_t>(state_.comm.sum(std::bit_cast<std::int64_t>(sum)));
}

template <int D>
std::string Simulation<D>::name_type_of(GlobalId id) const {
  const auto ids = state_.bodies.id();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == id) {
      const std::size_t type = state_.bodies.type()[i];
      if (const Environment<D>* environment = deck_.stepper->environment())
        return environment->name_of_type(type);
      const ParticleGroup<D>& group = *deck_.all_groups()[type];
      return fmt::format("{}: [particles.{}]", group.where, group.name);
    }
  return {};
}

template <int D>
void Simulation<D>::require_bodies_inside() const {
  GlobalId worst = std::numeric_limits<GlobalId>::max();
  std::string message;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state_.bodies.n_owned()); ++i) {
    const Vec<D>& x = state_.bodies.position()[i];
    // A tilted box is periodic along all axes: bodies of a checkpoint lie in its leaning cell.
    if (state_.box.contains(x) || state_.box.offset != 0 || state_.bodies.id()[i] > worst) continue;
    worst = state_.bodies.id()[i];
    message = fmt::format("{}: body {} starts at ({:g}), outside the domain ({:g}) to ({:g}) of {}",
                          name_type_of(worst), worst, fmt::join(x.component, ", "),
                          fmt::join(state_.box.lower.component, ", "),
                          fmt::join(state_.box.upper.component, ", "), deck_.box_place);
  }
  throw_if_any(state_.comm, worst, message);
}

/// Candidates are complete up to half the skin: bodies may have moved by a quarter each since they were
/// found.
template <int D>
ListRequirements Simulation<D>::list_requirements(Real largest_to_come) const {
  Real largest = largest_to_come;
  for (const Real radius : state_.bodies.radius().first(state_.bodies.n_owned()))
    largest = std::max(largest, radius);
  largest = state_.comm.max(largest);
  ListRequirements needs = deck_.stepper->list_requirements(state_, deck_.dt, largest);
  needs.skin = std::max(needs.skin, 2 * deck_.output.contact_tolerance * 2 * largest);
  return needs;
}

template <int D>
void Simulation<D>::require_contacts_listed() const {
  const Real gap = deck_.output.contact_tolerance * 2 * state_.lattice.largest_radius;
  if (gap > 0.5 * state_.lattice.usual_skin)
    throw InputError(fmt::format(
        "analysis.contact_tolerance = {:g} counts gaps up to {:.3g} m as contacts, but only "
        "those up to half the skin of {:.3g} m that the checkpoint has are certain to be found; reduce "
        "it",
        deck_.output.contact_tolerance, gap, state_.lattice.usual_skin));
}

template <int D>
std::string Simulation<D>::unmeasured_contacts(Real smallest) const {
  const auto widest = std::ranges::max_element(
      deck_.measures, {}, [](const NamedMeasure<D>& m) { return m.measure->widest_gap(); });
  if (widest == deck_.measures.end() || widest->measure->widest_gap() == 0) return {};
  for (const Real radius : state_.bodies.radius().first(state_.bodies.n_owned()))
    smallest = std::min(smallest, radius);
  smallest = state_.comm.min(smallest);
  const Real share = deck_.output.contact_tolerance, reach = widest->measure->widest_gap();
  if (!(reach > share * smallest * (1 + 1e-9))) return {};
  return fmt::format(
      "{}: the measure \"{}\" counts pairs up to tolerance = {:g} m, but analysis.contact_tolerance = {:g} "
      "finds "
      "those of the smallest body with an obstacle up to {:.3g} m only; set analysis.contact_tolerance to {}",
      widest->where, widest->name, reach, share, share * smallest,
      reach <= smallest ? fmt::format("{:.4g}", std::min(1.001 * reach / smallest, 1.0))
                        : fmt::format("1 and the tolerance to at most {:.3g} m", smallest));
}

template <int D>
void Simulation<D>::require_no_overlap(Real limit_of_all) {
  // What a source makes is exact to rounding, what it reads may come from soft contact: more is a mistake.
  std::vector<Real> limits;
  for (const ParticleGroup<D>* group : deck_.all_groups())
    limits.push_back(group->source ? std::max(limit_of_all, group->source->overlap_limit()) : limit_of_all);
  const ContactGraph<D>& contacts = find_contacts(0);
  const BodyStore<D>& bodies = state_.bodies;
  struct Depth {
    Real share;   // overlap over the smaller radius
    Real excess;  // of that over what is accepted; at most 0 if it is
    Real limit;
  };
  const auto depth_of = [&](std::size_t c) {
    const std::size_t a = contacts.a[c];
    Real radius = bodies.radius()[a];
    Real limit = limits.empty() ? limit_of_all : limits[bodies.type()[a]];
    if (contacts.b[c] >= 0) {
      const std::size_t b = contacts.b[c];
      radius = std::min(radius, bodies.radius()[b]);
      if (!limits.empty()) limit = std::max(limit, limits[bodies.type()[b]]);
    }
    const Real share = -contacts.gap[c] / radius;
    return Depth{share, share - limit, limit};
  };
  std::array<Real, 2> worst{-HUGE_VAL, 0};  // excess, overlap
  for (std::size_t c = 0; c < contacts.size(); ++c)
    worst = {std::max(worst[0], depth_of(c).excess), std::max(worst[1], depth_of(c).share)};
  state_.comm.max(worst);
  const bool refused = worst[0] > 0;
  constexpr Real rounding = 1e-9;
  if (!refused && worst[1] <= rounding) return;
  GlobalId key = std::numeric_limits<GlobalId>::max();
  std::string message;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const std::size_t a = contacts.a[c];
    const GlobalId id = bodies.id()[a];
    const Depth depth = depth_of(c);
    if ((refused ? depth.excess != worst[0] : depth.share != worst[1]) || id >= key) continue;
    key = id;
    const std::string other =
        contacts.b[c] >= 0
            ? fmt::format("body {}", bodies.id()[contacts.b[c]])
            : fmt::format("obstacle \"{}\"", state_.obstacles.obstacle_with(contacts.wall[c]).name);
    const std::string share =
        depth.limit > rounding
            ? fmt::format(" ({:.3g} of the smaller radius; up to {:g} is accepted)", depth.share, depth.limit)
            : "";
    message = refused ? fmt::format(
                            "{}: body {} at ({:g}) overlaps {} by {:.3g} m{} at the start, the worst of all; "
                            "move them apart or set simulation.allow_overlap = true",
                            name_type_of(id), id, fmt::join(bodies.position()[a].component, ", "), other,
                            -contacts.gap[c], share)
                      : fmt::format("deepest overlap at the start: body {} and {}, {:.3g} m{}", id, other,
                                    -contacts.gap[c], share);
  }
  if (refused) throw_if_any(state_.comm, key, message);
  log::info(message_of_smallest(state_.comm, key, message));
}

template class Simulation<2>;
template class Simulation<3>;

}  // namespace scree
