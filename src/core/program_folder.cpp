#include "core/program_folder.hpp"

#include <algorithm>
#include <system_error>

namespace scree {

std::filesystem::path this_program() {
  std::error_code without_proc;
  return std::filesystem::read_symlink("/proc/self/exe", without_proc);
}

std::filesystem::path program_beside(const char* name) {
  return this_program().replace_filename(name);
}

bool holds(const std::string& folder, std::initializer_list<const char*> contents) {
  std::error_code ignored;
  return std::ranges::all_of(contents, [&](const char* content) {
    return std::filesystem::exists(folder + "/" + content, ignored);
  });
}

std::string program_folder(std::initializer_list<const char*> contents) {
  for (auto above = this_program().parent_path(); !above.empty() && above != above.root_path();
       above = above.parent_path())
    for (const std::string& folder : {above.string(), (above / "share" / "scree").string()})
      if (holds(folder, contents)) return folder;
  return "";
}

}  // namespace scree
