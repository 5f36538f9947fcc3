#pragma once
#include <string>

#include "core/parallel.hpp"

namespace scree {

/// Hands PETSc options in its own form ("-scree_ksp_type cg -scree_ksp_monitor"), from the command line or a
/// deck. Throws InputError if the text has another form. To be called with the same text on all ranks.
void insert_petsc_options(const std::string& text);
/// Throws InputError naming every option that was given to insert_petsc_options or in the environment
/// variable PETSC_OPTIONS but that no rank asked for (a misspelt solver option). Collective.
void require_petsc_options_used(const Comm& comm);
/// As if none had been given to insert_petsc_options.
void forget_petsc_options();

}  // namespace scree
