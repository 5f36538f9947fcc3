#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/hdf5.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"
#include "particles/file_rows.hpp"
#include "particles/initial_packing.hpp"
#include "particles/packing/region.hpp"

namespace scree {
namespace {

/// An H5MD element: [frame][body] or [frame][body][component] if it changes in time, else without the frames.
struct Element {
  std::string name;
  bool in_time;
  hdf5::ObjectInfo found;

  std::int64_t n_frames() const { return in_time ? found.shape.front() : 1; }
  std::int64_t n_bodies() const { return found.shape[in_time ? 1 : 0]; }
  std::int64_t n_components() const {
    return found.shape.size() == (in_time ? 3u : 2u) ? found.shape.back() : 1;
  }
};

std::optional<Element> find_element(const hdf5::File& file, const std::string& name) {
  const bool in_time = file.exists(name + "/value");
  Element element{in_time ? name + "/value" : name, in_time, {}};
  element.found = file.find(element.name);
  if (element.found.content == hdf5::Content::nothing ||
      (element.found.content == hdf5::Content::something_else && !file.is_dataset(element.name)))
    return std::nullopt;
  const std::size_t n_axes = element.found.shape.size(), min = in_time ? 2 : 1;
  if (n_axes < min || n_axes > min + 1)
    throw InputError(fmt::format("{}:{}: {} axes, expected {}", file.path(), element.name, n_axes,
                                 in_time ? "frame, body (, component)" : "body (, component)"));
  return element;
}

/// This rank's numbers of a dataset, converted to T.
template <class T>
std::vector<T> read_numbers(const hdf5::File& file, const std::string& name, const hdf5::ObjectInfo& found,
                            const hdf5::Slab& slab) {
  std::vector<T> values;
  if (std::is_same_v<T, GlobalId> || found.content != hdf5::Content::integers) {
    file.read_any_width(name, slab, values);
    return values;
  }
  std::vector<std::int64_t> integers;
  file.read_any_width(name, slab, integers);
  return {integers.begin(), integers.end()};
}

/// The box of a group of particles, if it is fixed: edges, and the lower corner if scree wrote it (else the
/// origin).
template <int D>
std::optional<Box<D>> read_box(const hdf5::File& file, const std::string& group) {
  const std::string edges = group + "/box/edges";
  const hdf5::ObjectInfo found = file.find(edges);
  if (found.shape != hdf5::Shape{D}) return {};
  const std::vector<Real> lengths = read_numbers<Real>(file, edges, found, {{0}, {D}});
  const auto lower = file.attribute<std::vector<Real>>(group + "/box", "lower");
  Box<D> box;
  if (lower && lower->size() == D) std::ranges::copy(*lower, box.lower.component.begin());
  for (int k = 0; k < D; ++k) box.upper[k] = box.lower[k] + lengths[k];
  return box;
}

/// Reads this rank's bodies of one frame of a group of particles.
template <int D>
class H5mdBodies {
 public:
  H5mdBodies(const hdf5::File& file, const std::string& group, std::optional<std::int64_t> wanted_frame)
      : file_(file), group_("/particles/" + group) {
    const std::optional<Element> position = find_element(file_, group_ + "/position");
    if (!position)
      throw InputError(
          fmt::format("{}: no {}/position: not an H5MD file of these bodies", file_.path(), group_));
    const std::string name = file_.path() + ":" + position->name;
    if (position->n_components() != D)
      throw InputError(
          fmt::format("{}: {} components, but the run has {} dimensions", name, position->n_components(), D));
    frame_ = wanted_frame.value_or(position->n_frames() - 1);
    if (frame_ < 0 || frame_ >= position->n_frames())
      throw InputError(fmt::format("{}: no frame {}: the file has {}", name, frame_, position->n_frames()));
    position_ = *position;
  }

  /// Collective.
  FileRows<D> read() {
    std::vector<Real> coordinates, radius, velocity, spin, orientation;
    std::vector<GlobalId> id;
    read_rows("position", D, coordinates);
    const bool has_radius = read_rows("radius", 1, radius);
    const bool has_id = read_rows("id", 1, id);
    const bool has_velocity = read_rows("velocity", D, velocity);
    const bool has_spin = read_rows("angular_velocity", n_spins<D>, spin);
    const bool has_orientation = read_rows("orientation", D == 2 ? 1 : 4, orientation);
    FileRows<D> rows;
    rows.box = read_box<D>(file_, group_);
    for (const std::string& name : file_.members(group_))
      if (name != "box" && std::ranges::find(taken_, name) == taken_.end()) rows.not_taken.push_back(name);
    share_errors(file_.comm(), [&] {
      for (std::size_t i = 0; i < EvenShare(file_.comm(), position_.n_bodies()).size(); ++i) {
        // H5MD marks places of bodies that are not there in this frame by a fill value for the id.
        if (has_id && id[i] < 0) continue;
        take("position", coordinates, i, rows.position.emplace_back());
        if (has_id) rows.id.push_back(id[i]);
        if (has_radius) rows.radius.push_back(radius[i]);
        if (has_radius && !(radius[i] > 0 && std::isfinite(radius[i])))
          refuse("radius", i, fmt::format(": radius {:g} is not positive", radius[i]));
        if (has_velocity) take("velocity", velocity, i, rows.velocity.emplace_back());
        if (has_spin) take("angular_velocity", spin, i, rows.angular_velocity.emplace_back());
        if (!has_orientation) continue;
        Orientation<D>& turn = rows.orientation.emplace_back();
        take("orientation", orientation, i, turn);
        if (D == 3 && !(std::abs(norm(turn) - 1) < 1e-3)) refuse("orientation", i, " is no unit quaternion");
      }
    });
    return rows;
  }

