#include "core/program_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace scree {

bool holds(const std::string& folder, std::initializer_list<const char*> contents) {
  std::error_code ignored;
  return std::ranges::all_of(contents, [&](const char* content) {
    return std::filesystem::exists(folder + "/" + content, ignored);
  });
}

std::string program_folder(std::initializer_list<const char*> contents) {
  std::error_code ignored;
  for (auto above = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
       !above.empty() && above != above.root_path(); above = above.parent_path())
    for (const std::string& folder : {above.string(), (above / "share" / "scree").string()})
      if (holds(folder, contents)) return folder;
  return "";
}

}  // namespace scree
