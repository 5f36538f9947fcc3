#include "io/fclib_file.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/as_input.hpp"
#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"
#include "io/fclib_layout.hpp"
#include "io/hdf5.hpp"

namespace scree {

using fclib_layout::write_info;
using fclib_layout::write_integer;
using fclib_layout::write_matrix;
using fclib_layout::write_vector;
using hdf5::Content;

namespace {

const std::string local_group = "/fclib_local";
const std::string global_group = "/fclib_global";

/// Places [first, end) of a vector.
struct Range {
  std::int64_t first = 0, end = 0;
  std::int64_t size() const { return end - first; }
};

/// This rank's stretch of n items of `width` numbers each.
Range share_of_items(const Comm& comm, std::int64_t n, std::int64_t width = 1) {
  const EvenShare share(comm, n, width);
  return {share.first, share.last};
}

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

/// Reads arrays of a file and refuses what is wrong with them. All members are collective; what they throw is
/// the same on all ranks.
class CheckedFile {
 public:
  CheckedFile(const Comm& comm, const std::string& path) : comm_(comm), file_(comm, path, hdf5::Open::read) {}

  const Comm& comm() const { return comm_; }
  hdf5::File& file() { return file_; }
  bool exists(const std::string& name) const { return file_.exists(name); }

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", file_.path(), what));
  }

  /// Refuses the first place of all ranks, of the places of `range` on this rank, that is bad(place): with
  /// text(place).
  template <class Bad, class Text>
  void refuse_first(const Range& range, const Bad& bad, const Text& text) const {
    std::int64_t place = range.first;
    while (place < range.end && !bad(place)) ++place;
    const std::string message =
        message_of_smallest(comm_, place, place < range.end ? std::string(text(place)) : std::string());
    if (!message.empty()) refuse(message);
  }

  std::int64_t integer(const std::string& name) const {
    const hdf5::Found found = require(name, Content::integers);
    const auto size = hdf5::Slab{{}, found.shape}.size();
    if (found.shape.size() > 1 || size != 1) refuse(fmt::format("{} has {} numbers, not 1", name, size));
    std::vector<std::int64_t> value;
    file_.read_any_width(name, {hdf5::Shape(found.shape.size(), 0), found.shape}, value);
    return value[0];
  }

  /// Length of a dataset of one dimension.
  std::int64_t length(const std::string& name, Content content) const {
    const hdf5::Found found = require(name, content);
    if (found.shape.size() != 1) refuse(fmt::format("{} has {} dimensions, not 1", name, found.shape.size()));
    return found.shape[0];
  }

  template <class T>
  std::vector<T> read(const std::string& name, const Range& range) const {
    std::vector<T> values;
    file_.read_any_width(name, {{range.first}, {range.size()}}, values);
    if constexpr (std::is_floating_point_v<T>) require_finite(name, range, values);
    return values;
  }

  /// This rank's stretch of a vector of n_items * width reals; `items` says what is counted.
  VectorShare vector(const std::string& name, std::int64_t n_items, std::int64_t width,
                     std::string_view items) const {
    const std::int64_t found = length(name, Content::reals);
    if (found != n_items * width)
      refuse(
          fmt::format("{} has {} numbers, not {} for {} {}", name, found, n_items * width, n_items, items));
    const Range range = share_of_items(comm_, n_items, width);
    return {range.first, read<Real>(name, range)};
  }

  /// Places `range` of a table of reals, counted row by row; nothing if there is no such table.
  VectorShare table(const std::string& name, std::int64_t n_rows, std::int64_t width,
                    const Range& range) const {
    if (!exists(name)) return {};
    const hdf5::Found found = require(name, Content::reals);
    if (found.shape != hdf5::Shape{n_rows, width})
      refuse(fmt::format("{} has the shape {}, not [{}, {}]", name, found.shape, n_rows, width));
    const Range rows{range.first / width, (range.end + width - 1) / width};
    std::vector<Real> values;
    file_.read_any_width(name, {{rows.first, 0}, {range.size() == 0 ? 0 : rows.size(), width}}, values);
    if (range.size() > 0) {
      const auto skipped = static_cast<std::ptrdiff_t>(range.first - rows.first * width);
      values.erase(values.begin(), values.begin() + skipped);
      values.resize(static_cast<std::size_t>(range.size()));
    }
    require_finite(name, range, values, width);
    return {range.first, std::move(values)};
  }

