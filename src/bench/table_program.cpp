#include "bench/table_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/program_folder.hpp"
#include "run/commands.hpp"

namespace scree {

namespace {

/// The command line of the package scree.bench.
std::vector<std::string> words_of(const std::string& work, const Json& told) {
  constexpr const char* package = "postprocess/scree/bench";
  const std::string folder = program_folder({package});
  if (folder.empty())
    throw InputError(
        fmt::format("{} is not there, neither above this program nor in share/scree: use the "
                    "program where it was built or installed",
                    package));
  const char* named = std::getenv("SCREE_PYTHON");
  return {named && *named ? named : "python3", fmt::format("{}/{}", folder, package), work, told.dump()};
}

std::string no_interpreter(const std::string& name, const std::string& reason) {
  return fmt::format(
      "cannot start {}: {}. Tables are made by Python 3.9 or later; another interpreter is named by the "
      "environment variable SCREE_PYTHON",
      name, reason);
}

}  // namespace

void become_study(const Json& told) {
  std::vector<std::string> words = words_of("study", told);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw InputError(no_interpreter(words[0], std::strerror(errno)));
}

TableProgram::TableProgram(bool is_speaker, bool streams, const Json& told) {
  if (!is_speaker) return;
  if (streams) {
    lines_ = stdout;
    return;
  }
  std::signal(SIGPIPE, SIG_IGN);  // if it ends early, that is a failed write with a message
  try {
    std::string command = "exec";
    for (const std::string& word : words_of("show", told)) command += ' ' + quoted(word);
    lines_ = popen(command.c_str(), "we");
    if (!lines_) failure_ = no_interpreter("sh", std::strerror(errno));
  } catch (const InputError& error) {
    failure_ = error.what();
  }
}

int TableProgram::close() {
  std::FILE* const lines = std::exchange(lines_, nullptr);
  if (!lines) return 0;
  return lines == stdout ? std::fflush(stdout) : pclose(lines);
}

TableProgram::~TableProgram() {
  close();
}

void TableProgram::tell(const Comm& comm, const std::string& what, const Json& value) {
  files::on_root(comm, [&] {
    if (!lines_) throw InputError(failure_);
    errno = 0;
    const std::string line = Json{{what, value}}.dump() + '\n';
    if (std::fputs(line.c_str(), lines_) < 0 || std::fflush(lines_) != 0)
      throw RunError(fmt::format("cannot write what was measured: {}", std::strerror(errno)));
  });
}

ExitCode TableProgram::finish(const Comm& comm) {
  return comm.any(close() != 0) ? ExitCode::runtime_failure : ExitCode::done;
}

}  // namespace scree
