#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/log.hpp"
#include "state/state.hpp"

namespace scree {

/// "step 12, t = 0.3 s": how messages name the step that starts there.
std::string step_label(const Clock& clock);

/// Throws StepRefused with "step 12, t = 0.3 s: " + what. Call it on all ranks with the same text, with the
/// state as it was when the step started (Stepper names the exceptions).
[[noreturn]] void refuse_step(const Clock& clock, std::string_view what,
                              ExitCode code = ExitCode::solver_failure);

/// A warning about steps that is said for the first of them only.
class WarnOnce {
 public:
  /// `what()` makes the text; it is called the first time only.
  template <class What>
  void operator()(const Clock& clock, What&& what) {
    if (n_++ == 0) log::warn("{}: {}", step_label(clock), what());
  }

 private:
  std::int64_t n_ = 0;
};

}  // namespace scree
