#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/hdf5/helpers.hpp"

namespace scree::hdf5 {

std::int64_t bytes_of(Type type) {
  return type == Type::real64 || type == Type::int64 ? 8 : 4;
}

namespace {

std::string name_of(Type type) {
  switch (type) {
    case Type::real64:
      return "64-bit reals";
    case Type::real32:
      return "32-bit reals";
    case Type::int64:
      return "64-bit integers";
    case Type::int32:
      return "32-bit integers";
  }
  return "";
}

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Bytes on the disk of a dataset whose elements have `bytes` and that is stored in whole chunks.
std::int64_t bytes_in_chunks(std::int64_t bytes, const Shape& shape, const Shape& chunk) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    bytes *= (shape[axis] + chunk[axis] - 1) / chunk[axis] * chunk[axis];
  return bytes;
}

}  // namespace

std::int64_t Slab::size() const {
  return product(count);
}

void File::create(const std::string& name, std::int64_t type, std::int64_t space, std::int64_t properties) {
  const Hdf5Handle made(H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                        H5Dclose);
  require(made.valid(), "create the dataset " + name);
}

void File::create_dataset(const std::string& name, Type type, const Shape& shape, Damage damage) {
  create_group(parent_of(name));
  const Hdf5Handle properties = object_properties(H5P_DATASET_CREATE);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  std::int64_t bytes = bytes_of(type) * product(shape);
  if (damage == Damage::noticed) {
    // In chunks, which the checksum needs, of a length that does not depend on the ranks.
    constexpr std::int64_t max_rows_of_chunk = 1 << 16;
    constexpr std::int64_t bytes_of_checksum = 4;
    Shape chunk = shape;
    chunk[0] = std::min(shape[0], max_rows_of_chunk);
    H5Pset_chunk(properties, static_cast<int>(chunk.size()), extents(chunk).data());
    H5Pset_fletcher32(properties);
    const std::int64_t n_chunks = (shape[0] + chunk[0] - 1) / chunk[0];
    bytes = bytes_in_chunks(bytes_of(type), shape, chunk) + n_chunks * bytes_of_checksum;
  }
  reserve(bytes, name);
  create(name, native(type), simple_space(extents(shape)), properties);
}

void File::create_growing_dataset(const std::string& name, Type type, const Shape& shape, const Shape& chunk,
                                  NewPlaces places, int compression) {
  create_group(parent_of(name));
  reserve(bytes_in_chunks(bytes_of(type), shape, chunk), name);
  const Hdf5Handle properties = object_properties(H5P_DATASET_CREATE);
  if (places == NewPlaces::undefined) H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), extents(chunk).data());
  if (compression > 0) {
    H5Pset_shuffle(properties);  // bytes of equal weight lie together: exponents repeat, last digits do not
    H5Pset_deflate(properties, static_cast<unsigned>(compression));
  }
  constexpr double no_real = std::numeric_limits<double>::quiet_NaN();
  constexpr std::int64_t no_id = -1;
  constexpr std::int32_t zero = 0;
  if (type == Type::int64)
    H5Pset_fill_value(properties, H5T_NATIVE_INT64, &no_id);
  else if (type == Type::int32)
    H5Pset_fill_value(properties, H5T_NATIVE_INT32, &zero);
  else
    H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &no_real);
  std::vector<hsize_t> max = extents(shape);
  for (std::size_t axis = 0; axis < std::min<std::size_t>(max.size(), 2); ++axis) max[axis] = H5S_UNLIMITED;
  create(name, native(type), simple_space(extents(shape), max.data()), properties);
}

void File::resize(const std::string& name, const Shape& shape) {
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  const auto n_axes = static_cast<int>(shape.size());
  std::vector<hsize_t> now(shape.size()), chunk(shape.size());
  require(H5Sget_simple_extent_ndims(space) == n_axes &&
              H5Sget_simple_extent_dims(space, now.data(), nullptr) >= 0 &&
              H5Pget_chunk(properties, n_axes, chunk.data()) >= 0,
          "resize " + name);
  const auto bytes = [&](const Shape& of) {
    return bytes_in_chunks(static_cast<std::int64_t>(H5Tget_size(type)), of, {chunk.begin(), chunk.end()});
  };
  const std::int64_t growth = bytes(shape) - bytes({now.begin(), now.end()});
  if (growth > 0) reserve(growth, name);
  require(H5Dset_extent(dataset, extents(shape).data()) >= 0, "resize " + name);
}

DatasetInfo File::info(const std::string& name) const {
  DatasetInfo result;
  bool known = false;
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  result.shape.assign(shape.begin(), shape.end());
  require(is_countable(shape), "use the dataset " + name + ", whose shape is beyond all files");
  for (const Type candidate : {Type::real64, Type::real32, Type::int64, Type::int32})
    if (type.valid() && H5Tequal(type, native(candidate)) > 0) {
      result.type = candidate;
      known = true;
    }
  require(known, "use the dataset " + name + ", which holds neither 32- nor 64-bit numbers");
  return result;
}

