#include "run/run_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/json.hpp"
#include "core/log.hpp"
#include "core/memory.hpp"
#include "core/stop_signal.hpp"
#include "core/timing.hpp"
#include "run/checkpoint.hpp"
#include "run/deck_findings.hpp"
#include "run/end_text.hpp"
#include "run/problem_writer.hpp"
#include "run/progress.hpp"
#include "run/summary_json.hpp"
#include "run/writers.hpp"

namespace scree {

namespace {

/// Seconds of the slowest rank in outermost timers of these names, one after the other.
Real seconds_of(const std::vector<TimerRow>& timers, std::initializer_list<std::string_view> names) {
  Real seconds = 0;
  for (const TimerRow& row : timers)
    if (row.depth == 0 && std::ranges::find(names, row.name) != names.end()) seconds += row.max;
  return seconds;
}

/// What neighbour lists had to do for fast bodies and obstacles; empty: nothing.
template <int D>
std::string list_report(const Neighborhood<D>& neighborhood) {
  std::vector<std::string> parts;
  const auto log_count = [&](std::int64_t n, const char* one, const char* many) {
    if (n > 0) parts.push_back(fmt::format("{} {}", n, n == 1 ? one : many));
  };
  log_count(neighborhood.list().n_widened(), "list with a widened skin", "lists with a widened skin");
  log_count(neighborhood.list().n_cut_steps(), "step cut", "steps cut");
  log_count(neighborhood.list().n_steps_beyond_list(), "step that went beyond the widest list",
            "steps that went beyond the widest list");
  return parts.empty() ? std::string{} : fmt::format("lists of neighbours: {}", fmt::join(parts, ", "));
}

/// The loop over the steps and everything around it.
template <int D>
class RunLoop {
 public:
  RunLoop(const Comm& comm, Simulation<D>& simulation, const RunFiles& files, std::string resolved,
          const files::Texts& provenance, const RunOptions& options,
          const std::optional<ResumePoint>& resumed)
      : comm_(comm),
        simulation_(simulation),
        files_(files),
        resolved_(std::move(resolved)),
        provenance_(provenance),
        options_(options),
        resumed_(resumed ? std::optional<Clock>(resumed->clock) : std::nullopt),
        writers_(comm, files, simulation.deck(), simulation.state(), resolved_, provenance, resumed),
        problems_(comm, files, simulation.deck().output, resumed_) {
    if (problems_.active())
      simulation_.stepper().on_contact_problem(
          [this](const ContactProblem<D>& solved) { problems_.write(solved); });
  }

  ExitCode go() {
    bool interrupted = false;
    try {
      interrupted = take_steps();
    } catch (const CollectiveError&) {
      try {
        writers_.complete();  // what led to it is worth seeing
      } catch (const CollectiveError&) {
        // The first error is the one to report.
      }
      throw;
    }
    writers_.complete();
    const Environment<D>* environment = simulation_.stepper().environment();
    return interrupted ? ExitCode::interrupted : environment ? environment->ending() : ExitCode::done;
  }

  /// Takes steps and writes what they give until the run ends; true: before its time. Collective.
  bool take_steps() {
    const OutputSettings& output = simulation_.deck().output;
    const Clock& clock = simulation_.state().clock;
    if (!resumed_) write(-1);
    Progress progress(options_.progress && comm_.is_root(), clock.time, simulation_.deck().end_time);
    WallClock::time_point last_checkpoint = WallClock::now();
    bool interrupted = false;
    while (simulation_.running() && !interrupted) {
      const Real before = clock.time;
      step();
      write(before);

      const bool wall_time_due = output.checkpoint_wall_time > 0 && comm_.is_root() &&
                                 seconds_since(last_checkpoint) > output.checkpoint_wall_time;
      const bool out_of_time =
          options_.max_wall_time > 0 && comm_.is_root() && seconds_since(start_) > options_.max_wall_time;
      // One reduction a step: has anybody a reason to save, or to stop? Ranks get a signal at different
      // steps.
      const int signal = stop_signal::received();
      const std::int64_t reason = comm_.max(std::int64_t{signal != 0     ? stop_for_signal + signal
                                                         : out_of_time   ? stop_for_time
                                                         : wall_time_due ? save_for_time
                                                                         : 0});
      interrupted = reason >= stop_for_time && simulation_.running();
      if (interrupted)
        stopped_by_ = reason == stop_for_time
                          ? fmt::format("the limit of {:g} s of wall time", options_.max_wall_time)
                          : stop_signal::name_of(static_cast<int>(reason) - stop_for_signal);
      if (interrupted || !simulation_.running()) write_end(before);
      if (reason > 0 || !simulation_.running() || output.checkpoint.due(clock.step, before, clock.time)) {
        save();
        last_checkpoint = WallClock::now();
      }
      progress.step_done(clock);
    }
    return interrupted;
  }

