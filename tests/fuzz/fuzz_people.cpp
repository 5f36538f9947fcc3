// People from files: tables, and trajectories of the archive as text. The first byte says which.
#include <unistd.h>

#include <fstream>

#include "crowd/people/person_rows.hpp"
#include "fuzz/reader.hpp"

namespace {

/// A file of this process for what the fuzzer makes, in memory where the system has such a place.
const std::string& file_of_rows() {
  static const std::string path = [] {
    const std::string folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    return folder + "/scree_fuzz_" + std::to_string(::getpid()) + ".people";
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return scree::read_bytes(bytes, size, [](const std::string& text) {
    if (text.empty()) return;
    std::ofstream(file_of_rows(), std::ios::binary) << text.substr(1);
    const auto ignore = [](const scree::PersonRow&) {};
    if (text[0] == 't')
      scree::read_archive_text(file_of_rows(), -1, ignore);
    else
      scree::read_person_table(file_of_rows(), text[0] == 's', ignore);
  });
}
