// The only file that holds the commit: each commit compiles it again and nothing else.
#include "run/version.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <mpi.h>
#include <petscversion.h>

namespace scree {

namespace version {
const char* const number = SCREE_VERSION;
const char* const compiler = SCREE_COMPILER;
const char* const build_type = SCREE_BUILD_TYPE;
const char* const commit = SCREE_COMMIT;
}  // namespace version

namespace {
const char* const with_vtk = SCREE_WITH_VTK;
#ifdef SCREE_CROWD
const char* const with_crowds = "with crowds";
#else
const char* const with_crowds = "without crowds";
#endif
}  // namespace

std::string version_text() {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string mpi(library, static_cast<std::size_t>(length));
  return fmt::format("scree {} (commit {}, {}, {}); {}; PETSc {}.{}.{}; HDF5 {}.{}.{}; {}; {}",
                     version::number, version::commit, version::compiler, version::build_type,
                     mpi.substr(0, mpi.find(',')), PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                     PETSC_VERSION_SUBMINOR, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, with_vtk,
                     with_crowds);
}

}  // namespace scree
