#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/hdf5.hpp"
#include "core/types.hpp"
#include "io/fclib.hpp"

/// How FCLIB keeps numbers in HDF5. All datasets of numbers have the Fletcher-32 checksums of HDF5, which
/// every program checks as it reads them. All functions are collective.
namespace scree::fclib_layout {

/// Values of `nz` that stand for a storage, in place of a number of triplets.
inline constexpr std::int32_t compressed_columns = -1;
inline constexpr std::int32_t compressed_rows = -2;

/// Single integers are arrays of one.
inline void write_integer(hdf5::File& file, const std::string& name, std::int32_t value) {
  file.write_rows(name, std::span<const std::int32_t>(&value, file.comm().is_root() ? 1 : 0), 1,
                  hdf5::Damage::noticed);
}

/// The stretches of all ranks, one after the other.
template <class T>
void write_vector(hdf5::File& file, const std::string& name, const std::vector<T>& values) {
  file.write_rows(name, std::span<const T>(values), 1, hdf5::Damage::noticed);
}

/// This rank's stretch of the arrays p, i, x of an m x n matrix of `nzmax` entries (io/fclib_file.hpp).
struct Stretch {
  std::vector<std::int32_t> p, i;
  std::vector<Real> x;
};
inline void write_matrix(hdf5::File& file, const std::string& name, const Stretch& entries,
                         std::int32_t nzmax, std::int32_t m, std::int32_t n, std::int32_t nz) {
  write_integer(file, name + "/nzmax", nzmax);
  write_integer(file, name + "/m", m);
  write_integer(file, name + "/n", n);
  write_integer(file, name + "/nz", nz);
  write_vector(file, name + "/p", entries.p);
  write_vector(file, name + "/i", entries.i);
  write_vector(file, name + "/x", entries.x);
}

/// Texts with a null at their end, since fclib hands the bytes on to C as they are. `root`: "/fclib_local".
inline void write_info(hdf5::File& file, const std::string& root, const FclibInfo& info) {
  file.write_text(root + "/info/title", info.title + '\0');
  file.write_text(root + "/info/description", info.description + '\0');
  file.write_text(root + "/info/math_info", info.math_info + '\0');
}

}  // namespace scree::fclib_layout
