#pragma once
#include <cstdint>
#include <string>

#include "core/types.hpp"

namespace scree {

/// How often this thread has asked `operator new` for memory: every container of ours and of the C++
/// libraries does, C libraries (MPI, PETSc, HDF5) do not. The difference over a piece of code is what it
/// allocates. 0 always in builds with a sanitizer of addresses or threads, which brings an `operator new` of
/// its own.
std::int64_t n_allocations();

/// What this process holds now of the memory that `operator new` gave it, on all threads [bytes]: with what
/// the system's allocator rounds up. The difference over the making of an object is what that object takes. 0
/// where n_allocations() is.
std::int64_t live_memory();

/// Whether n_allocations() and live_memory() count.
bool counts_allocations();

/// Memory that is given back stays with this process for the next array, up to 64 MiB at the end of the heap:
/// lists are rebuilt every few steps, and giving pages to the system in between costs more than the list.
/// Local; called once at the start. Without it the allocator of glibc decides by what happened to be freed
/// before.
void keep_freed_memory();

/// The largest amount of memory that this process has held so far [bytes].
std::int64_t peak_memory();

/// The memory that this process can hope for: that of the machine, less if a limit is set (ulimit -v)
/// [bytes].
std::int64_t memory_limit();

/// Throws InputError "WHAT needs 3.1e+04 GiB of memory, ..." if one process is to hold more bytes than it can
/// hope for: to be asked before what a user named is made, since the system grants memory that it does not
/// have and kills later. Local; the same answer on all ranks of equal machines.
void require_memory(Real bytes, const std::string& what);

}  // namespace scree
