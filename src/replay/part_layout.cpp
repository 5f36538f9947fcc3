#include "replay/part_layout.hpp"

namespace scree {

MatHandle make_matrix(const Comm& comm, const PartLayout& rows, const PartLayout& columns, Entries entries) {
  MatHandle matrix;
  SCREE_PETSC(MatCreate(comm.handle(), matrix.address()));
  const Mat A = matrix.get();
  SCREE_PETSC(MatSetSizes(A, static_cast<PetscInt>(rows.local()), static_cast<PetscInt>(columns.local()),
                          PETSC_DETERMINE, PETSC_DETERMINE));
  SCREE_PETSC(MatSetType(A, MATAIJ));
  SCREE_PETSC(MatSetPreallocationCOO(A, static_cast<PetscCount>(entries.value.size()), entries.row.data(),
                                     entries.column.data()));
  SCREE_PETSC(MatSetValuesCOO(A, entries.value.data(), ADD_VALUES));
  return matrix;
}

VecHandle make_vector(const Comm& comm, const PartLayout& layout) {
  VecHandle vector;
  SCREE_PETSC(VecCreateMPI(comm.handle(), static_cast<PetscInt>(layout.local()),
                           static_cast<PetscInt>(layout.total()), vector.address()));
  SCREE_PETSC(VecSet(vector.get(), 0));
  return vector;
}

}  // namespace scree
