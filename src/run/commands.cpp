#include "run/commands.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>

#include "core/as_input.hpp"
#include "core/deck.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/stop_signal.hpp"
#include "core/timing.hpp"
#include "friction/friction_solver.hpp"
#include "io/compare.hpp"
#include "io/describe_file.hpp"
#include "run/checkpoint.hpp"
#include "run/deck_changes.hpp"
#include "run/deck_findings.hpp"
#include "run/ensemble.hpp"
#include "run/memory_estimate.hpp"
#include "run/problem_writer.hpp"
#include "run/progress.hpp"
#include "run/results_folder.hpp"
#include "run/run_deck.hpp"
#include "run/schemes.hpp"
#include "run/simulation.hpp"
#include "run/starting_point.hpp"
#include "run/version.hpp"
#include "run/writers.hpp"
#include "schemes/dem/integrator.hpp"
#include "schemes/event/impact_law.hpp"

namespace scree {

namespace {

using WallClock = std::chrono::steady_clock;

Real seconds_since(WallClock::time_point start) {
  return std::chrono::duration<Real>(WallClock::now() - start).count();
}

/// Seconds of the slowest rank in outermost timers of these names, one after the other.
Real seconds_of(const std::vector<TimerRow>& timers, std::initializer_list<std::string_view> names) {
  Real seconds = 0;
  for (const TimerRow& row : timers)
    if (row.depth == 0 && std::ranges::find(names, row.name) != names.end()) seconds += row.most;
  return seconds;
}

files::Texts provenance_of(const Comm& comm, const std::string& deck_name, const std::string& deck_text,
                           const std::string& command_line) {
  return {{"deck_name", deck_name},
          {"deck_folder", std::filesystem::absolute(deck_name).parent_path().string()},
          {"deck_text", deck_text},
          {"command_line", command_line},
          {"version", version_text()},
          {"ranks", std::to_string(comm.size())}};
}

/// The name of the run if the deck gives none: that of its file.
std::string name_after(const Deck& deck) {
  return std::filesystem::path(deck.name()).stem().string();
}

RunFiles files_of(const OutputSettings& output, const std::string& default_name) {
  RunFiles run;
  run.name = output.name.empty() ? default_name : output.name;
  if (const std::string fault = fault_of_name(run.name); !fault.empty())
    throw InputError(
        fmt::format("the name of the run, that of the deck's file, {}: set 'name' in [output]", fault));
  run.folder = output.directory + "/" + run.name;
  return run;
}

/// One word for a shell.
std::string quoted(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// `scree VERB FILE` with what was set, as one types it to go on with a run that was stopped.
std::string command_to_go_on(const Comm& comm, const std::string& verb_and_file,
                             const std::vector<std::string>& overrides, const std::string& options = "") {
  std::string command = comm.size() > 1 ? fmt::format("mpirun -n {} ", comm.size()) : "";
  command += "scree " + verb_and_file + options;
  for (const std::string& given : overrides) command += " --set " + quoted(given);
  return command;
}

/// What neighbour lists had to do for fast bodies and obstacles; empty: nothing.
template <int D>
std::string list_report(const Neighborhood<D>& neighborhood) {
  std::vector<std::string> parts;
  const auto tell = [&](std::int64_t n, const char* one, const char* many) {
    if (n > 0) parts.push_back(fmt::format("{} {}", n, n == 1 ? one : many));
  };
  tell(neighborhood.list().n_widened(), "list with a widened skin", "lists with a widened skin");
  tell(neighborhood.list().n_cut_steps(), "step cut", "steps cut");
  tell(neighborhood.list().n_steps_beyond_list(), "step that went beyond the widest list",
       "steps that went beyond the widest list");
  return parts.empty() ? std::string{} : fmt::format("lists of neighbours: {}", fmt::join(parts, ", "));
}

/// The loop over the steps and everything around it.
template <int D>
class Run {
 public:
  Run(const Comm& comm, Simulation<D>& simulation, const RunFiles& files, std::string resolved,
      const files::Texts& provenance, const RunOptions& options, const std::optional<ResumePoint>& resumed)
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
    writers_.complete();
    return interrupted ? ExitCode::interrupted : ExitCode::done;
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
                  {"most", comm_.max(mine)}};
    };
    json["ghosts_of_rank"] = spread(static_cast<std::size_t>(simulation_.state().bodies.n_ghosts()));
    json["neighbours_of_rank"] = spread(ghosts.neighbours().size());
    return json;
  }

