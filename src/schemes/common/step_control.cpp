#include "schemes/common/step_control.hpp"

#include <array>

namespace scree {

void StepControl::describe(Section& section, std::string_view key, const std::vector<FailureAction>& actions,
                           const Key& meaning) {
  constexpr std::array<std::string_view, 3> words{"warn", "halve", "stop"};
  std::vector<Word<FailureAction>> choices;
  for (const FailureAction action : actions)
    choices.push_back({words[static_cast<std::size_t>(action)], action});
  section.choice(key, action_, choices, meaning);
}

Real StepControl::halve(const Clock& clock, std::string_view what, Real dt) {
  ++n_halvings_;
  dt *= 0.5;
  log::detail("{}: {}: again with {:.3g} s", step_label(clock), what, dt);
  return dt;
}

}  // namespace scree