  /// A number from 0 on; 0 if there is no such attribute.

  Real attribute(const std::string& object, const std::string& name) const {
    if (!file_.has_attribute(object, name)) return 0;
    const hdf5::Attribute value = file_.attribute(object, name);
    const auto* numbers = std::get_if<std::vector<double>>(&value);
    if (numbers == nullptr || numbers->size() != 1) return 0;
    if (!(numbers->front() >= 0 && std::isfinite(numbers->front())))
      refuse(fmt::format("the attribute {} of {} is {}, not a number from 0 on", name, object,
                         numbers->front()));
    return numbers->front();
  }

  /// Empty if there is none that can be read: no problem needs a text.
  std::string text(const std::string& name) const {
    const hdf5::Found found = file_.find(name);
    if (found.content != Content::text || hdf5::Slab{{}, found.shape}.size() != 1) return "";
    try {
      return file_.read_text(name);
    } catch (const CollectiveError&) {
      return "";
    }
  }

  SparseShare matrix(const std::string& name) const;

 private:
  hdf5::Found require(const std::string& name, Content content) const {
    hdf5::Found found = file_.find(name);
    if (found.content == Content::nothing) refuse(name + " is missing");
    if (found.content != content)
      refuse(fmt::format("{} holds {}, not {}", name, name_of(found.content), name_of(content)));
    return found;
  }
  /// `width` > 1: of a table, whose places are named by row and column.
  void require_finite(const std::string& name, const Range& range, std::span<const Real> values,
                      std::int64_t width = 1) const {
    const auto at = [&](std::int64_t place) { return values[static_cast<std::size_t>(place - range.first)]; };
    refuse_first(
        range, [&](std::int64_t place) { return !std::isfinite(at(place)); },
        [&](std::int64_t place) {
          return width == 1 ? fmt::format("{}[{}] is {}", name, place, at(place))
                            : fmt::format("{}[{}, {}] is {}", name, place / width, place % width, at(place));
        });
  }
  std::vector<std::int64_t> indices(const std::string& name, const Range& range, std::int64_t n) const;
  std::vector<std::int64_t> pointers(const std::string& name, const Range& lists, std::int64_t n_lists,
                                     std::int64_t n_entries) const;

  Comm comm_;
  hdf5::File file_;
};

/// Places `range` of an array of indices below n.
std::vector<std::int64_t> CheckedFile::indices(const std::string& name, const Range& range,
                                               std::int64_t n) const {
  std::vector<std::int64_t> values = read<std::int64_t>(name, range);
  const auto at = [&](std::int64_t place) { return values[static_cast<std::size_t>(place - range.first)]; };
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
  const Range range{lists.first, lists.end + 1};
  std::vector<std::int64_t> values = read<std::int64_t>(name, range);
  const auto at = [&](std::int64_t place) { return values[static_cast<std::size_t>(place - range.first)]; };
  // The first one is the last one of the rank before.
  const Range own{range.first == 0 ? 0 : range.first + 1, range.end};
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
    const Range range = share_of_items(comm_, nz);
    share.row = indices(name + "/i", range, share.n_rows);
    share.column = indices(name + "/p", range, share.n_columns);
    share.value = read<Real>(name + "/x", range);
    return share;
  }
  const bool by_rows = nz == fclib_layout::compressed_rows;
  const std::int64_t n_lists = by_rows ? share.n_rows : share.n_columns;
  const Range lists = share_of_items(comm_, n_lists);
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

/// An entry as it travels to the rank that has its row.
struct Entry {
  std::int64_t row, column;
  Real value;
  bool is_transposed;  ///< of the transposed matrix
};

/// Those that arrive on the rank of their row, by rows and columns, entries of one place in the order of the
/// file on any number of ranks. With those of the transposed matrix if wanted.
std::vector<Entry> sorted_by_rows(const Comm& comm, const SparseShare& matrix, bool with_transposed) {
  Outgoing outgoing;
  for (std::size_t e = 0; e < matrix.value.size(); ++e) {
    const std::int64_t i = matrix.row[e], j = matrix.column[e];
    outgoing.to(EvenShare::owner(matrix.n_rows, i, comm.size())).put(Entry{i, j, matrix.value[e], false});
    if (with_transposed && i != j)
      outgoing.to(EvenShare::owner(matrix.n_rows, j, comm.size())).put(Entry{j, i, matrix.value[e], true});
  }
  std::vector<Entry> entries = exchange_values<Entry>(comm, outgoing);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) {
    return std::tie(x.row, x.column) < std::tie(y.row, y.column);
  });
  return entries;
}

