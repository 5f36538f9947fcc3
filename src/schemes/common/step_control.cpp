#include "schemes/common/step_control.hpp"

#include <algorithm>
#include <array>

namespace scree {

void StepControl::describe(Section& section, std::string_view key, const std::vector<FailureAction>& actions,
                           const Key& meaning) {
  static const std::array<std::string, 3> words{"warn", "halve", "stop"};
  const auto word_of = [](FailureAction action) { return words[static_cast<std::size_t>(action)]; };
  std::vector<std::string> choices;
  for (const FailureAction action : actions) choices.push_back(word_of(action));
  std::string word = word_of(action_);
  section.choice(key, word, choices, meaning);
  const auto chosen = std::ranges::find(words, word);
  if (chosen != words.end()) action_ = static_cast<FailureAction>(chosen - words.begin());
}

Real StepControl::halve(const Clock& clock, std::string_view what, Real dt) {
  ++n_halvings_;
  dt *= 0.5;
  log::detail("{}: {}: again with {:.3g} s", step_label(clock), what, dt);
  return dt;
}

}  // namespace scree
