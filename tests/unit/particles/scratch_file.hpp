#pragma once
#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace scree {

/// A file of this process in the folder for temporary files; gone when the test ends.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name, const std::string& text = "")
      : path_((std::filesystem::temp_directory_path() / ("scree_" + std::to_string(getpid()) + "_" + name))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Writes an array of numbers into an HDF5 file, making the groups on the way.
template <class T>
void write_hdf5(hid_t file, const std::string& name, const std::vector<hsize_t>& shape,
                const std::vector<T>& values) {
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t type = std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
  const hid_t data = H5Dcreate2(file, name.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(data);
  H5Sclose(space);
  H5Pclose(links);
}

}  // namespace scree