  /// What came of the run, then throughput and timers, to the log and to summary.json.
  void report(ExitCode code) {
    const State<D>& state = simulation_.state();
    Neighborhood<D>& neighborhood = simulation_.neighborhood();
    const Real wall = comm_.max(seconds_since(start_));
    const std::vector<TimerRow> timers = timer_table(comm_);
    const std::int64_t n_bodies = simulation_.n_bodies();
    const std::int64_t steps = state.clock.step - (resumed_ ? resumed_->step : 0);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const std::int64_t peak_kib = comm_.max(std::int64_t{usage.ru_maxrss});
    const std::int64_t n_contacts = comm_.sum(neighborhood.schedule().n_pairs());
    const std::uint64_t hash = simulation_.hash();
    std::int64_t n_in_outlets = 0;
    for (const OutletProgress& outlet : state.outlets) n_in_outlets += outlet.n_removed;
    const LoadReport load = neighborhood.load_report(state);
    const Json communication = communication_report();
    const Real output_seconds = seconds_of(timers, {"output", "checkpoint", "frames"});
    const std::int64_t bytes_written = comm_.sum(files::bytes_written() - written_before_);
    const typename SceneWriter<D>::Summary of_scene = writers_.finish(state);
    const std::int64_t body_steps = comm_.sum(body_steps_);
    log::info("\n{}", end_text());
    log::info("{} steps, {} bodies at the end, {:.3g} s wall, {:.4g} body-steps per core-second", steps,
              n_bodies, wall, static_cast<Real>(body_steps) / wall / comm_.size());
    std::string worst_text;
    for (const auto& [name, value, unit] : worst_)
      worst_text += fmt::format("{}{} {:.3g}{}", worst_text.empty() ? "" : ", ", name, value,
                                unit == "-" ? "" : " " + unit);
    if (!worst_.empty()) log::info("worst of all steps: {}", worst_text);
    if (const std::string text = list_report(neighborhood); !text.empty()) log::info("{}", text);
    if (!of_scene.text.empty()) log::info("{}", of_scene.text);
    const Inlets<D>& inlets = simulation_.deck().events.inlets;
    for (std::size_t f = 0; f < inlets.list().size(); ++f)
      if (const std::string missing = inlets.shortfall(f, state, code == ExitCode::done); !missing.empty())
        log::warn("{}", missing);
    log::record("\n{}", format_timer_table(timers));
    if (comm_.size() > 1)
      log::record(
          "load of the fullest rank over the mean: bodies and pairs {:.2f} (worst list {:.2f}), computing "
          "{:.2f}"
          " ({:.2f}); {} neighbour lists, load rebalanced {} times, {} bodies migrated",
          load.bodies_and_pairs.mean, load.bodies_and_pairs.most, load.computing.mean, load.computing.most,
          neighborhood.n_rebuilds(), neighborhood.n_rebalances(), neighborhood.n_migrated());
    log::record("{} candidate pairs; {:.4g} MB of results written, {:.3g} s of the run spent on output",
                n_contacts, static_cast<Real>(bytes_written) * 1e-6, output_seconds);
    files::on_root(comm_, [&] {
      Json timer_json = Json::array();
      for (const TimerRow& row : timers)
        timer_json.push_back({{"name", row.name},
                              {"depth", row.depth},
                              {"calls", row.calls},
                              {"min_s", row.least},
                              {"mean_s", row.mean},
                              {"max_s", row.most},
                              {"work_mean_s", row.work_mean},
                              {"work_max_s", row.work_most}});
      const auto imbalance_of = [](const LoadImbalance& e) {
        return Json{{"mean", e.mean}, {"worst", e.most}};
      };
      Json certificate;
      for (const CertificateEntry& entry : simulation_.stepper().certificate())
        certificate[std::string(entry.name)] = {{"value", entry.value}, {"unit", entry.unit}};
      Json worst;
      for (const auto& [name, value, unit] : worst_) worst[name] = {{"value", value}, {"unit", unit}};
      Json summary{{"name", files_.name},
                   {"title", simulation_.deck().title},
                   {"status", code == ExitCode::done ? "done" : "interrupted"},
                   {"exit_code", static_cast<int>(code)},
                   {"dimension", D},
                   {"bodies", n_bodies},
                   {"bodies_left_domain", neighborhood.n_removed()},
                   {"bodies_in_sinks", n_in_outlets},
                   {"steps", state.clock.step},
                   {"steps_this_run", steps},
                   {"body_steps_this_run", body_steps},
                   {"time_s", state.clock.time},
                   {"end_time_s", simulation_.deck().end_time},
                   {"state_hash", fmt::format("{:016x}", hash)},
                   {"certificate_of_last_step", certificate},
                   {"certificate_worst", worst},
                   {"candidate_pairs", n_contacts},
                   {"list_builds", neighborhood.n_rebuilds()},
                   {"skin_m", state.lattice.skin},
                   {"skin_widened", neighborhood.list().n_widened()},
                   {"steps_cut", neighborhood.list().n_cut_steps()},
                   {"steps_beyond_list", neighborhood.list().n_steps_beyond_list()},
                   {"rebalances", neighborhood.n_rebalances()},
                   {"bodies_migrated", neighborhood.n_migrated()},
                   {"imbalance", neighborhood.imbalance()},
                   {"load",
                    {{"weights", load.measured ? "measured" : "counts"},
                     {"bodies", imbalance_of(load.bodies)},
                     {"pairs", imbalance_of(load.pairs)},
                     {"bodies_and_pairs", imbalance_of(load.bodies_and_pairs)},
                     {"pairs_by_phase", imbalance_of(load.pairs_by_colour)},
                     {"computing", imbalance_of(load.computing)},
                     {"least_blocks", load.least_blocks},
                     {"body_s", load.seconds[0]},
                     {"pair_s", load.seconds[1]},
                     {"wall_s", load.seconds[2]},
                     {"contact_s", load.seconds[3]}}},
                   {"communication", communication},
                   {"ranks", comm_.size()},
                   {"wall_s", wall},
                   {"peak_memory_mib", static_cast<Real>(peak_kib) / 1024},
                   {"output_mb", static_cast<Real>(bytes_written) * 1e-6},
                   {"output_s", output_seconds},
                   {"timers", timer_json}};
      for (std::size_t f = 0; f < inlets.list().size(); ++f) {
        const InletTable<D>& inlet = inlets.list()[f];
        const InletProgress& progress = state.inlets[f];
        summary["feeders"][inlet.bodies.name] = {
            {"made", progress.n_made},
            {"due", progress.n_due},
            {"waiting", progress.n_waiting()},
            {"count", inlet.count > 0 ? Json(inlet.count) : nullptr},
            {"rate_per_s", inlet.bodies_per_second()},
            {"achieved_rate_per_s", inlet.achieved_rate(progress.n_made, state.clock.time)}};
      }
      if (Scene<D>* scene = simulation_.stepper().scene(); scene && !of_scene.json.empty()) {
        Json& entry = summary[std::string(scene->output().summary_key())];
        entry = Json::parse(of_scene.json);
        entry["certificate_worst"] = worst;
      }
      for (const auto& [name, text] : provenance_)
        if (name != "deck_text") summary["provenance"][name] = text;
      files::write_atomically(files_.folder + "/summary.json", summary.dump(2) + "\n");
    });
    log::info("results in {}", files_.folder);
    if (const std::string series = writers_.paraview_file(); !series.empty())
      log::info("see it: paraview {}", quoted(series));
  }

