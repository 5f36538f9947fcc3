#include "io/vtk_series.hpp"

#include <fmt/format.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkXMLPolyDataWriter.h>

#include <algorithm>
#include <exception>
#include <numeric>

#include "core/error.hpp"
#include "io/files.hpp"
#include "io/vtk_frames.hpp"

namespace scree {

using namespace vtk;

namespace {

/// Cells of `corners` points each.
void set_cells(vtkCellArray* cells, const std::vector<std::int64_t>& points, int corners) {
  const auto n = static_cast<std::int64_t>(points.size()) / corners;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(n) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * corners;
  cells->SetData(array_of("", 1, offsets), array_of("", 1, points));
}

/// Columns of lines and then of triangles; each part is gathered by itself, since VTK wants all lines first.
template <class T>
std::vector<T> gathered_cells(const Gather& gather, std::span<const T> values, int components,
                              std::size_t n_lines) {
  const std::size_t split = n_lines * static_cast<std::size_t>(components);
  std::vector<T> all = gather(values.subspan(0, split), components);
  const std::vector<T> of_triangles = gather(values.subspan(split), components);
  all.insert(all.end(), of_triangles.begin(), of_triangles.end());
  return all;
}

std::vector<std::int64_t> shifted(std::span<const std::int64_t> points, std::int64_t by) {
  std::vector<std::int64_t> result(points.begin(), points.end());
  for (std::int64_t& point : result) point += by;
  return result;
}

std::string piece_text(vtkPolyData* data, bool compress) {
  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  writer->SetIdTypeToInt64();
  return vtk::encoded(*writer, compress);
}

}  // namespace

VtkSeries::VtkSeries(const Comm& comm, const std::string& directory, const std::string& run,
                     const std::string& name, const VtkOptions& options)
    : comm_(comm),
      options_(options),
      n_pieces_(std::clamp(options.writers, 1, comm.size())),
      frames_(std::make_unique<vtk::FrameIndex>(comm, directory, name, run + "_" + name,
                                                vtk::FrameIndex::Endings{".pvtp", ".vtp"})) {
  piece_ = static_cast<int>(std::int64_t{comm_.rank()} * n_pieces_ / comm_.size());
  MPI_Comm_split(comm_.handle(), piece_, comm_.rank(), &group_);
}

VtkSeries::~VtkSeries() {
  // Freeing is collective: while an exception travels, other ranks may never come here.
  if (std::uncaught_exceptions() == 0) MPI_Comm_free(&group_);
}

void VtkSeries::resume(std::int64_t step) {
  frames_->resume(step);
}

void VtkSeries::write(std::int64_t step, Real time, const Geometry& geometry) {
  const Gather gather(group_);
  const bool narrow = options_.single_precision;
  const auto n_points = static_cast<std::int64_t>(geometry.points.size() / 3);
  const std::size_t n_lines = geometry.lines.size() / 2;
  const std::int64_t shift = gather.before(n_points);

  vtkNew<vtkPolyData> data;
  const std::vector<double> coordinates = gather(geometry.points, 3);
  vtkNew<vtkPoints> points;
  points->SetData(stored_array("position", 3, coordinates, narrow));
  data->SetPoints(points);

  if (geometry.vertices && geometry.cell_columns.empty()) {
    std::vector<std::int64_t> own(coordinates.size() / 3);
    std::iota(own.begin(), own.end(), std::int64_t{0});
    vtkNew<vtkCellArray> cells;
    set_cells(cells, own, 1);
    data->SetVerts(cells);
  }
  vtkNew<vtkCellArray> lines;
  set_cells(lines, gather(std::span<const std::int64_t>(shifted(geometry.lines, shift)), 2), 2);
  data->SetLines(lines);
  vtkNew<vtkCellArray> triangles;
  set_cells(triangles, gather(std::span<const std::int64_t>(shifted(geometry.triangles, shift)), 3), 3);
  data->SetPolys(triangles);

  for (const Column& column : geometry.point_columns)
    std::visit(
        [&]<class T>(std::span<const T> values) {
          data->GetPointData()->AddArray(
              stored_array(column.name, column.components, gather(values, column.components), narrow));
        },
        column.values);
  for (const Column& column : geometry.cell_columns)
    std::visit(
        [&]<class T>(std::span<const T> values) {
          data->GetCellData()->AddArray(
              stored_array(column.name, column.components,
                           gathered_cells(gather, values, column.components, n_lines), narrow));
        },
        column.values);
  data->GetFieldData()->AddArray(array_of("TimeValue", 1, std::vector<double>{time}));

  const std::string folder = frames_->folder();
  agree(comm_, [&] {
    if (gather.is_writer())
      files::write_atomically(folder + frames_->piece_name(step, piece_),
                              piece_text(data, options_.compress));
  });
  files::on_root(comm_, [&] {
    std::string pieces;
    for (int piece = 0; piece < n_pieces_; ++piece)
      pieces += fmt::format("    <Piece Source=\"{}\"/>\n", frames_->piece_name(step, piece));
    files::write_atomically(
        folder + frames_->frame_name(step) + ".pvtp",
        fmt::format(
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"PPolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n"
            "  <PPolyData GhostLevel=\"0\">\n"
            "    <PPointData>\n{}    </PPointData>\n"
            "    <PCellData>\n{}    </PCellData>\n"
            "    <PPoints>\n      <PDataArray type=\"{}\" Name=\"position\" NumberOfComponents=\"3\"/>\n"
            "    </PPoints>\n{}  </PPolyData>\n</VTKFile>\n",
            declaration(geometry.point_columns, narrow), declaration(geometry.cell_columns, narrow),
            narrow ? "Float32" : "Float64", pieces));
  });
  frames_->add({step, time});
}

}  // namespace scree
