#pragma once
#include <utility>

#include "core/petsc_functions.hpp"

namespace scree {

/// Throws std::runtime_error with the call and PETSc's own words if `code` reports an error.
void check_petsc(PetscErrorCode code, const char* call);

/// Ends PETSc if it was started. Before MPI ends.
void finish_petsc();

/// Owns a PETSc object; `destroy` is PETSc's function for the type. Creating and destroying are collective.
///     SfHandle sf;
///     SCREE_PETSC(PetscSFCreate(comm, sf.address()));
template <class Object, auto& destroy>
class PetscHandle {
 public:
  PetscHandle() = default;
  ~PetscHandle() { reset(); }
  PetscHandle(PetscHandle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PetscHandle& operator=(PetscHandle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  Object get() const { return object_; }
  /// For PETSc's create functions; destroys what was held before.
  Object* address() {
    reset();
    return &object_;
  }
  void reset() {
    if (object_) destroy(&object_);
  }

 private:
  Object object_ = nullptr;
};

using SfHandle = PetscHandle<PetscSF, PetscSFDestroy>;

}  // namespace scree

/// Runs a PETSc call and turns its error code into an exception.
#define SCREE_PETSC(call) ::scree::check_petsc((call), #call)