 private:
  // Why a step is followed by a checkpoint, the strongest reason of all ranks; signals count from the last.
  static constexpr int save_for_time = 1, stop_for_time = 2, stop_for_signal = 3;

  /// How the run ended, and how to go on.
  std::string end_text() {
    const Clock& clock = simulation_.state().clock;
    const RunDeck<D>& deck = simulation_.deck();
    const Scene<D>* scene = simulation_.stepper().scene();
    const std::string at = fmt::format("t = {:g} s", clock.time);
    const std::string of = std::isfinite(deck.end_time) ? fmt::format(" of {:g} s", deck.end_time) : "";
    if (!stopped_by_.empty())
      return fmt::format(
          "stopped at {}{} by {}; go on with: {}", at, of, stopped_by_,
          !options_.go_on_with.empty()
              ? options_.go_on_with
              : command_to_go_on(comm_, "restart " + quoted(checkpoint_of_step()), options_.overrides));
    if (deck.end_time - clock.time <= 1e-6 * deck.dt) return "ended at " + at;
    if (deck.events.stages.finished(simulation_.state()))
      return fmt::format("ended at {}{}: the last stage is over", at, of);
    return fmt::format("ended at {}{}{}{}", at, of, scene ? ": " : "", scene ? scene->words().over : "");
  }

  std::string checkpoint_of_step() {
    return checkpoint_path(files_.checkpoints(), files_.name, simulation_.state().clock.step);
  }

  void write(Real before) {
    const State<D>& state = simulation_.state();
    const bool contacts_due = writers_.needs_contacts(state.clock.step, before, state.clock.time);
    std::span<const std::int32_t> counts;
    if (contacts_due) {
      contacts_ = &simulation_.find_contacts(simulation_.deck().output.contact_tolerance);
      counts = simulation_.count_contacts();
    }
    writers_.write(state, before, contacts_ ? *contacts_ : no_contacts_, counts, simulation_.stepper());
  }

