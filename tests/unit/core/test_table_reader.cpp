#include "core/table_reader.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"

using namespace scree;

namespace {

TableReader table(const std::string& text) {
  return TableReader::of_text("a.csv", text, "no header line");
}

/// What a table of lengths x says when it is read to its end.
std::string refusal(const std::string& text, const ColumnRules& rules = {.unit = "m"}) {
  try {
    TableReader reader = table(text);
    Real x = 0;
    reader.real("x", x, rules);
    reader.refuse_others();
    while (reader.next()) continue;
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("table reader: columns are found by name in any order, past comments, quotes and empty fields",
          "[core]") {
  TableReader reader = table(
      "\xEF\xBB\xBF# people\r\n\r\n name , x [m],\"id\",speed[m/s],colour\n"
      "ann,1.5,7,,red\n# one more\n\"bo\",-2e-1,8,0.25,blue\n");
  Real x = 0, speed = 1, mass = 3;
  std::int64_t id = 0;
  std::string_view name;
  CHECK(reader.real("x", x, {.unit = "m"}));
  CHECK(reader.real("speed", speed, {.unit = "m/s", .may_be_empty = true}));
  CHECK_FALSE(reader.real("mass", mass, {.unit = "kg"}));
  CHECK(reader.integer("id", id));
  CHECK(reader.text("name", name));
  CHECK(reader.names() == std::vector<std::string>{"name", "x", "id", "speed", "colour"});
  CHECK(reader.units() == std::vector<std::string>{"", "m", "", "m/s", ""});
  CHECK(reader.others() == std::vector<std::string>{"colour"});
  CHECK(reader.where() == "a.csv:3");
  REQUIRE(reader.next());
  CHECK((x == 1.5 && speed == 1 && id == 7 && name == "ann" && mass == 3));
  REQUIRE(reader.next());
  CHECK((x == -0.2 && speed == 0.25 && id == 8 && name == "bo"));
  CHECK(reader.where() == "a.csv:6");
  CHECK_FALSE(reader.next());
}

TEST_CASE("table reader: whatever is wrong is reported with its line", "[core]") {
  CHECK(refusal("# nothing\n") == "a.csv: no header line");
  CHECK(refusal("x,x\n") == "a.csv:1: two columns are called x");
  CHECK(refusal("x[cm]\n1\n") == "a.csv:1: the column x is in cm, but is read in m");
  CHECK(refusal("x,y\n") == "a.csv:1: there is no column \"y\"; did you mean \"x\"?; valid: x");
  CHECK(refusal("x\n\n1\n1,2\n") == "a.csv:4: 2 values, but the header names 1 column");
  CHECK(refusal("x\n1\ntwo\n") == "a.csv:3: 'two' is not a number (x)");
  CHECK(refusal("x\nnan\n") == "a.csv:2: 'nan' is not a number (x)");
  CHECK(refusal("x\nnan\ninf\n", {.may_be_infinite = true}).empty());
  CHECK(refusal("x\n3\n", {.min = 0, .max = 2, .range = "from 0 m to 2 m"}) ==
        "a.csv:2: x = 3 is not from 0 m to 2 m");
  CHECK(refusal("x\n2\n", {.min = 0, .max = 2}).empty());
}

TEST_CASE("table reader: whole numbers are whole and in their range", "[core]") {
  const auto message = [](const std::string& field, const ColumnRules& rules) {
    TableReader reader = table("id\n" + field + "\n");
    std::int64_t id = 0;
    reader.integer("id", id, rules);
    try {
      reader.next();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::to_string(id);
  };
  CHECK(message("-9007199254740993", {}) == "-9007199254740993");
  CHECK(message("0.5", {}) == "a.csv:2: id '0.5' is not an integer");
  CHECK(message("-1", {.min = 0, .range = "a whole number from 0 on"}) ==
        "a.csv:2: id '-1' is not a whole number from 0 on");
}

TEST_CASE("table reader: words between blanks are counted from the line that they begin in", "[core]") {
  const std::vector<std::string_view> names{"id", "x"};
  TableReader reader = TableReader::of_words("a.dump: frame 1", names, " 4\t0.5 \n5 x\n", 10);
  Real x = 0;
  reader.real("x", x);
  CHECK(reader.where() == "a.dump: frame 1");
  REQUIRE(reader.next());
  CHECK(x == 0.5);
  CHECK_THROWS_WITH(reader.next(), "a.dump: frame 1, row 12: 'x' is not a number (x)");
}
