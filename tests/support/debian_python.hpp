#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/parallel.hpp"

/// Exit code of a Python script that rank 0 runs, on all ranks; 77 stands for a module that is missing.
/// Collective.
inline std::int64_t run_python(const scree::Comm& comm, const std::filesystem::path& script,
                               const std::vector<std::string>& arguments) {
  std::int64_t status = 0;
  if (comm.is_root()) {
    const std::string debian = "/usr/bin/python3";  // only Debian's own Python sees python3-h5py
    std::string command = std::filesystem::exists(debian) ? debian : "python3";
    command += " " + script.string();
    for (const std::string& argument : arguments) command += " " + argument;
    status = WEXITSTATUS(std::system(command.c_str()));
  }
  return comm.max(status);
}
