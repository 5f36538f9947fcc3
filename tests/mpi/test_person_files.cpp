// People from files: the same bits on any number of ranks, and through restarts; messages are the same.
#include <cmath>
#include <fstream>

#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

std::string write(const Scratch& folder, const std::string& name, const std::string& content) {
  const std::string path = folder / name;
  if (Comm().is_root()) std::ofstream(path, std::ios::binary) << content;
  Comm().barrier();
  return path;
}

/// A hall with 150 people of a file who overlap at first, some drawn ones beside, and a source with a file.
std::string hall(const Scratch& folder) {
  std::string start = "id,x,y,radius,speed,leaves_at,premovement\n";
  for (int k = 0; k < 150; ++k)
    start += fmt::format("{},{:.4f},{:.4f},{},{},{},{}\n", 3 * k + (k % 2),
                         6 + 0.36 * (k % 15) + 0.03 * std::sin(k), 1.2 + 0.37 * (k / 15),
                         0.18 + 0.001 * (k % 10), 1 + 0.01 * (k % 50),
                         k % 3 == 0   ? "west"
                         : k % 3 == 1 ? "east"
                                      : "",
                         0.01 * (k % 7));
  std::string arrivals = "time,x,y,leaves_at\n";
  for (int k = 0; k < 30; ++k)
    arrivals += fmt::format("{},{},{},{}\n", 0.03 * ((7 * k) % 30), 1 + 0.5 * (k % 6), 1 + (k % 7),
                            k % 2 == 0 ? "east" : "");
  return deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 5, .block_cells = 1},
              fmt::format(R"(
[walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[exits.east]
line = [[16, 3.4], [16, 4.8]]
[exits.west]
line = [[0, 3], [0, 5]]
[navigation]
cell = 0.2
[populations.listed]
file = "{}"
separate = true
[populations.drawn]
region = [[12, 1], [15.5, 1], [15.5, 7], [12, 7]]
count = 20
[sources.listed]
file = "{}"
)",
                          write(folder, "start.csv", start), write(folder, "arrivals.csv", arrivals)));
}

}  // namespace

TEST_CASE("people of files start and come with the same bits on any number of ranks", "[mpi]") {
  const Scratch folder;
  const Outcome outcome = check_invariant<2>(hall(folder), {}, 50);
  CHECK(outcome.n_bodies > 150);
  CHECK(outcome.n_contacts > 5);
  if (Comm().size() > 1) CHECK(outcome.n_shared_contacts > 0);
}

TEST_CASE("people of files go on from checkpoints as if there had been none", "[mpi]") {
  const Scratch folder;
  const Coverage covered =
      check_restarts<2>({.text = hall(folder), .overrides = {}, .n_steps = 40, .splits = {4, 12, 30}});
  CHECK(covered.n_contacts > 0);
}

TEST_CASE("the first fault of a file of people is named, whatever rank meets it", "[mpi]") {
  const Scratch folder;
  std::string rows = "id,x,y\n";
  for (int k = 0; k < 40; ++k)
    rows += fmt::format("{},{},{}\n", k, 0.5 + 0.4 * k, k == 37 || k == 23 ? -1 : 4);
  const auto refused = [&](const std::string& content) {
    const std::string path = write(folder, "bad.csv", content);
    const std::string text =
        deck({.scheme = "crowd", .step = 0.05, .end_time = 10},
             "[walkable]\npolygon = [[0, 0], [17, 0], [17, 8], [0, 8]]\n[populations.all]\nfile = \"" + path +
                 "\"\n");
    const auto on = [&](const Comm& comm) {
      return message_of([&] { Simulation<2>(comm, read_deck<2>(text)); });
    };
    const std::string alone = on(Comm(MPI_COMM_SELF)), together = on(Comm());
    CHECK(alone == together);
    return alone;
  };
  CHECK_THAT(refused(rows), Catch::Contains("person 23 (") && Catch::Contains("bad.csv:25") &&
                                Catch::Contains("so are 1 more"));
  std::string close = "id,x,y\n";
  for (int k = 0; k < 40; ++k)
    close += fmt::format("{},{},4\n", k, 0.5 + 0.4 * k - (k >= 20 ? 0.15 : 0) - (k >= 31 ? 0.15 : 0));
  CHECK_THAT(refused(close),
             Catch::Contains("person 19 (") && Catch::Contains("person 20 (") && Catch::Contains("2 pairs"));
}
