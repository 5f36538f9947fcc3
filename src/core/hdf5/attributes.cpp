#include <fmt/core.h>

#include <algorithm>

#include "core/hdf5/helpers.hpp"

namespace scree::hdf5 {

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

void File::set_list(const std::string& object, const std::string& name, const AttributeList& list) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&list))
    return write_attribute(object, name, H5T_NATIVE_INT64, integers->size(), integers->data());
  if (const auto* reals = std::get_if<std::vector<double>>(&list))
    return write_attribute(object, name, H5T_NATIVE_DOUBLE, reals->size(), reals->data());
  const auto& texts = std::get<std::vector<std::string>>(list);
  std::size_t width = 1;
  for (const std::string& text : texts) width = std::max(width, text.size());
  std::vector<char> padded(width * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::copy(texts[i].begin(), texts[i].end(), padded.begin() + static_cast<std::ptrdiff_t>(i * width));
  write_attribute(object, name, text_type(width), texts.size(), padded.data());
}

void File::set_long_text(const std::string& object, const std::string& name, const std::string& text) {
  reserve(static_cast<std::int64_t>(text.size()), name);
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const char* pointer = text.c_str();
  write_attribute(object, name, type, 1, &pointer);
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

AttributeList File::read_list(const std::string& object, const std::string& name) const {
  AttributeList result;
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

}  // namespace scree::hdf5
