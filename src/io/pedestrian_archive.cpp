#include "io/pedestrian_archive.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "comm/id_order.hpp"
#include "core/error.hpp"

namespace scree {

namespace {

const std::string trajectory = "/trajectory";
/// Half a mebibyte of rows.
constexpr std::int64_t rows_per_chunk = 16384;

const hdf5::RecordLayout& layout() {
  using Type = hdf5::RecordField::Type;
  static const hdf5::RecordLayout result{{{"frame", Type::uint32, offsetof(TrajectoryRow, frame)},
                                          {"id", Type::uint32, offsetof(TrajectoryRow, id)},
                                          {"x", Type::real64, offsetof(TrajectoryRow, x)},
                                          {"y", Type::real64, offsetof(TrajectoryRow, y)},
                                          {"z", Type::real64, offsetof(TrajectoryRow, z)}},
                                         sizeof(TrajectoryRow)};
  return result;
}

const std::string level = "/level";
const hdf5::RecordLayout& layout_of_levels() {
  using Type = hdf5::RecordField::Type;
  static const hdf5::RecordLayout result{{{"level", Type::uint32, offsetof(TrajectoryRow, level)}},
                                         sizeof(TrajectoryRow)};
  return result;
}

constexpr std::int64_t max = std::numeric_limits<std::uint32_t>::max();

}  // namespace

PedestrianArchive::PedestrianArchive(const Comm& comm, std::unique_ptr<hdf5::File> file)
    : comm_(comm), file_(std::move(file)) {}

PedestrianArchive::PedestrianArchive(const Comm& comm, const std::string& path, const ArchiveHead& head)
    : PedestrianArchive(comm, std::make_unique<hdf5::File>(comm, path, hdf5::Open::overwrite)) {
  has_levels_ = head.has_levels;
  file_->create_records(trajectory, layout(), rows_per_chunk);
  if (has_levels_) file_->create_records(level, layout_of_levels(), rows_per_chunk);
  file_->set_attribute(trajectory, "fps", head.fps);
  file_->set_long_text("/", "wkt_geometry", head.geometry);
  file_->set_long_text("/", "title", head.title);
  file_->set_long_text("/", "version", head.version);
  file_->flush();
}

PedestrianArchive PedestrianArchive::resume(const Comm& comm, const std::string& path,
                                            const ArchiveHead& head, std::int64_t last) {
  PedestrianArchive archive(comm, std::make_unique<hdf5::File>(comm, path, hdf5::Open::append));
  hdf5::File& file = *archive.file_;
  if (!file.exists(trajectory) || !file.has_attribute(trajectory, "fps"))
    throw InputError(fmt::format("{} holds no trajectories of a pedestrian archive", path));
  if (file.attribute<double>(trajectory, "fps") != head.fps)
    throw InputError(
        fmt::format("{} has another number of frames per second than the run ({:g})", path, head.fps));
  // Rows are in the order of frames: the first one to remove is found by bisection.
  std::int64_t first = 0, end = file.n_records(trajectory, layout());
  while (first < end) {
    const std::int64_t middle = first + (end - first) / 2;
    TrajectoryRow record;
    file.read_records(trajectory, layout(), middle, 1, &record);
    if (record.frame <= last)
      first = middle + 1;
    else
      end = middle;
  }
  file.resize_records(trajectory, layout(), first);
  archive.has_levels_ = file.exists(level);
  if (archive.has_levels_ != head.has_levels)
    throw InputError(
        fmt::format("{} is of a building of {}", path,
                    head.has_levels ? "one level, the run of several" : "several levels, the run of one"));
  if (archive.has_levels_) file.resize_records(level, layout_of_levels(), first);
  file.flush();
  archive.n_rows_ = first;
  return archive;
}

std::int64_t PedestrianArchive::n_rows_in(const hdf5::File& file) {
  if (!file.exists(trajectory))
    throw InputError(fmt::format("{} holds no trajectories of a pedestrian archive", file.path()));
  return file.n_records(trajectory, layout());
}

bool PedestrianArchive::has_levels_in(const hdf5::File& file) {
  return file.exists(level);
}

std::vector<TrajectoryRow> PedestrianArchive::read_rows(const hdf5::File& file, std::int64_t first,
                                                        std::int64_t count) {
  std::vector<TrajectoryRow> rows(count);
  file.read_records(trajectory, layout(), first, count, rows.data());
  if (has_levels_in(file)) file.read_records(level, layout_of_levels(), first, count, rows.data());
  return rows;
}

void PedestrianArchive::append(std::int64_t frame, std::span<const GlobalId> ids,
                               std::span<const double> positions, std::span<const std::int32_t> levels) {
  share_errors(comm_, [&] {
    const auto large = std::ranges::find_if(ids, [](GlobalId id) { return id < 0 || id > max; });
    if (large != ids.end() || frame < 0 || frame > max)
      throw RunError(fmt::format("{}: frames and ids have 32 bits in this layout: {} does not fit",
                                 file_->path(), large != ids.end() ? *large : frame));
  });
  const IdOrder order(comm_, ids);
  std::vector<GlobalId> sorted_ids;
  std::vector<double> sorted_positions, sorted_levels;
  order.apply(ids, sorted_ids);
  order.apply(positions, sorted_positions, 3);
  const std::vector<double> as_numbers(levels.begin(), levels.end());
  if (has_levels_) order.apply(std::span<const double>(as_numbers), sorted_levels, 1);
  std::vector<TrajectoryRow> records(order.count());
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i] = {
        static_cast<std::uint32_t>(frame), static_cast<std::uint32_t>(sorted_ids[i]),
        sorted_positions[3 * i],           sorted_positions[3 * i + 1],
        sorted_positions[3 * i + 2],       has_levels_ ? static_cast<std::uint32_t>(sorted_levels[i]) : 0};
  if (order.n_total() == 0) return;
  file_->resize_records(trajectory, layout(), n_rows_ + order.n_total());
  file_->write_records(trajectory, layout(), n_rows_ + order.first(),
                       static_cast<std::int64_t>(records.size()), records.data());
  if (has_levels_) {
    file_->resize_records(level, layout_of_levels(), n_rows_ + order.n_total());
    file_->write_records(level, layout_of_levels(), n_rows_ + order.first(),
                         static_cast<std::int64_t>(records.size()), records.data());
  }
  n_rows_ += order.n_total();
  file_->flush();
}

}  // namespace scree
