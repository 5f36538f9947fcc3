#pragma once
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace scree {

/// What a command line declares, as a manual page (roff, section 1). The text about the program starts with
/// its name and a colon, here and in bash_completion().
std::string man_page(const CLI::App& app);
/// The same as a script that completes verbs, options, their values and names of files in bash.
std::string bash_completion(const CLI::App& app);

}  // namespace scree
