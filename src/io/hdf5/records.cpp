#include <fmt/core.h>

#include <algorithm>

#include "core/error.hpp"
#include "io/files.hpp"
#include "io/hdf5/helpers.hpp"

namespace scree::hdf5 {

namespace {

std::size_t bytes_of(const RecordField& field) {
  return field.type == RecordField::Type::uint32 ? 4 : 8;
}

std::size_t stored_bytes(const RecordLayout& layout) {
  std::size_t bytes = 0;
  for (const RecordField& field : layout.fields) bytes += bytes_of(field);
  return bytes;
}

/// The compound type of records, as they are in memory or on the disk.
Hdf5Handle record_type(const RecordLayout& layout, bool stored) {
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, stored ? stored_bytes(layout) : layout.bytes), H5Tclose);
  std::size_t at = 0;
  for (const RecordField& field : layout.fields) {
    const bool is_integer = field.type == RecordField::Type::uint32;
    H5Tinsert(type, field.name.c_str(), stored ? at : field.offset,
              stored ? (is_integer ? H5T_STD_U32LE : H5T_IEEE_F64LE)
                     : (is_integer ? H5T_NATIVE_UINT32 : H5T_NATIVE_DOUBLE));
    at += bytes_of(field);
  }
  return type;
}

}  // namespace

void File::create_records(const std::string& name, const RecordLayout& layout, std::int64_t chunk) {
  create_group(parent_of(name));
  reserve(0, name);
  const Hdf5Handle properties = object_properties(H5P_DATASET_CREATE);
  const auto chunk_shape = static_cast<hsize_t>(chunk);
  H5Pset_chunk(properties, 1, &chunk_shape);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  const hsize_t unlimited = H5S_UNLIMITED;
  const Hdf5Handle space = simple_space({0}, &unlimited);
  const Hdf5Handle type = record_type(layout, true);
  const Hdf5Handle made(H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                        H5Dclose);
  require(made.valid(), "create the dataset " + name);
}

std::int64_t File::n_records(const std::string& name, const RecordLayout& layout) const {
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Handle expected = record_type(layout, true);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  require(type.valid() && H5Tequal(type, expected) > 0 && H5Sget_simple_extent_ndims(space) == 1,
          "use the dataset " + name + ", which does not hold the records expected");
  return H5Sget_simple_extent_npoints(space);
}

void File::resize_records(const std::string& name, const RecordLayout& layout, std::int64_t count) {
  const std::int64_t now = n_records(name, layout);
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  hsize_t chunk = 0;
  require(H5Pget_chunk(properties, 1, &chunk) >= 0, "resize " + name);
  const auto n_chunks = [&](std::int64_t n) {
    return (n + static_cast<std::int64_t>(chunk) - 1) / static_cast<std::int64_t>(chunk);
  };
  const std::int64_t growth = n_chunks(count) - n_chunks(now);
  if (growth > 0) reserve(growth * static_cast<std::int64_t>(chunk * stored_bytes(layout)), name);
  const auto extent = static_cast<hsize_t>(count);
  require(H5Dset_extent(dataset, &extent) >= 0, "resize " + name);
}

void File::transfer_records(const std::string& name, const RecordLayout& layout, std::int64_t first,
                            std::int64_t count, void* records, bool writing) {
  const std::int64_t n_stored = n_records(name, layout);
  share_errors(comm_, [&] {
    if (count > 0 && (first < 0 || first + count > n_stored))
      throw_error(fmt::format("{}: {} does not have the rows asked for", path_, name));
  });
  if (n_stored == 0) return;
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle in_file(H5Dget_space(dataset), H5Sclose);
  const auto start = static_cast<hsize_t>(first), n = static_cast<hsize_t>(count);
  const Hdf5Handle in_memory = simple_space({std::max<hsize_t>(n, 1)});
  if (n == 0) {
    H5Sselect_none(in_file);
    H5Sselect_none(in_memory);
  } else {
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, nullptr, &n, nullptr);
  }
  const Hdf5Handle collective(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  const Hdf5Handle type = record_type(layout, false);
  double nothing = 0;  // HDF5 wants an address even from a rank without data
  void* address = n == 0 ? &nothing : records;
  const bool done = (writing ? H5Dwrite(dataset, type, in_memory, in_file, collective, address)
                             : H5Dread(dataset, type, in_memory, in_file, collective, address)) >= 0;
  require(done, (writing ? "write " : "read ") + name);
  if (writing) files::note_written(count * static_cast<std::int64_t>(stored_bytes(layout)));
}

}  // namespace scree::hdf5
