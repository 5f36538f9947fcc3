#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/hdf5.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// What a trajectory file says once about its run.
struct ArchiveHead {
  std::string title;
  std::string version;      ///< of the program that writes
  std::string geometry;     ///< where people can be, as WKT [m]
  Real fps = 0;             ///< frames per second
  bool has_levels = false;  ///< whether rows say on which level of a building people are
};

/// One row: where a person is in a frame [m].
struct TrajectoryRow {
  std::uint32_t frame = 0;
  std::uint32_t id = 0;
  double x = 0, y = 0, z = 0;
  std::uint32_t level = 0;  ///< of a building of several
};

/// Trajectories in the layout of the pedestrian dynamics data archive of Forschungszentrum Juelich, which its
/// analysis tools read: one HDF5 file with
///   /trajectory           one record per person and frame: frame (uint32), id (uint32), x, y, z (float64)
///   [m]
///                         in the order of frames, within a frame of ids; attribute fps
///   /level                of a building of several: one record per row of /trajectory, level (uint32)
///   /                     attributes wkt_geometry, title, version
/// Frame k shows the time k / fps. Rows do not depend on the number of ranks. Each frame is flushed: a run
/// that is killed leaves a readable file. All members are collective and throw RunError on all ranks if the
/// disk is full or the file cannot be written.
class PedestrianArchive {
 public:
  /// Starts a new file, in place of one that exists.
  PedestrianArchive(const Comm& comm, const std::string& path, const ArchiveHead& head);
  /// Opens an existing file to go on after frame `last`: removes the later ones, O(log rows). Throws
  /// InputError if the file is of another layout or has another number of frames per second.
  static PedestrianArchive resume(const Comm& comm, const std::string& path, const ArchiveHead& head,
                                  std::int64_t last);

  /// Adds a frame: ids, positions (three numbers each) and, if the file has them, levels of this rank's
  /// persons, in any order. Throws RunError for a frame or an id that 32 bits cannot hold.
  void append(std::int64_t frame, std::span<const GlobalId> ids, std::span<const double> positions,
              std::span<const std::int32_t> levels = {});

  std::int64_t n_rows() const { return n_rows_; }

  /// The number of rows of a file. Throws InputError if it is of another layout.
  static std::int64_t n_rows_in(const hdf5::File& file);
  /// Whether its rows say on which level people are.
  static bool has_levels_in(const hdf5::File& file);
  /// This rank's share of its rows: `count` from `first` on.
  static std::vector<TrajectoryRow> read_rows(const hdf5::File& file, std::int64_t first, std::int64_t count);

 private:
  PedestrianArchive(const Comm& comm, std::unique_ptr<hdf5::File> file);

  Comm comm_;
  std::unique_ptr<hdf5::File> file_;
  bool has_levels_ = false;
  std::int64_t n_rows_ = 0;
};

}  // namespace scree
