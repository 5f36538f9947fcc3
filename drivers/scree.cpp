// The program scree: becomes scree_bench where that is asked for. scree_main.cpp has all other verbs.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "core/stop_signal.hpp"
#include "scree_main.hpp"

namespace {

using namespace scree;

/// Becomes the program scree_bench, which lies beside this one and knows `bench` as a verb. MPI must not have
/// been started: `scree bench` starts programs on several numbers of ranks.
ExitCode become_bench(char** argv) {
  std::error_code error;
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe", error).replace_filename("scree_bench").string();
  execv(program.c_str(), argv);
  tell("there is no program scree_bench beside this one: " + program +
       " (cmake --build --preset release --target scree_bench)");
  return ExitCode::bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  if (first_word(argc, argv) == "bench") return static_cast<int>(become_bench(argv));
  stop_signal::watch();  // MPI and PETSc take their time to start
  return scree::driver_main(argc, argv, scree_main);
}
