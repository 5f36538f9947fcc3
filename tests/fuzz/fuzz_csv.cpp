// Tables as CSV: rows of a motion of obstacles.
#include <unistd.h>

#include <fstream>

#include "core/deck.hpp"
#include "fuzz/reader.hpp"
#include "geometry/obstacle.hpp"

namespace {

/// A file of this process for what the fuzzer makes, in memory where the system has such a place.
const std::string& file_of_rows() {
  static const std::string path = [] {
    const std::string folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    return folder + "/scree_fuzz_" + std::to_string(::getpid()) + ".csv";
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return scree::read_bytes(bytes, size, [](const std::string& text) {
    std::ofstream(file_of_rows(), std::ios::binary) << text;
    scree::Deck deck = scree::Deck::from_text(
        "[obstacles.door]\ntype = \"segment\"\na = [0, 0]\nb = [1, 0]\n[obstacles.door.motion]\ntype = "
        "\"table\"\n"
        "center = [0, 0]\npath = \"" +
            file_of_rows() + "\"\n",
        "fuzz.toml");
    scree::ObstacleSet<2> obstacles;
    obstacles.describe(deck.root());
    deck.require_all_read();
    obstacles.place(0.5);
    obstacles.place(1e9);
  });
}
