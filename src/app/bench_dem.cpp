#include "app/bench_dem.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/measure_time.hpp"
#include "app/run_deck.hpp"
#include "app/simulation.hpp"
#include "comm/id_order.hpp"
#include "core/error.hpp"
#include "core/timing.hpp"
#include "io/files.hpp"

namespace scree {

namespace {

constexpr std::int64_t tile_edge = 16;  // diameters along x and y of the bed that is settled
constexpr std::int64_t tile_bodies = tile_edge * tile_edge * tile_edge;
constexpr Real diameter = 0.01;  // [m]
constexpr Real dt = 5e-5;        // [s], 12 % of the Rayleigh time

/// A deck of the bed with `columns` x `rows` tiles, whose grains come from `source`.
RunDeck<3> bed(const DemBenchOptions& options, std::int64_t columns, std::int64_t rows,
               const std::string& source) {
  const std::string pair = options.law == "linear" ? ", stiffness = 6511" : "";
  const std::string text = fmt::format(
      R"([simulation]
dimension = 3
scheme = "dem"
end_time = 1e9
allow_overlap = true
[domain]
lower = [0, 0, -0.01]
upper = [{}, {}, 0.3]
periodic = [true, true, false]
[time]
step = {}
[physics]
gravity = [0, 0, -9.81]
[dem]
law = "{}"
[materials.glass]
density = 2500
young_modulus = 1e7
poisson_ratio = 0.3
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.5{} }}
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "glass"
[particles.grains]
material = "glass"
radius = {{ distribution = "constant", value = {} }}
{}
)",
      static_cast<Real>(columns * tile_edge) * diameter, static_cast<Real>(rows * tile_edge) * diameter, dt,
      options.law, pair, diameter / 2, source);
  Deck deck = Deck::from_text(text, "benchmark deck");
  RunDeck<3> content;
  content.describe(deck.root());
  deck.require_all_read();
  return content;
}

/// Positions of the settled tile, on all ranks, by id. A few thousand numbers.
std::vector<Vec<3>> settle_tile(const Comm& comm, const DemBenchOptions& options) {
  Simulation<3> simulation(
      comm,
      bed(options, 1, 1,
          fmt::format("random_speed = 0.2\nsource = {{ type = \"lattice\", spacing = {}, jitter = 0.05, "
                      "region = {{ lower = [0, 0, 0], upper = [{}, {}, {}] }} }}",
                      diameter, tile_edge * diameter, tile_edge * diameter,
                      (tile_edge + 0.5) * diameter)));  // along z the lattice does not close on itself
  SCREE_ASSERT(simulation.n_bodies() == tile_bodies);
  while (simulation.state().clock.time < options.settling_time) simulation.step();
  const State<3>& state = simulation.state();
  std::vector<Real> by_id(static_cast<std::size_t>(3 * simulation.n_bodies()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    for (int k = 0; k < 3; ++k)
      by_id[static_cast<std::size_t>(3 * state.bodies.id()[i] + k)] = state.bodies.position()[i][k];
  comm.sum_to_round_off(by_id);  // each from one rank: exact
  std::vector<Vec<3>> positions(by_id.size() / 3);
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = {{by_id[3 * i], by_id[3 * i + 1], by_id[3 * i + 2]}};
  return positions;
}

/// A file that goes away with this object.
class ScratchFile {
 public:
  ScratchFile(const Comm& comm, const std::string& text)
      : comm_(comm),
        path_(std::filesystem::temp_directory_path() /
              fmt::format("scree_bench_{}.csv", comm.sum(std::int64_t{comm.is_root() ? getpid() : 0}))) {
    files::on_root(comm, [&] { files::write_atomically(path_.string(), text); });
  }
  ~ScratchFile() {
    std::error_code ignored;
    if (comm_.is_root()) std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  const Comm& comm_;
  std::filesystem::path path_;
};

std::string tiled(const std::vector<Vec<3>>& tile, std::int64_t columns, std::int64_t rows) {
  std::string text = "x,y,z\n";
  const Real edge = tile_edge * diameter;
  const auto wrapped = [&](Real x) { return std::clamp(x - std::floor(x / edge) * edge, 0.0, edge); };
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t row = 0; row < rows; ++row)
      for (const Vec<3>& x : tile)
        text += fmt::format("{:.12g},{:.12g},{:.12g}\n", wrapped(x[0]) + static_cast<Real>(column) * edge,
                            wrapped(x[1]) + static_cast<Real>(row) * edge, x[2]);
  return text;
}

DemBenchRow measure(const Comm& comm, const DemBenchOptions& options, const std::vector<Vec<3>>& tile,
                    std::int64_t n_tiles) {
  // As square as a whole number of tiles can be.
  auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<Real>(n_tiles)));
  while (n_tiles % rows != 0) --rows;
  const std::int64_t columns = n_tiles / rows;
  const ScratchFile file(comm, comm.is_root() ? tiled(tile, columns, rows) : "");
  Simulation<3> simulation(
      comm, bed(options, columns, rows,
                fmt::format("source = {{ type = \"file\", path = \"{}\" }}", file.path().string())));
  // Springs were left behind with the tile: contacts settle anew.
  for (int i = 0; i < 200; ++i) simulation.step();

  DemBenchRow row;
  row.law = options.law;
  row.bodies = simulation.n_bodies();
  row.ranks = comm.size();
  const auto per_body = [&](auto total) { return static_cast<Real>(total) / static_cast<Real>(row.bodies); };
  row.contacts_per_body = per_body(comm.sum(static_cast<std::int64_t>(simulation.find_contacts(0).size())));
  row.pairs_per_body = per_body(comm.sum(simulation.neighborhood().schedule().n_pairs()));
  row.bytes_per_body = per_body(comm.sum(static_cast<std::int64_t>(simulation.bytes())));

  reset_timers();
  const std::int64_t rebuilds = simulation.neighborhood().n_rebuilds();
  const std::int64_t first = simulation.state().clock.step;
  const Timing step = measure_time(comm, options.repetitions, options.seconds, [&] { simulation.step(); });
  const auto steps = static_cast<Real>(simulation.state().clock.step - first);
  const auto n_rebuilds = static_cast<Real>(simulation.neighborhood().n_rebuilds() - rebuilds);
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto ns = [&](std::string_view name) {
    return 1e9 * seconds_of(timers, name) / steps * per_body(row.ranks);
  };
  row.particle_steps_per_second = static_cast<Real>(row.bodies) / step.median;
  row.spread = step.spread;
  row.steps_per_rebuild = n_rebuilds > 0 ? steps / n_rebuilds : 0;
  row.exchange_ns = ns("exchange");
  row.forces_ns = ns("forces") - row.exchange_ns;
  row.move_ns = ns("move");
  row.neighbours_ns = ns("neighbours");
  return row;
}

}  // namespace

