#pragma once
#include <vector>

#include "core/petsc_matrix.hpp"
#include "core/types.hpp"

namespace scree::split {

using IsHandle = PetscHandle<IS, ISDestroy>;

inline std::vector<Index> values_of(const IsHandle& set) {
  PetscInt n = 0;
  const PetscInt* values = nullptr;
  SCREE_PETSC(ISGetLocalSize(set.get(), &n));
  SCREE_PETSC(ISGetIndices(set.get(), &values));
  std::vector<Index> copy(values, values + n);
  SCREE_PETSC(ISRestoreIndices(set.get(), &values));
  return copy;
}

}  // namespace scree::split
