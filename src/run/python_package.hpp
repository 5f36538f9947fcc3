#pragma once
#include <string>
#include <vector>

namespace scree {

/// The command line that runs the package postprocess/scree/NAME, which comes with the program, by the
/// interpreter that the environment variable SCREE_PYTHON names, else by python3 of PATH. Throws InputError
/// if the package is not there. Local.
std::vector<std::string> python_words(const std::string& package, const std::vector<std::string>& arguments);

/// The same for a shell, which becomes that program.
std::string python_line(const std::string& package, const std::vector<std::string>& arguments);

/// What the package prints. Waits for its end; throws RunError with what it wrote if it fails. Local.
std::string output_of_python(const std::string& package, const std::vector<std::string>& arguments);

/// A page of postprocess/scree/pages, which asks this program what it is about: its manual ("man"), its
/// "completion" in bash, the "reference" of decks or its "laboratory", or their "schema". Throws as
/// output_of_python(). Local.
std::string page_of_program(const std::string& page);

/// Becomes the package. Does not return: throws InputError if there is no package or no interpreter. MPI must
/// not have been started, and must not be needed again. Local.
[[noreturn]] void become_python_package(const std::string& package,
                                        const std::vector<std::string>& arguments);

}  // namespace scree
