#include <algorithm>
#include <filesystem>
#include <map>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "io/compare/differences.hpp"

namespace scree::detail {

namespace {

/// What a file of a results folder is: the part of its name after that of the run, since two runs may have
/// two names. Empty: nothing to compare (pictures, logs, timings).
std::string kind_of(const std::string& file) {
  for (const char* ending : {".certificate.csv", ".scalars.csv", ".agents.csv", ".evacuation.csv",
                             ".exits.csv", ".queues.csv", trajectory_ending, ".h5"})
    if (file.ends_with(ending)) return ending;
  if (file.ends_with(problem_ending))
    for (const char* start : {".fclib_", ".failed_"})
      if (const std::size_t at = file.rfind(start); at != std::string::npos) return file.substr(at);
  return file.ends_with(".csv") || file.ends_with(problem_ending) ? file : "";
}

/// Steps in the names of checkpoints have a fixed number of digits, so the last name is the latest.
std::string latest_checkpoint(const std::filesystem::path& folder) {
  for (const std::filesystem::path& place : {folder / "checkpoint", folder}) {
    std::string latest;
    if (!std::filesystem::is_directory(place)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(place))
      if (entry.is_regular_file() && entry.path().extension() == ".scree")
        latest = std::max(latest, entry.path().string());
    if (!latest.empty()) return latest;
  }
  return {};
}

/// The files of a results folder that describe the result, by what they are; of an ensemble those of its
/// members, too.
std::map<std::string, std::string> results_in(const std::filesystem::path& folder,
                                              const std::string& prefix = "") {
  std::map<std::string, std::vector<std::string>> of_kind;
  std::map<std::string, std::string> results;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.starts_with("seed_"))
      results.merge(results_in(entry.path(), prefix + name + "/"));
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    if (const std::string kind = kind_of(name); !kind.empty()) of_kind[kind].push_back(entry.path().string());
  }
  // Several of a kind, of several runs in one folder: their names distinguish them.
  for (const auto& [kind, paths] : of_kind)
    for (const std::string& path : paths)
      results[prefix + (paths.size() == 1 ? kind : std::filesystem::path(path).filename().string())] = path;
  if (const std::string checkpoint = latest_checkpoint(folder); !checkpoint.empty())
    results[prefix + "checkpoint"] = checkpoint;
  return results;
}

Pairing pair_folders(const std::string& first, const std::string& second) {
  const std::map<std::string, std::string> in_first = results_in(first), in_second = results_in(second);
  Pairing pairing;
  pairing.of_folders = true;
  for (const auto& [kind, path] : in_first) {
    const auto other = in_second.find(kind);
    if (other == in_second.end())
      pairing.only_in_one.push_back(path);
    else
      pairing.pairs.emplace_back(path, other->second);
  }
  for (const auto& [kind, path] : in_second)
    if (!in_first.contains(kind)) pairing.only_in_one.push_back(path);
  return pairing;
}

}  // namespace

Pairing pair_results(const Comm& comm, const std::string& first, const std::string& second) {
  std::string text;
  files::on_root(comm, [&] {
    for (const std::string& path : {first, second})
      if (!std::filesystem::exists(path)) throw InputError(path + " does not exist");
    Pairing pairing;
    const bool folder = std::filesystem::is_directory(first);
    if (folder != std::filesystem::is_directory(second))
      throw InputError(fmt::format("cannot compare {} with {}: only one of them is a folder", first, second));
    if (folder)
      pairing = pair_folders(first, second);
    else
      pairing.pairs.emplace_back(first, second);
    if (pairing.pairs.empty())
      throw InputError(
          fmt::format("{} and {} have no checkpoint, H5MD file or table in common", first, second));
    Json pairs = Json::array();
    for (const auto& [a, b] : pairing.pairs) pairs.push_back({a, b});
    text = Json{{"pairs", pairs}, {"only_in_one", pairing.only_in_one}, {"of_folders", pairing.of_folders}}
               .dump();
  });
  comm.broadcast(text);
  const Json parsed = Json::parse(text);
  Pairing pairing;
  for (const Json& pair : parsed.at("pairs"))
    pairing.pairs.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  return {pairing.pairs, parsed.at("only_in_one").get<std::vector<std::string>>(),
          parsed.at("of_folders").get<bool>()};
}

}  // namespace scree::detail