void File::transfer(const std::string& name, Type type, const Slab& slab, void* values, bool writing,
                    bool converting) {
  Shape shape;
  if (converting) {
    const ObjectInfo stored = find(name);
    const Content wanted = type == Type::int64 || type == Type::int32 ? Content::integers : Content::reals;
    if (stored.content != wanted)
      throw_error(fmt::format("{}: {} does not hold {}", path_, name,
                              wanted == Content::integers ? "integers" : "reals"));
    shape = stored.shape;
  } else {
    const DatasetInfo stored = info(name);
    if (stored.type != type)
      throw_error(fmt::format("{}: {} holds {}, not {}", path_, name, name_of(stored.type), name_of(type)));
    shape = stored.shape;
  }
  move_box(name, native(type), bytes_of(type), shape, slab, values, writing);
}

void File::move_box(const std::string& name, std::int64_t type, std::int64_t bytes, const Shape& shape,
                    const Slab& slab, void* values, bool writing) {
  share_errors(comm_, [&] {
    bool inside = shape.size() == slab.start.size() && slab.start.size() == slab.count.size();
    for (std::size_t axis = 0; inside && axis < slab.start.size(); ++axis)
      inside = slab.size() == 0 || (slab.start[axis] >= 0 && slab.count[axis] >= 0 &&
                                    slab.count[axis] <= shape[axis] - slab.start[axis]);
    if (!inside) throw_error(fmt::format("{}: {} does not have the rows asked for", path_, name));
  });
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle in_file(H5Dget_space(dataset), H5Sclose);
  const hsize_t n = static_cast<hsize_t>(slab.size());
  // Of the same shape as the box: from any other, HDF5 finds the chunk of every single number by itself.
  const Hdf5Handle in_memory =
      simple_space(n == 0 || shape.empty() ? std::vector<hsize_t>{1} : extents(slab.count));
  if (n == 0) {
    H5Sselect_none(in_file);
    H5Sselect_none(in_memory);
  } else if (!shape.empty()) {
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, extents(slab.start).data(), nullptr,
                        extents(slab.count).data(), nullptr);
  }
  const Hdf5Handle collective(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  double nothing = 0;  // HDF5 wants an address even from a rank without data
  void* address = n == 0 ? &nothing : values;
  const bool done = (writing ? H5Dwrite(dataset, type, in_memory, in_file, collective, address)
                             : H5Dread(dataset, type, in_memory, in_file, collective, address)) >= 0;
  require(done, (writing ? "write " : "read ") + name);
  if (writing) files::count_written(static_cast<std::int64_t>(n) * bytes);
}

std::int64_t File::write_rows(const std::string& name, Type type, std::int64_t mine, int components,
                              void* values, Damage damage) {
  const std::int64_t first = comm_.sum_before(mine);
  const std::int64_t n = comm_.sum(mine);
  create_dataset(name, type, Slab::rows(0, n, components).count, n > 0 ? damage : Damage::unseen);
  transfer(name, type, Slab::rows(first, mine, components), values, true);
  return first;
}

void File::write_text(const std::string& name, const std::string& text) {
  create_group(parent_of(name));
  reserve(static_cast<std::int64_t>(text.size()), name);
  const Hdf5Handle type = text_type(text.size());
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle properties = object_properties(H5P_DATASET_CREATE);
  const Hdf5Handle made(H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                        H5Dclose);
  const Hdf5Handle selected(H5Scopy(space), H5Sclose);
  if (!comm_.is_root()) H5Sselect_none(selected);
  const Hdf5Handle collective(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  const bool done = made.valid() && H5Dwrite(made, type, selected, selected, collective, text.c_str()) >= 0;
  require(done, "write " + name);
}

std::string File::read_text(const std::string& name) const {
  std::string text;
  bool done = false;
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  if (dataset.valid() && H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
    const Hdf5Handle collective(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
    if (H5Tis_variable_str(type) > 0) {
      char* pointer = nullptr;
      done = H5Dread(dataset, type, H5S_ALL, H5S_ALL, collective, static_cast<void*>(&pointer)) >= 0;
      if (pointer != nullptr) text = pointer;
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, static_cast<void*>(&pointer));
    } else {
      require_room(static_cast<Real>(H5Tget_size(type)), name);
      std::vector<char> padded(H5Tget_size(type));
      done = H5Dread(dataset, type, H5S_ALL, H5S_ALL, collective, padded.data()) >= 0;
      text = without_padding(padded.data(), padded.size());
    }
  }
  require(done, "read the text " + name);
  return text;
}

}  // namespace scree::hdf5
