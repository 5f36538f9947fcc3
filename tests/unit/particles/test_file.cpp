#include <algorithm>
#include <cstdint>
#include <map>

#include "unit/particles/make_bodies.hpp"
#include "unit/particles/scratch_file.hpp"

using namespace scree;

namespace {

const Box<2> box{{}, filled<2>(10.0), {}};

Start<2> read(const std::string& path, const std::string& keys = "", const std::string& radius = "") {
  return make_bed<2>(box, radius + "source = { type = 'file', path = '" + path + "'" + keys + " }");
}

std::string error_of(const std::string& path, const std::string& keys = "") {
  return message_of([&] { read(path, keys); });
}

/// Two frames of two bodies, the second with radii and ids.
void write_h5md(const std::string& path, const std::vector<std::int64_t>& ids = {1, 0, 1, 0}) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write_hdf5<double>(file, "/particles/all/position/value", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  write_hdf5<double>(file, "/particles/all/radius", {2}, {0.5, 0.25});
  write_hdf5<std::int64_t>(file, "/particles/all/id/value", {2, 2}, ids);
  write_hdf5<double>(file, "/particles/all/velocity/value", {2, 2, 2}, {0, 0, 0, 0, 1, -1, 2, -2});
  write_hdf5<double>(file, "/particles/all/angular_velocity/value", {2, 2, 1}, {0, 0, 0.5, 0.25});
  write_hdf5<double>(file, "/particles/all/orientation/value", {2, 2, 1}, {0, 0, 3, 4});
  H5Fclose(file);
}

}  // namespace

TEST_CASE("file: a CSV file is read by the names of its columns, past comments and other columns",
          "[particles]") {
  const ScratchFile csv(
      "columns.csv",
      "# three disks\r\n radius, y ,colour,x\r\n0.5,1,red,2\r\n\r\n# the last two\r\n0.25,+3e0,,4\r\n"
      "1e-1,5,blue,6");
  const Start<2> start = read(csv.path());
  REQUIRE(start.size() == 3);
  const std::vector<Vec<2>> x{{{2, 1}}, {{4, 3}}, {{6, 5}}};
  CHECK(std::ranges::equal(start.bodies.position(), x));
  CHECK(std::ranges::equal(start.bodies.radius(), std::vector<Real>{0.5, 0.25, 0.1}));
  CHECK(std::ranges::equal(start.bodies.id(), std::vector<GlobalId>{0, 1, 2}));
}

TEST_CASE("file: without a radius column the deck's radii are taken, with one they still go first",
          "[particles]") {
  const ScratchFile bare("bare.csv", "x,y\n1,2\n");
  CHECK_THAT(error_of(bare.path()), Catch::Contains("neither") && Catch::StartsWith("test.toml:2:"));
  const std::string radius = "radius = { distribution = 'constant', value = 0.3 }\n";
  CHECK(read(bare.path(), "", radius).bodies.radius()[0] == 0.3);
  const ScratchFile full("full.csv", "x,y,radius\n1,2,0.7\n");
  CHECK(read(full.path(), "", radius).bodies.radius()[0] == 0.3);
}

TEST_CASE("file: ids 2, 0, 1 name the rows; any other ids number them in their order", "[particles]") {
  const ScratchFile csv("ids.csv", "id,x,y,radius\n2,1,1,1\n0,2,2,1\n1,3,3,1\n");
  CHECK(std::ranges::equal(read(csv.path()).bodies.id(), std::vector<GlobalId>{2, 0, 1}));
  const ScratchFile from_one("from_one.csv", "id,x,y,radius\n3,1,1,1\n1,2,2,1\n2,3,3,1\n");
  CHECK(std::ranges::equal(read(from_one.path()).bodies.id(), std::vector<GlobalId>{2, 0, 1}));
  const ScratchFile sparse("sparse.csv", "id,x,y,radius\n9000000000000,1,1,1\n-5,2,2,1\n17,3,3,1\n");
  const Start<2> start = read(sparse.path());
  CHECK(std::ranges::equal(start.bodies.id(), std::vector<GlobalId>{2, 0, 1}));
  CHECK(start.next_id == 3);
  const ScratchFile twice("twice.csv", "id,x,y,radius\n2,1,1,1\n0,2,2,1\n2,3,3,1\n");
  CHECK_THAT(error_of(twice.path()), Catch::Contains("two bodies have the id 2"));
}

