#include "core/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace scree::launcher {

namespace {

std::string_view value(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

bool is_set(const char* name) {
  return std::getenv(name) != nullptr;
}

}  // namespace

std::string variable() {
  // A shell that `srun --pty` opened for one task looks like the one rank of a job; nobody measures in it.
  const bool in_shell_of_job = !value("SLURM_PTY_PORT").empty() && value("SLURM_STEP_NUM_TASKS") == "1";
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID"})
    if (is_set(name)) return name;
  for (const char* name : {"PMI_RANK", "PMIX_RANK"})  // MPI itself may have set the second meanwhile
    if (is_set(name) && !in_shell_of_job) return name;
  return "";
}

std::optional<int> rank() {
  if (variable().empty()) return 0;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    const std::string_view text = value(name);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return number;
  }
  return std::nullopt;
}

StartSettings::StartSettings() {
  // More than variable() looks for: whatever names other processes to Open MPI or PMIx is a reason to leave
  // it alone.
  constexpr const char* signs[] = {"OMPI_COMM_WORLD_SIZE",
                                   "OMPI_COMM_WORLD_RANK",
                                   "PMIX_NAMESPACE",
                                   "PMIX_RANK",
                                   "PMI_FD",
                                   "PMI_PORT",
                                   "PMI_RANK",
                                   "MPI_LOCALRANKID"};
  if (std::ranges::any_of(signs, is_set)) {
    for (const char* name : {"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"})
      set(name, "65536");
    for (const char* name : {"OMPI_MCA_btl_vader_max_send_size", "OMPI_MCA_btl_sm_max_send_size"})
      set(name, "131072");
    return;
  }
  // Messages of a process to itself: drivers of networks are not even loaded.
  set("OMPI_MCA_pml", "ob1");
  set("OMPI_MCA_btl", "self");
  // No daemon (4.x; later ones never start any).
  constexpr const char* isolated = "OMPI_MCA_ess_singleton_isolated";
  if (is_set(isolated)) return;
  constexpr const char* base = "OMPI_MCA_orte_tmpdir_base";
  std::string parent = "/tmp";
  for (const char* name : {"TMPDIR", base})
    if (!value(name).empty()) parent = value(name);
  std::error_code ignored;  // mkdtemp says whether the folder is there
  std::filesystem::create_directories(parent, ignored);
  folder_ = parent + "/scree-mpi-XXXXXX";
  if (!mkdtemp(folder_.data())) {
    folder_.clear();
    return;
  }
  set(isolated, "1");
  change(base, folder_);
}

void StartSettings::set(const char* name, const char* text) {
  if (!is_set(name)) change(name, text);
}

void StartSettings::change(const char* name, const std::string& text) {
  std::optional<std::string> old;
  if (is_set(name)) old = value(name);
  if (setenv(name, text.c_str(), 1) == 0) changes_.push_back({name, old});
}

StartSettings::~StartSettings() {
  for (const auto& [name, old] : changes_)
    if (old)
      setenv(name, old->c_str(), 1);
    else
      unsetenv(name);
}

}  // namespace scree::launcher
