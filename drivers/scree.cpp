// The program scree: becomes scree_bench where that is asked for. scree_main.cpp has all other verbs.
#include <unistd.h>

#include <string>

#include "core/program_folder.hpp"
#include "core/stop_signal.hpp"
#include "driver_main.hpp"
#include "run/python_commands.hpp"
#include "scree_main.hpp"

namespace {

using namespace scree;

/// Becomes the program scree_bench, which lies beside this one and knows `bench` as a verb. MPI must not have
/// been started: `scree bench` starts programs on several numbers of ranks.
ExitCode become_bench(char** argv) {
  const std::string program = program_beside("scree_bench").string();
  execv(program.c_str(), argv);
  print_error("there is no program scree_bench beside this one: " + program +
              " (cmake --build --preset release --target scree_bench)");
  return ExitCode::bad_input;
}

/// A verb of Python has its options there.
ExitCode run_python(Ranks& ranks, int argc, char** argv) {
  if (ranks.is_speaker(ExitCode::done)) become_python(words_of(argc, argv));
  return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
  if (first_word(argc, argv) == "bench") return static_cast<int>(become_bench(argv));
  if (is_python_command(first_word(argc, argv))) return scree::driver_main(argc, argv, run_python);
  stop_signal::watch();  // MPI and PETSc take their time to start
  return scree::driver_main(argc, argv, scree_main);
}
