#include "io/h5md.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/log.hpp"

namespace scree {

namespace {

const std::string& bodies = H5mdContent::bodies;
const std::string& master = H5mdContent::master;

/// What no body changes while it is there.
constexpr std::array<std::string_view, 4> constant_names{"id", "radius", "mass", "type"};

constexpr std::int64_t longest_chunk = 65536;
constexpr std::int64_t shortest_chunk = 64;
constexpr std::int64_t series_chunk = 1024;

/// Length of a chunk along the axis of bodies: at most longest_chunk and so that the last chunk is about
/// full.
std::int64_t chunk_for(std::int64_t n) {
  const std::int64_t n_chunks = std::max<std::int64_t>((n + longest_chunk - 1) / longest_chunk, 1);
  return std::max((n + n_chunks - 1) / n_chunks, shortest_chunk);
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

H5mdWriter::H5mdWriter(const Comm& comm, std::unique_ptr<hdf5::File> file, const H5mdOptions& options)
    : comm_(comm), file_(std::move(file)), options_(options) {}

H5mdWriter::H5mdWriter(const Comm& comm, const std::string& path, const H5mdHead& head,
                       const H5mdOptions& options)
    : H5mdWriter(comm, std::make_unique<hdf5::File>(comm, path, hdf5::Open::overwrite), options) {
  for (const char* group : {"/h5md/author", "/h5md/creator", "/h5md/modules/units", "/parameters"})
    file_->create_group(group);
  file_->set_attribute("/h5md", "version", std::vector<std::int64_t>{1, 1});
  file_->set_attribute("/h5md/author", "name", "unknown");
  file_->set_attribute("/h5md/creator", "name", "scree");
  file_->set_attribute("/h5md/creator", "version", head.creator_version);
  file_->set_attribute("/h5md/modules/units", "version", std::vector<std::int64_t>{1, 0});
  file_->set_attribute("/h5md/modules/units", "system", "SI");

  const auto dimension = static_cast<std::int64_t>(head.lower.size());
  std::vector<Real> edges;
  std::vector<std::string> boundary;
  for (std::size_t k = 0; k < head.lower.size(); ++k) {
    edges.push_back(head.upper[k] - head.lower[k]);
    boundary.emplace_back(head.periodic[k] ? "periodic" : "none");
  }
  file_->create_group(H5mdContent::box);
  file_->create_group(H5mdContent::observables_group);
  file_->set_attribute(H5mdContent::box, "dimension", dimension);
  file_->set_attribute(H5mdContent::box, "boundary", boundary);
  file_->set_attribute(H5mdContent::box, "lower", head.lower);
  file_->create_dataset(H5mdContent::box + "/edges", hdf5::Type::real64, {dimension});
  file_->write(H5mdContent::box + "/edges", {{0}, {comm_.is_root() ? dimension : 0}},
               std::span<const Real>(edges));
  file_->set_attribute(H5mdContent::box + "/edges", "unit", "m");

  for (const auto& [name, text] : head.texts) file_->write_text("/parameters/" + name, text);
  for (const auto& [name, text] : head.provenance) file_->set_attribute("/parameters", name, text);
  file_->flush();
  files::on_root(comm_, [&] { std::filesystem::remove(xdmf_path()); });  // of a file that was here before
}

H5mdWriter H5mdWriter::resume(const Comm& comm, const std::string& path, std::int64_t step,
                              const H5mdOptions& options) {
  H5mdWriter writer(comm, std::make_unique<hdf5::File>(comm, path, hdf5::Open::append), options);
  hdf5::File& file = *writer.file_;
  H5mdContent& content = writer.content_;
  if (!file.exists("/h5md") || !file.exists(content.H5mdContent::box) ||
      !file.exists(content.observables_group))
    throw InputError(fmt::format("{} is no H5MD file of scree", path));
  content = read_h5md_content(file);
  if (content.columns.empty()) return writer;
  for (const H5mdColumn& column : content.columns)
    if (column.constant && column.name == "id") {
      const auto [first, end] = EvenShare(comm, column.places);
      file.read(column.dataset(), {{first}, {end - first}}, writer.fixed_ids_);
    }
  const auto after = std::upper_bound(content.steps.begin(), content.steps.end(), step);
  content.resize(after - content.steps.begin());
  for (const std::string& name : content.series()) {
    hdf5::Shape shape = file.info(name).shape;
    shape.front() = writer.n_frames();
    file.resize(name, shape);
  }
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
    H5mdColumn column{
        name, type, components,
        options_.fixed_bodies && std::ranges::find(constant_names, name) != constant_names.end(), n};
    hdf5::Shape shape{n};
    hdf5::Shape chunk{1, chunk_for(n)};
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
          options_.fixed_bodies ? hdf5::NewPlaces::undefined : hdf5::NewPlaces::filled, options_.compression);
      define_series(bodies + "/" + name, h5md_unit(unit));
    }
    content_.columns.push_back(column);
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
  if (content_.columns.empty()) throw RunError(file_->path() + ": a frame needs a column named position");
  add("id", "-", 1, hdf5::Type::int64);
  for (const Column& column : columns)
    if (column.name != "position") add_column(column);

