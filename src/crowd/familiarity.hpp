#pragma once
#include <string>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// What people of a kind know of the building, and whom they follow: keys of [agents.NAME].
struct Familiarity {
  std::vector<std::string> knows;  ///< names of exits; empty: all
  Real notices = 0;                ///< unknown exits this near along the route count as well [m]
  std::string where_notices;       ///< its place in the deck
  std::string follows;             ///< name of the kind of leaders; empty: nobody
  Real follow_reach = 10;          ///< leaders farther away are not followed [m]

  // Found from the names.
  std::vector<char> is_known;  ///< by exit; empty: all are
  int leaders = -1;            ///< their kind

  /// Whether an exit counts for somebody whose route to it takes `travel_time` at 1 m/s.
  bool counts(int exit, Real travel_time) const {
    return is_known.empty() || is_known[exit] != 0 || travel_time <= notices;
  }
};

}  // namespace scree
