#include <fmt/core.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/input_file.hpp"
#include "particles/fill.hpp"
#include "particles/redistribute.hpp"

namespace scree {
namespace {

/// This rank's share of the rows of a file. `radius` and `id` are empty if the file has none.
template <int D>
struct Rows {
  std::vector<Vec<D>> position;
  std::vector<Real> radius;
  std::vector<GlobalId> id;
};

/// Where the columns are. -1: not there.
struct Header {
  std::int64_t end = 0;  ///< where the rows begin [bytes]
  std::size_t n_columns = 0;
  std::array<int, 3> axis{-1, -1, -1};
  int radius = -1;
  int id = -1;
};

Header read_header(const std::string& path, std::ifstream& file, int dimension) {
  std::string line;
  std::int64_t number = 0;
  do {
    ++number;
    if (!std::getline(file, line))
      throw InputError(path + ": no header line: expected column names such as x,y,radius");
  } while (is_comment(line));
  Header header;
  // After a last line without line feed there is no position to ask for.
  header.end =
      file.eof() ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(file.tellg());

  const std::vector<std::string_view> names = fields_of(line);
  header.n_columns = names.size();
  const auto column = [&](std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (std::ranges::count(names, name) > 1)
      throw InputError(fmt::format("{}:{}: two columns are called {}", path, number, name));
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
  };
  constexpr std::array<std::string_view, 3> axes{"x", "y", "z"};
  for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
    header.axis[k] = column(axes[k]);
    if (header.axis[k] < 0)
      throw InputError(
          fmt::format("{}:{}: no column {}; the header must name x, y{} and may name radius and id", path,
                      number, axes[k], dimension == 3 ? ", z" : ""));
  }
  header.radius = column("radius");
  header.id = column("id");
  return header;
}

/// The lines that begin in [begin, end) of the file, whole.
std::string read_lines(const std::string& path, std::ifstream& file, std::int64_t begin, std::int64_t end) {
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

template <int D>
Rows<D> read_csv(const Comm& comm, const std::string& path) {
  Header header;
  std::string text;
  agree(comm, [&] {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(path + ": cannot be opened");
    header = read_header(path, file, D);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
    text = read_lines(path, file, share_begin(size, comm.rank(), comm.size()),
                      share_begin(size, comm.rank() + 1, comm.size()));
  });

  const std::int64_t n_before = comm.sum_before(std::ranges::count(text, '\n'));
  const std::int64_t rows_begin = header.end;
  // Where this rank's text begins in the file, to know which lines belong to the header.
  std::int64_t at = comm.sum_before(static_cast<std::int64_t>(text.size()));
  Rows<D> rows;
  agree(comm, [&] {
    std::string_view rest = text;
    for (std::int64_t number = n_before + 1; !rest.empty(); ++number) {
      const auto length = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, length);
      const bool in_header = at < rows_begin;
      at += static_cast<std::int64_t>(length) + 1;
      rest.remove_prefix(std::min(length + 1, rest.size()));
      if (in_header || is_comment(line)) continue;

      const std::vector<std::string_view> fields = fields_of(line);
      const auto fail = [&](const std::string& message) {
        throw InputError(fmt::format("{}:{}: {}", path, number, message));
      };
      if (fields.size() != header.n_columns)
        fail(fmt::format("{} values, but the header names {} columns", fields.size(), header.n_columns));
      const auto value_of = [&](int column) {
        const std::string_view field = fields[static_cast<std::size_t>(column)];
        Real value = 0;
        if (!parse(field, value) || !std::isfinite(value)) fail(fmt::format("'{}' is not a number", field));
        return value;
      };
      Vec<D> x;
      for (int k = 0; k < D; ++k) x[k] = value_of(header.axis[static_cast<std::size_t>(k)]);
      rows.position.push_back(x);
      if (header.radius >= 0) {
        rows.radius.push_back(value_of(header.radius));
        if (!(rows.radius.back() > 0)) fail(fmt::format("radius {:g} is not positive", rows.radius.back()));
      }
      if (header.id >= 0) {
        const std::string_view field = fields[static_cast<std::size_t>(header.id)];
        if (!parse(field, rows.id.emplace_back())) fail(fmt::format("id '{}' is not an integer", field));
      }
    }
  });
  return rows;
}

/// No printing by the HDF5 library while it lives: a failed call shows in what it returns.
class QuietHdf5 {
 public:
  QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Closes an HDF5 object.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  hid_t get() const { return id_; }
  bool is_open() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// An H5MD element: [frame][body] or [frame][body][component] if it changes in time, else without the frames.
struct Element {
  Handle data;
  std::string name;  ///< file:path, for messages
  bool in_time;
  std::vector<hsize_t> shape;

