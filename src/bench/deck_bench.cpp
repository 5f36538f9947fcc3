#include "bench/deck_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bench/measure_time.hpp"
#include "bench/process_memory.hpp"
#include "core/as_input.hpp"
#include "core/memory.hpp"
#include "core/timing.hpp"
#include "run/simulation.hpp"
#include "run/starting_point.hpp"

namespace scree {

namespace {

/// A simulation that takes a certain number of steps and notes what they tell.
template <int D>
class CountedSteps {
 public:
  CountedSteps(Simulation<D>& simulation, std::string deck, std::int64_t wanted)
      : simulation_(simulation), deck_(std::move(deck)), wanted_(wanted) {}

  void step() {
    if (!simulation_.running())
      throw InputError(fmt::format(
          "{}: the run ends after {} steps, at t = {:g} s; {} are to be measured, the warm-up included: "
          "reduce --warm-up, --steps or --repetitions, or --set a later simulation.end_time",
          deck_, n_taken_, simulation_.state().clock.time, wanted_));
    n_bodies_ += simulation_.state().bodies.n_owned();
    simulation_.step();
    ++n_taken_;
    if (!asked_for_options_) asked_for_options_ = simulation_.require_known_options();
    for (const CertificateEntry& entry : simulation_.stepper().certificate()) {
      if (entry.name == "contacts") contacts_ += entry.value;
      if (entry.name == "sweeps") sweeps_ += entry.value;
      if (entry.is_success) solved_ += entry.value;
    }
  }
  /// Means and shares are those of the steps that follow.
  void start_counting() {
    n_before_ = n_taken_;
    n_bodies_ = 0;
    contacts_ = sweeps_ = solved_ = 0;
    n_lists_before_ = simulation_.neighborhood().n_rebuilds();
  }

  Real n_counted() const { return static_cast<Real>(n_taken_ - n_before_); }
  /// Mean over the steps of the bodies of all ranks. Collective.
  Real bodies(const Comm& comm) const { return static_cast<Real>(comm.sum(n_bodies_)) / n_counted(); }
  Real contacts() const { return contacts_ / n_counted(); }
  Real sweeps() const { return sweeps_ / n_counted(); }
  Real share_solved() const { return solved_ / n_counted(); }
  Real steps_per_list() const {
    const std::int64_t n_lists = simulation_.neighborhood().n_rebuilds() - n_lists_before_;
    return n_counted() / static_cast<Real>(std::max<std::int64_t>(1, n_lists));
  }

 private:
  Simulation<D>& simulation_;
  std::string deck_;
  std::int64_t wanted_, n_taken_ = 0, n_before_ = 0, n_lists_before_ = 0;
  std::int64_t n_bodies_ = 0;  // of this rank, summed over steps
  Real contacts_ = 0, sweeps_ = 0, solved_ = 0;
  bool asked_for_options_ = false;
};

}  // namespace

void require_valid(const DeckToMeasure& to_measure) {
  Deck deck = Deck::from_text(Deck::text_of(to_measure.path), to_measure.path, to_measure.overrides);
  if (dimension_of(deck) == 2)
    RunDeck<2>::read(deck, false);
  else
    RunDeck<3>::read(deck, false);
}

void DeckBench::make_quick() {
  repetitions_ = 3;
  steps_ = 5;
  warm_up_ = 10;
}

void DeckBench::run(const BenchRun& run) {
  steps_ = deck_.steps.value_or(steps_);
  warm_up_ = deck_.warm_up.value_or(warm_up_);
  Deck deck = Deck::read(run.comm(), deck_.path, deck_.overrides);
  if (dimension_of(deck) == 2)
    measure<2>(run, deck);
  else
    measure<3>(run, deck);
}

template <int D>
void DeckBench::measure(const BenchRun& run, Deck& deck) const {
  const Comm& comm = run.comm();
  reset_peak_memory();
  const std::int64_t memory_before = live_memory();
  RunDeck<D> content = RunDeck<D>::read(deck);
  std::optional<StartingPoint<D>> start;
  if (!deck_.from.empty()) start.emplace(comm, deck_.from);
  std::optional<Simulation<D>> made;
  as_input(deck.name(), [&] { made.emplace(comm, std::move(content), start ? &*start : nullptr); });
  Simulation<D>& simulation = *made;
  simulation.require_known_options();

  CountedSteps<D> steps(simulation, deck.name(), warm_up_ + std::int64_t{repetitions_} * steps_);
  for (int i = 0; i < warm_up_; ++i) steps.step();
  steps.start_counting();
  reset_timers();
  const Timing step = measure_windows(comm, repetitions_, steps_, [&] { steps.step(); });
  const Real bodies = steps.bodies(comm);
  if (bodies == 0)
    throw InputError(fmt::format("{}: there are no bodies in the {} steps after the warm-up of {}",
                                 deck.name(), steps.n_counted(), warm_up_));
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto of_all = [&](auto of_rank) {
    return static_cast<Real>(comm.sum(static_cast<std::int64_t>(of_rank)));
  };

  BenchRow row("step");
  row.key("deck", std::filesystem::path(deck.name()).stem().string());
  if (!deck_.from.empty()) row.key("from", std::filesystem::path(deck_.from).filename().string());
  if (!deck_.overrides.empty()) row.key("set", fmt::format("{}", fmt::join(deck_.overrides, " ")));
  row.key("warm_up", std::int64_t{warm_up_}).size("bodies", std::llround(std::ceil(bodies)));
  row.time(step);
  row.phases = phases_within(timers, "step");
  row.result("us_per_body_step", "us", 1e6 * step.median * comm.size() / bodies);
  row.result("body_steps_per_second", "1/s", bodies / step.median);
  const std::vector<CertificateEntry> certificate = simulation.stepper().certificate();
  const auto is_told = [&](std::string_view name) {
    return std::ranges::find(certificate, name, &CertificateEntry::name) != certificate.end();
  };
  row.result("contacts", "-",
             is_told("contacts") ? steps.contacts() : of_all(simulation.find_contacts(0).size()));
  if (is_told("sweeps")) row.result("sweeps_per_step", "-", steps.sweeps());
  if (std::ranges::any_of(certificate, &CertificateEntry::is_success))
    row.result("share_of_steps_solved", "-", steps.share_solved());
  row.result("steps_per_rebuild", "-", steps.steps_per_list());
  row.result("load_of_fullest_rank", "-", simulation.neighborhood().imbalance());
  row.result("bytes_per_body", "-", of_all(live_memory() - memory_before) / bodies);
  row.result("memory_of_rank", "B", static_cast<Real>(comm.max(peak_memory())));
  const RunDeck<D>& said = simulation.deck();
  if (std::isfinite(said.end_time))
    row.result("hours_of_run", "-", step.median * std::ceil(said.end_time / said.dt) / 3600);
  run.add(std::move(row));
}

}  // namespace scree
