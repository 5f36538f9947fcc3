#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkXMLPPolyDataReader.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/error.hpp"
#include "io/vtk_series.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

const std::vector<double> points{0, 0, 0, 1, 0, 0, 0, 1, 0.1};
const std::vector<std::int64_t> ids{5, (std::int64_t{1} << 31) + 1, (std::int64_t{1} << 53) + 1};
const std::vector<double> velocities{1, 2, 3, 4, 5, 6, 7, 8, 9};

Geometry cloud() {
  Geometry geometry;
  geometry.points = points;
  geometry.point_columns = {{"id", "-", 1, std::span<const std::int64_t>(ids)},
                            {"velocity", "m/s", 3, std::span<const double>(velocities)}};
  return geometry;
}

vtkSmartPointer<vtkPolyData> read(const std::string& path) {
  vtkNew<vtkXMLPPolyDataReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader->GetOutput();
}

}  // namespace

TEST_CASE("vtk series: VTK reads points as vertices, ids above 2^53, 3-vectors and the time", "[io]") {
  const Scratch scratch;
  for (const bool compress : {true, false})
    for (const bool single : {true, false}) {
      VtkSeries series(Comm(), scratch / "vtk", "silo", "particles",
                       {.writers = 4, .single_precision = single, .compress = compress});
      series.write(123, 0.5, cloud());
      const auto data = read(scratch / "vtk/particles/silo_particles_000000123.pvtp");
      REQUIRE(data->GetNumberOfPoints() == 3);
      CHECK(data->GetNumberOfVerts() == 3);
      CHECK(data->GetPoint(2)[2] == (single ? static_cast<double>(0.1F) : 0.1));
      vtkDataArray* id = data->GetPointData()->GetArray("id");
      REQUIRE(id != nullptr);
      REQUIRE(id->GetDataTypeSize() == 8);
      const auto* read_ids = static_cast<const std::int64_t*>(id->GetVoidPointer(0));
      CHECK(std::vector<std::int64_t>(read_ids, read_ids + 3) == ids);
      vtkDataArray* velocity = data->GetPointData()->GetArray("velocity");
      REQUIRE(velocity->GetNumberOfComponents() == 3);
      CHECK(velocity->GetComponent(1, 2) == 6);
      CHECK(std::string(velocity->GetDataTypeAsString()) == (single ? "float" : "double"));
      REQUIRE(data->GetFieldData()->GetArray("TimeValue") != nullptr);
      CHECK(data->GetFieldData()->GetArray("TimeValue")->GetComponent(0, 0) == 0.5);
    }
  const std::string piece = content_of(scratch / "vtk/particles/silo_particles_000000123_p000.vtp");
  CHECK_THAT(piece, Catch::Contains("format=\"binary\"") && !Catch::Contains("AppendedData") &&
                        Catch::Contains("header_type=\"UInt64\""));
  CHECK_THAT(content_of(scratch / "vtk/silo_particles.pvd"),
             Catch::Contains("timestep=\"0.5\"") &&
                 Catch::Contains("file=\"particles/silo_particles_000000123.pvtp\""));
}

TEST_CASE("vtk series: a frame without points is a valid file", "[io]") {
  const Scratch scratch;
  VtkSeries series(Comm(), scratch / "vtk", "silo", "particles", {});
  Geometry empty;
  empty.point_columns = {{"id", "-", 1, std::span<const std::int64_t>()}};
  series.write(0, 0, empty);
  const auto data = read(scratch / "vtk/particles/silo_particles_000000000.pvtp");
  CHECK(data->GetNumberOfPoints() == 0);
}

TEST_CASE("vtk series: lines and triangles carry their cell data", "[io]") {
  const Scratch scratch;
  VtkSeries series(Comm(), scratch / "vtk", "silo", "contacts", {});
  const std::vector<std::int64_t> lines{0, 1, 1, 2};
  const std::vector<std::int64_t> triangles{0, 1, 2};
  const std::vector<double> force{10, 20, 30};
  Geometry geometry;
  geometry.points = points;
  geometry.lines = lines;
  geometry.triangles = triangles;
  geometry.cell_columns = {{"force_n", "N", 1, std::span<const double>(force)}};
  series.write(7, 0, geometry);
  const auto data = read(scratch / "vtk/contacts/silo_contacts_000000007.pvtp");
  CHECK(data->GetNumberOfVerts() == 0);
  REQUIRE(data->GetNumberOfLines() == 2);
  REQUIRE(data->GetNumberOfPolys() == 1);
  CHECK(data->GetCell(1)->GetPointId(1) == 2);
  CHECK(data->GetCellData()->GetArray("force_n")->GetComponent(1, 0) == 20);
  CHECK(data->GetCellData()->GetArray("force_n")->GetComponent(2, 0) == 30);
}

