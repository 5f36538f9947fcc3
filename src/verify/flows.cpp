#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "run/simulation.hpp"
#include "verify/flow_cases.hpp"

namespace scree {

namespace {

constexpr Real sample_every = 0.01;   // [s]
constexpr Real flow_diameter = 0.01;  // [m]

/// Time averages, and what else a case asks of a run.
template <int D>
struct FlowSample {
  Real time = 0;
  Vec<D> centre{}, velocity{};       ///< mean of the bodies that are not held
  std::int64_t n_above = 0;          ///< of these, how many centres are at z > 0
  std::vector<std::string> columns;  ///< of the deck's measures
  std::vector<Real> row;
};

/// A case of dense flow: a deck of inputs/flows.
struct FlowCase {
  std::string name;
  std::string deck;
  int dimension = 3;
  Real stiffness = 6500;   ///< [N/m], of the deck
  Real rigid_step = 2e-3;  ///< [s]
  bool quick = false;      ///< runs if only quick cases are asked for
  bool stiffer = false;    ///< also rigid with a quarter of the step, and with 4 and 16 times the stiffness
  std::int64_t n_seeds = 3;
  std::vector<std::string> overrides{};
};

constexpr Real soft_step = 5e-5;  // [s], of the decks' stiffness; a contact lasts twenty times that
constexpr Real elastic_step = 5e-4;

std::vector<std::string> overrides_of(const FlowCase& flow, const FlowLaw& law, std::int64_t seed) {
  std::vector<std::string> all = flow.overrides;
  all.push_back(fmt::format("simulation.seed={}", seed));
  all.push_back(std::string("simulation.scheme=") + (law.soft ? "dem" : "nonsmooth"));
  all.push_back(law.rigid
                    ? "pairs.glass-glass.stiffness=rigid"
                    : fmt::format("pairs.glass-glass.stiffness={:.17g}", law.stiffening * flow.stiffness));
  const Real step = law.rigid  ? flow.rigid_step / law.shortening
                    : law.soft ? soft_step / std::sqrt(law.stiffening)
                               : elastic_step / std::sqrt(law.stiffening);
  all.push_back(fmt::format("time.step={:.17g}", step));
  return all;
}

template <int D>
FlowSample<D> sample_of(Simulation<D>& simulation) {
  const State<D>& state = simulation.state();
  FlowSample<D> sample;
  sample.time = state.clock.time;
  std::vector<std::size_t> free;
  std::int64_t n_above = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    if (state.bodies.mobility()[i] == 0) continue;
    free.push_back(i);
    n_above += state.bodies.position()[i][D - 1] > 0;
  }
  std::array<Real, 2 * D> sums{};
  ReproducibleSum::sum(state.comm, free.size(), sums, [&](std::size_t k, std::span<Real> term) {
    const Vec<D>& x = state.bodies.position()[free[k]];
    const Vec<D>& v = state.bodies.velocity()[free[k]];
    std::ranges::copy(v.component, std::ranges::copy(x.component, term.begin()).out);
  });
  const auto n = static_cast<Real>(state.comm.sum(static_cast<std::int64_t>(free.size())));
  for (int axis = 0; axis < D; ++axis) {
    sample.centre[axis] = sums[static_cast<std::size_t>(axis)] / n;
    sample.velocity[axis] = sums[static_cast<std::size_t>(D + axis)] / n;
  }
  sample.n_above = state.comm.sum(n_above);
  if (simulation.deck().measures.empty()) return sample;
  const ContactGraph<D>& contacts = simulation.find_contacts(simulation.deck().output.contact_tolerance);
  for (const NamedMeasure<D>& m : simulation.deck().measures) {
    for (const ColumnInfo& column : m.measure->columns(state)) sample.columns.push_back(column.name);
    m.measure->sample({state, contacts}, sample.row);
  }
  return sample;
}

/// Mean over samples with `since` < time <= `until` of a number of each.
template <int D, class Number>
Real time_average(const std::vector<FlowSample<D>>& samples, Real since, Real until, const Number& number) {
  Real sum = 0;
  Real n = 0;
  for (const FlowSample<D>& sample : samples)
    if (sample.time > since + 1e-9 && sample.time < until + 1e-9) {
      sum += number(sample);
      ++n;
    }
  return sum / n;
}

/// Share of bodies, linear between ranks as numpy has it.
Real quantile(const std::vector<Real>& sorted, Real share) {
  const Real rank = share * static_cast<Real>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const Real above = below + 1 < sorted.size() ? sorted[below + 1] : sorted[below];
  return sorted[below] + (rank - static_cast<Real>(below)) * (above - sorted[below]);
}

/// Coordinates along x of all bodies that are not held, sorted, on every rank. Collective.
template <int D>
std::vector<Real> sorted_x(const State<D>& state) {
  std::vector<Real> x(static_cast<std::size_t>(state.next_id), -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    if (state.bodies.mobility()[i] != 0)
      x[static_cast<std::size_t>(state.bodies.id()[i])] = state.bodies.position()[i][0];
  state.comm.max(x);
  std::erase(x, -HUGE_VAL);
  std::ranges::sort(x);
  return x;
}

/// Slope of a straight line through the number of grains above the outlet over time.
template <int D>
Real discharge(const std::vector<FlowSample<D>>& samples, Real since) {
  Real n = 0, t = 0, y = 0, tt = 0, ty = 0;
  for (const FlowSample<D>& sample : samples)
    if (sample.time > since - 1e-9) {
      const auto count = static_cast<Real>(sample.n_above);
      n += 1, t += sample.time, y += count;
      tt += sample.time * sample.time, ty += sample.time * count;
    }
  return -(n * ty - t * y) / (n * tt - t * t);
}

/// Sum of the columns of a sample whose names begin like this.
template <int D>
Real sum_of_columns(const FlowSample<D>& sample, std::string_view prefix) {
  Real sum = 0;
  for (std::size_t k = 0; k < sample.columns.size(); ++k)
    if (sample.columns[k].starts_with(prefix)) sum += sample.row[k];
  return sum;
}

/// The quantities of a case; scripts/flows-lammps.py has the same.
template <int D>
FlowNumbers numbers_of(const FlowCase& flow, Simulation<D>& simulation,
                       const std::vector<FlowSample<D>>& samples) {
  const auto average = [&](Real since, Real until, const auto& number) {
    return time_average<D>(samples, since, until, number);
  };
  constexpr Real steady = 4;  // [s], from when on flows are steady
  using Sample = FlowSample<D>;
  if (flow.deck == "chute" || flow.deck == "layers")
    return {{"speed [m/s]", average(steady, HUGE_VAL, [](const Sample& s) { return s.velocity[0]; })},
            {"height of centres [d]",
             average(steady, HUGE_VAL, [](const Sample& s) { return s.centre[D - 1] / flow_diameter; })}};
  if (flow.deck == "drum")
    return {{"torque [N m]",
             average(steady, HUGE_VAL, [](const Sample& s) { return sum_of_columns<D>(s, "torque_"); })},
            {"angle of the centre of mass [deg]", average(steady, HUGE_VAL, [](const Sample& s) {
               return std::atan2(-s.centre[0], -s.centre[1]) * 180 / std::numbers::pi;
             })}};
  if (flow.deck == "silo") return {{"rate [1/s]", discharge<D>(samples, 0.75)}};
  if (flow.deck == "janssen") {
    Real mass = 0;
    const State<D>& state = simulation.state();
    mass = ReproducibleSum::sum(state.comm,
                                state.bodies.mass().first(static_cast<std::size_t>(state.bodies.n_owned())));
    const auto load = [&](const Sample& s) {
      return sum_of_columns<D>(s, "force_floor_z") / (mass * state.gravity[D - 1]);
    };
    return {{"floor load poured [weight]", average(1.2, 1.4, load)},
            {"floor load sunk [weight]", average(1.8, HUGE_VAL, load)}};
  }
  constexpr Real length = 0.2;  // [m], of the column
  const std::vector<Real> x = sorted_x<D>(simulation.state());
  FlowNumbers numbers;
  for (const int share : {50, 90, 95})
    numbers.emplace_back(fmt::format("x{} [L0]", share), quantile(x, share / 100.0) / length);
  return numbers;
}

template <int D>
void run_flow(FlowTable& table, const std::string& source, const FlowCase& flow, const FlowLaw& law,
              std::int64_t seed) {
  const auto begin = std::chrono::steady_clock::now();
  Simulation<D> simulation(
      table.comm(), read_run_deck<D>(Deck::read(table.comm(), source + "/inputs/flows/" + flow.deck + ".toml",
                                                overrides_of(flow, law, seed))));
  std::vector<FlowSample<D>> samples;
  try {
    while (simulation.running()) {
      const Real time = simulation.state().clock.time;
      const auto due = std::floor((time + simulation.next_dt() + 1e-9) / sample_every) >
                       std::floor((time + 1e-9) / sample_every);
      simulation.step(due && !simulation.deck().measures.empty());
      if (due) samples.push_back(sample_of(simulation));
    }
  } catch (const CollectiveError& error) {
    table.add_failure(flow.name, law, error.what());
    return;
  }
  const Real seconds = std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count();
  table.add(flow.name, law, seed, numbers_of<D>(flow, simulation, samples), table.comm().max(seconds));
}

/// A column `aspect` times as high as wide; scripts/flows-lammps.py has the same.
FlowCase collapse(Real aspect) {
  const Real root = std::sqrt(aspect);
  const Real base = 0.4 + 0.6 * aspect;  // length of the rough plane [m]
  return {
      .name = fmt::format("collapse {:g}", aspect),
      .deck = "collapse",
      .quick = aspect == 0.5,
      .stiffer = aspect == 1,
      .n_seeds = aspect == 4 ? 1 : 3,  // takes minutes
      .overrides = {fmt::format("particles.grains.source.count={}", std::llround(2290 * aspect)),
                    fmt::format("particles.grains.source.region.upper=[0.2, 0.05, {:.12g}]", 0.45 * aspect),
                    fmt::format("particles.base.source.region.upper=[{:.12g}, 0.05, 0]", base),
                    fmt::format("domain.upper=[{:.12g}, 0.05, {:.12g}]", base + 0.02, 0.45 * aspect + 0.02),
                    fmt::format("stages.0.duration={:.4f}", 0.35 + 0.35 * root),
                    fmt::format("stages.1.duration={:.4f}", 0.5 + 0.654 * root),
                    // Soft grains that fall from a metre overlap by a third of their radius.
                    "dem.overlap_limit=1", "nonsmooth.overlap_limit=1"}};
}

std::vector<FlowCase> flow_cases() {
  return {{.name = "layers", .deck = "layers", .quick = true, .stiffer = true},
          {.name = "chute", .deck = "chute", .stiffer = true},
          collapse(0.5),
          collapse(1),
          collapse(2),
          collapse(4),
          {.name = "drum",
           .deck = "drum",
           .dimension = 2,
           .stiffness = 9.7e5,
           .rigid_step = 1e-3,
           .stiffer = true},
          {.name = "silo", .deck = "silo"},
          {.name = "Janssen", .deck = "janssen", .n_seeds = 6}};
}

const std::vector<FlowLaw> stiffer_laws{{.name = "dem 4k", .soft = true, .stiffening = 4},
                                        {.name = "dem 16k", .soft = true, .stiffening = 16}};

std::string text_of(const std::optional<FlowMean>& mean) {
  if (!mean) return "-";
  if (mean->n < 2) return fmt::format("{:.4g}", mean->value);
  return fmt::format("{:.4g}+-{:.2g}", mean->value, mean->error());
}

}  // namespace

Real FlowMean::error() const {
  return n < 2 ? 0 : deviation / std::sqrt(static_cast<Real>(n));
}

FlowMean mean_of_seeds(const std::vector<Real>& values) {
  if (values.empty()) throw InputError("no run to average over");
  const auto n = static_cast<Real>(values.size());
  FlowMean mean{std::accumulate(values.begin(), values.end(), 0.0) / n, 0, values.size()};
  Real squares = 0;
  for (const Real value : values) squares += (value - mean.value) * (value - mean.value);
  if (values.size() > 1) mean.deviation = std::sqrt(squares / (n - 1));
  return mean;
}

Real at_infinite_stiffness(const std::vector<Real>& stiffness, const std::vector<Real>& value) {
  Real n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < stiffness.size(); ++i) {
    const Real duration = 1 / std::sqrt(stiffness[i]);
    n += 1, x += duration, y += value[i];
    xx += duration * duration, xy += duration * value[i];
  }
  return (xx * y - x * xy) / (n * xx - x * x);
}

