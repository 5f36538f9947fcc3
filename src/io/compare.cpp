#include "io/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "io/files.hpp"
#include "io/pedestrian_archive.hpp"
#include "io/result_file.hpp"
#include "io/table.hpp"

namespace scree {

namespace {

/// Prefix of table columns that measure the machine and not the model.
constexpr std::string_view run_prefix = "wall_";

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
template <class Integer>
bool same_bits(Integer a, Integer b) {
  return a == b;
}

Real distance(double a, double b) {
  const Real d = std::abs(a - b);
  return std::isnan(d) ? HUGE_VAL : d;
}
Real distance(float a, float b) {
  return distance(static_cast<double>(a), static_cast<double>(b));
}
template <class Integer>
Real distance(Integer a, Integer b) {
  const auto larger = static_cast<std::uint64_t>(std::max(a, b));
  return static_cast<Real>(larger - static_cast<std::uint64_t>(std::min(a, b)));
}

/// What this rank found in its rows.
struct Found {
  Real largest = -1;  ///< -1: nothing differs
  std::int64_t n_different = 0;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
};

template <class T>
Found differences(const std::vector<T>& a, const std::vector<T>& b, std::int64_t first_row, int components) {
  Found found;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (same_bits(a[i], b[i])) continue;
    ++found.n_different;
    const Real d = distance(a[i], b[i]);
    if (d <= found.largest) continue;
    found.largest = d;
    found.row = first_row + static_cast<std::int64_t>(i) / components;
  }
  return found;
}

/// Adds what all ranks found in one frame to the verdict on a field. Ties go to the first frame and the first
/// row, so the report does not depend on the ranks.
void add_to(FieldDifference& verdict, const Comm& comm, const Found& found, std::int64_t step,
            std::int64_t first_row, const std::vector<GlobalId>& ids) {
  const std::int64_t n_different = comm.sum(found.n_different);
  if (n_different == 0) return;
  const Real largest = comm.max(found.largest);
  const std::int64_t row =
      comm.min(found.largest == largest ? found.row : std::numeric_limits<std::int64_t>::max());
  const bool mine = row >= first_row && row - first_row < static_cast<std::int64_t>(ids.size());
  const std::int64_t id = comm.max(mine ? ids[static_cast<std::size_t>(row - first_row)] : std::int64_t{-1});
  const bool is_first = verdict.n_different == 0;
  verdict.equal = false;
  verdict.n_different += n_different;
  if (!is_first && largest <= verdict.largest) return;
  verdict.largest = largest;
  verdict.step = step;
  verdict.row = row;
  verdict.id = id;
}

void add_note(FieldDifference& verdict, const std::string& note) {
  verdict.equal = false;
  verdict.note += (verdict.note.empty() ? "" : "; ") + note;
}

const ResultFile::Field* find_field(const ResultFile& file, const std::string& name, bool per_body) {
  const auto found =
      std::find_if(file.fields().begin(), file.fields().end(),
                   [&](const ResultFile::Field& f) { return f.name == name && f.per_body == per_body; });
  return found == file.fields().end() ? nullptr : &*found;
}

class FilePair {
 public:
  FilePair(const Comm& comm, const std::string& first, const std::string& second, bool last_frame_only)
      : comm_(comm), a_(comm, first), b_(comm, second), last_frame_only_(last_frame_only) {
    if (a_.class_of_file() != b_.class_of_file())
      throw InputError(
          fmt::format("cannot compare {} ({}) with {} ({})", first, a_.kind(), second, b_.kind()));
    result_.first = first;
    result_.second = second;
  }

