#include "run/python_package.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"
#include "core/program_folder.hpp"
#include "run/commands.hpp"

namespace scree {

std::vector<std::string> python_words(const std::string& package, const std::vector<std::string>& arguments) {
  const std::string place = "postprocess/scree/" + package;
  const std::string folder = program_folder({place.c_str()});
  if (folder.empty())
    throw InputError(
        fmt::format("{} is not there, neither above this program nor in share/scree: use the "
                    "program where it was built or installed",
                    place));
  const char* named = std::getenv("SCREE_PYTHON");
  std::vector<std::string> words{named && *named ? named : "python3", folder + '/' + place};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string python_line(const std::string& package, const std::vector<std::string>& arguments) {
  std::string line = "exec";
  for (const std::string& word : python_words(package, arguments)) line += ' ' + quoted(word);
  return line;
}

std::string output_of_python(const std::string& package, const std::vector<std::string>& arguments) {
  std::FILE* const lines = popen((python_line(package, arguments) + " 2>&1").c_str(), "re");
  if (!lines) throw RunError(fmt::format("no program can be started: {}", std::strerror(errno)));
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), lines)) text.append(part.data(), n);
  if (pclose(lines) != 0) throw RunError(fmt::format("postprocess/scree/{} failed: {}", package, text));
  return text;
}

std::string page_of_program(const std::string& page) {
  return output_of_python("pages", {page, this_program().string()});
}

void become_python_package(const std::string& package, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = python_words(package, arguments);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  throw InputError(fmt::format(
      "cannot start {}: {}. It is Python 3.9 or later that is needed; another interpreter is named by the "
      "environment variable SCREE_PYTHON",
      words[0], std::strerror(errno)));
}

}  // namespace scree
