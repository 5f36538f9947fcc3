#include "particles/file_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <span>
#include <string_view>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/input_file.hpp"

namespace scree {
namespace {

constexpr std::string_view item = "ITEM: ";
constexpr std::array<std::string_view, 3> axes{"x", "y", "z"};

/// Where the columns are. -1: not there.
struct Columns {
  std::size_t count = 0;
  std::array<int, 3> position{-1, -1, -1};
  std::array<bool, 3> is_scaled{};  ///< the coordinate is a share of the box
  int radius = -1;
  Real radius_per_number = 1;  ///< a half if the column holds diameters
  int id = -1;
  std::array<int, 3> velocity{-1, -1, -1};
  std::array<int, 3> spin{-1, -1, -1};
  std::array<int, 4> orientation{-1, -1, -1, -1};
  std::vector<std::string> not_taken;

  bool has_velocity() const { return velocity[0] >= 0; }
  template <int D>
  bool has_spin() const {
    return spin[D == 2 ? 2 : 0] >= 0;
  }
};

/// `names`: the header; `where`: its place.
template <int D>
Columns find_columns(std::span<const std::string_view> names, const std::string& where, bool of_dump) {
  Columns columns;
  columns.count = names.size();
  std::vector<bool> taken(names.size(), false);
  const auto column = [&](std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (std::ranges::count(names, name) > 1)
      throw InputError(fmt::format("{}: two columns are called {}", where, name));
    if (found == names.end()) return -1;
    taken[static_cast<std::size_t>(found - names.begin())] = true;
    return static_cast<int>(found - names.begin());
  };
  for (std::size_t k = 0; k < D; ++k) {
    const std::string axis(axes[k]);
    int& place = columns.position[k];
    place = column(axis);
    if (of_dump && place < 0) place = column(axis + "u");
    for (const char* ending : {"s", "su"})
      if (of_dump && place < 0) {
        place = column(axis + ending);
        columns.is_scaled[k] = place >= 0;
      }
    if (place < 0)
      throw InputError(fmt::format(
          "{}: no column {}; the header must name x, y{} and may name radius (or diameter), id, vx, "
          "vy{}, {} and {}",
          where, axis, D == 3 ? ", z" : "", D == 3 ? ", vz" : "",
          D == 3 ? "omegax, omegay, omegaz" : "omegaz", D == 3 ? "qw, qx, qy, qz" : "angle"));
  }
  columns.radius = column("radius");
  if (columns.radius < 0) {
    columns.radius = column("diameter");
    columns.radius_per_number = 0.5;
  }
  columns.id = column("id");
  // All components of a vector, or none.
  const auto vector = [&](const char* start, std::size_t first, std::array<int, 3>& places) {
    std::string missing, there;
    for (std::size_t k = first; k < std::max<std::size_t>(D, first + 1); ++k) {
      const std::string name = start + std::string(axes[k]);
      places[k] = column(name);
      (places[k] < 0 ? missing : there) = name;
    }
    if (!missing.empty() && !there.empty())
      throw InputError(fmt::format("{}: there is a column {}, but none called {}", where, there, missing));
  };
  vector("v", 0, columns.velocity);
  vector("omega", D == 2 ? 2 : 0, columns.spin);
  // Angle in the plane; quaternions as LAMMPS names their components, too.
  if (D == 2) columns.orientation[0] = column("angle");
  for (const auto& parts : {std::array{"qw", "qx", "qy", "qz"}, {"quatw", "quati", "quatj", "quatk"}}) {
    if (D == 2 || columns.orientation[0] >= 0) continue;
    for (std::size_t k = 0; k < 4; ++k) columns.orientation[k] = column(parts[k]);
    if (std::ranges::count(columns.orientation, -1) % 4 != 0)
      throw InputError(
          fmt::format("{}: an orientation needs all of the columns {}", where, fmt::join(parts, ", ")));
  }
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!taken[k] && !names[k].empty()) columns.not_taken.emplace_back(names[k]);
  return columns;
}

using Place = std::function<std::string()>;

/// Adds the row with these fields; `place` says where it is, for messages.
template <int D>
void add_row(const Columns& columns, std::span<const std::string_view> fields, const Place& place,
             FileRows<D>& rows) {
  const auto fail = [&](const std::string& message) { throw InputError(place() + ": " + message); };
  if (fields.size() != columns.count)
    fail(fmt::format("{} values, but the header names {} columns", fields.size(), columns.count));
  const auto value_of = [&](int column) {
    const std::string_view field = fields[static_cast<std::size_t>(column)];
    Real value = 0;
    if (!parse(field, value) || !std::isfinite(value)) fail(fmt::format("'{}' is not a number", field));
    return value;
  };
  Vec<D>& x = rows.position.emplace_back();
  for (int k = 0; k < D; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    x[k] = value_of(columns.position[axis]);
    if (columns.is_scaled[axis]) x[k] = rows.box->lower[k] + x[k] * rows.box->length(k);
  }
  if (columns.radius >= 0) {
    rows.radius.push_back(columns.radius_per_number * value_of(columns.radius));
    if (!(rows.radius.back() > 0)) fail(fmt::format("radius {:g} is not positive", rows.radius.back()));
  }
  if (columns.id >= 0) {
    const std::string_view field = fields[static_cast<std::size_t>(columns.id)];
    if (!parse(field, rows.id.emplace_back())) fail(fmt::format("id '{}' is not an integer", field));
  }
  if (columns.has_velocity()) {
    Vec<D>& v = rows.velocity.emplace_back();
    for (int k = 0; k < D; ++k) v[k] = value_of(columns.velocity[static_cast<std::size_t>(k)]);
  }
  if (columns.template has_spin<D>()) {
    Spin<D>& spin = rows.angular_velocity.emplace_back();
    for (int k = 0; k < n_spins<D>; ++k)
      spin[k] = value_of(columns.spin[static_cast<std::size_t>(D == 2 ? 2 : k)]);
  }
  if (columns.orientation[0] >= 0) {
    Orientation<D>& turn = rows.orientation.emplace_back();
    for (int k = 0; k < (D == 2 ? 1 : 4); ++k)
      turn[k] = value_of(columns.orientation[static_cast<std::size_t>(k)]);
    constexpr Real printed = 1e-3;  // digits of a text file
    if (D == 3 && !(std::abs(norm(turn) - 1) < printed))
      fail(fmt::format("a quaternion of length {:g}, not 1", norm(turn)));
    if (D == 3) turn *= 1 / norm(turn);
  }
}

/// The lines that begin in [begin, end) of the file, whole; `begin` becomes where the first of them does.
std::string read_lines(const std::string& path, std::ifstream& file, std::int64_t& begin, std::int64_t end) {
  std::string text;
  if (begin >= end) return text;
  file.clear();
  std::string line;
  if (begin > 0) {
    // Unless the byte before ends a line, the first line here began earlier and is another rank's.
    file.seekg(begin - 1);
    std::getline(file, line);
    begin += static_cast<std::int64_t>(line.size());
    if (begin >= end) return text;
  }
  file.seekg(begin);
  text.resize(static_cast<std::size_t>(end - begin));
  file.read(text.data(), end - begin);
  if (file.gcount() != end - begin) throw InputError(path + ": cannot be read to its end");
  if (text.back() != '\n' && std::getline(file, line)) {
    text += line;
    if (!file.eof()) text += '\n';
  }
  return text;
}

/// Calls f(line, offset) for each line of `text`, which begins at offset 0.
template <class F>
void for_each_line(std::string_view text, F&& f) {
  std::int64_t at = 0;
  while (!text.empty()) {
    const auto length = std::min(text.find('\n'), text.size());
    f(text.substr(0, length), at);
    at += static_cast<std::int64_t>(length) + 1;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

/// The words of a line, which blanks separate.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blank = " \t\r";
  std::vector<std::string_view> words;
  while (true) {
    const auto first = line.find_first_not_of(blank);
    if (first == line.npos) return words;
    line.remove_prefix(first);
    const auto length = std::min(line.find_first_of(blank), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

std::ifstream open_binary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be opened");
  return file;
}

/// Where a frame of a dump is [bytes from the start of the file].
struct DumpFrame {
  std::int64_t number = 0;
  std::int64_t begin = 0;  ///< its line "ITEM: TIMESTEP"
  std::int64_t atoms = 0;  ///< its line "ITEM: ATOMS"
  std::int64_t end = 0;
};

DumpFrame find_frame(const Comm& comm, const std::string& path, std::optional<std::int64_t> wanted) {
  // Lines "ITEM: ..." of this rank's share, in the order of the file.
  std::vector<std::int64_t> items, steps, atoms;
  std::int64_t size = 0;
  share_errors(comm, [&] {
    std::ifstream file = open_binary(path);
    size = static_cast<std::int64_t>(std::filesystem::file_size(path));
    const EvenShare share(comm, size);
    constexpr std::int64_t chunk = std::int64_t{1} << 22;
    for (std::int64_t begin = share.first; begin < share.last; begin += chunk) {
      std::int64_t first = begin;
      const std::string text = read_lines(path, file, first, std::min(begin + chunk, share.last));
      for_each_line(text, [&](std::string_view line, std::int64_t at) {
        if (!line.starts_with(item)) return;
        items.push_back(first + at);
        line.remove_prefix(item.size());
        if (line.starts_with("TIMESTEP")) steps.push_back(first + at);
        if (line.starts_with("ATOMS")) atoms.push_back(first + at);
      });
    }
  });
  const auto n_mine = static_cast<std::int64_t>(atoms.size());
  const std::int64_t n_before = comm.sum_before(n_mine), n_frames = comm.sum(n_mine);
  DumpFrame frame;
  frame.number = wanted.value_or(n_frames - 1);
  if (frame.number < 0 || frame.number >= n_frames)
    throw InputError(fmt::format("{}: no frame {}: the file has {}", path, frame.number, n_frames));
  const bool is_mine = frame.number >= n_before && frame.number < n_before + n_mine;
  frame.atoms =
      comm.max(is_mine ? atoms[static_cast<std::size_t>(frame.number - n_before)] : std::int64_t{-1});
  const auto step_after = std::ranges::upper_bound(steps, frame.atoms);
  frame.begin = comm.max(step_after == steps.begin() ? std::int64_t{-1} : *(step_after - 1));
  if (frame.begin < 0)
    throw InputError(fmt::format("{}: no line \"ITEM: TIMESTEP\" before the bodies", path));
  const auto item_after = std::ranges::upper_bound(items, frame.atoms);
  frame.end = comm.min(item_after == items.end() ? size : *item_after);
  return frame;
}

/// What stands before the rows of a frame.
template <int D>
struct DumpHead {
  std::int64_t n_rows = -1;
  std::int64_t rows_begin = 0;
  Columns columns;
};

template <int D>
DumpHead<D> read_dump_head(const std::string& path, const DumpFrame& frame, FileRows<D>& rows) {
  std::ifstream file = open_binary(path);
  DumpHead<D> head;
  const std::string where = fmt::format("{}: frame {}", path, frame.number);
  // The units are told once, at the start of the file.
  std::string line;
  if (std::getline(file, line) && trimmed(line) == "ITEM: UNITS" && std::getline(file, line))
    rows.unit_system = std::string(trimmed(line));
  file.clear();
  file.seekg(frame.begin);
  while (std::getline(file, line)) {
    std::string_view what = trimmed(line);
    if (!what.starts_with(item)) continue;
    what.remove_prefix(item.size());
    if (what.starts_with("NUMBER OF ATOMS")) {
      std::getline(file, line);
      if (!parse(trimmed(line), head.n_rows) || head.n_rows < 0)
        throw InputError(fmt::format("{}: '{}' is no number of bodies", where, trimmed(line)));
    } else if (what.starts_with("BOX BOUNDS")) {
      const std::vector<std::string_view> kind = words_of(what);
      Box<D> box;
      for (int k = 0; k < 3; ++k) {
        std::string bounds;
        std::getline(file, bounds);
        const std::vector<std::string_view> words = words_of(bounds);
        Real lower = 0, upper = 0, tilt = 0;
        if (words.size() < 2 || !parse(words[0], lower) || !parse(words[1], upper) || !(upper >= lower) ||
            !std::isfinite(upper - lower) || (words.size() > 2 && !parse(words[2], tilt)))
          throw InputError(fmt::format("{}: '{}' are no bounds of the box", where, trimmed(bounds)));
        if (tilt != 0)
          throw InputError(where + ": its box is tilted; only boxes with right angles can be read");
        if (k >= D) continue;
        box.lower[k] = lower, box.upper[k] = upper;
        // "BOX BOUNDS pp ff ff"
        const std::size_t word = 2 + static_cast<std::size_t>(k);
        box.periodic[static_cast<std::size_t>(k)] = kind.size() > word && kind[word] == "pp";
      }
      rows.box = box;
    } else if (what.starts_with("ATOMS")) {
      const std::vector<std::string_view> names = words_of(what);
      head.columns = find_columns<D>(std::span(names).subspan(1), where, true);
      head.rows_begin = file.eof() ? frame.end : static_cast<std::int64_t>(file.tellg());
      if (!rows.box && std::ranges::any_of(head.columns.is_scaled, std::identity{}))
        throw InputError(where +
                         ": coordinates are shares of the box, but there is no line \"ITEM: BOX BOUNDS\"");
      return head;
    }
  }
  throw InputError(where + ": cannot be read");
}

}  // namespace

bool begins_dump(std::string_view first_bytes) {
  return first_bytes.starts_with(item);
}

template <int D>
FileRows<D> read_csv_rows(const Comm& comm, const std::string& path) {
  Columns columns;
  std::string text;
  std::int64_t rows_begin = 0;
  share_errors(comm, [&] {
    std::ifstream file = open_binary(path);
    std::string line;
    std::int64_t number = 0;
    do {
      ++number;
      if (!std::getline(file, line))
        throw InputError(path + ": no header line: expected column names such as x,y,radius");
    } while (is_comment(line));
    // After a last line without line feed there is no position to ask for.
    rows_begin =
        file.eof() ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(file.tellg());
    columns = find_columns<D>(fields_of(line), fmt::format("{}:{}", path, number), false);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
    EvenShare share(comm, size);
    text = read_lines(path, file, share.first, share.last);
  });

  const std::int64_t n_before = comm.sum_before(std::ranges::count(text, '\n'));
  // Where this rank's text begins in the file, to know which lines belong to the header.
  const std::int64_t begin = comm.sum_before(static_cast<std::int64_t>(text.size()));
  FileRows<D> rows;
  rows.not_taken = columns.not_taken;
  share_errors(comm, [&] {
    std::int64_t number = n_before;
    for_each_line(text, [&](std::string_view line, std::int64_t at) {
      ++number;
      if (begin + at < rows_begin || is_comment(line)) return;
      add_row<D>(
          columns, fields_of(line), [&] { return fmt::format("{}:{}", path, number); }, rows);
    });
  });
  return rows;
}

template <int D>
FileRows<D> read_dump_rows(const Comm& comm, const std::string& path, std::optional<std::int64_t> wanted) {
  const DumpFrame frame = find_frame(comm, path, wanted);
  FileRows<D> rows;
  DumpHead<D> head;
  std::string text;
  share_errors(comm, [&] {
    head = read_dump_head<D>(path, frame, rows);
    rows.not_taken = head.columns.not_taken;
    std::ifstream file = open_binary(path);
    const std::int64_t length = std::max<std::int64_t>(frame.end - head.rows_begin, 0);
    const EvenShare share(comm, length);
    std::int64_t begin = head.rows_begin + share.first;
    text = read_lines(path, file, begin, head.rows_begin + share.last);
  });
  const std::int64_t n_before = comm.sum_before(std::ranges::count(text, '\n'));
  share_errors(comm, [&] {
    std::int64_t number = n_before;
    for_each_line(text, [&](std::string_view line, std::int64_t) {
      ++number;
      const std::vector<std::string_view> words = words_of(line);
      if (words.empty()) return;
      add_row<D>(
          head.columns, words,
          [&] { return fmt::format("{}: frame {}, row {}", path, frame.number, number); }, rows);
    });
  });
  const std::int64_t n = comm.sum(static_cast<std::int64_t>(rows.position.size()));
  if (head.n_rows >= 0 && n != head.n_rows)
    throw InputError(fmt::format("{}: frame {}: {} rows, but it says that there are {} (cut short?)", path,
                                 frame.number, n, head.n_rows));
  return rows;
}

template FileRows<2> read_csv_rows<2>(const Comm&, const std::string&);
template FileRows<3> read_csv_rows<3>(const Comm&, const std::string&);
template FileRows<2> read_dump_rows<2>(const Comm&, const std::string&, std::optional<std::int64_t>);
template FileRows<3> read_dump_rows<3>(const Comm&, const std::string&, std::optional<std::int64_t>);

}  // namespace scree