TEST_CASE("vtk series: after two restarts the index has each time once and later files are gone", "[io]") {
  const Scratch scratch;
  const auto run = [&](std::int64_t from, std::vector<std::int64_t> steps) {
    VtkSeries series(Comm(), scratch / "vtk", "silo", "particles", {});
    if (from >= 0) series.resume(from);
    for (const std::int64_t step : steps) series.write(step, 0.1 * static_cast<double>(step), cloud());
  };
  run(-1, {0, 10, 20, 30});
  put(scratch / "vtk/particles/other_000000099.pvtp", "not ours");
  run(10, {20, 25});
  run(20, {20, 21});
  const std::string index = content_of(scratch / "vtk/silo_particles.pvd");
  std::vector<std::string> times;
  for (std::size_t at = index.find("timestep=\""); at != std::string::npos;
       at = index.find("timestep=\"", at)) {
    at += 10;
    times.push_back(index.substr(at, index.find('"', at) - at));
  }
  CHECK(times == std::vector<std::string>{"0", "1", "2", "2.1"});
  CHECK(n_files_in(scratch / "vtk/particles") == 4 * 2 + 1);
}

TEST_CASE("vtk series: frames written in the background are the same files, listed when complete", "[io]") {
  const Scratch scratch;
  const auto piece = [&](const std::string& folder, const std::string& step) {
    return content_of(scratch / folder + "/particles/silo_particles_" + step + "_p000.vtp");
  };
  VtkSeries at_once(Comm(), scratch / "vtk", "silo", "particles", {});
  {
    Background background;
    VtkSeries series(Comm(), scratch / "beside", "silo", "particles", {.background = &background});
    for (const std::int64_t step : {3, 4}) {
      at_once.write(step, 0.5, cloud());
      CHECK_FALSE(at_once.is_unfinished());
      series.write(step, 0.5, cloud());
      CHECK(series.is_unfinished());
      const bool listed = std::filesystem::exists(scratch / "beside/silo_particles.pvd");
      CHECK(listed == (step == 4));
    }
    CHECK_THAT(content_of(scratch / "beside/silo_particles.pvd"), !Catch::Contains("000000004"));
    series.complete();
    CHECK_FALSE(series.is_unfinished());
    CHECK(series.is_ready());
  }
  for (const char* step : {"000000003", "000000004"}) CHECK(piece("vtk", step) == piece("beside", step));
  CHECK(content_of(scratch / "vtk/silo_particles.pvd") == content_of(scratch / "beside/silo_particles.pvd"));
}

TEST_CASE("vtk series: a frame that could not be written in the background stops what comes next", "[io]") {
  const Scratch scratch;
  Background background;
  VtkSeries series(Comm(), scratch / "vtk", "silo", "particles", {.background = &background});
  series.write(0, 0, cloud());
  series.complete();
  {
    const FileSizeLimit limit(500);
    series.write(1, 1, cloud());
    CHECK_THAT(message_of<RunError>([&] { series.write(2, 2, cloud()); }), Catch::Contains("bytes"));
  }
  CHECK(n_files_in(scratch / "vtk/particles") == 2);
  CHECK_THAT(content_of(scratch / "vtk/silo_particles.pvd"), !Catch::Contains("000000001"));
  series.write(3, 3, cloud());
  series.complete();
  CHECK(n_files_in(scratch / "vtk/particles") == 4);
}

TEST_CASE("vtk series: a full disk or a file in place of the folder stops with RunError", "[io]") {
  const Scratch scratch;
  put(scratch / "file", "");
  CHECK_THAT(message_of<RunError>([&] { VtkSeries(Comm(), scratch / "file", "silo", "particles", {}); }),
             Catch::Contains(scratch / "file/particles"));
  VtkSeries series(Comm(), scratch / "vtk", "silo", "particles", {});
  series.write(0, 0, cloud());
  {
    const FileSizeLimit limit(500);
    CHECK_THAT(message_of<RunError>([&] { series.write(1, 1, cloud()); }), Catch::Contains("bytes"));
  }
  CHECK(n_files_in(scratch / "vtk/particles") == 2);
}
