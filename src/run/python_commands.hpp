#pragma once
#include <span>
#include <string_view>

namespace scree {

/// A command of `scree` that its Python package answers (postprocess/scree/commands), options included.
struct PythonCommand {
  const char* name;
  const char* about;    ///< one line for the help
  const char* example;  ///< as one types it
};

/// All of them, in the order of the help.
std::span<const PythonCommand> python_commands();
bool is_python_command(std::string_view word);

/// Whether the Python package came with the program. Local.
bool has_python_commands();

/// Becomes a Python command; `words`: its name and what follows, and a null at the end, as argv has them. The
/// interpreter is what the environment variable SCREE_PYTHON names, else python3 of PATH. Does not return:
/// throws InputError if there is no package or no interpreter. MPI must not have been started, and must not
/// be needed again. Local.
[[noreturn]] void become_python(char** words);

}  // namespace scree
