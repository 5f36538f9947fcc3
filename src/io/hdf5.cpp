#include "io/hdf5.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/input_file.hpp"
#include "core/memory.hpp"
#include "io/files.hpp"
#include "particles/foreign_storage.hpp"
#include "particles/hdf5_handle.hpp"

namespace scree::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>);

namespace {

/// Room for what HDF5 adds by itself: once per file, and for each object that is made or grows.
constexpr std::int64_t metadata_of_file = 1 << 17;
constexpr std::int64_t metadata_of_object = 1 << 13;

/// The innermost message of HDF5's error stack: the one that names the cause. To be asked before any handle
/// is closed, since every call of HDF5 starts a new stack.
std::string cause() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned level, const H5E_error2_t* entry, void* out) -> herr_t {
        if (level == 0 && entry->desc != nullptr) *static_cast<std::string*>(out) = entry->desc;
        return 0;
      },
      &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "HDF5 gives no reason" : text;
}

hid_t native(Type type) {
  switch (type) {
    case Type::real64:
      return H5T_NATIVE_DOUBLE;
    case Type::real32:
      return H5T_NATIVE_FLOAT;
    case Type::int64:
      return H5T_NATIVE_INT64;
    case Type::int32:
      return H5T_NATIVE_INT32;
  }
  return H5I_INVALID_HID;
}

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

std::vector<hsize_t> extents(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

Hdf5Handle simple_space(const std::vector<hsize_t>& shape, const hsize_t* most = nullptr) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most), H5Sclose};
}

