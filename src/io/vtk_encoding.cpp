#include "io/vtk_encoding.hpp"

#include <fmt/format.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkTypeFloat32Array.h>
#include <vtkTypeFloat64Array.h>
#include <vtkTypeInt32Array.h>
#include <vtkTypeInt64Array.h>
#include <vtkXMLImageDataWriter.h>
#include <vtkXMLPImageDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <mutex>
#include <numeric>

#include "core/error.hpp"

namespace scree::vtk {

namespace {

/// Held by whoever calls VTK: frames are encoded by a thread of their own (io/background.hpp).
std::mutex in_use;

template <class T>
struct ArrayOf;
template <>
struct ArrayOf<double> {
  using Type = vtkTypeFloat64Array;
};
template <>
struct ArrayOf<float> {
  using Type = vtkTypeFloat32Array;
};
template <>
struct ArrayOf<std::int64_t> {
  using Type = vtkTypeInt64Array;
};
template <>
struct ArrayOf<std::int32_t> {
  using Type = vtkTypeInt32Array;
};

/// A view for VTK of numbers that outlive it.
template <class T>
vtkSmartPointer<vtkDataArray> view_of(const std::string& name, int components, std::vector<T>& values) {
  vtkNew<typename ArrayOf<T>::Type> array;
  array->SetName(name.c_str());
  array->SetNumberOfComponents(components);
  constexpr int kept_by_caller = 1;
  using Value = typename ArrayOf<T>::Type::ValueType;  // another name of the same 64-bit integer, say
  static_assert(sizeof(Value) == sizeof(T) && std::is_integral_v<Value> == std::is_integral_v<T>);
  array->SetArray(reinterpret_cast<Value*>(values.data()), static_cast<vtkIdType>(values.size()),
                  kept_by_caller);
  return vtkSmartPointer<vtkDataArray>(array.Get());
}
vtkSmartPointer<vtkDataArray> view_of(const std::string& name, int components, Numbers& numbers) {
  return std::visit([&](auto& values) { return view_of(name, components, values); }, numbers);
}

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

/// The text that `writer` makes of `data` at a time.
template <class Writer, class Data>
std::string text_of(Data* data, Real time, bool compress) {
  std::vector<double> times{time};
  data->GetFieldData()->AddArray(view_of("TimeValue", 1, times));
  vtkNew<Writer> writer;
  writer->SetInputData(data);
  writer->SetIdTypeToInt64();
  writer->SetDataModeToBinary();
  writer->SetHeaderTypeToUInt64();
  if (compress)
    writer->SetCompressorTypeToLZ4();
  else
    writer->SetCompressorTypeToNone();
  writer->WriteToOutputStringOn();
  if (writer->Write() == 0) throw RunError("VTK could not encode a frame");
  return writer->GetOutputString();
}

std::string encoded_surface(SurfacePiece& piece, bool compress) {
  const std::lock_guard lock(in_use);
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
  return text_of<vtkXMLPolyDataWriter>(data.Get(), piece.time, compress);
}

std::string encoded_image(ImagePiece& piece, bool compress) {
  const std::lock_guard lock(in_use);
  vtkNew<vtkImageData> data;
  const auto columns = static_cast<int>(piece.n_columns), lines = static_cast<int>(piece.n_lines);
  const auto first = static_cast<int>(piece.first), end = static_cast<int>(piece.end);
  const bool in_space = lines > 0;
  data->SetOrigin(piece.origin[0], piece.origin[1], piece.origin[2]);
  data->SetSpacing(piece.cell[0], piece.cell[1], in_space ? piece.cell[2] : 1);
  if (in_space)
    data->SetExtent(0, columns, 0, lines, first, end);
  else
    data->SetExtent(0, columns, first, end, 0, 0);
  for (auto& [name, components, numbers] : piece.columns)
    data->GetCellData()->AddArray(view_of(name, components, numbers));
  return text_of<vtkXMLImageDataWriter>(data.Get(), piece.time, compress);
}

std::vector<Real> rows_of_image(const std::string& path, const std::string& column, const ImageRows& rows) {
  const std::lock_guard lock(in_use);
  vtkNew<vtkXMLPImageDataReader> reader;
  reader->SetFileName(path.c_str());
  reader->UpdateInformation();
  int whole[6] = {};
  reader->GetOutputInformation(0)->Get(vtkStreamingDemandDrivenPipeline::WHOLE_EXTENT(), whole);
  if (whole[0] != 0 || whole[1] != rows.n_columns || whole[2] != 0 || whole[3] != rows.n_rows)
    throw InputError(fmt::format("{} has {} x {} cells, but the run has {} x {}", path, whole[1], whole[3],
                                 rows.n_columns, rows.n_rows));
  if (rows.first == rows.end) return {};
  int extent[6] = {0, whole[1], static_cast<int>(rows.first), static_cast<int>(rows.end), 0, 0};
  static_cast<vtkAlgorithm*>(reader)->UpdateExtent(extent);  // the reader hides it by a member
  vtkImageData* image = reader->GetOutput();
  auto* array = vtkDoubleArray::SafeDownCast(image->GetCellData()->GetArray(column.c_str()));
  int read[6] = {};
  image->GetExtent(read);
  if (array == nullptr || array->GetNumberOfComponents() != 1 || read[2] > rows.first || read[3] < rows.end)
    throw InputError(fmt::format("{}: there is no complete column {} of 64-bit numbers", path, column));
  const double* start = array->GetPointer((rows.first - read[2]) * rows.n_columns);
  return {start, start + (rows.end - rows.first) * rows.n_columns};
}

}  // namespace

}  // namespace scree::vtk

extern "C" {
extern const scree::vtk::Functions scree_vtk_functions;
const scree::vtk::Functions scree_vtk_functions{scree::vtk::encoded_surface, scree::vtk::encoded_image,
                                                scree::vtk::rows_of_image};
}
