#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/packing.hpp"
#include "bench/scratch.hpp"
#include "core/command_line.hpp"
#include "core/files.hpp"
#include "core/memory.hpp"
#include "core/timing.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

/// Soft spheres of two sizes in a box with walls, as much volume of the one as of the other: small ones, 1 mm
/// wide, on a cubic lattice 2 % wider than their diameter, and large ones in their midst that took the
/// places of those in the way. Ratio 1: the small ones alone. A periodic box would have to be four of the
/// large ones wide.
class SizesBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override {
    app.option("--bodies", bodies_, "about how many bodies, over all ranks").check(positive_number());
    app.option("--ratios", ratios_, "radii of the large ones over those of the small ones")
        .delimiter(',')
        .check(positive_number());
    app.option("--classes", classes_, "size classes of the neighbour search; 0: auto").check(in_range(0, 8));
    app.option("--speed", speed_, "rms speed at first [m/s]").check(positive_number());
    add_repetitions(app);
    add_folder(app);
    app.option("--seconds", seconds_, "least time of a repetition").check(positive_number());
  }
  void make_quick() override {
    bodies_ = 20'000;
    ratios_ = {1, 10};
    repetitions_ = 3;
    seconds_ = 0.2;
  }
  std::int64_t study_bodies() const override { return bodies_; }
  void set_bodies(std::int64_t bodies) override { bodies_ = bodies; }

  void run(const BenchRun& run) override {
    for (const Real ratio : ratios_)
      if (ratio < 1) throw InputError(fmt::format("--ratios {}: the large ones are not smaller", ratio));
    for (const Real ratio : ratios_) measure(run, ratio);
  }

 private:
  struct Mixture {
    std::string csv;  // x,y,z,radius
    std::int64_t n_bodies = 0, n_large = 0;
    Real edge = 0;  // of the box [m]
  };
  Mixture mix(Real ratio) const;
  RunDeck<3> deck(const std::string& path, Real edge) const;
  void measure(const BenchRun& run, Real ratio) const;

  std::int64_t bodies_ = 100'000;
  std::vector<Real> ratios_{1, 10, 40};
  int classes_ = 0;
  Real speed_ = 0.2;
  Real seconds_ = 1;
};

SizesBench::Mixture SizesBench::mix(Real ratio) const {
  constexpr Real radius = 5e-4, spacing = 2 * radius * 1.02;
  const Real large = ratio * radius, of_large = std::pow(ratio, 3);
  Mixture mixture;
  // Large ones on a cubic lattice whose number comes near.
  std::int64_t per_edge = 0;
  if (ratio > 1) {
    Real best = HUGE_VAL;
    for (std::int64_t k = 1; k < 100; ++k) {
      const Real error =
          std::abs(std::log(static_cast<Real>(k * k * k) * of_large / static_cast<Real>(bodies_)));
      if (error >= best) continue;
      best = error;
      per_edge = k;
    }
  }
  mixture.n_large = per_edge * per_edge * per_edge;
  const Real n_small = ratio > 1 ? static_cast<Real>(mixture.n_large) * of_large : static_cast<Real>(bodies_);
  const Real volume = n_small * std::pow(spacing, 3) +
                      static_cast<Real>(mixture.n_large) * 4.0 / 3 * M_PI * std::pow(large + 0.5 * radius, 3);
  const auto sites = static_cast<std::int64_t>(std::llround(std::cbrt(volume) / spacing));
  mixture.edge = static_cast<Real>(sites) * spacing;
  std::vector<Vec<3>> balls;
  const Real cell = per_edge > 0 ? mixture.edge / static_cast<Real>(per_edge) : 0;
  for (std::int64_t z = 0; z < per_edge; ++z)
    for (std::int64_t y = 0; y < per_edge; ++y)
      for (std::int64_t x = 0; x < per_edge; ++x)
        balls.push_back({{(static_cast<Real>(x) + 0.5) * cell, (static_cast<Real>(y) + 0.5) * cell,
                          (static_cast<Real>(z) + 0.5) * cell}});
  mixture.csv = "x,y,z,radius\n";
  const auto add = [&](const Vec<3>& x, Real r) {
    mixture.csv += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g}\n", x[0], x[1], x[2], r);
    ++mixture.n_bodies;
  };
  for (const Vec<3>& ball : balls) add(ball, large);
  for (std::int64_t i = 0; i < sites * sites * sites; ++i) {
    Vec<3> x;
    std::int64_t rest = i;
    for (int k = 0; k < 3; ++k, rest /= sites) x[k] = (static_cast<Real>(rest % sites) + 0.5) * spacing;
    const bool is_free =
        std::ranges::none_of(balls, [&](const Vec<3>& ball) { return norm(x - ball) < large + radius; });
    if (is_free) add(x, radius);
  }
  return mixture;
}

