#pragma once
#include <span>
#include <string>
#include <vector>

#include "crowd/people/mixture.hpp"
#include "crowd/people/person_file.hpp"
#include "particles/fill.hpp"
#include "state/state.hpp"

namespace scree {

/// Somebody of a file who is there at the start.
struct ListedPerson {
  NewBody<2> body;
  Traits traits;
  std::int32_t level = 0;
  std::int32_t journey = -1;
  std::int32_t group = 0;   ///< as of bodies
  std::int32_t party = -1;  ///< the same
  std::int32_t table = 0;   ///< its file, by its place in ListedStart::files
  std::int64_t row = 0;     ///< there
};

/// Where people of files start. `people` hold, over ranks, everybody in the order of files and rows, an even
/// share on each rank. All collective; errors are InputErrors that name the first person, by id and place in
/// the file, and are the same on any number of ranks.
struct ListedStart {
  const State<2>& state;
  const BuildingPlan& building;
  std::span<const Exit> exits;
  std::span<const PersonFile* const> files;
  Real largest_radius = 0;    ///< of anybody [m]
  std::int64_t n_people = 0;  ///< on all ranks

  /// Throws if a centre is outside of the plan of its level, with the nearest wall.
  void require_inside(std::span<const ListedPerson> people) const;
  /// Moves people of files that separate() until they touch neither each other, nor others, nor walls.
  /// Reports the largest move; throws if it exceeds separate_limit() or if there is no room.
  void separate(std::vector<ListedPerson>& people) const;
  /// Throws if people overlap each other or a wall or a shut door by more than PersonFile::overlap_limit.
  void require_apart(std::span<const ListedPerson> people) const;

 private:
  std::string name(const ListedPerson& person) const;
  std::vector<Exit> shut_exits() const;
  void separate_on(int level, std::vector<ListedPerson>& people) const;
  void require_off_walls(std::span<const ListedPerson> people) const;
  void report_moves(std::span<const Vec<2>> before, std::span<const ListedPerson> people) const;
};

}  // namespace scree
