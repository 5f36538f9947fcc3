#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/array_file.hpp"
#include "io/compare.hpp"
#include "io/compare/differences.hpp"
#include "io/describe_file.hpp"
#include "io/h5md.hpp"
#include "io/vtk_series.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

const std::vector<std::int64_t> ids{3, 7, std::int64_t{1} << 54};

void write_checkpoint(const std::string& path, const std::vector<double>& speeds, const std::string& host,
                      std::int64_t step = 5) {
  ArrayFileWriter writer(Comm(), path, "checkpoint", 1);
  writer.array({"id", "-", 1, std::span<const std::int64_t>(ids)});
  writer.array({"speed", "m/s", 1, std::span<const double>(speeds)});
  writer.number("step", step);
  writer.provenance("host", host);
  writer.commit();
}

void write_h5md(const std::string& path, const std::vector<std::vector<double>>& frames) {
  H5mdHead head;
  head.lower = {0};
  head.upper = {1};
  head.periodic = {false};
  H5mdWriter writer(Comm(), path, head, {});
  std::int64_t step = 0;
  for (const std::vector<double>& x : frames) {
    const std::vector<Column> columns{{"position", "m", 1, std::span<const double>(x)}};
    const std::vector<Observable> observables{{"energy", "J", x.empty() ? 0 : x[0]}};
    writer.append(step, 0.5 * static_cast<double>(step), std::span(ids).first(x.size()), columns,
                  observables);
    step += 10;
  }
}

/// The words of a result of the version before, and those of now.
struct Words {
  std::string type, agent_type, group, reference_position, reference_time, wall, cell, detached;
};
const Words old_words{"group",         "kind",        "party",
                      "listed",        "listed_time", "driven_0_listed_position",
                      "cell_listed_x", "pulled_off"};
const Words new_words{"type",
                      "agent_type",
                      "group",
                      "reference_position",
                      "reference_time",
                      "driven_0_reference_position",
                      "cell_reference_x",
                      "detached"};

/// Fields with numbers of their own each, so that no two can be taken for each other.
void write_words(const std::string& path, const Words& words) {
  ArrayFileWriter writer(Comm(), path, "checkpoint", 1);
  writer.array({"id", "-", 1, std::span<const std::int64_t>(ids)});
  std::int32_t first = 0;
  for (const std::string& name : {words.type, words.agent_type, words.group, words.reference_position}) {
    const std::vector<std::int32_t> values{first, first + 1, first + 2};
    writer.array({name, "-", 1, std::span<const std::int32_t>(values)});
    first += 10;
  }
  for (const std::string& name : {words.reference_time, words.wall, words.cell}) {
    writer.number(name, static_cast<Real>(first));
    first += 10;
  }
  writer.commit();
}

/// Bodies with a type, and how many contacts attraction let go.
void write_typed_bodies(const std::string& path, const Words& words) {
  H5mdHead head;
  head.lower = {0};
  head.upper = {1};
  head.periodic = {false};
  H5mdWriter writer(Comm(), path, head, {});
  const std::vector<double> x{1, 2, 3};
  const std::vector<std::int32_t> types{0, 1, 1};
  const std::vector<Column> columns{{"position", "m", 1, std::span<const double>(x)},
                                    {words.type, "-", 1, std::span<const std::int32_t>(types)}};
  writer.append(0, 0, ids, columns, std::vector<Observable>{{words.detached, "-", 4}});
}

const FieldDifference& field(const Comparison& comparison, const std::string& name) {
  for (const FieldDifference& difference : comparison.files.at(0).fields)
    if (difference.name == name) return difference;
  throw std::runtime_error("no field " + name);
}

}  // namespace

