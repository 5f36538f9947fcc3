#include "bench/results.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "bench/machine.hpp"
#include "core/error.hpp"
#include "core/files.hpp"
#include "core/json.hpp"

namespace scree {

namespace fs = std::filesystem;

BenchResults::BenchResults(const std::string& command_line)
    : command_line_(command_line),
      date_(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))) {}

std::vector<BenchRow> BenchResults::rows_of(const std::string& bench) const {
  std::vector<BenchRow> chosen;
  std::ranges::copy_if(rows, std::back_inserter(chosen),
                       [&](const BenchRow& row) { return row.bench == bench; });
  return chosen;
}

std::string BenchResults::json() const {
  Json all{{"format", "scree benchmark"}, {"format_version", 1},  {"date", date_},
           {"command", command_line_},    {"settings", settings}, {"machine", machine}};
  all["rows"] = Json::array();
  for (const BenchRow& row : rows) all["rows"].push_back(to_json(row));
  return all.dump(1) + '\n';
}

void BenchResults::write(const std::string& folder) const {
  files::write_atomically(folder + "/results.json", json());
  std::vector<std::string> names;
  for (const BenchRow& row : rows)
    if (std::ranges::find(names, row.bench) == names.end()) names.push_back(row.bench);
  for (const std::string& name : names)
    files::write_atomically(fmt::format("{}/{}.csv", folder, name),
                            rows_as_csv(rows_of(name), processor_text(machine)));
}

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

}  // namespace scree
