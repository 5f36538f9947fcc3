#include "run/ensemble.hpp"

#include <fmt/format.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/files.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"
#include "io/csv.hpp"
#include "run/results_folder.hpp"

namespace scree {

namespace {

constexpr Real no_number = std::numeric_limits<Real>::quiet_NaN();

/// The text of a file, empty if there is none. Collective.
std::string text_in(const Comm& comm, const std::string& path) {
  std::string text;
  files::on_root(comm, [&] {
    if (std::filesystem::exists(path)) text = read_input(path);
  });
  comm.broadcast(text);
  return text;
}

std::string cell(Real number) {
  return std::isfinite(number) ? fmt::format("{}", number) : "";
}

Json json_of(Real number) {
  return std::isfinite(number) ? Json(number) : Json(nullptr);
}

void write_results(const Comm& comm, const std::string& folder, const std::vector<std::int64_t>& seeds,
                   const std::vector<EnsembleQuantity>& quantities) {
  std::string table = "quantity[-],unit[-],runs[-],mean,standard_deviation,lower_95,upper_95\n";
  Json report{{"seeds", seeds}, {"confidence", 0.95}};
  report["quantities"] = Json::object();
  for (const EnsembleQuantity& quantity : quantities) {
    const SampleStatistics statistics = statistics_of(quantity.values);
    table += csv_cells(quantity) + "\n";
    Json values = Json::array();
    for (const Real value : quantity.values) values.push_back(json_of(value));
    report["quantities"][quantity.name] = {{"unit", quantity.unit},
                                           {"runs", statistics.n},
                                           {"mean", json_of(statistics.mean)},
                                           {"standard_deviation", json_of(statistics.standard_deviation)},
                                           {"lower_95", json_of(statistics.lower)},
                                           {"upper_95", json_of(statistics.upper)},
                                           {"values", values}};
    if (statistics.n > 0)
      log::info("  {}: {:.4g} {} +/- {:.2g}, deviation {:.2g}, {} runs", quantity.name, statistics.mean,
                quantity.unit, 0.5 * (statistics.upper - statistics.lower), statistics.standard_deviation,
                statistics.n);
  }
  files::on_root(comm, [&] {
    files::write_atomically(folder + "/ensemble.csv", table);
    files::write_atomically(folder + "/ensemble.json", report.dump(2) + "\n");
  });
}

}  // namespace

SampleStatistics statistics_of(const std::vector<Real>& values) {
  SampleStatistics result;
  Real sum = 0;
  for (const Real value : values) {
    if (!std::isfinite(value)) continue;
    ++result.n;
    sum += value;
  }
  const auto n = static_cast<Real>(result.n);
  result.mean = result.n > 0 ? sum / n : no_number;
  result.standard_deviation = result.lower = result.upper = no_number;
  if (result.n < 2) return result;
  Real squares = 0;
  for (const Real value : values)
    if (std::isfinite(value)) squares += (value - result.mean) * (value - result.mean);
  result.standard_deviation = std::sqrt(squares / (n - 1));
  constexpr Real beyond = 0.025;  // on either side of a two-sided interval of 95 %
  const boost::math::students_t distribution(n - 1);
  const Real half_width = boost::math::quantile(boost::math::complement(distribution, beyond)) *
                          result.standard_deviation / std::sqrt(n);
  result.lower = result.mean - half_width;
  result.upper = result.mean + half_width;
  return result;
}

std::string csv_cells(const EnsembleQuantity& quantity) {
  const SampleStatistics s = statistics_of(quantity.values);
  return fmt::format("{},{},{},{},{},{},{}", csv_cell(quantity.name), quantity.unit, s.n, cell(s.mean),
                     cell(s.standard_deviation), cell(s.lower), cell(s.upper));
}

EnsembleMember ensemble_member(const std::string& folder, std::int64_t seed) {
  const std::string name = fmt::format("seed_{}", seed);
  // Overrides are read like lines of a deck, JSON strings are valid there.
  return {seed,
          name,
          folder + "/" + name,
          {fmt::format("simulation.seed={}", seed), "simulation.ensemble=1",
           "output.directory=" + Json(folder).dump(), "output.name=" + Json(name).dump()}};
}

std::string summary_entry(const Json& summary, std::string_view key) {
  const auto none = Json::object();
  return (summary.is_object() ? summary.value(key, none) : none).dump();
}

ExitCode run_ensemble(
    const Comm& comm, const std::string& folder, std::int64_t first_seed, std::int64_t count, Real end_time,
    bool resume, const std::function<void(const EnsembleMember&, const std::string&)>& require_same_deck,
    const std::function<ExitCode(const EnsembleMember&)>& run, std::string_view summary_key,
    const std::function<std::vector<EnsembleQuantity>(std::span<const std::string>)>& quantities_of) {
  std::vector<EnsembleMember> members;
  for (std::int64_t k = 0; k < count; ++k) {
    const EnsembleMember& member = members.emplace_back(ensemble_member(folder, first_seed + k));
    if (!resume) continue;
    const std::string found = text_in(comm, member.folder + "/" + member.name + ".resolved.toml");
    if (!found.empty()) require_same_deck(member, found);
  }
  std::vector<std::int64_t> seeds;
  std::vector<std::string> summaries;
  ExitCode ending = ExitCode::done;  // one run that is locked does not keep the others from running
  for (const EnsembleMember& member : members) {
    const std::size_t number = seeds.size() + 1;
    Json summary = summary_in(comm, member.folder);
    if (resume && has_ended(summary, end_time)) {
      log::info("run {} of {}, seed {}: has ended already", number, count, member.seed);
    } else {
      log::info("run {} of {}, seed {}", number, count, member.seed);
      const ExitCode code = run(member);
      if (code == ExitCode::locked)
        ending = code;
      else if (code != ExitCode::done)
        return code;
      summary = summary_in(comm, member.folder);
    }
    seeds.push_back(member.seed);
    summaries.push_back(summary_entry(summary, summary_key));
  }
  const std::vector<EnsembleQuantity> quantities =
      quantities_of ? quantities_of(summaries) : std::vector<EnsembleQuantity>();
  log::info("ensemble of {} runs{}", count, quantities.empty() ? "" : ", means with intervals of 95 %:");
  write_results(comm, folder, seeds, quantities);
  log::info("results in {}", folder);
  return ending;
}

}  // namespace scree
