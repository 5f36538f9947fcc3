#pragma once
// What all scree programs share: MPI, the command line on every rank, and how errors end a program.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>

#include "app/options.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

namespace scree {

inline void print(const Comm& comm, const std::string& text) {
  if (!comm.is_root() || text.empty()) return;
  std::fputs(text.c_str(), stdout);
  if (text.back() != '\n') std::fputc('\n', stdout);
  std::fflush(stdout);
}

inline std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i == 0 ? "" : " ") + std::string(argv[i]);
  return line;
}

/// Parses; help and mistakes are printed if `prints`. Returns an exit code if the program is to end here.
inline std::optional<ExitCode> parse(CLI::App& app, int argc, char** argv, bool prints) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, mistakes;
    const int code = app.exit(error, out, mistakes);
    if (prints) {
      std::fputs(out.str().c_str(), stdout);
      std::fflush(stdout);
      std::fputs(mistakes.str().c_str(), stderr);
    }
    return code == 0 ? ExitCode::done : ExitCode::bad_input;
  }
  return std::nullopt;
}
/// The same on every rank, printed once.
inline std::optional<ExitCode> parse(CLI::App& app, int argc, char** argv, const Comm& comm) {
  return parse(app, argc, argv, comm.is_root());
}

/// Runs a program between MPI_Init and MPI_Finalize. An AgreedError has been thrown by all ranks: rank 0
/// prints it and all leave with its code. Any other exception is this rank's alone, so the job is aborted.
inline int driver_main(int argc, char** argv, ExitCode (*program)(const Comm&, int, char**)) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is then a failed write with a message, not a kill
  Parallel parallel(argc, argv);
  const Comm& comm = parallel.world();
  try {
    return static_cast<int>(program(comm, argc, argv));
  } catch (const AgreedError& error) {
    if (comm.is_root()) std::fprintf(stderr, "scree: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scree: rank %d: %s\n", comm.rank(), error.what());
    std::fflush(stderr);
    MPI_Abort(comm.handle(), static_cast<int>(ExitCode::runtime_failure));
    return static_cast<int>(ExitCode::runtime_failure);
  }
}

}  // namespace scree
