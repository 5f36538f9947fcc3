#include "bench/deck_bench.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "bench/process_memory.hpp"
#include "core/as_input.hpp"
#include "core/memory.hpp"
#include "run/starting_point.hpp"

namespace scree {

void require_valid(const DeckToMeasure& to_measure) {
  Deck deck = Deck::from_text(Deck::text_of(to_measure.path), to_measure.path, to_measure.overrides);
  if (dimension_of(deck) == 2)
    RunDeck<2>::read(deck, false);
  else
    RunDeck<3>::read(deck, false);
}

void DeckBench::make_quick() {
  repetitions_ = 3;
  plan_.steps = 5;
  plan_.warm_up = 10;
}

void DeckBench::run(const BenchRun& run) {
  plan_.repetitions = repetitions_;
  plan_.steps = deck_.steps.value_or(plan_.steps);
  plan_.warm_up = deck_.warm_up.value_or(plan_.warm_up);
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
  RunDeck<D> content = RunDeck<D>::read(deck);
  std::optional<StartingPoint<D>> start;
  if (!deck_.from.empty()) start.emplace(comm, deck_.from);
  const std::int64_t memory_before = live_memory();
  std::optional<Simulation<D>> made;
  as_input(deck.name(), [&] { made.emplace(comm, std::move(content), start ? &*start : nullptr); });
  Simulation<D>& simulation = *made;
  simulation.require_known_options();

  Json row{{"deck", std::filesystem::path(deck.name()).stem().string()}};
  if (!deck_.from.empty()) row["from"] = std::filesystem::path(deck_.from).filename().string();
  if (!deck_.overrides.empty()) row["set"] = fmt::format("{}", fmt::join(deck_.overrides, " "));
  row["warm_up"] = plan_.warm_up;
  run.add_steps(measure_steps(comm, simulation, memory_before, plan_, deck.name()), row);
}

}  // namespace scree
