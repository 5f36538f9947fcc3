#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/types.hpp"

namespace scree {

/// What a file says of one person. Numbers that it does not give are NaN, ids and levels -1, names empty.
struct PersonRow {
  std::int64_t row = 0;  ///< line of a text, place in the frame of a trajectory, for messages
  Vec<2> x{{NAN, NAN}};  ///< [m]
  GlobalId id = -1;
  Real radius = NAN;                                 ///< [m]
  Real speed = NAN;                                  ///< desired [m/s]
  Real premovement = NAN;                            ///< [s]
  Real time = NAN;                                   ///< when it comes [s]
  int level = -1;                                    ///< number of a level, in trajectories
  std::int64_t group = -1;                           ///< those of one number walk together
  std::string_view kind, floor, journey, leaves_at;  ///< valid during the call
};
/// Ids of people in files: 31 bits.
inline constexpr GlobalId most_id = 0x7fffffff;
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
/// The same of a file with the layout of PedestrianArchive.
void read_archive_frame(const std::string& path, std::int64_t frame, const TakePerson& take);

}  // namespace scree
