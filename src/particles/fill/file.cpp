#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/input_crash.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"
#include "core/memory.hpp"
#include "particles/file_rows.hpp"
#include "particles/fill.hpp"
#include "particles/fill/region.hpp"
#include "particles/foreign_storage.hpp"
#include "particles/hdf5_handle.hpp"

namespace scree {
namespace {

/// An H5MD element: [frame][body] or [frame][body][component] if it changes in time, else without the frames.
struct Element {
  Hdf5Handle data;
  std::string name;  ///< file:path, for messages
  bool in_time;
  std::vector<hsize_t> shape;

  hsize_t n_frames() const { return in_time ? shape.front() : 1; }
  hsize_t n_bodies() const { return shape[in_time ? 1 : 0]; }
  hsize_t n_components() const { return shape.size() == (in_time ? 3u : 2u) ? shape.back() : 1; }
};

std::optional<Element> open_element(const Hdf5Handle& file, const std::string& path,
                                    const std::string& name) {
  const bool in_time = Hdf5Handle(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose).valid();
  const std::string full = in_time ? name + "/value" : name;
  Hdf5Handle data(H5Dopen2(file, full.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.valid()) return std::nullopt;
  Element element{std::move(data), path + ":" + full, in_time, {}};
  const Hdf5Handle space(H5Dget_space(element.data), H5Sclose);
  const int n_axes = H5Sget_simple_extent_ndims(space);
  const int least = in_time ? 2 : 1;
  if (n_axes < least || n_axes > least + 1)
    throw InputError(fmt::format("{}: {} axes, expected {}", element.name, n_axes,
                                 in_time ? "frame, body (, component)" : "body (, component)"));
  element.shape.resize(static_cast<std::size_t>(n_axes));
  H5Sget_simple_extent_dims(space, element.shape.data(), nullptr);
  return element;
}

/// Rows [first, first + count) of one frame, converted to T.
template <class T>
std::vector<T> read_rows(const Element& element, hsize_t frame, hsize_t first, hsize_t count) {
  require_memory(static_cast<Real>(count) * static_cast<Real>(element.n_components()) * sizeof(T),
                 element.name);
  std::vector<T> values(count * element.n_components());
  if (values.empty()) return values;
  std::vector<hsize_t> start(element.shape.size(), 0), extent = element.shape;
  const std::size_t body_axis = element.in_time ? 1 : 0;
  if (element.in_time) start[0] = frame, extent[0] = 1;
  start[body_axis] = first, extent[body_axis] = count;
  const Hdf5Handle space(H5Dget_space(element.data), H5Sclose);
  const Hdf5Handle memory(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                          H5Sclose);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
  const hid_t type = std::is_same_v<T, Real> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
  if (H5Dread(element.data, type, memory, space, H5P_DEFAULT, values.data()) < 0)
    throw InputError(element.name + ": cannot be read as numbers (damaged file?)");
  return values;
}

/// Names of the elements of a group of particles.
std::vector<std::string> names_in(const Hdf5Handle& file, const std::string& folder) {
  std::vector<std::string> names;
  H5Literate_by_name(
      file, folder.c_str(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
        static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        return 0;
      },
      &names, H5P_DEFAULT);
  return names;
}

/// The box of a group of particles, if it is fixed: edges, and the lower corner if scree wrote it (else the
/// origin).
template <int D>
std::optional<Box<D>> read_box(const Hdf5Handle& file, const std::string& folder) {
  const Hdf5Handle group(H5Gopen2(file, (folder + "/box").c_str(), H5P_DEFAULT), H5Gclose);
  const Hdf5Handle edges(H5Dopen2(file, (folder + "/box/edges").c_str(), H5P_DEFAULT), H5Dclose);
  if (!group.valid() || !edges.valid()) return {};
  const auto has_axes = [](hid_t space) {
    const Hdf5Handle owner(space, H5Sclose);
    return H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_npoints(space) == D;
  };
  Box<D> box;
  if (!has_axes(H5Dget_space(edges))) return {};
  if (H5Dread(edges, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, box.upper.component.data()) < 0)
    return {};
  const Hdf5Handle lower(H5Aopen(group, "lower", H5P_DEFAULT), H5Aclose);
  if (lower.valid() && has_axes(H5Aget_space(lower)))
    H5Aread(lower, H5T_NATIVE_DOUBLE, box.lower.component.data());
  box.upper += box.lower;
  return box;
}

/// Every rank opens the file by itself, for reading: share_errors() serves as usual.
template <int D>
FileRows<D> read_h5md(const Comm& comm, const std::string& path, const std::string& group,
                      std::optional<std::int64_t> wanted_frame) {
  FileRows<D> rows;
  const InputCrashGuard guard(path, comm.is_root());
  share_errors(comm, [&] {
    if (const std::string elsewhere = content_elsewhere(path); !elsewhere.empty())
      throw InputError(path + ": " + elsewhere);
    const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.valid())
      throw InputError(path + ": cannot be opened as an HDF5 file: damaged, cut short, or being written");
    const std::string folder = "/particles/" + group;
    const std::optional<Element> position = open_element(file, path, folder + "/position");
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
    const EvenShare share(comm, n);
    const auto first = static_cast<hsize_t>(share.first);
    const auto count = static_cast<hsize_t>(share.size());
    // The rows of an element that may not be there, `width` numbers each.
    const auto read = [&]<class T>(const char* name, hsize_t width, std::vector<T>& values) {
      const std::optional<Element> element = open_element(file, path, folder + "/" + name);
      if (!element) return false;
      if (element->n_bodies() != position->n_bodies() || element->n_components() != width ||
          (element->in_time && element->n_frames() != position->n_frames()))
        throw InputError(fmt::format("{}: not {} per body of {}", element->name,
                                     width == 1 ? "one number" : fmt::format("{} numbers", width),
                                     position->name));
      values = read_rows<T>(*element, static_cast<hsize_t>(frame), first, count);
      return true;
    };
    std::vector<Real> coordinates, radius, velocity, spin, orientation;
    std::vector<GlobalId> id;
    read("position", D, coordinates);
    const bool has_radius = read("radius", 1, radius);
    const bool has_id = read("id", 1, id);
    const bool has_velocity = read("velocity", D, velocity);
    const bool has_spin = read("angular_velocity", n_spins<D>, spin);
    const bool has_orientation = read("orientation", D == 2 ? 1 : 4, orientation);
    rows.box = read_box<D>(file, folder);
    for (const std::string& name : names_in(file, folder)) {
      static constexpr std::array<std::string_view, 7> taken{
          "box", "position", "radius", "id", "velocity", "angular_velocity", "orientation"};
      if (std::ranges::find(taken, name) == taken.end()) rows.not_taken.push_back(name);
    }

    // The numbers of body i of a list of this rank.
    const auto vector_of = [&]<int width>(const char* name, const std::vector<Real>& list, std::size_t i,
                                          Vec<width>& v) {
      for (int k = 0; k < width; ++k) {
        v[k] = list[i * width + static_cast<std::size_t>(k)];
        if (!std::isfinite(v[k]))
          throw InputError(fmt::format("{}:{}/{}: row {} is not a number", path, folder, name, first + i));
      }
    };
    for (std::size_t i = 0; i < count; ++i) {
      // H5MD marks places of bodies that are not there in this frame by a fill value for the id.
      if (has_id && id[i] < 0) continue;
      vector_of("position", coordinates, i, rows.position.emplace_back());
      if (has_radius) {
        if (!(radius[i] > 0 && std::isfinite(radius[i])))
          throw InputError(fmt::format("{}:{}/radius: row {}: radius {:g} is not positive", path, folder,
                                       first + i, radius[i]));
        rows.radius.push_back(radius[i]);
      }
      if (has_id) rows.id.push_back(id[i]);
      if (has_velocity) vector_of("velocity", velocity, i, rows.velocity.emplace_back());
      if (has_spin) vector_of("angular_velocity", spin, i, rows.angular_velocity.emplace_back());
      if (has_orientation) {
        Orientation<D>& turn = rows.orientation.emplace_back();
        vector_of("orientation", orientation, i, turn);
        if (D == 3 && !(std::abs(norm(turn) - 1) < 1e-3))
          throw InputError(
              fmt::format("{}:{}/orientation: row {} is no unit quaternion", path, folder, first + i));
      }
    }
  });
  return rows;
}

/// Bodies from a table: CSV with a header that names the columns, a frame of a text dump of LAMMPS, or of an
/// H5MD file (both known by their first bytes). Each rank reads a share of the rows. Bodies are numbered in
/// the order of the ids that the file gives, else of its rows.
template <int D>
class FileFill final : public Fill<D> {
 public:
  void describe(Section& section) override {
    section.text(
        "path", path_,
        {.required = true,
         .doc = "CSV file, text dump of LAMMPS or LIGGGHTS, or H5MD file, in SI units; looked for in the "
                "current folder, then beside the deck. Columns x, y (, z), and if they are there radius or "
                "diameter, id, vx, vy (, vz), omegax, omegay, omegaz (2D: omegaz)"});
    section.integer_or_word(
        "frame", frame_, frame_word_, {"last"},
        {.range = non_negative, .doc = "which frame of a dump or H5MD file, counted from 0"});
    section.text("group", group_, {.doc = "which group of /particles of an H5MD file"});
    section.boolean(
        "velocities", velocities_,
        {.doc = "whether velocities, angular velocities and orientations are taken, if the file has "
                "them and the scheme knows inertia; false: the keys of [particles.NAME] hold"});
    section.real(
        "overlap_limit", overlap_limit_,
        {.range = {.least = 0, .most = 1},
         .doc = "deepest overlap that the bodies may have at the start, as a share of the smaller radius: "
                "what soft contact, or a solver with a tolerance, leaves"});
    if (!section.reading()) return;
    where_ = section.where("path");
    where_frame_ = section.where("frame");
    where_group_ = section.where("group");
  }
  bool gives_radii() const override { return true; }
  Real overlap_limit() const override { return std::max(overlap_limit_, Fill<D>::overlap_limit()); }

