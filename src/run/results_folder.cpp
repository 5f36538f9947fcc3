#include "run/results_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/input_file.hpp"
#include "io/environment_output.hpp"
#include "run/problem_writer.hpp"
#include "run/schemes.hpp"

namespace scree {

namespace {

namespace fs = std::filesystem;

const std::string prefix = ".scree-";  // of mark and lock; checkpoints end in .scree
const std::string mark = prefix + "results";
const std::string mark_text =
    "Results of scree. `scree run --force` replaces results in a folder with this file, and in no other.\n";

std::string summary_of(const std::string& folder) {
  return folder + "/summary.json";
}

/// Whether anything lies in a folder besides mark and lock.
bool is_occupied(const std::string& folder) {
  if (!fs::is_directory(folder)) return false;
  return std::ranges::any_of(fs::directory_iterator(folder), [](const fs::directory_entry& entry) {
    return !entry.path().filename().string().starts_with(prefix);
  });
}

void require_marked(const std::string& folder) {
  if (is_occupied(folder) && !fs::is_regular_file(folder + "/" + mark))
    throw InputError(
        fmt::format("{} holds files, but no file {} as folders do that scree made: it is left alone; choose "
                    "another [output] name, or remove the folder",
                    folder, mark));
}

bool ends_in(const std::string& name, std::initializer_list<const char*> endings) {
  return std::ranges::any_of(endings, [&](const char* ending) {
    return name.ends_with(ending) || name.ends_with(ending + std::string(".part"));
  });
}

/// Removes the files below a folder that end so, and folders that this empties. A link to a folder goes, what
/// it leads to stays.
void remove_below(const std::string& folder, std::initializer_list<const char*> endings) {
  if (fs::is_symlink(folder)) {
    fs::remove(folder);
    return;
  }
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> files, folders{folder};
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_directory() && !entry.is_symlink())
      folders.push_back(entry.path());
    else if (ends_in(entry.path().filename().string(), endings))
      files.push_back(entry.path());
  for (const fs::path& path : files) fs::remove(path);
  for (auto path = folders.rbegin(); path != folders.rend(); ++path)
    if (fs::is_empty(*path)) fs::remove(*path);
}

/// Of files that any scheme's environment may have left.
template <int D>
void add_endings_of_environments(std::vector<std::string>& endings) {
  for (const auto& entry : all_schemes<D>()) {
    if (!entry.make) continue;
    const std::unique_ptr<Stepper<D>> stepper = entry.make();
    if (!stepper->environment()) continue;
    for (const std::string_view ending : stepper->environment()->output().endings())
      endings.emplace_back(ending);
  }
}

/// Removes what a run of this name wrote to its folder, and nothing else.
void remove_results(const RunFiles& run) {
  if (!fs::exists(run.folder)) return;
  require_marked(run.folder);
  remove_below(run.folder + "/vtk", {".pvd", ".vtp", ".pvtp", ".vti", ".pvti"});
  remove_below(run.checkpoints(), {".scree"});
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(run.folder)) {
    const std::string name = entry.path().filename().string();
    if (is_problem_file(name, run.name)) others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove(path);
  std::vector<std::string> endings{".scalars.csv", ".certificate.csv", ".h5",           ".xdmf",
                                   ".log",         ".deck.toml",       ".resolved.toml"};
  add_endings_of_environments<2>(endings);
  add_endings_of_environments<3>(endings);
  for (const std::string& ending : endings)
    for (const char* state : {"", ".part"}) fs::remove(run.with(ending) + state);
  for (const char* state : {"", ".part"}) fs::remove(summary_of(run.folder) + state);
}

/// The folders seed_NUMBER in the folder of an ensemble.
std::vector<RunFiles> members_in(const std::string& folder) {
  std::vector<RunFiles> members;
  const std::string start = "seed_";
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.starts_with(start) && name.size() > start.size() &&
        name.find_first_not_of("0123456789", start.size()) == std::string::npos)
      members.push_back({entry.path().string(), name});
  }
  return members;
}

/// Removes checkpoints that a run was killed in the midst of: no later one has their name and writes over
/// them.
void remove_unfinished_checkpoints(const RunFiles& run) {
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(run.checkpoints()))
    if (entry.path().filename().string().ends_with(".scree.part")) unfinished.push_back(entry.path());
  for (const fs::path& path : unfinished) fs::remove(path);
}

/// Runs `work` on rank 0; what the system refuses is bad input: the folder cannot be used.
void on_root(const Comm& comm, const std::string& folder, const std::function<void()>& work) {
  files::on_root(comm, [&] {
    try {
      work();
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      throw InputError(fmt::format("the results cannot be written to {}: {}", folder, error.what()));
    }
  });
}

