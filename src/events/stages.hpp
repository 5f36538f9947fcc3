#pragma once
#include <functional>
#include <string>
#include <vector>

#include "events/stage_orders.hpp"
#include "state/state.hpp"

namespace scree {

/// The stages of a run, one after the other. Which one runs stands in the State.
template <int D>
class Stages {
 public:
  /// One entry of [[stages]]: what changes when it begins and when it ends.
  struct Stage {
    std::string name;
    std::string where;         ///< its place in the deck
    Real duration = HUGE_VAL;  ///< [s]; not finite: it has conditions
    Real kinetic_energy = -1;  ///< ends at or below this mean per body [J]; < 0: not given
    std::string where_kinetic_energy;
    std::int64_t min_bodies = -1;  ///< < 0: not given
    std::int64_t max_bodies = -1;  ///< < 0: not given
    Real time = HUGE_VAL;          ///< ends at or after this time of the run [s]; not finite: not given
    Real max_time = HUGE_VAL;      ///< longest duration [s]
    bool stops_on_timeout = false;
    std::vector<int> removed, added;  ///< obstacles

    Real load_within = -1;  ///< ends when reactions are as near to loads, as a share of these; < 0: not given
    std::vector<int> loaded;          ///< these, by their numbers in ObstacleSet::driven()
    std::string where_load;           ///< place of load_within in the deck
    std::vector<WallOrder> orders;    ///< from its beginning on
    DeformationOrder<D> deformation;  ///< the same of the periodic domain
    std::string where_deformation;    ///< its place in the deck; empty: not given
    /// Ends when stresses of the domain are as near to what is asked for; < 0: not given.
    Real stress_within = -1;
    std::string where_stress;  ///< place of stress_within in the deck

    bool has_condition() const {
      return kinetic_energy >= 0 || min_bodies >= 0 || max_bodies >= 0 || load_within >= 0 ||
             stress_within >= 0;
    }
  };

  /// Declares and reads [[stages]]; names of obstacles are those of `obstacles`.
  void describe(Section& root, const ObstacleSet<D>& obstacles);

  bool empty() const { return list_.empty(); }
  std::span<const Stage> list() const { return list_; }
  /// When the last stage has ended at the latest [s]; not finite without stages.
  Real latest_end() const;
  bool finished(const State<D>& state) const {
    return !list_.empty() && state.stage.index == static_cast<std::int64_t>(list_.size());
  }
  /// How long the present stage may still last [s]; not finite without stages.
  Real remaining_time(const State<D>& state) const;

  /// Switches the obstacles as they are in the present stage, and gives driven ones and the domain their
  /// orders.
  void set_orders(State<D>& state) const;
  /// Goes on to the next stage if the present one is over; true if that took obstacles away or put some back.
  /// `is_carried`: whether what little kinetic energy bodies have is rest, not the turning point of a flight;
  /// asked last. Throws RunError, on all ranks, if a stage that must not has timed out. Collective.
  bool advance(State<D>& state, const std::function<bool()>& is_carried) const;

 private:
  bool is_reached(const State<D>& state, Real time) const;
  bool holds(const State<D>& state, const Stage& stage, const std::function<bool()>& is_carried,
             std::string& unmet) const;
  void check_obstacles(const ObstacleSet<D>& obstacles) const;
  void check_loads(const ObstacleSet<D>& obstacles) const;
  void check_pressures(const ObstacleSet<D>& obstacles) const;
  DrivenOrder order_in(std::int64_t stage, int wall, DrivenOrder first) const;
  std::vector<char> active_obstacles(std::int64_t stage, int n_obstacles) const;

  std::vector<Stage> list_;
};

}  // namespace scree