  NewBodies<D> create(const FillContext<D>& context) const override {
    const Comm& comm = context.comm;
    std::string path;
    FileRows<D> rows = read(comm, path);
    const auto n_mine = static_cast<std::int64_t>(rows.position.size());
    const std::int64_t n_before = comm.sum_before(n_mine);
    if (comm.sum(n_mine) == 0) throw InputError(path + ": no bodies in the file");
    // Ranks without a row do not know which columns there are.
    if (comm.any(!rows.id.empty())) {
      bool renumbered = false;
      rows.id = numbers_by_id(comm, path, rows.id, renumbered);
      if (renumbered) log::info("{}: bodies are numbered from 0 in the order of their ids there", path);
    }
    const bool has_radii = comm.any(!rows.radius.empty());
    if (!context.sizes.known() && !has_radii)
      throw InputError(where_ + ": neither '" + path + "' nor the deck gives radii");
    if (context.sizes.has_radii() && has_radii) rows.not_taken.emplace_back("radius (the deck gives radii)");
    if (!velocities_) {
      if (comm.any(!rows.velocity.empty() || !rows.angular_velocity.empty()))
        rows.not_taken.emplace_back("velocities (velocities = false)");
      rows.velocity.clear();
      rows.angular_velocity.clear();
      if (!context.sizes.has_shapes()) rows.orientation.clear();
    }
    tell(path, rows, context.box);

    NewBodies<D> made;
    for (std::int64_t i = 0; i < n_mine; ++i) {
      const auto row = static_cast<std::size_t>(i);
      NewBody<D> body{context.first_id + (rows.id.empty() ? n_before + i : rows.id[row]),
                      into_period(context.box, rows.position[row]), 0};
      RandomStream stream(context.seed, body.id, purpose::radius);
      if (has_radii && !context.sizes.has_radii())
        body.radius = rows.radius[row], body.shape = context.sizes.draw_shape(stream);
      else
        body.take(context.sizes.draw(stream));
      made.bodies.push_back(body);
    }
    made.velocity = std::move(rows.velocity);
    made.angular_velocity = std::move(rows.angular_velocity);
    made.orientation = std::move(rows.orientation);
    return made;
  }

