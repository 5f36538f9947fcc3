#pragma once
#include <algorithm>
#include <vector>

namespace scree {

/// As values.assign(n, value), but an array that must grow gets room for twice what it held last, or for n if
/// that is more: arrays of contacts would else be allocated again in every step of a bed that settles.
template <class T>
void reset(std::vector<T>& values, std::size_t n, const T& value = {}) {
  values.resize(n);
  std::fill(values.begin(), values.end(), value);
}
/// As `to = from`, likewise.
template <class T>
void copy_into(const std::vector<T>& from, std::vector<T>& to) {
  to.resize(from.size());
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace scree
