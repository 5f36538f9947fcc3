// People from files: tables, trajectories, where they start and when they come.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "io/pedestrian_archive.hpp"
#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

const std::string hall =
    "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n"
    "[exits.east]\nline = [[20, 4], [20, 6]]\n"
    "[exits.west]\nline = [[0, 4], [0, 6]]\n"
    "[agents.adult]\n[agents.child]\nspeed = { distribution = 'constant', value = 0.8 }\n";

/// Of all tests here; outlives MPI.
struct Folder {
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("scree_test_people_" + std::to_string(::getpid()));
};
std::string in_folder(const std::string& name) {
  static const Folder folder;
  return (folder.path / name).string();
}

std::string file_with(const std::string& name, const std::string& content) {
  std::string path = in_folder(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string population(const std::string& name, const std::string& content, const std::string& more = "") {
  return hall + "[populations.all]\nfile = '" + file_with(name, content) + "'\n" + more;
}

std::string refusal(const std::string& toml) {
  return message_of([&] {
    Building building(toml);
    building.populate();
  });
}

std::vector<Vec<2>> sorted_by_id(const Building& building) {
  std::vector<std::size_t> order(building.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return building.state.bodies.id()[i]; });
  std::vector<Vec<2>> at;
  for (const std::size_t i : order) at.push_back(building.positions()[i]);
  return at;
}

}  // namespace

TEST_CASE("a table says who starts where, and what they are like", "[crowd]") {
  Building building(
      population("all.csv",
                 "# from a survey\nid,x[m],y[m],radius,speed[m/s],kind,premovement,leaves_at\n"
                 "7,1.25,2.5,0.21,0.9,child,12,west\n3,4,2.5,,,adult,,\r\n12,6,2.5,0.2,1.1,,3,east\n"));
  building.populate();
  REQUIRE(building.size() == 3);
  CHECK(building.state.next_id == 13);
  const BodyStore<2>& bodies = building.state.bodies;
  const auto place_of = [&](GlobalId id) {
    return static_cast<std::size_t>(std::ranges::find(bodies.id(), id) - bodies.id().begin());
  };
  const std::size_t first = place_of(7), second = place_of(3), third = place_of(12);
  CHECK(bodies.position()[first] == scree::Vec<2>{{1.25, 2.5}});
  CHECK(bodies.radius()[first] == 0.21);
  CHECK(agent::desired_speed(bodies)[first] == 0.9);
  CHECK(agent::agent_type(bodies)[first] == 1);
  CHECK(agent::premovement_end(bodies)[first] == 12);
  CHECK(bodies.radius()[second] <= 0.199);
  CHECK(agent::agent_type(bodies)[second] == 0);
  CHECK(agent::premovement_end(bodies)[second] == 0);
  building.choose();
  CHECK(agent::destination(bodies)[first] == 1);   // west is nearer, and named
  CHECK(agent::destination(bodies)[second] == 1);  // the nearest
  CHECK(agent::destination(bodies)[third] == 0);   // named, though farther
}

TEST_CASE("the largest radius and speed of a file count for the run", "[crowd]") {
  Building building(population("large.csv", "x,y,radius,speed\n3,3,0.35,3.5\n"));
  CHECK(building.people.largest_radius() == 0.35);
  CHECK(building.people.fastest() == 3.5);
}

TEST_CASE("people of files come before others, who keep clear of them", "[crowd]") {
  Building building(population("some.csv", "x,y\n2,2\n3,2\n", "[populations.more]\ncount = 200\n"));
  building.populate();
  CHECK(building.size() == 202);
  CHECK(building.state.next_id == 202);
  CHECK(smallest_gap_of(building) >= 0);
}

TEST_CASE("a trajectory that scree wrote starts people where they were in a frame", "[crowd]") {
  const std::string path = in_folder("paths.h5");
  const std::vector<GlobalId> ids{4, 9, 11};
  {
    PedestrianArchive archive(Comm(MPI_COMM_SELF), path,
                              {.title = "", .version = "", .geometry = "", .fps = 4});
    for (int frame = 0; frame < 3; ++frame) {
      std::vector<double> positions;
      for (std::size_t k = 0; k < ids.size(); ++k)
        positions.insert(positions.end(), {1.1 + 0.123456789 * frame + static_cast<double>(k), 3.7, 0});
      archive.append(frame, ids, positions);
    }
  }
  const int frame = GENERATE(0, 2);
  Building building(hall + "[populations.all]\nfile = '" + path + "'\nframe = " + std::to_string(frame) +
                    "\n");
  building.populate();
  const std::vector<scree::Vec<2>> at = sorted_by_id(building);
  REQUIRE(at.size() == 3);
  for (std::size_t k = 0; k < at.size(); ++k)
    CHECK(at[k] == scree::Vec<2>{{1.1 + 0.123456789 * frame + static_cast<double>(k), 3.7}});
  CHECK_THAT(refusal(hall + "[populations.all]\nfile = '" + path + "'\nframe = 7\n"),
             Catch::Contains("nobody is in frame 7") && Catch::Contains("from 0 to 2"));
}

