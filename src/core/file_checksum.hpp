#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/section.hpp"

namespace scree {

/// A number that changes with any byte (FNV-1a, 64 bits); `before`: of what comes before these.
std::uint64_t checksum_of(std::string_view bytes, std::uint64_t before = 0xcbf29ce484222325);

/// Declares and reads the key "checksum" of the input file `named` by `key`, which must be readable; empty:
/// there is none. Resolved decks and checkpoints give it, so that a run goes on with the files that it began
/// with: a file with another one is refused.
void describe_checksum(Section& section, std::string_view key, const std::string& named);

}  // namespace scree
