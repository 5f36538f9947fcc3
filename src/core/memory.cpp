// Replaces operator new for the whole program, for two reasons:
// - Arrays of megabytes get pages of 2 MiB. Sweeps visit bodies block by block, and with pages of 4 KiB every
//   other visit misses the address translation cache (docs/performance.md, "Huge pages").
// - Steps must not allocate, and what a run holds is to be known: what counts is what is asked for here.
#include "core/memory.hpp"

#include <fmt/core.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "core/error.hpp"

// Sanitizers of addresses and of threads bring an operator new of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCREE_OWN_NEW 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SCREE_OWN_NEW 0
#endif
#endif
#ifndef SCREE_OWN_NEW
#define SCREE_OWN_NEW 1
#endif

namespace scree {

namespace {

thread_local std::int64_t allocations = 0;
std::atomic<std::int64_t> live_bytes = 0;  // other threads may give back what one has asked for

#if SCREE_OWN_NEW
constexpr std::size_t huge_page = std::size_t{2} << 20;
/// Below, rounding up to whole pages would waste too much.
constexpr std::size_t huge_from = 2 * huge_page;
constexpr std::size_t max_bytes = std::numeric_limits<std::ptrdiff_t>::max();

/// At the end of what the allocator set aside for a large array, which may be a huge page more than was asked
/// for.
struct Trailer {
  std::size_t size;
  std::uintptr_t mark;  // distinguishes it from what else may stand there
};
std::byte* trailer_of(void* memory) {
  return static_cast<std::byte*>(memory) + malloc_usable_size(memory) - sizeof(Trailer);
}
std::uintptr_t mark_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) ^ 0x9e3779b97f4a7c15U;
}

/// Bytes that are counted for it.
std::int64_t size_of_block(void* memory) {
  const std::size_t usable = malloc_usable_size(memory);
  Trailer trailer{usable, 0};
  if (usable >= huge_from && reinterpret_cast<std::uintptr_t>(memory) % huge_page == 0)
    std::memcpy(&trailer, trailer_of(memory), sizeof trailer);
  return static_cast<std::int64_t>(trailer.mark == mark_of(memory) ? trailer.size : usable);
}

void release(void* memory) {
  live_bytes.fetch_sub(size_of_block(memory), std::memory_order_relaxed);
  std::free(memory);
}

void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  const bool huge = size >= huge_from && size <= max_bytes;
  if (huge && alignment < huge_page) alignment = huge_page;
  while (true) {
    void* memory = nullptr;
    if (alignment <= alignof(std::max_align_t))
      memory = std::malloc(size > 0 ? size : 1);
    else if (posix_memalign(&memory, alignment, size + (huge ? sizeof(Trailer) : 0)) != 0)
      memory = nullptr;
    if (memory) {
      // Only a wish: where the kernel has no huge pages, nothing changes. A last, partly used page is left
      // small.
      if (huge) {
        const int error = errno;  // of a call that the caller may still ask about
        madvise(memory, size / huge_page * huge_page, MADV_HUGEPAGE);
        errno = error;
        const Trailer trailer{size, mark_of(memory)};
        std::memcpy(trailer_of(memory), &trailer, sizeof trailer);
      }
      live_bytes.fetch_add(size_of_block(memory), std::memory_order_relaxed);
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}
#endif

}  // namespace

std::int64_t n_allocations() {
  return allocations;
}

std::int64_t live_memory() {
  return live_bytes.load(std::memory_order_relaxed);
}

bool counts_allocations() {
  return SCREE_OWN_NEW != 0;
}

void keep_freed_memory() {
  // The largest threshold that glibc accepts; what is larger has a mapping of its own.
  constexpr int mapped_from = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, mapped_from);
  mallopt(M_TRIM_THRESHOLD, 2 * mapped_from);
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

std::int64_t memory_limit() {
  std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<std::int64_t>(limit.rlim_cur));
  return bytes;
}

void require_memory(Real bytes, const std::string& what) {
  constexpr Real gib = 1 << 30;
  const auto max = static_cast<Real>(memory_limit());
  if (!(bytes <= max))
    throw InputError(fmt::format("{} needs {:.3g} GiB of memory on one rank; there are {:.3g} GiB", what,
                                 bytes / gib, max / gib));
}

}  // namespace scree

#if SCREE_OWN_NEW
// The other forms of new and delete (arrays, nothrow) are defined by the library in terms of these.
void* operator new(std::size_t size) {
  return scree::allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return scree::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  scree::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  scree::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  scree::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  scree::release(memory);
}
#endif
