#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/even_share.hpp"
#include "core/parallel.hpp"
#include "core/petsc_matrix.hpp"

/// Matrices and vectors of PETSc whose rows consist of several parts, each shared evenly over ranks.
namespace scree {

/// Rows or columns of a matrix as ranks share them: each rank has its stretch of every part, one after the
/// other.
class PartLayout {
 public:
  /// `count` items of `width` numbers, which stay together.
  struct Part {
    std::int64_t count = 0;
    std::int64_t width = 1;
    std::int64_t start(int rank, int ranks) const { return EvenShare::start(count, rank, ranks) * width; }
    std::int64_t size() const { return count * width; }
  };

  PartLayout(const Comm& comm, std::vector<Part> parts) : comm_(comm), parts_(std::move(parts)) {}

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const Part& part : parts_) sum += part.size();
    return sum;
  }
  /// Numbers of a part, and of all, on this rank.
  std::size_t local(std::size_t part) const {
    const Part& p = parts_[part];
    return static_cast<std::size_t>(p.start(comm_.rank() + 1, comm_.size()) -
                                    p.start(comm_.rank(), comm_.size()));
  }
  std::size_t local() const {
    std::size_t sum = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) sum += local(k);
    return sum;
  }
  /// Place of number i of a part among all.
  PetscInt place(std::size_t part, std::int64_t i) const {
    const int owner = EvenShare::owner(parts_[part].count, i / parts_[part].width, comm_.size());
    std::int64_t place = i;
    for (std::size_t k = 0; k < parts_.size(); ++k)
      if (k != part) place += parts_[k].start(k < part ? owner + 1 : owner, comm_.size());
    return static_cast<PetscInt>(place);
  }

 private:
  Comm comm_;
  std::vector<Part> parts_;
};

/// This rank's entries of a matrix in PETSc's numbering.
struct Entries {
  std::vector<PetscInt> row, column;
  std::vector<Real> value;

  void add(PetscInt i, PetscInt j, Real x) {
    row.push_back(i);
    column.push_back(j);
    value.push_back(x);
  }
};

/// The matrix of all ranks' entries, equal ones added up. Collective.
MatHandle make_matrix(const Comm& comm, const PartLayout& rows, const PartLayout& columns, Entries entries);
/// Zeros. Collective.
VecHandle make_vector(const Comm& comm, const PartLayout& layout);

/// This rank's numbers of a vector, for as long as this lives.
class Values {
 public:
  explicit Values(::Vec vector) : vector_(vector) {
    PetscInt n = 0;
    SCREE_PETSC(VecGetLocalSize(vector_, &n));
    SCREE_PETSC(VecGetArray(vector_, &data_));
    size_ = static_cast<std::size_t>(n);
  }
  ~Values() { VecRestoreArray(vector_, &data_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  std::span<Real> span() const { return {data_, size_}; }

 private:
  ::Vec vector_;
  Real* data_ = nullptr;
  std::size_t size_ = 0;
};

inline void set(::Vec vector, std::span<const Real> values) {
  Values to(vector);
  std::ranges::copy(values, to.span().begin());
}

}  // namespace scree
