#pragma once
#include <fmt/format.h>

#include <algorithm>
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
  std::string where_method;
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

  void describe(Section& root) {
    root.table("pbd", {.doc = "Position-based dynamics: the scheme \"pbd\""}, [&](Section& section) {
      section.choice(
          "method", method, methods(),
          {.doc = "\"pbd\" projects on each contact in turn; \"pgs\" on half-spaces frozen at the predicted "
                  "positions; \"pgs_dual\" the same with accumulated multipliers; \"penalty\" pushes by a "
                  "force; \"jacobi\" averages all corrections (order 1, but 5 to 11 times the error). Bodies "
                  "with shapes "
                  "need \"pbd\"",
           .audience = Audience::laboratory});
      section.integer_or_word(
          "sweeps", sweeps, sweeps_word, {"converged"},
          {.range = {.least = 1},
           .doc = "Sweeps over all contacts in a step; \"converged\" repeats until the change of one "
                  "sweep meets the tolerances (PNGS)"});
      section.integer(
          "max_sweeps", max_sweeps,
          {.range = {.least = 1}, .doc = "Most sweeps of \"converged\"; then it gives a warning"});
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
                  "off (the published method). For \"pbd\" only, where it is 0.9 if not given"});
      section.real("compliance", compliance,
                   {.unit = Unit::time,
                    .range = non_negative,
                    .doc = "Overlap of a contact, with shapes of each of its points, per pressure it carries "
                           "[m per m/s]. For \"pbd\" only, where "
                           "contact is hard if it is not given"});
      section.real("penalty_rate", penalty_rate,
                   {.unit = Unit::rate,
                    .range = non_negative,
                    .doc = "Of \"penalty\": velocity per overlap",
                    .audience = Audience::laboratory});
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
      if (!section.reading()) return;
      where_method = section.where("method");
      const auto only_for = [&](Method owner, std::string_view key, Real& value, Real otherwise) {
        if (value > 0 && method != owner)
          section.fail(key,
                       fmt::format("{} has no effect with method = \"{}\": remove it", key, method_word()));
        if (value == not_given) value = method == owner ? otherwise : 0;
      };
      only_for(Method::pbd, "warm_start", warm_start, 0.9);
      only_for(Method::pbd, "compliance", compliance, 0);
      only_for(Method::penalty, "penalty_rate", penalty_rate, 0);
      if (method == Method::penalty && penalty_rate == 0)
        section.fail("penalty_rate", "method = \"penalty\" needs penalty_rate > 0");
    });
    root.table("velocity", {.required = true, .doc = "The velocity that a body has when nothing touches it"},
               [&](Section& section) {
                 section.kind("type", field, {.required = true, .doc = "Kind of velocity field"});
               });
  }
  static std::vector<Word<Method>> methods() {
    return {{"pbd", Method::pbd},
            {"pgs", Method::pgs},
            {"pgs_dual", Method::pgs_dual},
            {"penalty", Method::penalty},
            {"jacobi", Method::jacobi}};
  }
  std::string_view method_word() const {
    for (const Word<Method>& word : methods())
      if (word.value == method) return word.word;
    return {};
  }
  bool until_converged() const { return !sweeps_word.empty(); }
  bool keeps_multipliers() const { return warm_start > 0 || compliance > 0 || method == Method::pgs_dual; }
  bool may_refuse() const { return on_overlap.may_refuse() && overlap_limit > 0; }
};

}  // namespace scree
