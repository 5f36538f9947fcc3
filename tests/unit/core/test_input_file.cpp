#include "core/input_file.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <limits>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

TEST_CASE("input file: pipes, devices and folders are distinguished from files without waiting", "[core]") {
  const Scratch scratch;
  put(scratch / "file", "content");
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  CHECK(obstacle_to_read(scratch / "file").empty());
  CHECK(obstacle_to_read(scratch / "none") == "No such file or directory");
  CHECK(obstacle_to_read(scratch / "pipe") == "it is a pipe, not a file");
  CHECK(obstacle_to_read("/dev/zero") == "it is a device, not a file");
  CHECK(obstacle_to_read(scratch.folder()) == "it is a folder");
  CHECK(read_input(scratch / "file") == "content");
  CHECK(message_of<InputError>([&] { read_input(scratch / "pipe"); }) ==
        "cannot read " + (scratch / "pipe") + ": it is a pipe, not a file");
}

TEST_CASE("input file: the depth of brackets leaves out those in quotes", "[core]") {
  CHECK(bracket_depth("") == 0);
  CHECK(bracket_depth("POLYGON ((0 0, 1 0), (2 2))") == 2);
  CHECK(bracket_depth(R"({"a\"[[[": [1, {"b": []}]})") == 4);
  CHECK(bracket_depth(")))((") == 2);
  CHECK(bracket_depth(std::string(100000, '[')) == 100000);
}

TEST_CASE("input file: the line ends of all systems are one", "[core]") {
  CHECK(with_plain_line_ends("a\r\nb\rc\n\r\r\n") == "a\nb\nc\n\n\n");
  CHECK(with_plain_line_ends("").empty());
}

TEST_CASE("deck: nesting that would use up the stack is refused before it is parsed", "[core]") {
  const auto message = [](const std::string& text, const std::vector<std::string>& overrides = {}) {
    return message_of<InputError>([&] { Deck::from_text(text, "d.toml", overrides); });
  };
  const auto repeated = [](const std::string& text, std::size_t n) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += text;
    return all;
  };
  const std::string end = " deep; at most 100 are read";
  CHECK(message(repeated("a.", 100000) + "a = 1\n") == "d.toml: tables and arrays are nested 100000" + end);
  CHECK_THAT(message("[" + repeated("a.", 100000) + "a]\n"), Catch::EndsWith(end));
  CHECK_THAT(message("a = " + repeated("[", 100000)), Catch::EndsWith(end));
  CHECK_THAT(message("a = " + repeated("{b.c.d = ", 50) + "1" + repeated("}", 50)), Catch::EndsWith(end));
  CHECK_THAT(message("a = 1\n", {repeated("a.", 100000) + "a=1"}), Catch::EndsWith(end));
  // What is not nested may have as many dots as it likes.
  CHECK(message("a = [" + repeated("1.5, ", 1000) + "]\n# " + repeated(".[{", 1000) + "\nb = '" +
                repeated("[.", 1000) + "'\nc = \"" + repeated("{.\\\"", 1000) + "\"\nd = \"\"\"\n" +
                repeated("[[..\n", 1000) + "\"\"\"\n" + repeated("[[e.f]]\ng.h = 1.0\n", 1000))
            .empty());
}

TEST_CASE("memory: more than the machine has is refused in words", "[core]") {
  CHECK_NOTHROW(require_memory(1e6, "a deck"));
  CHECK_THAT(message_of<InputError>([] { require_memory(1e18, "a deck"); }),
             Catch::StartsWith("a deck needs 9.31e+08 GiB of memory on one rank; there are "));
  CHECK_THROWS_AS(require_memory(std::numeric_limits<Real>::quiet_NaN(), "a deck"), InputError);
}
