#include <fmt/core.h>

#include <set>
#include <vector>

#include "core/hdf5/helpers.hpp"

namespace scree::hdf5 {

namespace {

struct Link {
  std::string name;
  H5L_type_t type;
};

/// The links of a group; those that can be read, if it is damaged.
std::vector<Link> links_in(hid_t group) {
  std::vector<Link> links;
  hsize_t place = 0;
  H5Literate(
      group, H5_INDEX_NAME, H5_ITER_NATIVE, &place,
      [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
        static_cast<std::vector<Link>*>(out)->push_back({name, info->type});
        return 0;
      },
      &links);
  return links;
}

bool lies_elsewhere(hid_t dataset) {
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  return H5Pget_external_count(properties) > 0 || H5Pget_layout(properties) == H5D_VIRTUAL;
}

/// Walks through the groups with a list of its own: they may be nested deeper than a stack.
std::string first_elsewhere(hid_t file) {
  constexpr std::size_t max_nested_groups = 64;
  struct Group {
    std::string name;
    std::size_t depth;
  };
  std::vector<Group> to_do{{"/", 0}};
  std::set<haddr_t> seen;
  while (!to_do.empty()) {
    const Group next = std::move(to_do.back());
    to_do.pop_back();
    const Hdf5Handle group(H5Gopen2(file, next.name.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group.valid()) continue;
    for (const Link& link : links_in(group)) {
      const std::string name = (next.depth == 0 ? "/" : next.name + "/") + link.name;
      if (link.type == H5L_TYPE_SOFT) continue;  // leads to another link of this file
      if (link.type != H5L_TYPE_HARD) return name + " is a link to another file";
      const Hdf5Handle object(H5Oopen(group, link.name.c_str(), H5P_DEFAULT), H5Oclose);
      H5O_info_t info;
      if (!object.valid() || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) continue;
      if (!seen.insert(info.addr).second) continue;
      if (info.type == H5O_TYPE_DATASET && lies_elsewhere(object)) return name + " is kept in another file";
      if (info.type != H5O_TYPE_GROUP) continue;
      if (next.depth == max_nested_groups)
        return fmt::format("{} lies in more than {} groups", name, max_nested_groups);
      to_do.push_back({name, next.depth + 1});
    }
  }
  return "";
}

}  // namespace

std::string content_elsewhere(const std::string& path) {
  mute_hdf5();
  std::string found;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Whoever reads a file that a run still writes must not be stopped, nor stop the run, by a lock.
  H5Pset_file_locking(access, false, true);
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (file.valid()) found = first_elsewhere(file);
  H5Eclear2(H5E_DEFAULT);
  return found;
}

}  // namespace scree::hdf5
