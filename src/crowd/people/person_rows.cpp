// Tables of people as text.
#include "crowd/people/person_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/input_file.hpp"
#include "core/suggestion.hpp"

namespace scree {

namespace {

enum class PersonField { x, y, id, radius, speed, kind, premovement, floor, journey, leaves_at, group, time };

struct FieldName {
  std::string_view name, unit;
  PersonField column;
};
constexpr FieldName column_names[] = {{"x", "m", PersonField::x},
                                      {"y", "m", PersonField::y},
                                      {"id", "-", PersonField::id},
                                      {"radius", "m", PersonField::radius},
                                      {"speed", "m/s", PersonField::speed},
                                      {"kind", "-", PersonField::kind},
                                      {"premovement", "s", PersonField::premovement},
                                      {"floor", "-", PersonField::floor},
                                      {"journey", "-", PersonField::journey},
                                      {"leaves_at", "-", PersonField::leaves_at},
                                      {"group", "-", PersonField::group},
                                      {"time", "s", PersonField::time}};

std::string_view without_quotes(std::string_view field) {
  return field.size() >= 2 && field.front() == '"' && field.back() == '"' ? field.substr(1, field.size() - 2)
                                                                          : field;
}

/// The columns of a header line at `where`.
std::vector<PersonField> columns_of(std::string_view header, const std::string& where, bool has_times) {
  std::vector<PersonField> columns;
  for (const std::string_view field : fields_of(header)) {
    std::string_view name = without_quotes(field), unit;
    if (const auto bracket = name.find('['); bracket != name.npos && name.ends_with(']')) {
      unit = name.substr(bracket + 1, name.size() - bracket - 2);
      name = trimmed(name.substr(0, bracket));
    }
    const auto* found = std::ranges::find(column_names, name, &FieldName::name);
    if (found == std::end(column_names)) {
      std::vector<std::string> known;
      for (const FieldName& column : column_names)
        if (column.column != (has_times ? PersonField::group : PersonField::time))
          known.emplace_back(column.name);
      throw InputError(fmt::format("{}: there is no column \"{}\"{}; valid: {}", where, name,
                                   suggestion(name, known), fmt::join(known, ", ")));
    }
    if (found->column == PersonField::time && !has_times)
      throw InputError(
          where +
          ": a column \"time\" is for [sources.NAME]: people of [populations.NAME] are there at the start");
    if (found->column == PersonField::group && has_times)
      throw InputError(where +
                       ": a column \"group\" is for [populations.NAME]: people of a source come one by one");
    if (!unit.empty() && unit != found->unit)
      throw InputError(
          fmt::format("{}: the column {} is in {}, but is read in {}", where, name, unit, found->unit));
    if (std::ranges::count(columns, found->column) > 0)
      throw InputError(fmt::format("{}: two columns are called {}", where, name));
    columns.push_back(found->column);
  }
  const auto has = [&](PersonField column) { return std::ranges::count(columns, column) > 0; };
  if (has(PersonField::x) != has(PersonField::y) || (!has_times && !has(PersonField::x)))
    throw InputError(
        fmt::format("{}: no column {}; people need both x and y", where, has(PersonField::x) ? "y" : "x"));
  if (has_times && !has(PersonField::time))
    throw InputError(where + ": no column time: people of a source need the time when they come");
  return columns;
}

struct Limits {
  Real least, most;
  const char* words;
};

Real number_in(std::string_view field, std::string_view column, const Limits& limits,
               const std::string& where) {
  Real value = 0;
  if (!parse(field, value) || !std::isfinite(value))
    throw InputError(fmt::format("{}: '{}' is not a number ({})", where, field, column));
  if (value < limits.least || value > limits.most)
    throw InputError(fmt::format("{}: {} = {:g} is not {}", where, column, value, limits.words));
  return value;
}

GlobalId id_in(std::string_view field, std::string_view column, const std::string& where) {
  GlobalId id = 0;
  if (!parse(field, id) || id < 0 || id > most_id)
    throw InputError(
        fmt::format("{}: {} '{}' is not a whole number from 0 to {}", where, column, field, most_id));
  return id;
}

void take_field(PersonField column, std::string_view field, const std::string& where, PersonRow& person) {
  constexpr Limits anywhere{-HUGE_VAL, HUGE_VAL, ""}, moment{0, HUGE_VAL, "0 s or more"};
  switch (column) {
    case PersonField::x:
      person.x[0] = number_in(field, "x", anywhere, where);
      break;
    case PersonField::y:
      person.x[1] = number_in(field, "y", anywhere, where);
      break;
    case PersonField::id:
      person.id = id_in(field, "id", where);
      break;
    case PersonField::radius:
      person.radius = number_in(field, "radius", {0.01, 2, "from 0.01 m to 2 m"}, where);
      break;
    case PersonField::speed:
      person.speed = number_in(field, "speed", {0, 20, "from 0 m/s to 20 m/s"}, where);
      break;
    case PersonField::premovement:
      person.premovement = number_in(field, "premovement", moment, where);
      break;
    case PersonField::time:
      person.time = number_in(field, "time", moment, where);
      break;
    case PersonField::kind:
      person.kind = field;
      break;
    case PersonField::floor:
      person.floor = field;
      break;
    case PersonField::journey:
      person.journey = field;
      break;
    case PersonField::leaves_at:
      person.leaves_at = field;
      break;
    case PersonField::group:
      person.group = id_in(field, "group", where);
      break;
  }
}

}  // namespace

void read_person_table(const std::string& path, bool has_times, const TakePerson& take) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::vector<PersonField> columns;
  std::int64_t number = 0;
  while (std::getline(file, line)) {
    ++number;
    std::string_view text = line;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (number == 1 && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    if (is_comment(text)) continue;
    const auto where = [&] { return fmt::format("{}:{}", path, number); };
    if (columns.empty()) {
      columns = columns_of(text, where(), has_times);
      continue;
    }
    const std::vector<std::string_view> fields = fields_of(text);
    if (fields.size() != columns.size())
      throw InputError(fmt::format("{}: {} values, but the header names {} columns", where(), fields.size(),
                                   columns.size()));
    PersonRow person;
    person.row = number;
    // An empty field says nothing, but places and times are needed.
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (!fields[k].empty() || columns[k] == PersonField::x || columns[k] == PersonField::y ||
          columns[k] == PersonField::id || columns[k] == PersonField::time)
        take_field(columns[k], without_quotes(fields[k]), where(), person);
    take(person);
  }
  if (columns.empty())
    throw InputError(path + ": no header line: expected names of columns such as x,y,radius,speed");
}

}  // namespace scree