/// Relative asymmetry of a square matrix (FclibProblem). Refuses one above `limit`, and a diagonal that is
/// negative, or zero if it has to be positive.
Real checked_asymmetry(const CheckedFile& file, const std::string& name, const SparseShare& matrix,
                       Real limit, bool is_positive) {
  struct Pair {
    std::int64_t row, column;
    Real direct, transposed;
  };
  const Comm& comm = file.comm();
  const std::int64_t n = matrix.n_rows;
  const Range rows = share_of_items(comm, n);
  std::vector<Real> diagonal(static_cast<std::size_t>(rows.size()), 0.0);
  const auto diagonal_of = [&](std::int64_t row) -> Real& {
    return diagonal[static_cast<std::size_t>(row - rows.first)];
  };
  std::vector<Pair> unequal;
  const std::vector<Entry> entries = sorted_by_rows(comm, matrix, true);
  for (auto entry = entries.begin(); entry != entries.end();) {
    Pair pair{entry->row, entry->column, 0, 0};
    for (; entry != entries.end() && entry->row == pair.row && entry->column == pair.column; ++entry)
      (entry->is_transposed ? pair.transposed : pair.direct) += entry->value;
    if (pair.row == pair.column)
      diagonal_of(pair.row) = pair.direct;
    else if (pair.direct != pair.transposed)
      unequal.push_back(pair);
  }

  file.refuse_first(
      rows, [&](std::int64_t i) { return is_positive ? diagonal_of(i) <= 0 : diagonal_of(i) < 0; },
      [&](std::int64_t i) {
        return fmt::format("{}({}, {}) is {}, but the diagonal is {}", name, i, i, diagonal_of(i),
                           is_positive ? "positive" : "not negative");
      });

  // Both rows of a pair know of it: that of the larger number tells the other its diagonal entry.
  struct Partner {
    std::int64_t row;
    Real diagonal;
  };
  Outgoing outgoing;
  for (const Pair& pair : unequal)
    if (pair.column < pair.row)
      outgoing.to(EvenShare::owner(n, pair.column, comm.size()))
          .put(Partner{pair.row, diagonal_of(pair.row)});
  std::map<std::int64_t, Real> partner_diagonal;
  for (const auto& [row, value] : exchange_values<Partner>(comm, outgoing)) partner_diagonal[row] = value;
  // Differences of rounding may stand in rows that are zero but for them.
  const Real largest =
      comm.max(diagonal.empty() ? Real{0} : *std::max_element(diagonal.begin(), diagonal.end()));
  constexpr Real round_off = 1e-14;
  const auto relative = [&](const Pair& pair) {
    const Real scale = std::sqrt(diagonal_of(pair.row) * partner_diagonal.at(pair.column));
    return std::abs(pair.direct - pair.transposed) / std::max(scale, round_off * largest);
  };
  Real asymmetry = 0;
  const Pair* first_above = nullptr;
  for (const Pair& pair : unequal)
    if (pair.row < pair.column) {
      const Real of_pair = relative(pair);
      asymmetry = std::max(asymmetry, of_pair);
      if (of_pair > limit && first_above == nullptr) first_above = &pair;
    }
  std::string message;
  if (first_above != nullptr)
    message = fmt::format(
        "{0} is not symmetric: {0}({1}, {2}) is {3}, {0}({2}, {1}) is {4}; they differ by {5:.2g} of the "
        "diagonal, and at most {6} is taken for what time integrators leave",
        name, first_above->row, first_above->column, first_above->direct, first_above->transposed,
        relative(*first_above), limit);
  message = message_of_smallest(comm, first_above == nullptr ? 0 : first_above->row, message);
  if (!message.empty()) file.refuse(message);
  return comm.max(asymmetry);
}