bool agree(const FlowMean& found, const FlowMean& reference) {
  const Real found_scatter = found.n > 1 ? found.deviation : reference.deviation;
  const Real reference_scatter = reference.n > 1 ? reference.deviation : found.deviation;
  const Real scatter = std::hypot(found_scatter, reference_scatter);
  return std::abs(found.value - reference.value) <= std::max(0.03 * std::abs(reference.value), 2 * scatter);
}

FlowTable::FlowTable(const Comm& comm, const Show& show_line,
                     const std::vector<std::vector<std::string>>& reference,
                     const std::string& reference_path)
    : Checks(comm, show_line, "case,law,seed,quantity,value,seconds\n") {
  for (const auto& row : reference) lammps_[{row[0], row[2]}].push_back(number(row[3], reference_path));
  show(
      "Dense flows with rigid, elastic and soft contact; means over seeds and their standard errors.\n"
      "rigid dt/4: a quarter of the step. dem 1/0: extrapolated to infinite stiffness. Columns at the end: "
      "whether dem agrees with\nLAMMPS, and elastic with dem, within 3 % or twice the scatter of seeds.\n");
  show_columns({"case", "quantity", "rigid", "rigid dt/4", "dem 1/0", "elastic", "dem", "LAMMPS", "LAMMPS",
                "elastic"});
}

