#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/hdf5.hpp"

namespace scree::hdf5 {

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
