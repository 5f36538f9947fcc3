#pragma once
// The symbol SCREE_INTERFACE, which programs define and shared objects with plug-ins refer to. Its name holds
// a hash of the headers, and the MPI, that both were compiled with: a shared object for another scree is
// refused by the dynamic linker.
#include <mpi.h>

#include <scree_interface.hpp>  // made by CMake: SCREE_INTERFACE_HASH

#if defined(OPEN_MPI)
#define SCREE_INTERFACE_MPI openmpi
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
#define SCREE_INTERFACE_MPI mpich
#else
#define SCREE_INTERFACE_MPI othermpi
#endif

#define SCREE_JOIN_INTERFACE(hash, mpi) scree_interface_##hash##_##mpi
#define SCREE_EXPANDED_INTERFACE(hash, mpi) SCREE_JOIN_INTERFACE(hash, mpi)
#define SCREE_INTERFACE SCREE_EXPANDED_INTERFACE(SCREE_INTERFACE_HASH, SCREE_INTERFACE_MPI)
#define SCREE_TEXT_OF(name) #name
#define SCREE_EXPANDED_TEXT(name) SCREE_TEXT_OF(name)
#define SCREE_INTERFACE_NAME SCREE_EXPANDED_TEXT(SCREE_INTERFACE)
