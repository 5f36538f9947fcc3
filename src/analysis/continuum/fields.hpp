#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/continuum/sums.hpp"
#include "core/output_interval.hpp"
#include "state/shared_rows.hpp"

namespace scree {

/// The table [output.continuum]: density, momentum, stress ... of grains as fields (docs/method.md,
/// "Continuum fields"), at instants or averaged over the steps before a frame. Each rank holds some layers of
/// the grid. Sums are of integers: the same on any number of ranks, and after a restart.
template <int D>
class ContinuumFields {
 public:
  using Sums = typename CellSums<D>::Sums;

  /// Declares and reads the table.
  void describe(Section& output);
  bool is_asked_for() const { return kernel_ != nullptr; }
  /// Throws InputError if the table does not suit the run. Local.
  void check(const Box<D>& box, bool has_inertia) const;
  const std::string& where() const { return where_; }
  const OutputInterval& every() const { return every_; }
  const SmoothingKernel<D>& kernel() const { return *kernel_; }
  const ContinuumGrid<D>& grid() const { return grid_; }

  /// Makes the grid. Local.
  void prepare(const State<D>& state);
  /// Warns of lengths that do not suit the bodies. Collective.
  void warn_of_lengths(const State<D>& state) const;
  /// Whether the step that ended at `time` counts for an average. Local.
  bool takes(Real before, Real time, std::int64_t step) const;
  /// Adds the step, if it counts. No allocation once all cells near bodies are known. Local.
  void after_step(const State<D>& state, Real before, const ContactGraph<D>& contacts);
  /// Sums of the cells of this rank, of the mean over the time of the average or of the present instant;
  /// empty on all ranks if the average has no step yet. Throws RunError on all ranks if some are too large.
  /// O(cells). Collective.
  std::vector<Sums> frame(const State<D>& state, const ContactGraph<D>& contacts);
  /// After a frame of the interval: the next average begins.
  void frame_is_written();
  /// The mean over time that frame() is of holds this much of it; 1 for instants.
  Real covered() const;

  /// Numbers of the average, the same on all ranks.
  std::span<Real> memory() { return numbers_; }
  /// All sums of the average, for a checkpoint. Collective.
  std::vector<SharedRows> saved(const Comm& comm);
  /// What saved() of such a run gave, without values, to be filled and handed to restore().
  std::vector<SharedRows> to_restore(const Comm& comm) const;
  /// Whether memory(), read from a checkpoint, is of a run with the same lengths and times. Local.
  bool fits_memory() const;
  /// Goes on with the rows of this rank, as to_restore() asks for them. Local.
  void restore(const std::vector<SharedRows>& rows);
  /// Forgets the average so far. Local.
  void start_over();

 private:
  using Block = std::vector<Sums>;  // of the cells of this rank
  Real& weight(std::size_t block) { return numbers_[n_signature + 1 + block]; }
  std::array<Real, 5> signature() const;
  /// Moves what this rank added to the ranks that hold the cells, into `to`. Collective.
  void move_to_holders(const Comm& comm, CellSums<D>& added, Block& to) const;
  std::int64_t first_cell(const Comm& comm) const;
  std::size_t n_cells(const Comm& comm) const;

  static constexpr std::size_t n_signature = 5;

  OutputInterval every_;
  Real average_ = 0;
  std::int64_t stride_ = 1;
  Real cell_ = 0;
  std::string axes_ = D == 2 ? "y" : "z";
  std::string where_, where_width_, where_cell_;
  std::unique_ptr<SmoothingKernel<D>> kernel_;
  std::int64_t n_blocks_ = 1;  ///< averages longer than `every` are sums of these, one per frame

  ContinuumGrid<D> grid_;
  CellSums<D> added_;  ///< by this rank since the sums were moved to their holders
  bool fits_ = true;
  /// Of the present average: [0] the block that is open, then those closed, the latest first.
  std::vector<Block> blocks_;
  /// The lengths of the table, the stage, then the weight of each block.
  std::vector<Real> numbers_;
};

}  // namespace scree
