#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/steps.hpp"
#include "core/deck.hpp"

namespace scree {

/// A deck of the user's own that `scree bench --deck` measures.
struct DeckToMeasure {
  std::string path;                    ///< empty: none
  std::string from;                    ///< a checkpoint that brings the bodies; empty: the deck makes them
  std::vector<std::string> overrides;  ///< table.key=value
  std::optional<int> steps;            ///< of one timing; none: as the measurement proposes
  std::optional<int> warm_up;          ///< steps before the first timing; none: as the measurement proposes
};

/// Throws InputError for a deck that cannot be read, or has mistakes that reading alone finds: before ranks
/// are started. Local.
void require_valid(const DeckToMeasure& deck);

/// Steps of a deck, from its start or from a checkpoint on. No file is written; measures with a memory of
/// every step are kept up to date, as in a run.
class DeckBench : public BenchCase {
 public:
  explicit DeckBench(DeckToMeasure deck) : deck_(std::move(deck)) {}

  void add_options(CommandLine&) override {}  // those of a study: add_study_options()
  void make_quick() override;
  // A deck has one size: studies do not ask for it, nor set another one.
  std::int64_t study_bodies() const override { return 0; }
  void set_bodies(std::int64_t) override {}
  void run(const BenchRun& run) override;

 private:
  template <int D>
  void measure(const BenchRun& run, Deck& deck) const;

  DeckToMeasure deck_;
  StepTiming plan_;
};

}  // namespace scree
