#include "io/fclib/checks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/sparse_all_to_all.hpp"

namespace scree::fclib {

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

namespace {
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

/// An entry of a matrix and that of the transposed one.
struct Pair {
  std::int64_t row, column;
  Real direct, transposed;
};

/// Those of the entries, with those of the transposed matrix, that differ; set_diagonal(row, value).
template <class SetDiagonal>
std::vector<Pair> unequal_pairs(const std::vector<Entry>& entries, const SetDiagonal& set_diagonal) {
  std::vector<Pair> unequal;
  for (auto entry = entries.begin(); entry != entries.end();) {
    Pair pair{entry->row, entry->column, 0, 0};
    for (; entry != entries.end() && entry->row == pair.row && entry->column == pair.column; ++entry)
      (entry->is_transposed ? pair.transposed : pair.direct) += entry->value;
    if (pair.row == pair.column)
      set_diagonal(pair.row, pair.direct);
    else if (pair.direct != pair.transposed)
      unequal.push_back(pair);
  }
  return unequal;
}
}  // namespace

Real checked_asymmetry(const CheckedFile& file, const std::string& name, const SparseShare& matrix,
                       Real limit, bool is_positive) {
  const Comm& comm = file.comm();
  const std::int64_t n = matrix.n_rows;
  const EvenShare rows(comm, n);
  std::vector<Real> diagonal(rows.size(), 0.0);
  const auto diagonal_of = [&](std::int64_t row) -> Real& { return diagonal[rows.at(row)]; };
  const std::vector<Pair> unequal = unequal_pairs(
      sorted_by_rows(comm, matrix, true), [&](std::int64_t row, Real value) { diagonal_of(row) = value; });
  file.refuse_first(
      rows, [&](std::int64_t i) { return is_positive ? diagonal_of(i) <= 0 : diagonal_of(i) < 0; },
      [&](std::int64_t i) {
        return fmt::format("{}({}, {}) is {}, but the diagonal is {}", name, i, i, diagonal_of(i),
                           is_positive ? "positive" : "not negative");
      });

  // Both rows of a pair know of it: that of the larger number sends the other its diagonal entry.
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
  const EvenShare own(comm, n_blocks);
  const std::size_t size = width * width;
  std::vector<Real> blocks(own.size() * size);
  for (const Entry& entry : exchange_values<Entry>(comm, outgoing))
    blocks[(entry.row - own.first * width) * width + entry.column % width] += entry.value;
  file.refuse_first(
      own,
      [&](std::int64_t block) {
        return !is_positive_definite(std::span(blocks).subspan(own.at(block) * size, size),
                                     static_cast<std::size_t>(width));
      },
      [&](std::int64_t block) {
        return fmt::format("{}: the block of rows {} to {}, of {} {}, is not positive definite", name,
                           block * width, block * width + width - 1, of, block);
      });
}

void require_bodies_of_contacts(const CheckedFile& file, const FclibProblem& problem) {
  const Comm& comm = file.comm();
  const std::int64_t d = problem.dimension;
  const EvenShare own(comm, problem.n_contacts, d);
  Outgoing outgoing;
  for (std::size_t e = 0; e < problem.H.value.size(); ++e)
    if (problem.H.value[e] != 0)
      outgoing.to(EvenShare::owner(problem.n_contacts, problem.H.column[e] / d, comm.size()))
          .put(problem.H.column[e]);
  std::vector<bool> moves(own.size());
  for (const std::int64_t column : exchange_values<std::int64_t>(comm, outgoing))
    moves[own.at(column)] = true;
  const std::vector<Real>& compliance = problem.compliance.values;
  file.refuse_first(
      own,
      [&](std::int64_t column) {
        const auto k = own.at(column);
        const std::size_t contact = k / static_cast<std::size_t>(d);
        const bool is_normal = column % d == 0;
        return !moves[k] && (compliance.empty() || compliance[2 * contact + (is_normal ? 0 : 1)] == 0);
      },
      [&](std::int64_t column) {
        return fmt::format("{}/H: column {}, of contact {}, is zero: no body answers to its impulse",
                           global_group, column, column / d);
      });
}

}  // namespace scree::fclib
