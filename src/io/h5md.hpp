#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/id_order.hpp"
#include "core/files.hpp"
#include "core/parallel.hpp"
#include "io/frame.hpp"
#include "io/h5md_content.hpp"

namespace scree {

/// What an H5MD file says once about its run.
struct H5mdHead {
  std::string creator_version;
  std::vector<Real> lower, upper;  ///< the box [m], as many numbers as dimensions
  std::vector<bool> periodic;
  files::Texts texts;       ///< kept as /parameters/NAME: the deck, the resolved deck
  files::Texts provenance;  ///< kept as attributes of /parameters: version, command line, number of ranks
};

struct H5mdOptions {
  bool single_precision = false;  ///< store reals with 32 bits
  int compression = 0;            ///< gzip level of frames, up to 9; 0: none
  /// Bodies neither enter nor leave: ids, radii, masses and types are stored once, with the first frame.
  bool fixed_bodies = false;
};

/// One value of a frame for /observables, the same on all ranks.
struct Observable {
  std::string name;
  std::string unit;
  Real value = 0;
};

/// A growing H5MD 1.1 file: one frame per append(), bodies sorted by id, so the values do not depend on the
/// ranks.
///
///   /h5md                          version, author, creator, modules/units (SI)
///   /particles/all/box             dimension, boundary, edges; attribute `lower`
///   /particles/all/NAME/{step,time,value[T][N][components]}   step and time: one array, hard-linked
///   /particles/all/NAME            [N][components] if constant
///   /observables/NAME/{step,time,value[T]}    and /observables/count: the number of bodies of each frame
///   /parameters                    texts, provenance
/// The number of bodies may vary: places beyond the count of a frame hold id -1, NaN or 0.
///
/// Beside the file, NAME.xdmf shows the frames to ParaView ("XDMF Reader") without copying data. It can only
/// be written whole, so complete() writes it, once: the cost of a frame does not grow with their number. Of a
/// run that goes on after a kill, resume() writes it for the frames that stay. Each frame is flushed: a run
/// that is killed leaves a readable file. All members are collective and throw RunError on all ranks if the
/// disk is full or the file cannot be written.
class H5mdWriter {
 public:
  /// Creates the file, in place of one that exists.
  H5mdWriter(const Comm& comm, const std::string& path, const H5mdHead& head, const H5mdOptions& options);
  /// Opens an existing file to go on after `step`: removes the frames after it. Throws InputError if the file
  /// is none of ours or damaged.
  static H5mdWriter resume(const Comm& comm, const std::string& path, std::int64_t step,
                           const H5mdOptions& options);

  /// Adds a frame. `ids` and columns are those of this rank's bodies, in any order; there must be a column
  /// "position", and the names are the same in every frame.
  void append(std::int64_t step, Real time, std::span<const GlobalId> ids, std::span<const Column> columns,
              std::span<const Observable> observables);

  /// Makes NAME.xdmf show all frames. Whoever ends without it leaves none, or one without the latest frames.
  void complete();

  /// Warns, once, if somebody has removed or replaced the file: its frames are lost then.
  void look_after();

  std::int64_t n_frames() const { return static_cast<std::int64_t>(content_.times.size()); }

 private:
  H5mdWriter(const Comm& comm, std::unique_ptr<hdf5::File> file, const H5mdOptions& options);
  void define(const IdOrder& order, std::span<const Column> columns, std::span<const Observable> observables);
  void define_series(const std::string& group, const std::string& unit);
  void require_same_names(std::span<const Column> columns, std::span<const Observable> observables) const;
  void require_same_bodies(const std::vector<GlobalId>& ids) const;
  template <class T>
  void write_column(H5mdColumn& column, const IdOrder& order, const std::vector<T>& sorted);
  template <class T>
  void append_to(const std::string& series, T value);
  std::string xdmf_path() const;
  void write_xdmf();

  Comm comm_;
  std::unique_ptr<hdf5::File> file_;
  H5mdOptions options_;
  H5mdContent content_;
  std::vector<GlobalId> fixed_ids_;  ///< this rank's share, if the bodies are fixed
  std::int64_t n_shown_ = -1;        ///< frames in NAME.xdmf; -1: there is none
  bool is_lost_ = false;             ///< rank 0 has warned
};

/// A unit in the words of H5MD's units module: "kg/m3" gives "kg m-3", "1/s" gives "s-1", "-" gives nothing.
std::string h5md_unit(const std::string& unit);

}  // namespace scree
