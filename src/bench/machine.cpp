#include "bench/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "bench/measure_time.hpp"
#include "core/json.hpp"
#include "run/version.hpp"
#include "schemes/pbd/pair_kernels.hpp"

namespace scree {

namespace {

namespace fs = std::filesystem;

/// First line of a file of the system; empty if there is none.
std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Value of "KEY : VALUE" in a file, of the first line with this key; empty if there is none.
std::string value_of(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1) != key)
      continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

/// "32K", "1024K" as the kernel writes sizes, in bytes.
std::int64_t bytes_of(const std::string& text) {
  char* end = nullptr;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 10);
  return number * (*end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1);
}

const fs::path processors = "/sys/devices/system/cpu";

/// Different values of one entry of the topology, over all processors that are online.
std::size_t count_topology(const std::vector<std::string>& entries) {
  std::set<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(processors, ignored)) {
    std::string key;
    for (const std::string& name : entries) key += line_of(entry.path() / "topology" / name) + '/';
    if (key.find_first_not_of('/') != std::string::npos) found.insert(key);
  }
  return found.size();
}

Json describe_caches() {
  Json caches = Json::array();
  for (int k = 0;; ++k) {
    const fs::path cache = processors / "cpu0/cache" / fmt::format("index{}", k);
    if (line_of(cache / "size").empty()) return caches;
    caches.push_back({{"level", std::atoi(line_of(cache / "level").c_str())},
                      {"type", line_of(cache / "type")},
                      {"bytes", bytes_of(line_of(cache / "size"))},
                      {"shared_by_processors", line_of(cache / "shared_cpu_list")}});
  }
}

/// The name of a processor says little in virtual machines; family and model tell what it is. Processors of
/// ARM have no name here, but an implementer and a part.
void describe_processor(Json& machine) {
  const fs::path file = "/proc/cpuinfo";
  machine["processor"] = value_of(file, "model name");
  if (value_of(file, "model name").empty() && !value_of(file, "CPU part").empty())
    machine["processor"] =
        fmt::format("implementer {} part {}", value_of(file, "CPU implementer"), value_of(file, "CPU part"));
  if (const std::string vendor = value_of(file, "vendor_id"); !vendor.empty())
    machine["processor_vendor"] = vendor;
  for (const auto& [name, key] : {std::pair{"processor_family", "cpu family"},
                                  {"processor_model", "model"},
                                  {"processor_stepping", "stepping"}})
    if (const std::string number = value_of(file, key); !number.empty())
      machine[name] = std::atoi(number.c_str());
}

/// The choice in brackets: "always [madvise] never".
std::string chosen_in(const std::string& line) {
  const std::size_t open = line.find('['), close = line.find(']');
  return open < close && close != std::string::npos ? line.substr(open + 1, close - open - 1) : line;
}

/// Wall seconds of `work` on the slowest rank: the least mean of several batches, which tells the machine and
/// not what else runs on it.
Real least_seconds(const Comm& comm, const std::function<void()>& work) {
  Real least = HUGE_VAL;
  for (int batch = 0; batch < 9; ++batch)
    least = std::min(least, measure_time(comm, 1, 0.005, work, TimeKind::wall).median);
  return least;
}

/// Half a round trip of a message between ranks 0 and 1; the others look on.
Real one_way_seconds(const Comm& comm, std::size_t bytes) {
  std::vector<char> message(bytes);
  const int count = static_cast<int>(bytes);
  const MPI_Comm handle = comm.handle();
  return 0.5 * least_seconds(comm, [&] {
           if (comm.rank() == 0) {
             MPI_Send(message.data(), count, MPI_BYTE, 1, 0, handle);
             MPI_Recv(message.data(), count, MPI_BYTE, 1, 0, handle, MPI_STATUS_IGNORE);
           } else if (comm.rank() == 1) {
             MPI_Recv(message.data(), count, MPI_BYTE, 0, 0, handle, MPI_STATUS_IGNORE);
             MPI_Send(message.data(), count, MPI_BYTE, 0, 0, handle);
           }
         });
}

std::string text_of(const Json& machine, const char* name) {
  return machine.contains(name) && machine[name].is_string() ? machine[name].get<std::string>() : "?";
}

std::string in_gibibytes(Real bytes) {
  return fmt::format("{:.1f} GiB", bytes / (1 << 30));
}

}  // namespace

int n_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

