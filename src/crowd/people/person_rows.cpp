// Tables of people as text.
#include "crowd/people/person_rows.hpp"

#include <fmt/format.h>

#include "core/table_reader.hpp"

namespace scree {

namespace {

/// Asks for the columns of people, who are of a source if the table has times.
void bind_columns(TableReader& table, bool has_times, PersonRow& person) {
  constexpr std::string_view whole = "a whole number from 0 to 2147483647";
  static_assert(most_id == 2147483647);
  const ColumnRules number{.unit = "-", .least = 0, .most = most_id, .range = whole};
  const ColumnRules name{.unit = "-"};
  const bool has_x = table.real("x", person.x[0], {.unit = "m"});
  const bool has_y = table.real("y", person.x[1], {.unit = "m"});
  table.integer("id", person.id, number);
  table.real("radius", person.radius,
             {.unit = "m", .least = 0.01, .most = 2, .range = "from 0.01 m to 2 m", .may_be_empty = true});
  table.real("speed", person.speed,
             {.unit = "m/s", .least = 0, .most = 20, .range = "from 0 m/s to 20 m/s", .may_be_empty = true});
  table.text("kind", person.kind, name);
  table.real("premovement", person.premovement,
             {.unit = "s", .least = 0, .range = "0 s or more", .may_be_empty = true});
  table.text("floor", person.floor, name);
  table.text("journey", person.journey, name);
  table.text("leaves_at", person.leaves_at, name);
  if (has_times) {
    const bool is_there = table.real("time", person.time, {.unit = "s", .least = 0, .range = "0 s or more"});
    if (table.has("group"))
      table.refuse("a column \"group\" is for [populations.NAME]: people of a source come one by one");
    table.refuse_others();
    if (!is_there) table.refuse("no column time: people of a source need the time when they come");
  } else {
    table.integer("group", person.group,
                  {.unit = "-", .least = 0, .most = most_id, .range = whole, .may_be_empty = true});
    if (table.has("time"))
      table.refuse(
          "a column \"time\" is for [sources.NAME]: people of [populations.NAME] are there at the start");
    table.refuse_others();
  }
  if (has_x != has_y || (!has_times && !has_x))
    table.refuse(fmt::format("no column {}; people need both x and y", has_x ? "y" : "x"));
}

}  // namespace

void read_person_table(const std::string& path, bool has_times, const TakePerson& take) {
  TableReader table =
      TableReader::of_file(path, "no header line: expected names of columns such as x,y,radius,speed");
  PersonRow person;
  bind_columns(table, has_times, person);
  while (table.next()) {
    person.row = table.line();
    take(person);
  }
}

}  // namespace scree