void FlowTable::show_columns(const std::array<std::string, 10>& c) const {
  show(fmt::format("{:<13} {:<34} {:>16} {:>16} {:>16} {:>16} {:>16} {:>16} {:>6} {:>8}", c[0], c[1], c[2],
                   c[3], c[4], c[5], c[6], c[7], c[8], c[9]));
}

FlowTable::Runs& FlowTable::runs_of(const std::string& quantity) {
  const auto found = std::ranges::find(runs_, quantity, &Runs::quantity);
  return found != runs_.end() ? *found : runs_.emplace_back(Runs{quantity, {}});
}

void FlowTable::add(const std::string& name, const FlowLaw& law, std::int64_t seed,
                    const FlowNumbers& numbers, Real seconds) {
  for (const auto& [quantity, value] : numbers) {
    csv += fmt::format("{},{},{},{},{:.9g},{:.1f}\n", name, law.name, seed, quantity, value, seconds);
    runs_of(quantity).of_law[law.name].push_back(value);
    count(std::isfinite(value),
          fmt::format("{}, {}, seed {}: {} is no number", name, law.name, seed, quantity));
  }
}

void FlowTable::add_failure(const std::string& name, const FlowLaw& law, const std::string& message) {
  count(false, fmt::format("{}, {}: the run ended early: {}", name, law.name, message));
}

