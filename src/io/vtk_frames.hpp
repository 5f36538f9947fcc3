#pragma once
#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/parallel.hpp"
#include "io/frame.hpp"

// What the writers of series for ParaView share: who writes what, and under which names.

namespace scree::vtk {

/// The name of a type of numbers in files of VTK.
template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, double>)
    return "Float64";
  else if constexpr (std::is_same_v<T, float>)
    return "Float32";
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return "Int64";
  else {
    static_assert(std::is_same_v<T, std::int32_t>);
    return "Int32";
  }
}

/// Whether a value is stored with 32 bits.
template <class T>
constexpr bool narrowed(bool single_precision) {
  return std::is_same_v<T, double> && single_precision;
}

/// Collects the shares of a group of ranks on its writer, in rank order.
class Gather {
 public:
  explicit Gather(MPI_Comm group) : group_(group) {
    MPI_Comm_rank(group_, &rank_);
    MPI_Comm_size(group_, &size_);
  }
  bool is_writer() const { return rank_ == 0; }

  /// The values of all ranks, `width` per item; empty on the others.
  template <class T>
  std::vector<T> operator()(std::span<const T> mine, int width) const {
    if (size_ == 1) return {mine.begin(), mine.end()};
    int count = static_cast<int>(mine.size() / static_cast<std::size_t>(width));
    std::vector<int> counts(is_writer() ? size_ : 0);
    MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, group_);
    std::vector<int> starts(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
    const std::size_t n = counts.empty() ? 0 : static_cast<std::size_t>(starts.back() + counts.back());
    std::vector<T> all(n * static_cast<std::size_t>(width));
    MPI_Datatype item = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(width * static_cast<int>(sizeof(T)), MPI_BYTE, &item);
    MPI_Type_commit(&item);
    MPI_Gatherv(mine.data(), count, item, all.data(), counts.data(), starts.data(), item, 0, group_);
    MPI_Type_free(&item);
    return all;
  }

  /// Sum of `count` over the ranks of the group before this one.
  std::int64_t before(std::int64_t count) const {
    std::int64_t sum = 0;
    MPI_Exscan(&count, &sum, 1, MPI_INT64_T, MPI_SUM, group_);
    return rank_ == 0 ? 0 : sum;
  }

 private:
  MPI_Comm group_;
  int rank_ = 0;
  int size_ = 1;
};

/// Numbers as they are stored.
using Numbers = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                             std::vector<std::int32_t>>;

/// What a file keeps of an array of all ranks of a group; empty on those that do not write.
template <class T>
Numbers stored(const Gather& gather, std::span<const T> mine, int components, bool single_precision) {
  if constexpr (std::is_same_v<T, double>)
    if (single_precision) {
      const std::vector<float> narrow(mine.begin(), mine.end());
      return gather(std::span<const float>(narrow), components);
    }
  return gather(mine, components);
}

/// The lines that declare columns in a file that lists pieces.
std::string declaration(const std::vector<Column>& columns, bool single_precision);

/// The frames of one series: their file names and the index (.pvd) that ParaView opens. Frames of series S
/// lie in FOLDER/S_000000123.ENDING, which lists pieces FOLDER/S_000000123_p000.PIECE_ENDING.
class FrameIndex {
 public:
  struct Frame {
    std::int64_t step = 0;
    Real time = 0;
  };
  struct Endings {
    std::string frame;  ///< ".pvtp"
    std::string piece;  ///< ".vtp"
  };
  /// Makes the folder, and loads VTK. Throws RunError. Collective.
  FrameIndex(const Comm& comm, const std::string& directory, const std::string& folder,
             const std::string& series, const Endings& endings);

  /// "SERIES_000000123", and with the ending of a piece. Local.
  std::string frame_name(std::int64_t step) const;
  std::string piece_name(std::int64_t step, int piece) const;
  /// DIRECTORY/FOLDER/
  std::string folder() const { return directory_ + "/" + folder_ + "/"; }
  const std::vector<Frame>& frames() const { return frames_; }

  /// Keeps the frames up to `step` that the index on disk lists and removes the files of later ones.
  /// Collective.
  void resume(std::int64_t step);
  /// Lists a frame, in place of one of the same step, and writes the index. Collective.
  void add(const Frame& frame);

 private:
  std::int64_t step_in(const std::string& file) const;
  void write() const;

  Comm comm_;
  std::string directory_, folder_, series_;
  Endings endings_;
  std::vector<Frame> frames_;
};

}  // namespace scree::vtk
