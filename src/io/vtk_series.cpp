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
#include <memory>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "io/files.hpp"
#include "io/vtk_frames.hpp"

namespace scree {

using namespace vtk;

namespace {

struct StoredColumn {
  std::string name;
  int components;
  Numbers numbers;
};

/// What one file holds, without VTK: gathered by the rank, encoded by whichever thread.
struct Piece {
  Real time = 0;
  bool vertices = false;
  Numbers points;
  std::vector<std::int64_t> lines, triangles;
  std::vector<StoredColumn> point_columns, cell_columns;
};

/// The arrays that cells of `corners` points each are made of.
struct Cells {
  Cells(std::vector<std::int64_t>& points, int corners)
      : offsets(points.size() / static_cast<std::size_t>(corners) + 1) {
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * corners;
    cells->SetData(view_of("", 1, offsets), view_of("", 1, points));
  }
  std::vector<std::int64_t> offsets;
  vtkNew<vtkCellArray> cells;
};

/// Columns of lines and then of triangles; each part is gathered by itself, since VTK wants all lines first.
template <class T>
Numbers stored_cells(const Gather& gather, std::span<const T> values, int components, std::size_t n_lines,
                     bool narrow) {
  const std::size_t split = n_lines * static_cast<std::size_t>(components);
  Numbers all = stored(gather, values.subspan(0, split), components, narrow);
  const Numbers of_triangles = stored(gather, values.subspan(split), components, narrow);
  std::visit(
      [&]<class List>(List& list) {
        const List& more = std::get<List>(of_triangles);
        list.insert(list.end(), more.begin(), more.end());
      },
      all);
  return all;
}

std::vector<std::int64_t> shifted(std::span<const std::int64_t> points, std::int64_t by) {
  std::vector<std::int64_t> result(points.begin(), points.end());
  for (std::int64_t& point : result) point += by;
  return result;
}

std::string encoded_piece(Piece& piece, bool compress) {
  const std::lock_guard lock(in_use());
  vtkNew<vtkPolyData> data;
  vtkNew<vtkPoints> points;
  points->SetData(view_of("position", 3, piece.points));
  data->SetPoints(points);
  std::vector<std::int64_t> own(piece.vertices ? static_cast<std::size_t>(points->GetNumberOfPoints()) : 0);
  std::iota(own.begin(), own.end(), std::int64_t{0});
  const Cells vertices(own, 1), lines(piece.lines, 2), triangles(piece.triangles, 3);
  if (piece.vertices) data->SetVerts(vertices.cells);
  data->SetLines(lines.cells);
  data->SetPolys(triangles.cells);
  for (auto& [name, components, numbers] : piece.point_columns)
    data->GetPointData()->AddArray(view_of(name, components, numbers));
  for (auto& [name, components, numbers] : piece.cell_columns)
    data->GetCellData()->AddArray(view_of(name, components, numbers));
  std::vector<double> times{piece.time};
  data->GetFieldData()->AddArray(view_of("TimeValue", 1, times));

  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  writer->SetIdTypeToInt64();
  return encoded(*writer, compress);
}

}  // namespace

VtkSeries::VtkSeries(const Comm& comm, const std::string& directory, const std::string& run,
                     const std::string& name, const VtkOptions& options)
    : comm_(comm),
      options_(options),
      group_(comm, options.writers),
      frames_(std::make_unique<vtk::FrameIndex>(comm, directory, name, run + "_" + name,
                                                vtk::FrameIndex::Endings{".pvtp", ".vtp"})) {}

VtkSeries::~VtkSeries() = default;

void VtkSeries::resume(std::int64_t step) {
  frames_->resume(step);
}

void VtkSeries::write(std::int64_t step, Real time, const Geometry& geometry) {
  complete();
  const Gather gather(group_.handle());
  const bool narrow = options_.single_precision;
  const auto n_points = static_cast<std::int64_t>(geometry.points.size() / 3);
  const std::size_t n_lines = geometry.lines.size() / 2;
  const std::int64_t shift = gather.before(n_points);

  const auto piece = std::make_shared<Piece>();
  piece->time = time;
  piece->vertices = geometry.vertices && geometry.cell_columns.empty();
  piece->points = stored(gather, geometry.points, 3, narrow);
  piece->lines = gather(std::span<const std::int64_t>(shifted(geometry.lines, shift)), 2);
  piece->triangles = gather(std::span<const std::int64_t>(shifted(geometry.triangles, shift)), 3);
  for (const Column& column : geometry.point_columns)
    std::visit(
        [&](const auto& values) {
          piece->point_columns.push_back(
              {column.name, column.components, stored(gather, values, column.components, narrow)});
        },
        column.values);
  for (const Column& column : geometry.cell_columns)
    std::visit(
        [&](const auto& values) {
          piece->cell_columns.push_back({column.name, column.components,
                                         stored_cells(gather, values, column.components, n_lines, narrow)});
        },
        column.values);

  if (gather.is_writer())
    written_ = start_work(
        options_.background,
        [piece, path = frames_->folder() + frames_->piece_name(step, group_.piece()),
         compress = options_.compress] { files::write_atomically(path, encoded_piece(*piece, compress)); });
  unfinished_ = Unfinished{step, time, ""};
  if (comm_.is_root()) {
    std::string pieces;
    for (int i = 0; i < group_.n_pieces(); ++i)
      pieces += fmt::format("    <Piece Source=\"{}\"/>\n", frames_->piece_name(step, i));
    unfinished_->list = fmt::format(
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"PPolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n"
        "  <PPolyData GhostLevel=\"0\">\n"
        "    <PPointData>\n{}    </PPointData>\n"
        "    <PCellData>\n{}    </PCellData>\n"
        "    <PPoints>\n      <PDataArray type=\"{}\" Name=\"position\" NumberOfComponents=\"3\"/>\n"
        "    </PPoints>\n{}  </PPolyData>\n</VTKFile>\n",
        declaration(geometry.point_columns, narrow), declaration(geometry.cell_columns, narrow),
        narrow ? "Float32" : "Float64", pieces);
  }
  if (!options_.background) complete();
}

void VtkSeries::complete() {
  if (!unfinished_) return;
  const Unfinished frame = *std::exchange(unfinished_, std::nullopt);
  share_errors(comm_, [&] {
    if (written_.valid()) written_.get();
  });
  files::on_root(comm_, [&] {
    files::write_atomically(frames_->folder() + frames_->frame_name(frame.step) + ".pvtp", frame.list);
  });
  frames_->add({frame.step, frame.time});
}

}  // namespace scree
