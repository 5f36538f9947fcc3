#pragma once
#include "core/petsc_functions.hpp"

namespace scree {

/// PETSc options for the life of this object, instead of those given before.
class PetscOptionsScope {
 public:
  explicit PetscOptionsScope(const char* text) {
    PetscOptionsCreate(&own_);
    PetscOptionsPush(own_);
    PetscOptionsInsertString(nullptr, text);
  }
  ~PetscOptionsScope() {
    PetscOptionsPop();
    PetscOptionsDestroy(&own_);
  }
  PetscOptionsScope(const PetscOptionsScope&) = delete;
  PetscOptionsScope& operator=(const PetscOptionsScope&) = delete;
  /// How many of them nothing has asked for.
  int n_left() const {
    PetscInt n = 0;
    PetscOptionsAllUsed(own_, &n);
    return static_cast<int>(n);
  }

 private:
  PetscOptions own_ = nullptr;
};

}  // namespace scree