  FileComparison compare() {
    compare_values();
    if (a_.is_h5md()) {
      FieldDifference frames{"frames", "-"};
      if (!last_frame_only_ && a_.n_frames() != b_.n_frames())
        add_note(frames, fmt::format("{} frames against {}", a_.n_frames(), b_.n_frames()));
      if (a_.n_frames() == 0 && b_.n_frames() == 0) return result_;
      if (a_.n_frames() == 0 || b_.n_frames() == 0) add_note(frames, "one file has no frame");
      if (!frames.equal) result_.fields.push_back(frames);
      if (a_.n_frames() == 0 || b_.n_frames() == 0) return result_;
    }
    for (const ResultFile::Field& field : a_.fields()) {
      FieldDifference verdict{field.name, field.unit};
      if (const ResultFile::Field* other = find_field(b_, field.name, field.per_body))
        compare_field(verdict, field, *other);
      else
        add_note(verdict, "only in the first");
      result_.fields.push_back(verdict);
    }
    for (const ResultFile::Field& field : b_.fields()) {
      if (find_field(a_, field.name, field.per_body) != nullptr) continue;
      FieldDifference verdict{field.name, field.unit};
      add_note(verdict, "only in the second");
      result_.fields.push_back(verdict);
    }
    return result_;
  }

 private:
  void compare_values() {
    const files::Texts of_b = b_.values();
    std::map<std::string, std::string> rest(of_b.begin(), of_b.end());
    for (const auto& [name, value] : a_.values()) {
      FieldDifference verdict{name, "-"};
      const auto other = rest.find(name);
      if (other == rest.end()) {
        add_note(verdict, "only in the first");
      } else {
        if (value != other->second) {
          constexpr std::size_t longest_shown = 40;
          add_note(verdict, value.size() + other->second.size() <= longest_shown
                                ? fmt::format("{} against {}", value, other->second)
                                : "the texts differ");
        }
        rest.erase(other);
      }
      result_.fields.push_back(verdict);
    }
    for (const auto& [name, value] : rest) {
      FieldDifference verdict{name, "-"};
      add_note(verdict, "only in the second");
      result_.fields.push_back(verdict);
    }
  }

  void compare_field(FieldDifference& verdict, const ResultFile::Field& in_a, const ResultFile::Field& in_b) {
    if (in_a.type != in_b.type || in_a.components != in_b.components || in_a.in_frames != in_b.in_frames)
      return add_note(verdict, "stored in another form");
    if (!in_a.in_frames && in_a.per_body) return compare_rows(verdict, in_a, 0, in_b, 0);
    if (!in_a.per_body) {
      const std::int64_t n = std::min(in_a.rows, in_b.rows);
      if (last_frame_only_)
        compare_range(verdict, in_a, 0, in_a.rows - 1, in_b, 0, in_b.rows - 1, 1);
      else
        compare_range(verdict, in_a, 0, 0, in_b, 0, 0, n);
      return;
    }
    if (last_frame_only_) return compare_rows(verdict, in_a, a_.n_frames() - 1, in_b, b_.n_frames() - 1);
    for (std::int64_t frame = 0; frame < std::min(a_.n_frames(), b_.n_frames()); ++frame)
      compare_rows(verdict, in_a, frame, in_b, frame);
  }

  /// One frame (or an array without frames); other numbers of rows are reported and the common ones compared.
  void compare_rows(FieldDifference& verdict, const ResultFile::Field& in_a, std::int64_t frame_a,
                    const ResultFile::Field& in_b, std::int64_t frame_b) {
    const std::int64_t rows_a = a_.rows(in_a, frame_a);
    const std::int64_t rows_b = b_.rows(in_b, frame_b);
    if (rows_a != rows_b && verdict.note.empty())
      add_note(verdict, fmt::format("{} rows against {}", rows_a, rows_b));
    compare_range(verdict, in_a, frame_a, 0, in_b, frame_b, 0, std::min(rows_a, rows_b));
  }

