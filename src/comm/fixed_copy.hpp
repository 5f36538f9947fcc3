#pragma once
#include <cstddef>
#include <cstring>
#include <utility>

namespace scree {

/// Calls f(copy), where copy(to, from) copies `size` bytes: without a call each for the usual sizes.
template <class F>
void with_copy_of(std::size_t size, F&& f) {
  const auto fixed = [&]<std::size_t n>() {
    if (size == n) f([](std::byte* to, const std::byte* from) { std::memcpy(to, from, n); });
    return size == n;
  };
  const auto any_of = [&]<std::size_t... n>(std::index_sequence<n...>) {
    return (fixed.template operator()<n>() || ...);
  };
  if (!any_of(std::index_sequence<4, 8, 12, 16, 24, 32, 48, 64>{}))
    f([size](std::byte* to, const std::byte* from) { std::memcpy(to, from, size); });
}

}  // namespace scree
