#include "io/h5md.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/log.hpp"

namespace scree {

namespace {

const std::string bodies = "/particles/all";
const std::string box = bodies + "/box";
const std::string observables_group = "/observables";
const std::string count_name = "count";
/// The group whose step and time all other series share.
const std::string master = bodies + "/position";

constexpr std::int64_t longest_chunk = 65536;
constexpr std::int64_t shortest_chunk = 64;
constexpr std::int64_t series_chunk = 1024;

/// Length of a chunk along the axis of bodies: at most longest_chunk and so that the last chunk is about
/// full.
std::int64_t chunk_for(std::int64_t n) {
  const std::int64_t n_chunks = std::max<std::int64_t>((n + longest_chunk - 1) / longest_chunk, 1);
  return std::max((n + n_chunks - 1) / n_chunks, shortest_chunk);
}

template <class T>
T single(const hdf5::Attribute& value, const T& otherwise) {
  const auto* list = std::get_if<std::vector<T>>(&value);
  return list != nullptr && list->size() == 1 ? list->front() : otherwise;
}

template <class T>
std::vector<T> whole_series(const hdf5::File& file, const std::string& name) {
  std::vector<T> values;
  file.read(name, {{0}, file.info(name).shape}, values);
  return values;
}

bool is_constant(const H5mdOptions& options, const std::string& name) {
  const auto& names = options.constant;
  return options.fixed_bodies && (name == "id" || std::find(names.begin(), names.end(), name) != names.end());
}

}  // namespace

std::string h5md_unit(const std::string& unit) {
  if (unit == "-") return "";
  std::string result;
  bool below = false;
  std::string word;
  const auto finish = [&] {
    if (!word.empty() && word != "1") {
      if (!result.empty()) result += ' ';
      if (below) {
        const bool has_power = std::isdigit(static_cast<unsigned char>(word.back())) != 0;
        const std::size_t power = has_power ? word.find_first_of("0123456789") : word.size();
        word = word.substr(0, power) + "-" + (has_power ? word.substr(power) : "1");
      }
      result += word;
    }
    word.clear();
  };
  for (const char c : unit) {
    if (c != ' ' && c != '/') {
      word += c;
      continue;
    }
    finish();
    below = below || c == '/';
  }
  finish();
  return result;
}

std::string H5mdWriter::StoredColumn::dataset() const {
  return bodies + "/" + name + (constant ? "" : "/value");
}

H5mdWriter::H5mdWriter(const Comm& comm, std::unique_ptr<hdf5::File> file, const H5mdOptions& options)
    : comm_(comm), file_(std::move(file)), options_(options) {}

H5mdWriter::H5mdWriter(const Comm& comm, const std::string& path, const H5mdHead& head,
                       const H5mdOptions& options)
    : H5mdWriter(comm,
                 std::make_unique<hdf5::File>(comm, path,
                                              options.overwrite ? hdf5::Open::overwrite : hdf5::Open::create),
                 options) {
  for (const char* group : {"/h5md/author", "/h5md/creator", "/h5md/modules/units", "/parameters"})
    file_->create_group(group);
  const std::vector<std::int64_t> h5md_version{1, 1};
  const std::vector<std::int64_t> units_version{1, 0};
  file_->set_attribute("/h5md", "version", std::span(h5md_version));
  file_->set_attribute("/h5md/author", "name", head.author);
  file_->set_attribute("/h5md/creator", "name", head.creator);
  file_->set_attribute("/h5md/creator", "version", head.creator_version);
  file_->set_attribute("/h5md/modules/units", "version", std::span(units_version));
  file_->set_attribute("/h5md/modules/units", "system", "SI");

  const auto dimension = static_cast<std::int64_t>(head.lower.size());
  std::vector<Real> edges;
  std::vector<std::string> boundary;
  for (std::size_t k = 0; k < head.lower.size(); ++k) {
    edges.push_back(head.upper[k] - head.lower[k]);
    boundary.emplace_back(head.periodic[k] ? "periodic" : "none");
  }
  file_->create_group(box);
  file_->create_group(observables_group);
  file_->set_attribute(box, "dimension", std::span(&dimension, 1));
  file_->set_attribute(box, "boundary", std::span<const std::string>(boundary));
  file_->set_attribute(box, "lower", std::span<const Real>(head.lower));
  file_->create_dataset(box + "/edges", hdf5::Type::real64, {dimension});
  file_->write(box + "/edges", {{0}, {comm_.is_root() ? dimension : 0}}, std::span<const Real>(edges));
  file_->set_attribute(box + "/edges", "unit", "m");

  for (const auto& [name, text] : head.texts) file_->write_text("/parameters/" + name, text);
  for (const auto& [name, text] : head.provenance) file_->set_attribute("/parameters", name, text);
  file_->flush();
  write_xdmf();
}

H5mdWriter H5mdWriter::resume(const Comm& comm, const std::string& path, std::int64_t step,
                              const H5mdOptions& options) {
  H5mdWriter writer(comm, std::make_unique<hdf5::File>(comm, path, hdf5::Open::append), options);
  hdf5::File& file = *writer.file_;
  if (!file.exists("/h5md") || !file.exists(box) || !file.exists(observables_group))
    throw InputError(fmt::format("{} is no H5MD file of scree", path));
  if (!file.exists(master)) return writer;  // stopped before its first frame

  std::vector<std::int64_t> steps = whole_series<std::int64_t>(file, master + "/step");
  std::vector<Real> times = whole_series<Real>(file, master + "/time");
  std::vector<std::int64_t> counts =
      whole_series<std::int64_t>(file, observables_group + "/" + count_name + "/value");
  // A run that died within append() may have written some series and not others.
  std::size_t n_kept = std::min({steps.size(), times.size(), counts.size()});
  std::vector<std::string> series{master + "/step", master + "/time"};
  for (const std::string& name : file.members(bodies)) {
    if (name == "box") continue;
    StoredColumn column{name};
    column.constant = file.is_dataset(bodies + "/" + name);
    const hdf5::DatasetInfo info = file.info(column.dataset());
    const std::size_t axis = column.constant ? 0 : 1;
    if (info.shape.size() <= axis) throw InputError(fmt::format("{}: {} has no axis of bodies", path, name));
    column.type = info.type;
    column.places = info.shape[axis];
    column.components = info.shape.size() == axis + 2 ? static_cast<int>(info.shape[axis + 1]) : 1;
    if (!column.constant) series.push_back(column.dataset());
    if (column.constant && name == "id") {
      const auto [first, end] = EvenShare(comm, column.places);
      file.read(column.dataset(), {{first}, {end - first}}, writer.fixed_ids_);
    }
    writer.columns_.push_back(column);
  }
  for (const std::string& name : file.members(observables_group)) {
    series.push_back(observables_group + "/" + name + "/value");
    if (name != count_name) writer.observables_.push_back(name);
  }
  for (const std::string& name : series)
    n_kept = std::min(n_kept, static_cast<std::size_t>(file.info(name).shape.front()));
  n_kept = std::min(
      n_kept, static_cast<std::size_t>(std::upper_bound(steps.begin(), steps.end(), step) - steps.begin()));
  for (const std::string& name : series) {
    hdf5::Shape shape = file.info(name).shape;
    shape.front() = static_cast<std::int64_t>(n_kept);
    file.resize(name, shape);
  }
  steps.resize(n_kept);
  times.resize(n_kept);
  counts.resize(n_kept);
  writer.steps_ = std::move(steps);
  writer.times_ = std::move(times);
  writer.counts_ = std::move(counts);
  writer.options_.fixed_bodies = !writer.fixed_ids_.empty() || writer.options_.fixed_bodies;
  file.flush();
  writer.write_xdmf();
  return writer;
}

void H5mdWriter::look_after() {
  if (!comm_.is_root() || is_lost_ || file_->is_in_place()) return;
  is_lost_ = true;
  log::warn("{} was removed or replaced during the run: its frames are lost, also those to come",
            file_->path());
}

void H5mdWriter::define_series(const std::string& group, const std::string& unit) {
  if (!unit.empty()) file_->set_attribute(group + "/value", "unit", unit);
  if (group == master) {
    file_->create_growing_dataset(master + "/step", hdf5::Type::int64, {0}, {series_chunk});
    file_->create_growing_dataset(master + "/time", hdf5::Type::real64, {0}, {series_chunk});
    file_->set_attribute(master + "/time", "unit", "s");
    return;
  }
  file_->link(master + "/step", group + "/step");
  file_->link(master + "/time", group + "/time");
}

void H5mdWriter::define(const IdOrder& order, std::span<const Column> columns,
                        std::span<const Observable> observables) {
  const std::int64_t n = order.n_total();
  const auto add = [&](const std::string& name, const std::string& unit, int components, hdf5::Type type) {
    StoredColumn column{name, type, components, is_constant(options_, name) && name != "position", n};
    hdf5::Shape shape{n};
    hdf5::Shape chunk{1, chunk_for(std::max(n, options_.expected_bodies))};
    if (components > 1) {
      shape.push_back(components);
      chunk.push_back(components);
    }
    if (column.constant) {
      file_->create_dataset(column.dataset(), type, shape);
      if (const std::string words = h5md_unit(unit); !words.empty())
        file_->set_attribute(column.dataset(), "unit", words);
    } else {
      shape.insert(shape.begin(), 0);
      file_->create_growing_dataset(
          column.dataset(), type, shape, chunk,
          options_.fixed_bodies ? hdf5::NewPlaces::undefined : hdf5::NewPlaces::filled);
      define_series(bodies + "/" + name, h5md_unit(unit));
    }
    columns_.push_back(column);
  };
  const auto add_column = [&](const Column& column) {
    std::visit(
        [&]<class T>(std::span<const T>) {
          const bool narrow = std::is_same_v<T, double> && options_.single_precision;
          add(column.name, column.unit, column.components, narrow ? hdf5::Type::real32 : hdf5::type_of<T>());
        },
        column.values);
  };
  // Position first, since the others share its step and time.
  for (const Column& column : columns)
    if (column.name == "position") add_column(column);
  if (columns_.empty()) throw RunError(file_->path() + ": a frame needs a column named position");
  add("id", "-", 1, hdf5::Type::int64);
  for (const Column& column : columns)
    if (column.name != "position") add_column(column);

  // In the order in which resume() finds them.
  std::sort(columns_.begin(), columns_.end(),
            [](const StoredColumn& a, const StoredColumn& b) { return a.name < b.name; });

  const auto add_observable = [&](const std::string& name, const std::string& unit, hdf5::Type type) {
    const std::string group = observables_group + "/" + name;
    file_->create_growing_dataset(group + "/value", type, {0}, {series_chunk});
    define_series(group, h5md_unit(unit));
  };
  add_observable(count_name, "-", hdf5::Type::int64);
  for (const Observable& observable : observables) {
    add_observable(observable.name, observable.unit, hdf5::Type::real64);
    observables_.push_back(observable.name);
  }
}

void H5mdWriter::require_same_names(std::span<const Column> columns,
                                    std::span<const Observable> observables) const {
  std::vector<std::string> stored{observables_};
  std::vector<std::string> given;
  for (const StoredColumn& column : columns_)
    if (column.name != "id") stored.push_back(column.name);
  for (const Column& column : columns) given.push_back(column.name);
  for (const Observable& observable : observables) given.push_back(observable.name);
  std::sort(stored.begin(), stored.end());
  std::sort(given.begin(), given.end());
  if (stored != given)
    throw RunError(fmt::format("{} holds the quantities {}, but the frame to be added has {}", file_->path(),
                               fmt::join(stored, ", "), fmt::join(given, ", ")));
}

void H5mdWriter::require_same_bodies(const std::vector<GlobalId>& ids) const {
  share_errors(comm_, [&] {
    if (ids != fixed_ids_)
      throw RunError(file_->path() +
                     ": bodies entered or left although the file was set up for fixed bodies");
  });
}

template <class T>
void H5mdWriter::write_column(StoredColumn& column, const IdOrder& order, const std::vector<T>& sorted) {
  hdf5::Slab slab{{order.first()}, {static_cast<std::int64_t>(order.count())}};
  if (column.components > 1) {
    slab.start.push_back(0);
    slab.count.push_back(column.components);
  }
  if (!column.constant) {
    column.places = std::max(column.places, order.n_total());
    hdf5::Shape shape{n_frames() + 1, column.places};
    if (column.components > 1) shape.push_back(column.components);
    file_->resize(column.dataset(), shape);
    slab.start.insert(slab.start.begin(), n_frames());
    slab.count.insert(slab.count.begin(), 1);
  }
  file_->write(column.dataset(), slab, std::span<const T>(sorted));
}

template <class T>
void H5mdWriter::append_to(const std::string& series, T value) {
  file_->resize(series, {n_frames() + 1});
  file_->write(series, {{n_frames()}, {comm_.is_root() ? 1 : 0}}, std::span<const T>(&value, 1));
}

void H5mdWriter::append(std::int64_t step, Real time, std::span<const GlobalId> ids,
                        std::span<const Column> columns, std::span<const Observable> observables) {
  const IdOrder order(comm_, ids);
  const bool first_ever = columns_.empty();
  const std::int64_t n = order.n_total();

  std::vector<GlobalId> sorted_ids;
  order.apply(ids, sorted_ids);
  if (first_ever) {
    define(order, columns, observables);
    if (options_.fixed_bodies) fixed_ids_ = sorted_ids;
  } else {
    require_same_names(columns, observables);
    if (options_.fixed_bodies) require_same_bodies(sorted_ids);
  }

  for (StoredColumn& stored : columns_) {
    if (stored.constant && !first_ever) continue;
    if (stored.name == "id") {
      write_column(stored, order, sorted_ids);
      continue;
    }
    const auto column =
        std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == stored.name; });
    if (column->components != stored.components)
      throw RunError(fmt::format("{}: {} has {} components, not {}", file_->path(), stored.name,
                                 stored.components, column->components));
    std::visit(
        [&]<class T>(std::span<const T> values) {
          std::vector<T> sorted;
          order.apply(values, sorted, column->components);
          if (std::is_same_v<T, double> && stored.type == hdf5::Type::real32)
            write_column(stored, order, std::vector<float>(sorted.begin(), sorted.end()));
          else
            write_column(stored, order, sorted);
        },
        column->values);
  }
  append_to(observables_group + "/" + count_name + "/value", n);
  for (const Observable& observable : observables)
    append_to(observables_group + "/" + observable.name + "/value", observable.value);
  append_to(master + "/step", step);
  append_to(master + "/time", time);
  file_->flush();

  steps_.push_back(step);
  times_.push_back(time);
  counts_.push_back(n);
  constexpr std::int64_t growth = 4;  // a quarter more
  if (n_frames() >= n_shown_ + std::max<std::int64_t>(1, n_shown_ / growth)) write_xdmf();
}

