#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "core/sparse_all_to_all.hpp"
#include "particles/file_rows.hpp"

namespace scree {

std::vector<GlobalId> numbers_by_id(const Comm& comm, const std::string& path, std::span<const GlobalId> ids,
                                    bool& renumbered) {
  struct Named {
    GlobalId id;
    int rank;
    Index row;
  };
  const std::size_t size = comm.size();
  // Ranges of ids that hold about as many each: from as many samples of each rank as there are ranks.
  std::vector<GlobalId> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  std::vector<GlobalId> samples(size, std::numeric_limits<GlobalId>::max()), all(size * size);
  for (std::size_t k = 0; k < size && !sorted.empty(); ++k) samples[k] = sorted[k * sorted.size() / size];
  // NOLINTNEXTLINE(mpi-type-mismatch): std::int64_t is long here
  MPI_Allgather(samples.data(), comm.size(), MPI_INT64_T, all.data(), comm.size(), MPI_INT64_T,
                comm.handle());
  std::ranges::sort(all);
  std::vector<GlobalId> limits;
  for (std::size_t k = 1; k < size; ++k) limits.push_back(all[k * size]);

  std::vector<Named> named(ids.size());
  std::vector<int> owner(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    named[i] = {ids[i], comm.rank(), static_cast<Index>(i)};
    owner[i] = static_cast<int>(std::ranges::upper_bound(limits, ids[i]) - limits.begin());
  }
  std::vector<Named> mine = exchange_values<Named>(comm, named, owner);
  std::ranges::sort(mine, {}, &Named::id);
  share_errors(comm, [&] {
    const auto twice = std::ranges::adjacent_find(mine, {}, &Named::id);
    if (twice != mine.end()) throw InputError(fmt::format("{}: two bodies have the id {}", path, twice->id));
  });
  const std::int64_t first = comm.sum_before(static_cast<std::int64_t>(mine.size()));
  bool differs = false;
  std::vector<int> home(mine.size());
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const GlobalId number = first + static_cast<GlobalId>(k);
    differs = differs || mine[k].id != number;
    mine[k].id = number;
    home[k] = mine[k].rank;
  }
  renumbered = comm.any(differs);
  std::vector<GlobalId> numbers(ids.size());
  for (const Named& back : exchange_values<Named>(comm, mine, home)) numbers[back.row] = back.id;
  return numbers;
}

}  // namespace scree
