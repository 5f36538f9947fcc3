#include "run/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/as_input.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "core/stop_signal.hpp"
#include "core/timing.hpp"
#include "friction/friction_solver.hpp"
#include "io/describe_file.hpp"
#include "run/checkpoint.hpp"
#include "run/deck_changes.hpp"
#include "run/deck_findings.hpp"
#include "run/ensemble.hpp"
#include "run/results_folder.hpp"
#include "run/run_loop.hpp"
#include "run/schemes.hpp"
#include "run/starting_point.hpp"
#include "run/version.hpp"
#include "schemes/dem/integrator.hpp"
#include "schemes/event/impact_law.hpp"

namespace scree {

namespace {

files::Texts provenance_of(const Comm& comm, const std::string& deck_name, const std::string& deck_text,
                           const std::string& command_line) {
  files::Texts texts{{"deck_name", deck_name},
                     {"deck_folder", std::filesystem::absolute(deck_name).parent_path().string()},
                     {"deck_text", deck_text},
                     {"command_line", command_line},
                     {"version", version_text()},
                     {"ranks", std::to_string(comm.size())}};
  if (const auto plugins = external_plugins(); !plugins.empty())
    texts.emplace_back("plugins", fmt::format("{}", fmt::join(plugins, "; ")));
  return texts;
}

using Use = ResultsFolder::Use;

/// Throws if a run of the resolved deck `before`, from a file `origin`, cannot go on with `deck`, which has
/// been read. Files that the decks name lie where they did.
template <int D>
void require_same_run_as(const std::string& before, const std::string& origin, const Deck& deck) {
  using Path = std::filesystem::path;
  const Path beside = Path(deck.name()).parent_path() / Path(origin).filename();
  Deck other = Deck::from_text(before, beside.string());
  if (dimension_of(other) == D) RunDeck<D>::read(other, false);
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
    simulation->require_known_options();
    findings = grave_findings(simulation->deck(), simulation->state());
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
  log::info("scree {} on {} rank{}: {}, {} bodies in {}D, {} s to go in steps of {} s", version::number,
            comm.size(), comm.size() == 1 ? "" : "s", files.name, simulation->n_bodies(), D,
            simulation->deck().end_time - simulation->state().clock.time, simulation->deck().dt);
  for (const std::string& plugin : external_plugins()) log::info("plug-in {}", plugin);
  if (!reads_a_copy)
    for (const std::string& warning : deck.warnings()) log::warn(warning);
  for (const std::string& finding : findings) log::warn(finding);
  const DeckDescription keys = deck_description();
  if (const auto special = deck.laboratory_settings(D == 2 ? keys.in_2d : keys.in_3d); !special.empty())
    log::info("keys of the laboratory (docs/decks-laboratory.md): {}", fmt::join(special, ", "));
  if (const std::string text = about_missing_outputs(simulation->deck()); !text.empty()) log::warn(text);
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

  const ExitCode code = run_loop(comm, *simulation, files, resolved, provenance, options, resumed);
  log::close_file();
  return code;
}

/// Starts a deck, or goes on from its latest checkpoint if that is asked for and there is one.
template <int D>
ExitCode run_or_resume(
    const Comm& comm, Deck& deck, const RunOptions& options,
    const std::function<void()>& before_files = [] {}) {
  RunDeck<D> content = RunDeck<D>::read(deck);
  ResultsFolder folder(comm, content.output.files(name_after(deck)), options.command_line);
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
      log::warn("no checkpoint found in {}: starting again", files.checkpoints());
      use = Use::start_over;
    }
  }
  return run<D>(comm, deck, std::move(content), folder, options, use, checkpoint, before_files);
}

/// Goes on from a checkpoint with its own deck and what `deck` has changed in it.
template <int D>
ExitCode restart(const Comm& comm, const std::string& checkpoint, const CheckpointHead& head, Deck& deck,
                 const RunOptions& options) {
  RunDeck<D> content = RunDeck<D>::read(deck);
  require_same_run_as<D>(head.deck, checkpoint, deck);
  ResultsFolder folder(comm, content.output.files(head.run_name), options.command_line);
  folder.lock_if_there();
  return run<D>(comm, deck, std::move(content), folder, options, Use::go_on, checkpoint);
}

/// As run_or_resume(), or as many of them as the ensemble has runs.
template <int D>
ExitCode run_all(const Comm& comm, Deck& deck, const RunOptions& options) {
  const std::int64_t n_runs = options.ensemble > 0 ? options.ensemble : ensemble_of(deck);
  if (n_runs == 1) return run_or_resume<D>(comm, deck, options);
  Deck copy = deck.with({});
  const RunDeck<D> content = RunDeck<D>::read(copy);
  const WallClock::time_point start = WallClock::now();
  ResultsFolder folder(comm, content.output.files(name_after(deck)), options.command_line);
  folder.lock_if_there();
  const auto require_same_deck = [&](const EnsembleMember& member, const std::string& found) {
    Deck its_deck = deck.with(member.overrides);
    RunDeck<D>::read(its_deck, false);
    require_same_run_as<D>(found, member.folder, its_deck);
  };
  bool is_prepared = false;
  const auto run_member = [&](const EnsembleMember& member) {
    Deck its_deck = deck.with(member.overrides);
    RunOptions its_options = options;
    its_options.ensemble = 1;
    its_options.max_wall_time = remaining_wall_time(comm, options, start);
    return run_or_resume<D>(comm, its_deck, its_options, [&] {
      // All at once: a member left from before would pass for one of this ensemble if this were interrupted.
      if (!is_prepared) folder.prepare_ensemble(options.force ? Use::replace : Use::go_on, member.name);
      is_prepared = true;
    });
  };
  if (Environment<D>* environment = content.stepper->environment())
    return run_ensemble(
        comm, folder.files().folder, content.seed, n_runs, content.end_time, options.resume,
        require_same_deck, run_member, environment->output().summary_key(),
        [&](std::span<const std::string> summaries) { return environment->output().quantities(summaries); });
  return run_ensemble(comm, folder.files().folder, content.seed, n_runs, content.end_time, options.resume,
                      require_same_deck, run_member);
}