  // In the order in which resume() finds them.
  std::sort(content_.columns.begin(), content_.columns.end(),
            [](const H5mdColumn& a, const H5mdColumn& b) { return a.name < b.name; });

  const auto add_observable = [&](const std::string& name, const std::string& unit, hdf5::Type type) {
    const std::string group = H5mdContent::observables_group + "/" + name;
    file_->create_growing_dataset(group + "/value", type, {0}, {series_chunk});
    define_series(group, h5md_unit(unit));
  };
  add_observable("count", "-", hdf5::Type::int64);
  for (const Observable& observable : observables) {
    add_observable(observable.name, observable.unit, hdf5::Type::real64);
    content_.observables.push_back(observable.name);
  }
}

void H5mdWriter::require_same_names(std::span<const Column> columns,
                                    std::span<const Observable> observables) const {
  std::vector<std::string> stored{content_.observables};
  std::vector<std::string> given;
  for (const H5mdColumn& column : content_.columns)
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
void H5mdWriter::write_column(H5mdColumn& column, const IdOrder& order, const std::vector<T>& sorted) {
  const auto n_mine = static_cast<std::int64_t>(order.count());
  hdf5::Slab slab = hdf5::Slab::rows(order.first(), n_mine, column.components);
  if (!column.constant) {
    column.places = std::max(column.places, order.n_total());
    hdf5::Shape shape{n_frames() + 1, column.places};
    if (column.components > 1) shape.push_back(column.components);
    file_->resize(column.dataset(), shape);
    slab = std::move(slab).in_frame(n_frames());
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
  const bool first_ever = content_.columns.empty();
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

  for (H5mdColumn& stored : content_.columns) {
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
  append_to(H5mdContent::series_of("count"), n);
  for (const Observable& observable : observables)
    append_to(H5mdContent::series_of(observable.name), observable.value);
  append_to(master + "/step", step);
  append_to(master + "/time", time);
  file_->flush();

  content_.steps.push_back(step);
  content_.times.push_back(time);
  content_.counts.push_back(n);
}

void H5mdWriter::complete() {
  if (n_shown_ != n_frames()) write_xdmf();
}

std::string H5mdWriter::xdmf_path() const {
  return std::filesystem::path(file_->path()).replace_extension(".xdmf").string();
}

void H5mdWriter::write_xdmf() {
  const std::string heavy = std::filesystem::path(file_->path()).filename().string();
  files::on_root(comm_, [&] { files::write_atomically(xdmf_path(), content_.xdmf(heavy)); });
  n_shown_ = n_frames();
}

}  // namespace scree
