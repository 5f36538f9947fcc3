#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkXMLPPolyDataReader.h>

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "io/array_file.hpp"
#include "io/compare.hpp"
#include "io/describe_file.hpp"
#include "io/h5md.hpp"
#include "io/table.hpp"
#include "io/vtk_series.hpp"
#include "support/debian_python.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

constexpr GlobalId first_id = (GlobalId{1} << 53) + 1;

/// The bodies i with i % stride == rank of n: ids above 2^53, x = i / 8. Ranks from `stride` on have none.
struct Share {
  Share(const Comm& comm, std::int64_t n, int stride) {
    for (std::int64_t i = n - 1; i >= 0; --i) {
      if (i % stride != comm.rank()) continue;
      ids.push_back(first_id + 2 * i);
      const auto x = static_cast<double>(i);
      positions.insert(positions.end(), {x / 8, -x, 0.1 * x});
      velocities.insert(velocities.end(), {x, 1, 2});
    }
  }
  std::vector<Column> columns() const {
    return {{"position", "m", 3, std::span<const double>(positions)},
            {"velocity", "m/s", 3, std::span<const double>(velocities)}};
  }
  std::vector<GlobalId> ids;
  std::vector<double> positions, velocities;
};

H5mdHead head() {
  H5mdHead result;
  result.lower = {-10, 0, 0};
  result.upper = {10, 1, 1};
  result.periodic = {true, false, false};
  result.texts = {{"deck", "[simulation]\n"}};
  return result;
}

void write_checkpoint(const Comm& comm, const std::string& path, std::int64_t n, int stride) {
  const Share share(comm, n, stride);
  const IdOrder order(comm, share.ids);
  ArrayFileWriter writer(comm, path, "checkpoint", 1);
  writer.array({"id", "-", 1, std::span<const std::int64_t>(share.ids)}, order);
  for (const Column& column : share.columns()) writer.array(column, order);
  writer.number("time", 1.0);
  writer.provenance("deck", "[simulation]\n");
  writer.commit();
}

void write_h5md(const Comm& comm, const std::string& path, std::int64_t n, int stride,
                const H5mdOptions& options = {}) {
  H5mdWriter writer(comm, path, head(), options);
  for (std::int64_t frame = 0; frame < 3; ++frame) {
    const Share share(comm, n - 2 + frame, stride);
    const std::vector<Observable> observables{{"energy", "J", 0.1 * static_cast<double>(frame)}};
    writer.append(10 * frame, 0.5 * static_cast<double>(frame), share.ids, share.columns(), observables);
  }
  writer.complete();
}

void write_vtk(const Comm& comm, const std::string& folder, std::int64_t n, int stride, int writers) {
  const Share share(comm, n, stride);
  const IdOrder order(comm, share.ids);
  std::vector<GlobalId> ids;
  std::vector<double> positions, velocities;
  order.apply(std::span<const GlobalId>(share.ids), ids);
  order.apply(std::span<const double>(share.positions), positions, 3);
  order.apply(std::span<const double>(share.velocities), velocities, 3);
  Geometry geometry;
  geometry.points = positions;
  geometry.point_columns = {{"id", "-", 1, std::span<const std::int64_t>(ids)},
                            {"velocity", "m/s", 3, std::span<const double>(velocities)}};
  VtkSeries series(comm, folder, "run", "particles", {.writers = writers, .single_precision = false});
  series.write(5, 0.5, geometry);
}

/// A communicator of the first `size` ranks; the others get one of their own, without a job.
class FirstRanks {
 public:
  explicit FirstRanks(int size) {
    const Comm world;
    member_ = world.rank() < size;
    MPI_Comm_split(world.handle(), member_ ? 0 : 1, world.rank(), &handle_);
  }
  ~FirstRanks() { MPI_Comm_free(&handle_); }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;
  bool member() const { return member_; }
  Comm comm() const { return Comm(handle_); }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
  bool member_ = false;
};

}  // namespace