void FlowTable::exact(const std::string& name, const FlowLaw& law, const std::string& quantity, Real found,
                      Real known, Real bound) {
  count(std::abs(found - known) <= bound, fmt::format("{}, {}: {} = {:.10g}, expected {:.10g} within {:.1e}",
                                                      name, law.name, quantity, found, known, bound));
}

std::optional<FlowMean> FlowTable::lammps(const std::string& name, const std::string& quantity) const {
  const auto found = lammps_.find({name, quantity});
  return found == lammps_.end() ? std::nullopt : std::optional(mean_of_seeds(found->second));
}

void FlowTable::show_row(const std::string& name, const Runs& runs) {
  const auto mean = [&](const std::string& law) {
    const auto found = runs.of_law.find(law);
    return found == runs.of_law.end() ? std::nullopt : std::optional(mean_of_seeds(found->second));
  };
  const std::optional<FlowMean> soft = mean(soft_law.name), elastic = mean(elastic_law.name),
                                reference = lammps(name, runs.quantity);
  std::optional<FlowMean> without_end;
  if (const auto stiffest = mean(stiffer_laws.back().name); soft && stiffest) {
    std::vector<Real> limits;
    for (std::size_t run = 0; run < std::min(soft->n, stiffest->n); ++run) {
      std::vector<Real> stiffness{1}, value{runs.of_law.at(soft_law.name)[run]};
      for (const FlowLaw& law : stiffer_laws) {
        stiffness.push_back(law.stiffening);
        value.push_back(runs.of_law.at(law.name).at(run));
      }
      limits.push_back(at_infinite_stiffness(stiffness, value));
    }
    without_end = mean_of_seeds(limits);
  }
  const auto compare = [&](const std::optional<FlowMean>& found, const std::optional<FlowMean>& expected,
                           const std::string& what) -> std::string {
    if (!found || !expected) return "-";
    const bool holds = agree(*found, *expected);
    count(holds,
          fmt::format("{}, {}: {} {}, {}", name, runs.quantity, what, text_of(found), text_of(expected)));
    return holds ? "yes" : "NO";
  };
  // One run of dem does not tell its scatter; the seeds of LAMMPS do.
  const bool single = soft && soft->n == 1 && reference && reference->n > 1;
  show_columns({name, runs.quantity, text_of(mean(rigid_law.name)), text_of(mean(fine_rigid_law.name)),
                text_of(without_end), text_of(elastic), text_of(soft), text_of(reference),
                compare(soft, reference, "dem and LAMMPS are"),
                single ? compare(elastic, reference, "elastic and LAMMPS are")
                       : compare(elastic, soft, "elastic and dem are")});
}

