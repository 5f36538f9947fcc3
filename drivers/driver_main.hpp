#pragma once
// Shared by all scree programs: the command line on every rank, MPI behind it, and how errors end a program.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/as_input.hpp"
#include "core/command_line.hpp"
#include "core/error.hpp"
#include "core/input_crash.hpp"
#include "core/launcher.hpp"
#include "core/parallel.hpp"
#include "run/python_package.hpp"

namespace scree {

/// Writes text unchanged to standard output. Throws RunError if that fails. Local.
inline void show(const std::string& text) {
  errno = 0;
  const bool done = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!done) throw RunError(std::string("cannot write to standard output: ") + std::strerror(errno));
}

inline std::string with_line_end(const std::string& text) {
  return text.empty() || text.back() == '\n' ? text : text + '\n';
}

/// Rank 0 prints lines. Throws RunError on all ranks. Collective.
inline void print(const Comm& comm, const std::string& text) {
  share_errors(comm, [&] {
    if (comm.is_root()) show(with_line_end(text));
  });
}

inline std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i == 0 ? "" : " ") + std::string(argv[i]);
  return line;
}

/// The arguments from the first one on that is no option, which is the verb of a program with verbs; the null
/// behind them if there is none.
inline char** words_of(int argc, char** argv) {
  return std::find_if(argv + 1, argv + argc, [](const char* argument) { return argument[0] != '-'; });
}
inline std::string_view first_word(int argc, char** argv) {
  char** const words = words_of(argc, argv);
  return words == argv + argc ? std::string_view() : *words;
}

/// A message that is safe to print, whatever names and damaged files hold: control characters are escaped,
/// and very long words are shortened.
inline std::string readable(const std::string& message) {
  constexpr std::size_t longest_word = 500, kept = 400;
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = std::min(message.find_first_of(" \n\t", at), message.size());
    std::size_t shown = end - at > longest_word ? kept : end - at;
    while (shown < end - at && (static_cast<unsigned char>(message[at + shown]) & 0xc0) == 0x80)
      --shown;  // UTF-8
    for (const char c : message.substr(at, shown)) {
      const auto byte = static_cast<unsigned char>(c);
      text += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
    if (shown < end - at) text += fmt::format("... ({} characters)", end - at);
    if (end < message.size()) text += message[end];
    at = end + 1;
  }
  return text;
}

/// Prints the error that ends the program.
inline void print_error(const std::string& message) {
  std::fprintf(stderr, "scree: %s\n", readable(message).c_str());
  std::fflush(stderr);
}

/// Whether all ranks call this within a few seconds. `meeting` is used for nothing else.
inline bool all_meet(MPI_Comm meeting) {
  constexpr int max_waits = 500;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(meeting, &request);
  for (int i = 0; i < max_waits; ++i) {
    int met = 0;
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
    if (met != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// The ranks of a program. MPI starts when it is first asked for: what the command line alone answers, help
/// and mistakes, does not wait for it.
class Ranks {
 public:
  Ranks(int argc, char** argv) : argc_(argc), argv_(argv) {}

  /// Starts MPI at the first call. Collective.
  const Comm& comm() {
    if (!parallel_) {
      parallel_.emplace(argc_, argv_);
      MPI_Comm_dup(parallel_->world().handle(), &meeting_);
    }
    return parallel_->world();
  }
  bool have_started() const { return parallel_.has_value(); }
  /// For all_meet(). Only if MPI was started.
  MPI_Comm meeting() const { return meeting_; }

  /// Whether this rank prints when all end with `code`. Starts MPI only if ranks could be cut short: a
  /// launcher ends all when one fails, so that others must have printed by then.
  bool is_speaker(ExitCode code) {
    const bool may_end_at_once = code == ExitCode::done || launcher::variable().empty();
    if (const auto rank = launcher::rank(); !have_started() && may_end_at_once && rank) return *rank == 0;
    return comm().is_root();
  }

 private:
  int argc_;
  char** argv_;
  std::optional<Parallel> parallel_;
  MPI_Comm meeting_ = MPI_COMM_NULL;
};

/// How a program ends whose command line was all it needed. To be called on all ranks.
inline ExitCode answer(Ranks& ranks, const CommandLine::Ending& ending) {
  if (!ranks.is_speaker(ending.code)) return ending.code;
  std::fputs(ending.mistakes.c_str(), stderr);
  try {
    show(ending.page.empty() ? ending.output : page_of_program(ending.page));
  } catch (const RunError& failure) {
    print_error(failure.what());
    return failure.code();
  }
  return ending.code;
}

/// Parses the command line; prints help and mistakes once. Returns an exit code if the program ends here.
inline std::optional<ExitCode> parse(const CommandLine& line, int argc, char** argv, Ranks& ranks) {
  const auto ending = line.parse(argc, argv);
  if (!ending) return std::nullopt;
  return answer(ranks, *ending);
}

/// How a program ended on this rank.
struct ProgramEnd {
  ExitCode code = ExitCode::done;
  std::string message{};  ///< of the error that ended it
};

/// Runs a program. All ranks throw a CollectiveError together: rank 0 prints it, and all end with its code.
/// Other exceptions may be local. If all ranks have one, as when memory runs out, they end in the same way;
/// otherwise the job is aborted.
inline ProgramEnd run_to_end(Ranks& ranks, int argc, char** argv, ExitCode (*program)(Ranks&, int, char**)) {
  try {
    return {program(ranks, argc, argv)};
  } catch (const CollectiveError& error) {
    if (ranks.is_speaker(error.code())) print_error(error.what());
    return {error.code(), error.what()};
  } catch (const std::exception& error) {
    const bool is_input = dynamic_cast<const LocalInputError*>(&error) != nullptr;
    const ExitCode code = is_input ? ExitCode::bad_input : ExitCode::runtime_failure;
    const bool is_alone = !ranks.have_started();
    if (is_alone || all_meet(ranks.meeting())) {
      if (is_alone || ranks.comm().is_root()) print_error(error.what());
      return {code, error.what()};
    }
    const Comm& comm = ranks.comm();
    print_error(fmt::format("rank {}: {}", comm.rank(), error.what()));
    MPI_Abort(comm.handle(), static_cast<int>(code));
    return {code, error.what()};
  }
}

/// main() of a program, which ends with MPI_Finalize if it started MPI.
inline int driver_main(int argc, char** argv, ExitCode (*program)(Ranks&, int, char**)) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is then a failed write with a message, not a kill
  Ranks ranks(argc, argv);
  const ProgramEnd end = run_to_end(ranks, argc, argv, program);
  const int code = static_cast<int>(end.code);
  // Libraries may fail as they put away what they made of bad input.
  if (end.code == ExitCode::bad_input && !end.message.empty()) end_quietly_with(code);
  return code;
}

}  // namespace scree
