#include "run/python_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/program_folder.hpp"

namespace scree {

namespace {

constexpr PythonCommand table[]{
    {"render", "draw frames as pictures or as a film: bodies, walls, force chains",
     "scree render results/pour --film pour.mp4"},
    {"animate", "draw a crowd over time, as pictures or as a film",
     "scree animate results/hall --film hall.mp4"},
    {"plot", "draw time series, studies, maps, flows, scaling: `scree plot` lists the kinds",
     "scree plot scalars results/pour --columns 'energy_*'"},
    {"report",
     "write a report of a run, or of several runs of one case, as one HTML file that needs nothing else",
     "scree report results/concourse"},
    {"coarse-grain", "write continuum fields of a frame, from its bodies and contacts, as CSV",
     "scree coarse-grain results/chute --axis z --width 4e-3 --area 0.005 --from 0 --to 0.08"},
    {"verify", "compare runs with closed forms and published numbers: `scree verify` lists what",
     "scree verify grains --ranks 2"},
    {"exchange", "make decks from files of other programs, and their files from frames",
     "scree exchange import station.dxf --people 200"},
};
constexpr const char* commands_script = "postprocess/scree/commands/__main__.py";

}  // namespace

std::span<const PythonCommand> python_commands() {
  return table;
}

bool is_python_command(std::string_view word) {
  return std::ranges::any_of(table, [&](const PythonCommand& command) { return command.name == word; });
}

bool has_python_commands() {
  return !program_folder({commands_script}).empty();
}

void become_python(char** words) {
  const std::string folder = program_folder({commands_script});
  if (folder.empty())
    throw InputError(
        fmt::format("scree {}: {} is not there, neither above this program nor in share/scree: "
                    "use the program where it was built or installed",
                    words[0], commands_script));
  setenv("SCREE", this_program().c_str(),
         0);  // what the commands themselves ask of the program, this one answers
  const char* named = std::getenv("SCREE_PYTHON");
  std::string python = named != nullptr && *named != 0 ? named : "python3",
              script = folder + "/" + commands_script;
  std::vector<char*> arguments{python.data(), script.data()};
  while (*words != nullptr) arguments.push_back(*words++);
  const char* command = arguments[2];
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw InputError(fmt::format(
      "scree {}: cannot start {}: {}. It needs Python 3.11 or later with numpy, h5py and "
      "matplotlib (Debian: scripts/install-deps.sh pictures); another interpreter is named by the "
      "environment variable SCREE_PYTHON",
      command, python, std::strerror(errno)));
}

}  // namespace scree