  void compare_range(FieldDifference& verdict, const ResultFile::Field& in_a, std::int64_t frame_a,
                     std::int64_t from_a, const ResultFile::Field& in_b, std::int64_t frame_b,
                     std::int64_t from_b, std::int64_t n) {
    const EvenShare share(comm_, n);
    const std::int64_t first = share.first, count = share.last - first;
    const FieldValues a = a_.read(in_a, frame_a, from_a + first, count);
    const FieldValues b = b_.read(in_b, frame_b, from_b + first, count);
    const Found found = std::visit(
        [&]<class T>(const std::vector<T>& values) {
          return differences(values, std::get<std::vector<T>>(b), from_a + first, in_a.components);
        },
        a);
    if (comm_.sum(found.n_different) == 0) return;

    std::vector<GlobalId> ids;
    const ResultFile::Field* id = find_field(a_, "id", true);
    const bool has_ids = in_a.per_body && id != nullptr && id->type == hdf5::Type::int64 &&
                         a_.rows(*id, frame_a) == a_.rows(in_a, frame_a);
    if (has_ids) ids = std::get<std::vector<GlobalId>>(a_.read(*id, frame_a, from_a + first, count));
    const std::int64_t step =
        in_a.in_frames ? a_.steps()[static_cast<std::size_t>(frame_a)] : std::int64_t{-1};
    add_to(verdict, comm_, found, step, from_a + first, ids);
  }

