// Checkpoints that are damaged, and checkpoints made by hand whose checksums fit.
#include "run/checkpoint.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "io/array_file.hpp"
#include "mpi/simulate.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

const std::string grains_deck = deck({.dimension = 3,
                                      .scheme = "nonsmooth",
                                      .lower = "[0, 0, 0]",
                                      .upper = "[1, 1, 1]",
                                      .end_time = 1,
                                      .gravity = "[0, 0, -9.81]"},
                                     R"(
[materials.stone]
density = 2000
[pairs.stone-stone]
friction = 0.3
restitution = 0
[solver]
type = "nsgs"
[particles.grains]
material = "stone"
radius = { distribution = "uniform", min = 0.05, max = 0.08 }
source = { type = "lattice", count = 30, region = { lower = [0.1, 0.1, 0.1], upper = [0.9, 0.9, 0.9] } }
[obstacles.floor]
type = "plane"
point = [0, 0, 0.1]
normal = [0, 0, 1]
material = "stone"
)");

#ifdef SCREE_CROWD
const std::string people_deck = deck({.scheme = "crowd", .step = 0.05, .end_time = 10}, R"(
[walkable]
polygon = [[0, 0], [10, 0], [10, 5], [0, 5]]
[exits.door]
line = [[10, 2], [10, 3]]
[populations.all]
count = 12
)");
#endif

/// All that is in a checkpoint.
struct Content {
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, Real> reals;
  struct Array {
    std::string unit;
    int components = 1;
    std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::int32_t>> values;
  };
  std::map<std::string, Array> arrays;
  files::Texts provenance;

  template <class T>
  std::vector<T>& of(const std::string& name) {
    return std::get<std::vector<T>>(arrays.at(name).values);
  }
};

constexpr std::int64_t version = 10;

Content read_content(const std::string& path) {
  const ArrayFileReader file(Comm(), path, "scree checkpoint", version);
  Content content;
  for (const auto& [name, text] : file.numbers())
    if (text.find_first_not_of("-0123456789") == std::string::npos && name != "time" && name != "last_dt" &&
        name != "reference_time" && (!name.starts_with("energy_") || name == "energy_last_step") &&
        !name.starts_with("lattice_origin") && !name.starts_with("lattice_cell_edge") &&
        !name.ends_with("_skin") && name != "lattice_largest_radius" && name != "stage_begin" &&
        !name.ends_with("_mass") && !name.starts_with("measure_"))
      content.integers[name] = file.integer(name);
    else
      content.reals[name] = file.real(name);
  for (const auto& info : file.arrays()) {
    Content::Array& array = content.arrays[info.name];
    array.unit = info.unit;
    array.components = info.components;
    if (info.type == hdf5::Type::int64) array.values = std::vector<std::int64_t>();
    if (info.type == hdf5::Type::int32) array.values = std::vector<std::int32_t>();
    std::visit([&](auto& values) { file.share(info.name, values); }, array.values);
  }
  content.provenance = file.provenance();
  return content;
}

void write_content(const Content& content, const std::string& path) {
  ArrayFileWriter file(Comm(), path, "scree checkpoint", version);
  for (const auto& [name, value] : content.integers) file.number(name, value);
  for (const auto& [name, value] : content.reals) file.number(name, value);
  for (const auto& [name, array] : content.arrays)
    std::visit(
        [&]<class T>(const std::vector<T>& values) {
          file.array({name, array.unit, array.components, std::span<const T>(values)});
        },
        array.values);
  for (const auto& [name, text] : content.provenance) file.provenance(name, text);
  file.commit();
}

template <int D>
void save_after(const std::string& deck, int n_steps, const std::string& path) {
  Simulation<D> simulation(Comm(), read_deck<D>(deck));
  for (int k = 0; k < n_steps; ++k) simulation.step();
  simulation.save_memory();
  write_checkpoint(simulation.state(), path, "test", deck, {{"version", "here"}},
                   simulation.measure_memories());
}

template <int D>
std::string restart_error(const std::string& deck, const std::string& path) {
  return message_of<InputError>([&] { Simulation<D>(Comm(), read_deck<D>(deck), path); });
}

constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

}  // namespace

