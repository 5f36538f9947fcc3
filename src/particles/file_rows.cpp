#include "particles/file_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/input_file.hpp"
#include "core/table_reader.hpp"

namespace scree {
namespace {

constexpr std::string_view item = "ITEM: ";
constexpr std::array<std::string_view, 3> axes{"x", "y", "z"};

/// The columns of a table that hold bodies, and the body of its present row.
template <int D>
class BodyColumns {
 public:
  /// What it binds stays where it is.
  BodyColumns(const BodyColumns&) = delete;
  BodyColumns& operator=(const BodyColumns&) = delete;
  BodyColumns(TableReader& table, bool of_dump) : table_(table) {
    for (std::size_t k = 0; k < D; ++k) bind_position(k, of_dump);
    has_radius_ = table.real("radius", radius_, length);
    is_diameter_ = !has_radius_ && table.real("diameter", radius_, length);
    has_id_ = table.integer("id", id_);
    has_velocity_ = bind_vector("v", {.unit = "m/s"}, axes, velocity_);
    has_spin_ = bind_vector("omega", {.unit = "rad/s"}, std::span(axes).last(D == 2 ? 1 : 3), spin_);
    // Angle in the plane; quaternions as LAMMPS names their components, too.
    if (D == 2)
      is_turned_ = table.real("angle", turn_[0], {.unit = "rad"});
    else
      is_turned_ =
          bind_quaternion({"qw", "qx", "qy", "qz"}) || bind_quaternion({"quatw", "quati", "quatj", "quatk"});
  }

  /// Adds the body of the present row; a coordinate may be a share of the box.
  void add_to(FileRows<D>& rows) const {
    Vec<D>& x = rows.position.emplace_back(position_);
    for (int k = 0; k < D; ++k)
      if (is_scaled_[k]) x[k] = rows.box->lower[k] + x[k] * rows.box->length(k);
    if (has_radius_ || is_diameter_) rows.radius.push_back(is_diameter_ ? 0.5 * radius_ : radius_);
    if (!rows.radius.empty() && !(rows.radius.back() > 0))
      table_.refuse(fmt::format("radius {:g} is not positive", rows.radius.back()));
    if (has_id_) rows.id.push_back(id_);
    if (has_velocity_) rows.velocity.push_back(velocity_);
    if (has_spin_) rows.angular_velocity.push_back(spin_);
    if (!is_turned_) return;
    constexpr Real printed = 1e-3;  // digits of a text file
    if (D == 3 && !(std::abs(norm(turn_) - 1) < printed))
      table_.refuse(fmt::format("a quaternion of length {:g}, not 1", norm(turn_)));
    rows.orientation.push_back(D == 3 ? turn_ * (1 / norm(turn_)) : turn_);
  }
  bool is_scaled() const { return std::ranges::any_of(is_scaled_, std::identity{}); }

 private:
  static constexpr ColumnRules length{.unit = "m"};

  void bind_position(std::size_t k, bool of_dump) {
    const std::string axis(axes[k]);
    Real& x = position_[static_cast<int>(k)];
    if (table_.real(axis, x, length) || (of_dump && table_.real(axis + "u", x))) return;
    is_scaled_[k] = of_dump && (table_.real(axis + "s", x) || table_.real(axis + "su", x));
    if (!is_scaled_[k])
      table_.refuse(fmt::format(
          "no column {}; the header must name x, y{} and may name radius (or diameter), id, vx, vy{}, {} and "
          "{}",
          axis, D == 3 ? ", z" : "", D == 3 ? ", vz" : "", D == 3 ? "omegax, omegay, omegaz" : "omegaz",
          D == 3 ? "qw, qx, qy, qz" : "angle"));
  }

  /// All components of a vector, or none.
  template <int N>
  bool bind_vector(const std::string& start, const ColumnRules& rules, std::span<const std::string_view> of,
                   Vec<N>& v) {
    std::string missing, there;
    for (int k = 0; k < N; ++k) {
      const std::string name = start + std::string(of[k]);
      (table_.real(name, v[k], rules) ? there : missing) = name;
    }
    if (!missing.empty() && !there.empty())
      table_.refuse(fmt::format("there is a column {}, but none called {}", there, missing));
    return missing.empty();
  }

  bool bind_quaternion(const std::array<const char*, 4>& parts) {
    int n = 0;
    for (std::size_t k = 0; k < 4; ++k) n += table_.real(parts[k], turn_[static_cast<int>(k)]) ? 1 : 0;
    if (n % 4 != 0)
      table_.refuse(fmt::format("an orientation needs all of the columns {}", fmt::join(parts, ", ")));
    return n > 0;
  }

