#include "crowd/output/evacuation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include "core/json.hpp"
#include "core/lines.hpp"

#include "crowd/crowd_environment.hpp"
#include "io/csv.hpp"

namespace scree {

namespace {

constexpr Real no_number = std::numeric_limits<Real>::quiet_NaN();

std::string cell(const std::optional<Real>& number) {
  return number ? fmt::format("{}", *number) : "";
}

Json json_of(const std::optional<Real>& number) {
  return number ? Json(*number) : Json(nullptr);
}

std::string text_of(const std::optional<Real>& number, const std::string& unit) {
  return number ? fmt::format("{:.4g} {}", *number, unit) : "not known";
}

Real number_at(const Json& object, const std::string& key) {
  const Json* found = object.find(key);
  return found && found->is_number() ? found->get<Real>() : no_number;
}

const std::vector<std::pair<std::string, Real>>& quantiles() {
  static const std::vector<std::pair<std::string, Real>> list{
      {"t50", 0.5}, {"t90", 0.9}, {"t95", 0.95}, {"t100", 1}};
  return list;
}

void add_hazard(const Hazard& hazard, EnvironmentWriter<2>::Summary& summary, Json& json) {
  summary.text +=
      fmt::format("\n  {} incapacitated; largest dose {:.4g}", hazard.n_fallen(), hazard.largest_dose());
  Json laws = Json::array();
  for (const std::string& law : hazard.laws()) {
    summary.text += "\n  " + law;
    laws.push_back(law);
  }
  json["hazard"] = {{"incapacitated", hazard.n_fallen()},
                    {"vanished", hazard.n_vanished()},
                    {"incapacitated_inside", hazard.n_fallen() - hazard.n_vanished()},
                    {"largest_dose", hazard.largest_dose()},
                    {"laws", laws}};
}

/// t50 to t100 and the mean, of `persons` in all.
void add_times(const DepartureCurve& curve, std::int64_t persons, EnvironmentWriter<2>::Summary& summary,
               Json& json) {
  std::string times;
  for (const auto& [name, share] : quantiles()) {
    const std::optional<Real> time = curve.time_of(part_of(persons, share));
    json[name + "_s"] = json_of(time);
    if (time) times += fmt::format("{}{:g} % by {:.4g} s", times.empty() ? "" : ", ", 100 * share, *time);
  }
  const std::optional<Real> mean = curve.mean_time();
  json["mean_s"] = json_of(mean);
  if (!times.empty()) summary.text += "\n  left: " + times;
  if (mean) summary.text += fmt::format("\n  mean time of leaving {:.4g} s", *mean);
}

/// When, and how many a second, people left by each exit; `table` is NAME.exits.csv.
void add_exits(const State<2>& state, const DepartureCurve& curve, EnvironmentWriter<2>::Summary& summary,
               Json& json, std::string& table) {
  table = "exit[-],persons[-],first[s],last[s],flow[1/s]\n";
  json["exits"] = Json::object();
  for (std::size_t k = 0; k < state.outlets.size(); ++k) {
    const int exit = static_cast<int>(k);
    const std::string& name = state.outlets[k].name;
    const std::int64_t persons = curve.n_left(exit);
    const std::optional<Real> first = curve.time_of(1, exit), last = curve.time_of(persons, exit),
                              flow = curve.mean_flow(exit);
    table += fmt::format("{},{},{},{},{}\n", csv_cell(name), persons, cell(first), cell(last), cell(flow));
    json["exits"][name] = {{"persons", persons},
                           {"first_s", json_of(first)},
                           {"last_s", json_of(last)},
                           {"flow_per_s", json_of(flow)}};
    summary.text += fmt::format("\n  exit {}: {} persons", name, persons);
    if (persons > 0)
      summary.text += fmt::format(", first {}, last {}, mean flow {}", text_of(first, "s"),
                                  text_of(last, "s"), text_of(flow, "1/s"));
  }
}

/// Who is still there: the first of them by id. Collective.
void add_never_left(const State<2>& state, std::int64_t inside, EnvironmentWriter<2>::Summary& summary,
                    Json& json) {
  constexpr int n_named = 3;
  json["never_left"] = Json::array();
  GlobalId after = -1;
  std::vector<std::string> named;
  for (int k = 0; k < n_named && k < inside; ++k) {
    GlobalId next = std::numeric_limits<GlobalId>::max();
    std::size_t place = 0;
    const auto ids = state.bodies.id().first(state.bodies.n_owned());
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] > after && ids[i] < next) {
        next = ids[i];
        place = i;
      }
    after = state.comm.min(next);
    std::array<Real, 2> at{-HUGE_VAL, -HUGE_VAL};
    if (next == after) at = state.bodies.position()[place].component;
    state.comm.max(std::span<Real>(at));
    json["never_left"].push_back({{"id", after}, {"position_m", at}});
    named.push_back(fmt::format("person {} at ({:.4g}, {:.4g})", after, at[0], at[1]));
  }
  if (inside > n_named) named.emplace_back("...");
  if (!named.empty()) summary.text += "\n" + in_lines("  still inside: ", named);
}

}  // namespace

