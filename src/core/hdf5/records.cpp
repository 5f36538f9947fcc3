#include "core/hdf5/helpers.hpp"

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
  create(name, type, space, properties);
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

void File::transfer_records(const std::string& name, const RecordLayout& layout, const Slab& slab,
                            void* records, bool writing) {
  const Shape shape{n_records(name, layout)};
  const auto bytes = static_cast<std::int64_t>(stored_bytes(layout));
  move_box(name, record_type(layout, false), bytes, shape, slab, records, writing);
}

}  // namespace scree::hdf5
