#include "core/hdf5/helpers.hpp"

#include <algorithm>

namespace scree::hdf5 {

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

std::vector<hsize_t> extents(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

Hdf5Handle simple_space(const std::vector<hsize_t>& shape, const hsize_t* max) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), max), H5Sclose};
}

Hdf5Handle text_type(std::size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

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

bool is_countable(const std::vector<hsize_t>& shape) {
  constexpr Real max = 0x1p58;
  Real n = 1;
  for (const hsize_t extent : shape) {
    if (!(static_cast<Real>(extent) <= max)) return false;
    n *= static_cast<Real>(std::max<hsize_t>(extent, 1));
  }
  return n <= max;
}

}  // namespace scree::hdf5