  /// Frames of the last step, where the schedule has none. A restart goes on as if they had not been: with
  /// the numbers of measures from before.
  void write_end(Real before) {
    const State<D>& state = simulation_.state();
    end_frames_ = writers_.end_frames(state.clock.step, before, state.clock.time);
    if (end_frames_.empty()) return;
    for (const NamedNumbers& memory : simulation_.measure_memories())
      memories_before_end_.emplace_back(memory.numbers.begin(), memory.numbers.end());
    std::span<const std::int32_t> counts;
    if (writers_.use_contacts()) {
      contacts_ = &simulation_.find_contacts(simulation_.deck().output.contact_tolerance);
      counts = simulation_.count_contacts();
    }
    writers_.write_end(state, before, contacts_ ? *contacts_ : no_contacts_, counts, simulation_.stepper());
  }

  /// Takes a step; if it is refused, the state before it is kept, to go on from with other settings.
  void step() {
    const Index n_there = simulation_.state().bodies.n_owned();
    try {
      simulation_.step(writers_.use_contacts());
    } catch (const StepRefused&) {
      save();
      throw;
    } catch (const CollectiveError&) {
      try {
        writers_.complete();  // what led to it is worth seeing
      } catch (const CollectiveError&) {
        // The first error is the one to tell.
      }
      throw;
    }
    body_steps_ += n_there;
    note_worst();
    if (asked_for_options_ || !simulation_.stepper().knows_petsc_options()) return;
    require_petsc_options_used(comm_);
    asked_for_options_ = true;
  }

  /// Follows the largest value of each number of the certificate, and counts steps that did not succeed.
  void note_worst() {
    const std::vector<CertificateEntry> certificate = simulation_.stepper().certificate();
    worst_.resize(certificate.size());
    for (std::size_t k = 0; k < worst_.size(); ++k) {
      const CertificateEntry& entry = certificate[k];
      Worst& worst = worst_[k];
      worst.name = entry.is_success ? fmt::format("steps_not_{}", entry.name) : std::string(entry.name);
      worst.unit = entry.unit;
      if (entry.is_success)
        worst.value += entry.value == 0;
      else
        worst.value = std::max(worst.value, entry.value);
    }
  }

