#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/parallel.hpp"
#include "support/message_of.hpp"

/// A folder for the files of one test case, made by rank 0 and removed by it. Collective.
class Scratch {
 public:
  explicit Scratch(const scree::Comm& comm = scree::Comm()) : comm_(comm) {
    static int n_made = 0;
    std::string name = "scree_test_" + std::to_string(::getpid()) + "_" + std::to_string(n_made++);
    comm_.broadcast(name);
    folder_ = std::filesystem::temp_directory_path() / name;
    if (comm_.is_root()) std::filesystem::create_directories(folder_);
    comm_.barrier();
  }
  ~Scratch() {
    comm_.barrier();
    if (comm_.is_root()) std::filesystem::remove_all(folder_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return (folder_ / name).string(); }
  std::string folder() const { return folder_.string(); }

 private:
  scree::Comm comm_;
  std::filesystem::path folder_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

inline void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::size_t n_files_in(const std::string& folder) {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}