Hdf5Handle text_type(std::size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

/// Properties of a new object: without time stamps, so that equal results are equal files.
Hdf5Handle object_properties(hid_t kind) {
  Hdf5Handle properties(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

std::string without_padding(const char* text, std::size_t length) {
  return {text, static_cast<std::size_t>(std::find(text, text + length, '\0') - text)};
}

std::string parent_of(const std::string& object) {
  const std::size_t slash = object.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : object.substr(0, slash);
}

/// What the system says about a path, asked by rank 0 alone since MPI-IO hides the reason. Empty: nothing is
/// wrong.
std::string obstacle_to_open(const std::string& path, Open how) {
  if (how == Open::create || how == Open::overwrite) {
    const bool is_new = ::access(path.c_str(), F_OK) != 0;
    // A new name must not be a link to somewhere else.
    const int mode = how == Open::create || is_new ? O_EXCL : 0;
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
    if (descriptor < 0) return files::reason(errno, path);
    ::close(descriptor);
    try {
      files::reserve(path, 0, metadata_of_file, "the head of the file");
    } catch (const RunError&) {
      if (is_new) ::unlink(path.c_str());
      throw;
    }
    return "";
  }
  if (const std::string obstacle = obstacle_to_read(path); !obstacle.empty()) return obstacle;
  const int descriptor = ::open(path.c_str(), (how == Open::append ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (descriptor < 0) return files::reason(errno, path);
  char signature[8] = {};
  const ssize_t n = ::read(descriptor, signature, sizeof signature);
  ::close(descriptor);
  if (n != sizeof signature || std::memcmp(signature, "\x89HDF\r\n\x1a\n", sizeof signature) != 0)
    return "it is no HDF5 file";
  return content_elsewhere(path);
}

std::int64_t size_on_disk(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_size : 0;
}

}  // namespace

std::int64_t bytes_of(Type type) {
  return type == Type::real64 || type == Type::int64 ? 8 : 4;
}

namespace {

/// Whether the numbers of a shape, as a file gives them, can be counted and their bytes, too.
bool is_countable(const std::vector<hsize_t>& shape) {
  constexpr Real most = 0x1p58;
  Real n = 1;
  for (const hsize_t extent : shape) {
    if (!(static_cast<Real>(extent) <= most)) return false;
    n *= static_cast<Real>(std::max<hsize_t>(extent, 1));
  }
  return n <= most;
}

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Bytes on the disk of a dataset that is stored in whole chunks.
std::int64_t bytes_in_chunks(Type type, const Shape& shape, const Shape& chunk) {
  std::int64_t n = bytes_of(type);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    n *= (shape[axis] + chunk[axis] - 1) / chunk[axis] * chunk[axis];
  return n;
}

}  // namespace

std::int64_t Slab::size() const {
  return product(count);
}

void File::throw_error(const std::string& message) const {
  if (writable_) throw RunError(message);
  throw InputError(message);
}

void File::require(bool done, const std::string& operation) const {
  std::string message;
  if (!done) message = fmt::format("{}: cannot {}: {}", path_, operation, cause());
  share_errors(comm_, [&] {
    if (!done) throw_error(message);
  });
}

File::File(const Comm& comm, const std::string& path, Open how) : comm_(comm), path_(path) {
  mute_hdf5();
  const bool creating = how == Open::create || how == Open::overwrite;
  if (!creating) guard_.emplace(path_, comm_.is_root());
  files::on_root(comm_, [&] {
    const std::string obstacle = obstacle_to_open(path_, how);
    if (obstacle.empty()) return;
    const std::string message =
        fmt::format("cannot {} {}: {}", creating ? "create" : "open", path_, obstacle);
    if (how == Open::overwrite) throw RunError(message);
    throw InputError(message);
  });

  writable_ = creating;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_mpio(access, comm_.handle(), MPI_INFO_NULL);
  H5Pset_all_coll_metadata_ops(access, true);
  H5Pset_coll_metadata_write(access, true);
  // Since 1.8 object headers carry checksums; later formats have chunk indices that a killed run may leave
  // unreadable.
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  if (creating) {
    const Hdf5Handle creation = object_properties(H5P_FILE_CREATE);
    id_ = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, access);
  } else {
    id_ = H5Fopen(path_.c_str(), how == Open::append ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
  }
  try {
    require(id_ >= 0, creating ? "create it" : "open it");
  } catch (const CollectiveError&) {
    discard();
    throw;
  }
  writable_ = how != Open::read;
  if (!creating) flushed_size_ = size_on_disk(path_);
  struct stat status {};
  if (comm_.is_root() && ::stat(path_.c_str(), &status) == 0) {
    device_ = status.st_dev;
    number_ = status.st_ino;
  }
  if (how != Open::read) guard_.reset();
}

File::~File() {
  if (std::uncaught_exceptions() == 0) discard();
}

void File::discard() noexcept {
  if (id_ >= 0) H5Fclose(std::exchange(id_, -1));
  H5Eclear2(H5E_DEFAULT);
}

bool File::is_in_place() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return errno != ENOENT;  // else a server that does not answer now
  return status.st_dev == device_ && status.st_ino == number_;
}

void File::flush() {
  require(H5Fflush(id_, H5F_SCOPE_GLOBAL) >= 0, "write to the disk");
  flushed_size_ = size_on_disk(path_);
  reserved_ = 0;
}

void File::close() {
  if (writable_) flush();
  require(H5Fclose(std::exchange(id_, -1)) >= 0, "close it");
}

void File::reserve(std::int64_t bytes, const std::string& purpose) {
  reserved_ += bytes + metadata_of_object;
  files::on_root(comm_, [&] { files::reserve(path_, flushed_size_, reserved_ + metadata_of_file, purpose); });
}

bool File::exists(const std::string& object) const {
  if (object == "/") return true;
  for (std::size_t slash = object.find('/', 1);; slash = object.find('/', slash + 1)) {
    if (H5Lexists(id_, object.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return false;
    }
    if (slash == std::string::npos) return true;
  }
}

bool File::is_dataset(const std::string& object) const {
  const Hdf5Handle opened(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  require(opened.valid(), "open " + object);
  return H5Iget_type(opened) == H5I_DATASET;
}

Found File::find(const std::string& object) const {
  Found found;
  if (!exists(object)) return found;
  found.content = Content::something_else;
  const Hdf5Handle opened(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (opened.valid() && H5Iget_type(opened) == H5I_DATASET) {
    const Hdf5Handle type(H5Dget_type(opened), H5Tclose);
    const Hdf5Handle space(H5Dget_space(opened), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_INTEGER) found.content = Content::integers;
    if (kind == H5T_FLOAT) found.content = Content::reals;
    if (kind == H5T_STRING) found.content = Content::text;
    std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    found.shape.assign(shape.begin(), shape.end());
    if (!is_countable(shape)) found = {Content::something_else, {}};
    if (H5Sget_simple_extent_type(space) == H5S_NULL) found.shape = {0};
  }
  H5Eclear2(H5E_DEFAULT);
  return found;
}

std::vector<std::string> File::members(const std::string& group) const {
  const Hdf5Handle opened(H5Gopen2(id_, group.c_str(), H5P_DEFAULT), H5Gclose);
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t place = 0;
  require(opened.valid() && H5Literate(opened, H5_INDEX_NAME, H5_ITER_INC, &place, collect, &names) >= 0,
          "list " + group);
  return names;
}

void File::create_group(const std::string& group) {
  if (exists(group)) return;
  create_group(parent_of(group));
  reserve(0, group);
  const Hdf5Handle properties = object_properties(H5P_GROUP_CREATE);
  const Hdf5Handle made(H5Gcreate2(id_, group.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose);
  require(made.valid(), "create the group " + group);
}

void File::link(const std::string& existing, const std::string& name) {
  require(H5Lcreate_hard(id_, existing.c_str(), id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0,
          "link " + name);
}

void File::remove(const std::string& object) {
  require(H5Ldelete(id_, object.c_str(), H5P_DEFAULT) >= 0, "remove " + object);
}

void File::write_attribute(const std::string& object, const std::string& name, std::int64_t type,
                           std::size_t count, const void* values) {
  reserve(static_cast<std::int64_t>(count * H5Tget_size(type)), name);
  const Hdf5Handle opened(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (opened.valid() && H5Aexists(opened, name.c_str()) > 0) H5Adelete(opened, name.c_str());
  const hsize_t extent = count;
  const Hdf5Handle space(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, nullptr),
                         H5Sclose);
  const Hdf5Handle made(H5Acreate2(opened, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const bool done = made.valid() && H5Awrite(made, type, values) >= 0;
  require(done, fmt::format("write the attribute {} of {}", name, object));
}

void File::set_attribute(const std::string& object, const std::string& name, const std::string& text) {
  set_attribute(object, name, std::span(&text, 1));
}

void File::set_attribute(const std::string& object, const std::string& name,
                         std::span<const std::string> texts) {
  std::size_t width = 1;
  for (const std::string& text : texts) width = std::max(width, text.size());
  std::vector<char> padded(width * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::copy(texts[i].begin(), texts[i].end(), padded.begin() + static_cast<std::ptrdiff_t>(i * width));
  const Hdf5Handle type = text_type(width);
  write_attribute(object, name, type, texts.size(), padded.data());
}

void File::set_attribute(const std::string& object, const std::string& name,
                         std::span<const std::int64_t> values) {
  write_attribute(object, name, H5T_NATIVE_INT64, values.size(), values.data());
}

void File::set_attribute(const std::string& object, const std::string& name, std::span<const double> values) {
  write_attribute(object, name, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

bool File::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(id_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> File::attributes(const std::string& object) const {
  const Hdf5Handle opened(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t place = 0;
  require(opened.valid() && H5Aiterate2(opened, H5_INDEX_NAME, H5_ITER_INC, &place, collect, &names) >= 0,
          "list the attributes of " + object);
  return names;
}

Attribute File::attribute(const std::string& object, const std::string& name) const {
  Attribute result;
  bool done = false;
  const Hdf5Handle opened(H5Aopen_by_name(id_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose);
  const Hdf5Handle type(H5Aget_type(opened), H5Tclose);
  const Hdf5Handle space(H5Aget_space(opened), H5Sclose);
  const auto count = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0));
  require_room(static_cast<Real>(count) * static_cast<Real>(std::max<std::size_t>(H5Tget_size(type), 8)),
               fmt::format("the attribute {} of {}", name, object));
  switch (H5Tget_class(type)) {
    case H5T_STRING: {
      std::vector<std::string>& texts = result.emplace<std::vector<std::string>>();
      if (H5Tis_variable_str(type) > 0) {
        std::vector<char*> pointers(count, nullptr);
        done = H5Aread(opened, type, pointers.data()) >= 0;
        for (const char* pointer : pointers) texts.emplace_back(pointer == nullptr ? "" : pointer);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
      } else {
        const std::size_t width = H5Tget_size(type);
        std::vector<char> padded(width * count);
        done = H5Aread(opened, type, padded.data()) >= 0;
        for (std::size_t i = 0; i < count; ++i) texts.push_back(without_padding(&padded[i * width], width));
      }
      break;
    }
    case H5T_INTEGER: {
      std::vector<std::int64_t>& values = result.emplace<std::vector<std::int64_t>>(count);
      done = H5Aread(opened, H5T_NATIVE_INT64, values.data()) >= 0;
      break;
    }
    case H5T_FLOAT: {
      std::vector<double>& values = result.emplace<std::vector<double>>(count);
      done = H5Aread(opened, H5T_NATIVE_DOUBLE, values.data()) >= 0;
      break;
    }
    default:
      break;
  }
  require(done, fmt::format("read the attribute {} of {}", name, object));
  return result;
}

std::string File::text_attribute(const std::string& object, const std::string& name) const {
  if (!has_attribute(object, name)) return "";
  const Attribute value = attribute(object, name);
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  return texts != nullptr && texts->size() == 1 ? texts->front() : "";
}

void File::create_dataset(const std::string& name, Type type, const Shape& shape) {
  create_any_dataset(name, type, shape, {}, NewPlaces::undefined);
}

void File::create_growing_dataset(const std::string& name, Type type, const Shape& shape, const Shape& chunk,
                                  NewPlaces places) {
  create_any_dataset(name, type, shape, chunk, places);
}

void File::create_any_dataset(const std::string& name, Type type, const Shape& shape, const Shape& chunk,
                              NewPlaces places) {
  create_group(parent_of(name));
  reserve(chunk.empty() ? bytes_of(type) * product(shape) : bytes_in_chunks(type, shape, chunk), name);
  const Hdf5Handle properties = object_properties(H5P_DATASET_CREATE);
  std::vector<hsize_t> most = extents(shape);
  if (places == NewPlaces::undefined) H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  if (!chunk.empty()) {
    H5Pset_chunk(properties, static_cast<int>(chunk.size()), extents(chunk).data());
    constexpr double no_real = std::numeric_limits<double>::quiet_NaN();
    constexpr std::int64_t no_id = -1;
    constexpr std::int32_t zero = 0;
    if (type == Type::int64)
      H5Pset_fill_value(properties, H5T_NATIVE_INT64, &no_id);
    else if (type == Type::int32)
      H5Pset_fill_value(properties, H5T_NATIVE_INT32, &zero);
    else
      H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &no_real);
    for (std::size_t axis = 0; axis < std::min<std::size_t>(most.size(), 2); ++axis)
      most[axis] = H5S_UNLIMITED;
  }
  const Hdf5Handle space = simple_space(extents(shape), most.data());
  const Hdf5Handle made(
      H5Dcreate2(id_, name.c_str(), native(type), space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  require(made.valid(), "create the dataset " + name);
}

/// In chunks, which the checksum needs, of a length that does not depend on the ranks.
void File::create_checksummed_dataset(const std::string& name, Type type, const Shape& shape) {
  constexpr std::int64_t most_rows_of_chunk = 1 << 16;
  constexpr std::int64_t bytes_of_checksum = 4;
  Shape chunk = shape;
  chunk[0] = std::min(shape[0], most_rows_of_chunk);
  const std::int64_t n_chunks = (shape[0] + chunk[0] - 1) / chunk[0];
  create_group(parent_of(name));
  reserve(bytes_in_chunks(type, shape, chunk) + n_chunks * bytes_of_checksum, name);
  const Hdf5Handle properties = object_properties(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), extents(chunk).data());
  H5Pset_fletcher32(properties);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  const Hdf5Handle space = simple_space(extents(shape));
  const Hdf5Handle made(
      H5Dcreate2(id_, name.c_str(), native(type), space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  require(made.valid(), "create the dataset " + name);
}

void File::resize(const std::string& name, const Shape& shape) {
  const DatasetInfo now = info(name);
  const Hdf5Handle dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  std::vector<hsize_t> chunk(shape.size());
  require(H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data()) >= 0, "resize " + name);
  const Shape chunk_shape(chunk.begin(), chunk.end());
  const std::int64_t growth =
      bytes_in_chunks(now.type, shape, chunk_shape) - bytes_in_chunks(now.type, now.shape, chunk_shape);
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

void File::require_room(Real bytes, const std::string& what) const {
  share_errors(comm_, [&] { require_memory(bytes, path_ + ": " + what); });
}

void File::transfer(const std::string& name, Type type, const Slab& slab, void* values, bool writing,
                    bool converting) {
  Shape shape;
  if (converting) {
    const Found stored = find(name);
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
  const bool done = (writing ? H5Dwrite(dataset, native(type), in_memory, in_file, collective, address)
                             : H5Dread(dataset, native(type), in_memory, in_file, collective, address)) >= 0;
  require(done, (writing ? "write " : "read ") + name);
  if (writing) files::note_written(static_cast<std::int64_t>(n) * bytes_of(type));
}

std::int64_t File::write_rows(const std::string& name, Type type, std::int64_t mine, int components,
                              void* values, Damage damage) {
  const std::int64_t first = comm_.sum_before(mine);
  Shape shape{comm_.sum(mine)};
  Slab slab{{first}, {mine}};
  if (components > 1) {
    shape.push_back(components);
    slab.start.push_back(0);
    slab.count.push_back(components);
  }
  if (damage == Damage::noticed && shape[0] > 0)
    create_checksummed_dataset(name, type, shape);
  else
    create_dataset(name, type, shape);
  transfer(name, type, slab, values, true);
  return first;
}

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

void File::set_long_text(const std::string& object, const std::string& name, const std::string& text) {
  reserve(static_cast<std::int64_t>(text.size()), name);
  const Hdf5Handle opened(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (opened.valid() && H5Aexists(opened, name.c_str()) > 0) H5Adelete(opened, name.c_str());
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle made(H5Acreate2(opened, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const char* pointer = text.c_str();
  const bool done = made.valid() && H5Awrite(made, type, &pointer) >= 0;
  require(done, fmt::format("write the attribute {} of {}", name, object));
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

namespace {

std::filesystem::path target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path(path) : target;
}

}  // namespace

void PartFile::require_replaceable(const std::string& path) {
  const std::filesystem::path target = target_of(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  for (const std::string& place : {target.string(), folder}) {
    struct stat status {};
    const bool is_writable = ::access(place.c_str(), W_OK) == 0 && ::stat(place.c_str(), &status) == 0;
    if (!is_writable || (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0)
      throw InputError(fmt::format("{} cannot be changed: {}: {}", path, place,
                                   files::reason(is_writable ? EACCES : errno, place)));
  }
}

PartFile::PartFile(const Comm& comm, const std::string& path, Start start)
    : comm_(comm), path_(start == Start::copy ? target_of(path).string() : path), part_(path_ + ".part") {
  files::on_root(comm_, [&] {
    if (start == Start::copy) require_replaceable(path_);
    // Another file under this name, possibly with other owners of its pages, must not be written into.
    ::unlink(part_.c_str());
    if (start == Start::copy) files::copy(path_, part_);
  });
  file_ = std::make_unique<File>(comm_, part_, start == Start::copy ? Open::append : Open::overwrite);
}

PartFile::~PartFile() {
  if (std::uncaught_exceptions() == 0) abandon();
}

void PartFile::abandon() noexcept {
  if (!file_) return;
  // An emptied file leaves HDF5 the room for what it still writes when it closes a file, even on a full disk.
  if (comm_.is_root()) static_cast<void>(::truncate(part_.c_str(), 0) == 0);
  comm_.barrier();
  file_->discard();
  file_.reset();
  if (comm_.is_root()) ::unlink(part_.c_str());
}

void PartFile::commit() {
  write([&](File& file) {
    file.close();
    files::on_root(comm_, [&] { files::rename_durably(part_, path_); });
  });
  file_.reset();
}

}  // namespace scree::hdf5