std::vector<DemBenchRow> bench_dem(const Comm& comm, const DemBenchOptions& options) {
  for (const std::int64_t n : options.bodies)
    if (n < tile_bodies || n % tile_bodies != 0)
      throw InputError(
          fmt::format("--bodies {}: beds are made of tiles, give a multiple of {}", n, tile_bodies));
  const std::vector<Vec<3>> tile = settle_tile(comm, options);
  std::vector<DemBenchRow> rows;
  for (const std::int64_t n : options.bodies) rows.push_back(measure(comm, options, tile, n / tile_bodies));
  return rows;
}

std::string format_bench(const std::vector<DemBenchRow>& rows) {
  std::string text =
      fmt::format("{:>6} {:>8} {:>5} {:>8} {:>6} | {:>9} {:>6} | {:>6} {:>6} {:>6} {:>6} | {:>6} {:>6}\n",
                  "law", "bodies", "ranks", "contacts", "pairs", "Mstep/s", "spread", "forces", "exch",
                  "move", "lists", "st/reb", "B/body");
  for (const DemBenchRow& r : rows)
    text += fmt::format(
        "{:>6} {:>8} {:>5} {:>8.2f} {:>6.2f} | {:>9.2f} {:>5.0f}% | {:>6.1f} {:>6.1f} {:>6.1f} {:>6.1f} | "
        "{:>6.0f} "
        "{:>6.0f}\n",
        r.law, r.bodies, r.ranks, r.contacts_per_body, r.pairs_per_body, 1e-6 * r.particle_steps_per_second,
        100 * r.spread, r.forces_ns, r.exchange_ns, r.move_ns, r.neighbours_ns, r.steps_per_rebuild,
        r.bytes_per_body);
  text +=
      "contacts, pairs: touching and candidate pairs per body; Mstep/s: million body-steps per second of all "
      "ranks;\n"
      "forces, exch, move, lists: ns of a rank per body of it and step\n";
  return text;
}

std::string bench_csv(const std::vector<DemBenchRow>& rows) {
  std::string text =
      "law,bodies,ranks,contacts_per_body,pairs_per_body,body_steps_per_second,spread,forces_ns_per_body,"
      "exchange_ns_per_body,move_ns_per_body,neighbours_ns_per_body,steps_per_rebuild,bytes_per_body\n";
  for (const DemBenchRow& r : rows)
    text += fmt::format("{},{},{},{:.4g},{:.4g},{:.6g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g}\n",
                        r.law, r.bodies, r.ranks, r.contacts_per_body, r.pairs_per_body,
                        r.particle_steps_per_second, r.spread, r.forces_ns, r.exchange_ns, r.move_ns,
                        r.neighbours_ns, r.steps_per_rebuild, r.bytes_per_body);
  return text;
}

}  // namespace scree