TEST_CASE("a text of the archive is read in the unit of its header", "[crowd]") {
  const std::string rows = " 0 110 210 176\n1 1 120 210 176\n2 0 310.5 220 176\n2 1 320 220 176\n";
  const std::string header =
      GENERATE("# framerate: 25.00\n# id frame x/cm y/cm z/cm\n", "#id frame x[in cm] y z\n",
               "# PersID\tFrame\tX [cm]\tY\tZ\n", "# all numbers in cm\n");
  Building building(population("paths.txt", header + "1" + rows));
  building.populate();
  CHECK(sorted_by_id(building) ==
        std::vector<scree::Vec<2>>{{{0.01 * 110, 0.01 * 210}}, {{0.01 * 310.5, 0.01 * 220}}});
  Building metres(population("metres.txt", "# id frame x/m y/m z/m\n1 5 1.1 2.1 1.76\n2\t6\t3.1\t2.1\t1.76\n",
                             "frame = 6\n"));
  metres.populate();
  CHECK(sorted_by_id(metres) == std::vector<scree::Vec<2>>{{{3.1, 2.1}}});
  CHECK_THAT(refusal(population("bare.txt", "1 0 1.1 2.1\n")),
             Catch::Contains("bare.txt:1:") && Catch::Contains("m or cm"));
}

TEST_CASE("people of a file who overlap are refused by id, or moved apart", "[crowd]") {
  const std::string rows = "id,x,y,radius\n1,3,3,0.2\n2,3.3,3,0.2\n5,8,3,0.2\n";
  CHECK_THAT(refusal(population("close.csv", rows)),
             Catch::Contains("person 1 (") && Catch::Contains("close.csv:2") &&
                 Catch::Contains("person 2 (") && Catch::Contains("0.1 m") &&
                 Catch::Contains("separate = true"));
  Building apart(population("close.csv", rows, "separate = true\n"));
  apart.populate();
  CHECK(smallest_gap_of(apart) >= 0);
  const std::vector<scree::Vec<2>> at = sorted_by_id(apart);
  CHECK(norm(at[0] - scree::Vec<2>{{3, 3}}) >= 0.05);  // half of the overlap
  CHECK(norm(at[0] - scree::Vec<2>{{3, 3}}) < 0.1);
  CHECK(at[0][0] + at[1][0] == Approx(6.3));  // both as far
  CHECK(at[2] == scree::Vec<2>{{8, 3}});
  CHECK_THAT(refusal(population("close.csv", rows, "separate = true\nseparate_limit = '1 cm'\n")),
             Catch::Contains("person 1 (") && Catch::Contains("separate_limit = 0.01 m"));
  CHECK_THAT(refusal(population("wall.csv", "x,y,radius\n3,0.1,0.2\n")),
             Catch::Contains("overlaps a wall") && Catch::Contains("0.1 m"));
  Building off(population("wall.csv", "x,y,radius\n3,0.1,0.2\n", "separate = true\n"));
  off.populate();
  CHECK(smallest_wall_gap_of(off) >= 0);
}