void FlowTable::finish_case(const std::string& name) {
  for (const Runs& runs : runs_) show_row(name, runs);
  runs_.clear();
}

bool verify_flows(const Comm& comm, const VerifyOptions& options, const Show& show) {
  const std::string path = options.source + "/tests/reference/flows/lammps.csv";
  FlowTable table(comm, show, read_rows(comm, path, "case,seed,quantity,value"), path);
  const auto wanted = [&](std::string_view name) { return options.only == "all" || options.only == name; };
  if (wanted("impacts")) verify_flow_impacts(table);
  for (const FlowCase& flow : flow_cases()) {
    if (!wanted(flow.deck) || (options.quick && !flow.quick)) continue;
    std::vector<FlowLaw> laws{rigid_law, elastic_law, soft_law};
    if (flow.stiffer && !options.quick) {
      laws.push_back(fine_rigid_law);
      laws.insert(laws.end(), stiffer_laws.begin(), stiffer_laws.end());
    }
    for (const FlowLaw& law : laws) {
      const bool one = options.quick && law.name != elastic_law.name;
      for (std::int64_t seed = 1; seed <= (one ? 1 : flow.n_seeds); ++seed)
        flow.dimension == 2 ? run_flow<2>(table, options.source, flow, law, seed)
                            : run_flow<3>(table, options.source, flow, law, seed);
    }
    table.finish_case(flow.name);
  }
  table.show("");
  return table.finish(options.csv);
}

}  // namespace scree
