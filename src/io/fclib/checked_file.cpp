#include "io/fclib/checked_file.hpp"

#include <algorithm>

#include "io/fclib_layout.hpp"

namespace scree::fclib {

using hdf5::Content;

namespace {
std::string name_of(Content content) {
  switch (content) {
    case Content::integers:
      return "integers";
    case Content::reals:
      return "reals";
    case Content::text:
      return "text";
    default:
      return "no numbers";
  }
}
}  // namespace

hdf5::ObjectInfo CheckedFile::require(const std::string& name, Content content) const {
  hdf5::ObjectInfo found = file_.find(name);
  if (found.content == Content::nothing) refuse(name + " is missing");
  if (found.content != content)
    refuse(fmt::format("{} holds {}, not {}", name, name_of(found.content), name_of(content)));
  return found;
}

/// Places `range` of an array of indices below n.
std::vector<std::int64_t> CheckedFile::indices(const std::string& name, const Range& range,
                                               std::int64_t n) const {
  std::vector<std::int64_t> values = read<std::int64_t>(name, range);
  const auto at = [&](std::int64_t place) { return values[range.at(place)]; };
  refuse_first(
      range, [&](std::int64_t place) { return at(place) < 0 || at(place) >= n; },
      [&](std::int64_t place) {
        return fmt::format("{}[{}] is {}, but indices go from 0 to {}", name, place, at(place), n - 1);
      });
  return values;
}

/// Where the `lists` of this rank start in the arrays of entries, and where the last of them ends.
std::vector<std::int64_t> CheckedFile::pointers(const std::string& name, const Range& lists,
                                                std::int64_t n_lists, std::int64_t n_entries) const {
  const std::int64_t found = length(name, Content::integers);
  if (found != n_lists + 1)
    refuse(
        fmt::format("{} has {} numbers, not {} for {} rows or columns", name, found, n_lists + 1, n_lists));
  const Range range{lists.first, lists.last + 1};
  std::vector<std::int64_t> values = read<std::int64_t>(name, range);
  const auto at = [&](std::int64_t place) { return values[range.at(place)]; };
  // The first one is the last one of the rank before.
  const Range own{range.first == 0 ? 0 : range.first + 1, range.last};
  refuse_first(
      own,
      [&](std::int64_t place) {
        return place == 0 ? at(0) != 0 : at(place) < at(place - 1) || at(place) > n_entries;
      },
      [&](std::int64_t place) {
        if (place == 0) return fmt::format("{}[0] is {}, not 0", name, at(0));
        if (at(place) < at(place - 1))
          return fmt::format("{}[{}] is {}, less than the {} before it", name, place, at(place),
                             at(place - 1));
        return fmt::format("{}[{}] is {}, but there are {} entries", name, place, at(place), n_entries);
      });
  return values;
}

/// Triplets are dealt out by entries, the compressed storages by rows or columns.
SparseShare CheckedFile::matrix(const std::string& name) const {
  SparseShare share;
  share.n_rows = integer(name + "/m");
  share.n_columns = integer(name + "/n");
  const std::int64_t nzmax = integer(name + "/nzmax");
  const std::int64_t nz = integer(name + "/nz");
  if (share.n_rows < 0) refuse(fmt::format("{}/m is {}, negative", name, share.n_rows));
  if (share.n_columns < 0) refuse(fmt::format("{}/n is {}, negative", name, share.n_columns));
  if (nz < fclib_layout::compressed_rows)
    refuse(
        fmt::format("{}/nz is {}: neither a number of triplets, nor -1 (compressed columns), nor -2 "
                    "(compressed rows)",
                    name, nz));
  const std::int64_t n_entries = length(name + "/x", Content::reals);
  const auto require_entries = [&](const std::string& array, std::int64_t found) {
    if (found != n_entries)
      refuse(fmt::format("{} has {} numbers, but {}/x has {}", array, found, name, n_entries));
  };
  require_entries(name + "/i", length(name + "/i", Content::integers));
  // fclib writes nz triplets or nzmax compressed entries; files of others may keep room in triplets as well.
  const auto require_count = [&](std::int64_t count) {
    if (n_entries < count || n_entries > std::max(count, nzmax))
      refuse(fmt::format("{0}/x has {1} numbers for {2} entries ({0}/nzmax is {3})", name, n_entries, count,
                         nzmax));
  };

  if (nz >= 0) {
    require_entries(name + "/p", length(name + "/p", Content::integers));
    require_count(nz);
    const EvenShare range(comm_, nz);
    share.row = indices(name + "/i", range, share.n_rows);
    share.column = indices(name + "/p", range, share.n_columns);
    share.value = read<Real>(name + "/x", range);
    return share;
  }
  const bool by_rows = nz == fclib_layout::compressed_rows;
  const std::int64_t n_lists = by_rows ? share.n_rows : share.n_columns;
  const EvenShare lists(comm_, n_lists);
  const std::vector<std::int64_t> start = pointers(name + "/p", lists, n_lists, n_entries);
  require_count(comm_.max(start.back()));
  const Range range{start.front(), start.back()};
  std::vector<std::int64_t>& inner = by_rows ? share.column : share.row;
  std::vector<std::int64_t>& outer = by_rows ? share.row : share.column;
  inner = indices(name + "/i", range, by_rows ? share.n_columns : share.n_rows);
  share.value = read<Real>(name + "/x", range);
  outer.reserve(inner.size());
  for (std::size_t k = 0; k + 1 < start.size(); ++k)
    outer.insert(outer.end(), static_cast<std::size_t>(start[k + 1] - start[k]),
                 lists.first + static_cast<std::int64_t>(k));
  return share;
}

}  // namespace scree::fclib