TEST_CASE(
    "file: velocities and spins of a CSV file are taken where bodies have inertia, or left out on request",
    "[particles]") {
  const ScratchFile csv("moving.csv",
                        "x,y,diameter,vx,vy,omegaz,colour\n1,2,1,0.5,-0.25,3,7\n4,3,1,0,1e-3,-2,8\n");
  const auto read_moving = [&](const std::string& keys, const std::string& group = "") {
    return make_bed<2>(box, group + "source = { type = 'file', path = '" + csv.path() + "'" + keys + " }",
                       FieldSet::with_inertia);
  };
  const Start<2> start = read_moving("");
  REQUIRE(start.size() == 2);
  CHECK(std::ranges::equal(start.bodies.radius(), std::vector<Real>{0.5, 0.5}));
  CHECK(std::ranges::equal(start.bodies.velocity(), std::vector<Vec<2>>{{{0.5, -0.25}}, {{0, 1e-3}}}));
  CHECK(start.bodies.angular_velocity()[0][0] == 3);
  CHECK(start.bodies.angular_velocity()[1][0] == -2);
  const Start<2> at_rest = read_moving(", velocities = false", "velocity = [0, 7]\n");
  CHECK(std::ranges::equal(at_rest.bodies.velocity(), std::vector<Vec<2>>{{{0, 7}}, {{0, 7}}}));
  CHECK(at_rest.bodies.angular_velocity()[0][0] == 0);
  // Two answers to one question are none.
  CHECK_THAT(message_of([&] { read_moving("", "velocity = [0, 7]\n"); }),
             Catch::Contains("velocities = false"));
  CHECK(std::ranges::equal(read_moving("", "mobility = 0\n").bodies.velocity(), std::vector<Vec<2>>(2)));
  // A scheme without inertia has no use for them.
  CHECK(std::ranges::equal(read(csv.path()).bodies.velocity(), std::vector<Vec<2>>(2)));
  const ScratchFile half("half.csv", "x,y,radius,vy\n1,2,1,1\n");
  CHECK_THAT(error_of(half.path()), Catch::Contains("a column vy, but none called vx"));
}

TEST_CASE("file: positions are wrapped into the domain along periodic axes", "[particles]") {
  const ScratchFile csv("beyond.csv", "x,y,radius\n-1,1,0.5\n10,2,0.5\n37.5,3,0.5\n");
  const Start<2> start =
      make_bodies<2>(Comm(MPI_COMM_SELF), {{}, filled<2>(10.0), {true, false}},
                     "[particles.bed]\nsource = { type = 'file', path = '" + csv.path() + "' }");
  CHECK(std::ranges::equal(start.bodies.position(), std::vector<Vec<2>>{{{9, 1}}, {{0, 2}}, {{7.5, 3}}}));
}

namespace {

const std::string dump =
    "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp ff\n0 10\n0 10\n-0.5 0.5\n"
    "ITEM: ATOMS id type x y z radius\n1 1 1 2 0 0.5\n2 1 3 4 0 0.25\n"
    "ITEM: TIMESTEP\n100\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp ff\n0 10\n0 10\n-0.5 0.5\n"
    "ITEM: ATOMS id type xs ys z diameter vx vy omegax omegay omegaz \n"
    "3 1 0.1 0.2 0 1 1 2 0 0 5\n1 2 0.3 0.4 0 0.5 3 4 0 0 6\n2 1 0.5 0.6 0 0.5 -1 0 0 0 7\n";

}  // namespace

