#pragma once
#include <cstdint>

namespace scree {

/// Memory that this process holds now [bytes]; 0 if the system does not say.
std::int64_t memory_in_use();

/// Gives back what was freed and lets peak_memory() start again from what is in use now. Where the system
/// does not allow it, the peak is that of the whole program.
void reset_peak_memory();

}  // namespace scree