TEST_CASE("checkpoint: a bit flipped anywhere is refused or changes nothing that a restart reads", "[app]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree", damaged = scratch / "damaged.scree";
  save_after<3>(grains_deck, 3, path);
  const std::string whole = content_of(path);
  const auto restart_of = [&](const std::string& file) {
    const CheckpointHead head = read_checkpoint_head(Comm(), file);
    Simulation<3> simulation(Comm(), read_deck<3>(grains_deck), file);
    const State<3>& state = simulation.state();
    return fmt::format("{} {} {} {} {} {} {}", simulation.hash(), state.clock.step, state.clock.time,
                       state.next_id, fmt::join(state.memory.value, ","), head.deck, head.run_name);
  };
  const std::string expected = restart_of(path);
  std::mt19937 random(1);
  std::vector<std::size_t> places;
#if !defined(__SANITIZE_ADDRESS__)  // where HDF5 1.10 frees what a damaged link says: see InputCrashGuard
  for (int k = 0; k < 200; ++k) places.push_back(random() % whole.size());
#endif
  const std::size_t deck = whole.find("[simulation]\ndimension = 3");
  REQUIRE(deck != std::string::npos);
  for (std::size_t k = 0; k < 40; ++k) places.push_back(deck + k * (grains_deck.size() / 40));
  std::size_t n_refused = 0, n_in_deck = 0;
  for (const std::size_t place : places) {
    std::string content = whole;
    content[place] = static_cast<char>(content[place] ^ (1 << random() % 8));
    put(damaged, content);
    try {
      const std::string found = restart_of(damaged);
      INFO("byte " << place);
      CHECK(found == expected);
    } catch (const InputError&) {
      ++n_refused;
      n_in_deck += place >= deck && place < deck + grains_deck.size();
    }
  }
  CHECK(12 * n_refused > 5 * places.size());
  CHECK(n_in_deck >= 40);
}