  Comm comm_;
  ResultFile a_, b_;
  bool last_frame_only_;
  FileComparison result_;
};

FileComparison compare_tables(const Comm& comm, const std::string& first, const std::string& second,
                              bool last_row_only) {
  const TableContent a = read_table(comm, first);
  const TableContent b = read_table(comm, second);
  FileComparison result{first, second, {}};
  FieldDifference rows{"rows", "-"};
  if (!last_row_only && a.rows.size() != b.rows.size())
    add_note(rows, fmt::format("{} rows against {}", a.rows.size(), b.rows.size()));
  if (a.rest != b.rest)
    add_note(rows, fmt::format("after its last whole row the {} has {} bytes more",
                               a.rest.empty() ? "second" : "first", (a.rest.empty() ? b : a).rest.size()));
  if (!rows.equal) result.fields.push_back(rows);
  const std::size_t n = std::min(a.rows.size(), b.rows.size());
  const std::size_t n_compared = last_row_only ? std::min<std::size_t>(n, 1) : n;
  const auto column_of = [&](const TableContent& table, std::size_t column) {
    std::vector<Real> values;
    if (!comm.is_root()) return values;  // all ranks hold the table: one of them is enough
    const std::size_t from = last_row_only ? table.rows.size() - n_compared : 0;
    for (std::size_t i = 0; i < n_compared; ++i) values.push_back(table.rows[from + i][column]);
    return values;
  };
  for (std::size_t column = 0; column < a.names.size(); ++column) {
    const std::string& label = a.names[column];
    if (label.starts_with(run_prefix)) continue;
    const std::size_t bracket = std::min(label.find('['), label.size());
    FieldDifference verdict{label.substr(0, bracket), "-"};
    if (bracket + 2 < label.size()) verdict.unit = label.substr(bracket + 1, label.size() - bracket - 2);
    const auto other = std::find(b.names.begin(), b.names.end(), label);
    if (other == b.names.end()) {
      add_note(verdict, "only in the first");
    } else {
      const std::int64_t first_row =
          last_row_only ? static_cast<std::int64_t>(a.rows.size() - n_compared) : 0;
      const Found found =
          differences(column_of(a, column), column_of(b, static_cast<std::size_t>(other - b.names.begin())),
                      first_row, 1);
      add_to(verdict, comm, found, -1, first_row, {});
    }
    result.fields.push_back(verdict);
  }
  for (const std::string& label : b.names) {
    if (label.starts_with(run_prefix) || std::find(a.names.begin(), a.names.end(), label) != a.names.end())
      continue;
    FieldDifference verdict{label, "-"};
    add_note(verdict, "only in the second");
    result.fields.push_back(verdict);
  }
  return result;
}

/// Tables with names in them are compared line by line.
FileComparison compare_lines(const Comm& comm, const std::string& first, const std::string& second,
                             bool last_row_only) {
  const auto lines_of = [&](const std::string& path) {
    std::istringstream stream(files::read_on_all(comm, path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  };
  std::vector<std::string> a = lines_of(first), b = lines_of(second);
  FileComparison result{first, second, {}};
  FieldDifference verdict{"rows", "-"};
  if (last_row_only) {
    for (auto* lines : {&a, &b})
      if (lines->size() > 1) lines->erase(lines->begin(), lines->end() - 1);
  } else if (a.size() != b.size()) {
    add_note(verdict, fmt::format("{} lines against {}", a.size(), b.size()));
  }
  const std::size_t n = std::min(a.size(), b.size());
  std::size_t n_different = 0, first_different = 0;
  for (std::size_t i = n; i-- > 0;) {
    if (a[i] == b[i]) continue;
    ++n_different;
    first_different = i;
  }
  if (n_different > 0)
    add_note(verdict, fmt::format("{} lines differ, the first one is \"{}\" against \"{}\"", n_different,
                                  a[first_different], b[first_different]));
  result.fields.push_back(verdict);
  return result;
}

/// Paths of people: their rows, in the order of frames and ids.
FileComparison compare_trajectories(const Comm& comm, const std::string& first, const std::string& second) {
  const hdf5::File a(comm, first, hdf5::Open::read), b(comm, second, hdf5::Open::read);
  const std::int64_t rows_a = PedestrianArchive::n_rows_in(a), rows_b = PedestrianArchive::n_rows_in(b);
  FileComparison result{first, second, {}};
  if (rows_a != rows_b) {
    FieldDifference rows{"rows", "-"};
    add_note(rows, fmt::format("{} rows against {}", rows_a, rows_b));
    result.fields.push_back(rows);
  }
  const std::int64_t n = std::min(rows_a, rows_b);
  const EvenShare share(comm, n);
  const std::int64_t begin = share.first, count = share.last - begin;
  const std::vector<TrajectoryRow> in_a = PedestrianArchive::read_rows(a, begin, count),
                                   in_b = PedestrianArchive::read_rows(b, begin, count);
  const auto compare_member = [&](const char* name, const char* unit, auto member) {
    const auto values_of = [&](const std::vector<TrajectoryRow>& rows) {
      std::vector<std::conditional_t<std::is_floating_point_v<decltype(TrajectoryRow().*member)>, double,
                                     std::int64_t>>
          values;
      for (const TrajectoryRow& row : rows) values.push_back(row.*member);
      return values;
    };
    FieldDifference verdict{name, unit};
    add_to(verdict, comm, differences(values_of(in_a), values_of(in_b), begin, 1), -1, begin, {});
    result.fields.push_back(verdict);
  };
  compare_member("frame", "-", &TrajectoryRow::frame);
  compare_member("id", "-", &TrajectoryRow::id);
  compare_member("x", "m", &TrajectoryRow::x);
  compare_member("y", "m", &TrajectoryRow::y);
  compare_member("z", "m", &TrajectoryRow::z);
  return result;
}

/// The arrays of numbers in any HDF5 file, by name; texts, such as titles, are left out. Collective.
void find_arrays(const hdf5::File& file, const std::string& group,
                 std::map<std::string, hdf5::Found>& arrays) {
  for (const std::string& member : file.members(group.empty() ? "/" : group)) {
    const std::string name = group + "/" + member;
    const hdf5::Found found = file.find(name);
    if (found.content == hdf5::Content::integers || found.content == hdf5::Content::reals)
      arrays[name] = found;
    else if (found.content == hdf5::Content::something_else && !file.is_dataset(name))
      find_arrays(file, name, arrays);
  }
}

/// Contact problems: all numbers in them.
FileComparison compare_problems(const Comm& comm, const std::string& first, const std::string& second) {
  const hdf5::File a(comm, first, hdf5::Open::read), b(comm, second, hdf5::Open::read);
  std::map<std::string, hdf5::Found> in_a, in_b;
  find_arrays(a, "", in_a);
  find_arrays(b, "", in_b);
  FileComparison result{first, second, {}};
  const auto compare_as = [&]<class T>(T, const std::string& name, const hdf5::Shape& shape,
                                       FieldDifference& verdict) {
    // Every rank reads a share of the rows; of a single value all read it and one looks at it.
    const std::int64_t rows = shape.empty() ? 1 : shape.front();
    const EvenShare share(comm, rows);
    const std::int64_t begin = shape.empty() ? 0 : share.first;
    hdf5::Slab slab{hdf5::Shape(shape.size(), 0), shape};
    if (!shape.empty()) {
      slab.start.front() = begin;
      slab.count.front() = share.last - begin;
    }
    std::vector<T> values_a, values_b;
    a.read_any_width(name, slab, values_a);
    b.read_any_width(name, slab, values_b);
    if (shape.empty() && !comm.is_root()) values_a.clear();
    const std::int64_t of_row = std::max<std::int64_t>(slab.size() / std::max<std::int64_t>(rows, 1), 1);
    add_to(verdict, comm, differences(values_a, values_b, begin, static_cast<int>(of_row)), -1, begin, {});
  };
  for (const auto& [name, found] : in_a) {
    FieldDifference verdict{name, "-"};
    const auto other = in_b.find(name);
    if (other == in_b.end())
      add_note(verdict, "only in the first");
    else if (found.content != other->second.content || found.shape != other->second.shape)
      add_note(verdict, "stored in another form");
    else if (found.content == hdf5::Content::reals)
      compare_as(double{}, name, found.shape, verdict);
    else
      compare_as(std::int64_t{}, name, found.shape, verdict);
    result.fields.push_back(verdict);
  }
  for (const auto& [name, found] : in_b) {
    if (in_a.contains(name)) continue;
    FieldDifference verdict{name, "-"};
    add_note(verdict, "only in the second");
    result.fields.push_back(verdict);
  }
  return result;
}

constexpr const char* trajectory_ending = ".trajectory.h5";
constexpr const char* problem_ending = ".hdf5";

/// Tables of a run that have names in some columns.
bool has_names(const std::string& path) {
  return std::ranges::any_of(std::array{".agents.csv", ".exits.csv", "ensemble.csv"},
                             [&](const char* ending) { return path.ends_with(ending); });
}

FileComparison compare_files(const Comm& comm, const std::string& first, const std::string& second,
                             const CompareOptions& options) {
  const auto both_are = [&](const char* ending) {
    const bool is_first = first.ends_with(ending), is_second = second.ends_with(ending);
    if (is_first != is_second)
      throw InputError(
          fmt::format("cannot compare {} with {}: only one of them is a file *{}", first, second, ending));
    return is_first;
  };
  if (has_names(first) && has_names(second))
    return compare_lines(comm, first, second, options.last_frame_only);
  if (both_are(".csv")) return compare_tables(comm, first, second, options.last_frame_only);
  if (both_are(trajectory_ending)) return compare_trajectories(comm, first, second);
  if (both_are(problem_ending)) return compare_problems(comm, first, second);
  return FilePair(comm, first, second, options.last_frame_only).compare();
}

/// What a file of a results folder is: the part of its name after that of the run, since two runs may have
/// two names. Empty: nothing to compare (pictures, logs, timings).
std::string kind_of(const std::string& file) {
  for (const char* ending : {".certificate.csv", ".scalars.csv", ".agents.csv", ".evacuation.csv",
                             ".exits.csv", trajectory_ending, ".h5"})
    if (file.ends_with(ending)) return ending;
  if (file.ends_with(problem_ending))
    for (const char* start : {".fclib_", ".failed_"})
      if (const std::size_t at = file.rfind(start); at != std::string::npos) return file.substr(at);
  return file.ends_with(".csv") || file.ends_with(problem_ending) ? file : "";
}

/// Steps in the names of checkpoints have a fixed number of digits, so the last name is the latest.
std::string latest_checkpoint(const std::filesystem::path& folder) {
  for (const std::filesystem::path& place : {folder / "checkpoint", folder}) {
    std::string latest;
    if (!std::filesystem::is_directory(place)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(place))
      if (entry.is_regular_file() && entry.path().extension() == ".scree")
        latest = std::max(latest, entry.path().string());
    if (!latest.empty()) return latest;
  }
  return {};
}

/// The files of a results folder that tell of the result, by what they are; of an ensemble those of its
/// members, too.
std::map<std::string, std::string> results_in(const std::filesystem::path& folder,
                                              const std::string& prefix = "") {
  std::map<std::string, std::vector<std::string>> of_kind;
  std::map<std::string, std::string> results;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.starts_with("seed_"))
      results.merge(results_in(entry.path(), prefix + name + "/"));
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    if (const std::string kind = kind_of(name); !kind.empty()) of_kind[kind].push_back(entry.path().string());
  }
  // Several of a kind, of several runs in one folder: their names tell them apart.
  for (const auto& [kind, paths] : of_kind)
    for (const std::string& path : paths)
      results[prefix + (paths.size() == 1 ? kind : std::filesystem::path(path).filename().string())] = path;
  if (const std::string checkpoint = latest_checkpoint(folder); !checkpoint.empty())
    results[prefix + "checkpoint"] = checkpoint;
  return results;
}

struct Pairing {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<std::string> only_in_one;
  bool of_folders = false;
};

Pairing pair_folders(const std::string& first, const std::string& second) {
  const std::map<std::string, std::string> in_first = results_in(first), in_second = results_in(second);
  Pairing pairing;
  pairing.of_folders = true;
  for (const auto& [kind, path] : in_first) {
    const auto other = in_second.find(kind);
    if (other == in_second.end())
      pairing.only_in_one.push_back(path);
    else
      pairing.pairs.emplace_back(path, other->second);
  }
  for (const auto& [kind, path] : in_second)
    if (!in_first.contains(kind)) pairing.only_in_one.push_back(path);
  return pairing;
}

/// Rank 0 looks into the folders, the others learn from it: file systems may show them different states.
Pairing agreed_pairing(const Comm& comm, const std::string& first, const std::string& second) {
  std::string text;
  files::on_root(comm, [&] {
    for (const std::string& path : {first, second})
      if (!std::filesystem::exists(path)) throw InputError(path + " does not exist");
    Pairing pairing;
    const bool folder = std::filesystem::is_directory(first);
    if (folder != std::filesystem::is_directory(second))
      throw InputError(fmt::format("cannot compare {} with {}: only one of them is a folder", first, second));
    if (folder)
      pairing = pair_folders(first, second);
    else
      pairing.pairs.emplace_back(first, second);
    if (pairing.pairs.empty())
      throw InputError(
          fmt::format("{} and {} have no checkpoint, H5MD file or table in common", first, second));
    text = nlohmann::json{{"pairs", pairing.pairs},
                          {"only_in_one", pairing.only_in_one},
                          {"of_folders", pairing.of_folders}}
               .dump();
  });
  comm.broadcast(text);
  const nlohmann::json parsed = nlohmann::json::parse(text);
  return {parsed.at("pairs").get<decltype(Pairing::pairs)>(),
          parsed.at("only_in_one").get<std::vector<std::string>>(), parsed.at("of_folders").get<bool>()};
}

std::string place_of(const FieldDifference& field) {
  std::string place = fmt::format("row {}", field.row);
  if (field.id >= 0) place = fmt::format("id {}, ", field.id) + place;
  if (field.step >= 0) place += fmt::format(", step {}", field.step);
  return place;
}

}  // namespace

