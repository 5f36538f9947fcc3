#pragma once
#include <petscsf.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "comm/domain.hpp"
#include "core/petsc.hpp"
#include "core/types.hpp"
#include "geometry/lattice.hpp"
#include "particles/block_table.hpp"
#include "particles/body_store.hpp"
#include "particles/contact_memory.hpp"

namespace scree {

/// What a sweep moves: a body's live copy, four numbers (docs/method.md, "The live copy").
struct alignas(32) SweepRecord {
  Real x[3];
  Real radius;
};

/// Everything that one rank holds of another rank's bodies, and how values reach it.
///
/// A rank that owns a block also needs the bodies one cell layer beyond its upper faces: these are its
/// ghosts. Two ways of moving values, both PetscSF:
/// - `copy_to_ghosts` copies from every owned body to all its ghosts, `add_to_owners` adds back;
/// - a *hand-over* moves the live copy of a body during a sweep. Bodies near block faces are touched in
///   several phases, by several ranks. Each rank passes the body on right after the last of its phases, so
///   the copy that is read is always the latest one, nothing is summed and nothing is computed twice. Stage 0
///   comes before the first phase, stage p + 1 after phase p; after the last stage every live copy is back
///   with its owner.
template <int D>
class GhostExchange {
 public:
  static constexpr int n_stages = Lattice<D>::n_phases + 1;

  explicit GhostExchange(const Comm& comm);
  ~GhostExchange();
  GhostExchange(const GhostExchange&) = delete;
  GhostExchange& operator=(const GhostExchange&) = delete;

  /// Fetches the ghosts of this rank's blocks and plans all exchanges. `table` holds the owned blocks and
  /// gets those of the ghosts; `memory` (owned bodies on entry) gets the ghosts' entries. Collective.
  void rebuild(const Domain& domain, const Lattice<D>& lattice, BlockTable<D>& table,
               std::span<const Place> places, BodyStore<D>& bodies, ContactMemory& memory);

  /// values[n_held * width]: copies owned entries to the ghosts of other ranks. Collective.
  void copy_to_ghosts(std::span<Real> values, int width);
  void copy_to_ghosts(std::span<Vec<D>> values) {
    copy_to_ghosts({reinterpret_cast<Real*>(values.data()), values.size() * D}, D);
  }
  /// counts[n_held]: adds what ranks noted for their ghosts to the owner's entry (integers: exact).
  /// Collective.
  void add_to_owners(std::span<std::int32_t> counts);
  /// values[n_held * width]: the same for real numbers, whose last bits depend on the ranks. Collective.
  void add_to_owners(std::span<Real> values, int width);
  /// values[n_held * width]: every owner's entry becomes the least of its own and those of its ghosts
  /// (exact). Collective.
  void min_to_owners(std::span<Real> values, int width);

  /// values[n_held * width]: moves the live copies of a stage. Collective.
  void begin_hand_over(int stage, std::span<Real> values, int width);
  void end_hand_over(int stage, std::span<Real> values, int width);
  void begin_hand_over(int stage, std::span<SweepRecord> records) {
    begin_hand_over(stage, numbers(records), record_width);
  }
  void end_hand_over(int stage, std::span<SweepRecord> records) {
    end_hand_over(stage, numbers(records), record_width);
  }
  /// 1 for every held body whose live copy leaves or reaches this rank during a sweep.
  std::span<const std::uint8_t> travels() const { return travels_; }

  /// Sends what this rank remembers of contacts to the owners of their first bodies: `contacts[k].body` is a
  /// held body here. Returns the memory of the owned bodies. Collective.
  ContactMemory bring_home(Index n_owned, std::span<const RememberedContact> contacts, int width) const;

  int home_rank(Index ghost) const { return home_[static_cast<std::size_t>(ghost)].rank; }

 private:
  struct Home {
    int rank;
    Index index;
  };
  void plan_hand_overs(const Domain& domain, const Lattice<D>& lattice, const BlockTable<D>& table,
                       std::span<const Place> places, const BodyStore<D>& bodies);

  static constexpr int record_width = sizeof(SweepRecord) / sizeof(Real);
  static std::span<Real> numbers(std::span<SweepRecord> records) {
    return {reinterpret_cast<Real*>(records.data()), records.size() * record_width};
  }
  /// `width` numbers that travel together.
  MPI_Datatype type_of(int width);

  Comm comm_;
  std::vector<Home> home_;  // of each ghost
  SfHandle ghosts_;
  std::array<SfHandle, static_cast<std::size_t>(n_stages)> stages_;
  std::array<bool, static_cast<std::size_t>(n_stages)> stage_in_use_{};  // the same on all ranks
  std::vector<std::uint8_t> travels_;
  std::map<int, MPI_Datatype> types_;  // by width
};

}  // namespace scree
