// People as text: tables, and frames of a trajectory of the pedestrian dynamics data archive.
#include "crowd/people/person_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "core/error.hpp"
#include "core/input_file.hpp"
#include "core/table_reader.hpp"

namespace scree {

namespace {

/// Asks for the columns of people, who are of a source if the table has times.
void bind_columns(TableReader& table, bool has_times, PersonRow& row) {
  Person& person = row.person;
  constexpr std::string_view whole = "a whole number from 0 to 2147483647";
  static_assert(max_id == 2147483647);
  const ColumnRules number{.unit = "-", .min = 0, .max = max_id, .range = whole};
  const ColumnRules name{.unit = "-"};
  const bool has_x = table.real("x", person.x[0], {.unit = "m"});
  const bool has_y = table.real("y", person.x[1], {.unit = "m"});
  table.integer("id", person.id, number);
  table.real("radius", person.radius,
             {.unit = "m", .min = 0.01, .max = 2, .range = "from 0.01 m to 2 m", .may_be_empty = true});
  table.real("speed", person.speed,
             {.unit = "m/s", .min = 0, .max = 20, .range = "from 0 m/s to 20 m/s", .may_be_empty = true});
  table.text("kind", row.names[PersonRow::kind], name);
  table.real("premovement", person.premovement,
             {.unit = "s", .min = 0, .range = "0 s or more", .may_be_empty = true});
  table.text("floor", row.names[PersonRow::floor], name);
  table.text("journey", row.names[PersonRow::journey], name);
  table.text("leaves_at", row.names[PersonRow::leaves_at], name);
  if (has_times) {
    const bool is_there = table.real("time", person.time, {.unit = "s", .min = 0, .range = "0 s or more"});
    if (table.has("group"))
      table.refuse("a column \"group\" is for [populations.NAME]: people of a source come one by one");
    table.refuse_others();
    if (!is_there) table.refuse("no column time: people of a source need the time when they come");
  } else {
    table.integer("group", person.together,
                  {.unit = "-", .min = 0, .max = max_id, .range = whole, .may_be_empty = true});
    if (table.has("time"))
      table.refuse(
          "a column \"time\" is for [sources.NAME]: people of [populations.NAME] are there at the start");
    table.refuse_others();
  }
  if (has_x != has_y || (!has_times && !has_x))
    table.refuse(fmt::format("no column {}; people need both x and y", has_x ? "y" : "x"));
}

/// Words of letters in a line, in lower case: "x/cm" has "x" and "cm".
std::vector<std::string> words_in(std::string_view line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper || (c >= 'a' && c <= 'z'))
      words.back() += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Length of one unit of the coordinates, as a line of the header says it: after x ("x/cm", "x [in m]",
/// "X (cm)"), or as "in cm"; 0: it does not.
Real unit_in(std::string_view header_line) {
  const std::vector<std::string> words = words_in(header_line);
  for (std::size_t k = 0; k + 1 < words.size(); ++k) {
    std::size_t unit = 0;
    if (words[k] == "x") unit = words[k + 1] == "in" && k + 2 < words.size() ? k + 2 : k + 1;
    if (words[k] == "in") unit = k + 1;
    if (unit == 0) continue;
    if (words[unit] == "m" || words[unit] == "meter" || words[unit] == "meters") return 1;
    if (words[unit] == "cm" || words[unit] == "centimeter" || words[unit] == "centimeters") return 0.01;
  }
  return 0;
}

/// The next word of a line, which is taken off it.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view blank = " \t\r,;";
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  const std::string_view word = line.substr(0, std::min(line.find_first_of(blank), line.size()));
  line.remove_prefix(word.size());
  return word;
}

/// A whole number, also one written as 12.0.
std::int64_t archive_number(std::string_view word, const char* what, const std::string& where) {
  Real value = -1;
  if (!parse(word, value) || !(value >= 0 && value <= static_cast<Real>(max_id)) ||
      value != std::floor(value))
    throw InputError(
        fmt::format("{}: {} '{}' is not a whole number from 0 to {}", where, what, word, max_id));
  return static_cast<std::int64_t>(value);
}

void each_text_row(const std::string& path, const std::function<void(std::int64_t, const Person&)>& f) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  Real unit = 0;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (is_comment(line)) {
      if (const Real said = unit_in(line); said != 0) unit = said;
      continue;
    }
    const std::string where = fmt::format("{}:{}", path, number);
    if (unit == 0)
      throw InputError(where +
                       ": no line before says whether coordinates are in m or cm: add the line "
                       "\"# id frame x/m y/m\", or with cm");
    std::string_view rest = line;
    Person person;
    person.id = archive_number(next_word(rest), "id", where);
    const std::int64_t frame = archive_number(next_word(rest), "frame", where);
    for (int k = 0; k < 2; ++k) {
      const std::string_view word = next_word(rest);
      if (!parse(word, person.x[k]) || !std::isfinite(person.x[k]))
        throw InputError(fmt::format("{}: '{}' is not a number ({}); rows are id, frame, x, y", where, word,
                                     k == 0 ? "x" : "y"));
      person.x[k] *= unit;
    }
    f(frame, person);
  }
}

}  // namespace

void read_person_table(const std::string& path, bool has_times, const TakePerson& take) {
  TableReader table =
      TableReader::of_file(path, "no header line: expected names of columns such as x,y,radius,speed");
  PersonRow row;
  bind_columns(table, has_times, row);
  while (table.next()) {
    row.person.row = table.line();
    take(row);
  }
}

void take_frame(const std::string& path, std::int64_t frame, const EachRow& each_row,
                const TakePerson& take) {
  std::int64_t first = -1, last = -1;
  if (frame < 0) {
    each_row([&](std::int64_t f, const Person&) { first = first < 0 ? f : std::min(first, f); });
    frame = first;
  }
  std::int64_t n_taken = 0;
  each_row([&](std::int64_t f, const Person& person) {
    first = first < 0 ? f : std::min(first, f);
    last = std::max(last, f);
    if (f != frame) return;
    PersonRow row{person, {}};
    row.person.row = ++n_taken;
    take(row);
  });
  if (n_taken > 0) return;
  if (last < 0) throw InputError(path + ": the trajectory has no row");
  throw InputError(
      fmt::format("{}: nobody is in frame {}: its frames go from {} to {}", path, frame, first, last));
}

void read_archive_text(const std::string& path, std::int64_t frame, const TakePerson& take) {
  take_frame(
      path, frame, [&](const auto& f) { each_text_row(path, f); }, take);
}

}  // namespace scree
