#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "comm/ghost_exchange.hpp"
#include "core/types.hpp"

namespace scree {

/// What somebody sees on its way: see LookAhead.
struct LookAheadResult {
  static constexpr int n_turns = 4;
  Real free_distance, left, right, room_left, room_right, wall_left, wall_right, turned[n_turns];
};

/// What the kernels of LookAhead look at: people by number, as pieces of four numbers that one load takes.
struct LookAheadView {
  Index n_local = 0;
  const SweepRecord* disks = nullptr;  ///< x, y, none, radius; after the local ones two far from each other
  const SweepRecord* headings = nullptr;  ///< direction, speed, gap up to which others are seen; < 0: nobody
  const SweepRecord* goals = nullptr;     ///< destination, time to go, squared width of the path taken behind

  /// Person i sees others[first[i], first[i + 1]). Entries of `others` are followed by batch_size numbers of
  /// anybody.
  struct Candidates {
    const Index* first = nullptr;  ///< n_local + 1 entries
    const Index* others = nullptr;
    const std::uint8_t* shifts = nullptr;  ///< one per entry; null: none goes through a periodic face
  };
  Candidates within_box, through_faces;
  const Real* shift_table = nullptr;  ///< 3 per code; taken off the vector from a person to another one

  Real range = 0, side_range = 0, lateral_clearance = 0;
  bool turns = false, sides = false, oncoming = false;
  Real cosines[LookAheadResult::n_turns] = {}, sines[LookAheadResult::n_turns] = {};

  /// Of everybody the level of the building; null: there is one.
  const std::int32_t* levels = nullptr;
  /// Whether two people on different levels may meet: of `meeting` and their numbers.
  bool (*may_meet)(const void* meeting, Index i, Index j) = nullptr;
  const void* meeting = nullptr;

  /// Scratch: of the others that are near and not behind, most of anybody and 2 batch_size.
  Real *along = nullptr, *leftward = nullptr, *squared = nullptr, *radii = nullptr;
  Index* who = nullptr;

  LookAheadResult* results = nullptr;  ///< n_local
};

/// Pairs among which near ones are looked for, as in SweepSchedule.
struct NearBatches {
  const SweepRecord* disks = nullptr;
  const Index* ends = nullptr;
  Index n_batches = 0;
  const std::uint8_t* shifts = nullptr;  ///< one per place; null: none goes through a periodic face
  const Real* shift_table = nullptr;
  Real reach = 0;
};

/// The kernels of one instruction set. All sets give the same bits: the same operations for each pair, and
/// minima.
struct LookAheadKernels {
  /// Others count as oncoming if they walk against one's own direction by this share of their speed.
  static constexpr Real against = 0.3;

  std::string_view instruction_set;
  /// What everybody sees of its candidates; nothing of walls.
  void (*look)(const LookAheadView& view);
  /// Lists the places of pairs with a gap of at most `reach`, ascending, and returns how many they are.
  /// `places` has room for all and batch_size more.
  std::size_t (*find_near)(const NearBatches& batches, Index* places);
};

/// The set to take: see core/simd.hpp.
const LookAheadKernels& look_ahead_kernels();
/// All sets that this processor runs.
std::span<const LookAheadKernels* const> available_look_ahead_kernels();

}  // namespace scree
