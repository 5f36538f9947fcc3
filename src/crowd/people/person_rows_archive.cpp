// People in a frame of a trajectory as scree writes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "crowd/people/person_frame.hpp"
#include "io/pedestrian_archive.hpp"

namespace scree {

void read_archive_frame(const std::string& path, std::int64_t frame, const TakePerson& take) {
  const hdf5::File file(Comm(MPI_COMM_SELF), path, hdf5::Open::read);
  const std::int64_t n_rows = PedestrianArchive::n_rows_in(file);
  const bool has_levels = PedestrianArchive::has_levels_in(file);
  const auto each_row = [&](const auto& f) {
    constexpr std::int64_t at_once = 1 << 16;
    for (std::int64_t first = 0; first < n_rows; first += at_once)
      for (const TrajectoryRow& row :
           PedestrianArchive::read_rows(file, first, std::min(at_once, n_rows - first))) {
        PersonRow person;
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

}  // namespace scree
