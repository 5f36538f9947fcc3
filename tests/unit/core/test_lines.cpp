#include <catch2/catch.hpp>

#include <string>

#include "core/lines.hpp"

using namespace scree;

TEST_CASE("lines: parts in lines of 100 characters, none is cut", "[core]") {
  CHECK(in_lines("", {}).empty());
  CHECK(in_lines("", {"one"}) == "one");
  CHECK(in_lines("", {"one", "two"}) == "one, two");
  const std::string half(49, 'a');
  CHECK(in_lines("", {half, half}) == half + ", " + half);  // 100 characters
  CHECK(in_lines("", {half, half + 'b'}) == half + ",\n  " + half + 'b');
  CHECK(in_lines("", {half, half, "c"}) == half + ",\n  " + half + ", c");
  const std::string endless(150, 'x');
  CHECK(in_lines("", {"one", endless, "two"}) == "one,\n  " + endless + ",\n  two");
  CHECK(in_lines("  all: ", {half, half}) == "  all: " + half + ",\n    " + half);
}
