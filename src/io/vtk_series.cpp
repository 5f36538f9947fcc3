#include "io/vtk_series.hpp"

#include <fmt/format.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkTypeFloat32Array.h>
#include <vtkTypeFloat64Array.h>
#include <vtkTypeInt32Array.h>
#include <vtkTypeInt64Array.h>
#include <vtkXMLPolyDataWriter.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <numeric>
#include <type_traits>

#include "core/error.hpp"
#include "io/files.hpp"

namespace scree {

namespace {

constexpr int n_step_digits = 9;

template <class T>
struct ArrayOf;
template <>
struct ArrayOf<double> {
  using Type = vtkTypeFloat64Array;
  static constexpr const char* name = "Float64";
};
template <>
struct ArrayOf<float> {
  using Type = vtkTypeFloat32Array;
  [[maybe_unused]] static constexpr const char* name = "Float32";
};
template <>
struct ArrayOf<std::int64_t> {
  using Type = vtkTypeInt64Array;
  static constexpr const char* name = "Int64";
};
template <>
struct ArrayOf<std::int32_t> {
  using Type = vtkTypeInt32Array;
  static constexpr const char* name = "Int32";
};

/// What a value is stored as.
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
    int count = static_cast<int>(mine.size() / static_cast<std::size_t>(width));
    std::vector<int> counts(static_cast<std::size_t>(is_writer() ? size_ : 0));
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

template <class T>
vtkSmartPointer<vtkDataArray> vtk_array(const std::string& name, int components,
                                        const std::vector<T>& values) {
  vtkNew<typename ArrayOf<T>::Type> array;
  array->SetName(name.c_str());
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(static_cast<vtkIdType>(values.size()) / components);
  std::copy(values.begin(), values.end(), array->GetPointer(0));
  return vtkSmartPointer<vtkDataArray>(array.Get());
}

template <class T>
vtkSmartPointer<vtkDataArray> stored_array(const std::string& name, int components,
                                           const std::vector<T>& values, bool single_precision) {
  if (narrowed<T>(single_precision))
    return vtk_array(name, components, std::vector<float>(values.begin(), values.end()));
  return vtk_array(name, components, values);
}

/// Cells of `corners` points each.
void set_cells(vtkCellArray* cells, const std::vector<std::int64_t>& points, int corners) {
  const auto n = static_cast<std::int64_t>(points.size()) / corners;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(n) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * corners;
  cells->SetData(vtk_array("", 1, offsets), vtk_array("", 1, points));
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
  writer->SetDataModeToBinary();
  writer->SetHeaderTypeToUInt64();
  writer->SetIdTypeToInt64();
  if (compress)
    writer->SetCompressorTypeToLZ4();
  else
    writer->SetCompressorTypeToNone();
  writer->WriteToOutputStringOn();
  if (writer->Write() == 0) throw RunError("VTK could not encode a frame");
  return writer->GetOutputString();
}

std::string declaration(const std::vector<Column>& columns, bool single_precision) {
  std::string text;
  for (const Column& column : columns)
    std::visit(
        [&]<class T>(std::span<const T>) {
          fmt::format_to(std::back_inserter(text),
                         "      <PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n",
                         narrowed<T>(single_precision) ? "Float32" : ArrayOf<T>::name, column.name,
                         column.components);
        },
        column.values);
  return text;
}

/// The step in a file name "SERIES_000000123..."; -1 if it is none of this series.
std::int64_t step_in(const std::string& file, const std::string& series) {
  if (!file.starts_with(series + "_") || file.size() < series.size() + 1 + n_step_digits) return -1;
  const char* begin = file.data() + series.size() + 1;
  const char* end = std::find_if(begin, file.data() + file.size(), [](char c) { return c < '0' || c > '9'; });
  const std::string rest(end, file.data() + file.size());
  if (end - begin < n_step_digits || !(rest == ".pvtp" || (rest.starts_with("_p") && rest.ends_with(".vtp"))))
    return -1;
  std::int64_t step = -1;
  std::from_chars(begin, end, step);
  return step;
}

/// The value of an XML attribute in a line that this file wrote.
std::string attribute_in(const std::string& line, const std::string& name) {
  const std::size_t begin = line.find(name + "=\"");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 2;
  return line.substr(value, line.find('"', value) - value);
}

}  // namespace

VtkSeries::VtkSeries(const Comm& comm, const std::string& directory, const std::string& run,
                     const std::string& name, const VtkOptions& options)
    : comm_(comm),
      directory_(directory),
      folder_(name),
      series_(run + "_" + name),
      options_(options),
      n_pieces_(std::clamp(options.writers, 1, comm.size())) {
  files::make_directory(comm_, directory_ + "/" + folder_);
  piece_ = static_cast<int>(std::int64_t{comm_.rank()} * n_pieces_ / comm_.size());
  MPI_Comm_split(comm_.handle(), piece_, comm_.rank(), &group_);
}

VtkSeries::~VtkSeries() {
  // Freeing is collective: while an exception travels, other ranks may never come here.
  if (std::uncaught_exceptions() == 0) MPI_Comm_free(&group_);
}

std::string VtkSeries::frame_name(std::int64_t step) const {
  return fmt::format("{}_{:0{}}", series_, step, n_step_digits);
}

std::string VtkSeries::piece_name(std::int64_t step, int piece) const {
  return fmt::format("{}_p{:03}.vtp", frame_name(step), piece);
}

void VtkSeries::resume(std::int64_t step) {
  const std::string index = directory_ + "/" + series_ + ".pvd";
  std::string text;
  files::on_root(comm_, [&] {
    if (std::filesystem::exists(index)) text = files::read(index);
  });
  comm_.broadcast(text);

  frames_.clear();
  for (std::size_t at = text.find("<DataSet"); at != std::string::npos; at = text.find("<DataSet", at + 1)) {
    const std::string entry = text.substr(at, text.find("/>", at) - at);
    const std::string file = std::filesystem::path(attribute_in(entry, "file")).filename().string();
    const Frame frame{step_in(file, series_), std::strtod(attribute_in(entry, "timestep").c_str(), nullptr)};
    if (frame.step >= 0 && frame.step <= step) frames_.push_back(frame);
  }
  write_index();
  files::on_root(comm_, [&] {
    std::vector<std::filesystem::path> later;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ + "/" + folder_))
      if (step_in(entry.path().filename().string(), series_) > step) later.push_back(entry.path());
    for (const std::filesystem::path& path : later) std::filesystem::remove(path);
  });
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
  data->GetFieldData()->AddArray(vtk_array("TimeValue", 1, std::vector<double>{time}));

  const std::string folder = directory_ + "/" + folder_ + "/";
  agree(comm_, [&] {
    if (gather.is_writer())
      files::write_atomically(folder + piece_name(step, piece_), piece_text(data, options_.compress));
  });
  files::on_root(comm_, [&] {
    std::string pieces;
    for (int piece = 0; piece < n_pieces_; ++piece)
      pieces += fmt::format("    <Piece Source=\"{}\"/>\n", piece_name(step, piece));
    files::write_atomically(
        folder + frame_name(step) + ".pvtp",
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
  std::erase_if(frames_, [&](const Frame& frame) { return frame.step == step; });
  frames_.push_back({step, time});
  write_index();
}

void VtkSeries::write_index() const {
  std::string entries;
  for (const Frame& frame : frames_)
    entries += fmt::format("    <DataSet timestep=\"{}\" part=\"0\" file=\"{}/{}.pvtp\"/>\n", frame.time,
                           folder_, frame_name(frame.step));
  files::on_root(comm_, [&] {
    files::write_atomically(
        directory_ + "/" + series_ + ".pvd",
        fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                    "  <Collection>\n{}  </Collection>\n</VTKFile>\n",
                    entries));
  });
}

}  // namespace scree
