#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/section.hpp"
#include "state/step_messages.hpp"

namespace scree {

/// What becomes of a step that fails a test of its scheme.
enum class FailureAction {
  warn,   ///< it counts; the first one is said
  halve,  ///< it is taken again with half the length
  stop,   ///< StepRefused: the run ends with the state of the start of the step
};

/// A test of the steps of a scheme: the deck says what becomes of steps that fail it. All calls are the same
/// on all ranks; local.
class StepControl {
 public:
  explicit StepControl(FailureAction otherwise) : action_(otherwise) {}
  /// Declares the key that chooses one of `actions`.
  void describe(Section& section, std::string_view key, const std::vector<Word<FailureAction>>& actions,
                const Key& meaning) {
    section.choice(key, action_, actions, meaning);
  }

  FailureAction action() const { return action_; }
  bool may_refuse() const { return action_ != FailureAction::warn; }
  /// Halvings of the present step.
  std::int64_t n_halvings() const { return n_halvings_; }

  void begin_step() { n_halvings_ = 0; }
  /// Says what() of the first step that failed, and what to look at for more of them.
  template <class What>
  void warn(const Clock& clock, What&& what,
            std::string_view rest = "further steps like this are counted, not named") {
    warn_(clock, [&] { return std::string(what()).append("; ").append(rest); });
  }
  /// Counts a halving; returns the length of the next attempt [s].
  Real halve(const Clock& clock, std::string_view what, Real dt) {
    ++n_halvings_;
    dt *= 0.5;
    log::detail("{}: {}: again with {:.3g} s", step_label(clock), what, dt);
    return dt;
  }

 private:
  FailureAction action_;
  std::int64_t n_halvings_ = 0;
  WarnOnce warn_;
};

}  // namespace scree