 private:
  FileRows<D> read(const Comm& comm, std::string& path) const {
    enum class Format { csv, dump, h5md } format = Format::csv;
    share_errors(comm, [&] {
      path = path_of_input(path_, where_);
      if (const std::string why = obstacle_to_read(path); !why.empty())
        throw InputError(
            fmt::format("{}: file '{}' is not there or cannot be opened: {}", where_, path_, why));
      std::ifstream file(path, std::ios::binary);
      std::string start(6, ' ');
      file.read(start.data(), static_cast<std::streamsize>(start.size()));
      format = start.starts_with("\x89HDF") ? Format::h5md : begins_dump(start) ? Format::dump : Format::csv;
      if (format == Format::h5md)
        if (const std::string why = content_elsewhere(path); !why.empty())
          throw InputError(fmt::format("{}: {}", path, why));
      const std::string extension = std::filesystem::path(path).extension().string();
      if (format != Format::h5md && (extension == ".h5" || extension == ".hdf5" || extension == ".h5md"))
        throw InputError(path + ": not an HDF5 file");
      if (start.starts_with("\x1f\x8b")) throw InputError(path + ": is compressed; unpack it first (gunzip)");
      const auto refuse = [&](const std::string& where, const char* key, const char* kind) {
        throw InputError(
            fmt::format("{}: '{}' has no effect: {} is no {} file; remove it", where, key, path, kind));
      };
      if (format == Format::csv && frame_word_.empty()) refuse(where_frame_, "frame", "dump or H5MD");
      if (format != Format::h5md && group_ != "all") refuse(where_group_, "group", "H5MD");
    });
    const std::optional<std::int64_t> frame = frame_word_.empty() ? std::optional(frame_) : std::nullopt;
    switch (format) {
      case Format::h5md:
        return read_h5md<D>(comm, path, group_, frame);
      case Format::dump:
        return read_dump_rows<D>(comm, path, frame);
      case Format::csv:
        break;
    }
    return read_csv_rows<D>(comm, path);
  }

