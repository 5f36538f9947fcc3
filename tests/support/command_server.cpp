// Answers commands of the program scree one after the other on all ranks of one job, in place of a start of
// MPI for each (tests/support/command_server.py).
//
// Each rank has two pipes in the folder that is the only argument: commands.RANK brings texts that end in a
// zero byte: how many words follow, the folder to work in, the words behind "scree". answers.RANK takes four
// such texts: exit code, message of the error that ended the command on this rank, standard output, standard
// error.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "core/petsc_options.hpp"
#include "drivers/scree_main.hpp"

namespace {

using namespace scree;

/// While one lives, what this process writes to a standard stream goes to a file without a name.
class Captured {
 public:
  explicit Captured(std::FILE* stream)
      : stream_(stream), file_(std::tmpfile()), usual_(::dup(::fileno(stream))) {
    if (file_ == nullptr || usual_ < 0) throw std::runtime_error("no file for the output");
    redirect(::fileno(file_));
  }
  ~Captured() {
    redirect(usual_);
    ::close(usual_);
    std::fclose(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() const {
    std::fflush(stream_);
    const long n = std::ftell(file_) < 0 ? 0 : size();
    std::string text(static_cast<std::size_t>(n), '\0');
    std::rewind(file_);
    text.resize(std::fread(text.data(), 1, text.size(), file_));
    return text;
  }

 private:
  long size() const {
    std::fseek(file_, 0, SEEK_END);
    return std::ftell(file_);
  }
  void redirect(int to) {
    std::fflush(stream_);
    ::dup2(to, ::fileno(stream_));
  }

  std::FILE* stream_;
  std::FILE* file_;
  int usual_;
};

/// What the checks of refusals have to find (tests/badinput/test_refusals.py): "planted rank" ends with an
/// error whose message differs by rank, "planted ranks" by their number; "planted end" ends the last rank.
ExitCode planted(Ranks& ranks, int, char** argv) {
  const Comm& comm = ranks.comm();
  const std::string what = argv[2];
  if (what == "end" && comm.rank() + 1 == comm.size()) std::_Exit(EXIT_FAILURE);
  comm.barrier();
  throw InputError("planted " + std::to_string(what == "rank" ? comm.rank() : comm.size()));
}

/// Nothing of a command may be left for the next one.
void forget_command() {
  log::start(false, log::Level::quiet);
  forget_petsc_options();
}

/// One command; returns the four texts of its answer. Collective.
std::vector<std::string> answer_to(Ranks& ranks, std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const Captured output(stdout), mistakes(stderr);
  const auto program = words.size() == 3 && words[1] == "planted" ? planted : scree_main;
  const ProgramEnd end = run_to_end(ranks, static_cast<int>(words.size()), argv.data(), program);
  forget_command();
  return {std::to_string(static_cast<int>(end.code)), end.message, output.text(), mistakes.text()};
}

bool next(std::istream& in, std::string& text) {
  return static_cast<bool>(std::getline(in, text, '\0'));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  Ranks ranks(argc, argv);
  const std::string rank = std::to_string(ranks.comm().rank()), folder = argv[1];
  std::ifstream commands(folder + "/commands." + rank);
  std::ofstream answers(folder + "/answers." + rank);
  for (std::string count, place; next(commands, count) && next(commands, place);) {
    std::vector<std::string> words(std::stoul(count) + 1, "scree");
    for (std::size_t i = 1; i < words.size(); ++i) next(commands, words[i]);
    std::filesystem::current_path(place);
    for (const std::string& text : answer_to(ranks, words)) answers << text << '\0';
    answers.flush();
    if (!answers) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