TEST_CASE("file: a LAMMPS dump gives its last frame, or the one asked for", "[particles]") {
  const ScratchFile file("dump.lammpstrj", dump);
  const std::string source = "source = { type = 'file', path = '" + file.path() + "'";
  const Start<2> last = make_bed<2>(box, source + " }", FieldSet::with_inertia);
  REQUIRE(last.size() == 3);
  CHECK(std::ranges::equal(last.bodies.id(), std::vector<GlobalId>{2, 0, 1}));
  CHECK(std::ranges::equal(last.bodies.position(), std::vector<Vec<2>>{{{1, 2}}, {{3, 4}}, {{5, 6}}}));
  CHECK(std::ranges::equal(last.bodies.radius(), std::vector<Real>{0.5, 0.25, 0.25}));
  CHECK(std::ranges::equal(last.bodies.velocity(), std::vector<Vec<2>>{{{1, 2}}, {{3, 4}}, {{-1, 0}}}));
  CHECK(last.bodies.angular_velocity()[2][0] == 7);
  const Start<2> first = make_bed<2>(box, source + ", frame = 0 }");
  CHECK(std::ranges::equal(first.bodies.position(), std::vector<Vec<2>>{{{1, 2}}, {{3, 4}}}));
  CHECK(std::ranges::equal(first.bodies.id(), std::vector<GlobalId>{0, 1}));
}

TEST_CASE("file: errors in a LAMMPS dump name the frame and the row", "[particles]") {
  const auto changed = [](std::string_view what, std::string_view by) {
    std::string text = dump;
    return text.replace(text.rfind(what), what.size(), by);
  };
  const std::map<std::string, std::string> wrong{
      {dump.substr(0, dump.rfind("2 1 0.5")), "frame 1: 2 rows, but it says that there are 3"},
      {changed("0.3 0.4", "0.3 zero"), "frame 1, row 2: 'zero' is not a number"},
      {changed("-0.5 0.5", "-0.5 0.5 0.1"), "tilted"},
      {changed("0 10\n0 10", "0 10\n0 ten"), "no bounds of the box"},
      {changed("2 0.3 0.4", "2 0.3 0.4 5"), "12 values, but the header names 11 columns"},
      {changed(" ys ", " yy "), "no column y"},
      {changed("3 1 0.1", "2 1 0.1"), "two bodies have the id 2"},
  };
  for (const auto& [text, message] : wrong) {
    INFO(text);
    const ScratchFile file("wrong.dump", text);
    CHECK_THAT(error_of(file.path()), Catch::Contains(message));
  }
  const ScratchFile file("dump.lammpstrj", dump);
  CHECK_THAT(error_of(file.path(), ", frame = 2"), Catch::Contains("no frame 2: the file has 2"));
  CHECK_THAT(error_of(file.path(), ", group = 'all of them'"), Catch::Contains("no H5MD file"));
  const ScratchFile csv("plain.csv", "x,y,radius\n1,2,1\n");
  CHECK_THAT(error_of(csv.path(), ", frame = 0"), Catch::Contains("no dump or H5MD file"));
}

TEST_CASE("file: errors in a CSV file name the file and the line", "[particles]") {
  const std::map<std::string, std::string> wrong{
      {"# only this\n", "no header"},
      {"x,radius\n1,2\n", ":1: no column y"},
      {"x,y,x,radius\n1,2,3,4\n", ":1: two columns are called x"},
      {"x,y,radius\n1,2,3\n1,two,3\n", ":3: 'two' is not a number"},
      {"x,y,radius\n1,2,3\n\n1,2\n", ":4: 2 values, but the header names 3 columns"},
      {"x,y,radius\n1,2,0\n", ":2: radius 0 is not positive"},
      {"x,y,radius\n1,nan,1\n", ":2: 'nan' is not a number"},
      {"x,y,radius,id\n1,1,1,0.5\n", ":2: id '0.5' is not an integer"},
      {"x,y,radius\n", "no bodies"},
  };
  for (const auto& [text, message] : wrong) {
    INFO(text);
    const ScratchFile csv("wrong.csv", text);
    CHECK_THAT(error_of(csv.path()), Catch::StartsWith(csv.path() + ":") && Catch::Contains(message));
  }
  CHECK_THAT(error_of("no/such/file.csv"),
             Catch::StartsWith("test.toml:2:") && Catch::Contains("no/such/file.csv"));
}