std::string column_name(std::string name) {
  for (char& c : name)
    if (std::string(",\"<>&\r\n").find(c) != std::string::npos) c = '_';
  return name;
}

EvacuationReport evacuation_report(const State<2>& state, const DepartureCurve& curve, std::int64_t came,
                                   Real began, const Hazard& hazard) {
  const std::int64_t inside = state.comm.sum(static_cast<std::int64_t>(state.bodies.n_owned()));
  const std::int64_t left = curve.n_left();
  const std::int64_t at_start = inside + left + hazard.n_vanished() - came;

  EvacuationReport report;
  EnvironmentWriter<2>::Summary& summary = report.summary;
  std::int64_t dropped = 0, waiting = 0;
  for (const InletProgress& inlet : state.inlets) {
    dropped += inlet.n_dropped;
    waiting += inlet.n_waiting();
  }
  summary.text = fmt::format("people: {} at the start, {} came, {} left, {} still inside at t = {:g} s",
                             at_start, came, left, inside, state.clock.time);
  const std::int64_t lying = hazard.n_fallen() - hazard.n_vanished();
  if (lying > 0 && lying == inside)
    summary.text += ", all of them incapacitated";
  else if (lying > 0)
    summary.text += fmt::format(", {} of them incapacitated", lying);
  if (dropped > 0)
    summary.text += fmt::format("\n  {} more found no room at their source and dropped out", dropped);
  if (waiting > 0)
    summary.text += fmt::format("\n  {} more were due and wait for room at their source", waiting);
  Json json{{"at_start", at_start}, {"came", came}, {"dropped", dropped},
            {"waiting", waiting},   {"left", left}, {"still_inside", inside}};
  if (began > 0) {
    // A restart in a folder without the rows before.
    summary.text += fmt::format("\n  when they left is known from t = {:g} s on", began);
    json["known_from_s"] = began;
  }
  if (hazard.is_on()) add_hazard(hazard, summary, json);
  add_times(curve, at_start + came, summary, json);
  add_exits(state, curve, summary, json, report.exits);
  add_never_left(state, inside, summary, json);
  summary.json = json.dump();
  return report;
}

void add_queues(std::span<const QueueLine> queues, const std::vector<QueueReport>& reports,
                EnvironmentWriter<2>::Summary& summary) {
  Json json = Json::parse(summary.json);
  json["queues"] = Json::object();
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const QueueReport& r = reports[q];
    json["queues"][queues[q].name] = {{"served", r.n_served},
                                      {"mean_wait_s", r.n_served > 0 ? Json(r.mean_wait) : Json(nullptr)},
                                      {"longest_wait_s", r.longest_wait},
                                      {"waiting", r.n_waiting},
                                      {"at_counter", r.n_at_counter}};
    summary.text += fmt::format("\n  queue {}: {} served, {} wait, {} at the counter", queues[q].name,
                                r.n_served, r.n_waiting, r.n_at_counter);
    if (r.n_served > 0)
      summary.text += fmt::format("; wait of those served {:.4g} s on average, {:.4g} s at most", r.mean_wait,
                                  r.longest_wait);
  }
  summary.json = json.dump();
}

void add_waiting_of_groups(const State<2>& state, std::span<const Real> waited,
                           EnvironmentWriter<2>::Summary& summary) {
  Json json = Json::parse(summary.json);
  Json at_exits = Json::object();
  Real before_exits = 0;
  for (std::size_t k = 0; k < state.outlets.size(); ++k) {
    at_exits[state.outlets[k].name] = waited[2 + k];
    before_exits += waited[2 + k];
  }
  json["groups"] = {{"waited_s", waited[0]}, {"longest_s", waited[1]}, {"waited_at_exits_s", at_exits}};
  summary.json = json.dump();
  summary.text += fmt::format(
      "\n  waiting for others of their group: {:.4g} s in all, {:.4g} s the longest; {:.4g} s of it less "
      "than "
      "2 s (at 1 m/s) before an exit",
      waited[0], waited[1], before_exits);
}

