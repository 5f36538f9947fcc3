#include "crowd/people/person_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/file_checksum.hpp"
#include "core/input_crash.hpp"
#include "core/input_file.hpp"
#include "core/suggestion.hpp"

namespace scree {

void PersonFile::describe(Section& section, Use use) {
  use_ = use;
  section.text(
      "file", named_,
      {.doc = use == Use::start
                  ? "people one by one: a table (CSV) with columns x, y and any of id, radius, speed, kind, "
                    "premovement, floor, journey, leaves_at, group; or a trajectory (.h5, .txt). Instead of "
                    "count and density"
                  : "people one by one: a table (CSV) with columns time, x, y and any of id, radius, speed, "
                    "kind, premovement, floor, journey, leaves_at. Instead of schedule and rate"});
  if (use == Use::start) {
    section.integer("frame", frame_,
                    {.range = non_negative, .doc = "frame of a trajectory; not given: the first one"});
    section.boolean(
        "separate", separates_,
        {.doc = "whether people of the file who overlap are moved apart; false: they are an error"});
    section.real("separate_limit", separate_limit_,
                 {.unit = Unit::length, .range = positive, .doc = "farthest that separate may move anybody"});
  }
  if (!section.reading()) return describe_checksum(section, "file", named_);
  where_ = section.where("file");
  if (named_.empty()) {
    if (frame_ >= 0) section.fail("frame", "frame goes with a file that is a trajectory: give file");
    if (separates_) section.fail("separate", "only people from a file are moved apart: give file");
    return describe_checksum(section, "file", named_);
  }
  path_ = path_of_input(named_, where_);
  if (const std::string why = obstacle_to_read(path_); !why.empty())
    section.fail("file", fmt::format("'{}' is not there or cannot be opened: {}", named_, why));
  describe_checksum(section, "file", named_);
  const std::string ending = std::filesystem::path(path_).extension().string();
  format_ = ending == ".h5" || ending == ".hdf5" ? Format::archive
            : ending == ".txt"                   ? Format::archive_text
                                                 : Format::table;
  if (format_ == Format::table && frame_ >= 0)
    section.fail("frame",
                 fmt::format("frame is for trajectories (.h5, .txt): '{}' is read as a table", named_));
  if (format_ != Format::table && use == Use::arrivals)
    section.fail("file", "a source needs a table (.csv) with a column time, not a trajectory");
}

void PersonFile::read(const TakePerson& take) const {
  switch (format_) {
    case Format::table:
      return read_person_table(path_, use_ == Use::arrivals, take);
    case Format::archive_text:
      return read_archive_text(path_, frame_, take);
    case Format::archive: {
      const InputCrashGuard guard(path_, true);
      return read_archive_frame(path_, frame_, take);
    }
  }
}

std::string PersonFile::place(std::int64_t row) const {
  return format_ == Format::table ? fmt::format("{}:{}", path_, row)
                                  : fmt::format("{}: row {} of its frame", path_, row);
}

/// Looks up the names of a row that are new.
void PersonFile::learn(const PersonRow& row, const PersonNames& names) {
  const std::string where = place(row.row);
  const auto look_up = [&](auto& of, std::string_view name, const auto& find) {
    if (!name.empty() && !of.contains(name)) of.emplace(name, find(std::string(name)));
  };
  look_up(kind_of_, row.kind, [&](const std::string& name) {
    const auto found = std::ranges::find(names.kinds, name);
    if (found == names.kinds.end())
      throw InputError(where + ": " + no_such_table("agents", name, names.kinds));
    return static_cast<int>(found - names.kinds.begin());
  });
  look_up(level_of_, row.floor,
          [&](const std::string& name) { return names.building.level_of(name, where); });
  look_up(journey_of_, row.journey,
          [&](const std::string& name) { return names.journeys.find(name, where); });
  look_up(exit_of_, row.leaves_at,
          [&](const std::string& name) { return names.journeys.find_destination("exits", name, where); });
  if (!row.leaves_at.empty()) {
    const int before = row.journey.empty() ? journey_ : journey_of_.find(row.journey)->second;
    const int exit = exit_of_.find(row.leaves_at)->second;
    if (!way_of_.contains({before, exit}))
      way_of_.emplace(std::pair(before, exit), names.journeys.with_exit(before, exit, where));
  }
  if (row.journey.empty() && row.leaves_at.empty() && journey_ == has_to_tell_journey)
    throw InputError(
        fmt::format("{}: which journey? Give a column journey, or journey in the deck at {}", where, where_));
  if (row.floor.empty() && level_ == has_to_tell_level && row.level < 0)
    throw InputError(
        fmt::format("{}: on which floor? Give a column floor, or floor in the deck at {}", where, where_));
  if (row.level >= names.building.n_levels())
    throw InputError(fmt::format("{}: level {}: the building has the levels 0 to {}", where, row.level,
                                 names.building.n_levels() - 1));
}

/// With the names that learn() knows.
FilePerson PersonFile::resolved(const PersonRow& row) const {
  FilePerson person{.row = row.row,
                    .x = row.x,
                    .id = row.id,
                    .radius = row.radius,
                    .speed = row.speed,
                    .premovement = row.premovement,
                    .time = row.time,
                    .level = row.level >= 0 ? row.level : level_,
                    .journey = journey_,
                    .group = row.group};
  const auto stands_for = [&](const auto& of, const auto& name) {
    const auto found = of.find(name);
    if (found == of.end()) throw InputError(place(row.row) + ": the file has changed while it was read");
    return found->second;
  };
  if (!row.kind.empty()) person.kind = stands_for(kind_of_, row.kind);
  if (!row.floor.empty()) person.level = stands_for(level_of_, row.floor);
  if (!row.journey.empty()) person.journey = stands_for(journey_of_, row.journey);
  if (!row.leaves_at.empty())
    person.journey = stands_for(way_of_, std::pair(person.journey, stands_for(exit_of_, row.leaves_at)));
  return person;
}

void PersonFile::count(const FilePerson& person, const PersonNames& names) {
  constexpr Real far = 1000;  // [m]
  for (int k = 0; k < 2; ++k) {
    if (!(std::abs(person.x[k]) > far)) continue;
    const Box<2> plan = names.building.bounds();
    if (person.x[k] < plan.lower[k] || person.x[k] > plan.upper[k])
      throw InputError(fmt::format(
          "{}: {} = {:g} m, but the plan goes from {:g} to {:g} m: centimetres? Coordinates are read in m",
          place(person.row), "xy"[k], person.x[k], plan.lower[k], plan.upper[k]));
  }
  Numbers& n = numbers_;
  const bool has_id = person.id >= 0, has_place = std::isfinite(person.x[0]);
  if (n.count == 0) n.has_ids = has_id, n.has_places = has_place, n.level = person.level;
  ++n.count;
  n.has_groups = n.has_groups || person.group >= 0;
  if (!std::isnan(person.radius)) n.largest_radius = std::max(n.largest_radius, person.radius);
  if (!std::isnan(person.speed)) n.fastest = std::max(n.fastest, person.speed);
  if (has_id)
    n.least_id = std::min(n.least_id, person.id), n.greatest_id = std::max(n.greatest_id, person.id);
  n.is_on_one_level = n.is_on_one_level && person.level == n.level;
}

void PersonFile::scan(const PersonNames& names) {
  level_ = names.level;
  journey_ = names.journey;
  numbers_ = {};
  read([&](const PersonRow& row) {
    learn(row, names);
    count(resolved(row), names);
  });
  if (numbers_.count == 0) throw InputError(path_ + ": there is nobody in the file");
}

void PersonFile::for_each(const std::function<void(const FilePerson&)>& f) const {
  read([&](const PersonRow& row) { f(resolved(row)); });
}

}  // namespace scree