RunDeck<3> SizesBench::deck(const std::string& path, Real edge) const {
  return read_bench_deck<3>(fmt::format(R"([simulation]
dimension = 3
scheme = "dem"
end_time = 1e9
allow_overlap = true
[domain]
lower = [0, 0, 0]
upper = [{0}, {0}, {0}]
outside = "keep"
[time]
step = 5e-6
[dem]
law = "hertz"
[materials.glass]
density = 2500
young_modulus = 1e7
poisson_ratio = 0.3
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.9 }}
[neighbors]
classes = {1}
[obstacles.box]
type = "box"
lower = [0, 0, 0]
upper = [{0}, {0}, {0}]
side = "inside"
[particles.grains]
material = "glass"
random_speed = {2}
source = {{ type = "file", path = "{3}" }}
)",
                                        edge, classes_ == 0 ? "\"auto\"" : std::to_string(classes_), speed_,
                                        path));
}

void SizesBench::measure(const BenchRun& run, Real ratio) const {
  const Comm& comm = run.comm();
  const Mixture mixture = mix(ratio);
  const ScratchFolder folder(comm, folder_);
  const std::string path = folder.path() + "/mixture.csv";
  files::on_root(comm, [&] { files::write_atomically(path, mixture.csv); });
  const std::int64_t memory_before = live_memory();
  Simulation<3> simulation(comm, deck(path, mixture.edge));
  constexpr int n_steps = 50;
  const auto go_on = [&] {
    for (int i = 0; i < n_steps; ++i) simulation.step();
  };
  go_on();

  const auto bodies = static_cast<Real>(mixture.n_bodies);
  const auto per_body = [&](auto of_rank) {
    return static_cast<Real>(comm.sum(static_cast<std::int64_t>(of_rank))) / bodies;
  };
  const SweepSchedule<3>& schedule = simulation.neighborhood().schedule();
  BenchRow row("step");
  row.key("ratio", fmt::format("1:{:g}", ratio)).size("bodies", mixture.n_bodies);
  row.result("large", "-", mixture.n_large);
  row.result("blocks", "-", comm.sum(static_cast<std::int64_t>(schedule.all_blocks().size())));
  row.result("contacts_per_body", "-", per_body(simulation.find_contacts(0).size()));
  row.result("pairs_per_body", "-", per_body(schedule.n_pairs()));
  row.result("places_per_pair", "-",
             per_body(schedule.n_batches() * batch_size) / per_body(schedule.n_pairs()));

  reset_timers();
  const std::int64_t rebuilds = simulation.neighborhood().n_rebuilds();
  const std::int64_t first = simulation.state().clock.step;
  const Timing steps_taken = measure_time(comm, repetitions_, seconds_, go_on);
  const auto steps = static_cast<Real>(simulation.state().clock.step - first);
  const auto n_rebuilds = static_cast<Real>(simulation.neighborhood().n_rebuilds() - rebuilds);
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto ns = [&](std::string_view name, Real per) {
    return per > 0 ? 1e9 * seconds_of(timers, name) / per * comm.size() / bodies : 0;
  };
  row.time(steps_taken);
  row.phases = phases_within(timers, "step");
  row.result("step_ns_per_body", "ns", 1e9 * steps_taken.median / n_steps * comm.size() / bodies);
  row.result("forces_ns_per_body", "ns", ns("forces", steps));
  row.result("rebuild_ns_per_body", "ns", ns("neighbours", n_rebuilds));
  row.result("search_ns_per_body", "ns", ns("search", n_rebuilds));
  row.result("classes_ns_per_body", "ns", ns("classes", n_rebuilds));
  row.result("steps_per_rebuild", "-", n_rebuilds > 0 ? steps / n_rebuilds : 0);
  row.result("bytes_per_body", "-", per_body(live_memory() - memory_before));
  run.add(std::move(row));
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(sizes, scree::SizesBench,
                 "soft spheres of two sizes, up to 1:40: steps, search and memory per body")
