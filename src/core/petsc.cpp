#include "core/petsc.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/petsc_options.hpp"

namespace scree {

void check_petsc(PetscErrorCode code, const char* call) {
  if (code == 0) return;
  const char* general = nullptr;
  char* specific = nullptr;
  PetscErrorMessage(code, &general, &specific);
  std::string message = std::string(call) + ": PETSc error " + std::to_string(static_cast<int>(code));
  if (general) message += std::string(", ") + general;
  if (specific && *specific) message += std::string(": ") + specific;
  throw std::runtime_error(message);
}

namespace {

bool petsc_is_started = false;

void* petsc_library() {
  // By the name that the linker would have taken; else where it was when scree was built.
  for (const char* file : {SCREE_PETSC_NAME, SCREE_PETSC_FILE})
    if (void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL)) return library;
  throw std::runtime_error(std::string("PETSc, which solves linear systems, is not there: ") + dlerror());
}

/// PETSc would take signals that are watched already (core/stop_signal.hpp), if only for a moment.
void leave_signals() {
  SCREE_PETSC(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"));
}

void start_petsc() {
  // A rank starts it when it comes to it.
  petsc_variable<MPI_Comm>("PETSC_COMM_WORLD") = MPI_COMM_SELF;
  leave_signals();
  SCREE_PETSC(PetscInitializeNoArguments());
  // PETSc would print a page for each error that is thrown here.
  SCREE_PETSC(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
}

}  // namespace

void* petsc_address(const char* name) {
  static void* const library = petsc_library();
  if (!std::exchange(petsc_is_started, true)) start_petsc();
  void* address = dlsym(library, name);
  if (!address) throw std::runtime_error(std::string("PETSc has no ") + name + ": " + dlerror());
  return address;
}

void finish_petsc() {
  if (petsc_is_started) PetscFinalize();
}

namespace {

/// The names of options handed to insert_petsc_options; PETSc's own database is global as well.
std::set<std::string>& inserted_petsc_options() {
  static std::set<std::string> names;
  return names;
}

bool is_petsc_key(const std::string& word) {
  PetscBool valid = PETSC_FALSE;
  SCREE_PETSC(PetscOptionsValidKey(word.c_str(), &valid));
  return valid == PETSC_TRUE;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

void insert_petsc_options(const std::string& text) {
  if (words_of(text).empty()) return;
  bool may_be_value = false;
  std::set<std::string> names;
  for (const std::string& word : words_of(text)) {
    const bool key = is_petsc_key(word);
    if (!key && !may_be_value)
      throw InputError(
          "PETSc options: '" + word + "' in \"" + text +
          "\" is neither an option nor the value of one; options have the form -name or -name value");
    if (key) names.insert(word);
    may_be_value = key;
  }
  SCREE_PETSC(PetscOptionsInsertString(nullptr, text.c_str()));
  inserted_petsc_options().merge(names);
}

void require_petsc_options_used(const Comm& comm) {
  std::set<std::string> given = inserted_petsc_options();
  const char* environment = std::getenv("PETSC_OPTIONS");
  std::string environment_text = environment ? environment : "";
  comm.broadcast(environment_text);
  for (const std::string& word : words_of(environment_text))
    if (is_petsc_key(word)) given.insert(word);
  given.erase("-options_left");  // PETSc asks for it only when it ends
  if (given.empty()) return;

  std::set<std::string> unused_options;
  PetscInt n_unused = 0;
  char** names = nullptr;
  char** values = nullptr;
  SCREE_PETSC(PetscOptionsLeftGet(nullptr, &n_unused, &names, &values));
  for (PetscInt i = 0; i < n_unused; ++i) unused_options.insert(std::string("-") + names[i]);
  SCREE_PETSC(PetscOptionsLeftRestore(nullptr, &n_unused, &names, &values));

  std::string unused;
  for (const std::string& name : given)
    if (comm.all(unused_options.contains(name))) unused += (unused.empty() ? "" : ", ") + name;
  if (!unused.empty())
    throw InputError(
        "PETSc options that nothing in this run asked for (misspelt, or of a solver that is not used): " +
        unused);
}

void forget_petsc_options() {
  inserted_petsc_options().clear();
  if (!petsc_is_started) return;
  SCREE_PETSC(PetscOptionsClear(nullptr));
  leave_signals();
}

}  // namespace scree
