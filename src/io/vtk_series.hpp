#pragma once
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "core/parallel.hpp"
#include "io/background.hpp"
#include "io/frame.hpp"
#include "io/writer_group.hpp"

namespace scree {

namespace vtk {
class FrameIndex;
}

/// Whether this build can write VTK files (CMake option SCREE_VTK). Without, the members of VtkSeries and
/// ImageSeries that write or read frames throw RunError.
bool has_vtk();

struct VtkOptions {
  int writers = 1;  ///< files per frame at most; ranks send their share to the writer of their group
  bool single_precision = true;  ///< store reals with 32 bits
  bool compress = true;          ///< LZ4
  /// Where frames are encoded and written while the run goes on (outlives the series); null: at once.
  Background* background = nullptr;
};

/// A series of frames for ParaView, one per object class of a run:
///   DIRECTORY/RUN_NAME.pvd                        index with real times; open this one
///   DIRECTORY/NAME/RUN_NAME_000000123.pvtp        one frame, lists its pieces
///   DIRECTORY/NAME/RUN_NAME_000000123_p000.vtp    a piece: inline binary (ParaView of Debian 12 cannot read
///   VTK's
///                                                 default encoding), 64-bit ids and sizes
/// Every file is written under a temporary name and renamed, the index last, so that a run that is killed
/// leaves only complete frames. All members are collective but is_unfinished() and is_ready(); failures make
/// all ranks throw RunError.
///
/// With VtkOptions::background, write() only collects the frame: it gets its place in the index, and its
/// failure is reported, by complete(), which the next write() starts with. Whoever ends a series without
/// complete() loses its last frame.
class VtkSeries {
 public:
  VtkSeries(const Comm& comm, const std::string& directory, const std::string& run, const std::string& name,
            const VtkOptions& options);
  ~VtkSeries();
  VtkSeries(const VtkSeries&) = delete;
  VtkSeries& operator=(const VtkSeries&) = delete;

  /// Goes on with a series on disk: keeps the frames up to `step` in the index and removes the files of later
  /// ones.
  void resume(std::int64_t step);

  /// Writes a frame; one of the same step is replaced. Points, lines and triangles stay in the order of the
  /// ranks. Columns have the same names on all ranks. Vertex cells are left out if there are cell columns,
  /// which would have no value on them.
  void write(std::int64_t step, Real time, const Geometry& geometry);
  /// Waits for the frame that is being written, if any, and lists it.
  void complete();
  /// Whether complete() has something to do: the same on all ranks.
  bool is_unfinished() const { return unfinished_.has_value(); }
  /// Whether it would not have to wait for this rank.
  bool is_ready() const { return is_done(written_); }

 private:
  struct Unfinished {
    std::int64_t step = 0;
    Real time = 0;
    std::string list;  ///< the text of the file that lists the pieces, on rank 0
  };

  Comm comm_;
  VtkOptions options_;
  WriterGroup group_;
  std::unique_ptr<vtk::FrameIndex> frames_;
  std::optional<Unfinished> unfinished_;
  std::future<void> written_;  ///< this rank's piece of it
};

}  // namespace scree