TEST_CASE("compare: checkpoints that differ in provenance only are equal", "[io]") {
  const Scratch scratch;
  write_checkpoint(scratch / "a.scree", {1, 2, NAN}, "here");
  write_checkpoint(scratch / "b.scree", {1, 2, NAN}, "there");
  const Comparison comparison = compare_results(Comm(), scratch / "a.scree", scratch / "b.scree");
  CHECK(comparison.equal());
  CHECK(field(comparison, "speed").equal);
  CHECK(field(comparison, "step").equal);
  CHECK_THAT(comparison.text(), Catch::Contains("bitwise equal") && !Catch::Contains("host"));
  CHECK(nlohmann::json::parse(comparison.json())["equal"] == true);
}

TEST_CASE("compare: the largest difference 0.5 is found with row 2 and id 2^54", "[io]") {
  const Scratch scratch;
  write_checkpoint(scratch / "a.scree", {1, 2, 3}, "here");
  write_checkpoint(scratch / "b.scree", {1, 2.25, 3.5}, "here", 6);
  const Comparison comparison = compare_results(Comm(), scratch / "a.scree", scratch / "b.scree");
  CHECK_FALSE(comparison.equal());
  const FieldDifference& speed = field(comparison, "speed");
  CHECK(speed.largest == 0.5);
  CHECK(speed.n_different == 2);
  CHECK(speed.row == 2);
  CHECK(speed.id == std::int64_t{1} << 54);
  CHECK(field(comparison, "id").equal);
  CHECK(field(comparison, "step").remark == "5 against 6");
  CHECK_THAT(comparison.text(),
             Catch::Contains("2 numbers differ, by at most 0.5 m/s at id 18014398509481984"));
  const auto json = nlohmann::json::parse(comparison.json());
  CHECK(json["files"][0]["fields"][2]["largest_difference"] == 0.5);
}

TEST_CASE("compare: a zero of the other sign and a NaN are differences", "[io]") {
  const Scratch scratch;
  write_checkpoint(scratch / "a.scree", {0, 2, 3}, "here");
  write_checkpoint(scratch / "b.scree", {-0.0, 2, 3}, "here");
  write_checkpoint(scratch / "c.scree", {0, NAN, 3}, "here");
  const Comparison sign = compare_results(Comm(), scratch / "a.scree", scratch / "b.scree");
  CHECK_FALSE(sign.equal());
  CHECK(field(sign, "speed").largest == 0);
  CHECK(field(sign, "speed").row == 0);
  const Comparison nan = compare_results(Comm(), scratch / "a.scree", scratch / "c.scree");
  CHECK(field(nan, "speed").largest == HUGE_VAL);
  CHECK_NOTHROW(nlohmann::json::parse(nan.json()));
}

