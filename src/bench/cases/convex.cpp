#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/nonsmooth_steps.hpp"
#include "bench/packing.hpp"
#include "core/command_line.hpp"
#include "core/memory.hpp"

namespace scree {

namespace {

/// Non-smooth dynamics of cubes beside that of spheres of their volume: the pour onto a floor, periodic
/// sideways, and steps of the settled bed. Both fall from the same lattice with random velocities; cubes are
/// turned at random.
class ConvexBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override {
    app.option("--bodies", bodies_, "numbers of bodies, over all ranks")
        .delimiter(',')
        .check(positive_number());
    app.option("--tolerance", tolerance_, "of [solver]").check(positive_number());
    app.option("--settling-time", settling_time_, "of the pour, before the bed is measured [s]")
        .check(positive_number());
    add_repetitions(app);
    app.option("--steps", steps_, "of one repetition").check(positive_number());
  }
  void make_quick() override {
    settling_time_ = 0.4;
    repetitions_ = 3;
    steps_ = 10;
  }
  std::int64_t study_bodies() const override { return bodies_.back(); }
  void set_bodies(std::int64_t bodies) override { bodies_ = {bodies}; }

  void run(const BenchRun& run) override {
    for (const std::int64_t n : bodies_)
      for (const auto& [name, keys] : shapes()) {
        const std::int64_t memory_before = live_memory();
        Simulation<3> simulation(run.comm(), read_bench_deck<3>(deck(n, keys)));
        std::int64_t n_steps = 0;
        const Real pour = seconds_of_call(run.comm(), TimeKind::processor, [&] {
          for (; simulation.state().clock.time < settling_time_; ++n_steps) simulation.step();
        });
        BenchRow row("step");
        row.key("shape", name);
        row.result("pour_us_per_body_step", "us",
                   1e6 * pour * run.comm().size() / static_cast<Real>(n_steps * simulation.n_bodies()));
        run.add(measure_nonsmooth_steps(run.comm(), simulation, memory_before, repetitions_, steps_,
                                        std::move(row)));
      }
  }

 private:
  static constexpr Real edge = 0.01, spacing = 1.8 * edge;  // [m]

  /// Names, and keys of the bodies.
  static std::vector<std::pair<std::string, std::string>> shapes() {
    const Real radius = edge * std::cbrt(3 / (4 * std::numbers::pi));
    return {{"sphere", fmt::format("radius = {{ distribution = \"constant\", value = {} }}", radius)},
            {"box", "shape = \"cube\"\norientation = \"random\""}};
  }
  /// Twice as many layers as columns along an edge.
  std::string deck(std::int64_t n_bodies, const std::string& keys) const {
    const Real columns = std::ceil(std::cbrt(static_cast<Real>(n_bodies) / 2));
    const Real layers = std::ceil(static_cast<Real>(n_bodies) / (columns * columns));
    return fmt::format(
        R"([simulation]
dimension = 3
scheme = "nonsmooth"
end_time = 1e9
[domain]
lower = [0, 0, -0.01]
upper = [{0}, {0}, {1}]
periodic = [true, true, false]
[time]
step = 0.002
[physics]
gravity = [0, 0, -9.81]
[solver]
type = "nsgs"
tolerance = {2}
[materials.stone]
density = 2500
[pairs]
"stone-stone" = {{ friction = 0.5, restitution = 0.5 }}
[shapes.cube]
type = "box"
size = [{3}, {3}, {3}]
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "stone"
[particles.grains]
material = "stone"
{4}
random_speed = 0.3
source = {{ type = "lattice", count = {5}, region = {{ lower = [0, 0, 0], upper = [{0}, {0}, {1}] }} }}
)",
        columns * spacing, layers * spacing, tolerance_, edge, keys, n_bodies);
  }

  std::vector<std::int64_t> bodies_{1000};
  Real tolerance_ = 1e-3;
  Real settling_time_ = 0.8;
  int steps_ = 20;
};

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(convex, scree::ConvexBench,
                 "non-smooth dynamics: cubes beside spheres of their volume, poured and at rest")
