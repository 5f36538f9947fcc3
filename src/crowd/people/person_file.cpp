#include "crowd/people/person_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.hpp"
#include "core/file_checksum.hpp"
#include "core/input_crash.hpp"
#include "core/input_file.hpp"
#include "core/suggestion.hpp"
#include "io/pedestrian_archive.hpp"

namespace scree {

namespace {

/// take_frame() of a file with the layout of PedestrianArchive.
void read_archive_frame(const std::string& path, std::int64_t frame, const TakePerson& take) {
  const hdf5::File file(Comm(MPI_COMM_SELF), path, hdf5::Open::read);
  const std::int64_t n_rows = PedestrianArchive::n_rows_in(file);
  const bool has_levels = PedestrianArchive::has_levels_in(file);
  const auto each_row = [&](const auto& f) {
    constexpr std::int64_t at_once = 1 << 16;
    for (std::int64_t first = 0; first < n_rows; first += at_once)
      for (const TrajectoryRow& row :
           PedestrianArchive::read_rows(file, first, std::min(at_once, n_rows - first))) {
        Person person;
        person.x = {{row.x, row.y}};
        person.id = row.id;
        if (has_levels) person.level = static_cast<int>(row.level);
        if (!std::isfinite(row.x) || !std::isfinite(row.y))
          throw InputError(fmt::format("{}: person {} in frame {} has no place", path, row.id, row.frame));
        f(std::int64_t{row.frame}, person);
      }
  };
  take_frame(path, frame, each_row, take);
}

}  // namespace

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

/// Looks up the names of a row.
PersonFile::Meaning PersonFile::meaning_of(const PersonRow& row, const PersonNames& names) const {
  const std::string where = place(row.person.row);
  const auto name = [&](PersonRow::Name n) { return std::string(row.names[n]); };
  const std::string kind = name(PersonRow::kind), floor = name(PersonRow::floor),
                    journey = name(PersonRow::journey), leaves_at = name(PersonRow::leaves_at);
  Meaning meaning{.level = names.level, .journey = names.journey};
  if (!kind.empty()) meaning.kind = table_named("agents", kind, names.kinds, where);
  if (!floor.empty()) meaning.level = names.building.level_of(floor, where);
  if (!journey.empty()) meaning.journey = names.journey_plan.find(journey, where);
  if (!leaves_at.empty())
    meaning.journey = names.journey_plan.with_exit(
        meaning.journey, names.journey_plan.find_destination("exits", leaves_at, where), where);
  if (meaning.journey == journey_of_file)
    throw InputError(
        fmt::format("{}: which journey? Give a column journey, or journey in the deck at {}", where, where_));
  return meaning;
}

/// With the names that scan() met.
Person PersonFile::resolved(const PersonRow& row) const {
  const auto found = meanings_.find(row.names);
  if (found == meanings_.end())
    throw InputError(place(row.person.row) + ": the file has changed while it was read");
  Person person = row.person;
  person.kind = found->second.kind;
  person.journey = found->second.journey;
  if (person.level < 0) person.level = found->second.level;
  return person;
}

void PersonFile::count(const Person& person, const PersonNames& names) {
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
  n.has_groups = n.has_groups || person.together >= 0;
  if (!std::isnan(person.radius)) {
    n.largest_radius = std::max(n.largest_radius, person.radius);
    n.smallest_radius = std::min(n.smallest_radius, person.radius);
  }
  if (!std::isnan(person.speed)) n.fastest = std::max(n.fastest, person.speed);
  if (has_id)
    n.smallest_id = std::min(n.smallest_id, person.id), n.largest_id = std::max(n.largest_id, person.id);
  n.is_on_one_level = n.is_on_one_level && person.level == n.level;
}

void PersonFile::scan(const PersonNames& names) {
  numbers_ = {};
  read([&](const PersonRow& row) {
    if (!meanings_.contains(row.names)) {
      std::array<std::string, PersonRow::n_names> met;
      std::ranges::copy(row.names, met.begin());
      meanings_.emplace(std::move(met), meaning_of(row, names));
    }
    const Person person = resolved(row);
    if (person.level < 0)  // level_of_file
      throw InputError(fmt::format("{}: on which floor? Give a column floor, or floor in the deck at {}",
                                   place(person.row), where_));
    if (row.person.level >= names.building.n_levels())
      throw InputError(fmt::format("{}: level {}: the building has the levels 0 to {}", place(row.person.row),
                                   row.person.level, names.building.n_levels() - 1));
    count(person, names);
  });
  if (numbers_.count == 0) throw InputError(path_ + ": there is nobody in the file");
}

void PersonFile::for_each(const std::function<void(const Person&)>& f) const {
  read([&](const PersonRow& row) { f(resolved(row)); });
}

}  // namespace scree
