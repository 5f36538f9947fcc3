#pragma once
#include <string>

namespace scree {

/// What this build is. The commit is read when CMake configures; builds made without git say "unknown".
namespace version {
extern const char* const number;
extern const char* const compiler;
extern const char* const build_type;
extern const char* const commit;
}  // namespace version

/// Version, commit, compiler, libraries, and what was left out: one line.
std::string version_text();

}  // namespace scree