bool FileComparison::equal() const {
  return std::all_of(fields.begin(), fields.end(), [](const FieldDifference& f) { return f.equal; });
}

bool Comparison::equal() const {
  return only_in_one.empty() &&
         std::all_of(files.begin(), files.end(), [](const FileComparison& f) { return f.equal(); });
}

std::string Comparison::text() const {
  fmt::memory_buffer buffer;
  const auto out = std::back_inserter(buffer);
  for (const FileComparison& file : files) {
    fmt::format_to(out, "{}\n{}\n", file.first, file.second);
    std::size_t width = 0;
    for (const FieldDifference& field : file.fields) width = std::max(width, field.name.size());
    for (const FieldDifference& field : file.fields) {
      fmt::format_to(out, "  {:<{}}  ", field.name, width);
      if (field.equal) fmt::format_to(out, "bitwise equal");
      if (!field.note.empty()) fmt::format_to(out, "{}", field.note);
      if (field.n_different > 0)
        fmt::format_to(out, "{}{} numbers differ, by at most {:.3g}{} at {}", field.note.empty() ? "" : "; ",
                       field.n_different, field.largest, field.unit == "-" ? "" : " " + field.unit,
                       place_of(field));
      fmt::format_to(out, "\n");
    }
  }
  for (const std::string& path : only_in_one) fmt::format_to(out, "{}\n  has no counterpart\n", path);
  const auto n_different = std::ranges::count_if(files, [](const FileComparison& f) { return !f.equal(); });
  fmt::format_to(out, "{} pairs of files compared, {} differ", files.size(), n_different);
  if (!only_in_one.empty()) fmt::format_to(out, "; {} files are on one side only", only_in_one.size());
  fmt::format_to(out, ": {}\n", equal() ? "the results are bitwise equal" : "the results differ");
  return fmt::to_string(buffer);
}

