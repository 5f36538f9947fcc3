#include <catch2/catch.hpp>
#include <limits>

#include "bench/case.hpp"
#include "core/json.hpp"

using namespace scree;

namespace {

TimerRow timer(const std::string& name, int depth, Real seconds) {
  TimerRow row;
  row.name = name;
  row.depth = depth;
  row.mean = seconds;
  return row;
}

}  // namespace

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

TEST_CASE("A row in JSON has all that its case said, infinite numbers as texts") {
  BenchRow row("step");
  row.seconds = 0.25;
  row.spread = 0.5;
  row.key("law", std::string("hertz")).size("bodies", 12);
  row.timing("write", "s", 0.1, 0.01).result("stiffness", "N/m", std::numeric_limits<Real>::infinity());
  row.only_in_files();
  row.phases = {{"sweeps", 0.75}};
  row.remarks = {"a, \"note\""};
  const Comm comm;
  std::string sent;
  BenchRun(comm, "dem", "strong", [&](const std::string& what, const Json& value) {
    CHECK(what == "row");
    sent = value.dump();
  }).add(row);
  CHECK(
      sent ==
      R"({"case":"dem","mode":"strong","ranks":1,"work":"step","seconds":0.25,"complete":true,"spread":0.5,)"
      R"("keys":{"law":"hertz"},"size":{"bodies":12},"values":{"write":0.1,"stiffness":"inf"},)"
      R"("units":{"law":"-","bodies":"-","write":"s","stiffness":"N/m"},"spreads":{"write":0.01},)"
      R"("phases":{"sweeps":0.75},"only_in_files":["stiffness"],"notes":["a, \"note\""]})");
}