  void save() {
    writers_.complete_frames();
    simulation_.save_memory();
    const std::string path = checkpoint_of_step();
    std::vector<NamedNumbers> memories = simulation_.measure_memories();
    for (std::size_t m = 0; m < memories_before_end_.size(); ++m)
      memories[m].numbers = memories_before_end_[m];
    write_checkpoint(simulation_.state(), path, files_.name, resolved_, provenance_, memories, end_frames_);
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
  struct Worst {
    std::string name;
    Real value = 0;
    std::string unit;
  };
  std::vector<Worst> worst_;     // of this run, since its start or restart
  std::int64_t body_steps_ = 0;  // of this run on this rank: bodies summed over the steps
  std::string stopped_by_;       // empty: the run came to its end
  bool asked_for_options_ = false;
  std::string end_frames_;                              // outputs with a frame beside their schedule
  std::vector<std::vector<Real>> memories_before_end_;  // of measures, before these were written
  ContactGraph<D> no_contacts_;
  const ContactGraph<D>* contacts_ = nullptr;
  WallClock::time_point start_ = WallClock::now();
  std::int64_t written_before_ = files::bytes_written();  // by runs before, of an ensemble
};

template <int D>
RunDeck<D> read_content(Deck& deck) {
  RunDeck<D> content;
  as_input(deck.name(), [&] {
    try {
      content.describe(deck.root());
      deck.require_all_read();
    } catch (const InputError& error) {
      throw InputError(errors_of_deck(deck.text(), deck.name(), deck.overrides(), error.what(),
                                      [](Section& root) { RunDeck<D>().describe(root); }));
    }
  });
  return content;
}

/// The same for a deck that is to run.
template <int D>
RunDeck<D> read_run_deck(Deck& deck) {
  RunDeck<D> content = read_content<D>(deck);
  if (!content.petsc_options.empty()) insert_petsc_options(content.petsc_options);
  return content;
}

/// Schemes that solve linear systems can tell only after the first one which PETSc options are in use.
template <int D>
void require_known_options(Simulation<D>& simulation) {
  if (simulation.stepper().knows_petsc_options()) require_petsc_options_used(simulation.state().comm);
}

/// Throws one InputError with all findings if one of them is an error.
void refuse_errors(const std::vector<std::string>& findings) {
  std::string text;
  bool has_error = false;
  for (const std::string& finding : findings) {
    text += (text.empty() ? "" : "\n") + finding;
    has_error = has_error || finding.starts_with("error");
  }
  if (has_error) throw InputError(text);
}

using Use = ResultsFolder::Use;

/// Throws if a run of the resolved deck `before`, from a file `origin`, cannot go on with `deck`, which has
/// been read. Files that the decks name lie where they did.
template <int D>
void require_same_run_as(const std::string& before, const std::string& origin, const Deck& deck) {
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(deck.name()).parent_path() / fs::path(origin).filename();
  Deck other = Deck::from_text(before, beside.string());
  if (dimension_of(other) == D) read_content<D>(other);
  require_same_run(deck, other, "in " + origin);
}

/// Takes a run through to its end, from its start or from `checkpoint`. `before_files` is called when nothing
/// can be wrong with the deck any more and no file has been touched. Collective.
template <int D>
ExitCode run(
    const Comm& comm, Deck& deck, RunDeck<D> content, ResultsFolder& folder, const RunOptions& options,
    Use use, const std::string& checkpoint, const std::function<void()>& before_files = [] {}) {
  reset_timers();
  const std::string resolved = deck.resolved();
  const bool restarts = use == Use::go_on;
  files::Texts provenance = provenance_of(comm, deck.name(), deck.text(), options.command_line);
  std::optional<StartingPoint<D>> start;
  if (!restarts && !options.from.empty()) start.emplace(comm, options.from);
  const std::string started_from = start      ? start->text()
                                   : restarts ? read_checkpoint_head(comm, checkpoint).started_from
                                              : "";
  if (!started_from.empty()) provenance.emplace_back("started_from", started_from);
  const RunFiles& files = folder.files();
  std::optional<ResumePoint> resumed;
  std::optional<Simulation<D>> simulation;
  std::vector<std::string> findings;  // what `scree check` would say
  if (restarts) {
    as_input(checkpoint, [&] { simulation.emplace(comm, std::move(content), checkpoint); });
    resumed = ResumePoint{simulation->state().clock};
    if (options.resume && !simulation->running() && is_done(summary_in(comm, files.folder))) {
      log::info("{} has ended already, at t = {:g} s: nothing to do", files.folder, resumed->clock.time);
      return ExitCode::done;
    }
    if (simulation->running()) resumed->end_frames = read_checkpoint_head(comm, checkpoint).end_frames;
  } else {
    // Everything that can be wrong with the deck is found before results that exist are touched.
    as_input(deck.name(), [&] { simulation.emplace(comm, std::move(content), start ? &*start : nullptr); });
    require_known_options(*simulation);
    if (const Scene<D>* scene = simulation->stepper().scene()) {
      Scope timer("findings");
      findings = scene->diagnostics(simulation->state());
      refuse_errors(findings);
    }
  }
  before_files();
  folder.prepare(use, checkpoint);
  const bool reads_a_copy = restarts && !options.resume;  // the deck is that of the checkpoint
  files::on_root(comm, [&] {
    log::open_file(files.with(".log"), restarts);
    if (!reads_a_copy) files::write_atomically(files.with(".deck.toml"), deck.text());
    files::write_atomically(
        files.with(".resolved.toml"),
        started_from.empty() ? resolved : fmt::format("# Bodies from {}\n{}", started_from, resolved));
  });
  log::info("scree {} on {} ranks: {}, {} bodies in {}D, {} s to go in steps of {} s", version::number,
            comm.size(), files.name, simulation->n_bodies(), D,
            simulation->deck().end_time - simulation->state().clock.time, simulation->deck().dt);
  if (!reads_a_copy)
    for (const std::string& warning : deck.warnings()) log::warn(warning);
  for (const std::string& finding : findings) log::warn(finding);
  if (start) {
    const std::vector<std::string> differences = start->differences(deck);
    if (differences.empty())
      log::info("the deck is that of the checkpoint");
    else
      log::info("the deck differs from that of the checkpoint:\n  {}", fmt::join(differences, "\n  "));
  }
  if (restarts && !options.from.empty())
    log::info("--from {} was for the start: the run goes on from its own checkpoint", options.from);
  if (restarts)
    log::info("from {} at step {}, t = {:g} s", checkpoint, resumed->clock.step, resumed->clock.time);
  stop_signal::announce(options.progress && comm.is_root());

  Run<D> loop(comm, *simulation, files, resolved, provenance, options, resumed);
  const ExitCode code = loop.go();
  loop.report(code);
  log::close_file();
  return code;
}

/// Starts a deck, or goes on from its latest checkpoint if that is asked for and there is one.
template <int D>
ExitCode run_or_resume(
    const Comm& comm, Deck& deck, const RunOptions& options,
    const std::function<void()>& before_files = [] {}) {
  RunDeck<D> content = read_run_deck<D>(deck);
  ResultsFolder folder(comm, files_of(content.output, name_after(deck)), options.command_line);
  Use use = options.force ? Use::replace : Use::fresh;
  std::string checkpoint;
  if (options.force || options.resume) folder.lock_if_there();
  if (options.resume) {
    const RunFiles& files = folder.files();
    checkpoint = latest_checkpoint(comm, files.checkpoints());
    if (!checkpoint.empty()) {
      use = Use::go_on;
      require_same_run_as<D>(read_checkpoint_head(comm, checkpoint).deck, checkpoint, deck);
    } else {
      if (has_ended(summary_in(comm, files.folder), content.end_time)) {
        log::info("{} has ended already, at t = {:g} s: nothing to do", files.folder, content.end_time);
        return ExitCode::done;
      }
      folder.require_nothing_to_lose();
      log::warn("no checkpoint found in {}: starting anew", files.checkpoints());
      use = Use::start_anew;
    }
  }
  return run<D>(comm, deck, std::move(content), folder, options, use, checkpoint, before_files);
}

/// Goes on from a checkpoint with its own deck and what `deck` has changed in it.
template <int D>
ExitCode restart(const Comm& comm, const std::string& checkpoint, const CheckpointHead& head, Deck& deck,
                 const RunOptions& options) {
  RunDeck<D> content = read_run_deck<D>(deck);
  require_same_run_as<D>(head.deck, checkpoint, deck);
  ResultsFolder folder(comm, files_of(content.output, head.run_name), options.command_line);
  folder.lock_if_there();
  return run<D>(comm, deck, std::move(content), folder, options, Use::go_on, checkpoint);
}

/// As run_or_resume(), or as many of them as the ensemble has runs.
template <int D>
ExitCode run_all(const Comm& comm, Deck& deck, const RunOptions& options) {
  const std::int64_t n_runs = options.ensemble > 0 ? options.ensemble : ensemble_of(deck);
  if (n_runs == 1) return run_or_resume<D>(comm, deck, options);
  Deck copy = Deck::from_text(deck.text(), deck.name(), deck.overrides());
  const RunDeck<D> content = read_run_deck<D>(copy);
  const WallClock::time_point start = WallClock::now();
  ResultsFolder folder(comm, files_of(content.output, name_after(deck)), options.command_line);
  folder.lock_if_there();
  const auto deck_of = [&](const EnsembleMember& member) {
    std::vector<std::string> overrides = deck.overrides();
    overrides.insert(overrides.end(), member.overrides.begin(), member.overrides.end());
    return Deck::from_text(deck.text(), deck.name(), overrides);
  };
  const auto require_same_deck = [&](const EnsembleMember& member, const std::string& found) {
    Deck its_deck = deck_of(member);
    read_content<D>(its_deck);
    require_same_run_as<D>(found, member.folder, its_deck);
  };
  bool is_prepared = false;
  const auto run_member = [&](const EnsembleMember& member) {
    Deck its_deck = deck_of(member);
    RunOptions its_options = options;
    its_options.ensemble = 1;
    constexpr Real no_time_left = 1e-3;  // 0 would mean no limit
    if (options.max_wall_time > 0)
      its_options.max_wall_time =
          comm.min(std::max(no_time_left, options.max_wall_time - seconds_since(start)));
    return run_or_resume<D>(comm, its_deck, its_options, [&] {
      // All at once: a member left from before would pass for one of this ensemble if this were interrupted.
      if (!is_prepared) folder.prepare_ensemble(options.force ? Use::replace : Use::go_on, member.name);
      is_prepared = true;
    });
  };
  if (Scene<D>* scene = content.stepper->scene())
    return run_ensemble(
        comm, folder.files().folder, content.seed, n_runs, content.end_time, options.resume,
        require_same_deck, run_member, scene->output().summary_key(),
        [&](std::span<const std::string> summaries) { return scene->output().quantities(summaries); });
  return run_ensemble(comm, folder.files().folder, content.seed, n_runs, content.end_time, options.resume,
                      require_same_deck, run_member);
}

/// Takes the first step, of which nothing is kept; says how it went. Throws what ends a run in it.
template <int D>
std::string try_first_step(Simulation<D>& simulation) {
  constexpr std::int64_t most_bodies = 20'000;  // a matter of seconds
  const std::int64_t n_bodies = simulation.n_bodies();
  if (n_bodies > most_bodies) return fmt::format("not tried: {} bodies, more than {}", n_bodies, most_bodies);
  if (!simulation.running()) return "none: the run ends where it starts";
  const Real asked = simulation.next_dt();
  try {
    simulation.step(false);
  } catch (const CollectiveError& error) {
    throw CollectiveError(error.code(), fmt::format("the first step fails: {}", error.what()));
  }
  require_known_options(simulation);
  const Real taken = simulation.state().clock.last_dt;
  if (taken < asked) return fmt::format("taken, but cut from {:.4g} s to {:.4g} s", asked, taken);
  return "taken";
}

template <int D>
std::string check(const Comm& comm, Deck& deck, bool as_json, const std::string& from) {
  RunDeck<D> content = read_run_deck<D>(deck);
  std::optional<StartingPoint<D>> start;
  if (!from.empty()) start.emplace(comm, from);
  Simulation<D> simulation(comm, std::move(content), start ? &*start : nullptr);
  require_known_options(simulation);
  const State<D>& state = simulation.state();
  const OutputSettings& output = simulation.deck().output;
  const auto n = static_cast<std::size_t>(state.bodies.n_owned());
  const auto radius = state.bodies.radius().first(n);
  Real least = HUGE_VAL, most = 0;
  std::vector<Real> volumes(n);
  for (std::size_t i = 0; i < n; ++i) {
    least = std::min(least, radius[i]);
    most = std::max(most, radius[i]);
    volumes[i] = D == 2 ? M_PI * radius[i] * radius[i] : 4.0 / 3 * M_PI * radius[i] * radius[i] * radius[i];
  }
  least = comm.min(least);
  most = comm.max(most);
  const Real volume = ReproducibleSum::sum(comm, volumes);
  const std::int64_t n_bodies = simulation.n_bodies();
  BodiesToCome to_come = simulation.deck().events.inlets.to_come(simulation.deck().end_time);
  std::vector<std::string> findings = deck.warnings();
  if (const Scene<D>* scene = simulation.stepper().scene()) {
    to_come.include(scene->to_come(simulation.deck().end_time));
    const std::vector<std::string> of_scene = scene->diagnostics(state);
    refuse_errors(of_scene);
    findings.insert(findings.end(), of_scene.begin(), of_scene.end());
  }
  const std::int64_t n_to_come = to_come.count;
  if (n_bodies == 0) {
    least = to_come.smallest;
    most = to_come.largest;
  }
  for (std::string& finding : deck_findings(simulation.deck(), state)) findings.push_back(std::move(finding));
  const std::int64_t n_pairs = comm.sum(simulation.neighborhood().schedule().n_pairs());
  const Real memory = memory_of_run(simulation) / (1 << 20);
  const Real steps = std::ceil(simulation.deck().end_time / simulation.deck().dt * (1 - 1e-9));
  const Real end = simulation.deck().end_time, dt = simulation.deck().dt;
  const auto body = static_cast<Real>(n_bodies + n_to_come);
  // Bytes per body of a frame: VTK stores id, point, radius, velocity, group, rank, contacts in base 64 after
  // LZ4 (about 80 bytes, measured); H5MD position, image and velocity.
  const Real disk = output.vtk.count(end, dt) * body * 80 +
                    output.h5md.count(end, dt) * body * D * (output.h5md_precision == "double" ? 20 : 12) +
                    static_cast<Real>(output.checkpoint_keep) * body * (8 + 8 + 8 + 4 + D * 28);
  // A rank should have some blocks to itself and enough bodies to outweigh its messages
  // (docs/performance.md).
  const std::int64_t most_ranks = std::max<std::int64_t>(1, (n_bodies + n_to_come) / 5000);
  const Real skin = state.lattice.skin;
  const std::string first_step = try_first_step(simulation);

  Json report{{"deck", deck.name()},
              {"dimension", D},
              {"bodies", n_bodies},
              {"bodies_to_come", n_to_come},
              {"radius_min_m", least},
              {"radius_max_m", most},
              {"solid_fraction_of_domain", volume / state.box.volume()},
              {"obstacles", state.obstacles.list().size()},
              {"candidate_pairs", n_pairs},
              {"skin_m", skin},
              {"block_cells", state.lattice.block_cells[0]},
              {"steps", steps},
              {"memory_per_rank_mib", memory},
              {"disk_mib", disk / (1 << 20)},
              {"sensible_ranks", most_ranks},
              {"first_step", first_step},
              {"findings", findings}};
  if (as_json) return report.dump(2) + "\n";
  return fmt::format(
      "{}: valid\n"
      "  {} bodies in {}D, radii {:g} to {:g} m, solid fraction of the domain {:.3f}, {} obstacles\n"
      "{}"
      "  {} candidate pairs (skin {:.3g} m, blocks of {} cells)\n"
      "  {:g} steps of {:g} s to t = {:g} s\n"
      "  about {:.0f} MiB of memory per rank at most, {:.1f} MiB on disk; {}\n"
      "  first step: {}\n"
      "{}",
      deck.name(), n_bodies, D, least, most, volume / state.box.volume(), state.obstacles.list().size(),
      n_to_come > 0 ? fmt::format("  up to {} more bodies come during the run\n", n_to_come) : "", n_pairs,
      skin, state.lattice.block_cells[0], steps, dt, end, memory, disk / (1 << 20),
      most_ranks == 1 ? "1 rank is enough" : fmt::format("sensible on 1 to {} ranks", most_ranks), first_step,
      findings.empty() ? "" : fmt::format("  to look at:\n    {}\n", fmt::join(findings, "\n    ")));
}

/// Kinds that exist in 2D, then those of 3D only.
template <class List2, class List3>
std::string list_of_kinds(const std::string& heading, const List2& in_2d, const List3& in_3d) {
  std::string text = heading + "\n";
  for (std::size_t i = 0; i < in_2d.size(); ++i) {
    const char* where = !in_3d[i].make ? " (2D)" : !in_2d[i].make ? " (3D)" : "";
    text += fmt::format("  {:<16} {}{}\n", in_2d[i].name, in_2d[i].summary, where);
  }
  return text;
}

template <template <int> class Base>
std::string all_kinds(const std::string& heading) {
  return list_of_kinds(heading, registry<Base<2>>(), registry<Base<3>>());
}

}  // namespace