std::string Comparison::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FileComparison& file : files) {
    nlohmann::ordered_json fields = nlohmann::ordered_json::array();
    for (const FieldDifference& field : file.fields) {
      nlohmann::ordered_json entry{{"name", field.name}, {"unit", field.unit}, {"equal", field.equal}};
      if (field.n_different > 0) {
        entry["n_different"] = field.n_different;
        // JSON has no infinity.
        entry["largest_difference"] = std::isfinite(field.largest) ? nlohmann::ordered_json(field.largest)
                                                                   : nlohmann::ordered_json("infinite");
        entry["row"] = field.row;
        if (field.id >= 0) entry["id"] = field.id;
        if (field.step >= 0) entry["step"] = field.step;
      }
      if (!field.note.empty()) entry["note"] = field.note;
      fields.push_back(entry);
    }
    list.push_back(
        {{"first", file.first}, {"second", file.second}, {"equal", file.equal()}, {"fields", fields}});
  }
  return nlohmann::ordered_json{{"equal", equal()}, {"files", list}, {"only_in_one", only_in_one}}.dump(2) +
         "\n";
}

Comparison compare_results(const Comm& comm, const std::string& first, const std::string& second,
                           const CompareOptions& options) {
  const Pairing pairing = agreed_pairing(comm, first, second);
  Comparison comparison;
  comparison.only_in_one = pairing.only_in_one;
  for (const auto& [a, b] : pairing.pairs) {
    try {
      comparison.files.push_back(compare_files(comm, a, b, options));
    } catch (const InputError& error) {
      if (!pairing.of_folders) throw;
      // One file that a killed run left damaged is no reason to say nothing of the others.
      FieldDifference verdict{"file", "-"};
      add_note(verdict, fmt::format("cannot be compared: {}", error.what()));
      comparison.files.push_back({a, b, {verdict}});
    }
  }
  return comparison;
}

}  // namespace scree