TEST_CASE("compare: H5MD files, all frames or the last one only", "[io]") {
  const Scratch scratch;
  write_h5md(scratch / "a.h5", {{1, 2, 3}, {4, 5, 6}});
  write_h5md(scratch / "b.h5", {{1, 2.5, 3}, {4, 5, 6}});
  write_h5md(scratch / "c.h5", {{1, 2, 3}, {4, 5}});
  write_h5md(scratch / "d.h5", {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  CHECK(compare_results(Comm(), scratch / "a.h5", scratch / "a.h5").equal());
  const Comparison b = compare_results(Comm(), scratch / "a.h5", scratch / "b.h5");
  CHECK(field(b, "position").largest == 0.5);
  CHECK(field(b, "position").id == 7);
  CHECK(field(b, "position").step == 0);
  CHECK(field(b, "energy").equal);
  CHECK(compare_results(Comm(), scratch / "a.h5", scratch / "b.h5", {.last_frame_only = true}).equal());
  const Comparison c = compare_results(Comm(), scratch / "a.h5", scratch / "c.h5");
  CHECK(field(c, "position").remark == "3 rows against 2");
  CHECK(field(c, "position").n_different == 0);
  const Comparison d = compare_results(Comm(), scratch / "a.h5", scratch / "d.h5");
  CHECK(field(d, "frames").remark == "2 frames against 3");
  CHECK(field(d, "position").equal);
}

TEST_CASE("compare: tables by column, without those named wall_*", "[io]") {
  const Scratch scratch;
  put(scratch / "a.csv", "time[s],wall_time[s],x[m]\n0,1,1\n1,2,2\n");
  put(scratch / "b.csv", "time[s],wall_time[s],x[m]\n0,5,1\n1,6,2\n");
  put(scratch / "c.csv", "time[s],wall_time[s],x[m]\n0,5,1\n1,6,4\n2,7,1\n");
  CHECK(compare_results(Comm(), scratch / "a.csv", scratch / "b.csv").equal());
  const Comparison c = compare_results(Comm(), scratch / "a.csv", scratch / "c.csv");
  CHECK(field(c, "x").largest == 2);
  CHECK(field(c, "x").row == 1);
  CHECK(field(c, "x").unit == "m");
  CHECK(field(c, "rows").remark == "2 rows against 3");
  CHECK_FALSE(
      compare_results(Comm(), scratch / "a.csv", scratch / "c.csv", {.last_frame_only = true}).equal());
  put(scratch / "d.csv", "time[s],wall_time[s],x[m]\n0,1,1\n1,2,2\n2,3");
  const Comparison d = compare_results(Comm(), scratch / "a.csv", scratch / "d.csv");
  CHECK(field(d, "x").equal);
  CHECK(field(d, "rows").remark == "after its last whole row the second has 3 bytes more");
}

TEST_CASE("compare: folders of runs with two names, file by file by what they are", "[io]") {
  const Scratch scratch;
  for (const std::string run : {"one", "two.b"}) {
    std::filesystem::create_directories(scratch / (run + "/checkpoint"));
    put(scratch / (run + "/" + run + ".scalars.csv"), "time[s]\n0\n");
    put(scratch / (run + "/" + run + ".certificate.csv"), "time[s],overlap[m]\n0,1\n");
    put(scratch / (run + "/" + run + ".exits.csv"), "exit[-]\ndoor\n");
    put(scratch / (run + "/" + run + ".log"), run);
    write_checkpoint(scratch / (run + "/checkpoint/" + run + "_000000002.scree"), {1, 2, 3}, "here");
    write_h5md(scratch / (run + "/" + run + ".h5"), {{1}});
  }
  write_checkpoint(scratch / "one/checkpoint/one_000000001.scree", {0, 0, 0}, "here");
  const auto compared = [&] { return compare_results(Comm(), scratch / "one", scratch / "two.b"); };
  CHECK(compared().equal());
  CHECK(compared().files.size() == 5);
  CHECK_THAT(compared().text(),
             Catch::Contains("5 pairs of files compared, 0 differ: the results are bitwise equal"));
  put(scratch / "two.b/two.b.certificate.csv", "time[s],overlap[m]\n0,2\n");
  CHECK_FALSE(compared().equal());
  put(scratch / "two.b/two.b.certificate.csv", "time[s],overlap[m]\n0,1\n");
  CHECK(compared().equal());
  std::filesystem::remove(scratch / "two.b/two.b.h5");
  CHECK_FALSE(compared().equal());
  CHECK(compared().only_in_one == std::vector<std::string>{scratch / "one/one.h5"});
  CHECK_THAT(compared().text(), Catch::Contains("1 files are on one side only: the results differ"));
}

TEST_CASE("compare: members of ensembles count", "[io]") {
  const Scratch scratch;
  for (const std::string run : {"one", "two"})
    for (const std::string member : {"seed_1", "seed_2"}) {
      std::filesystem::create_directories(scratch / (run + "/" + member));
      put(scratch / (run + "/" + member + "/" + member + ".scalars.csv"), "time[s]\n0\n");
    }
  CHECK(compare_results(Comm(), scratch / "one", scratch / "two").files.size() == 2);
  put(scratch / "two/seed_2/seed_2.scalars.csv", "time[s]\n1\n");
  CHECK_FALSE(compare_results(Comm(), scratch / "one", scratch / "two").equal());
}

TEST_CASE("compare: names of the version before are those of now, and the log says so", "[io]") {
  const Scratch scratch;
  const auto equals = [&](const std::string& a, const std::string& b) {
    return compare_results(Comm(), scratch / a, scratch / b).equal();
  };
  log::start(true, log::Level::quiet);
  log::open_file(scratch / "words.log", false);
  write_words(scratch / "old.scree", old_words);
  write_words(scratch / "new.scree", new_words);
  CHECK(equals("old.scree", "new.scree"));
  CHECK(equals("new.scree", "old.scree"));
  write_typed_bodies(scratch / "old.h5", old_words);
  write_typed_bodies(scratch / "new.h5", new_words);
  CHECK(equals("old.h5", "new.h5"));
  put(scratch / "old.csv", "time[s],overlap[m],held[-]\n0,1,3\n");
  put(scratch / "new.csv", "time[s],max_overlap[m],attracted[-]\n0,1,3\n");
  CHECK(equals("old.csv", "new.csv"));
  put(scratch / "old.agents.csv", "id[-],kind[-],party[-]\n3,adult,-1\n");
  put(scratch / "new.agents.csv", "id[-],agent_type[-],group[-]\n3,adult,-1\n");
  CHECK(equals("old.agents.csv", "new.agents.csv"));
  log::start(false, log::Level::quiet);
  const std::string said = content_of(scratch / "words.log");
  for (const std::string words :
       {"old.scree: 'group' is now called 'type'; the next version will not know the old name",
        "'party' is now called 'group'", "'cell_listed_x' is now called 'cell_reference_x'",
        "old.h5: 'pulled_off' is now called 'detached'", "old.csv: 'held'", "old.agents.csv: 'kind'"})
    CHECK_THAT(said, Catch::Contains(words));
  // Each checkpoint has seven old names and was read twice; the other files have two each.
  CHECK(std::ranges::count(said, '\n') == 2 * 7 + 3 * 2);
  CHECK_THAT(said, !Catch::Contains("new."));
}

TEST_CASE("compare: a name is old only where the file does not have the new one as well", "[io]") {
  const Scratch scratch;
  put(scratch / "a.csv", "time[s],held[-],attracted[-]\n0,1,3\n");
  put(scratch / "b.csv", "time[s],attracted[-]\n0,3\n");
  const Comparison comparison = compare_results(Comm(), scratch / "a.csv", scratch / "b.csv");
  CHECK(field(comparison, "attracted").equal);
  CHECK(field(comparison, "held").remark == "only in the first");
}

TEST_CASE("compare: what cannot be compared is an input error that says why", "[io]") {
  const Scratch scratch;
  write_checkpoint(scratch / "a.scree", {1, 2, 3}, "here");
  write_h5md(scratch / "a.h5", {{1}});
  std::filesystem::create_directories(scratch / "empty");
  CHECK_THAT(message_of<InputError>([&] { compare_results(Comm(), scratch / "a.scree", scratch / "a.h5"); }),
             Catch::Contains("checkpoint, version 1") && Catch::Contains("H5MD 1.1"));
  CHECK_THROWS_AS(compare_results(Comm(), scratch / "a.scree", scratch / "b.scree"), InputError);
  CHECK_THROWS_AS(compare_results(Comm(), scratch / "a.scree", scratch / "empty"), InputError);
  CHECK_THROWS_AS(compare_results(Comm(), scratch / "empty", scratch / "empty"), InputError);
}

TEST_CASE("describe: checkpoint, H5MD file and index say what they hold", "[io]") {
  const Scratch scratch;
  write_checkpoint(scratch / "a.scree", {1, -2, NAN}, "here");
  const std::string checkpoint = describe_file(Comm(), scratch / "a.scree");
  CHECK_THAT(checkpoint, Catch::Contains("checkpoint, version 1") &&
                             Catch::Contains("3 x 1 [m/s]: -2 to 1") && Catch::Contains("1 not finite") &&
                             Catch::Contains("3 to 18014398509481984") && Catch::Contains("here") &&
                             Catch::Contains("step"));
  write_h5md(scratch / "a.h5", {{1, 2, 3}, {4, 5}});
  const std::string h5md = describe_file(Comm(), scratch / "a.h5");
  CHECK_THAT(h5md, Catch::Contains("H5MD 1.1") &&
                       Catch::Contains("2 frames, t = 0 s to 5 s, steps 0 to 10") &&
                       Catch::Contains("2 bodies in the last") && Catch::Contains("[m]: 4 to 5"));
  if (has_vtk()) {
    VtkSeries series(Comm(), scratch / "vtk", "run", "particles", {});
    series.write(4, 0.25, {});
    CHECK_THAT(describe_file(Comm(), scratch / "vtk/run_particles.pvd"),
               Catch::Contains("1 frames, t = 0.25 s") && !Catch::Contains("missing"));
    std::filesystem::remove(scratch / "vtk/particles/run_particles_000000004.pvtp");
    CHECK_THAT(describe_file(Comm(), scratch / "vtk/run_particles.pvd"), Catch::Contains("missing"));
  }
  put(scratch / "a.txt", "nothing");
  CHECK_THROWS_AS(describe_file(Comm(), scratch / "a.txt"), InputError);
}

TEST_CASE("compare, first difference: of states the body, of series the frame, of tables the row", "[io]") {
  const Scratch scratch;
  const double above = std::nextafter(2.0, 3.0);
  write_checkpoint(scratch / "a.scree", {1, 2, 3}, "here");
  write_checkpoint(scratch / "b.scree", {1, std::nextafter(above, 3.0), 4}, "there");
  const Comparison states = compare_results(Comm(), scratch / "a.scree", scratch / "b.scree");
  const FirstDifference& in_states = *field(states, "speed").first;
  CHECK((in_states.row == 1 && in_states.id == 7 && in_states.ulps == 2 && in_states.step == 5));
  CHECK_THAT(states.first_text(),
             Catch::StartsWith("first difference: step 5, speed, body 7, row 1\n  2  ") &&
                 Catch::EndsWith("  2 ulps apart\n"));
  const auto json = nlohmann::json::parse(states.first_json());
  CHECK((json["field"] == "speed" && json["id"] == 7 && json["ulps"] == 2 && json["values"][0] == "2"));

  write_h5md(scratch / "a.h5", {{1, 2}, {3, 4}, {5, 6}});
  write_h5md(scratch / "b.h5", {{1, 2}, {3, -4}, {7, 6}});
  const Comparison series = compare_results(Comm(), scratch / "a.h5", scratch / "b.h5");
  CHECK_THAT(series.first_text(), Catch::StartsWith("first difference: step ") &&
                                      Catch::Contains("position, body 7, row 1\n") &&
                                      Catch::Contains("\n  -4  "));

  put(scratch / "a.csv", "time[s],speed[m/s]\n0,1\n0.5,2\n1,3\n");
  put(scratch / "b.csv", "time[s],speed[m/s]\n0,1\n0.5,2\n1,3.5\n");
  const Comparison tables = compare_results(Comm(), scratch / "a.csv", scratch / "b.csv");
  CHECK_THAT(tables.first_text(), Catch::StartsWith("first difference: t = 1 s, speed, row 2\n"));
  CHECK_THAT(compare_results(Comm(), scratch / "a.csv", scratch / "a.csv").first_text(),
             Catch::Contains("bitwise equal"));
}

TEST_CASE("compare: units in the last place count across zero and not to NaN", "[io]") {
  using detail::ulps_between;
  constexpr double min = std::numeric_limits<double>::denorm_min();
  CHECK(ulps_between(1.0, std::nextafter(1.0, 2.0)) == 1);
  CHECK(ulps_between(-min, min) == 2);
  CHECK(ulps_between(0.0, -0.0) == 0);
  CHECK(ulps_between(1.0F, std::nextafter(1.0F, 0.0F)) == 1);
  CHECK(ulps_between(1.0, std::nan("")) == -1);
  CHECK(ulps_between(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()) > 0);
}
