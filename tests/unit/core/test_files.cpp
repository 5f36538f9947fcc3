#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/input_file.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

TEST_CASE("files: write_atomically replaces a file and leaves no temporary one", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.txt";
  put(path, "old");
  files::write_atomically(path, "new\n");
  CHECK(content_of(path) == "new\n");
  files::write_atomically(path, "durable\n", true);
  CHECK(content_of(path) == "durable\n");
  CHECK(n_files_in(scratch.folder()) == 1);
}

TEST_CASE("files: a write that does not fit keeps the old file and says how many bytes were wanted", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.txt";
  put(path, "old");
  const FileSizeLimit limit(10);
  const std::string message =
      message_of<RunError>([&] { files::write_atomically(path, std::string(100, 'x')); });
  CHECK_THAT(message, Catch::Contains(path) && Catch::Contains("bytes") && Catch::Contains("File too large"));
  CHECK(content_of(path) == "old");
  CHECK(n_files_in(scratch.folder()) == 1);
}

TEST_CASE("files: reserving 2^61 bytes is refused with the system's reason", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.bin";
  put(path, "data");
  const std::string message =
      message_of<RunError>([&] { files::reserve(path, 0, std::int64_t{1} << 61, "the test"); });
  CHECK_THAT(message, Catch::Contains(path) && Catch::Contains("2305843009213693952 bytes for the test"));
  CHECK(content_of(path) == "data");
  files::reserve(path, 0, 1 << 16, "the test");
  CHECK(content_of(path) == "data" + std::string((1 << 16) - 4, '\0'));
}

TEST_CASE("files: reading a file that is not there names it and the reason", "[io]") {
  const std::string message = message_of<InputError>([] { read_input("no/such/file"); });
  CHECK(message == "cannot read no/such/file: No such file or directory");
}

TEST_CASE("files: a link at NAME.part leads no content elsewhere", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / "a.txt";
  put(scratch / "precious", "mine");
  SECTION("to a file") {
    std::filesystem::create_symlink(scratch / "precious", path + ".part");
  }
  SECTION("to nothing") {
    std::filesystem::create_symlink(scratch / "nothing", path + ".part");
  }
  SECTION("a second name") {
    std::filesystem::create_hard_link(scratch / "precious", path + ".part");
  }
  files::write_atomically(path, "new");
  CHECK(content_of(path) == "new");
  CHECK(!std::filesystem::is_symlink(path));
  CHECK(content_of(scratch / "precious") == "mine");
  CHECK(n_files_in(scratch.folder()) == 2);
}
