#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/departure.hpp"
#include "crowd/hazard/hazard_grid.hpp"
#include "crowd/hazard/hazard_law.hpp"
#include "crowd/journey_plan.hpp"
#include "schemes/common/body_change.hpp"
#include "state/state.hpp"

namespace scree {

/// Smoke and toxic gas: [hazard]. People walk slower in smoke, breathe a dose, and are incapacitated when it
/// reaches 1: they stay as obstacles, or vanish. Smoke may close exits and connectors.
class Hazard {
 public:
  enum class Fallen : std::uint8_t { stay, vanish };

  /// Declares and reads [hazard]; files are read on every rank alike. Throws InputError. Local.
  void describe(Section& root, const BuildingPlan& building, const JourneyPlan& journey_plan);
  bool is_on() const { return is_on_; }
  bool stays() const { return is_on_ && fallen_ == Fallen::stay; }
  /// Closes exits and connectors at the times at which smoke there gets worse than [hazard.closes.NAME]
  /// allows, and says so. Before doors are made and routes are found; local.
  void close_routes(JourneyPlan& journey_plan, BuildingPlan& building) const;

  /// Factor of desired speeds. Local, no allocation.
  Real speed_factor(const Vec<2>& x, int level, Real time) const;
  Real dose_rate(const Vec<2>& x, int level, Real time) const;

  /// After a step: adds to the doses of the owned people, at their places and the middle of the step. Those
  /// who reach 1 do not move again (mobility 0), or are removed. They are noted in `departures` without an
  /// exit, and are in no group, queue or journey any more. True, on all ranks, if anybody fell. Collective,
  /// one reduction.
  bool expose(State<2>& state, std::vector<Departure>& departures, BodyChange<2>& change);

  /// Of the run so far, on all ranks: how many were incapacitated, and the largest dose; for checkpoints.
  std::span<Real> memory() { return is_on_ ? std::span<Real>(totals_) : std::span<Real>(); }
  std::int64_t n_fallen() const { return static_cast<std::int64_t>(totals_[0]); }
  std::int64_t n_vanished() const { return fallen_ == Fallen::vanish ? n_fallen() : 0; }
  Real largest_dose() const { return totals_[1]; }
  /// The laws that hold and their sources, for summaries, one line each.
  std::vector<std::string> laws() const;

 private:
  struct Closing {
    std::string where;
    int exit = -1;                      // else a connector
    int connector = -1;                 // its level
    std::array<Real, n_smoke> limit{};  // NaN: none; oxygen: the least
  };

  void describe_speed(Section& section);
  void describe_closings(Section& section, const BuildingPlan& building, const JourneyPlan& journey_plan);
  static void find_closed(const Section& table, const std::string& name, std::string exit,
                          std::string connector, const BuildingPlan& building,
                          const JourneyPlan& journey_plan, Closing& closing);
  std::optional<Real> value(Smoke quantity, const Vec<2>& x, int level, Real time) const;
  bool knows(Smoke quantity) const;
  Real closing_time(const Closing& closing, std::span<const Vec<2>> places, int level) const;
  Real time_above(Smoke quantity, const Vec<2>& x, int level, Real limit) const;

  bool is_on_ = false;
  HazardGrid grid_;
  std::array<Real, n_smoke> constant_{};  // NaN: not given
  SmokeSpeed speed_;
  std::vector<std::array<Real, 2>> speed_table_;  // K, factor; empty: speed_
  Fallen fallen_ = Fallen::stay;
  std::vector<Closing> closings_;
  std::array<Real, 2> totals_{};
  std::vector<Index> staying_;  // of a step in which people vanish
};

/// Whether body i is incapacitated.
bool is_incapacitated(const BodyStore<2>& bodies, std::size_t i);

}  // namespace scree
