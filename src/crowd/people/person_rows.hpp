#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/types.hpp"

namespace scree {

/// Somebody who comes into a run: what a file says of them, then also what is drawn. Numbers that nobody has
/// said yet are NaN; ids, kinds, levels and journeys -1.
struct Person {
  std::int64_t row = 0;  ///< line of a text, place in the frame of a trajectory, for messages
  GlobalId id = -1;
  Vec<2> x{{NAN, NAN}};        ///< [m]
  Real radius = NAN;           ///< [m]
  Real speed = NAN;            ///< desired [m/s]
  Real premovement = NAN;      ///< time before they walk [s]
  Real time = NAN;             ///< when they come from a source [s]
  std::int64_t together = -1;  ///< those of one number walk together; -1: alone
  std::int32_t kind = -1;      ///< which [agents.NAME]
  std::int32_t level = -1;     ///< of the building
  std::int32_t journey = -1;
  std::int32_t body_type = 0;  ///< its population or source
};

/// What a file says of one person, with names that are to be looked up; empty: not given.
struct PersonRow {
  enum Name : std::uint8_t { kind, floor, journey, leaves_at, n_names };
  Person person;
  std::array<std::string_view, n_names> names;  ///< valid during the call
};
/// Ids of people in files: 31 bits.
inline constexpr GlobalId max_id = 0x7fffffff;
using TakePerson = std::function<void(const PersonRow&)>;

/// Calls take(row) for each person of a CSV file with a header: x, y and any of id, radius, speed, kind,
/// premovement, floor, journey, leaves_at, group (refused with `has_times`), and with `has_times` time, which
/// is then required, while x and y go together but need not be there. A name may carry its unit: x[m]. Lines
/// that are empty or begin with # do not count. Throws InputError with file and line: an unknown or doubled
/// column, a field that is not a number, a value that nobody has. Local; O(file), one line in memory.
void read_person_table(const std::string& path, bool has_times, const TakePerson& take);

/// The same for the people in one frame of a trajectory: `frame`, or the first one of the file if it is -1.
/// Text: rows of id, frame, x, y (, z), in metres or centimetres as lines of its header say, which begin with
/// #. Throws InputError naming the frames that there are if nobody is in this one. Local; O(file).
void read_archive_text(const std::string& path, std::int64_t frame, const TakePerson& take);
/// The same of any trajectory. `each_row` calls what it is given with frame and person of each row.
using EachRow = std::function<void(const std::function<void(std::int64_t, const Person&)>&)>;
void take_frame(const std::string& path, std::int64_t frame, const EachRow& each_row, const TakePerson& take);

}  // namespace scree