TEST_CASE("io: checkpoint, H5MD and VTK files have the same bytes for 1 to n ranks and with empty ranks",
          "[io]") {
  const Comm world;
  const Scratch scratch;
  constexpr std::int64_t n = 101;
  const std::vector<std::string> names{"c.scree",
                                       "run.h5",
                                       "run.xdmf",
                                       "vtk/run_particles.pvd",
                                       "vtk/particles/run_particles_000000005_p000.vtp",
                                       "vtk/particles/run_particles_000000005.pvtp"};
  std::vector<std::string> expected;
  for (int size = 1; size <= world.size(); ++size)
    for (int stride = 1; stride <= size; ++stride) {
      const std::string folder = scratch / (std::to_string(size) + "_" + std::to_string(stride));
      const FirstRanks ranks(size);
      if (ranks.member()) {
        files::make_directory(ranks.comm(), folder);
        write_checkpoint(ranks.comm(), folder + "/c.scree", n, stride);
        write_h5md(ranks.comm(), folder + "/run.h5", n, stride);
        write_vtk(ranks.comm(), folder + "/vtk", n, stride, 1);
      }
      world.barrier();
      for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string content = content_of(folder + "/" + names[i]);
        if (size == 1) expected.push_back(content);
        INFO(names[i] << " from " << size << " ranks, bodies on " << stride);
        CHECK(content.size() > 100);
        CHECK((content == expected[i]));
      }
    }
}

