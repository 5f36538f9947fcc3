#include "io/image_data.hpp"

#include <fmt/format.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkNew.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkXMLImageDataWriter.h>
#include <vtkXMLPImageDataReader.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "io/files.hpp"
#include "io/vtk_frames.hpp"

namespace scree {

using namespace vtk;

namespace {

std::string piece_text(vtkImageData* data, bool compress) {
  vtkNew<vtkXMLImageDataWriter> writer;
  writer->SetInputData(data);
  return encoded(*writer, compress);
}

}  // namespace

std::int64_t ImageGrid::first_row(const Comm& comm, int rank) const {
  return EvenShare::start(ny, rank, comm.size());
}

int ImageGrid::rank_of(const Comm& comm, std::int64_t row) const {
  return EvenShare::owner(ny, row, comm.size());
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
    const std::lock_guard lock(in_use());
    if (!std::filesystem::exists(path)) throw InputError(fmt::format("{} does not exist", path));
    vtkNew<vtkXMLPImageDataReader> reader;
    reader->SetFileName(path.c_str());
    reader->UpdateInformation();
    int whole[6] = {};
    reader->GetOutputInformation(0)->Get(vtkStreamingDemandDrivenPipeline::WHOLE_EXTENT(), whole);
    if (whole[0] != 0 || whole[1] != grid_.nx || whole[2] != 0 || whole[3] != grid_.ny)
      throw InputError(fmt::format("{} has {} x {} cells, but the run has {} x {}", path, whole[1], whole[3],
                                   grid_.nx, grid_.ny));
    const std::int64_t first = grid_.first_row(comm_), end = grid_.end_row(comm_);
    if (first == end) return;
    int extent[6] = {0, whole[1], static_cast<int>(first), static_cast<int>(end), 0, 0};
    static_cast<vtkAlgorithm*>(reader)->UpdateExtent(extent);  // the reader hides it by a member
    vtkImageData* image = reader->GetOutput();
    auto* array = vtkDoubleArray::SafeDownCast(image->GetCellData()->GetArray(column.c_str()));
    int read[6] = {};
    image->GetExtent(read);
    if (array == nullptr || array->GetNumberOfComponents() != 1 || read[2] > first || read[3] < end)
      throw InputError(fmt::format("{}: there is no complete column {} of 64-bit numbers", path, column));
    const double* start = array->GetPointer((first - read[2]) * grid_.nx);
    values.assign(start, start + (end - first) * grid_.nx);
  });
  return values;
}

void ImageSeries::write(std::int64_t step, Real time, const std::vector<Column>& columns) {
  const std::lock_guard lock(in_use());
  const Gather gather(group_.handle());
  const std::int64_t first = piece_start(group_.piece()), end = piece_start(group_.piece() + 1);
  std::vector<Numbers> kept;
  kept.reserve(columns.size());
  vtkNew<vtkImageData> data;
  data->SetOrigin(grid_.origin[0], grid_.origin[1], 0);
  data->SetSpacing(grid_.cell[0], grid_.cell[1], 1);
  data->SetExtent(0, static_cast<int>(grid_.nx), static_cast<int>(first), static_cast<int>(end), 0, 0);
  std::string declared;
  for (const Column& column : columns) {
    const bool narrow = is_narrow(column);
    std::visit(
        [&]<class T>(std::span<const T> values) {
          kept.push_back(stored(gather, values, column.components, narrow));
          data->GetCellData()->AddArray(view_of(column.name, column.components, kept.back()));
        },
        column.values);
    declared += declaration({column}, narrow);
  }
  std::vector<double> times{time};
  data->GetFieldData()->AddArray(view_of("TimeValue", 1, times));

  const std::string folder = frames_->folder();
  share_errors(comm_, [&] {
    if (gather.is_writer() && first < end)
      files::write_atomically(folder + frames_->piece_name(step, group_.piece()),
                              piece_text(data, options_.vtk.compress));
  });
  files::on_root(comm_, [&] {
    std::string pieces;
    for (int piece = 0; piece < group_.n_pieces(); ++piece)
      if (piece_start(piece) < piece_start(piece + 1))  // more ranks than rows leave some without any
        pieces += fmt::format("    <Piece Extent=\"0 {} {} {} 0 0\" Source=\"{}\"/>\n", grid_.nx,
                              piece_start(piece), piece_start(piece + 1), frames_->piece_name(step, piece));
    files::write_atomically(
        folder + frames_->frame_name(step) + ".pvti",
        fmt::format("<?xml version=\"1.0\"?>\n"
                    "<VTKFile type=\"PImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                    "header_type=\"UInt64\">\n"
                    "  <PImageData WholeExtent=\"0 {} 0 {} 0 0\" GhostLevel=\"0\" Origin=\"{} {} 0\" "
                    "Spacing=\"{} {} 1\">\n"
                    "    <PCellData>\n{}    </PCellData>\n{}  </PImageData>\n</VTKFile>\n",
                    grid_.nx, grid_.ny, grid_.origin[0], grid_.origin[1], grid_.cell[0], grid_.cell[1],
                    declared, pieces));
  });
  frames_->add({step, time});
}

}  // namespace scree