ExitCode run_deck(const Comm& comm, Deck deck, RunOptions options) {
  const std::string members = options.ensemble > 0 ? fmt::format(" --ensemble {}", options.ensemble) : "";
  options.go_on_with =
      command_to_go_on(comm, "run " + quoted(deck.name()), deck.overrides(), " --resume" + members);
  return dimension_of(deck) == 2 ? run_all<2>(comm, deck, options) : run_all<3>(comm, deck, options);
}

ExitCode restart_run(const Comm& comm, const std::string& checkpoint,
                     const std::vector<std::string>& overrides, RunOptions options) {
  const CheckpointHead head = read_checkpoint_head(comm, checkpoint);
  options.overrides = overrides;
  // Files that the deck names are looked for beside it.
  const std::string name =
      (std::filesystem::path(head.deck_folder) / (head.run_name + ".resolved.toml")).string();
  Deck deck = Deck::from_text(head.deck, name, overrides);
  return head.dimension == 2 ? restart<2>(comm, checkpoint, head, deck, options)
                             : restart<3>(comm, checkpoint, head, deck, options);
}

std::string check_deck(const Comm& comm, Deck deck, bool as_json, const std::string& from) {
  return dimension_of(deck) == 2 ? check<2>(comm, deck, as_json, from) : check<3>(comm, deck, as_json, from);
}