  /// What all ranks sent, by kind, and with how many ranks and copies of bodies they deal. Collective.
  Json communication_report() {
    const GhostExchange<D>& ghosts = simulation_.neighborhood().ghosts();
    Json json;
    for (std::size_t kind = 0; kind < n_traffic_kinds; ++kind) {
      const ExchangeVolume& sent = ghosts.sent(static_cast<Traffic>(kind));
      std::array<std::int64_t, 2> volume{sent.messages, sent.bytes};
      comm_.sum(volume);
      json[traffic_names[kind]] = {{"messages", volume[0]}, {"bytes", volume[1]}};
    }
    const auto spread = [&](std::size_t count) {
      const auto mine = static_cast<std::int64_t>(count);
      return Json{{"mean", static_cast<Real>(comm_.sum(mine)) / static_cast<Real>(comm_.size())},
                  {"max", comm_.max(mine)}};
    };
    json["ghosts_of_rank"] = spread(static_cast<std::size_t>(simulation_.state().bodies.n_ghosts()));
    json["neighbours_of_rank"] = spread(ghosts.neighbours().size());
    return json;
  }

  /// What came of the run, then throughput and timers, to the log and to summary.json.
  void report(ExitCode code) {
    const RunNumbers numbers = gather();
    log_end(code, numbers);
    files::on_root(comm_, [&] {
      files::write_atomically(files_.folder + "/summary.json", summary(code, numbers).dump(2) + "\n");
    });
  }

 private:
  /// Of all ranks together.
  struct RunNumbers {
    Real wall = 0;  ///< [s]
    std::vector<TimerRow> timers;
    std::int64_t n_bodies = 0, steps = 0, body_steps = 0, peak_kib = 0, n_contacts = 0;
    std::uint64_t hash = 0;
    LoadReport load;
    Json communication;
    Real output_seconds = 0;
    std::int64_t bytes_written = 0;
    typename EnvironmentWriter<D>::Summary of_environment;
  };

  /// Collective.
  RunNumbers gather() {
    RunNumbers n;
    n.wall = comm_.max(seconds_since(start_));
    n.timers = timer_table(comm_);
    n.n_bodies = simulation_.n_bodies();
    n.steps = simulation_.state().clock.step - (resumed_ ? resumed_->step : 0);
    constexpr std::int64_t kibibyte = 1024;
    n.peak_kib = comm_.max(peak_memory()) / kibibyte;
    n.n_contacts = comm_.sum(simulation_.neighborhood().schedule().n_pairs());
    n.hash = simulation_.hash();
    n.load = simulation_.neighborhood().load_report(simulation_.state());
    n.communication = communication_report();
    n.output_seconds = seconds_of(n.timers, {"output", "checkpoint", "frames"});
    n.bytes_written = comm_.sum(files::bytes_written() - written_before_);
    n.of_environment = writers_.finish(simulation_.state());
    n.body_steps = comm_.sum(body_steps_);
    return n;
  }

  void log_end(ExitCode code, const RunNumbers& n) {
    const State<D>& state = simulation_.state();
    const Neighborhood<D>& neighborhood = simulation_.neighborhood();
    log::info("\n{}", end_text());
    log::info("{} steps, {} bodies at the end, {:.3g} s of wall time, {:.4g} body-steps per core-second",
              n.steps, n.n_bodies, n.wall, static_cast<Real>(n.body_steps) / n.wall / comm_.size());
    if (const std::string text = certificate_text(worst_, n.steps); !text.empty()) log::info("{}", text);
    if (const std::string text = list_report(neighborhood); !text.empty()) log::info("{}", text);
    if (!n.of_environment.text.empty()) log::info("{}", n.of_environment.text);
    const Inlets<D>& inlets = simulation_.deck().events.inlets;
    for (std::size_t f = 0; f < inlets.list().size(); ++f)
      if (const std::string missing = inlets.shortfall(f, state, code == ExitCode::done); !missing.empty())
        log::warn("{}", missing);
    log::info("results in {}", files_.folder);
    const bool has_rows = simulation_.deck().output.scalars.ever();
    if (const std::string text = commands_to_view(files_, writers_.paraview_file(), has_rows); !text.empty())
      log::info("{}", text);
    log::record("\n{}", worst_text(worst_));
    log::record("\n{}", format_timer_table(n.timers));
    if (comm_.size() > 1)
      log::record(
          "load of the fullest rank over the mean: bodies and pairs {:.2f} (worst list {:.2f}), computing "
          "{:.2f} ({:.2f}); {} neighbour lists, load rebalanced {} times, {} bodies migrated",
          n.load.bodies_and_pairs.mean, n.load.bodies_and_pairs.max, n.load.computing.mean,
          n.load.computing.max, neighborhood.n_rebuilds(), neighborhood.n_rebalances(),
          neighborhood.n_migrated());
    log::record("{} candidate pairs; {:.4g} MB of results written, {:.3g} s of the run spent on output",
                n.n_contacts, static_cast<Real>(n.bytes_written) * 1e-6, n.output_seconds);
  }

