#include "io/vtk_series.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/files.hpp"
#include "io/vtk_encoding.hpp"
#include "io/vtk_frames.hpp"

namespace scree {

using namespace vtk;

namespace {

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

}  // namespace

bool has_vtk() {
  return vtk::is_built_in;
}

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

  const auto piece = std::make_shared<SurfacePiece>();
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
         compress = options_.compress] { files::write_atomically(path, encoded(*piece, compress)); });
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
