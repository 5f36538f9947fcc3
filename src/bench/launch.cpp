// `scree bench --ranks ...`: one program after the other for each case and number of ranks.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "bench/machine.hpp"
#include "bench/results.hpp"
#include "bench/study.hpp"
#include "core/json.hpp"

namespace scree {

namespace {

/// How a program ended.
struct Ending {
  int code = 0;        ///< of exit; 128 + signal if there was one
  std::string errors;  ///< what it wrote to standard error
};

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw RunError(fmt::format("no pipe to a program: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int end(std::size_t which) const { return ends_[which]; }
  void close_end(std::size_t which) {
    if (ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Runs a program without standard input and calls `take` with each line of its output.
Ending run_program(const std::vector<std::string>& words, bool never_yield,
                   const std::function<void(const std::string&)>& take) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Pipe out, err;
  const pid_t child = fork();
  if (child < 0) throw RunError(fmt::format("no program can be started: {}", std::strerror(errno)));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // it ends with this one
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(out.end(1), STDOUT_FILENO);
    dup2(err.end(1), STDERR_FILENO);
    if (never_yield) setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    execvp(arguments[0], arguments.data());
    const std::string message = fmt::format("{}: {}\n", words[0], std::strerror(errno));
    [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
    _exit(127);
  }
  out.close_end(1);
  err.close_end(1);
  Ending ending;
  std::string text;
  std::array<pollfd, 2> streams{{{out.end(0), POLLIN, 0}, {err.end(0), POLLIN, 0}}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (poll(streams.data(), streams.size(), -1) < 0) {
      if (errno == EINTR) continue;  // what came is told by the next one
      break;
    }
    for (std::size_t k = 0; k < streams.size(); ++k) {
      if (streams[k].fd < 0 || streams[k].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t n = read(streams[k].fd, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        streams[k].fd = -1;
      else
        (k == 0 ? text : ending.errors).append(buffer.data(), static_cast<std::size_t>(n));
    }
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      take(text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ending;
}

/// What a failed program has to say: its own message, or the last lines of all that was written.
std::string message_in(const std::string& errors) {
  std::istringstream stream(errors);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("scree: ")) return line.substr(7);
    if (line.find_first_not_of(" -") != std::string::npos) lines.push_back(line);
  }
  constexpr std::size_t most = 8;
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - most);
  return lines.empty() ? "no message" : fmt::format("{}", fmt::join(lines, "\n"));
}

std::string default_launcher() {
  // mpirun asks root to confirm; whoever runs this as root has decided.
  return geteuid() == 0 ? "mpirun --allow-run-as-root -n {ranks}" : "mpirun -n {ranks}";
}

class Launcher {
 public:
  explicit Launcher(std::string launcher) : launcher_(std::move(launcher)) {
    if (launcher_.find(placeholder) == std::string::npos)
      throw InputError(fmt::format("--launcher \"{}\": write {} where the number of ranks belongs", launcher_,
                                   placeholder));
    std::error_code error;
    program_ =
        std::filesystem::read_symlink("/proc/self/exe", error).replace_filename("scree_bench").string();
    if (error || access(program_.c_str(), X_OK) != 0)
      throw InputError("there is no program scree_bench beside this one: " + program_);
  }

  /// Calls `take(kind, value)` with what the program tells. Throws if it fails, with `what` in the message.
  void run(int ranks, const std::vector<std::string>& arguments, const std::string& what,
           const std::function<void(const std::string&, const Json&)>& take) const {
    std::vector<std::string> words;
    std::istringstream stream(launcher_);
    for (std::string word; stream >> word;) {
      for (std::size_t at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder))
        word.replace(at, placeholder.size(), std::to_string(ranks));
      words.push_back(word);
    }
    words.push_back(program_);
    words.insert(words.end(), arguments.begin(), arguments.end());
    bool has_started = false, is_done = false;
    const Ending ending = run_program(words, ranks <= n_processors(), [&](const std::string& line) {
      const Json message = Json::parse_or_null(line);
      if (!message.is_object() || message.size() != 1) return;  // what a launcher has to say
      has_started = true;
      is_done = is_done || message.contains("done");
      try {
        for (const auto& [kind, value] : message.members()) take(kind, value);
      } catch (const JsonError& error) {
        throw RunError(fmt::format("{}: {} tells \"{}\", which is not understood: {}", what, program_, line,
                                   error.what()));
      }
    });
    if (ending.code == 0 && is_done) return;
    const std::string reason = message_in(ending.errors);
    const std::string text = fmt::format("{} on {} rank{}: {}", what, ranks, ranks == 1 ? "" : "s", reason);
    if (!has_started && ending.errors.find("scree: ") == std::string::npos)
      throw InputError(fmt::format("{} rank{} could not be started with \"{}\":\n{}", ranks,
                                   ranks == 1 ? "" : "s", launcher_, reason));
    if (ending.code == static_cast<int>(ExitCode::bad_input)) throw InputError(text);
    throw RunError(text + fmt::format(" (exit code {})", ending.code));
  }

 private:
  static constexpr std::string_view placeholder = "{ranks}";
  std::string launcher_, program_;
};

void require_as_many(int found, int wanted, const std::string& launcher) {
  if (found != wanted)
    throw InputError(fmt::format("--ranks {}: \"{}\" started {} rank{} of one job", wanted, launcher, found,
                                 found == 1 ? "" : "s"));
}

std::vector<int> ranks_of(const StudyOptions& options) {
  std::vector<int> ranks = options.ranks;
  if (ranks.empty()) ranks = n_processors() > 1 ? std::vector<int>{1, 2} : std::vector<int>{1};
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const char* may_share = std::getenv("OMPI_MCA_rmaps_base_oversubscribe");
  const bool shares = may_share && std::string_view(may_share) != "0";
  if (options.launcher.empty() && !shares && ranks.back() > n_processors())
    throw InputError(fmt::format(
        "--ranks {}: there are {} processors here; give a --launcher that starts so many ranks, or "
        "export OMPI_MCA_rmaps_base_oversubscribe=1 to let them share",
        ranks.back(), n_processors()));
  return ranks;
}

/// What a program is to measure: a deck, or the case of this name.
std::vector<std::string> words_of(const DeckToMeasure& deck, const std::string& name) {
  if (deck.path.empty()) return {"--case", name};
  std::vector<std::string> words{"--deck", deck.path};
  if (!deck.from.empty()) words.insert(words.end(), {"--from", deck.from});
  for (const std::string& key : deck.overrides) words.insert(words.end(), {"--set", key});
  if (deck.warm_up) words.insert(words.end(), {"--warm-up", std::to_string(*deck.warm_up)});
  if (deck.steps) words.insert(words.end(), {"--steps", std::to_string(*deck.steps)});
  return words;
}

}  // namespace

void launch_study(const StudyOptions& given, const Show& show) {
  const std::vector<BenchEntry> chosen = chosen_cases(given);
  if (!given.deck.path.empty()) require_valid(given.deck);
  StudyOptions options = given;
  options.ranks = ranks_of(given);
  const bool is_here = options.launcher.empty();
  if (is_here) options.launcher = default_launcher();
  const Launcher launcher(options.launcher);
  if (!options.out.empty()) require_writable_folder(options.out);
  const auto start = std::chrono::steady_clock::now();
  BenchResults results(options.command_line);
  results.settings = settings_of(options);

  results.machine = describe_machine();
  results.machine["measured"] = Json::array();
  for (const int ranks : options.ranks)
    launcher.run(ranks, {"--stream", "--machine"}, "the measurement of the machine",
                 [&](const std::string& kind, const Json& value) {
                   if (kind != "machine") return;
                   const Json& measured = value.at("measured")[0];
                   require_as_many(measured.at("ranks").get<int>(), ranks, options.launcher);
                   results.machine["measured"].push_back(measured);
                 });
  show(format_machine(results.machine));
  if (is_here && options.ranks.back() > n_processors())
    show(fmt::format("{} ranks share {} processors here: their times say little\n", options.ranks.back(),
                     n_processors()));

  for (const BenchEntry& entry : chosen) {
    const std::string name(entry.name);
    std::vector<BenchRow> rows;
    for (const int ranks : options.ranks) {
      std::vector<std::string> arguments{"--stream", "--mode", options.mode};
      const std::vector<std::string> what = words_of(options.deck, name);
      arguments.insert(arguments.end(), what.begin(), what.end());
      if (options.quick) arguments.emplace_back("--quick");
      if (options.bodies > 0) arguments.insert(arguments.end(), {"--bodies", std::to_string(options.bodies)});
      if (options.repetitions > 0)
        arguments.insert(arguments.end(), {"--repetitions", std::to_string(options.repetitions)});
      if (!options.out.empty())
        arguments.insert(arguments.end(), {"--folder", std::filesystem::absolute(options.out).string()});
      launcher.run(ranks, arguments, name, [&](const std::string& kind, const Json& value) {
        if (kind != "row") return;
        rows.push_back(row_from_json(value));
        require_as_many(rows.back().ranks, ranks, options.launcher);
      });
    }
    compare_ranks(rows);
    const Real seconds = std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
    show(fmt::format("\n{}: {} ({:.0f} s so far)\n", name, entry.summary, seconds) +
         format_rows(rows, processor_text(results.machine)));
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
    if (!options.out.empty()) results.write(options.out);
  }
}

}  // namespace scree
