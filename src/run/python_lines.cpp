#include "run/python_lines.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/files.hpp"
#include "run/python_package.hpp"

namespace scree {

Json finite_or_text(Real value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

PythonLines::PythonLines(bool is_speaker, bool streams, const std::string& package,
                         const std::vector<std::string>& words) {
  if (!is_speaker) return;
  if (streams) {
    lines_ = stdout;
    return;
  }
  std::signal(SIGPIPE, SIG_IGN);  // if it ends early, that is a failed write with a message
  try {
    lines_ = popen(python_line(package, words).c_str(), "we");
    if (!lines_) failure_ = fmt::format("no program can be started: {}", std::strerror(errno));
  } catch (const InputError& error) {
    failure_ = error.what();
  }
}

int PythonLines::close() {
  std::FILE* const lines = std::exchange(lines_, nullptr);
  if (!lines) return 0;
  return lines == stdout ? std::fflush(stdout) : pclose(lines);
}

PythonLines::~PythonLines() {
  close();
}

void PythonLines::send(const Comm& comm, const std::string& what, const Json& value) {
  files::on_root(comm, [&] {
    if (!lines_) throw InputError(failure_);
    errno = 0;
    const std::string line = Json{{what, value}}.dump() + '\n';
    if (std::fputs(line.c_str(), lines_) < 0 || std::fflush(lines_) != 0)
      throw RunError(fmt::format("cannot write what was found: {}", std::strerror(errno)));
  });
}

ExitCode PythonLines::finish(const Comm& comm) {
  return comm.any(close() != 0) ? ExitCode::runtime_failure : ExitCode::done;
}

}  // namespace scree
