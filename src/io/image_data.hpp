#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "io/frame.hpp"
#include "io/vtk_series.hpp"

namespace scree {

/// A grid of nx * ny cells in the plane, or of nx * ny * nz in space. Its rows are lines of cells along x in
/// the plane, layers across z in space: rank r of n holds rows [m r / n, m (r + 1) / n) of m, all cells of
/// them.
struct ImageGrid {
  std::array<Real, 3> origin{};    ///< lower corner of the first cell [m]
  std::array<Real, 3> cell{1, 1};  ///< lengths of a cell [m]
  std::int64_t nx = 0, ny = 0;
  std::int64_t nz = 0;  ///< 0: in the plane

  bool in_space() const { return nz > 0; }
  std::int64_t n_rows() const { return in_space() ? nz : ny; }
  std::int64_t row_size() const { return in_space() ? nx * ny : nx; }

  std::int64_t first_row(const Comm& comm, int rank) const;
  std::int64_t first_row(const Comm& comm) const { return first_row(comm, comm.rank()); }
  std::int64_t end_row(const Comm& comm) const { return first_row(comm, comm.rank() + 1); }
  /// The rank that holds a row. Local.
  int rank_of(const Comm& comm, std::int64_t row) const;
  /// Centre of a cell of a grid in the plane [m].
  std::array<Real, 2> centre(std::int64_t column, std::int64_t row) const {
    return {origin[0] + (static_cast<Real>(column) + 0.5) * cell[0],
            origin[1] + (static_cast<Real>(row) + 0.5) * cell[1]};
  }
};

/// A series of fields on a grid for ParaView:
///   DIRECTORY/RUN_NAME.pvd                        index with real times; open this one
///   DIRECTORY/NAME/RUN_NAME_000000123.pvti        one frame, lists its pieces
///   DIRECTORY/NAME/RUN_NAME_000000123_p000.vti    a piece: some rows of cells, inline binary
/// Every file is written under a temporary name and renamed, the index last. All members are collective;
/// failures make all ranks throw RunError.
class ImageSeries {
 public:
  struct Options {
    VtkOptions vtk;
    std::vector<std::string> exact{};  ///< columns that are stored with 64 bits whatever vtk says
  };
  ImageSeries(const Comm& comm, const std::string& directory, const std::string& run, const std::string& name,
              const ImageGrid& grid, const Options& options);
  ~ImageSeries();
  ImageSeries(const ImageSeries&) = delete;
  ImageSeries& operator=(const ImageSeries&) = delete;

  const ImageGrid& grid() const { return grid_; }

  /// Goes on with a series on disk: keeps the frames up to `step` in the index and removes the files of later
  /// ones.
  void resume(std::int64_t step);
  /// Whether there is a frame, and the time of the last one [s].
  bool has_frames() const;
  Real last_time() const;
  /// A column of the last frame, one of `exact` with one component: the rows of this rank, whatever the
  /// number of ranks that wrote it. Throws InputError if the frame lacks it or is of another grid.
  std::vector<Real> read_last(const std::string& column) const;

  /// Writes a frame of values per cell: this rank's rows, cell after cell. One of the same step is replaced.
  void write(std::int64_t step, Real time, const std::vector<Column>& columns);

 private:
  /// First row of piece `piece`; of group_.n_pieces(): the number of rows.
  std::int64_t piece_start(int piece) const;
  bool is_narrow(const Column& column) const;

  Comm comm_;
  ImageGrid grid_;
  Options options_;
  WriterGroup group_;
  std::unique_ptr<vtk::FrameIndex> frames_;
};

}  // namespace scree
