#include "run/summary_json.hpp"

#include <cmath>

namespace scree {

Json json_of(const std::vector<TimerRow>& timers) {
  Json json = Json::array();
  for (const TimerRow& row : timers)
    json.push_back({{"name", row.name},
                    {"depth", row.depth},
                    {"calls", row.calls},
                    {"min_s", row.min},
                    {"mean_s", row.mean},
                    {"max_s", row.max},
                    {"work_mean_s", row.work_mean},
                    {"work_max_s", row.work_max}});
  return json;
}

Json json_of(const LoadReport& load) {
  const auto imbalance_of = [](const LoadImbalance& e) { return Json{{"mean", e.mean}, {"worst", e.max}}; };
  return {{"weights", load.measured ? "measured" : "counts"},
          {"bodies", imbalance_of(load.bodies)},
          {"pairs", imbalance_of(load.pairs)},
          {"bodies_and_pairs", imbalance_of(load.bodies_and_pairs)},
          {"pairs_by_colour", imbalance_of(load.pairs_by_colour)},
          {"computing", imbalance_of(load.computing)},
          {"least_blocks", load.min_blocks},
          {"body_s", load.seconds[0]},
          {"pair_s", load.seconds[1]},
          {"wall_s", load.seconds[2]},
          {"contact_s", load.seconds[3]}};
}

Json json_of(const std::vector<CertificateEntry>& certificate) {
  Json json;
  for (const CertificateEntry& entry : certificate)
    json[std::string(entry.name)] = {{"value", entry.value}, {"unit", entry.unit}};
  return json;
}

Json json_of(const std::vector<WorstOfSteps>& worst) {
  Json json;
  for (const WorstOfSteps& one : worst) {
    json[one.name] = {{"value", one.value}, {"unit", one.unit}};
    if (std::isfinite(one.limit)) json[one.name]["limit"] = one.limit;
  }
  return json;
}

template <int D>
void add_inlets(const Inlets<D>& inlets, const State<D>& state, Json& summary) {
  for (std::size_t f = 0; f < inlets.list().size(); ++f) {
    const InletTable<D>& inlet = inlets.list()[f];
    const InletProgress& progress = state.inlets[f];
    summary["inlets"][inlet.bodies.name] = {
        {"made", progress.n_made},
        {"due", progress.n_due},
        {"waiting", progress.n_waiting()},
        {"count", inlet.count > 0 ? Json(inlet.count) : nullptr},
        {"rate_per_s", inlet.bodies_per_second()},
        {"achieved_rate_per_s", inlet.achieved_rate(progress.n_made, state.clock.time)}};
  }
}

template void add_inlets(const Inlets<2>&, const State<2>&, Json&);
template void add_inlets(const Inlets<3>&, const State<3>&, Json&);

}  // namespace scree
