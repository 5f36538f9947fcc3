#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "run/simulation.hpp"
#include "verify/pbd_reference.hpp"

namespace scree {

namespace {

// ---- what is run, and what is expected

constexpr std::string_view sliding = "sliding", disks40 = "disks40";

/// A method on a case over several steps, coarsest first.
struct Series {
  std::string_view on;
  std::string_view method;
  std::string_view parameter;  ///< see overrides_of()
  /// Whether candidates are all pairs, found once: then the order of the contacts is fixed, as in the
  /// reference.
  bool one_list;
  std::vector<Real> steps;  ///< [s]
  std::size_t n_quick;      ///< how many of them --quick takes
  /// Largest relative difference of error_max and error_end from tests/reference/pbd/errors.csv.
  std::optional<Real> band;
  /// Of the order fitted to error_max over the finest three steps.
  std::optional<Interval> order;
};

constexpr Interval first_order{0.9, 1.1};

/// What is run, and the bands. The values to compare with are in tests/reference/pbd/errors.csv, which names
/// its source.
///
/// sliding: two constraints, visited in the same order as by the prototype of the reference: the same
/// numbers, but for the rounding of the stopping test. Order of PBD: 0.98 to 1.03 fitted by the prototype.
///
/// disks40: Gauss-Seidel methods depend on the order of the pairs, which here comes from blocks. Constants of
/// PBD lie up to 25 % apart for different orders (prototype, eight orders); those of warm PBD by a factor of
/// three, so they have no band, but see check_warm_start(). Methods that do not depend on the order
/// (converged dual, Jacobi, penalty) differ only by the error of the reference trajectory. The reference's
/// own fit for Jacobi is 0.895.
const std::vector<Series>& all_series() {
  static const std::vector<Series> series{
      {sliding, "PBD", "", false, {1e-2, 1e-3, 1e-4, 1e-5}, 4, 0.01, Interval{0.98, 1.03}},
      {sliding, "PNGS", "1e-10", false, {1e-2, 1e-3, 1e-4}, 2, 0.01, first_order},
      {sliding, "PNGS", "1e-06", false, {1e-2, 1e-3, 1e-4, 1e-5}, 2, 0.02, {}},
      {sliding, "PGS", "1e-10", false, {1e-2, 1e-3}, 1, 0.01, {}},
      {sliding, "PGS-dual", "1e-10", false, {1e-2, 1e-3}, 1, 0.01, {}},
      {sliding, "warm PBD", "1", false, {1e-2, 1e-3, 1e-4, 1e-5}, 3, {}, first_order},
      {sliding, "warm PBD", "0.9", false, {1e-2, 1e-3, 1e-4, 1e-5}, 3, {}, first_order},
      {sliding, "Jacobi", "", false, {1e-2, 1e-3, 1e-4, 1e-5}, 3, {}, first_order},
      {sliding, "penalty", "1000", false, {1e-2, 1e-3, 1e-4}, 3, 0.01, {}},
      {sliding, "penalty", "10000", false, {1e-2, 1e-3, 1e-4}, 3, 0.01, {}},
      {sliding, "penalty", "100000", false, {1e-3, 1e-4, 1e-5}, 2, 0.01, {}},

      {disks40, "PBD", "", true, {1e-2, 1e-3, 1e-4, 1e-5}, 4, 0.25, first_order},
      {disks40, "PBD", "", false, {1e-2, 1e-3, 1e-4, 1e-5}, 4, 0.25, first_order},
      {disks40, "PNGS", "1e-10", true, {1e-2, 1e-3, 1e-4}, 2, 0.25, first_order},
      {disks40, "PNGS", "1e-05", true, {1e-2, 1e-3, 1e-4}, 2, 0.25, {}},
      {disks40, "PGS", "1e-10", true, {1e-2, 1e-3}, 1, 0.25, {}},
      {disks40, "PGS-dual", "1e-10", false, {1e-2, 1e-3}, 1, 0.01, {}},
      {disks40, "warm PBD", "1", true, {1e-2, 1e-3, 1e-4, 1e-5}, 3, {}, first_order},
      {disks40, "warm PBD", "0.9", true, {1e-2, 1e-3, 1e-4, 1e-5}, 3, {}, first_order},
      {disks40, "warm PBD", "0.9", false, {1e-2, 1e-3, 1e-4, 1e-5}, 2, {}, Interval{0.85, 1.2}},
      {disks40, "warm PBD", "0.7", true, {1e-3, 1e-4}, 2, {}, {}},
      {disks40, "Jacobi", "", false, {1e-2, 1e-3, 1e-4, 1e-5}, 3, 0.01, Interval{0.85, 1.1}},
      {disks40, "penalty", "100", false, {1e-2, 1e-3, 1e-4}, 3, 0.01, {}},
      {disks40, "penalty", "1000", false, {1e-3, 1e-4}, 2, 0.01, {}},
      {disks40, "penalty", "10000", false, {1e-4, 1e-5}, 1, 0.01, {}},
  };
  return series;
}

std::string label_of(const Series& series) {
  return fmt::format("{}{}", series.method, series.one_list ? " one list" : "");
}

/// What a series changes in the deck, which says PBD with one sweep and no memory.
std::vector<std::string> overrides_of(const Series& series, Real h) {
  std::vector<std::string> overrides{fmt::format("time.step={}", h)};
  const auto set = [&](std::string_view key, auto value) {
    overrides.push_back(fmt::format("pbd.{}={}", key, value));
  };
  const auto converged = [&](std::string_view method) {
    const Real tolerance = std::stod(std::string(series.parameter));
    set("method", method);
    set("sweeps", "converged");
    set("relative_tolerance", tolerance);
    set("absolute_tolerance", 0.01 * tolerance);
  };
  // No body moves a quarter of this in the whole run.
  if (series.one_list) overrides.push_back("neighbors.skin=8");
  if (series.method == "PNGS") converged("pbd");
  if (series.method == "PGS") converged("pgs");
  if (series.method == "PGS-dual") converged("pgs_dual");
  if (series.method == "warm PBD") set("warm_start", series.parameter);
  if (series.method == "Jacobi") set("method", "jacobi");
  if (series.method == "penalty") {
    set("method", "penalty");
    set("penalty_rate", series.parameter);
  }
  return overrides;
}

// ---- runs

struct Outcome {
  Errors error;
  Real sweeps = 0;       ///< per step, the warm pass included
  Real evaluations = 0;  ///< projections on single constraints, of the whole run
  std::int64_t n_unconverged = 0;
  Real overlap = 0;  ///< disks: largest at the end [m]
  /// sliding: depth below the circle and sideways distance at t = 1 s over (C^2 - 1)/4 h cos(theta) and 1/C
  /// of it.
  Real depth_ratio = 0, side_ratio = 0;
};

/// Steps through the whole time of a deck; `watch(k, simulation)` looks at every step. Collective.
template <int D, class Watch>
Outcome march(const Comm& comm, const std::string& path, const Series& series, Real h, const Watch& watch) {
  Simulation<D> simulation(comm, read_run_deck<D>(Deck::read(comm, path, overrides_of(series, h))));
  const auto n_steps = std::llround(simulation.deck().end_time / h);
  const bool has_warm_pass = series.method == "warm PBD";

  Outcome outcome;
  std::int64_t list = -1;
  Real n_candidates = 0;
  for (std::int64_t k = 1; k <= n_steps; ++k) {
    simulation.step();
    if (list != simulation.neighborhood().n_rebuilds()) {
      list = simulation.neighborhood().n_rebuilds();
      const auto& schedule = simulation.neighborhood().schedule();
      n_candidates = static_cast<Real>(
          comm.sum(schedule.n_pairs() + static_cast<std::int64_t>(schedule.wall_bodies().size())));
    }
    const Real sweeps = simulation.certified("sweeps") + (has_warm_pass ? 1 : 0);
    if (simulation.certified("sweeps_converged") == 0) ++outcome.n_unconverged;
    outcome.sweeps += sweeps;
    outcome.evaluations += sweeps * n_candidates;
    watch(k, std::as_const(simulation));
  }
  outcome.sweeps /= static_cast<Real>(n_steps);
  return outcome;
}

constexpr Real start_angle = M_PI / 16;
constexpr Real ball_distance = 10;  // C: of the centres from the origin [m]

Outcome run_sliding(const Comm& comm, const std::string& path, const Series& series, Real h) {
  // One rank holds the point; the others see nothing.
  Errors seen;
  Real depth_ratio = 0, side_ratio = 0;
  Outcome outcome = march<3>(comm, path, series, h, [&](std::int64_t k, const Simulation<3>& simulation) {
    seen.end = 0;
    if (simulation.state().bodies.n_owned() == 0) return;
    const Vec<3> x = simulation.state().bodies.position()[0];
    seen.end = norm(x - sliding_exact(static_cast<Real>(k) * h));
    seen.max = std::max(seen.max, seen.end);
    if (k == std::llround(1 / h)) {
      const Real radius = std::hypot(x[0], x[1]);
      const Real depth = (ball_distance * ball_distance - 1) / 4 * h * x[1] / radius;
      depth_ratio = (1 - radius) / depth;
      side_ratio = std::abs(x[2]) * ball_distance / depth;
    }
  });
  outcome.error = {comm.max(seen.max), comm.max(seen.end)};
  outcome.depth_ratio = comm.max(depth_ratio);
  outcome.side_ratio = comm.max(side_ratio);
  return outcome;
}

/// The coordinates of all bodies in the order of their ids, on every rank: for a few bodies. Collective.
template <int D>
std::vector<Real> gather_positions(const Comm& comm, const State<D>& state, std::size_t n_bodies) {
  std::vector<Real> positions(n_bodies * D, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    for (std::size_t k = 0; k < D; ++k)
      positions[static_cast<std::size_t>(state.bodies.id()[i]) * D + k] =
          state.bodies.position()[i][static_cast<int>(k)];
  comm.max(positions);
  return positions;
}

constexpr Real disk_radius = 0.1;  // [m]

Outcome run_disks(const Comm& comm, const std::string& path, const DisksReference& reference,
                  const Series& series, Real h) {
  const std::int64_t steps_per_frame = std::llround(DisksReference::interval / h);
  std::vector<Real> positions;
  Errors error;
  Outcome outcome = march<2>(comm, path, series, h, [&](std::int64_t k, const Simulation<2>& simulation) {
    const auto frame = static_cast<std::size_t>(k / steps_per_frame);
    if (k % steps_per_frame != 0 || frame >= reference.n_frames()) return;
    positions = gather_positions(comm, simulation.state(), DisksReference::n_bodies);
    error.max = std::max(error.max, reference.error(frame, positions));
  });
  error.end = reference.end_error(positions);
  outcome.error = error;
  for (std::size_t i = 0; i < positions.size(); i += 2)
    for (std::size_t j = 0; j < i; j += 2)
      outcome.overlap = std::max(
          outcome.overlap,
          2 * disk_radius - std::hypot(positions[i] - positions[j], positions[i + 1] - positions[j + 1]));
  return outcome;
}

// ---- report

/// Slope of log(error) against log(h) by least squares, over the finest three steps.
Real fitted_order(const std::vector<Real>& steps, const std::vector<Outcome>& outcomes) {
  constexpr std::size_t n = 3;
  std::array<Real, n> x{}, y{};
  for (std::size_t k = 0; k < n; ++k) {
    x[k] = std::log(steps[outcomes.size() - n + k]);
    y[k] = std::log(outcomes[outcomes.size() - n + k].error.max);
  }
  const Real mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const Real mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  Real xy = 0, xx = 0;
  for (std::size_t k = 0; k < n; ++k) {
    xy += (x[k] - mean_x) * (y[k] - mean_y);
    xx += (x[k] - mean_x) * (x[k] - mean_x);
  }
  return xy / xx;
}

/// Prints what is found, keeps the CSV table, counts checks.
class Report : public Checks {
 public:
  Report(const Comm& comm, const Show& show_line, const ExpectedErrors& expected)
      : Checks(comm, show_line, "case,method,parameter,h,error_max,error_end,evaluations\n"),
        expected_(expected) {
    show(
        "Errors in m against the exact solution (sliding) and the reference trajectory (disks40). "
        "\"max:ref\" and "
        "\"end:ref\"\nare errors over those of the reference, which visits the contacts in its own order: "
        "they have "
        "to be 1 within the band.\n");
    show(fmt::format("{:<8} {:<17} {:<7} {:>6} {:>10} {:>10} {:>9} {:>7} {:>11} {:>7} {:>7} {:>5}", "case",
                     "method", "param.", "h [s]", "error_max", "error_end", "max/h", "sweeps", "evaluations",
                     "max:ref", "end:ref", "band"));
  }

  void add(const Series& series, Real h, const Outcome& outcome) {
    const Errors& error = outcome.error;
    csv += fmt::format("{},{},{},{},{},{},{}\n", series.on, label_of(series), series.parameter, h, error.max,
                       error.end, outcome.evaluations);
    const std::optional<Errors> expected = expected_.find(series.on, series.method, series.parameter, h);
    const Errors ratio = expected ? Errors{error.max / expected->max, error.end / expected->end} : Errors{};
    const auto if_expected = [&](const std::string& text) { return expected ? text : "-"; };
    show(fmt::format(
        "{:<8} {:<17} {:<7} {:>6} {:>10.3e} {:>10.3e} {:>9.3g} {:>7.4g} {:>11.4g} {:>7} {:>7} {:>5}",
        series.on, label_of(series), series.parameter.empty() ? "-" : series.parameter, h, error.max,
        error.end, error.max / h, outcome.sweeps, outcome.evaluations,
        if_expected(fmt::format("{:.3f}", ratio.max)), if_expected(fmt::format("{:.3f}", ratio.end)),
        series.band && expected ? fmt::format("{:g} %", 100 * *series.band) : "-"));
    const std::string name = fmt::format("{}, h = {:g}", name_of(series), h);
    count(outcome.n_unconverged == 0,
          fmt::format("{}: {} steps reached max_sweeps before the tolerance", name, outcome.n_unconverged));
    if (!series.band || !expected) return;
    count(std::abs(ratio.max - 1) <= *series.band, name + ": error_max is outside the band");
    count(std::abs(ratio.end - 1) <= *series.band, name + ": error_end is outside the band");
  }

  static std::string name_of(const Series& series) {
    return fmt::format("{}, {}{}{}", series.on, label_of(series), series.parameter.empty() ? "" : " ",
                       series.parameter);
  }

 private:
  const ExpectedErrors& expected_;
};

struct Measured {
  const Series* series;
  std::vector<Outcome> outcomes;  ///< one for each step that was run

  Real finest_step() const { return series->steps[outcomes.size() - 1]; }
  const Outcome& at(Real h) const {
    return outcomes.at(static_cast<std::size_t>(std::find(series->steps.begin(), series->steps.end(), h) -
                                                series->steps.begin()));
  }
};

/// One alternating sweep over both balls leaves the point below the circle by (C^2 - 1)/4 h cos(theta), and
/// to the side by 1/C of that (docs/verification.md).
void check_sliding_depth(Report& report, const Measured& pbd) {
  const Outcome& finest = pbd.outcomes.back();
  const std::string at = fmt::format("at 1 s over its closed form, h = {:g}", pbd.finest_step());
  report.require("sliding, PBD: depth " + at, finest.depth_ratio, {0.99, 1.01});
  report.require("sliding, PBD: sideways offset " + at, finest.side_ratio, {0.99, 1.01});
}

/// For a fixed order of the pairs the overlap that remains at the end is proportional to h.
void check_overlap_law(Report& report, const Measured& pbd) {
  const Real h = pbd.finest_step();
  report.require(fmt::format("{}: overlap/h at the end, h = {:g} over h = {:g}", Report::name_of(*pbd.series),
                             10 * h, h),
                 pbd.at(10 * h).overlap / (10 * pbd.at(h).overlap), {0.99, 1.01});
}

/// What the memory of a share s of the multipliers does to PBD with the same order of the pairs: the overlap
/// that remains is 1 - s of that of PBD, and the largest error is smaller: 2.7 to 7 times with s of 0.9
/// or more, for seven orders (plain loop over the pairs, docs/verification.md).
void check_warm_start(Report& report, const Measured& pbd, const Measured& warm) {
  const Real h = warm.finest_step();
  const Real forgotten = 1 - std::stod(std::string(warm.series->parameter));
  const std::string name = Report::name_of(*warm.series);
  report.require(fmt::format("{}: overlap at the end over that of PBD, h = {:g}", name, h),
                 warm.at(h).overlap / pbd.at(h).overlap, {0.98 * forgotten - 1e-9, 1.02 * forgotten + 1e-9});
  if (forgotten > 0.15) return;
  report.require(fmt::format("{}: error_max of PBD over that, h = {:g}", name, h),
                 pbd.at(h).error.max / warm.at(h).error.max, {2.5, 12});
}

}  // namespace

Vec<3> sliding_exact(Real t) {
  const Real constant = std::log(std::tan(start_angle / 2));
  if (t > -constant) return {{1, -constant - t, 0}};
  const Real u = std::exp(constant + t);  // tan(theta/2)
  return {{2 * u / (1 + u * u), (1 - u * u) / (1 + u * u), 0}};
}

bool verify_pbd(const Comm& comm, const VerifyOptions& options, const Show& show) {
  const std::string reference = options.source + "/tests/reference/pbd",
                    decks = options.source + "/inputs/verification";
  const ExpectedErrors expected(comm, reference + "/errors.csv");
  const DisksReference disks(comm, reference);
  Report report(comm, show, expected);

  std::vector<Measured> all;
  for (const Series& series : all_series()) {
    if (options.only != "all" && options.only != series.on) continue;
    Measured& measured = all.emplace_back(Measured{&series, {}});
    for (std::size_t k = 0; k < (options.quick ? series.n_quick : series.steps.size()); ++k) {
      const Real h = series.steps[k];
      const Outcome& outcome = measured.outcomes.emplace_back(
          series.on == sliding ? run_sliding(comm, decks + "/sliding.toml", series, h)
                               : run_disks(comm, decks + "/disks40.toml", disks, series, h));
      report.add(series, h, outcome);
    }
  }
  show("");
  const Measured* pbd = nullptr;  // stands before those that are compared with it
  for (const Measured& measured : all) {
    const Series& series = *measured.series;
    if (series.order && measured.outcomes.size() >= 3)
      report.require(Report::name_of(series) + ": order over the finest three steps",
                     fitted_order(series.steps, measured.outcomes), *series.order);
    if (series.on == sliding && series.method == "PBD") check_sliding_depth(report, measured);
    if (series.on != disks40 || !series.one_list) continue;
    if (series.method == "PBD") check_overlap_law(report, *(pbd = &measured));
    if (series.method == "warm PBD") check_warm_start(report, *pbd, measured);
  }
  if (options.only != sliding)
    report.require("disks40: distance of the reference path from the frames of the prototype [um]",
                   1e6 * disks.disagreement(), {0, 5});
  return report.finish(options.csv);
}

}  // namespace scree