/// True if the symmetric part of a block of `width` rows, row by row, has a Cholesky factor, as
/// FrictionProblem::validate wants of masses and of own blocks of W.
bool is_positive_definite(std::span<const Real> block, std::size_t width) {
  constexpr Real round_off = 1e-14;
  std::vector<Real> root(width * width);
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      Real sum = 0.5 * (block[i * width + j] + block[j * width + i]);
      for (std::size_t k = 0; k < j; ++k) sum -= root[i * width + k] * root[j * width + k];
      if (i == j && !(sum > round_off * block[i * width + i])) return false;
      root[i * width + j] = i == j ? std::sqrt(sum) : sum / root[j * width + j];
    }
  return true;
}

/// Refuses a square matrix with a block of `width` rows on its diagonal that is not positive definite: it is
/// none itself then. Rows that are no whole block are not looked at.
void require_definite_blocks(const CheckedFile& file, const std::string& name, const SparseShare& matrix,
                             std::int64_t width, std::string_view of) {
  const Comm& comm = file.comm();
  const std::int64_t n_blocks = matrix.n_rows / width;
  Outgoing outgoing;
  for (std::size_t e = 0; e < matrix.value.size(); ++e) {
    const std::int64_t block = matrix.row[e] / width;
    if (block == matrix.column[e] / width && block < n_blocks)
      outgoing.to(EvenShare::owner(n_blocks, block, comm.size()))
          .put(Entry{matrix.row[e], matrix.column[e], matrix.value[e], false});
  }
  const Range own = share_of_items(comm, n_blocks);
  const auto size = static_cast<std::size_t>(width * width);
  std::vector<Real> blocks(static_cast<std::size_t>(own.size()) * size);
  for (const Entry& entry : exchange_values<Entry>(comm, outgoing))
    blocks[static_cast<std::size_t>((entry.row - own.first * width) * width + entry.column % width)] +=
        entry.value;
  file.refuse_first(
      own,
      [&](std::int64_t block) {
        return !is_positive_definite(
            std::span(blocks).subspan(static_cast<std::size_t>(block - own.first) * size, size),
            static_cast<std::size_t>(width));
      },
      [&](std::int64_t block) {
        return fmt::format("{}: the block of rows {} to {}, of {} {}, is not positive definite", name,
                           block * width, block * width + width - 1, of, block);
      });
}

/// Refuses a contact with a relative velocity that no impulse changes: a column of H that is zero, without
/// compliance.
void require_bodies_of_contacts(const CheckedFile& file, const FclibProblem& problem) {
  const Comm& comm = file.comm();
  const std::int64_t d = problem.dimension;
  const Range own = share_of_items(comm, problem.n_contacts, d);
  Outgoing outgoing;
  for (std::size_t e = 0; e < problem.H.value.size(); ++e)
    if (problem.H.value[e] != 0)
      outgoing.to(EvenShare::owner(problem.n_contacts, problem.H.column[e] / d, comm.size()))
          .put(problem.H.column[e]);
  std::vector<bool> moves(static_cast<std::size_t>(own.size()));
  for (const std::int64_t column : exchange_values<std::int64_t>(comm, outgoing))
    moves[static_cast<std::size_t>(column - own.first)] = true;
  const std::vector<Real>& compliance = problem.compliance.values;
  file.refuse_first(
      own,
      [&](std::int64_t column) {
        const auto k = static_cast<std::size_t>(column - own.first);
        const std::size_t contact = k / static_cast<std::size_t>(d);
        const bool is_normal = column % d == 0;
        return !moves[k] && (compliance.empty() || compliance[2 * contact + (is_normal ? 0 : 1)] == 0);
      },
      [&](std::int64_t column) {
        return fmt::format("{}/H: column {}, of contact {}, is zero: no body answers to its impulse",
                           global_group, column, column / d);
      });
}

