#include "bench/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/machine.hpp"
#include "core/files.hpp"
#include "core/program_folder.hpp"
#include "core/suggestion.hpp"

namespace scree {

namespace {

namespace fs = std::filesystem;

/// Makes the folder and tries to write there. Throws InputError.
void require_writable_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw InputError(fmt::format("--out {}: the folder cannot be made{}", folder,
                                 error ? ": " + error.message() : " (something else has this name)"));
  const std::string probe = folder + "/results.json.probe";
  try {
    files::write_atomically(probe, "");
  } catch (const CollectiveError& failure) {
    throw InputError(fmt::format("--out {}: {}", folder, failure.what()));
  }
  fs::remove(probe, error);
}

/// What the options name: entries of cases.def, in its order, or the one of a deck. Throws InputError.
std::vector<BenchEntry> chosen_cases(const StudyOptions& options) {
  if (options.bodies > 0 && options.mode == "fixed")
    throw InputError(
        "--bodies goes with --mode strong or weak; a case's own sizes are options of scree_bench NAME");
  if (!options.deck.path.empty()) {
    if (options.mode == "weak")
      throw InputError(
          "--mode weak: a deck has one size, whatever the ranks are; --deck is measured as --mode strong");
    return {{.name = "deck", .summary = "steps of a deck, without its output", .make = nullptr}};
  }
  std::vector<BenchEntry> chosen;
  std::vector<std::string> names;
  for (const BenchEntry& entry : bench_cases()) names.emplace_back(entry.name);
  for (const std::string& name : options.cases) {
    const auto found = std::ranges::find(bench_cases(), name, &BenchEntry::name);
    if (found == bench_cases().end() && name != "all")
      throw InputError(fmt::format("--case {}: there is no such case{}; there are {} and all", name,
                                   suggestion(name, names), fmt::join(names, ", ")));
  }
  for (const BenchEntry& entry : bench_cases())
    if (std::ranges::any_of(options.cases,
                            [&](const std::string& name) { return name == "all" || name == entry.name; }))
      chosen.push_back(entry);
  if (chosen.empty() && !options.machine)
    throw InputError(
        fmt::format("name the cases: --case all, or some of {}; or give a --deck", fmt::join(names, ",")));
  return chosen;
}

void require_valid(const StudyOptions& options) {
  chosen_cases(options);
  if (!options.deck.path.empty()) require_valid(options.deck);
  if (!options.out.empty()) require_writable_folder(options.out);
}

/// The options as results.json has them.
Json settings_of(const StudyOptions& options) {
  Json settings{{"quick", options.quick}, {"mode", options.mode}};
  const DeckToMeasure& deck = options.deck;
  if (deck.path.empty())
    settings["cases"] = options.cases;
  else
    settings["deck"] = deck.path;
  if (!deck.from.empty()) settings["from"] = deck.from;
  if (!deck.overrides.empty()) settings["set"] = deck.overrides;
  if (deck.warm_up) settings["warm_up"] = *deck.warm_up;
  if (deck.steps) settings["steps"] = *deck.steps;
  if (options.bodies > 0) settings["bodies"] = options.bodies;
  if (options.repetitions > 0) settings["repetitions"] = options.repetitions;
  if (!options.ranks.empty()) settings["ranks"] = options.ranks;
  if (!options.launcher.empty()) settings["launcher"] = options.launcher;
  return settings;
}

}  // namespace