/// Kinds that exist in 2D, then those of 3D only; empty if there are none for `audience` or users.
template <class List2, class List3>
std::string list_of_kinds(const std::string& heading, const List2& in_2d, const List3& in_3d,
                          Audience audience) {
  std::string text = heading + "\n";
  const std::size_t n_before = text.size();
  for (std::size_t i = 0; i < in_2d.size(); ++i) {
    if (in_2d[i].audience > audience) continue;
    const char* where = !in_3d[i].make ? " (2D)" : !in_2d[i].make ? " (3D)" : "";
    text += fmt::format("  {:<16} {}{}\n", in_2d[i].name, in_2d[i].summary, where);
  }
  return text.size() == n_before ? "" : text;
}

template <template <int> class Base>
std::string all_kinds(const std::string& heading, Audience audience) {
  return list_of_kinds(heading, registry<Base<2>>(), registry<Base<3>>(), audience);
}

}  // namespace

std::string name_after(const Deck& deck) {
  return std::filesystem::path(deck.name()).stem().string();
}

Real remaining_wall_time(const Comm& comm, const RunOptions& options, WallClock::time_point start) {
  constexpr Real none = 1e-3;  // 0 would mean no limit
  if (options.max_wall_time <= 0) return options.max_wall_time;
  return comm.min(std::max(none, options.max_wall_time - seconds_since(start)));
}

std::string quoted(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string command_to_go_on(const Comm& comm, const std::string& verb_and_file,
                             const std::vector<std::string>& overrides, const std::string& options) {
  std::string command = comm.size() > 1 ? fmt::format("mpirun -n {} ", comm.size()) : "";
  command += "scree " + verb_and_file + options;
  for (const std::string& given : overrides) command += " --set " + quoted(given);
  return command;
}

ExitCode run_deck(const Comm& comm, Deck deck, RunOptions options) {
  const std::string members = options.ensemble > 0 ? fmt::format(" --ensemble {}", options.ensemble) : "";
  if (options.go_on_with.empty())
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

std::string describe(const Comm& comm, const std::string& path, const std::vector<std::string>& overrides) {
  if (std::filesystem::path(path).extension() != ".toml") return describe_file(comm, path);
  Deck deck = Deck::read(comm, path, overrides);
  if (dimension_of(deck) == 2)
    RunDeck<2>::read(deck);
  else
    RunDeck<3>::read(deck);
  for (const std::string& warning : deck.warnings()) log::warn(warning);
  return deck.resolved();
}

std::string list_kinds(const std::string& what, Audience audience) {
  const std::vector<std::pair<std::string, std::string>> lists{
      {"schemes", list_of_kinds("schemes (simulation.scheme)", all_schemes<2>(), all_schemes<3>(), audience)},
      {"solvers", all_kinds<FrictionSolver>("solvers of frictional contact ([solver] type)", audience)},
      {"impact_laws", all_kinds<ImpactLaw>("laws of simultaneous impacts ([event] impact_law)", audience)},
      {"integrators", all_kinds<Integrator>("integrators in time ([dem] integrator)", audience)},
      {"velocities", all_kinds<VelocityField>("velocity fields ([velocity] type)", audience)},
      {"forces", all_kinds<ForceField>("forces ([forces.NAME] type)", audience)},
      {"obstacles", all_kinds<Shape>("obstacles ([obstacles.NAME] type)", audience)},
      {"motions", all_kinds<Motion>("motions of obstacles ([obstacles.NAME.motion] type)", audience)},
      {"sources", all_kinds<InitialPacking>("initial packings ([particles.NAME.source] type)", audience)},
      {"inlets", all_kinds<Inlet>("inlets ([inlets.NAME] type)", audience)},
      {"distributions",
       all_kinds<RadiusDistribution>("radii ([particles.NAME.radius] distribution)", audience)},
      {"measures", all_kinds<Measure>("measures ([measures.NAME] type)", audience)},
      {"outputs", all_kinds<Output>("outputs ([output.NAME])", audience)}};
  std::string text, words;
  for (const auto& [word, list] : lists) {
    if (list.empty()) continue;
    if (what.empty() || what == word) text += list + "\n";
    words += (words.empty() ? "" : ", ") + word;
  }
  if (text.empty()) throw InputError("there is no list \"" + what + "\"; the lists are " + words);
  text.pop_back();
  return text;
}

}  // namespace scree