/// Which of the two groups the file has.
bool is_global_file(CheckedFile& file) {
  const bool is_local = file.exists(local_group);
  const bool is_global = file.exists(global_group);
  if (is_local && is_global)
    file.refuse(fmt::format("it has {} and {}: which of the two problems is meant is not clear", local_group,
                            global_group));
  if (is_local || is_global) return is_global;
  if (file.exists("/fclib_global_rolling"))
    file.refuse("it holds a problem with rolling friction (/fclib_global_rolling), which is not supported");
  const std::vector<std::string> members = file.file().members("/");
  std::string what = "it is empty";
  if (!members.empty()) what = fmt::format("it has /{}", fmt::join(members, ", /"));
  const std::string kind = file.file().text_attribute("/", "kind");
  if (file.exists("/h5md")) what += "; it is the record of a run";
  if (!kind.empty()) what += fmt::format("; it is a {} of scree", kind);
  file.refuse(fmt::format("no contact problem, neither {} nor {}: {}", local_group, global_group, what));
}

/// The number of contacts, from the number of relative velocities.
std::int64_t n_contacts_of(const CheckedFile& file, const std::string& size, std::int64_t n, int dimension) {
  if (n % dimension != 0) file.refuse(fmt::format("{} is {}, no multiple of {}", size, n, dimension));
  return n / dimension;
}

void require_size(const CheckedFile& file, const std::string& size, std::int64_t found,
                  const std::string& other, std::int64_t expected) {
  if (found != expected) file.refuse(fmt::format("{} is {}, but {} is {}", size, found, other, expected));
}

void read_global(CheckedFile& file, FclibProblem& problem) {
  const std::string& group = global_group;
  problem.M = file.matrix(group + "/M");
  const std::int64_t n = problem.n_velocities = problem.M.n_rows;
  require_size(file, group + "/M/n", problem.M.n_columns, group + "/M/m", n);
  problem.H = file.matrix(group + "/H");
  require_size(file, group + "/H/m", problem.H.n_rows, group + "/M/m", n);
  problem.n_contacts = n_contacts_of(file, group + "/H/n", problem.H.n_columns, problem.dimension);
  if (file.exists(group + "/G")) {
    problem.G = file.matrix(group + "/G");
    require_size(file, group + "/G/m", problem.G.n_rows, group + "/M/m", n);
    problem.n_constraints = problem.G.n_columns;
    problem.b = file.vector(group + "/vectors/b", problem.n_constraints, 1, "columns of G");
  }
  problem.f = file.vector(group + "/vectors/f", n, 1, "rows of M");
  problem.w = file.vector(group + "/vectors/w", problem.n_contacts, problem.dimension, "contacts");
  problem.asymmetry = checked_asymmetry(file, group + "/M", problem.M, asymmetry_limit_of_masses, true);
  const std::int64_t per_body = problem.dimension == 2 ? n_velocities<2> : n_velocities<3>;
  require_definite_blocks(file, group + "/M", problem.M, per_body, "body");
}

void read_local(CheckedFile& file, FclibProblem& problem) {
  const std::string& group = local_group;
  problem.W = file.matrix(group + "/W");
  const std::int64_t m = problem.W.n_rows;
  require_size(file, group + "/W/n", problem.W.n_columns, group + "/W/m", m);
  problem.n_contacts = n_contacts_of(file, group + "/W/m", m, problem.dimension);
  if (file.exists(group + "/V") || file.exists(group + "/R")) {
    problem.V = file.matrix(group + "/V");
    problem.R = file.matrix(group + "/R");
    problem.n_constraints = problem.V.n_columns;
    require_size(file, group + "/V/m", problem.V.n_rows, group + "/W/m", m);
    require_size(file, group + "/R/m", problem.R.n_rows, group + "/V/n", problem.n_constraints);
    require_size(file, group + "/R/n", problem.R.n_columns, group + "/V/n", problem.n_constraints);
    problem.s = file.vector(group + "/vectors/s", problem.n_constraints, 1, "columns of V");
  }
  problem.q = file.vector(group + "/vectors/q", problem.n_contacts, problem.dimension, "contacts");
  problem.asymmetry = checked_asymmetry(file, group + "/W", problem.W, asymmetry_limit_of_delassus, false);
  require_definite_blocks(file, group + "/W", problem.W, problem.dimension, "contact");
}

