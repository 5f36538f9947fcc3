#include "bench/run_cases.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/steps.hpp"
#include "core/files.hpp"
#include "core/memory.hpp"
#include "core/program_folder.hpp"
#include "core/scratch_folder.hpp"
#include "run/python_package.hpp"

namespace scree {

namespace {

using Texts = std::vector<std::string>;

/// An option of a case: one value or several with commas.
struct RunOption {
  std::string name;
  std::string about;
  Texts full;   ///< of a full measurement
  Texts quick;  ///< of a quick one; empty: the same
  std::optional<Check> check;
};

struct RunCaseAbout {
  std::string name;
  std::string summary;
  std::vector<RunOption> options;  ///< the first one is the size
  bool has_folder = true;          ///< for files that all ranks read
};

/// All of them: what their decks are is said where they are made.
const std::vector<RunCaseAbout>& abouts() {
  // Values are texts, of which the checks of counts only ask that they are numbers.
  const Check positive_whole =
      number("positive whole", [](Real v) { return v > 0 && v == std::floor(v) && v < 1e15; });
  const Check non_negative_whole =
      number("non-negative whole", [](Real v) { return v >= 0 && v == std::floor(v) && v < 1e15; });
  const RunOption seconds{"seconds", "least time of a repetition", {"1"}, {"0.2"}, positive_number()};
  const RunOption steps{"steps", "of one repetition", {"20"}, {"10"}, positive_whole};
  const std::string over_ranks = "numbers of bodies, over all ranks";
  static const std::vector<RunCaseAbout> list{
      {"dem",
       "soft contact: body-steps per second of a settled bed of spheres",
       {{"bodies", over_ranks + "; multiples of 4096", {"4096", "32768", "131072"}, {"8192"}, positive_whole},
        {"law", "hertz or linear", {"hertz"}, {}, one_of({"hertz", "linear"})},
        {"settling-time", "of the bed before it is measured [s]", {"0.5"}, {}, positive_number()},
        seconds}},
      {"sizes",
       "soft spheres of two sizes, up to 1:40: steps, search and memory per body",
       {{"bodies", "about how many bodies, over all ranks", {"100000"}, {"20000"}, positive_whole},
        {"ratios",
         "radii of the large ones over those of the small ones",
         {"1", "10", "40"},
         {"1", "10"},
         positive_number()},
        {"classes", "size classes of the neighbour search; 0: auto", {"0"}, {}, in_range(0, 8)},
        {"speed", "rms speed at first [m/s]", {"0.2"}, {}, positive_number()},
        seconds}},
      {"nonsmooth",
       "non-smooth dynamics: a step of a settled bed of rigid spheres",
       {{"bodies", over_ranks + "; multiples of 4096", {"4096", "32768"}, {"4096"}, positive_whole},
        {"solver", "of [solver], as scree list solvers --laboratory names it", {"nsgs"}, {}, {}},
        {"tolerance", "of [solver]", {"1e-2"}, {}, positive_number()},
        {"settling-time", "of the bed before it is measured [s]", {"0.6"}, {"0.4"}, positive_number()},
        steps}},
      {"convex",
       "non-smooth dynamics: cubes beside spheres of their volume, poured and at rest",
       {{"bodies", over_ranks, {"1000"}, {}, positive_whole},
        {"tolerance", "of [solver]", {"1e-3"}, {}, positive_number()},
        {"settling-time", "of the pour, before the bed is measured [s]", {"0.8"}, {"0.4"}, positive_number()},
        steps},
       false},
#ifdef SCREE_CROWD
      {"crowd",
       "people: microseconds per agent and step in a hall, with and without columns",
       {{"agents", "numbers of people, over all ranks", {"10000"}, {"2000"}, positive_whole},
        {"densities", "at the start [1/m2]", {"1", "3"}, {"3"}, positive_number()},
        {"columns", "among the crowd, on a square grid", {"0", "400"}, {}, non_negative_whole},
        {"model", "projection or pbd", {"projection"}, {}, one_of({"projection", "pbd"})},
        {"tolerance", "of the projection [m]", {"1e-6"}, {}, positive_number()},
        {"step", "length of a step [s]", {"0.05"}, {}, positive_number()},
        {"warm-up", "steps before the first timing", {"100"}, {"50"}, non_negative_whole},
        steps},
       false},
#endif
  };
  return list;
}

class RunCase : public BenchCase {
 public:
  explicit RunCase(const RunCaseAbout& about) : about_(about) {
    for (const RunOption& option : about_.options) values_[option.name] = option.full;
  }