  TableReader& table_;
  Vec<D> position_{}, velocity_{};
  Spin<D> spin_{};
  Orientation<D> turn_{};
  Real radius_ = 0;
  GlobalId id_ = 0;
  std::array<bool, D> is_scaled_{};
  bool has_radius_ = false, is_diameter_ = false, has_id_ = false, has_velocity_ = false, has_spin_ = false,
       is_turned_ = false;
};

/// This rank's bodies of a table. Collective.
template <int D>
void add_rows(const Comm& comm, TableReader& table, const BodyColumns<D>& columns, FileRows<D>& rows) {
  share_errors(comm, [&] {
    while (table.next()) columns.add_to(rows);
  });
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
      std::istringstream lines(read_lines(path, file, first, std::min(begin + chunk, share.last)));
      for (std::string line; std::getline(lines, line); first += static_cast<std::int64_t>(line.size()) + 1) {
        if (!line.starts_with(item)) continue;
        items.push_back(first);
        const std::string_view what = std::string_view(line).substr(item.size());
        if (what.starts_with("TIMESTEP")) steps.push_back(first);
        if (what.starts_with("ATOMS")) atoms.push_back(first);
      }
    }
  });
  const auto n_mine = static_cast<std::int64_t>(atoms.size());
  const std::int64_t n_before = comm.sum_before(n_mine), n_frames = comm.sum(n_mine);
  DumpFrame frame;
  frame.number = wanted.value_or(n_frames - 1);
  if (frame.number < 0 || frame.number >= n_frames)
    throw InputError(fmt::format("{}: no frame {}: the file has {}", path, frame.number, n_frames));
  const bool is_mine = frame.number >= n_before && frame.number < n_before + n_mine;
  frame.atoms = comm.max(is_mine ? atoms[frame.number - n_before] : std::int64_t{-1});
  const auto step_after = std::ranges::upper_bound(steps, frame.atoms);
  frame.begin = comm.max(step_after == steps.begin() ? std::int64_t{-1} : *(step_after - 1));
  if (frame.begin < 0)
    throw InputError(fmt::format("{}: no line \"ITEM: TIMESTEP\" before the bodies", path));
  const auto item_after = std::ranges::upper_bound(items, frame.atoms);
  frame.end = comm.min(item_after == items.end() ? size : *item_after);
  return frame;
}

/// What stands before the rows of a frame.
struct DumpHead {
  std::int64_t n_rows = -1;
  std::int64_t rows_begin = 0;
  std::string names;  ///< of the columns
};

template <int D>
DumpHead read_dump_head(const std::string& path, const std::string& where, const DumpFrame& frame,
                        FileRows<D>& rows) {
  std::ifstream file = open_binary(path);
  DumpHead head;
  // The units stand once, at the start of the file.
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
        box.periodic[k] = kind.size() > word && kind[word] == "pp";
      }
      rows.box = box;
    } else if (what.starts_with("ATOMS")) {
      head.names = what.substr(std::string_view("ATOMS").size());
      head.rows_begin = file.eof() ? frame.end : static_cast<std::int64_t>(file.tellg());
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
  TableReader table =
      TableReader::of_share(comm, path, "no header line: expected column names such as x,y,radius");
  BodyColumns<D> columns(table, false);
  FileRows<D> rows;
  rows.not_taken = table.others();
  add_rows(comm, table, columns, rows);
  return rows;
}

template <int D>
FileRows<D> read_dump_rows(const Comm& comm, const std::string& path, std::optional<std::int64_t> wanted) {
  const DumpFrame frame = find_frame(comm, path, wanted);
  const std::string where = fmt::format("{}: frame {}", path, frame.number);
  FileRows<D> rows;
  DumpHead head;
  std::string text;
  share_errors(comm, [&] {
    head = read_dump_head<D>(path, where, frame, rows);
    std::ifstream file = open_binary(path);
    const EvenShare share(comm, std::max<std::int64_t>(frame.end - head.rows_begin, 0));
    std::int64_t begin = head.rows_begin + share.first;
    text = read_lines(path, file, begin, head.rows_begin + share.last);
  });
  const std::int64_t n_before = comm.sum_before(std::ranges::count(text, '\n'));
  TableReader table = TableReader::of_words(where, words_of(head.names), std::move(text), n_before);
  BodyColumns<D> columns(table, true);
  if (!rows.box && columns.is_scaled())
    table.refuse("coordinates are shares of the box, but there is no line \"ITEM: BOX BOUNDS\"");
  rows.not_taken = table.others();
  add_rows(comm, table, columns, rows);
  const std::int64_t n = comm.sum(static_cast<std::int64_t>(rows.position.size()));
  if (head.n_rows >= 0 && n != head.n_rows)
    throw InputError(
        fmt::format("{}: {} rows, but it says that there are {} (cut short?)", where, n, head.n_rows));
  return rows;
}

template FileRows<2> read_csv_rows<2>(const Comm&, const std::string&);
template FileRows<3> read_csv_rows<3>(const Comm&, const std::string&);
template FileRows<2> read_dump_rows<2>(const Comm&, const std::string&, std::optional<std::int64_t>);
template FileRows<3> read_dump_rows<3>(const Comm&, const std::string&, std::optional<std::int64_t>);

}  // namespace scree
