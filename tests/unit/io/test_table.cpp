#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.hpp"
#include "io/table.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {
const std::vector<Table::Heading> headings{{"time", "s"}, {"overlap_max", "m"}};
}

TEST_CASE("table: each row is in the file at once and gives back the same bits", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.csv";
  Table table(Comm(), path, headings);
  CHECK(content_of(path) == "time[s],overlap_max[m]\n");
  const std::vector<Real> row{0.1, 1.0 / 3};
  table.add(row);
  CHECK(content_of(path) == "time[s],overlap_max[m]\n0.10000000000000001,0.33333333333333331\n");
  const TableContent content = read_table(Comm(), path);
  CHECK(content.names == std::vector<std::string>{"time", "overlap_max"});
  CHECK(content.units == std::vector<std::string>{"s", "m"});
  CHECK(content.rows == std::vector<std::vector<Real>>{row});
}

TEST_CASE("table: resume at t = 0.2 keeps the rows up to 0.2 and drops a line cut short", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.csv";
  {
    Table table(Comm(), path, headings);
    for (const Real t : {0.1, 0.2, 0.3}) table.add(std::vector<Real>{t, NAN});
  }
  put(path, content_of(path) + "0.15,0.0");
  Table table = Table::resume(Comm(), path, headings, 0.2);
  table.add(std::vector<Real>{0.25, 1});
  CHECK(content_of(path) ==
        "time[s],overlap_max[m]\n0.10000000000000001,nan\n0.20000000000000001,nan\n0.25,1\n");
  CHECK(n_files_in(scratch.folder()) == 1);
}

TEST_CASE("table: resuming with other columns, no file or a damaged one is an input error", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.csv";
  CHECK_THROWS_AS(Table::resume(Comm(), path, headings, 1), InputError);
  put(path, "time[s],speed[m/s]\n0,1\n");
  CHECK(message_of<InputError>([&] { Table::resume(Comm(), path, headings, 1); }) ==
        path + " has the columns time[s],speed[m/s], but the run would add time[s],overlap_max[m]");
  put(path, "time[s],overlap_max[m]\n0,1\nx,1\n");
  CHECK(message_of<InputError>([&] { Table::resume(Comm(), path, headings, 1); }) ==
        path + ":3: 'x' is no number");
  CHECK(content_of(path) == "time[s],overlap_max[m]\n0,1\nx,1\n");
}

TEST_CASE("table: a full disk, a missing folder and a comma in a name are errors", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.csv";
  Table table(Comm(), path, headings);
  {
    const FileSizeLimit limit(30);
    table.add(std::vector<Real>{0, 1});
    CHECK_THAT(message_of<RunError>([&] { table.add(std::vector<Real>{0.1, 0.1}); }), Catch::Contains(path));
  }
  CHECK_THROWS_AS(Table(Comm(), scratch / "no/a.csv", headings), RunError);
  CHECK_THROWS_AS(Table(Comm(), scratch / "b.csv", {{"a,b", "m"}}), InputError);
  CHECK_THROWS_AS(table.add(std::vector<Real>{0}), RunError);
}

TEST_CASE("table: a file that is removed or replaced during a run is written again with all rows", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.csv";
  Table table(Comm(), path, headings);
  table.add(std::vector<Real>{0.5, 1});
  std::filesystem::remove(path);
  table.add(std::vector<Real>{1, 2});
  table.keep_in_place();
  CHECK(content_of(path) == "time[s],overlap_max[m]\n0.5,1\n1,2\n");

  put(scratch / "edited", "mine");
  std::filesystem::rename(scratch / "edited", path);
  table.add(std::vector<Real>{1.5, 3});
  table.keep_in_place();
  table.add(std::vector<Real>{2, 4});
  CHECK(content_of(path) == "time[s],overlap_max[m]\n0.5,1\n1,2\n1.5,3\n2,4\n");
  CHECK(content_of(path + ".other") == "mine");
  CHECK(n_files_in(scratch.folder()) == 2);
}

TEST_CASE("table: a folder that is removed during a run is an error", "[io]") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "results");
  Table table(Comm(), scratch / "results/a.csv", headings);
  std::filesystem::remove_all(scratch / "results");
  CHECK_THROWS_AS(table.keep_in_place(), RunError);
}
