#include "app/bench.hpp"

#include <fmt/format.h>

#include "app/measure_time.hpp"
#include "app/run_deck.hpp"
#include "app/simulation.hpp"
#include "core/timing.hpp"
#include "dynamics/pbd/sweeper.hpp"

namespace scree {

namespace {

template <int D>
RunDeck<D> packing(std::int64_t n_bodies, const std::string& skin, std::int64_t block_cells) {
  const Real radius = 0.5;
  const Real solid_fraction = D == 2 ? 0.80 : 0.55;
  // Mean of r^2 and r^3 for radii spread evenly by +-20 %.
  const Real volume =
      D == 2 ? M_PI * radius * radius * (1 + 0.04 / 3) : 4.0 / 3 * M_PI * std::pow(radius, 3) * 1.04;
  const Real spacing = std::pow(volume / solid_fraction, 1.0 / D);
  const Real edge = std::round(std::pow(static_cast<Real>(n_bodies), 1.0 / D)) * spacing;
  const auto repeated = [](const std::string& text) {
    return "[" + text + ", " + text + (D == 3 ? ", " + text : "") + "]";
  };
  const std::string text = fmt::format(
      R"([simulation]
dimension = {}
end_time = 1e9
allow_overlap = true
[domain]
lower = {}
upper = {}
periodic = {}
[time]
step = 0.001
[velocity]
type = "constant"
velocity = {}
[pbd]
sweeps = 2
overlap_limit = 0
[neighbors]
skin = {}
[decomposition]
block_cells = {}
[particles.all]
radius = {{ distribution = "uniform", min = 0.4, max = 0.6 }}
source = {{ type = "lattice", spacing = {:.17g}, jitter = 0.3 }}
)",
      D, repeated("0"), repeated(fmt::format("{:.17g}", edge)), repeated("true"),
      D == 2 ? "[1.0, 0.3]" : "[1.0, 0.3, 0.2]", skin,
      block_cells > 0 ? std::to_string(block_cells) : "\"auto\"", spacing);
  Deck deck = Deck::from_text(text, "benchmark deck");
  RunDeck<D> content;
  content.describe(deck.root());
  deck.require_all_read();
  return content;
}

template <int D>
void bench_packing(const Comm& comm, std::int64_t n_bodies, const PbdBenchOptions& options, Real triad,
                   std::vector<PbdBenchRow>& rows) {
  Simulation<D> simulation(comm, packing<D>(n_bodies, "0.1", options.block_cells));
  // A few steps take the start's lattice order and its deep overlaps away.
  for (int i = 0; i < 20; ++i) simulation.step();
  const State<D>& state = simulation.state();
  const auto per_rank = [&](std::int64_t n) { return static_cast<Real>(n) / comm.size(); };

  PbdBenchRow row;
  row.dimension = D;
  row.bodies = simulation.n_bodies();
  row.ranks = comm.size();
  row.pairs = comm.sum(simulation.neighborhood().schedule().n_pairs());

  // A sweep must move each record in and out once and read the list: bytes per pair, hence the bound.
  const std::int64_t list_bytes =
      comm.sum(std::int64_t{simulation.neighborhood().schedule().n_batches()} * 2 * batch_size * 4);
  const Real sweep_bytes = (64.0 * static_cast<Real>(row.bodies) + static_cast<Real>(list_bytes));
  row.bandwidth_bound = triad / (sweep_bytes / static_cast<Real>(row.pairs));

  const auto lists =
      comm.sum(static_cast<std::int64_t>(simulation.neighborhood().bytes() + simulation.stepper().bytes()));
  row.bytes_per_body = static_cast<Real>(comm.sum(static_cast<std::int64_t>(simulation.bytes()))) /
                       static_cast<Real>(row.bodies);
  row.list_bytes_per_body = static_cast<Real>(lists) / static_cast<Real>(row.bodies);

  // Rebuilds and whole steps, with a skin that suits moving bodies.
  {
    Simulation<D> moving(comm, packing<D>(n_bodies, "0.3", options.block_cells));
    for (int i = 0; i < 60; ++i) moving.step();
    reset_timers();
    const std::int64_t rebuilds = moving.neighborhood().n_rebuilds();
    const std::int64_t first = moving.state().clock.step;
    const Timing step = measure_time(comm, options.repetitions, 3 * options.seconds, [&] { moving.step(); });
    const auto steps = static_cast<Real>(moving.state().clock.step - first);
    const auto n_rebuilds = static_cast<Real>(moving.neighborhood().n_rebuilds() - rebuilds);
    const std::vector<TimerRow> timers = timer_table(comm);
    row.steps_per_second = 1 / step.median;
    row.step_ns = 1e9 * step.median / per_rank(row.bodies);
    row.steps_per_rebuild = n_rebuilds > 0 ? steps / n_rebuilds : 0;
    const auto per_rebuild = [&](std::string_view name) {
      return n_rebuilds > 0 ? 1e9 * seconds_of(timers, name) / n_rebuilds / per_rank(row.bodies) : 0;
    };
    row.rebuild_ns = per_rebuild("neighbours");
    row.search_ns = per_rebuild("search");
    row.classes_ns = per_rebuild("classes");
  }

  for (const PairKernels* set : available_pair_kernels<D>()) {
    if (!options.all_sets && set != &pair_kernels<D>()) continue;
    PbdSweeper<D> sweeper(simulation.neighborhood());
    sweeper.prepare(state, false);
    sweeper.load(state);
    sweeper.use(*set);
    row.instruction_set = set->instruction_set;
    const auto sweep = [&](PairMode mode) {
      return measure_time(comm, options.repetitions, options.seconds,
                          [&] { sweeper.sweep(state, mode, {}); });
    };
    reset_timers();
    const Timing plain = sweep(PairMode::plain);
    const std::vector<TimerRow> timers = timer_table(comm);
    row.exchange_share = seconds_of(timers, "exchange") / seconds_of(timers, "sweeps");
    row.pairs_per_second = per_rank(row.pairs) / plain.median;
    row.spread = plain.spread;
    row.warm_pairs_per_second = per_rank(row.pairs) / sweep(PairMode::accumulate).median;
    rows.push_back(row);
  }
}

}  // namespace

