#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/section.hpp"
#include "crowd/journeys.hpp"
#include "crowd/people/person_rows.hpp"
#include "crowd/plan/building_plan.hpp"

namespace scree {

/// Somebody of a file, with what its names stand for.
struct FilePerson {
  std::int64_t row = 0;  ///< for PersonFile::place()
  Vec<2> x{};            ///< [m]; NaN: not given
  GlobalId id = -1;      ///< -1: not given
  Real radius = NAN;     ///< [m]; NaN: not given, as the next three
  Real speed = NAN;      ///< desired [m/s]
  Real premovement = NAN;
  Real time = NAN;
  std::int32_t kind = -1;  ///< -1: not given
  int level = 0;
  int journey = -1;
  std::int64_t group = -1;  ///< of those who walk together; -1: alone
};

/// What the names of a file stand for, and the level and journey of people of whom it does not tell.
struct PersonNames {
  std::vector<std::string> kinds;
  const BuildingPlan& building;
  Journeys& journeys;
  int level = 0;     ///< or PersonFile::has_to_tell_level
  int journey = -1;  ///< or PersonFile::has_to_tell_journey
};

/// People from a file: [populations.NAME] and [sources.NAME] file. A table (read_person_table), or, for the
/// start, a frame of a trajectory: of a text (.txt, read_archive_text) or an HDF5 file (.h5, .hdf5,
/// read_archive_frame). Every rank reads the file by itself, each time that it is asked for, and keeps none
/// of its people.
class PersonFile {
 public:
  enum class Use { start, arrivals };
  /// Overlap of people from files that is taken for rounding of the file, as a share of the smaller radius.
  static constexpr Real overlap_limit = 0.005;
  /// Levels and journeys of people of whom only the file can tell.
  static constexpr int has_to_tell_level = -1, has_to_tell_journey = -2;

  /// Declares and reads file and, for the start, frame, separate and separate_limit. Local.
  void describe(Section& section, Use use);
  bool is_given() const { return !named_.empty(); }
  /// Reads all of the file once, for what follows. Throws InputError with file and line: it cannot be read,
  /// a column or name is unknown, a value is out of range. Local, alike on all ranks; O(file).
  void scan(const PersonNames& names);
  /// Calls f for each person, in the order of the file. After scan(). Throws InputError. Local; O(file).
  void for_each(const std::function<void(const FilePerson&)>& f) const;

  struct Numbers {
    std::int64_t count = 0;
    Real largest_radius = 0;  ///< 0: none is given
    Real smallest_radius = HUGE_VAL;
    Real fastest = 0;  ///< the same
    bool has_ids = false, has_places = false, has_groups = false;
    GlobalId least_id = most_id, greatest_id = -1;
    bool is_on_one_level = true;
    int level = 0;  ///< of the first one
  };
  const Numbers& numbers() const { return numbers_; }
  /// The place of a row, for messages: "start.csv:12".
  std::string place(std::int64_t row) const;
  /// Of the key `file` in the deck.
  const std::string& where() const { return where_; }
  const std::string& path() const { return path_; }
  bool separates() const { return separates_; }
  Real separate_limit() const { return separate_limit_; }  ///< farthest that anybody may be moved [m]

 private:
  enum class Format { table, archive_text, archive };

  void read(const TakePerson& take) const;
  FilePerson resolved(const PersonRow& row) const;
  void learn(const PersonRow& row, const PersonNames& names);
  void count(const FilePerson& person, const PersonNames& names);

  Use use_ = Use::start;
  std::string named_, where_, path_;
  Format format_ = Format::table;
  std::int64_t frame_ = -1;  // -1: the first one
  bool separates_ = false;
  Real separate_limit_ = 0.5;
  Numbers numbers_;
  int level_ = 0, journey_ = -1;  // of people of whom the file does not tell
  std::map<std::string, int, std::less<>> kind_of_, level_of_, journey_of_, exit_of_;
  std::map<std::pair<int, int>, int> way_of_;  // by journey and exit: the journey that leads there
};

}  // namespace scree
