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
  std::int64_t sweeps = 2;
  std::string sweeps_word;
  std::int64_t max_sweeps = 10'000;
  Real relative_tolerance = 1e-10;
  Real absolute_tolerance = 1e-12;
  Real warm_start = 0.9;
  Real compliance = 0;
  Real overlap_limit = 0.1;
  StepControl on_overlap{FailureAction::warn};
  std::unique_ptr<VelocityField<D>> field;

  void describe(Section& root) {
    root.table("pbd", {.doc = "Position-based dynamics: the scheme \"pbd\""}, [&](Section& section) {
      std::string method = "pbd";  // there were others: decks may name it, and it is only checked
      section.choice(
          "method", method, {"pbd"},
          {.doc = "\"pbd\" projects on each contact in turn. Published methods that it is compared with are "
                  "in `scree verify pbd`",
           .audience = Audience::laboratory});
      section.integer_or_word(
          "sweeps", sweeps, sweeps_word, {"converged"},
          {.range = {.min = 1},
           .doc = "Sweeps over all contacts in a step; \"converged\" repeats until the change of one "
                  "sweep meets the tolerances (PNGS)"});
      section.integer("max_sweeps", max_sweeps,
                      {.range = {.min = 1}, .doc = "Most sweeps of \"converged\"; then it gives a warning"});
      section.real(
          "relative_tolerance", relative_tolerance,
          {.range = non_negative, .doc = "Of \"converged\": change <= absolute + relative * |positions|"});
      section.real("absolute_tolerance", absolute_tolerance,
                   {.unit = Unit::length,
                    .range = non_negative,
                    .doc = "Absolute part of the tolerance of \"converged\", see relative_tolerance"});
      section.real(
          "warm_start", warm_start,
          {.range = unit_interval,
           .doc = "Share of each contact's multiplier that the next step starts from; 0 switches the memory "
                  "off (the published method)"});
      section.real("compliance", compliance,
                   {.unit = Unit::time,
                    .range = non_negative,
                    .doc = "Overlap of a contact, with shapes of each of its points, per pressure it carries "
                           "[m per m/s]; 0: contact is hard"});
      section.real(
          "overlap_limit", overlap_limit,
          {.range = non_negative,
           .doc = "Largest overlap allowed in a step's last sweep, as a share of the smallest radius; "
                  "0 switches the test off"});
      using enum FailureAction;
      on_overlap.describe(
          section, "on_overlap", {{"warn", warn}, {"halve", halve}, {"stop", stop}},
          {.doc = "What happens beyond overlap_limit: a warning, the step again with half the length, or the "
                  "end of the run"});
    });
    root.table("velocity", {.required = true, .doc = "The velocity that a body has when nothing touches it"},
               [&](Section& section) {
                 section.kind("type", field, {.required = true, .doc = "Kind of velocity field"});
               });
  }
  bool until_converged() const { return !sweeps_word.empty(); }
  bool keeps_multipliers() const { return warm_start > 0 || compliance > 0; }
  bool may_refuse() const { return on_overlap.may_refuse() && overlap_limit > 0; }
};

}  // namespace scree
