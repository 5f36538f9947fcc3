#include "friction/lane_groups.hpp"

#include <algorithm>

namespace scree {

void LaneGroups::begin(Index none) {
  none_ = none;
  place_.clear();
  stretch_first_.assign(1, 0);
  n_in_.clear();
  first_open_ = 0;
  first_group_.assign(static_cast<std::size_t>(none) + 1, 0);
}

}  // namespace scree
