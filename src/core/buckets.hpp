#pragma once
#include <span>
#include <utility>
#include <vector>

namespace scree {

/// Lists of items, one per bucket, in one array.
template <class T, class Start = std::size_t>
class Buckets {
 public:
  Buckets() = default;
  /// From pairs of a bucket and an item; those of one bucket keep their order. O(entries + n_buckets).
  template <class Bucket>
  Buckets(std::span<const std::pair<Bucket, T>> entries, std::size_t n_buckets) : first_(n_buckets + 1) {
    for (const auto& entry : entries) ++first_[static_cast<std::size_t>(entry.first) + 1];
    for (std::size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
    std::vector<Start> next(first_.begin(), first_.end() - 1), order(entries.size());
    for (std::size_t e = 0; e < entries.size(); ++e) order[next[entries[e].first]++] = static_cast<Start>(e);
    items_.reserve(entries.size());
    for (const Start e : order) items_.push_back(entries[e].second);
  }
  std::span<const T> operator[](std::size_t bucket) const {
    return {items_.data() + first_[bucket], items_.data() + first_[bucket + 1]};
  }
  /// Whether all are empty.
  bool empty() const { return items_.empty(); }

 private:
  std::vector<Start> first_;  // of each bucket in items_, and the end
  std::vector<T> items_;
};

}  // namespace scree