TEST_CASE("file: a relative path is looked for beside the deck if it is not in the current folder",
          "[particles]") {
  const ScratchFile csv("beside.csv", "x,y,radius\n1,2,0.5\n");
  const std::filesystem::path path = csv.path();
  const std::string deck_name = (path.parent_path() / "deck.toml").string();
  Deck deck = Deck::from_text(
      "[particles.bed]\nsource = { type = 'file', path = '" + path.filename().string() + "' }", deck_name);
  const auto groups = describe_particle_groups<2>(deck.root(), {});
  BodyStore<2> bodies;
  CHECK(create_bodies<2>(Comm(MPI_COMM_SELF), box, {}, {}, 1, groups, bodies) == 1);
}

TEST_CASE("file: an H5MD file gives its last frame, or the one asked for", "[particles]") {
  const ScratchFile h5("frames.h5");
  write_h5md(h5.path());
  const Start<2> last = read(h5.path());
  CHECK(std::ranges::equal(last.bodies.position(), std::vector<Vec<2>>{{{5, 6}}, {{7, 8}}}));
  CHECK(std::ranges::equal(last.bodies.id(), std::vector<GlobalId>{1, 0}));
  CHECK(std::ranges::equal(last.bodies.radius(), std::vector<Real>{0.5, 0.25}));
  const Start<2> first = read(h5.path(), ", frame = 0");
  CHECK(std::ranges::equal(first.bodies.position(), std::vector<Vec<2>>{{{1, 2}}, {{3, 4}}}));
  CHECK_THAT(error_of(h5.path(), ", frame = 2"), Catch::Contains("no frame 2: the file has 2"));
  const Start<2> moving =
      make_bed<2>(box, "source = { type = 'file', path = '" + h5.path() + "' }", FieldSet::with_inertia);
  CHECK(std::ranges::equal(moving.bodies.velocity(), std::vector<Vec<2>>{{{1, -1}}, {{2, -2}}}));
  CHECK(moving.bodies.angular_velocity()[1][0] == 0.25);
  CHECK(moving.bodies.orientation()[0][0] == 3);
  CHECK_THAT(error_of(h5.path(), ", group = 'some'"), Catch::Contains("no /particles/some/position"));
}

TEST_CASE("file: rows with the fill value -1 for the id are no bodies", "[particles]") {
  const ScratchFile h5("holes.h5");
  write_h5md(h5.path(), {0, 1, -1, 0});
  const Start<2> start = read(h5.path());
  REQUIRE(start.size() == 1);
  CHECK(start.bodies.position()[0] == Vec<2>{{7, 8}});
  CHECK(start.bodies.radius()[0] == 0.25);
}

TEST_CASE("file: a foreign, a cut and a three-dimensional HDF5 file are errors", "[particles]") {
  const ScratchFile text("text.h5", "x,y,radius\n1,2,3\n");
  CHECK_THAT(error_of(text.path()), Catch::Contains("not an HDF5 file"));
  const ScratchFile cut("cut.h5");
  write_h5md(cut.path());
  std::filesystem::resize_file(cut.path(), std::filesystem::file_size(cut.path()) / 2);
  CHECK_THAT(error_of(cut.path()), Catch::Contains("cut short"));
  const ScratchFile spheres("spheres.h5");
  const hid_t file = H5Fcreate(spheres.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write_hdf5<double>(file, "/particles/all/position/value", {1, 1, 3}, {1, 2, 3});
  H5Fclose(file);
  CHECK_THAT(error_of(spheres.path()), Catch::Contains("3 components, but the run has 2 dimensions"));
}