  /// The content of summary.json. Local.
  Json summary(ExitCode code, const RunNumbers& n) {
    const State<D>& state = simulation_.state();
    const Neighborhood<D>& neighborhood = simulation_.neighborhood();
    std::int64_t n_in_outlets = 0;
    for (const OutletProgress& outlet : state.outlets) n_in_outlets += outlet.n_removed;
    const Json worst = json_of(worst_);
    Json summary{{"name", files_.name},
                 {"title", simulation_.deck().title},
                 {"status", code == ExitCode::done     ? "done"
                            : code == ExitCode::locked ? "locked"
                                                       : "interrupted"},
                 {"exit_code", static_cast<int>(code)},
                 {"dimension", D},
                 {"bodies", n.n_bodies},
                 {"bodies_left_domain", neighborhood.n_removed()},
                 {"bodies_in_outlets", n_in_outlets},
                 {"steps", state.clock.step},
                 {"steps_this_run", n.steps},
                 {"body_steps_this_run", n.body_steps},
                 {"time_s", state.clock.time},
                 {"end_time_s", simulation_.deck().end_time},
                 {"state_hash", fmt::format("{:016x}", n.hash)},
                 {"certificate_of_last_step", json_of(simulation_.stepper().certificate())},
                 {"certificate_worst", worst},
                 {"candidate_pairs", n.n_contacts},
                 {"list_rebuilds", neighborhood.n_rebuilds()},
                 {"skin_m", state.lattice.skin},
                 {"skin_widened", neighborhood.list().n_widened()},
                 {"steps_cut", neighborhood.list().n_cut_steps()},
                 {"steps_beyond_list", neighborhood.list().n_steps_beyond_list()},
                 {"rebalances", neighborhood.n_rebalances()},
                 {"bodies_migrated", neighborhood.n_migrated()},
                 {"imbalance", neighborhood.imbalance()},
                 {"load", json_of(n.load)},
                 {"communication", n.communication},
                 {"ranks", comm_.size()},
                 {"wall_s", n.wall},
                 {"peak_memory_mib", static_cast<Real>(n.peak_kib) / 1024},
                 {"missing_outputs", missing_outputs(simulation_.deck())},
                 {"output_mb", static_cast<Real>(n.bytes_written) * 1e-6},
                 {"output_s", n.output_seconds},
                 {"timers", json_of(n.timers)}};
    add_inlets(simulation_.deck().events.inlets, state, summary);
    if (Environment<D>* environment = simulation_.stepper().environment();
        environment && !n.of_environment.json.empty()) {
      Json& entry = summary[std::string(environment->output().summary_key())];
      entry = Json::parse(n.of_environment.json);
      entry["certificate_worst"] = worst;
    }
    for (const auto& [name, text] : provenance_)
      if (name != "deck_text") summary["provenance"][name] = text;
    return summary;
  }

  // Why a step is followed by a checkpoint, the strongest reason of all ranks; signals count from the last.
  static constexpr int save_for_time = 1, stop_for_time = 2, stop_for_signal = 3;

  /// How the run ended, and how to go on.
  std::string end_text() {
    const Clock& clock = simulation_.state().clock;
    const RunDeck<D>& deck = simulation_.deck();
    const Environment<D>* environment = simulation_.stepper().environment();
    const std::string at = fmt::format("t = {:g} s", clock.time);
    const std::string of = std::isfinite(deck.end_time) ? fmt::format(" of {:g} s", deck.end_time) : "";
    if (!stopped_by_.empty())
      return fmt::format(
          "stopped at {}{} by {}\ngo on with: {}", at, of, stopped_by_,
          !options_.go_on_with.empty()
              ? options_.go_on_with
              : command_to_go_on(comm_, "restart " + quoted(checkpoint_of_step()), options_.overrides));
    if (deck.end_time - clock.time <= 1e-6 * deck.dt) return "ended at " + at;
    if (deck.events.stages.finished(simulation_.state()))
      return fmt::format("ended at {}{}: the last stage is over", at, of);
    return fmt::format("ended at {}{}{}{}", at, of, environment ? ": " : "",
                       environment ? environment->messages().over : "");
  }

  std::string checkpoint_of_step() {
    return checkpoint_path(files_.checkpoints(), files_.name, simulation_.state().clock.step);
  }

