#include "io/image_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/files.hpp"
#include "io/vtk_encoding.hpp"
#include "io/vtk_frames.hpp"

namespace scree {

using namespace vtk;

std::int64_t ImageGrid::first_row(const Comm& comm, int rank) const {
  return EvenShare::start(n_rows(), rank, comm.size());
}

int ImageGrid::rank_of(const Comm& comm, std::int64_t row) const {
  return EvenShare::owner(n_rows(), row, comm.size());
}

ImageSeries::ImageSeries(const Comm& comm, const std::string& directory, const std::string& run,
                         const std::string& name, const ImageGrid& grid, const Options& options)
    : comm_(comm),
      grid_(grid),
      options_(options),
      group_(comm, options.vtk.writers),
      frames_(std::make_unique<FrameIndex>(comm, directory, name, run + "_" + name,
                                           FrameIndex::Endings{".pvti", ".vti"})) {}

ImageSeries::~ImageSeries() = default;

std::int64_t ImageSeries::piece_start(int piece) const {
  return grid_.first_row(comm_, group_.first_rank(piece));
}

bool ImageSeries::is_narrow(const Column& column) const {
  return options_.vtk.single_precision &&
         std::ranges::find(options_.exact, column.name) == options_.exact.end();
}

void ImageSeries::resume(std::int64_t step) {
  frames_->resume(step);
}

bool ImageSeries::has_frames() const {
  return !frames_->frames().empty();
}

Real ImageSeries::last_time() const {
  return frames_->frames().back().time;
}

std::vector<Real> ImageSeries::read_last(const std::string& column) const {
  const std::string path = frames_->folder() + frames_->frame_name(frames_->frames().back().step) + ".pvti";
  std::vector<Real> values;
  share_errors(comm_, [&] {
    if (!std::filesystem::exists(path)) throw InputError(fmt::format("{} does not exist", path));
    values = image_rows(path, column,
                        {.n_columns = grid_.nx,
                         .n_rows = grid_.ny,
                         .first = grid_.first_row(comm_),
                         .end = grid_.end_row(comm_)});
  });
  return values;
}

void ImageSeries::write(std::int64_t step, Real time, const std::vector<Column>& columns) {
  const Gather gather(group_.handle());
  ImagePiece piece{.time = time,
                   .origin = grid_.origin,
                   .cell = grid_.cell,
                   .n_columns = grid_.nx,
                   .n_lines = grid_.in_space() ? grid_.ny : 0,
                   .first = piece_start(group_.piece()),
                   .end = piece_start(group_.piece() + 1)};
  piece.columns.reserve(columns.size());
  std::string declared;
  for (const Column& column : columns) {
    const bool narrow = is_narrow(column);
    std::visit(
        [&](const auto& values) {
          piece.columns.push_back(
              {column.name, column.components, stored(gather, values, column.components, narrow)});
        },
        column.values);
    declared += declaration({column}, narrow);
  }

  const std::string folder = frames_->folder();
  share_errors(comm_, [&] {
    if (gather.is_writer() && piece.first < piece.end)
      files::write_atomically(folder + frames_->piece_name(step, group_.piece()),
                              encoded(piece, options_.vtk.compress));
  });
  const auto extent = [&](std::int64_t first, std::int64_t end) {
    return grid_.in_space() ? fmt::format("0 {} 0 {} {} {}", grid_.nx, grid_.ny, first, end)
                            : fmt::format("0 {} {} {} 0 0", grid_.nx, first, end);
  };
  files::on_root(comm_, [&] {
    std::string pieces;
    for (int p = 0; p < group_.n_pieces(); ++p)
      if (piece_start(p) < piece_start(p + 1))  // more ranks than rows leave some without any
        pieces += fmt::format("    <Piece Extent=\"{}\" Source=\"{}\"/>\n",
                              extent(piece_start(p), piece_start(p + 1)), frames_->piece_name(step, p));
    files::write_atomically(
        folder + frames_->frame_name(step) + ".pvti",
        fmt::format("<?xml version=\"1.0\"?>\n"
                    "<VTKFile type=\"PImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                    "header_type=\"UInt64\">\n"
                    "  <PImageData WholeExtent=\"{}\" GhostLevel=\"0\" Origin=\"{} {} {}\" "
                    "Spacing=\"{} {} {}\">\n"
                    "    <PCellData>\n{}    </PCellData>\n{}  </PImageData>\n</VTKFile>\n",
                    extent(0, grid_.n_rows()), grid_.origin[0], grid_.origin[1], grid_.origin[2],
                    grid_.cell[0], grid_.cell[1], grid_.in_space() ? grid_.cell[2] : 1, declared, pieces));
  });
  frames_->add({step, time});
}

}  // namespace scree
