#include "replay/solver_choice.hpp"

#include <algorithm>
#include <utility>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/suggestion.hpp"

namespace scree {

namespace {

template <int D>
void describe(Deck& deck, const std::string& name, FrictionSolver<D>& solver) {
  deck.root().table(name, {.doc = "Solver"}, [&](Section& section) { solver.describe(section); });
}

Deck settings_deck(const std::vector<std::string>& settings) {
  return Deck::from_text("", "--set", settings);
}

}  // namespace

template <int D>
SolverChoice<D>::SolverChoice(const std::vector<std::string>& names, std::vector<std::string> settings)
    : settings_(std::move(settings)) {
  std::vector<std::string> known;
  for (const auto& entry : registry<FrictionSolver<D>>()) known.emplace_back(entry.name);
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
  };
  for (const std::string& name : names)
    if (name == "all")
      for (const std::string& each : known) add(each);
    else
      add(name);
  if (names_.empty()) names_ = known;

  Deck deck = settings_deck(settings_);
  for (const std::string& name : names_) {
    std::unique_ptr<FrictionSolver<D>> solver;
    try {
      solver = make_solver<D>(name);
    } catch (const InputError& error) {
      throw InputError(error.what() + suggestion(name, known));
    }
    describe<D>(deck, name, *solver);
  }
  deck.require_all_read();
}

template <int D>
std::unique_ptr<FrictionSolver<D>> SolverChoice<D>::make(const std::string& name) const {
  auto solver = make_solver<D>(name);
  Deck deck = settings_deck(settings_);
  describe<D>(deck, name, *solver);
  return solver;
}

template class SolverChoice<2>;
template class SolverChoice<3>;

}  // namespace scree
