#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace scree {

/// Numbers of a checkpoint that ranks share by layers: those of this rank, one row of `width` per cell.
struct SharedRows {
  std::string name;
  std::int64_t n_rows = 0;  ///< of all ranks
  int width = 1;
  std::int64_t first_row = 0, count = 0;  ///< of this rank
  std::vector<std::int64_t> values{};
};

}  // namespace scree