TEST_CASE("what cannot be in a file of people is named with its place", "[crowd]") {
  const auto refused = [&](const std::string& rows) { return refusal(population("bad.csv", rows)); };
  CHECK_THAT(refused("id,x,y\n4,3,3\n9,3,-0.32\n"),
             Catch::Contains("person 9 (") && Catch::Contains("bad.csv:3") && Catch::Contains("outside") &&
                 Catch::Contains("0.32 m from the wall from"));
  CHECK_THAT(refused("x,y,kind\n3,3,adlt\n"), Catch::Contains("bad.csv:2") && Catch::Contains("\"adult\""));
  CHECK_THAT(refused("x,y\n310,250\n"), Catch::Contains("outside"));
  CHECK_THAT(refused("x,y\n1310,250\n"), Catch::Contains("bad.csv:2") && Catch::Contains("centimetres?"));
  CHECK_THAT(refused("id,x,y\n4,3,3\n4,5,3\n"), Catch::Contains("the id 4"));
  CHECK_THAT(refused("x,y,radus\n3,3,0.2\n"), Catch::Contains("bad.csv:1") && Catch::Contains("\"radius\""));
  CHECK_THAT(refused("x,y,time\n3,3,0.2\n"), Catch::Contains("[sources.NAME]"));
  CHECK_THAT(refused("x,y,x\n3,3,1\n"), Catch::Contains("two columns"));
  CHECK_THAT(refused("x[cm],y[cm]\n3,3\n"), Catch::Contains("in cm"));
  CHECK_THAT(refused("x,radius\n3,1\n"), Catch::Contains("no column y"));
  CHECK_THAT(refused("x,y\n3\n"), Catch::Contains("bad.csv:2: 1 value,"));
  CHECK_THAT(refused("x,y,radius\n3,3,19\n"), Catch::Contains("0.01 m to 2 m"));
  CHECK_THAT(refused("x,y\n3,a\n"), Catch::Contains("'a' is not a number"));
  CHECK_THAT(refused("x,y,leaves_at\n3,3,est\n"), Catch::Contains("\"east\""));
  CHECK_THAT(refused("x,y,floor\n3,3,upper\n"), Catch::Contains("bad.csv:2"));
  CHECK_THAT(refused("x,y\n"), Catch::Contains("nobody"));
  CHECK_THAT(refused("\n# nothing\n"), Catch::Contains("no header"));
  CHECK_THAT(refusal(hall + "[populations.a]\nfile = 'none.csv'\n"), Catch::Contains("none.csv"));
  CHECK_THAT(refusal(population("good.csv", "x,y\n3,3\n", "count = 3\n")),
             Catch::Contains("count has no effect"));
  CHECK_THAT(refusal(population("good.csv", "x,y\n3,3\n", "frame = 3\n")), Catch::Contains("frame"));
  CHECK_THAT(refusal(hall + "[populations.a]\ncount = 3\nseparate = true\n"), Catch::Contains("give file"));
  CHECK_THAT(refusal(population("others.csv", "id,x,y\n0,3,3\n") + "[populations.b]\nfile = '" +
                     file_with("ids.csv", "id,x,y\n0,5,5\n") + "'\n"),
             Catch::Contains("ids.csv:2: the id 0 is that of"));
}

TEST_CASE("people of a source come one by one, at their times and places", "[crowd]") {
  const std::string table =
      file_with("arrivals.csv",
                "time,x,y,radius,leaves_at,id\n2,5,5,0.2,west,40\n0.5,3,3,0.2,east,41\n0.5,7,7,0.2,,42\n");
  Building building(hall + "[sources.gate]\nfile = '" + table + "'\n");
  building.populate();
  CHECK(building.state.next_id == 43);
  building.tick(0.25);
  CHECK_FALSE(building.feed());
  building.tick(0.25);
  CHECK(building.feed());
  REQUIRE(building.size() == 2);
  CHECK(building.positions()[0] == scree::Vec<2>{{3, 3}});
  CHECK(building.positions()[1] == scree::Vec<2>{{7, 7}});
  CHECK(building.state.bodies.id()[0] == 41);
  CHECK_FALSE(building.people.exhausted(building.state));
  building.put({{5.1, 5}});  // stands in the way of the third
  building.tick(1.5);
  CHECK_FALSE(building.feed());
  building.state.bodies.position()[2] = {{9, 5}};
  building.tick(0.5);
  CHECK(building.feed());
  REQUIRE(building.size() == 4);
  CHECK(building.state.bodies.id()[3] == 40);
  CHECK(agent::entered_at(building.state.bodies)[3] == 2.5);
  CHECK(building.people.exhausted(building.state));
  building.choose();
  CHECK(agent::destination(building.state.bodies)[0] == 0);
  CHECK(agent::destination(building.state.bodies)[3] == 1);
}

TEST_CASE("times alone bring people into a region", "[crowd]") {
  const std::string times = file_with("times.csv", "time,speed\n1,1.2\n3,0.7\n");
  Building building(hall + "[sources.gate]\nregion = [[1, 1], [3, 1], [3, 3], [1, 3]]\nfile = '" + times +
                    "'\n");
  building.populate();
  building.tick(3);
  CHECK(building.feed());
  REQUIRE(building.size() == 2);
  CHECK(agent::desired_speed(building.state.bodies)[1] == 0.7);
  for (const scree::Vec<2>& x : building.positions())
    CHECK((x[0] >= 1 && x[0] <= 3 && x[1] >= 1 && x[1] <= 3));
  CHECK_THAT(refusal(hall + "[sources.gate]\nfile = '" + times + "'\n"), Catch::Contains("a region"));
  CHECK_THAT(
      refusal(hall + "[sources.gate]\nfile = '" + file_with("placed.csv", "time,x,y\n1,25,3\n") + "'\n"),
      Catch::Contains("placed.csv:2") && Catch::Contains("nobody can come"));
  CHECK_THAT(refusal(hall + "[sources.gate]\nfile = '" + file_with("no.csv", "x,y\n1,3\n") + "'\n"),
             Catch::Contains("no column time"));
}
