#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/journey_plan.hpp"
#include "crowd/people/person_rows.hpp"
#include "crowd/plan/building_plan.hpp"

namespace scree {

/// What the names of a file stand for, and the level and journey of people of whom it does not say them.
struct PersonNames {
  std::vector<std::string> kinds;
  const BuildingPlan& building;
  JourneyPlan& journey_plan;
  int level = 0;     ///< or PersonFile::level_of_file
  int journey = -1;  ///< or PersonFile::journey_of_file
};

/// People from a file: [populations.NAME] and [sources.NAME] file. A table (read_person_table), or, for the
/// start, a frame of a trajectory: of a text (.txt, read_archive_text) or an HDF5 file with the layout of
/// PedestrianArchive (.h5, .hdf5). Every rank reads the file by itself, each time that it is asked for, and
/// keeps none of its people.
class PersonFile {
 public:
  enum class Use { start, arrivals };
  /// Overlap of people from files that is taken for rounding of the file, as a share of the smaller radius.
  static constexpr Real overlap_limit = 0.005;
  /// Levels and journeys of people of whom only the file can say them.
  static constexpr int level_of_file = -1, journey_of_file = -2;

  /// Declares and reads file and, for the start, frame, separate and separate_limit. Local.
  void describe(Section& section, Use use);
  bool is_given() const { return !named_.empty(); }
  /// Reads all of the file once, for what follows. Throws InputError with file and line: it cannot be read,
  /// a column or name is unknown, a value is out of range. Local, alike on all ranks; O(file).
  void scan(const PersonNames& names);
  /// Calls f for each person, in the order of the file. After scan(). Throws InputError. Local; O(file).
  void for_each(const std::function<void(const Person&)>& f) const;

  struct Numbers {
    std::int64_t count = 0;
    Real largest_radius = 0;  ///< 0: none is given
    Real smallest_radius = HUGE_VAL;
    Real fastest = 0;  ///< the same
    bool has_ids = false, has_places = false, has_groups = false;
    GlobalId smallest_id = max_id, largest_id = -1;
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
  /// What the names of a row stand for; kind -1: none is given.
  struct Meaning {
    std::int32_t kind = -1;
    int level = 0, journey = -1;
  };
  struct Before {                 // also of std::string_view
    using is_transparent = void;  // NOLINT(readability-identifier-naming)
    bool operator()(const auto& a, const auto& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  void read(const TakePerson& take) const;
  Meaning meaning_of(const PersonRow& row, const PersonNames& names) const;
  Person resolved(const PersonRow& row) const;
  void count(const Person& person, const PersonNames& names);

  Use use_ = Use::start;
  std::string named_, where_, path_;
  Format format_ = Format::table;
  std::int64_t frame_ = -1;  // -1: the first one
  bool separates_ = false;
  Real separate_limit_ = 0.5;
  Numbers numbers_;
  std::map<std::array<std::string, PersonRow::n_names>, Meaning, Before> meanings_;  // of names in rows
};

}  // namespace scree