void add_left_elsewhere(const State<2>& state, std::span<const Real> left_elsewhere,
                        EnvironmentWriter<2>::Summary& summary) {
  Json json = Json::parse(summary.json);
  Real all = 0;
  for (std::size_t k = 0; k < left_elsewhere.size(); ++k) {
    all += left_elsewhere[k];
    if (left_elsewhere[k] > 0)
      summary.text += fmt::format(
          "\n  {} of those who left by {} were bound for elsewhere: once behind its line they went on",
          left_elsewhere[k], state.outlets[k].name);
  }
  json["left_elsewhere"] = static_cast<std::int64_t>(all);
  summary.json = json.dump();
}

void add_locks(const State<2>& state, const Locks& locks, const CrowdEnvironment& environment,
               EnvironmentWriter<2>::Summary& summary) {
  std::int64_t n_locked = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    n_locked += environment.fate_of(state, i) == Fate::locked ? 1 : 0;
  n_locked = state.comm.sum(n_locked);
  Json json = Json::parse(summary.json);
  Json list = Json::array();
  for (const Lock& lock : locks.list()) {
    Json bound_for = Json::object();
    for (const auto& [destination, n] : lock.bound_for)
      if (destination >= 0) bound_for[environment.journey_plan().destinations()[destination].name] = n;
    list.push_back({{"since_s", lock.since},
                    {"until_s", lock.until < 0 ? Json(nullptr) : Json(lock.until)},
                    {"people", lock.people},
                    {"at_m", lock.at.component},
                    {"level", environment.building().level(lock.level).name},
                    {"destinations", bound_for}});
  }
  json["locks"] = list;
  json["locks_found"] = locks.n_locks();
  json["locked_at_end"] = n_locked;
  summary.json = json.dump();
  if (locks.n_locks() > 0)
    summary.text += fmt::format("\n  {} lock{} of people who blocked each other, {} people locked at the end",
                                locks.n_locks(), locks.n_locks() == 1 ? "" : "s", n_locked);
}

void add_lifts(const std::vector<LiftReport>& reports, EnvironmentWriter<2>::Summary& summary) {
  Json json = Json::parse(summary.json);
  json["lifts"] = Json::object();
  for (const LiftReport& r : reports) {
    json["lifts"][r.name] = {{"trips", r.trips}, {"persons", r.persons}};
    summary.text += fmt::format("\n  lift {}: {} trips, {} persons", r.name, r.trips, r.persons);
  }
  summary.json = json.dump();
}

std::vector<EnsembleQuantity> evacuation_quantities(std::span<const std::string> summaries) {
  std::vector<Json> evacuations;
  for (const std::string& text : summaries) evacuations.push_back(Json::parse(text));
  std::vector<EnsembleQuantity> quantities;
  if (std::ranges::all_of(evacuations, [](const auto& evacuation) { return evacuation.empty(); }))
    return quantities;
  const auto add = [&](const std::string& name, const std::string& unit, const auto& value_of) {
    EnsembleQuantity quantity{name, unit, {}};
    for (const Json& evacuation : evacuations) quantity.values.push_back(value_of(evacuation));
    quantities.push_back(std::move(quantity));
  };
  for (const char* name : {"t50", "t90", "t95", "t100", "mean"})
    add(name, "s", [&](const auto& evacuation) { return number_at(evacuation, std::string(name) + "_s"); });
  std::vector<std::string> exits;  // in the order of the deck, as the first summary has them
  for (const Json& evacuation : evacuations)
    if (const Json* found = evacuation.find("exits"))
      for (const auto& [name, ignored] : found->members())
        if (std::ranges::find(exits, name) == exits.end()) exits.push_back(name);
  for (const std::string& exit : exits) {
    const auto of_exit = [&](const std::string& key) {
      return [&exit, key](const Json& evacuation) {
        const Json* found = evacuation.find("exits");
        if (!found || !found->contains(exit)) return no_number;
        return number_at(found->at(exit), key);
      };
    };
    add("persons_" + exit, "-", of_exit("persons"));
    add("flow_" + exit, "1/s", of_exit("flow_per_s"));
  }
  return quantities;
}

}  // namespace scree
