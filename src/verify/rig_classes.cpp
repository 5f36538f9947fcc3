#include <algorithm>
#include <string>
#include <vector>

#include "verify/rig_cases.hpp"

namespace scree {

namespace {

using IdPair = std::pair<GlobalId, GlobalId>;

/// Spheres at rest or flying, without gravity, in a box of 4 cm. `particles`: keys of the group.
RunDeck<3> deck_of(const std::string& classes, const std::string& neighbors, const std::string& particles) {
  return read_run_deck<3>(Deck::from_text(fmt::format(R"([simulation]
dimension = 3
scheme = "dem"
end_time = 1
seed = 2
[domain]
lower = [0, 0, 0]
upper = [0.04, 0.04, 0.04]
periodic = [false, false, true]
outside = "keep"
[time]
step = 1e-5
[dem]
law = "hertz"
[materials.stone]
density = 2650
young_modulus = 1e7
poisson_ratio = 0.25
[pairs]
"stone-stone" = {{ friction = 0.5, restitution = 0.5 }}
[neighbors]
classes = {}
{}
[particles.grains]
material = "stone"
{}
)",
                                                      classes, neighbors, particles),
                                          "rig of size classes"));
}

const std::vector<std::string> choices{"1", "2", "3", "8", "\"auto\""};

/// Of radii 0.5, 2 and 8 mm: all pairs of the reference, found by comparing all, and no others.
void find_reference_pairs(GrainTable& table, const VerifyOptions& options) {
  const std::string folder = options.source + "/tests/reference/practice/";
  std::vector<IdPair> expected;
  const std::string path = folder + "size_classes_pairs.csv";
  for (const auto& words : read_rows(table.comm(), path, "id_a,id_b,gap_m"))
    expected.emplace_back(std::llround(number(words[0], path)), std::llround(number(words[1], path)));
  std::ranges::sort(expected);
  std::vector<GrainRow> rows;
  for (const std::string& classes : choices) {
    // Open: the reference knows no images.
    RunDeck<3> deck =
        deck_of(classes, "skin = 2e-4",
                fmt::format("source = {{ type = 'file', path = '{}size_classes_start.csv' }}", folder));
    deck.box.periodic = {};
    Simulation<3> simulation(table.comm(), std::move(deck));
    simulation.step();
    const auto ids = simulation.state().bodies.id();
    std::int64_t known = 0, others = 0;
    simulation.neighborhood().schedule().for_each_pair([&](std::size_t, Index low, Index high, Index) {
      const IdPair pair{ids[static_cast<std::size_t>(low)], ids[static_cast<std::size_t>(high)]};
      ++(std::ranges::binary_search(expected, pair) ? known : others);
    });
    const std::string variant = "classes = " + classes;
    rows.push_back(row("pairs of the reference", variant, static_cast<Real>(expected.size()),
                       static_cast<Real>(table.comm().sum(known)), 0.5));
    rows.push_back(row("other pairs", variant, 0, static_cast<Real>(table.comm().sum(others)), 0.5));
  }
  table.add("pairs within 0.2 mm", rows);
}

/// Radii of a sieve curve, 1:12, that fly about: the same bits for every number of classes.
void compare_runs(GrainTable& table) {
  const std::string particles = R"(random_speed = 0.05
radius = { distribution = "sieve", sizes = ["0.8 mm", "2 mm", "5 mm", "10 mm"], fractions = [0.3, 0.4, 0.3] }
source = { type = "random", count = 2000 }
)";
  std::uint64_t first = 0;
  for (const std::string& classes : choices) {
    Simulation<3> simulation(table.comm(), deck_of(classes, "", particles));
    for (int step = 0; step < 60; ++step) simulation.step();
    const std::uint64_t hash = simulation.hash();
    if (classes == choices.front()) first = hash;
    table.demand("size classes: 60 steps of 2000 spheres, 1:12", hash == first,
                 "classes = " + classes + " ends in another state than classes = 1");
  }
}

/// Shares of the mass of 3000 spheres of a sieve curve. The bound is three times what chance does.
void weigh_sieve_classes(GrainTable& table) {
  Simulation<3> simulation(table.comm(), deck_of("\"auto\"", "",
                                                 R"(
radius = { distribution = "sieve", sizes = ["0.5 mm", "1 mm", "2 mm"], fractions = [0.4, 0.6] }
source = { type = "random", count = 3000 }
)"));
  const BodyStore<3>& bodies = simulation.state().bodies;
  std::vector<Real> fine, coarse;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    (2 * bodies.radius()[i] < 1e-3 ? fine : coarse).push_back(bodies.mass()[i]);
  const Real of_fine = ReproducibleSum::sum(table.comm(), fine);
  const Real of_coarse = ReproducibleSum::sum(table.comm(), coarse);
  constexpr Real chance = 0.05;
  table.add("3000 spheres by sieve",
            {row("share below 1 mm", "log", 0.4, of_fine / (of_fine + of_coarse), chance)});
}

}  // namespace

void verify_rig_classes(GrainTable& table, const VerifyOptions& options) {
  find_reference_pairs(table, options);
  compare_runs(table);
  weigh_sieve_classes(table);
}

}  // namespace scree
