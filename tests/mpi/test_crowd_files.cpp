#include <catch2/catch.hpp>
#include <limits>

#include "core/error.hpp"
#include "io/image_data.hpp"
#include "io/pedestrian_archive.hpp"
#include "support/debian_python.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

const ArchiveHead head{
    .title = "hall", .version = "0", .geometry = "POLYGON ((0 0, 4 0, 4 3, 0 3, 0 0))", .fps = 10};

/// Frame k has the persons k, k + 1, ..., dealt to the ranks in no order of theirs.
void append(PedestrianArchive& archive, const Comm& comm, std::int64_t frame, std::int64_t n) {
  std::vector<GlobalId> ids;
  std::vector<double> positions;
  for (std::int64_t i = frame + n - 1; i >= frame; --i) {
    if ((7 * i) % comm.size() != comm.rank()) continue;
    ids.push_back(i);
    positions.insert(positions.end(), {0.1 * static_cast<double>(i), static_cast<double>(frame), 2.5});
  }
  archive.append(frame, ids, positions);
}

const ImageGrid grid{.origin = {-1, 2}, .cell = {0.5, 0.25}, .nx = 4, .ny = 5};

/// Values of this rank's rows: number of the cell, and a vector.
void write(ImageSeries& series, const Comm& comm, std::int64_t step) {
  std::vector<double> number, vector;
  for (std::int64_t row = grid.first_row(comm); row < grid.end_row(comm); ++row)
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const auto cell = static_cast<double>(row * grid.nx + column);
      number.push_back(cell / 3 + static_cast<double>(step));
      vector.insert(vector.end(), {cell, -cell, 0});
    }
  series.write(step, 0.1 * static_cast<double>(step),
               {{"sum", "s", 1, std::span<const double>(number)},
                {"flux", "1/(m s)", 3, std::span<const double>(vector)}});
}

}  // namespace

TEST_CASE("pedestrian archive: rows in order of frames and ids, cut back and gone on with, read by h5py",
          "[io]") {
  const Comm world;
  const Scratch scratch;
  const std::string path = scratch / "run.trajectory.h5";
  {
    PedestrianArchive archive(world, path, head);
    for (std::int64_t frame = 0; frame < 5; ++frame) append(archive, world, frame, frame == 2 ? 0 : 7);
    CHECK(archive.n_rows() == 28);
    const std::vector<GlobalId> large{(GlobalId{1} << 32) + world.rank()};
    const std::vector<double> position{0, 0, 0};
    CHECK_THROWS_AS(archive.append(5, large, position), RunError);
  }
  {
    PedestrianArchive archive = PedestrianArchive::resume(world, path, head, 2);
    CHECK(archive.n_rows() == 14);
    for (std::int64_t frame = 3; frame < 6; ++frame) append(archive, world, frame, 2);
    CHECK(archive.n_rows() == 20);
  }
  ArchiveHead other = head;
  other.fps = 16;
  CHECK_THROWS_AS(PedestrianArchive::resume(world, path, other, 2), InputError);
  const auto status = run_python(world, SCREE_TESTS "/mpi/read_trajectory.py", {path});
  if (status != 77) CHECK(status == 0);
}

TEST_CASE("pedestrian archive: a plan of any length, a file without frames", "[io]") {
  const Comm world;
  const Scratch scratch;
  ArchiveHead large = head;
  large.geometry = std::string(200000, 'x');
  { const PedestrianArchive archive(world, scratch / "a.h5", large); }
  PedestrianArchive archive = PedestrianArchive::resume(world, scratch / "a.h5", large, 0);
  CHECK(archive.n_rows() == 0);
  hdf5::File file(Comm(MPI_COMM_SELF), scratch / "a.h5", hdf5::Open::read);
  CHECK(file.text_attribute("/", "wkt_geometry") == large.geometry);
}

TEST_CASE("images: rows of any number of ranks are read by any other", "[io]") {
  const Comm world;
  const Scratch scratch;
  for (const int writers : {1, 2, 9}) {
    CAPTURE(writers);
    const ImageSeries::Options options{.vtk = {.writers = writers}, .exact = {"sum"}};
    const std::string folder = scratch / ("vtk" + std::to_string(writers));
    {
      ImageSeries series(world, folder, "run", "fields", grid, options);
      for (std::int64_t step : {0, 10, 20}) write(series, world, step);
    }
    ImageSeries series(world, folder, "run", "fields", grid, options);
    series.resume(15);
    REQUIRE(series.has_frames());
    CHECK(series.last_time() == 0.1 * 10);
    CHECK_FALSE(std::filesystem::exists(folder + "/fields/run_fields_000000020.pvti"));
    const std::vector<Real> mine = series.read_last("sum");
    const std::size_t first = grid.first_row(world) * grid.nx;
    REQUIRE(mine.size() == static_cast<std::size_t>((grid.end_row(world) - grid.first_row(world)) * grid.nx));
    for (std::size_t i = 0; i < mine.size(); ++i) CHECK(mine[i] == static_cast<double>(first + i) / 3 + 10);
    CHECK_THROWS_AS(series.read_last("flux"), InputError);

    // Whole on one rank, as one file would be.
    const Comm self(MPI_COMM_SELF);
    if (world.is_root()) {
      ImageSeries alone(self, folder, "run", "fields", grid, options);
      alone.resume(15);
      const std::vector<Real> all = alone.read_last("sum");
      REQUIRE(all.size() == 20);
      CHECK(all[19] == 19.0 / 3 + 10);
    }
    world.barrier();
    ImageGrid other = grid;
    other.nx = 3;
    ImageSeries foreign(world, folder, "run", "fields", other, options);
    foreign.resume(15);
    CHECK_THROWS_AS(foreign.read_last("sum"), InputError);
  }
  CHECK(content_of(scratch / "vtk1/run_fields.pvd").find("timestep=\"1\"") != std::string::npos);
}