TEST_CASE("io: a checkpoint gives each rank its verified share, or any range", "[io]") {
  const Comm comm;
  const Scratch scratch;
  constexpr std::int64_t n = 101;
  write_checkpoint(comm, scratch / "c.scree", n, comm.size());
  const ArrayFileReader reader(comm, scratch / "c.scree", "checkpoint", 1);
  std::vector<GlobalId> ids;
  reader.share("id", ids);
  const EvenShare share(comm, n);
  REQUIRE(ids.size() == share.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    CHECK(ids[i] == first_id + 2 * (share.first + static_cast<std::int64_t>(i)));
  // Everything on the last rank.
  const bool last = comm.rank() == comm.size() - 1;
  std::vector<double> positions;
  reader.array("position", 0, last ? n : 0, positions);
  REQUIRE(positions.size() == (last ? 3 * n : 0));
  if (last) CHECK(positions[3 * 100] == 12.5);
  // The same row on all ranks: nothing to verify, but allowed.
  reader.array("position", 8, 1, positions);
  CHECK(positions[0] == 1);
}

TEST_CASE("io: a damaged row is an input error on all ranks", "[io]") {
  const Comm comm;
  const Scratch scratch;
  write_checkpoint(comm, scratch / "c.scree", 101, comm.size());
  if (comm.is_root()) {
    std::string content = content_of(scratch / "c.scree");
    const double x = 100.0 / 8;
    const std::size_t at = content.find(std::string(reinterpret_cast<const char*>(&x), sizeof x));
    if (at != std::string::npos) content[at + 1] = 1;
    put(scratch / "c.scree", content);
  }
  comm.barrier();
  const ArrayFileReader reader(comm, scratch / "c.scree", "checkpoint", 1);
  std::vector<double> positions;
  CHECK_THROWS_AS(reader.share("position", positions), InputError);
  CHECK_THROWS_AS(describe_file(comm, scratch / "c.scree"), InputError);
}

TEST_CASE(
    "io: compressed H5MD frames are the same whatever the number of ranks, also where some have no body",
    "[io]") {
  const Comm comm;
  const Scratch scratch;
  for (const std::int64_t n : {std::int64_t{3}, std::int64_t{101}, std::int64_t{150'000}}) {  // three chunks
    write_h5md(comm, scratch / "plain.h5", n, 1);
    const FirstRanks one(1);
    if (one.member()) write_h5md(one.comm(), scratch / "one.h5", n, 1, {.compression = 6});
    comm.barrier();
    write_h5md(comm, scratch / "all.h5", n, comm.size(), {.compression = 6});
    for (const char* other : {"plain.h5", "one.h5"})
      CHECK(compare_results(comm, scratch / "all.h5", scratch / other).equal());
    if (n > 101)
      CHECK(std::filesystem::file_size(scratch / "all.h5") <
            std::filesystem::file_size(scratch / "plain.h5"));
  }
}

TEST_CASE("io: h5py reads the H5MD file and the checkpoint", "[io]") {
  const Comm comm;
  const Scratch scratch;
  write_h5md(comm, scratch / "run.h5", 101, comm.size());
  write_checkpoint(comm, scratch / "c.scree", 101, comm.size());
  const std::filesystem::path script = SCREE_TESTS "/mpi/read_outputs.py";
  const std::int64_t status = run_python(comm, script, {scratch / "run.h5", scratch / "c.scree"});
  if (status == 77) {
    WARN("skipped: python3-h5py is not installed");
    return;
  }
  CHECK(status == 0);
}

TEST_CASE("io: VTK reads all points from 1 to n writers, some without points", "[io]") {
  const Comm comm;
  const Scratch scratch;
  for (int writers = 1; writers <= comm.size(); ++writers) {
    const std::string folder = scratch / std::to_string(writers);
    write_vtk(comm, folder, comm.size() == 1 ? 5 : comm.size() - 1, 1, writers);
    comm.barrier();
    vtkNew<vtkXMLPPolyDataReader> reader;
    reader->SetFileName((folder + "/particles/run_particles_000000005.pvtp").c_str());
    reader->Update();
    vtkPolyData* data = reader->GetOutput();
    const vtkIdType n = comm.size() == 1 ? 5 : comm.size() - 1;
    REQUIRE(data->GetNumberOfPoints() == n);
    CHECK(data->GetNumberOfVerts() == n);
    vtkDataArray* ids = data->GetPointData()->GetArray("id");
    REQUIRE(ids != nullptr);
    REQUIRE(ids->GetDataTypeSize() == 8);
    for (vtkIdType i = 0; i < n; ++i) {
      CHECK(static_cast<const std::int64_t*>(ids->GetVoidPointer(0))[i] == first_id + 2 * i);
      CHECK(data->GetPoint(i)[0] == static_cast<double>(i) / 8);
    }
    comm.barrier();
  }
}

TEST_CASE("io: lines keep their points when ranks send them to a writer", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const auto x = static_cast<double>(comm.rank());
  const std::vector<double> points{x, 0, 0, x, 1, 0};
  const std::vector<std::int64_t> lines{0, 1};
  const std::vector<double> force{x};
  Geometry geometry;
  geometry.points = points;
  geometry.lines = lines;
  geometry.cell_columns = {{"force", "N", 1, std::span<const double>(force)}};
  {
    VtkSeries series(comm, scratch / "vtk", "run", "contacts", {.writers = 2});
    series.write(0, 0, geometry);
  }
  vtkNew<vtkXMLPPolyDataReader> reader;
  reader->SetFileName((scratch / "vtk/contacts/run_contacts_000000000.pvtp").c_str());
  reader->Update();
  vtkPolyData* data = reader->GetOutput();
  REQUIRE(data->GetNumberOfLines() == comm.size());
  for (vtkIdType i = 0; i < comm.size(); ++i) {
    vtkNew<vtkIdList> ends;
    data->GetCellPoints(i, ends);
    CHECK(data->GetPoint(ends->GetId(0))[0] == static_cast<double>(i));
    CHECK(data->GetPoint(ends->GetId(1))[1] == 1);
  }
}

TEST_CASE("io: a frame that one rank's thread fails to write stops all ranks with the same message", "[io]") {
  const Comm comm;
  const Scratch scratch;
  constexpr std::int64_t n = 4000;
  const Share share(comm, n, comm.size());
  Geometry geometry;
  geometry.points = share.positions;
  geometry.point_columns = {{"id", "-", 1, std::span<const std::int64_t>(share.ids)}};
  Background background;
  VtkSeries series(comm, scratch / "vtk", "run", "particles",
                   {.writers = comm.size(), .background = &background});
  series.write(0, 0, geometry);
  series.complete();
  const std::string index = content_of(scratch / "vtk/run_particles.pvd");
  comm.barrier();
  std::string message;
  if (comm.rank() == comm.size() - 1) {
    const FileSizeLimit limit(100);
    series.write(1, 1, geometry);
    message = message_of<RunError>([&] { series.complete(); });
  } else {
    series.write(1, 1, geometry);
    message = message_of<RunError>([&] { series.complete(); });
  }
  CHECK_THAT(message, Catch::Contains("bytes"));
  std::string of_root = message;
  comm.broadcast(of_root);
  CHECK(message == of_root);
  CHECK(content_of(scratch / "vtk/run_particles.pvd") == index);
}

TEST_CASE("io: a full disk stops every writer on all ranks with the same message", "[io]") {
  const Comm comm;
  const Scratch scratch;
  constexpr std::int64_t n = 40000;
  for (const rlim_t bytes : {100, 20000, 500000, 1500000}) {
    std::string checkpoint, h5md, vtk;
    {
      const FileSizeLimit limit(bytes);
      checkpoint = message_of<RunError>([&] { write_checkpoint(comm, scratch / "c.scree", n, comm.size()); });
      h5md = message_of<RunError>([&] { write_h5md(comm, scratch / "run.h5", n, comm.size()); });
    }
    {
      const FileSizeLimit limit(100);
      vtk = message_of<RunError>([&] { write_vtk(comm, scratch / "vtk", n, comm.size(), comm.size()); });
    }
    comm.barrier();
    for (const std::string& message : {checkpoint, h5md, vtk}) {
      INFO(bytes << ": " << message);
      std::string of_root = message;
      comm.broadcast(of_root);
      CHECK(message == of_root);
      CHECK_THAT(message, Catch::Contains(scratch.folder()));
    }
    CHECK_FALSE(std::filesystem::exists(scratch / "c.scree"));
    CHECK_FALSE(std::filesystem::exists(scratch / "c.scree.part"));
    comm.barrier();
    if (comm.is_root()) std::filesystem::remove(scratch / "run.h5");
    comm.barrier();
  }
  // What failed must not hinder the next file.
  write_checkpoint(comm, scratch / "c.scree", 101, comm.size());
  CHECK_NOTHROW(ArrayFileReader(comm, scratch / "c.scree", "checkpoint", 1));
}

TEST_CASE("io: H5MD frames after the restart are dropped whatever the number of ranks", "[io]") {
  const Comm comm;
  const Scratch scratch;
  write_h5md(comm, scratch / "run.h5", 101, comm.size());
  {
    H5mdWriter writer = H5mdWriter::resume(comm, scratch / "run.h5", 10, {});
    CHECK(writer.n_frames() == 2);
    const Share share(comm, 300, 1);
    writer.append(11, 0.55, share.ids, share.columns(), std::vector<Observable>{{"energy", "J", 1}});
  }
  CHECK_THAT(describe_file(comm, scratch / "run.h5"),
             Catch::Contains("3 frames, t = 0 s to 0.55 s, steps 0 to 11, 300 bodies in the last"));
}

TEST_CASE("io: comparing and describing give the same text for 1 and n ranks", "[io]") {
  const Comm comm;
  const Scratch scratch;
  write_h5md(comm, scratch / "a.h5", 101, comm.size());
  write_h5md(comm, scratch / "b.h5", 99, 1);
  const FirstRanks one(1);
  std::string alone, description;
  if (one.member()) {
    alone = compare_results(one.comm(), scratch / "a.h5", scratch / "b.h5").text();
    description = describe_file(one.comm(), scratch / "a.h5");
  }
  comm.broadcast(alone);
  comm.broadcast(description);
  const Comparison together = compare_results(comm, scratch / "a.h5", scratch / "b.h5");
  CHECK_FALSE(together.equal());
  CHECK(together.text() == alone);
  CHECK(describe_file(comm, scratch / "a.h5") == description);
  CHECK_THAT(alone, Catch::Contains("99 rows against 97"));
}

TEST_CASE("io: a table has one row per sample and its errors reach all ranks", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const std::vector<Table::Heading> headings{{"time", "s"}, {"x", "m"}};
  {
    Table table(comm, scratch / "t.csv", headings);
    for (const Real t : {0.0, 1.0, 2.0}) table.add(std::vector<Real>{t, 2 * t});
  }
  Table table = Table::resume(comm, scratch / "t.csv", headings, 1);
  table.add(std::vector<Real>{1.5, 3});
  const TableContent content = read_table(comm, scratch / "t.csv");
  CHECK(content.rows == std::vector<std::vector<Real>>{{0, 0}, {1, 2}, {1.5, 3}});
  const FileSizeLimit limit(20);
  CHECK_THROWS_AS(table.add(std::vector<Real>{2, 3}), RunError);
  CHECK_THROWS_AS(Table::resume(comm, scratch / "none.csv", headings, 1), InputError);
}
