#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "io/fclib/checked_file.hpp"

/// Checks of matrices, which exchange their entries. All are collective and throw as read_fclib() says.
namespace scree::fclib {

/// An entry as it travels to the rank that has its row.
struct Entry {
  std::int64_t row, column;
  Real value;
  bool is_transposed;  ///< of the transposed matrix
};

/// The entries on the ranks of their rows, by rows and columns, entries of one place in the order of the file
/// on any number of ranks. With those of the transposed matrix if wanted.
std::vector<Entry> sorted_by_rows(const Comm& comm, const SparseShare& matrix, bool with_transposed);

/// Relative asymmetry of a square matrix (FclibProblem). Refuses one above `limit`, and a diagonal that is
/// negative, or zero if it has to be positive.
Real checked_asymmetry(const CheckedFile& file, const std::string& name, const SparseShare& matrix,
                       Real limit, bool is_positive);

/// Refuses a square matrix with a block of `width` rows on its diagonal that is not positive definite: it is
/// none itself then. Rows that are no whole block are not checked.
void require_definite_blocks(const CheckedFile& file, const std::string& name, const SparseShare& matrix,
                             std::int64_t width, std::string_view of);

/// Refuses a contact with a relative velocity that no impulse changes: a column of H that is zero, without
/// compliance.
void require_bodies_of_contacts(const CheckedFile& file, const FclibProblem& problem);

}  // namespace scree::fclib
