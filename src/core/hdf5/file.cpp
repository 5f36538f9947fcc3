#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/hdf5/helpers.hpp"
#include "core/input_file.hpp"
#include "core/memory.hpp"

namespace scree::hdf5 {

namespace {

/// What the system says about a path, asked by rank 0 alone since MPI-IO hides the reason. Empty: nothing is
/// wrong.
std::string obstacle_to_open(const std::string& path, Open how) {
  if (how == Open::overwrite) {
    const bool is_new = ::access(path.c_str(), F_OK) != 0;
    // A new name must not be a link to somewhere else.
    const int mode = is_new ? O_EXCL : 0;
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
  if (std::string obstacle = obstacle_to_read(path); !obstacle.empty()) return obstacle;
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
  const bool creating = how == Open::overwrite;
  if (!creating) guard_.emplace(path_, comm_.is_root());
  files::on_root(comm_, [&] {
    const std::string obstacle = obstacle_to_open(path_, how);
    if (obstacle.empty()) return;
    const std::string message =
        fmt::format("cannot {} {}: {}", creating ? "create" : "open", path_, obstacle);
    if (creating) throw RunError(message);
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
    require(id_ >= 0, creating ? "create it" : "open it: damaged, cut short, or being written");
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
  wanted_ = reserved_ = 0;
}

void File::close() {
  if (writable_) flush();
  require(H5Fclose(std::exchange(id_, -1)) >= 0, "close it");
}

void File::reserve(std::int64_t bytes, const std::string& purpose) {
  wanted_ += bytes + metadata_of_object;
  if (wanted_ <= reserved_) return;
  const std::int64_t bytes_now = wanted_ + reserved_ahead;
  files::on_root(comm_, [&] { files::reserve(path_, flushed_size_, bytes_now + metadata_of_file, purpose); });
  reserved_ = bytes_now;
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

ObjectInfo File::find(const std::string& object) const {
  ObjectInfo found;
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

void File::require_room(Real bytes, const std::string& what) const {
  share_errors(comm_, [&] { require_memory(bytes, path_ + ": " + what); });
}

}  // namespace scree::hdf5