/// The group /scree of io/fclib.hpp.
void read_extras(CheckedFile& file, FclibProblem& problem) {
  const std::int64_t per_body = problem.dimension == 2 ? n_velocities<2> : n_velocities<3>;
  const std::int64_t n_bodies = problem.n_velocities / per_body;
  const Range velocities = share_of_items(file.comm(), problem.n_velocities);
  problem.free_velocity = file.table("/scree/free_velocity", n_bodies, per_body, velocities);
  problem.start_velocity = file.table("/scree/start_velocity", n_bodies, per_body, velocities);
  const std::string name = "/scree/compliance";
  const Range places = share_of_items(file.comm(), problem.n_contacts, 2);
  problem.compliance = file.table(name, problem.n_contacts, 2, places);
  const auto compliance = [&](std::int64_t place) {
    return problem.compliance.values[static_cast<std::size_t>(place - places.first)];
  };
  file.refuse_first(
      problem.compliance.values.empty() ? Range{} : places,
      [&](std::int64_t place) { return compliance(place) < 0; },
      [&](std::int64_t place) {
        return fmt::format("{}[{}, {}] is {}, negative", name, place / 2, place % 2, compliance(place));
      });
  problem.time_step = file.attribute("/scree", "time_step");
  problem.velocity_floor = file.attribute("/scree", "velocity_floor");
}

FclibProblem read_problem(CheckedFile& file) {
  FclibProblem problem;
  problem.path = file.file().path();
  problem.is_global = is_global_file(file);
  const std::string& group = problem.is_global ? global_group : local_group;
  const std::int64_t dimension = file.integer(group + "/spacedim");
  if (dimension != 2 && dimension != 3)
    file.refuse(fmt::format("{}/spacedim is {}, not 2 or 3{}", group, dimension,
                            dimension == 5 ? ": rolling friction is not supported" : ""));
  problem.dimension = static_cast<int>(dimension);
  if (problem.is_global)
    read_global(file, problem);
  else
    read_local(file, problem);

  const std::string name = group + "/vectors/mu";
  problem.mu = file.vector(name, problem.n_contacts, 1, "contacts");
  const auto mu = [&](std::int64_t contact) {
    return problem.mu.values[static_cast<std::size_t>(contact - problem.mu.first)];
  };
  file.refuse_first(
      share_of_items(file.comm(), problem.n_contacts), [&](std::int64_t c) { return mu(c) < 0; },
      [&](std::int64_t c) { return fmt::format("{}[{}] is {}, negative", name, c, mu(c)); });
  problem.info = {file.text(group + "/info/title"), file.text(group + "/info/description"),
                  file.text(group + "/info/math_info")};

  problem.has_solution = file.exists("/solution");
  if (file.exists("/guesses/number_of_guesses"))
    problem.n_guesses = file.integer("/guesses/number_of_guesses");
  if (problem.is_global && file.exists("/scree")) read_extras(file, problem);
  if (problem.is_global) require_bodies_of_contacts(file, problem);
  return problem;
}

/// Runs work(file); a file that is refused is closed.
template <class Work>
auto with_file(const Comm& comm, const std::string& path, const Work& work) {
  Scope timer("fclib");
  CheckedFile file(comm, path);
  try {
    return as_input(path, [&] { return work(file); });
  } catch (const CollectiveError&) {
    file.file().discard();
    throw;
  }
}

/// Those vectors of a solution that there are.
void write_solution(hdf5::File& file, const std::string& group, const FclibProblem& problem,
                    const FclibSolution& solution, bool with_v) {
  const Comm& comm = file.comm();
  const auto write = [&](const std::string& name, const VectorShare& vector, std::int64_t expected) {
    const std::int64_t n = comm.sum(static_cast<std::int64_t>(vector.values.size()));
    SCREE_ASSERT(n == 0 || n == expected);
    if (n == expected) write_vector(file, group + "/" + name, vector.values);
  };
  if (with_v && problem.is_global) write("v", solution.v, problem.n_velocities);
  write("u", solution.u, problem.n_contacts * problem.dimension);
  write("r", solution.r, problem.n_contacts * problem.dimension);
  if (problem.n_constraints > 0) write("l", solution.l, problem.n_constraints);
}

