#include "run/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/files.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"
#include "io/csv.hpp"
#include "io/table.hpp"
#include "run/ensemble.hpp"
#include "run/run_deck.hpp"

namespace scree {

namespace {

constexpr std::size_t max_points = 10'000;

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts{""};
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (c == between && depth == 0 && quote == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::optional<Real> number_in(const std::string& text) {
  Real value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// FIRST:LAST:STEP.
std::vector<std::string> values_in_range(const std::string& where, const std::vector<std::string>& parts) {
  const auto first = number_in(parts[0]), last = number_in(parts[1]), step = number_in(parts[2]);
  if (!first || !last || !step)
    throw InputError(where + ": FIRST:LAST:STEP are three numbers, such as 0:0.9:0.1");
  constexpr Real round_off = 1e-9;
  const Real n_steps = (*last - *first) / *step;
  if (!(n_steps >= 0)) throw InputError(where + ": steps of this sign never lead from FIRST to LAST");
  if (n_steps >= static_cast<Real>(max_points))
    throw InputError(fmt::format("{}: more than {} values", where, max_points));
  std::vector<std::string> values;
  for (int k = 0; k <= static_cast<int>(n_steps + round_off); ++k)
    values.push_back(fmt::format("{:.12g}", *first + k * *step));
  return values;
}

/// One run of a study.
struct SweepRun {
  std::size_t point = 0;
  EnsembleMember member;  // its overrides set the keys of the point, too
};

struct Study {
  std::vector<VariedKey> keys;
  std::string folder;
  std::int64_t first_seed = 0, n_seeds = 1;
  std::size_t n_points = 1;

  std::vector<std::string> values_of(std::size_t point) const {
    std::vector<std::string> values(keys.size());
    for (std::size_t k = keys.size(); k-- > 0;) {
      values[k] = keys[k].values[point % keys[k].values.size()];
      point /= keys[k].values.size();
    }
    return values;
  }
  std::size_t n_runs() const { return n_points * static_cast<std::size_t>(n_seeds); }
  SweepRun run(std::size_t index) const {
    const std::size_t point = index / static_cast<std::size_t>(n_seeds);
    const auto number = static_cast<std::int64_t>(index % static_cast<std::size_t>(n_seeds));
    SweepRun run{point, ensemble_member(fmt::format("{}/point_{:03}", folder, point), first_seed + number)};
    const auto values = values_of(point);
    for (std::size_t k = 0; k < keys.size(); ++k)
      run.member.overrides.push_back(keys[k].key + "=" + values[k]);
    return run;
  }
};

/// The columns of a scalar table but time, step and dt, each in its last row or as its mean over rows from
/// `mean_after` on; none if there is no such row.
std::vector<EnsembleQuantity> columns_of(const TableContent& table, std::optional<Real> mean_after) {
  std::vector<EnsembleQuantity> columns;
  for (std::size_t k = 0; k < table.names.size(); ++k)
    columns.push_back({table.names[k], table.units[k].empty() ? "-" : table.units[k], {}});
  std::vector<Real> sums(columns.size());
  std::size_t n_rows = 0;
  for (const std::vector<Real>& row : table.rows) {
    if (mean_after && !(row[0] >= *mean_after)) continue;
    if (!mean_after) n_rows = 0;
    ++n_rows;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const Real value = std::isfinite(row[k]) ? row[k] : NAN;
      sums[k] = n_rows == 1 ? value : sums[k] + value;
    }
  }
  if (n_rows == 0) return {};
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k].values = {sums[k] / static_cast<Real>(n_rows)};
  std::erase_if(columns, [](const EnsembleQuantity& column) {
    return column.name == "time" || column.name == "step" || column.name == "dt";
  });
  return columns;
}

/// Adds the values of one more run; quantities keep the order in which they first appear.
void add_run(std::vector<EnsembleQuantity>& all, const std::vector<EnsembleQuantity>& of_run) {
  for (const EnsembleQuantity& quantity : of_run) {
    auto found = std::ranges::find(all, quantity.name, &EnsembleQuantity::name);
    if (found == all.end()) found = all.insert(all.end(), {quantity.name, quantity.unit, {}});
    found->values.insert(found->values.end(), quantity.values.begin(), quantity.values.end());
  }
}

template <int D>
void write_table(const Comm& comm, const Deck& deck, const Study& study, std::optional<Real> mean_after) {
  files::on_root(comm, [&] {
    Deck copy = deck.with({});
    const RunDeck<D> content = RunDeck<D>::read(copy, false);
    Environment<D>* environment = content.stepper->environment();
    std::string table = "point[-]";
    for (const VariedKey& key : study.keys) table += "," + csv_cell(key.key);
    table += ",quantity,unit,runs,mean,standard_deviation,lower_95,upper_95\n";
    bool is_empty = true;
    for (std::size_t point = 0; point < study.n_points; ++point) {
      std::vector<std::string> of_environment;
      std::vector<EnsembleQuantity> quantities;
      for (std::int64_t k = 0; k < study.n_seeds; ++k) {
        const EnsembleMember run =
            study.run(point * static_cast<std::size_t>(study.n_seeds) + static_cast<std::size_t>(k)).member;
        if (!std::filesystem::exists(run.folder + "/summary.json")) continue;  // it failed
        if (environment)
          of_environment.push_back(summary_entry(Json::parse(read_input(run.folder + "/summary.json")),
                                                 environment->output().summary_key()));
        const std::string scalars = run.folder + "/" + run.name + ".scalars.csv";
        if (std::filesystem::exists(scalars))
          add_run(quantities, columns_of(table_of(scalars, read_input(scalars)), mean_after));
      }
      if (environment) add_run(quantities, environment->output().quantities(of_environment));
      std::string start = std::to_string(point);
      for (const std::string& value : study.values_of(point)) start += "," + csv_cell(value);
      for (const EnsembleQuantity& quantity : quantities) {
        table += start + "," + csv_cells(quantity) + "\n";
        is_empty = false;
      }
    }
    if (is_empty)
      log::warn("the runs measured nothing: the deck has no [measures.NAME], or no row is late enough");
    files::write_atomically(study.folder + "/sweep.csv", table);
  });
  log::info("table of {} points in {}/sweep.csv", study.n_points, study.folder);
}

template <int D>
Study study_of(const Deck& deck, const RunOptions& options, const SweepOptions& sweep) {
  Study study;
  for (const std::string& text : sweep.vary) {
    study.keys.push_back(parse_varied_key(text));
    study.n_points *= study.keys.back().values.size();
    if (study.n_points > max_points) throw InputError(fmt::format("more than {} points", max_points));
  }
  Deck copy = deck.with({});
  const RunDeck<D> content = RunDeck<D>::read(copy, false);
  study.folder = content.output.files(name_after(deck)).folder + "_sweep";
  study.first_seed = content.seed;
  study.n_seeds = options.ensemble > 0 ? options.ensemble : ensemble_of(copy);
  return study;
}

template <int D>
ExitCode run_sweep_in(const Comm& comm, const Deck& deck, RunOptions options, const SweepOptions& sweep) {
  const Study study = study_of<D>(deck, options, sweep);
  for (std::size_t point = 0; point < study.n_points; ++point) {
    Deck copy = deck.with(study.run(point * static_cast<std::size_t>(study.n_seeds)).member.overrides);
    if (dimension_of(copy) != D) throw InputError("--vary cannot change simulation.dimension");
    RunDeck<D>::read(copy, false);
  }
  if (sweep.index >= static_cast<std::int64_t>(study.n_runs()))
    throw InputError(fmt::format("--index {}: the study has {} runs, 0 to {}", sweep.index, study.n_runs(),
                                 study.n_runs() - 1));
  if (sweep.index < 0 && !options.force && !options.resume)
    files::on_root(comm, [&] {
      if (std::filesystem::exists(study.folder) && !std::filesystem::is_empty(study.folder))
        throw InputError(
            study.folder +
            " holds results already: --force replaces them, --resume keeps runs that have ended");
    });
  const WallClock::time_point start = WallClock::now();
  options.ensemble = 1;
  std::size_t n_failed = 0;
  ExitCode ending = ExitCode::done;  // as in run_ensemble()
  const std::size_t first = sweep.index >= 0 ? static_cast<std::size_t>(sweep.index) : 0;
  const std::size_t last = sweep.index >= 0 ? first + 1 : study.n_runs();
  for (std::size_t index = first; index < last; ++index) {
    const SweepRun run = study.run(index);
    std::string point;
    const auto values = study.values_of(run.point);
    for (std::size_t k = 0; k < study.keys.size(); ++k)
      point += fmt::format("{} = {}, ", study.keys[k].key, values[k]);
    log::info("run {} of 0 to {}: {}seed {}", index, study.n_runs() - 1, point, run.member.seed);
    RunOptions its_options = options;
    its_options.max_wall_time = remaining_wall_time(comm, options, start);
    try {
      const ExitCode code = run_deck(comm, deck.with(run.member.overrides), its_options);
      if (code == ExitCode::locked)
        ending = code;
      else if (code != ExitCode::done)
        return code;
    } catch (const CollectiveError& error) {
      if (sweep.index >= 0) throw;
      log::warn("run {} failed: {}", index, error.what());
      ++n_failed;
    }
  }
  if (sweep.index < 0) write_table<D>(comm, deck, study, sweep.mean_after);
  if (n_failed > 0) throw RunError(fmt::format("{} of {} runs failed: see above", n_failed, study.n_runs()));
  return ending;
}

}  // namespace

VariedKey parse_varied_key(const std::string& text) {
  const std::string where = "--vary " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError(where + ": KEY=FIRST:LAST:STEP or KEY=VALUE,VALUE,... is wanted");
  const std::string values = text.substr(equals + 1);
  const auto parts = split(values, ':');
  VariedKey key{text.substr(0, equals),
                parts.size() == 3 ? values_in_range(where, parts) : split(values, ',')};
  if (std::ranges::find(key.values, "") != key.values.end()) throw InputError(where + ": a value is empty");
  return key;
}

ExitCode run_sweep(const Comm& comm, const Deck& deck, RunOptions options, const SweepOptions& sweep) {
  Deck copy = deck.with({});
  std::string how;
  for (const std::string& text : sweep.vary) how += " --vary " + quoted(text);
  if (options.ensemble > 0) how += fmt::format(" --ensemble {}", options.ensemble);
  if (sweep.index >= 0) how += fmt::format(" --index {}", sweep.index);
  options.go_on_with =
      command_to_go_on(comm, "sweep " + quoted(deck.name()), deck.overrides(), how + " --resume");
  return dimension_of(copy) == 2 ? run_sweep_in<2>(comm, deck, std::move(options), sweep)
                                 : run_sweep_in<3>(comm, deck, std::move(options), sweep);
}

}  // namespace scree