  /// x moved by whole periods into the domain, along its periodic axes.
  static Vec<D> into_period(const Box<D>& box, Vec<D> x) {
    for (int k = 0; k < D; ++k)
      if (box.is_periodic(k)) x[k] -= std::floor((x[k] - box.lower[k]) / box.length(k)) * box.length(k);
    return wrapped(box, x);
  }

  /// What the file holds and the run does not take.
  static void tell(const std::string& path, const FileRows<D>& rows, const Box<D>& box) {
    if (!rows.not_taken.empty()) log::info("{}: not taken: {}", path, fmt::join(rows.not_taken, ", "));
    if (!rows.unit_system.empty() && rows.unit_system != "si")
      log::warn("{}: its units are \"{}\"; all numbers are taken as SI units", path, rows.unit_system);
    if (!rows.box) return;
    bool differs = false;
    for (int k = 0; k < D; ++k) {
      const Real tolerance = 1e-6 * box.length(k);
      differs = differs || !(std::abs(rows.box->lower[k] - box.lower[k]) <= tolerance &&
                             std::abs(rows.box->upper[k] - box.upper[k]) <= tolerance);
    }
    if (differs)
      log::warn("{}: its box goes from ({:g}) to ({:g}) m, the domain of the run from ({:g}) to ({:g}) m",
                path, fmt::join(rows.box->lower.component, ", "), fmt::join(rows.box->upper.component, ", "),
                fmt::join(box.lower.component, ", "), fmt::join(box.upper.component, ", "));
  }

  std::string where_, where_frame_, where_group_;
  std::string path_;
  std::int64_t frame_ = 0;
  std::string frame_word_ = "last";
  std::string group_ = "all";
  bool velocities_ = true;
  Real overlap_limit_ = 0.01;
};

}  // namespace

SCREE_PLUGIN(Fill, file, FileFill, "from a CSV file, a LAMMPS dump or an H5MD file")

}  // namespace scree
