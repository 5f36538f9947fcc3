// Fields on a grid as ParaView reads them, and as the run reads its own last frame.
#include "io/image_data.hpp"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkXMLPImageDataReader.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

const ImageGrid plan{{-1, 2}, {0.5, 0.25}, 3, 2};

/// Values that 32 bits cannot hold.
std::vector<double> tenths(double first) {
  std::vector<double> values;
  for (int k = 0; k < 6; ++k) values.push_back(first + 0.1 * k);
  return values;
}

struct Series : ImageSeries {
  explicit Series(const Scratch& scratch, const ImageGrid& on = plan)
      : ImageSeries(Comm(), scratch / "vtk", "hall", "fields", on,
                    {.vtk = {.writers = 2}, .exact = {"sum"}}) {}
  void add(std::int64_t step, double first) {
    const std::vector<double> sum = tenths(first), flux(12, first);
    write(step, 0.5 * static_cast<double>(step),
          {{"sum", "-", 1, std::span<const double>(sum)},
           {"density", "1/m2", 1, std::span<const double>(sum)},
           {"flux", "1/m/s", 2, std::span<const double>(flux)}});
  }
};

}  // namespace

TEST_CASE("image data: cells have centres, and one rank holds all rows", "[io]") {
  const Comm alone(MPI_COMM_SELF);
  CHECK(plan.centre(0, 0) == std::array<Real, 2>{-0.75, 2.125});
  CHECK(plan.centre(2, 1) == std::array<Real, 2>{0.25, 2.375});
  CHECK(plan.first_row(alone) == 0);
  CHECK(plan.end_row(alone) == 2);
  CHECK(plan.rank_of(alone, 1) == 0);
}

TEST_CASE("image data: VTK reads values, place and time; exact columns keep 64 bits", "[io]") {
  const Scratch scratch;
  Series(scratch).add(3, 1);
  vtkNew<vtkXMLPImageDataReader> reader;
  reader->SetFileName((scratch / "vtk/fields/hall_fields_000000003.pvti").c_str());
  reader->Update();
  vtkImageData* image = reader->GetOutput();
  REQUIRE(image->GetNumberOfCells() == 6);
  CHECK(image->GetOrigin()[0] == -1);
  CHECK(image->GetSpacing()[1] == 0.25);
  CHECK(image->GetFieldData()->GetArray("TimeValue")->GetComponent(0, 0) == 1.5);
  const auto value = [&](const char* name, int cell, int component = 0) {
    vtkDataArray* array = image->GetCellData()->GetArray(name);
    REQUIRE(array != nullptr);
    return array->GetComponent(cell, component);
  };
  const std::vector<double> expected = tenths(1);
  for (int cell = 0; cell < 6; ++cell) {
    const double exact = expected[cell];
    CHECK(value("sum", cell) == exact);
    CHECK(value("density", cell) == static_cast<double>(static_cast<float>(exact)));
    CHECK(value("flux", cell, 1) == 1);
  }
}

TEST_CASE("image data: the last frame is read again, later ones are taken back", "[io]") {
  const Scratch scratch;
  {
    Series series(scratch);
    CHECK_FALSE(series.has_frames());
    series.add(0, 1);
    series.add(4, 2);
    series.add(8, 3);
    CHECK(series.last_time() == 4);
    CHECK(series.read_last("sum") == tenths(3));
  }
  Series series(scratch);
  series.resume(4);
  REQUIRE(series.has_frames());
  CHECK(series.last_time() == 2);
  CHECK(series.read_last("sum") == tenths(2));
  CHECK_FALSE(std::filesystem::exists(scratch / "vtk/fields/hall_fields_000000008.pvti"));
  CHECK_THAT(content_of(scratch / "vtk/hall_fields.pvd"), !Catch::Contains("000000008"));
  series.add(4, 5);
  CHECK(series.read_last("sum") == tenths(5));
}

TEST_CASE("image data: a frame of another grid, or without the exact column, is refused", "[io]") {
  const Scratch scratch;
  Series(scratch).add(1, 1);
  Series same(scratch);
  same.resume(1);
  CHECK_THROWS_WITH(same.read_last("density"),
                    Catch::Contains("no complete column density of 64-bit numbers"));
  CHECK_THROWS_AS(same.read_last("flux"), InputError);
  ImageGrid wider = plan;
  wider.nx = 4;
  Series other(scratch, wider);
  other.resume(1);
  CHECK_THROWS_WITH(other.read_last("sum"), Catch::Contains("has 3 x 2 cells, but the run has 4 x 2"));
}