void H5mdWriter::complete() {
  if (n_shown_ != n_frames()) write_xdmf();
}

void H5mdWriter::write_xdmf() {
  std::filesystem::path beside = file_->path();
  beside.replace_extension(".xdmf");
  files::on_root(comm_, [&] { files::write_atomically(beside.string(), xdmf()); });
  n_shown_ = n_frames();
}

/// The text of NAME.xdmf.
std::string H5mdWriter::xdmf() const {
  const std::string heavy = std::filesystem::path(file_->path()).filename().string();
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);

  const auto number_type = [](hdf5::Type type) {
    return type == hdf5::Type::int64 || type == hdf5::Type::int32 ? "Int" : "Float";
  };
  /// The part of a stored column that belongs to a frame: components [from, from + width).
  const auto data_item = [&](const StoredColumn& column, std::size_t frame, int from, int width) {
    std::vector<std::int64_t> shape{column.places, column.components};
    std::vector<std::int64_t> start{0, from};
    std::vector<std::int64_t> count{counts_[frame], width};
    if (column.components == 1)
      for (auto* list : {&shape, &start, &count}) list->pop_back();
    if (!column.constant) {
      shape.insert(shape.begin(), n_frames());
      start.insert(start.begin(), static_cast<std::int64_t>(frame));
      count.insert(count.begin(), 1);
    }
    const std::vector<std::int64_t> stride(shape.size(), 1);
    fmt::format_to(out,
                   "        <DataItem ItemType=\"HyperSlab\" Dimensions=\"{0}\">\n"
                   "          <DataItem Dimensions=\"3 {1}\" Format=\"XML\">{2} {3} {0}</DataItem>\n"
                   "          <DataItem Dimensions=\"{4}\" NumberType=\"{5}\" Precision=\"{6}\" "
                   "Format=\"HDF\">{7}:{8}</DataItem>\n"
                   "        </DataItem>\n",
                   fmt::join(count, " "), shape.size(), fmt::join(start, " "), fmt::join(stride, " "),
                   fmt::join(shape, " "), number_type(column.type), hdf5::bytes_of(column.type), heavy,
                   column.dataset());
  };

  fmt::format_to(out,
                 "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n <Domain>\n"
                 "  <Grid Name=\"bodies\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
  for (std::size_t frame = 0; frame < times_.size(); ++frame) {
    if (counts_[frame] == 0) continue;  // the format has no empty hyperslab
    fmt::format_to(
        out,
        "   <Grid Name=\"step {}\">\n    <Time Value=\"{}\"/>\n"
        "    <Topology TopologyType=\"Polyvertex\" NodesPerElement=\"1\" NumberOfElements=\"{}\"/>\n",
        steps_[frame], times_[frame], counts_[frame]);
    for (const StoredColumn& column : columns_) {
      if (column.name == "position") {
        fmt::format_to(out, "    <Geometry GeometryType=\"{}\">\n", column.components == 2 ? "XY" : "XYZ");
        data_item(column, frame, 0, column.components);
        fmt::format_to(out, "    </Geometry>\n");
        continue;
      }
      // The reader takes every vector for three numbers, so others are shown as one scalar per component.
      const bool whole = column.components == 1 || column.components == 3;
      for (int k = 0; k < (whole ? 1 : column.components); ++k) {
        const std::string label = whole ? column.name : fmt::format("{}_{}", column.name, "xyzw"[k % 4]);
        fmt::format_to(out, "    <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"Node\">\n", label,
                       column.components == 3 ? "Vector" : "Scalar");
        data_item(column, frame, k, whole ? column.components : 1);
        fmt::format_to(out, "    </Attribute>\n");
      }
    }
    fmt::format_to(out, "   </Grid>\n");
  }
  fmt::format_to(out, "  </Grid>\n </Domain>\n</Xdmf>\n");
  return fmt::to_string(text);
}

}  // namespace scree