/// A matrix as compressed rows.
void write_rows(hdf5::File& file, const std::string& name, const SparseShare& matrix,
                const std::string& path) {
  const Comm& comm = file.comm();
  const Range rows = share_of_items(comm, matrix.n_rows);
  std::vector<Entry> entries = sorted_by_rows(comm, matrix, false);
  std::size_t n = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (n > 0 && entries[n - 1].row == entries[e].row && entries[n - 1].column == entries[e].column)
      entries[n - 1].value += entries[e].value;
    else
      entries[n++] = entries[e];
  }
  entries.resize(n);

  const auto mine = static_cast<std::int64_t>(n);
  const std::int32_t n_entries = fclib_integer(comm.sum(mine), "entries of " + name, path);
  const std::int64_t before = comm.sum_before(mine);
  fclib_layout::Stretch stretch;
  std::size_t e = 0;
  for (std::int64_t row = rows.first; row < rows.end; ++row) {
    stretch.p.push_back(static_cast<std::int32_t>(before + static_cast<std::int64_t>(e)));
    for (; e < n && entries[e].row == row; ++e) {
      stretch.i.push_back(static_cast<std::int32_t>(entries[e].column));
      stretch.x.push_back(entries[e].value);
    }
  }
  if (comm.rank() == comm.size() - 1) stretch.p.push_back(n_entries);
  write_matrix(file, name, stretch, n_entries, fclib_integer(matrix.n_rows, "rows of " + name, path),
               fclib_integer(matrix.n_columns, "columns of " + name, path), fclib_layout::compressed_rows);
}

}  // namespace

FclibProblem read_fclib(const Comm& comm, const std::string& path) {
  return with_file(comm, path, read_problem);
}

FclibSolution read_fclib_solution(const Comm& comm, const FclibProblem& problem, const std::string& group) {
  return with_file(comm, problem.path, [&](const CheckedFile& file) {
    FclibSolution solution;
    const auto read = [&](const std::string& name, std::int64_t n, std::int64_t width,
                          std::string_view items) {
      return file.vector(group + "/" + name, n, width, items);
    };
    solution.r = read("r", problem.n_contacts, problem.dimension, "contacts");
    if (file.exists(group + "/u")) solution.u = read("u", problem.n_contacts, problem.dimension, "contacts");
    if (problem.is_global && file.exists(group + "/v"))
      solution.v = read("v", problem.n_velocities, 1, "rows of M");
    if (problem.n_constraints > 0 && file.exists(group + "/l"))
      solution.l = read("l", problem.n_constraints, 1, "bilateral constraints");
    return solution;
  });
}

void write_fclib_solution(const Comm& comm, const FclibProblem& problem, const FclibSolution& solution) {
  Scope timer("fclib");
  hdf5::PartFile part(comm, problem.path, hdf5::PartFile::Start::copy);
  part.write([&](hdf5::File& file) {
    if (file.exists("/solution")) file.remove("/solution");
    file.create_group("/solution");
    write_solution(file, "/solution", problem, solution, true);
  });
  part.commit();
}

void write_fclib_local(const Comm& comm, const FclibProblem& problem, const std::string& path,
                       const FclibSolution* guess) {
  Scope timer("fclib");
  SCREE_ASSERT(!problem.is_global);
  hdf5::PartFile part(comm, path);
  part.write([&](hdf5::File& file) {
    const std::string& group = local_group;
    write_integer(file, group + "/spacedim", problem.dimension);
    write_rows(file, group + "/W", problem.W, path);
    if (problem.n_constraints > 0) {
      write_rows(file, group + "/V", problem.V, path);
      write_rows(file, group + "/R", problem.R, path);
      write_vector(file, group + "/vectors/s", problem.s.values);
    }
    write_vector(file, group + "/vectors/q", problem.q.values);
    write_vector(file, group + "/vectors/mu", problem.mu.values);
    write_info(file, group, problem.info);
    if (guess != nullptr) {
      write_integer(file, "/guesses/number_of_guesses", 1);
      write_solution(file, "/guesses/1", problem, *guess, false);
    }
  });
  part.commit();
}

}  // namespace scree