void require_folder(const std::string& folder) {
  if (fs::exists(folder) && !fs::is_directory(folder))
    throw InputError(folder + " is a file: the results need a folder of this name");
}

}  // namespace

ResultsFolder::ResultsFolder(const Comm& comm, RunFiles files, std::string command)
    : comm_(comm), files_(std::move(files)), command_(std::move(command)) {}

void ResultsFolder::lock() {
  if (!lock_) lock_ = std::make_unique<FolderLock>(files_.folder, command_);
}

void ResultsFolder::lock_if_there() {
  on_root(comm_, files_.folder, [&] {
    require_folder(files_.folder);
    if (fs::exists(files_.folder)) lock();
  });
}

void ResultsFolder::require_nothing_to_lose() const {
  on_root(comm_, files_.folder, [&] {
    const std::string summary = summary_of(files_.folder);
    if (fs::exists(summary))
      throw InputError(
          fmt::format("{} holds results of a run that ended ({}), but no checkpoint to go on from: --force "
                      "replaces them; or choose another [output] name",
                      files_.folder, summary));
    if (!fs::is_directory(files_.checkpoints())) return;
    for (const auto& entry : fs::directory_iterator(files_.checkpoints()))
      if (entry.path().extension() == ".scree")
        throw InputError(fmt::format("{} has got a checkpoint meanwhile, of another run: --resume once more",
                                     files_.folder));
  });
}

void ResultsFolder::prepare(Use use, const std::string& checkpoint) {
  if (use == Use::start_over) require_nothing_to_lose();
  on_root(comm_, files_.folder, [&] {
    const std::string& folder = files_.folder;
    require_folder(folder);
    const bool occupied = is_occupied(folder);
    const bool goes_on = use == Use::go_on && fs::exists(files_.checkpoints()) &&
                         fs::equivalent(files_.checkpoints(), fs::absolute(checkpoint).parent_path());
    if (occupied && use == Use::go_on && !goes_on)
      throw InputError(
          fmt::format("{} holds results already, and {} is none of its checkpoints; choose another "
                      "[output] name, as with "
                      "--set output.name=...",
                      folder, checkpoint));
    if (occupied && use == Use::fresh)
      throw InputError(folder +
                       " holds results already: --force replaces them, --resume goes on from their "
                       "latest checkpoint; or choose another [output] name");
    fs::create_directories(folder);
    lock();
    if (use == Use::replace || use == Use::start_over) remove_results(files_);
    if (goes_on) remove_unfinished_checkpoints(files_);
    files::write_atomically(folder + "/" + mark, mark_text);
    fs::create_directories(files_.checkpoints());
  });
}

void ResultsFolder::prepare_ensemble(Use use, const std::string& own) {
  on_root(comm_, files_.folder, [&] {
    const std::string& folder = files_.folder;
    require_folder(folder);
    require_marked(folder);
    fs::create_directories(folder);
    lock();
    if (use == Use::replace) {
      const std::vector<RunFiles> members = members_in(folder);
      std::vector<std::unique_ptr<FolderLock>> locks;  // of all, before any is touched
      for (const RunFiles& member : members) {
        require_marked(member.folder);
        if (member.name != own) locks.push_back(std::make_unique<FolderLock>(member.folder, command_));
      }
      for (const char* name : {"/ensemble.csv", "/ensemble.json"}) fs::remove(folder + name);
      for (const RunFiles& member : members) {
        remove_results(member);
        if (!is_occupied(member.folder)) fs::remove(member.folder + "/" + mark);
      }
      locks.clear();
      for (const RunFiles& member : members)
        if (fs::is_empty(member.folder)) fs::remove(member.folder);
    }
    files::write_atomically(folder + "/" + mark, mark_text);
  });
}

Json summary_in(const Comm& comm, const std::string& folder) {
  std::string text;
  files::on_root(comm, [&] {
    if (fs::exists(summary_of(folder))) text = read_input(summary_of(folder));
  });
  comm.broadcast(text);
  return text.empty() ? Json() : Json::parse_or_null(text);
}

bool is_done(const Json& summary) {
  const Json* status = summary.find("status");
  return status && (*status == "done" || *status == "locked");
}

bool has_ended(const Json& summary, Real end_time) {
  if (!is_done(summary)) return false;
  const Json* given = summary.find("end_time_s");
  if (!given) return false;
  return given->is_number() ? given->get<Real>() == end_time : !std::isfinite(end_time);
}

}  // namespace scree