void add_study_options(CommandLine& app, StudyOptions& options, bool launches) {
  const Option cases =
      app.option("--case", options.cases, "cases to measure, or all (see --list)").delimiter(',');
  app.flag("--list", options.list, "prints what cases there are");
  app.flag("--quick", options.quick, "small sizes: all cases in a few minutes");
  app.option("--mode", options.mode,
             "fixed: each case at its own sizes; strong: one size for all ranks together; weak: one size "
             "for each rank")
      .check(one_of({"fixed", "strong", "weak"}));
  const Option bodies = app.option("--bodies", options.bodies, "strong: of all ranks; weak: of each rank")
                            .check(positive_number());
  app.option("--repetitions", options.repetitions, "of each timing; the median counts")
      .check(positive_number());
  app.option("--out", options.out,
             "folder for results.json and CASE.csv, and for files that go away again; all ranks must see it");
  const Option deck = app.option("--deck", options.deck.path, "measure steps of this deck instead of cases")
                          .excludes(cases)
                          .excludes(bodies);
  app.option("--from", options.deck.from, "of a deck: start with the bodies of this checkpoint").needs(deck);
  app.option("--set", options.deck.overrides, "of a deck: override a key: --set time.step=0.01")
      .take_all()
      .needs(deck);
  app.option("--warm-up", options.deck.warm_up, "of a deck: steps before the first timing")
      .check(non_negative_count())
      .needs(deck);
  app.option("--steps", options.deck.steps, "of a deck: steps of one timing")
      .check(positive_count())
      .needs(deck);
  if (launches) {
    app.option("--ranks", options.ranks,
               "numbers of ranks to start (default: 1,2; within mpirun: the ranks that are there)")
        .delimiter(',')
        .check(positive_number());
    app.option("--launcher", options.launcher, "how to start ranks (default: \"mpirun -n {ranks}\")");
  } else {
    app.option("--folder", options.folder).hidden();
    app.flag("--stream", options.stream).hidden();
    app.flag("--machine", options.machine).hidden();
  }
}

std::string list_bench_cases() {
  std::string text =
      "cases (scree bench --case NAME,...; options of each: scree_bench NAME --help; own decks: --deck "
      "FILE)\n";
  for (const BenchEntry& entry : bench_cases())
    text += fmt::format("  {:<10} {}\n", entry.name, entry.summary);
  return text;
}

Json show_request(const StudyOptions& options, bool is_study, const BenchFiles& files) {
  return {{"command", options.command_line},
          {"settings", is_study ? settings_of(options) : Json::object()},
          {"is_study", is_study},
          {"out", options.out},
          {"csv", files.csv},
          {"json", files.json}};
}

Json launch_request(const StudyOptions& options) {
  require_valid(options);
  Json cases = Json::object();
  for (const BenchEntry& entry : chosen_cases(options)) cases[entry.name] = entry.summary;
  return {{"program", this_program().string()},
          {"command", options.command_line},
          {"settings", settings_of(options)},
          {"cases", cases},
          {"out", options.out}};
}

void measure_study(const Comm& comm, const StudyOptions& options, const Send& send) {
  files::on_root(comm, [&] { require_valid(options); });
  if (!options.stream || options.machine) send("machine", describe_program(&comm));
  for (const BenchEntry& entry : chosen_cases(options)) {
    send("case", Json{{"name", entry.name}, {"summary", entry.summary}});
    const std::unique_ptr<BenchCase> bench =
        entry.make ? entry.make() : std::make_unique<DeckBench>(options.deck);
    if (options.quick) bench->make_quick();
    if (options.repetitions > 0) bench->set_repetitions(options.repetitions);
    bench->set_folder(options.folder.empty() ? options.out : options.folder);
    if (options.mode != "fixed" && entry.make) {
      const std::int64_t bodies = options.bodies > 0 ? options.bodies : bench->study_bodies();
      bench->set_bodies(bodies * (options.mode == "weak" ? comm.size() : 1));
    }
    bench->run(BenchRun(comm, std::string(entry.name), options.mode, send));
  }
  send("done", true);
}

void measure_case(const Comm& comm, const std::string& name, BenchCase& bench, bool describes,
                  const Send& send) {
  send("machine", describe_program(describes ? &comm : nullptr));
  bench.run(BenchRun(comm, name, "fixed", send));
  send("done", true);
}

}  // namespace scree