std::string describe(const Comm& comm, const std::string& path, const std::vector<std::string>& overrides) {
  if (std::filesystem::path(path).extension() != ".toml") return describe_file(comm, path);
  Deck deck = Deck::read(comm, path, overrides);
  if (dimension_of(deck) == 2)
    read_run_deck<2>(deck);
  else
    read_run_deck<3>(deck);
  for (const std::string& warning : deck.warnings()) log::warn(warning);
  return deck.resolved();
}

CompareReport compare(const Comm& comm, const std::string& first, const std::string& second,
                      bool last_frame_only, bool as_json, bool only_first) {
  const Comparison result = compare_results(comm, first, second, {.last_frame_only = last_frame_only});
  if (only_first) return {result.equal(), as_json ? result.first_json() : result.first_text()};
  return {result.equal(), as_json ? result.json() : result.text()};
}

std::string deck_schema_text() {
  return deck_schema(deck_description());
}
std::string deck_reference_text() {
  return deck_reference(deck_description());
}

std::string list_kinds(const std::string& what) {
  const std::vector<std::pair<std::string, std::string>> lists{
      {"schemes", list_of_kinds("schemes (simulation.scheme)", all_schemes<2>(), all_schemes<3>())},
      {"solvers", all_kinds<FrictionSolver>("solvers of frictional contact ([solver] type)")},
      {"impact_laws", all_kinds<ImpactLaw>("laws of simultaneous impacts ([event] impact_law)")},
      {"integrators", all_kinds<Integrator>("integrators in time ([dem] integrator)")},
      {"velocities", all_kinds<VelocityField>("velocity fields ([velocity] type)")},
      {"forces", all_kinds<ForceField>("forces ([forces.NAME] type)")},
      {"obstacles", all_kinds<Shape>("obstacles ([obstacles.NAME] type)")},
      {"motions", all_kinds<Motion>("motions of obstacles ([obstacles.NAME.motion] type)")},
      {"sources", all_kinds<Fill>("sources of bodies ([particles.NAME.source] type)")},
      {"inlets", all_kinds<Inlet>("inlets ([inlets.NAME] type)")},
      {"distributions", all_kinds<RadiusDistribution>("radii ([particles.NAME.radius] distribution)")},
      {"measures", all_kinds<Measure>("measures ([measures.NAME] type)")}};
  std::string text, words;
  for (const auto& [word, list] : lists) {
    if (what.empty() || what == word) text += list + "\n";
    words += (words.empty() ? "" : ", ") + word;
  }
  if (text.empty()) throw InputError("there is no list \"" + what + "\"; the lists are " + words);
  text.pop_back();
  return text;
}

}  // namespace scree
