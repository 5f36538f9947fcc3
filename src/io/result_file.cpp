#include "io/result_file.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.hpp"

namespace scree {

namespace {

/// Calls `use` with an empty vector of the type that is stored.
template <class Use>
void with_type(hdf5::Type type, const Use& use) {
  switch (type) {
    case hdf5::Type::real64:
      return use(std::vector<double>{});
    case hdf5::Type::real32:
      return use(std::vector<float>{});
    case hdf5::Type::int64:
      return use(std::vector<std::int64_t>{});
    case hdf5::Type::int32:
      return use(std::vector<std::int32_t>{});
  }
}

}  // namespace

ResultFile::ResultFile(const Comm& comm, const std::string& path) : comm_(comm), path_(path) {
  arrays_ = std::make_unique<ArrayFileReader>(comm, path);
  if (!arrays_->kind().empty()) {
    for (const ArrayFileReader::ArrayInfo& info : arrays_->arrays())
      fields_.push_back(
          {info.name, info.unit, info.name, info.type, info.components, true, false, info.rows});
    return;
  }
  arrays_.reset();
  h5md_ = std::make_unique<hdf5::File>(comm, path, hdf5::Open::read);
  if (!h5md_->exists("/h5md"))
    throw InputError(path + " is an HDF5 file, but neither a checkpoint of scree nor an H5MD file");
  find_h5md_fields();
}

void ResultFile::find_h5md_fields() {
  content_ = read_h5md_content(*h5md_);
  if (content_.columns.empty()) return;
  // The last frame of a run that was killed may lack its numbers: places that nobody wrote hold -1.
  const std::int64_t min_places = std::ranges::min(content_.columns, {}, &H5mdColumn::places).places;
  std::size_t n_whole = 0;
  while (n_whole < steps().size() && steps()[n_whole] >= 0 && counts()[n_whole] >= 0 &&
         counts()[n_whole] <= min_places)
    ++n_whole;
  content_.resize(n_whole);

  const std::string& master = H5mdContent::master;
  fields_.push_back({"step", "-", master + "/step", hdf5::Type::int64, 1, false, false, n_frames()});
  fields_.push_back({"time", "s", master + "/time", hdf5::Type::real64, 1, false, false, n_frames()});
  const auto unit_of = [&](const std::string& dataset) {
    const std::string unit = h5md_->text_attribute(dataset, "unit");
    return unit.empty() ? std::string("-") : unit;
  };
  for (const H5mdColumn& column : content_.columns)
    fields_.push_back({column.name, unit_of(column.dataset()), column.dataset(), column.type,
                       column.components, true, !column.constant, column.constant ? column.places : 0});
  for (const std::string& name : h5md_->members(H5mdContent::observables_group)) {
    const std::string dataset = H5mdContent::series_of(name);
    fields_.push_back(
        {name, unit_of(dataset), dataset, h5md_->info(dataset).type, 1, false, false, n_frames()});
  }
}

std::string ResultFile::kind() const {
  if (arrays_) return fmt::format("{}, version {}", arrays_->kind(), arrays_->version());
  const auto version = h5md_->attribute<std::vector<std::int64_t>>("/h5md", "version");
  return version && version->size() == 2 ? fmt::format("H5MD {}.{}", version->at(0), version->at(1))
                                         : "H5MD of unknown version";
}

std::int64_t ResultFile::rows(const Field& field, std::int64_t frame) const {
  return field.in_frames ? counts()[frame] : field.rows;
}

FieldValues ResultFile::read(const Field& field, std::int64_t frame, std::int64_t first,
                             std::int64_t count) const {
  FieldValues result;
  with_type(field.type, [&](auto values) {
    if (arrays_) {
      arrays_->array(field.dataset, first, count, values);
    } else {
      hdf5::Slab slab = hdf5::Slab::rows(first, count, field.components);
      if (field.in_frames) slab = std::move(slab).in_frame(frame);
      h5md_->read(field.dataset, slab, values);
    }
    result = std::move(values);
  });
  return result;
}

files::Texts ResultFile::values() const {
  return arrays_ ? arrays_->numbers() : files::Texts{};
}

files::Texts ResultFile::provenance() const {
  if (arrays_) return arrays_->provenance();
  files::Texts result;
  for (const std::string& name : h5md_->attributes("/parameters"))
    result.emplace_back(name, h5md_->text_attribute("/parameters", name));
  for (const std::string& name : h5md_->members("/parameters"))
    result.emplace_back(name, h5md_->read_text("/parameters/" + name));
  return result;
}

}  // namespace scree
