#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace scree {

/// Calls read(text) for the bytes of a fuzzer. What cannot be read has to end in an InputError, which is bad
/// input with one message; anything else, a RunError as well, escapes and is a finding.
template <class Read>
int read_bytes(const std::uint8_t* bytes, std::size_t size, const Read& read) {
  try {
    read(std::string(reinterpret_cast<const char*>(bytes), size));
  } catch (const InputError&) {
  }
  return 0;
}

}  // namespace scree
