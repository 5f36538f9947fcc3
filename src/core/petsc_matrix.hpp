#pragma once
#include "core/petsc.hpp"

namespace scree {

using MatHandle = PetscHandle<Mat, MatDestroy>;
using VecHandle = PetscHandle<::Vec, VecDestroy>;

}  // namespace scree