  /// Writes what is due or, at the end, what is not.
  void write(Real before, bool at_end = false) {
    const Clock& clock = simulation_.state().clock;
    std::span<const std::int32_t> counts;
    if (at_end ? writers_.use_contacts() : writers_.needs_contacts(clock.step, before, clock.time)) {
      contacts_ = &simulation_.find_contacts(simulation_.deck().output.contact_tolerance);
      if (at_end || writers_.needs_contact_counts(clock.step, before, clock.time))
        counts = simulation_.count_contacts();
    }
    writers_.write(
        {simulation_.state(), contacts_ ? *contacts_ : no_contacts_, counts, simulation_.stepper()}, before,
        at_end);
  }

  /// Frames of the last step, where the interval asks for none. A restart goes on as if they had not been:
  /// with the numbers of measures from before.
  void write_end(Real before) {
    const Clock& clock = simulation_.state().clock;
    end_frames_ = writers_.end_frames(clock.step, before, clock.time);
    if (end_frames_.empty()) return;
    for (const NamedNumbers& memory : simulation_.measure_memories())
      memories_before_end_.emplace_back(memory.numbers.begin(), memory.numbers.end());
    write(before, true);
  }

  /// Takes a step; if it is refused, the state before it is kept, to go on from with other settings.
  void step() {
    const Index n_there = simulation_.state().bodies.n_owned();
    try {
      simulation_.step(writers_.use_contacts());
    } catch (const StepRefused&) {
      save();
      throw;
    }
    body_steps_ += n_there;
    update_worst();
    if (!asked_for_options_) asked_for_options_ = simulation_.require_known_options();
  }

  /// Follows the largest value of each number of the certificate, and counts steps that did not succeed.
  void update_worst() {
    const std::vector<CertificateEntry> certificate = simulation_.stepper().certificate();
    worst_.resize(certificate.size());
    for (std::size_t k = 0; k < worst_.size(); ++k) {
      const CertificateEntry& entry = certificate[k];
      WorstOfSteps& worst = worst_[k];
      worst.name = entry.is_success ? fmt::format("steps_not_{}", entry.name) : std::string(entry.name);
      worst.unit = entry.unit;
      worst.is_success = entry.is_success;
      if (entry.is_success) {
        worst.value += entry.value == 0;
      } else if (entry.value > worst.value || !std::isfinite(worst.limit)) {
        worst.value = std::max(worst.value, entry.value);
        worst.limit = entry.limit;
      }
    }
  }

  void save() {
    writers_.complete_frames();
    simulation_.save_memory();
    const std::string path = checkpoint_of_step();
    std::vector<NamedNumbers> memories = simulation_.measure_memories();
    for (std::size_t m = 0; m < memories_before_end_.size(); ++m)
      memories[m].numbers = memories_before_end_[m];
    write_checkpoint(simulation_.state(), path, files_.name, resolved_, provenance_, memories, end_frames_,
                     simulation_.shared_rows());
    remove_other_checkpoints(comm_, files_.checkpoints(), path, simulation_.deck().output.checkpoint_keep);
  }

  Comm comm_;
  Simulation<D>& simulation_;
  RunFiles files_;
  std::string resolved_;
  files::Texts provenance_;
  RunOptions options_;
  std::optional<Clock> resumed_;
  Writers<D> writers_;
  ProblemWriter<D> problems_;
  std::vector<WorstOfSteps> worst_;  // of this run, since its start or restart
  std::int64_t body_steps_ = 0;      // of this run on this rank: bodies summed over the steps
  std::string stopped_by_;           // empty: the run came to its end
  bool asked_for_options_ = false;
  std::string end_frames_;                              // outputs with a frame beside their interval
  std::vector<std::vector<Real>> memories_before_end_;  // of measures, before these were written
  ContactGraph<D> no_contacts_;
  const ContactGraph<D>* contacts_ = nullptr;
  WallClock::time_point start_ = WallClock::now();
  std::int64_t written_before_ = files::bytes_written();  // by runs before, of an ensemble
};
}  // namespace

template <int D>
ExitCode run_loop(const Comm& comm, Simulation<D>& simulation, const RunFiles& files,
                  const std::string& resolved, const files::Texts& provenance, const RunOptions& options,
                  const std::optional<ResumePoint>& resumed) {
  RunLoop<D> loop(comm, simulation, files, resolved, provenance, options, resumed);
  const ExitCode code = loop.go();
  loop.report(code);
  return code;
}

template ExitCode run_loop(const Comm&, Simulation<2>&, const RunFiles&, const std::string&,
                           const files::Texts&, const RunOptions&, const std::optional<ResumePoint>&);
template ExitCode run_loop(const Comm&, Simulation<3>&, const RunFiles&, const std::string&,
                           const files::Texts&, const RunOptions&, const std::optional<ResumePoint>&);

}  // namespace scree
