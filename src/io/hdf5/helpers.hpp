#pragma once
#include <hdf5.h>

#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "particles/hdf5_handle.hpp"

namespace scree::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>);

/// Room for what HDF5 adds by itself: once per file, and for each object that is made or grows.
constexpr std::int64_t metadata_of_file = 1 << 17;
constexpr std::int64_t metadata_of_object = 1 << 13;

/// The innermost message of HDF5's error stack: the one that names the cause. To be asked before any handle
/// is closed, since every call of HDF5 starts a new stack.
std::string cause();

hid_t native(Type type);
std::vector<hsize_t> extents(const Shape& shape);
/// Whether the numbers of a shape, as a file gives them, can be counted and their bytes, too.
bool is_countable(const std::vector<hsize_t>& shape);
Hdf5Handle simple_space(const std::vector<hsize_t>& shape, const hsize_t* most = nullptr);
Hdf5Handle text_type(std::size_t length);
/// Properties of a new object: without time stamps, so that equal results are equal files.
Hdf5Handle object_properties(hid_t kind);
std::string without_padding(const char* text, std::size_t length);
std::string parent_of(const std::string& object);

}  // namespace scree::hdf5
