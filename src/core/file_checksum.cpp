#include "core/file_checksum.hpp"

#include <fmt/format.h>

#include <fstream>

#include "core/input_file.hpp"

namespace scree {

namespace {

std::string checksum_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string block(1 << 20, '\0');
  std::uint64_t sum = checksum_of("");
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    sum = checksum_of({block.data(), static_cast<std::size_t>(file.gcount())}, sum);
  } while (file);
  return fmt::format("{:016x}", sum);
}

}  // namespace

std::uint64_t checksum_of(std::string_view bytes, std::uint64_t before) {
  for (const char byte : bytes) before = (before ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return before;
}

void describe_checksum(Section& section, std::string_view key, const std::string& named) {
  const bool is_file = section.reading() && !named.empty();
  const std::string found = is_file ? checksum_of_file(path_of_input(named, section.where(key))) : "";
  std::string expected = found;
  section.text("checksum", expected,
               {.doc = "checksum of the file, which it must have if this is given; resolved decks and "
                       "checkpoints give it, so that a run goes on with the same file"});
  if (!section.reading() || expected == found) return;
  if (!is_file) section.fail("checksum", fmt::format("checksum is for a file: give {}, or remove it", key));
  section.fail("checksum", fmt::format("'{}' has the checksum {}: it is not the file that is meant here, or "
                                       "it has changed since",
                                       named, found));
}

}  // namespace scree