std::vector<PbdBenchRow> bench_pbd(const Comm& comm, const PbdBenchOptions& options, Real triad) {
  std::vector<PbdBenchRow> rows;
  for (const int dimension : options.dimensions)
    for (const std::int64_t n : options.bodies) {
      if (dimension == 2)
        bench_packing<2>(comm, n, options, triad, rows);
      else
        bench_packing<3>(comm, n, options, triad, rows);
    }
  return rows;
}

std::string format_bench(const std::vector<PbdBenchRow>& rows, Real triad) {
  std::string text = fmt::format(
      "triad {:.1f} GB/s per rank\n"
      "{:>3} {:>9} {:>5} {:>9} | {:>8} {:>6} {:>6} {:>8} {:>5} | {:>7} {:>6} {:>7} | {:>7} {:>8} {:>6} | "
      "{:>6} {:>6}\n",
      1e-9 * triad, "dim", "bodies", "ranks", "set", "Mpairs/s", "spread", "bound", "warm", "exch", "rebuild",
      "search", "classes", "ns/step", "steps/s", "st/reb", "B/body", "lists");
  for (const PbdBenchRow& r : rows)
    text += fmt::format(
        "{:>3} {:>9} {:>5} {:>9} | {:>8.0f} {:>5.0f}% {:>5.0f}% {:>8.0f} {:>4.0f}% | {:>7.0f} {:>6.0f} "
        "{:>7.0f} | "
        "{:>7.1f} {:>8.1f} {:>6.0f} | {:>6.0f} {:>6.0f}\n",
        r.dimension, r.bodies, r.ranks, r.instruction_set, 1e-6 * r.pairs_per_second, 100 * r.spread,
        100 * r.pairs_per_second / r.bandwidth_bound, 1e-6 * r.warm_pairs_per_second, 100 * r.exchange_share,
        r.rebuild_ns, r.search_ns, r.classes_ns, r.step_ns, r.steps_per_second, r.steps_per_rebuild,
        r.bytes_per_body, r.list_bytes_per_body);
  text +=
      "Mpairs/s, warm: candidate pairs per second and rank, plain and with multipliers; bound: share of what "
      "the triad "
      "rate allows;\nexch: share of a sweep spent handing bodies over; rebuild, search, classes: ns per body "
      "and "
      "rebuild; ns/step: per body, 2 sweeps + warm pass\n";
  return text;
}

std::string bench_csv(const std::vector<PbdBenchRow>& rows, Real triad) {
  std::string text =
      "dimension,bodies,ranks,instruction_set,pairs,pairs_per_second_per_rank,spread,share_of_bandwidth_"
      "bound,"
      "warm_pairs_per_second_per_rank,exchange_share,rebuild_ns_per_body,search_ns_per_body,classes_ns_per_"
      "body,"
      "step_ns_per_body,steps_per_second,steps_per_rebuild,bytes_per_body,list_bytes_per_body,"
      "triad_bytes_per_second_per_rank\n";
  for (const PbdBenchRow& r : rows)
    text += fmt::format(
        "{},{},{},{},{},{:.6g},{:.4g},{:.4g},{:.6g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.6g},{:.4g},"
        "{:.4g},{:.4g},{:.6g}\n",
        r.dimension, r.bodies, r.ranks, r.instruction_set, r.pairs, r.pairs_per_second, r.spread,
        r.pairs_per_second / r.bandwidth_bound, r.warm_pairs_per_second, r.exchange_share, r.rebuild_ns,
        r.search_ns, r.classes_ns, r.step_ns, r.steps_per_second, r.steps_per_rebuild, r.bytes_per_body,
        r.list_bytes_per_body, triad);
  return text;
}

}  // namespace scree