 private:
  /// This rank's rows of an element, `width` numbers each; false if it is not there.
  template <class T>
  bool read_rows(const std::string& name, std::int64_t width, std::vector<T>& values) {
    taken_.push_back(name);
    const std::optional<Element> element = find_element(file_, group_ + "/" + name);
    if (!element) return false;
    if (element->n_bodies() != position_.n_bodies() || element->n_components() != width ||
        (element->in_time && element->n_frames() != position_.n_frames()))
      throw InputError(fmt::format("{}:{}: not {} per body of {}:{}", file_.path(), element->name,
                                   width == 1 ? "one number" : fmt::format("{} numbers", width), file_.path(),
                                   position_.name));
    const EvenShare share(file_.comm(), position_.n_bodies());
    hdf5::Slab slab{hdf5::Shape(element->found.shape.size(), 0), element->found.shape};
    const std::size_t body_axis = element->in_time ? 1 : 0;
    if (element->in_time) slab.start[0] = frame_, slab.count[0] = 1;
    slab.start[body_axis] = share.first, slab.count[body_axis] = share.last - share.first;
    values = read_numbers<T>(file_, element->name, element->found, slab);
    return true;
  }

  /// The numbers of body i of a list of this rank.
  template <int width>
  void take(const char* name, const std::vector<Real>& list, std::size_t i, Vec<width>& v) const {
    for (int k = 0; k < width; ++k) {
      v[k] = list[i * width + static_cast<std::size_t>(k)];
      if (!std::isfinite(v[k])) refuse(name, i, " is not a number");
    }
  }

  [[noreturn]] void refuse(const char* name, std::size_t i, const std::string& what) const {
    const auto row = EvenShare(file_.comm(), position_.n_bodies()).first + static_cast<std::int64_t>(i);
    throw InputError(fmt::format("{}:{}/{}: row {}{}", file_.path(), group_, name, row, what));
  }

  const hdf5::File& file_;
  std::string group_;
  Element position_{};
  std::int64_t frame_ = 0;
  std::vector<std::string> taken_;
};

/// Bodies from a table: CSV with a header that names the columns, a frame of a text dump of LAMMPS, or of an
/// H5MD file (both known by their first bytes). Each rank reads a share of the rows. Bodies are numbered in
/// the order of the ids that the file gives, else of its rows.
template <int D>
class FilePacking final : public InitialPacking<D> {
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
        {.range = {.min = 0, .max = 1},
         .doc = "deepest overlap that the bodies may have at the start, as a share of the smaller radius: "
                "what soft contact, or a solver with a tolerance, leaves, and rigid contact keeps at rest"});
    if (!section.reading()) return;
    where_ = section.where("path");
    where_frame_ = section.where("frame");
    where_group_ = section.where("group");
  }
  bool gives_radii() const override { return true; }
  Real overlap_limit() const override { return std::max(overlap_limit_, InitialPacking<D>::overlap_limit()); }

  NewBodies<D> create(const PackingContext<D>& context) const override {
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
    log_result(path, rows, context.box);

    NewBodies<D> made;
    for (std::int64_t i = 0; i < n_mine; ++i) {
      NewBody<D> body{context.first_id + (rows.id.empty() ? n_before + i : rows.id[i]),
                      into_period(context.box, rows.position[i]), 0};
      RandomStream stream(context.seed, body.id, purpose::radius);
      if (has_radii && !context.sizes.has_radii())
        body.radius = rows.radius[i], body.shape = context.sizes.draw_shape(stream);
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
        return H5mdBodies<D>(hdf5::File(comm, path, hdf5::Open::read), group_, frame).read();
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
  static void log_result(const std::string& path, const FileRows<D>& rows, const Box<D>& box) {
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
  Real overlap_limit_ = overlap_of_settled_bodies;
};

}  // namespace

SCREE_PLUGIN(InitialPacking, file, FilePacking, "from a CSV file, a LAMMPS dump or an H5MD file")

}  // namespace scree
