#pragma once
#include <span>
#include <string>
#include <vector>

#include "crowd/people/person_file.hpp"
#include "particles/initial_packing.hpp"
#include "state/state.hpp"

namespace scree {

/// Where people of files start. `people` hold, over ranks, everybody in the order of files and rows, an even
/// share on each rank. All collective; errors are InputErrors that name the first person, by id and place in
/// the file, and are the same on any number of ranks.
struct ListedStart {
  const State<2>& state;
  const BuildingPlan& building;
  std::span<const Exit> exits;
  std::span<const PersonFile* const> files;  ///< by population
  Real largest_radius = 0;                   ///< of anybody [m]
  std::int64_t n_people = 0;                 ///< on all ranks

  /// Throws if a centre is outside of the plan of its level, with the nearest wall.
  void require_inside(std::span<const Person> people) const;
  /// Moves people of files that separate() until they touch neither each other, nor others, nor walls.
  /// Reports the largest move; throws if it exceeds separate_limit() or if there is no room.
  void separate(std::vector<Person>& people) const;
  /// Throws if people overlap each other or a wall or a shut door by more than PersonFile::overlap_limit.
  void require_apart(std::span<const Person> people) const;

 private:
  const PersonFile& file_of(const Person& person) const { return *files[person.body_type]; }
  struct Fault;
  std::string name(const Person& person) const;
  std::vector<Exit> shut_exits() const;
  void separate_on(int level, std::vector<Person>& people) const;
  std::int64_t find_overlaps(int level, std::span<const Person> people, Fault& fault) const;
  void require_off_walls(std::span<const Person> people) const;
  void report_moves(std::span<const Vec<2>> before, std::span<const Person> people) const;
};

}  // namespace scree