  hsize_t n_frames() const { return in_time ? shape.front() : 1; }
  hsize_t n_bodies() const { return shape[in_time ? 1 : 0]; }
  hsize_t n_components() const { return shape.size() == (in_time ? 3u : 2u) ? shape.back() : 1; }
};

std::optional<Element> open_element(const Handle& file, const std::string& path, const std::string& name) {
  const bool in_time = Handle(H5Gopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Gclose).is_open();
  const std::string full = in_time ? name + "/value" : name;
  Handle data(H5Dopen2(file.get(), full.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.is_open()) return std::nullopt;
  Element element{std::move(data), path + ":" + full, in_time, {}};
  const Handle space(H5Dget_space(element.data.get()), H5Sclose);
  const int n_axes = H5Sget_simple_extent_ndims(space.get());
  const int least = in_time ? 2 : 1;
  if (n_axes < least || n_axes > least + 1)
    throw InputError(fmt::format("{}: {} axes, expected {}", element.name, n_axes,
                                 in_time ? "frame, body (, component)" : "body (, component)"));
  element.shape.resize(static_cast<std::size_t>(n_axes));
  H5Sget_simple_extent_dims(space.get(), element.shape.data(), nullptr);
  return element;
}

/// Rows [first, first + count) of one frame, converted to T.
template <class T>
std::vector<T> read_rows(const Element& element, hsize_t frame, hsize_t first, hsize_t count) {
  std::vector<T> values(count * element.n_components());
  if (values.empty()) return values;
  std::vector<hsize_t> start(element.shape.size(), 0), extent = element.shape;
  const std::size_t body_axis = element.in_time ? 1 : 0;
  if (element.in_time) start[0] = frame, extent[0] = 1;
  start[body_axis] = first, extent[body_axis] = count;
  const Handle space(H5Dget_space(element.data.get()), H5Sclose);
  const Handle memory(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
  const hid_t type = std::is_same_v<T, Real> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
  if (H5Dread(element.data.get(), type, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0)
    throw InputError(element.name + ": cannot be read as numbers (damaged file?)");
  return values;
}

/// Every rank opens the file by itself, for reading: nothing here is collective, so errors are agreed upon as
/// usual.
template <int D>
Rows<D> read_h5md(const Comm& comm, const std::string& path, const std::string& group,
                  std::optional<std::int64_t> wanted_frame) {
  Rows<D> rows;
  agree(comm, [&] {
    const QuietHdf5 quiet;
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.is_open())
      throw InputError(path + ": cannot be opened as HDF5: damaged, cut short, or being written");
    const std::string folder = "/particles/" + group;
    const std::optional<Element> position = open_element(file, path, folder + "/position");
    const std::optional<Element> radius = open_element(file, path, folder + "/radius");
    const std::optional<Element> id = open_element(file, path, folder + "/id");
    if (!position)
      throw InputError(fmt::format("{}: no {}/position: not an H5MD file of these bodies", path, folder));
    if (position->n_components() != D)
      throw InputError(fmt::format("{}: {} components, but the run has {} dimensions", position->name,
                                   position->n_components(), D));

    const auto n_frames = static_cast<std::int64_t>(position->n_frames());
    const std::int64_t frame = wanted_frame.value_or(n_frames - 1);
    if (frame < 0 || frame >= n_frames)
      throw InputError(fmt::format("{}: no frame {}: the file has {}", position->name, frame, n_frames));
    const auto n = static_cast<std::int64_t>(position->n_bodies());
    const auto first = static_cast<hsize_t>(share_begin(n, comm.rank(), comm.size()));
    const auto count = static_cast<hsize_t>(share_begin(n, comm.rank() + 1, comm.size())) - first;
    const auto read = [&]<class T>(const Element& element, std::vector<T>& values) {
      if (&element != &*position &&
          (element.n_bodies() != position->n_bodies() || element.n_components() != 1 ||
           (element.in_time && element.n_frames() != position->n_frames())))
        throw InputError(fmt::format("{}: not one number per body of {}", element.name, position->name));
      values = read_rows<T>(element, static_cast<hsize_t>(frame), first, count);
    };
    std::vector<Real> coordinates;
    read(*position, coordinates);
    if (radius) read(*radius, rows.radius);
    if (id) read(*id, rows.id);

    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      // H5MD marks places of bodies that are not there in this frame by a fill value for the id.
      if (id && rows.id[i] < 0) continue;
      Vec<D>& x = rows.position.emplace_back();
      for (int k = 0; k < D; ++k) {
        x[k] = coordinates[i * D + static_cast<std::size_t>(k)];
        if (!std::isfinite(x[k]))
          throw InputError(fmt::format("{}: row {} is not a number", position->name, first + i));
      }
      if (radius && !(rows.radius[i] > 0 && std::isfinite(rows.radius[i])))
        throw InputError(
            fmt::format("{}: row {}: radius {:g} is not positive", radius->name, first + i, rows.radius[i]));
      if (radius) rows.radius[kept] = rows.radius[i];
      if (id) rows.id[kept] = rows.id[i];
      ++kept;
    }
    if (radius) rows.radius.resize(kept);
    if (id) rows.id.resize(kept);
  });
  return rows;
}

/// Throws InputError on all ranks unless the ids are 0, 1, ..., n - 1 in any order. Collective.
void require_permutation(const Comm& comm, const std::string& path, std::span<const GlobalId> ids,
                         std::int64_t n) {
  std::vector<int> owner(ids.size());
  agree(comm, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= n)
        throw InputError(fmt::format("{}: id {}: the ids of {} bodies must be 0 to {}, in any order", path,
                                     ids[i], n, n - 1));
      owner[i] = static_cast<int>(((ids[i] + 1) * comm.size() - 1) / n);
    }
  });
  std::vector<GlobalId> mine = redistribute<GlobalId>(comm, ids, owner);
  std::ranges::sort(mine);
  agree(comm, [&] {
    const auto twice = std::ranges::adjacent_find(mine);
    if (twice != mine.end()) throw InputError(fmt::format("{}: two bodies have the id {}", path, *twice));
  });
}

