#pragma once
#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "run/checkpoint.hpp"

/// What a checkpoint holds under which names, for writing and reading.
namespace scree::checkpoint_layout {

inline constexpr const char* checkpoint_kind = "scree checkpoint";
inline constexpr std::int64_t checkpoint_version =
    10;  // 10: names of inlets and outlets; 9: of fields; 8: numbers in lists; 7: work of cohesion

/// The text that holds the shapes of bodies; only there if bodies have shapes.
inline constexpr const char* shapes_name = "shapes";

/// The number type and count that a field is stored with.
template <class T>
struct Stored {
  using Number = T;
  static constexpr int components = 1;
};
template <int D>
struct Stored<Vec<D>> {
  using Number = Real;
  static constexpr int components = D;
};
template <class N, std::size_t n>
struct Stored<std::array<N, n>> {
  using Number = N;
  static constexpr int components = static_cast<int>(n);
};

inline constexpr Real any = -std::numeric_limits<Real>::max();

/// Calls f(name, number, min) for all numbers of a state; no number is below `min`.
template <class S, class F>
void for_each_number(S& state, F&& f) {
  f("step", state.clock.step, 0);
  f("time", state.clock.time, 0);
  f("last_dt", state.clock.last_dt, 0);
  f("reference_time", state.clock.reference_time, 0);
  f("next_id", state.next_id, 0);
  const auto energy = [&f](const char* name, auto& value) { f(std::string("energy_") + name, value, any); };
  EnergyBalance::for_each(state.energy_balance, energy);
  EnergyBalance::for_each_stored(state.energy_balance, energy);
  EnergyBalance::for_each_cohesive(state.energy_balance, energy);
  EnergyBalance::for_each_remembered(state.energy_balance, energy);
  f("energy_last_step", state.energy_balance.last.step, -1);
  auto& lattice = state.lattice;
  for (std::size_t k = 0; k < lattice.n_cells.size(); ++k) {
    const char axis = "xyz"[k];
    f(fmt::format("lattice_origin_{}", axis), lattice.origin[static_cast<int>(k)], any);
    f(fmt::format("lattice_cell_edge_{}", axis), lattice.cell_edge[static_cast<int>(k)], any);
    f(fmt::format("lattice_cells_{}", axis), lattice.n_cells[k], 1);
    f(fmt::format("lattice_block_cells_{}", axis), lattice.block_cells[k], 1);
    f(fmt::format("lattice_blocks_{}", axis), lattice.n_blocks[k], 1);
  }
  f("lattice_skin", lattice.skin, any);
  f("lattice_usual_skin", lattice.usual_skin, any);
  f("lattice_largest_radius", lattice.largest_radius, any);
  f("lattice_second_radius", lattice.second_radius, any);
  f("lattice_cells_per_block", lattice.cells_per_block, 1);
  for (std::size_t i = 0; i < state.inlets.size(); ++i) {
    f(fmt::format("inlet_{}_made", i), state.inlets[i].n_made, 0);
    f(fmt::format("inlet_{}_dropped", i), state.inlets[i].n_dropped, 0);
    f(fmt::format("inlet_{}_tries", i), state.inlets[i].n_tries, 0);
  }
  for (std::size_t i = 0; i < state.outlets.size(); ++i) {
    f(fmt::format("outlet_{}_removed", i), state.outlets[i].n_removed, 0);
    f(fmt::format("outlet_{}_mass", i), state.outlets[i].mass, 0);
  }
  const auto driven = state.obstacles.driven();
  for (std::size_t i = 0; i < driven.size(); ++i)
    DrivenState::for_each(driven[i], [&](const char* name, auto& value) {
      f(fmt::format("driven_{}_{}", i, name), value, any);
    });
  if (state.deformation.is_given()) {
    for (std::size_t k = 0; k < lattice.n_cells.size(); ++k) {
      f(fmt::format("cell_lower_{}", "xyz"[k]), state.box.lower[static_cast<int>(k)], any);
      f(fmt::format("cell_upper_{}", "xyz"[k]), state.box.upper[static_cast<int>(k)], any);
    }
    f("cell_offset", state.box.offset, any);
    std::remove_reference_t<decltype(state.deformation)>::for_each_number(
        state.deformation, [&](const std::string& name, auto&& value) { f("cell_" + name, value, any); });
  }
  f("stage_index", state.stage.index, 0);
  f("stage_begin", state.stage.begin, 0);
}

/// Numbers of measures by name.
template <class F>
void for_each_measured(const std::vector<NamedNumbers>& measures, F&& f) {
  for (const auto& [name, numbers] : measures)
    for (std::size_t i = 0; i < numbers.size(); ++i) f(fmt::format("measure_{}_{}", name, i), numbers[i]);
}

}  // namespace scree::checkpoint_layout
