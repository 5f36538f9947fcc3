#include "io/compare/differences.hpp"

namespace scree::detail {

void add_to(FieldDifference& verdict, const Comm& comm, const RowDifferences& found,
            std::int64_t reported_step, std::int64_t first_row, const std::vector<GlobalId>& ids,
            const Moment& moment) {
  const std::int64_t n_different = comm.sum(found.n_different);
  if (n_different == 0) return;
  const Real largest = comm.max(found.largest);
  const std::int64_t row = comm.min(found.largest == largest ? found.row : no_row);
  const auto id_in = [&](std::int64_t place) {
    const bool mine = place >= first_row && place - first_row < static_cast<std::int64_t>(ids.size());
    return comm.max(mine ? ids[place - first_row] : std::int64_t{-1});
  };
  const std::int64_t id = id_in(row);
  const bool is_first = verdict.n_different == 0;
  verdict.equal = false;
  if (!verdict.first) {
    FirstDifference& it = verdict.first.emplace();
    it.step = moment.step;
    it.time = moment.time;
    it.row = comm.min(found.first_row);
    it.id = id_in(it.row);
    const bool mine = found.first_row == it.row;
    const auto owner = static_cast<int>(comm.max(std::int64_t{mine ? comm.rank() : -1}));
    it.component = comm.max(mine ? found.first_component : -1);
    it.ulps = comm.max(mine ? found.first_ulps : -1);
    it.first = mine ? found.first_a : "";
    it.second = mine ? found.first_b : "";
    comm.broadcast(it.first, owner);
    comm.broadcast(it.second, owner);
  }
  verdict.n_different += n_different;
  if (!is_first && largest <= verdict.largest) return;
  verdict.largest = largest;
  verdict.step = reported_step;
  verdict.row = row;
  verdict.id = id;
}

FieldDifference only_in(const char* which, const std::string& name, const std::string& unit) {
  FieldDifference verdict{name, unit};
  add_remark(verdict, fmt::format("only in the {}", which));
  return verdict;
}

}  // namespace scree::detail
