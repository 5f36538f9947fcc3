#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "schemes/common/step_control.hpp"
#include "state/velocity_field.hpp"

namespace scree {

/// What the deck says of the scheme "pbd": [pbd] and [velocity].
template <int D>
struct PbdSettings {
  enum class Method { pbd, pgs, pgs_dual, penalty, jacobi };
  static constexpr Real not_given = -1;  // a value the key refuses: see Section::has

  Method method = Method::pbd;
  std::int64_t sweeps = 2;
  std::string sweeps_word;
  std::int64_t max_sweeps = 10'000;
  Real relative_tolerance = 1e-10;
  Real absolute_tolerance = 1e-12;
  Real warm_start = not_given;
  Real compliance = not_given;
  Real penalty_rate = not_given;
  Real overlap_limit = 0.1;
  StepControl on_overlap{FailureAction::warn};
  std::unique_ptr<VelocityField<D>> field;

  void describe(Section& root);
  bool until_converged() const { return !sweeps_word.empty(); }
  bool keeps_multipliers() const { return warm_start > 0 || compliance > 0 || method == Method::pgs_dual; }
  bool may_refuse() const { return on_overlap.may_refuse() && overlap_limit > 0; }
};

}  // namespace scree
