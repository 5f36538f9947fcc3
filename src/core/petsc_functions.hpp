#pragma once
// Else PETSc's headers count calls of MPI in variables of its library.
#define PETSC_HAVE_BROKEN_RECURSIVE_MACRO
#include <petscksp.h>
#include <petscsf.h>

namespace scree {

/// The address of a function or variable of PETSc's library, which is loaded and started when the first one
/// is asked for. Throws std::runtime_error if there is no library or no such name. Local: each rank starts it
/// when it comes to it.
void* petsc_address(const char* name);

/// A variable of PETSc, which has this type there.
template <class Variable>
Variable& petsc_variable(const char* name) {
  return *static_cast<Variable*>(petsc_address(name));
}

/// A function of PETSc, looked up when it is first called. No code is linked with PETSc: it brings eighty
/// libraries with it, which are half of what a small run takes to start, and most runs solve no linear
/// system. Inside of namespace scree the objects below hide PETSc's functions of the same names.
template <class Function>
class PetscFunction;
template <class Result, class... Arguments>
class PetscFunction<Result(Arguments...)> {
 public:
  using Pointer = Result (*)(Arguments...);
  explicit constexpr PetscFunction(const char* name) : name_(name) {}
  Result operator()(Arguments... arguments) const { return static_cast<Pointer>(*this)(arguments...); }
  operator Pointer() const {  // NOLINT(google-explicit-constructor): as the name of a function is one
    if (!function_) function_ = reinterpret_cast<Pointer>(petsc_address(name_));
    return function_;
  }

 private:
  const char* name_;
  mutable Pointer function_ = nullptr;
};

#define SCREE_PETSC_FUNCTION(name) inline const PetscFunction<decltype(::name)> name{#name};
#include "core/petsc_functions.def"
#undef SCREE_PETSC_FUNCTION

}  // namespace scree
