#pragma once
#include <cstdint>

namespace scree {

/// How often this thread has asked `operator new` for memory: every container of ours and of the C++
/// libraries does, C libraries (MPI, PETSc, HDF5) do not. The difference over a piece of code is what it
/// allocates. 0 always in builds with a sanitizer of addresses or threads, which brings an `operator new` of
/// its own.
std::int64_t n_allocations();

/// Whether n_allocations() counts.
bool counts_allocations();

/// The largest amount of memory that this process has held so far [bytes].
std::int64_t peak_memory();

}  // namespace scree
