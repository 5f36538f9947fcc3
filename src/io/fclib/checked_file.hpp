#pragma once
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/hdf5.hpp"
#include "io/fclib_file.hpp"

/// Parts of io/fclib_file.hpp.
namespace scree::fclib {

inline const std::string local_group = "/fclib_local";
inline const std::string global_group = "/fclib_global";

/// Places [first, last) of a vector.
struct Range {
  std::int64_t first = 0, last = 0;
  Range() = default;
  Range(std::int64_t from, std::int64_t to) : first(from), last(to) {}
  Range(const EvenShare& share) : first(share.first), last(share.last) {}
  std::int64_t size() const { return last - first; }
  std::size_t at(std::int64_t place) const { return static_cast<std::size_t>(place - first); }
};

/// Reads arrays of a file and refuses what is wrong with them. All members are collective; what they throw is
/// the same on all ranks.
class CheckedFile {
 public:
  CheckedFile(const Comm& comm, const std::string& path) : comm_(comm), file_(comm, path, hdf5::Open::read) {}

  const Comm& comm() const { return comm_; }
  hdf5::File& file() { return file_; }
  bool exists(const std::string& name) const { return file_.exists(name); }

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", file_.path(), what));
  }

  /// Refuses the first place of all ranks, of the places of `range` on this rank, that is bad(place): with
  /// text(place).
  template <class Bad, class Text>
  void refuse_first(const Range& range, const Bad& bad, const Text& text) const {
    std::int64_t place = range.first;
    while (place < range.last && !bad(place)) ++place;
    const std::string message =
        message_of_smallest(comm_, place, place < range.last ? std::string(text(place)) : std::string());
    if (!message.empty()) refuse(message);
  }

  std::int64_t integer(const std::string& name) const {
    const hdf5::ObjectInfo found = require(name, hdf5::Content::integers);
    const auto size = hdf5::Slab{{}, found.shape}.size();
    if (found.shape.size() > 1 || size != 1) refuse(fmt::format("{} has {} numbers, not 1", name, size));
    std::vector<std::int64_t> value;
    file_.read_any_width(name, {hdf5::Shape(found.shape.size(), 0), found.shape}, value);
    return value[0];
  }

  /// Length of a dataset of one dimension.
  std::int64_t length(const std::string& name, hdf5::Content content) const {
    const hdf5::ObjectInfo found = require(name, content);
    if (found.shape.size() != 1) refuse(fmt::format("{} has {} dimensions, not 1", name, found.shape.size()));
    return found.shape[0];
  }

  template <class T>
  std::vector<T> read(const std::string& name, const Range& range) const {
    std::vector<T> values;
    file_.read_any_width(name, {{range.first}, {range.size()}}, values);
    if constexpr (std::is_floating_point_v<T>) require_finite(name, range, values);
    return values;
  }

  /// This rank's share of a vector of n_items * width reals; `items` says what is counted.
  VectorShare vector(const std::string& name, std::int64_t n_items, std::int64_t width,
                     std::string_view items) const {
    const std::int64_t found = length(name, hdf5::Content::reals);
    if (found != n_items * width)
      refuse(
          fmt::format("{} has {} numbers, not {} for {} {}", name, found, n_items * width, n_items, items));
    const EvenShare range(comm_, n_items, width);
    return {range.first, read<Real>(name, range)};
  }

  /// Places `range` of a table of reals, counted row by row; nothing if there is no such table.
  VectorShare table(const std::string& name, std::int64_t n_rows, std::int64_t width,
                    const Range& range) const {
    if (!exists(name)) return {};
    const hdf5::ObjectInfo found = require(name, hdf5::Content::reals);
    if (found.shape != hdf5::Shape{n_rows, width})
      refuse(fmt::format("{} has the shape {}, not [{}, {}]", name, found.shape, n_rows, width));
    const Range rows{range.first / width, (range.last + width - 1) / width};
    std::vector<Real> values;
    file_.read_any_width(name, {{rows.first, 0}, {range.size() == 0 ? 0 : rows.size(), width}}, values);
    if (range.size() > 0) {
      const auto skipped = static_cast<std::ptrdiff_t>(range.first - rows.first * width);
      values.erase(values.begin(), values.begin() + skipped);
      values.resize(range.size());
    }
    require_finite(name, range, values, width);
    return {range.first, std::move(values)};
  }

  /// A number from 0 on; 0 if there is no such attribute.
  Real attribute(const std::string& object, const std::string& name) const {
    const Real number = file_.attribute<Real>(object, name).value_or(0);
    if (!(number >= 0 && std::isfinite(number)))
      refuse(fmt::format("the attribute {} of {} is {}, not a number from 0 on", name, object, number));
    return number;
  }

  /// Empty if there is none that can be read: no problem needs a text.
  std::string text(const std::string& name) const {
    const hdf5::ObjectInfo found = file_.find(name);
    if (found.content != hdf5::Content::text || hdf5::Slab{{}, found.shape}.size() != 1) return "";
    try {
      return file_.read_text(name);
    } catch (const CollectiveError&) {
      return "";
    }
  }

  SparseShare matrix(const std::string& name) const;

 private:
  hdf5::ObjectInfo require(const std::string& name, hdf5::Content content) const;
  /// `width` > 1: of a table, whose places are named by row and column.
  void require_finite(const std::string& name, const Range& range, std::span<const Real> values,
                      std::int64_t width = 1) const {
    const auto at = [&](std::int64_t place) { return values[range.at(place)]; };
    refuse_first(
        range, [&](std::int64_t place) { return !std::isfinite(at(place)); },
        [&](std::int64_t place) {
          return width == 1 ? fmt::format("{}[{}] is {}", name, place, at(place))
                            : fmt::format("{}[{}, {}] is {}", name, place / width, place % width, at(place));
        });
  }
  std::vector<std::int64_t> indices(const std::string& name, const Range& range, std::int64_t n) const;
  std::vector<std::int64_t> pointers(const std::string& name, const Range& lists, std::int64_t n_lists,
                                     std::int64_t n_entries) const;

  Comm comm_;
  hdf5::File file_;
};

}  // namespace scree::fclib