Json describe_machine() {
  Json machine;
  describe_processor(machine);
  machine["processors_online"] = sysconf(_SC_NPROCESSORS_ONLN);
  if (const std::size_t cores = count_topology({"physical_package_id", "core_id"}); cores > 0) {
    machine["cores"] = cores;
    machine["sockets"] = count_topology({"physical_package_id"});
  }
  machine["caches"] = describe_caches();
  machine["memory_bytes"] = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  machine["huge_pages"] = chosen_in(line_of("/sys/kernel/mm/transparent_hugepage/enabled"));
  if (const std::string governor = line_of(processors / "cpu0/cpufreq/scaling_governor"); !governor.empty())
    machine["frequency_governor"] = governor;
  utsname system{};
  if (uname(&system) == 0) machine["system"] = fmt::format("{} {}", system.sysname, system.release);
  machine["load_at_start"] = std::strtod(line_of("/proc/loadavg").c_str(), nullptr);
  machine["version"] = version::number;
  machine["commit"] = version::commit;
  machine["compiler"] = version::compiler;
  machine["build_type"] = version::build_type;
  machine["instruction_set"] = pair_kernels<3>().instruction_set;
  return machine;
}

Json measure_machine(const Comm& comm) {
  Json measured{{"ranks", comm.size()}};
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string mpi(library, static_cast<std::size_t>(length));
  measured["mpi"] = mpi.substr(0, mpi.find(','));
  measured["processors_of_rank_0"] = n_processors();
  const char* yields = std::getenv("OMPI_MCA_mpi_yield_when_idle");
  measured["waiting_ranks_yield"] = yields && std::string_view(yields) != "0";
  Real alone = 0;
  if (comm.is_root()) alone = triad_rate(Comm(MPI_COMM_SELF));
  measured["triad_one_rank"] = comm.max(alone);
  measured["triad_each_rank"] = triad_rate(comm);
  if (comm.size() > 1) {
    constexpr std::size_t large = std::size_t{1} << 20;
    measured["latency_8_B"] = one_way_seconds(comm, 8);
    const Real seconds = one_way_seconds(comm, large);
    measured["latency_1_MiB"] = seconds;
    measured["bandwidth_1_MiB"] = static_cast<Real>(large) / seconds;
    measured["allreduce_8_B"] = least_seconds(comm, [&] { comm.max(Real{1}); });
    measured["barrier"] = least_seconds(comm, [&] { comm.barrier(); });
  }
  return measured;
}

std::string processor_text(const Json& machine) {
  std::string text = text_of(machine, "processor");
  if (machine.contains("processor_family"))
    text += fmt::format(" (family {}, model {})", machine["processor_family"].get<int>(),
                        machine.value("processor_model", 0));
  text += fmt::format(", {} cores", machine.value("cores", 0));
  for (const Json& cache : machine.value("caches", Json::array()))
    if (cache["type"] != "Instruction")
      text +=
          fmt::format(", L{} {} KiB", cache["level"].get<int>(), cache["bytes"].get<std::int64_t>() / 1024);
  return text + ", " + text_of(machine, "instruction_set");
}

std::string format_machine(const Json& machine) {
  std::string text = fmt::format(
      "{}\n"
      "{} processors, {} of memory, huge pages {}, load {:.2f}\n"
      "scree {} (commit {}, {}, {}), {}\n",
      processor_text(machine), machine.value("processors_online", 0),
      in_gibibytes(machine.value("memory_bytes", 0.0)), text_of(machine, "huge_pages"),
      machine.value("load_at_start", 0.0), text_of(machine, "version"), text_of(machine, "commit"),
      text_of(machine, "compiler"), text_of(machine, "build_type"), text_of(machine, "system"));
  if (machine.value("load_at_start", 0.0) > 0.5)
    text += "other programs are running: what ranks wait for each other will be too long\n";
  for (const Json& m : machine.value("measured", Json::array())) {
    text += fmt::format("{} rank{}: triad {:.1f} GB/s on one, {:.1f} GB/s on each", m["ranks"].get<int>(),
                        m["ranks"] == 1 ? "" : "s", 1e-9 * m["triad_one_rank"].get<Real>(),
                        1e-9 * m["triad_each_rank"].get<Real>());
    if (m.contains("latency_8_B"))
      text += fmt::format("; message of 8 B {:.2f} us, of 1 MiB {:.2f} GB/s; allreduce of 8 B {:.2f} us",
                          1e6 * m["latency_8_B"].get<Real>(), 1e-9 * m["bandwidth_1_MiB"].get<Real>(),
                          1e6 * m["allreduce_8_B"].get<Real>());
    if (m.value("waiting_ranks_yield", false)) text += "; waiting ranks yield their processor";
    text += '\n';
  }
  return text;
}

}  // namespace scree
