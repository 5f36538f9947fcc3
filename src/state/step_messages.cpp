#include "state/step_messages.hpp"

#include <fmt/format.h>

namespace scree {

std::string step_label(const Clock& clock) {
  return fmt::format("step {}, t = {:.6g} s", clock.step, clock.time);
}

void refuse_step(const Clock& clock, std::string_view what, ExitCode code) {
  throw StepRefused(code, fmt::format("{}: {}", step_label(clock), what));
}

}  // namespace scree