TEST_CASE("checkpoint: numbers that cannot be are refused by name though all checksums fit", "[app]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree", crafted = scratch / "crafted.scree";
  save_after<3>(grains_deck, 3, path);
  const Content content = read_content(path);
  write_content(content, crafted);
  REQUIRE(restart_error<3>(grains_deck, crafted).empty());
  REQUIRE(content.integers.at("next_id") == 30);

  const auto error_after = [&](const std::function<void(Content&)>& change) {
    Content changed = content;
    change(changed);
    write_content(changed, crafted);
    const std::string error = restart_error<3>(grains_deck, crafted);
    return error.starts_with(crafted + ": ") ? error.substr(crafted.size() + 2) : "other: " + error;
  };
  using C = Content&;
  constexpr std::int64_t huge = std::int64_t{1} << 60;
  CHECK(error_after([](C c) { c.integers["step"] = -1; }) == "step is -1, not in [0, 72057594037927936]");
  CHECK(error_after([](C c) { c.integers["dimension"] = 2; }) == "dimension is 2, not in [3, 3]");
  CHECK(error_after([](C c) { c.reals["time"] = not_a_number; }) == "time is nan, not a number from 0 on");
  CHECK(error_after([](C c) { c.reals["energy_start"] = not_a_number; }) ==
        "energy_start is nan, not finite");
  CHECK(error_after([](C c) { c.integers["next_id"] = 29; }) ==
        "row 29 of the bodies: id is 29, not in [0, next_id = 29)");
  CHECK(error_after([](C c) { c.integers["lattice_cells_x"] = 0; }) ==
        "lattice_cells_x is 0, not in [1, 2147483647]");
  CHECK_THAT(error_after([](C c) { c.integers["lattice_blocks_y"] = huge; }),
             Catch::StartsWith("lattice_blocks_y is 1152921504606846976, not in [1, "));
  CHECK_THAT(error_after([](C c) { c.integers["lattice_block_cells_z"] = 1 << 20; }),
             Catch::StartsWith("lattice_block_cells_z is 1048576, not in [1, 4096]"));
  CHECK_THAT(error_after([](C c) { c.reals["lattice_cell_edge_x"] = 0; }),
             Catch::StartsWith("lattice_cell_edge_x"));
  CHECK(error_after([](C c) { c.integers["lattice_cells_per_block"] = 33; }) ==
        "lattice_cells_per_block is 33, not in [1, 32]");
  CHECK_THAT(error_after([](C c) { c.reals["lattice_usual_skin"] = 1; }),
             Catch::StartsWith("lattice_usual_skin is 1, not in [0, "));
  CHECK_THAT(
      error_after([](C c) { c.reals["lattice_largest_radius"] = 0.4; }),
      Catch::StartsWith("lattice_cell_edge_x is ") && Catch::Contains("two largest radii and the skin"));
  CHECK(error_after([](C c) { c.integers["memory_width"] = 100; }) == "memory_width is 100, not in [1, 16]");
  CHECK(error_after([](C c) { c.of<double>("radius")[7] = not_a_number; }) == "radius[7] is nan");
  CHECK(error_after([](C c) { c.of<double>("radius")[7] = -1; }) ==
        "row 7 of the bodies: radius is -1, not positive");
  CHECK(error_after([](C c) { c.of<double>("position")[3 * 4 + 2] = HUGE_VAL; }) == "position[4, 2] is inf");
  CHECK(error_after([](C c) { c.of<double>("mass")[2] = 0; }) ==
        "row 2 of the bodies: mass is 0, not positive");
  CHECK(error_after([](C c) { c.of<double>("mobility")[2] = -1; }) ==
        "row 2 of the bodies: mobility is -1, negative");
  CHECK(error_after([](C c) {
          c.of<double>("orientation")[4 * 5] = 3;
        }).find("row 5 of the bodies: orientation") == 0);
  CHECK(error_after([](C c) { c.of<std::int32_t>("type")[12] = 1; }) ==
        "row 12 of the bodies: type is 1, not in [0, 1)");
  CHECK(error_after([](C c) { c.of<std::int32_t>("type")[12] = -1; }) ==
        "row 12 of the bodies: type is -1, not in [0, 1)");
  CHECK(error_after([](C c) { c.of<GlobalId>("id")[12] = 11; }) ==
        "row 12 of the bodies: id is 11, not above the 11 before it");
  CHECK(error_after([](C c) { c.of<double>("radius").pop_back(); }) ==
        "array radius has 29 x 1 numbers, not 30 x 1");
  CHECK(error_after([](C c) { c.arrays.at("position").components = 1; }) ==
        "array position has 90 x 1 numbers, not 30 x 3");
  CHECK(error_after([](C c) { c.arrays.at("radius").values = std::vector<std::int64_t>(30); }) ==
        "array radius has 30 x 1 numbers of another type, not 30 x 1");
  CHECK(error_after([](C c) { c.arrays.erase("velocity"); }) == "there is no array velocity");
  CHECK(error_after([](C c) { c.integers.erase("step"); }) == "there is no number step");
  CHECK_THAT(error_after([](C c) { c.of<std::int32_t>("memory_count")[0] = -1; }),
             Catch::StartsWith("memory_count[0] is -1, not in [0, "));
  CHECK_THAT(error_after([](C c) { c.of<std::int32_t>("memory_count")[0] = 2000000000; }),
             Catch::StartsWith("memory_count[0] is 2000000000, not in [0, "));
  CHECK_THAT(error_after([](C c) {
               c.of<GlobalId>("memory_other").push_back(3);
               c.of<double>("memory_value").resize(c.of<double>("memory_value").size() + 3);
             }),
             Catch::StartsWith("memory_count adds up to "));
  CHECK(error_after([](C c) { c.integers["stage_index"] = 4; }) ==
        "stage_index is 4, but there are 0 stages");
}

#ifdef SCREE_CROWD
TEST_CASE("checkpoint: what people carry is refused where the deck has no such thing", "[app]") {
  const Scratch scratch;
  const std::string path = scratch / "a.scree", crafted = scratch / "crafted.scree";
  save_after<2>(people_deck, 3, path);
  const Content content = read_content(path);
  const auto error_after = [&](const std::string& field, std::int32_t value) {
    Content changed = content;
    changed.of<std::int32_t>(field)[5] = value;
    write_content(changed, crafted);
    return restart_error<2>(people_deck, crafted);
  };
  const std::string row = crafted + ": row 5 of the bodies: ";
  CHECK(error_after("type", 1) == row + "type is 1, not in [0, 1)");
  CHECK(error_after("agent_type", 7) == row + "agent_type is 7, not in [0, 1)");
  CHECK(error_after("agent_type", -1) == row + "agent_type is -1, not in [0, 1)");
  CHECK(error_after("journey", 1) == row + "journey is 1, not in [-1, 1)");
  CHECK(error_after("destination", 1) == row + "destination is 1, not in [-1, 1)");
  CHECK(error_after("journey_step", 9) == row + "journey_step is 9, not in [0, 1)");
  CHECK(error_after("destination", -1).empty());
}
#endif
