#include <catch2/catch.hpp>
#include <limits>

#include "bench/row.hpp"
#include "core/json.hpp"

using namespace scree;

namespace {

BenchRow row_of(int ranks, Real seconds, std::int64_t bodies, const std::string& law = "hertz") {
  BenchRow row("step");
  row.bench = "dem";
  row.mode = "strong";
  row.ranks = ranks;
  row.seconds = seconds;
  row.key("law", law).size("bodies", bodies).result("rate", "1/s", 1 / seconds);
  return row;
}

/// The text with one blank where there are several.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' || result.empty() || result.back() != ' ') result += c;
  return result;
}

TimerRow timer(const std::string& name, int depth, Real seconds) {
  TimerRow row;
  row.name = name;
  row.depth = depth;
  row.mean = seconds;
  return row;
}

}  // namespace

TEST_CASE("Rows of a case are compared by rates of work per rank") {
  // The second row of four ranks has 3 times the work of that on one.
  std::vector<BenchRow> rows{row_of(4, 1, 1000), row_of(4, 2, 3000), row_of(1, 2, 1000), row_of(1, 1, 1000)};
  compare_ranks(rows);
  REQUIRE(rows.size() == 4);
  const int ranks[] = {1, 4, 1, 4};
  const Real efficiency[] = {1, 0.5, 1, 3.0 / 8};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(rows[k].ranks == ranks[k]);
    CHECK(rows[k].number("efficiency") == Approx(efficiency[k]));
    CHECK(rows[k].number("speed_up") == Approx(efficiency[k] * ranks[k]));
  }
}

TEST_CASE("Rows with different keys, or alone, are not compared") {
  std::vector<BenchRow> rows{row_of(1, 1, 10, "linear"), row_of(2, 1, 10)};
  compare_ranks(rows);
  for (const BenchRow& row : rows) CHECK(row.find("efficiency") == nullptr);
  rows = {row_of(1, 1, 10), row_of(2, 1, 10)};
  rows[1].is_complete = false;
  compare_ranks(rows);
  CHECK(rows.at(0).find("speed_up") == nullptr);
  rows = {row_of(2, 1, 10)};
  compare_ranks(rows);
  CHECK(rows.at(0).find("speed_up") == nullptr);
}

TEST_CASE("Phases are the outermost timers of a scope, exchanges taken out") {
  const std::vector<TimerRow> timers{
      timer("start", 0, 5),    timer("step", 0, 10),    timer("sweeps", 1, 6), timer("exchange", 2, 2),
      timer("inner", 2, 1),    timer("exchange", 3, 1), timer("lists", 1, 2),  timer("tiny", 1, 0.01),
      timer("exchange", 1, 1), timer("output", 0, 3),   timer("sweeps", 1, 3),
  };
  const std::vector<BenchPhase> phases = phases_within(timers, "step");
  REQUIRE(phases.size() == 4);
  CHECK(phases[0].name == "exchange");
  CHECK(phases[0].share == Approx(0.4));
  CHECK(phases[1].name == "sweeps");
  CHECK(phases[1].share == Approx(0.3));
  CHECK(phases[2].name == "lists");
  CHECK(phases[2].share == Approx(0.2));
  CHECK(phases[3].name == "other");
  CHECK(phases[3].share == Approx(0.099));
  CHECK(phases_within(timers, "nothing").empty());
}

TEST_CASE("Rows survive JSON, infinite numbers included") {
  BenchRow row = row_of(3, 0.25, 12);
  row.spread = 0.5;
  row.timing("write", "s", 0.1, 0.01).result("stiffness", "N/m", std::numeric_limits<Real>::infinity());
  row.only_in_files();
  row.phases = {{"sweeps", 0.75}};
  row.notes = {"a, \"note\""};
  const BenchRow same = row_from_json(Json::parse(to_json(row).dump()));
  CHECK(to_json(same).at("keys") == to_json(row).at("keys"));
  CHECK(same.ranks == 3);
  CHECK(same.work_size() == 12);
  CHECK(same.spread == row.spread);
  CHECK(same.find("write")->spread == row.find("write")->spread);
  CHECK(!same.find("stiffness")->in_table);
  CHECK(rows_as_csv({same}, "") == rows_as_csv({row}, ""));
}

TEST_CASE("CSV has the columns of all rows") {
  BenchRow first = row_of(1, 0.5, 10), second = row_of(2, 0.25, 10);
  second.spread = 0.125;
  second.result("comment", "-", std::string("one, two"));
  first.phases = {{"free motion", 0.25}};
  CHECK(rows_as_csv({first, second}, "fast, 2 cores") ==
        "case,mode,ranks,law,bodies,seconds,spread,rate,comment,share_free_motion,processor\n"
        "dem,strong,1,hertz,10,0.5,,2,,0.25,\"fast, 2 cores\"\n"
        "dem,strong,2,hertz,10,0.25,0.125,4,\"one, two\",,\"fast, 2 cores\"\n");
}

TEST_CASE("Tables scale units by column, or by cell where numbers differ much") {
  BenchRow first = row_of(1, 2e-3, 1000), second = row_of(2, 4e-3, 1000);
  first.notes = {"a note"};
  std::string text = format_rows({first, second}, "Some Processor, 2 cores");
  CHECK(text.starts_with("on Some Processor, 2 cores\n"));
  for (const char* words : {"law bodies ranks per step rate\n", " ms 1/s\n", "hertz 1000 1 2 500\n",
                            " a note\n", "hertz 1000 2 4 250\n"})
    CHECK(squeezed(text).find(words) != std::string::npos);
  second.seconds = 4e-8;
  text = format_rows({first, second}, "");
  CHECK(text.find("2 ms") != std::string::npos);
  CHECK(text.find("40 ns") != std::string::npos);
  for (std::size_t k = 0; k < 30; ++k) first.result(std::string(12, 'x') + std::to_string(k), "-", 1.5);
  text = format_rows({first}, "");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 118);
    begin = end + 1;
  }
}