  void add_options(CommandLine& app) override {
    for (const RunOption& option : about_.options) {
      const Option added = app.option("--" + option.name, values_[option.name], option.about).delimiter(',');
      if (option.check) added.check(*option.check);
    }
    add_repetitions(app);
    if (about_.has_folder) add_folder(app);
  }
  void make_quick() override {
    repetitions_ = 3;
    for (const RunOption& option : about_.options)
      if (!option.quick.empty()) values_[option.name] = option.quick;
  }
  std::int64_t study_bodies() const override { return std::stoll(size().back()); }
  void set_bodies(std::int64_t bodies) override {
    values_[about_.options.front().name] = {std::to_string(bodies)};
    is_study_ = true;
  }

  void run(const BenchRun& run) override {
    const Comm& comm = run.comm();
    const ScratchFolder folder(comm, folder_);
    std::string text;
    files::on_root(comm, [&] { text = measurements_from_python(folder.path()); });
    comm.broadcast(text);
    for (const Json& measurement : Json::parse(text)) {
      Deck deck = Deck::from_text(measurement["deck"].get<std::string>(), "benchmark deck");
      if (dimension_of(deck) == 2)
        measure<2>(run, std::move(deck), measurement);
      else
        measure<3>(run, std::move(deck), measurement);
    }
  }

 private:
  const Texts& size() const { return values_.at(about_.options.front().name); }
  /// Throws InputError if Python refuses. Local.
  std::string measurements_from_python(const std::string& folder) const {
    Json request{{"case", about_.name}, {"folder", folder}, {"is_study", is_study_}};
    request["program"] = program_beside("scree").string();
    request["options"] = Json::object();
    for (const auto& [name, values] : values_) request["options"][name] = values;
    request["options"]["repetitions"] = Texts{std::to_string(repetitions_)};
    std::string text = output_of_python("bench", {"decks", request.dump()});
    const Json answer = Json::parse_or_null(text);
    if (const Json* refused = answer.is_object() ? answer.find("refused") : nullptr)
      throw InputError(refused->get<std::string>());
    if (!answer.is_array()) throw RunError("postprocess/scree/bench does not print decks: " + text);
    return text;
  }
  template <int D>
  static void measure(const BenchRun& run, Deck&& deck, const Json& measurement) {
    const Json& steps = measurement["steps"];
    StepTiming plan;
    plan.repetitions = steps["repetitions"].get<int>();
    plan.steps = steps.value("steps", plan.steps);
    plan.seconds = steps.value("seconds", plan.seconds);
    plan.warm_up = steps.value("warm_up", plan.warm_up);
    plan.warm_up_time = steps.value("warm_up_time", plan.warm_up_time);
    const std::int64_t memory_before = live_memory();
    Simulation<D> simulation(run.comm(), read_run_deck<D>(std::move(deck)));
    run.add_steps(measure_steps(run.comm(), simulation, memory_before, plan, "benchmark deck"),
                  measurement["row"]);
  }

  const RunCaseAbout& about_;
  std::map<std::string, Texts> values_;
  bool is_study_ = false;  ///< a size was set, to be rounded to what the case can do
};

}  // namespace

std::span<const BenchEntry> run_cases() {
  static const std::vector<BenchEntry> entries = [] {
    std::vector<BenchEntry> made;
    for (const RunCaseAbout& about : abouts())
      made.push_back({about.name, about.summary, [&about] { return std::make_unique<RunCase>(about); }});
    return made;
  }();
  return entries;
}

}  // namespace scree