/// Bodies from a table: CSV with a header that names the columns, or a frame of an H5MD file (known by its
/// first bytes). Each rank reads a share of the rows. Row numbers count as ids unless the file gives ids.
template <int D>
class FileFill final : public Fill<D> {
 public:
  void describe(Section& section) override {
    section.text("path", path_,
                 {.required = true,
                  .doc = "CSV file with columns x, y (, z), radius and id (the last two may be missing), or "
                         "H5MD file, in "
                         "SI units; looked for in the current folder, then beside the deck"});
    section.integer_or_word("frame", frame_, frame_word_, {"last"},
                            {.range = non_negative, .doc = "which frame of an H5MD file"});
    section.text("group", group_, {.doc = "which group of /particles of an H5MD file"});
    if (!section.reading()) return;
    where_ = section.where("path");
  }
  bool gives_radii() const override { return true; }

  std::vector<NewBody<D>> create(const FillContext<D>& context) const override {
    const Comm& comm = context.comm;
    std::string path;
    bool is_hdf5 = false;
    agree(comm, [&] {
      path = path_of_input(path_, where_);
      std::ifstream file(path, std::ios::binary);
      if (!std::filesystem::is_regular_file(path) || !file)
        throw InputError(where_ + ": file '" + path_ + "' is not there or cannot be opened");
      std::string start(4, ' ');
      file.read(start.data(), 4);
      is_hdf5 = start == "\x89HDF";
      const std::string extension = std::filesystem::path(path).extension().string();
      if (!is_hdf5 && (extension == ".h5" || extension == ".hdf5" || extension == ".h5md"))
        throw InputError(path + ": not an HDF5 file");
    });
    const Rows<D> rows =
        is_hdf5 ? read_h5md<D>(comm, path, group_, frame_word_.empty() ? std::optional(frame_) : std::nullopt)
                : read_csv<D>(comm, path);

    const auto n_mine = static_cast<std::int64_t>(rows.position.size());
    const std::int64_t n_before = comm.sum_before(n_mine);
    const std::int64_t n = comm.sum(n_mine);
    if (n == 0) throw InputError(path + ": no bodies in the file");
    // Ranks without a row do not know which columns there are.
    if (comm.any(!rows.id.empty())) require_permutation(comm, path, rows.id, n);
    if (!context.radius && !comm.any(!rows.radius.empty()))
      throw InputError(where_ + ": neither '" + path + "' nor the deck gives radii");

    std::vector<NewBody<D>> bodies;
    for (std::int64_t i = 0; i < n_mine; ++i) {
      const auto row = static_cast<std::size_t>(i);
      NewBody<D> body{context.first_id + (rows.id.empty() ? n_before + i : rows.id[row]), rows.position[row],
                      0};
      if (context.radius) {
        RandomStream stream(context.seed, body.id, purpose::radius);
        body.radius = context.radius->draw(stream);
      } else {
        body.radius = rows.radius[row];
      }
      bodies.push_back(body);
    }
    return bodies;
  }

 private:
  std::string where_;
  std::string path_;
  std::int64_t frame_ = 0;
  std::string frame_word_ = "last";
  std::string group_ = "all";
};

}  // namespace

SCREE_PLUGIN(Fill, file, FileFill, "from a CSV or H5MD file")

}  // namespace scree
