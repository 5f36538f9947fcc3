#include "io/h5md_content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.hpp"

namespace scree {

const std::string H5mdContent::bodies = "/particles/all";
const std::string H5mdContent::box = bodies + "/box";
const std::string H5mdContent::observables_group = "/observables";
const std::string H5mdContent::master = bodies + "/position";

std::string H5mdColumn::dataset() const {
  return H5mdContent::bodies + "/" + name + (constant ? "" : "/value");
}

std::string H5mdContent::series_of(const std::string& observable) {
  return observables_group + "/" + observable + "/value";
}

std::vector<std::string> H5mdContent::series() const {
  std::vector<std::string> names{master + "/step", master + "/time", series_of("count")};
  for (const H5mdColumn& column : columns)
    if (!column.constant) names.push_back(column.dataset());
  for (const std::string& name : observables) names.push_back(series_of(name));
  return names;
}

void H5mdContent::resize(std::size_t n) {
  steps.resize(n);
  times.resize(n);
  counts.resize(n);
}

H5mdContent read_h5md_content(const hdf5::File& file) {
  H5mdContent content;
  if (!file.exists(content.master)) return content;  // stopped before its first frame
  if (!file.exists(content.series_of("count")) || !file.exists(content.master + "/step"))
    throw InputError(file.path() + " is an H5MD file, but not one that scree wrote");
  const auto read = [&](const std::string& name, auto& values) {
    file.read(name, {{0}, file.info(name).shape}, values);
  };
  read(content.master + "/step", content.steps);
  read(content.master + "/time", content.times);
  read(content.series_of("count"), content.counts);
  for (const std::string& name : file.members(content.bodies)) {
    if (name == "box") continue;
    H5mdColumn column{name};
    column.constant = file.is_dataset(content.bodies + "/" + name);
    const hdf5::DatasetInfo info = file.info(column.dataset());
    const std::size_t axis = column.constant ? 0 : 1;
    if (info.shape.size() <= axis)
      throw InputError(fmt::format("{}: {} has no axis of bodies", file.path(), name));
    column.type = info.type;
    column.places = info.shape[axis];
    column.components = info.shape.size() == axis + 2 ? static_cast<int>(info.shape[axis + 1]) : 1;
    content.columns.push_back(column);
  }
  for (const std::string& name : file.members(content.observables_group))
    if (name != "count") content.observables.push_back(name);
  std::size_t n_frames = content.steps.size();
  for (const std::string& name : content.series()) {
    const hdf5::Shape shape = file.info(name).shape;
    n_frames = std::min(n_frames, shape.empty() ? 0 : static_cast<std::size_t>(shape[0]));
  }
  content.resize(n_frames);
  return content;
}

/// The part of a stored column that belongs to a frame: components [from, from + width).
static std::string data_item(const H5mdContent& content, const std::string& heavy, const H5mdColumn& column,
                             std::size_t frame, int from, int width) {
  std::vector<std::int64_t> shape{column.places, column.components};
  std::vector<std::int64_t> start{0, from};
  std::vector<std::int64_t> count{content.counts[frame], width};
  if (column.components == 1)
    for (auto* list : {&shape, &start, &count}) list->pop_back();
  if (!column.constant) {
    shape.insert(shape.begin(), static_cast<std::int64_t>(content.times.size()));
    start.insert(start.begin(), static_cast<std::int64_t>(frame));
    count.insert(count.begin(), 1);
  }
  const std::vector<std::int64_t> stride(shape.size(), 1);
  const bool is_integer = column.type == hdf5::Type::int64 || column.type == hdf5::Type::int32;
  return fmt::format(
      "        <DataItem ItemType=\"HyperSlab\" Dimensions=\"{0}\">\n"
      "          <DataItem Dimensions=\"3 {1}\" Format=\"XML\">{2} {3} {0}</DataItem>\n"
      "          <DataItem Dimensions=\"{4}\" NumberType=\"{5}\" Precision=\"{6}\" "
      "Format=\"HDF\">{7}:{8}</DataItem>\n"
      "        </DataItem>\n",
      fmt::join(count, " "), shape.size(), fmt::join(start, " "), fmt::join(stride, " "),
      fmt::join(shape, " "), is_integer ? "Int" : "Float", hdf5::bytes_of(column.type), heavy,
      column.dataset());
}

std::string H5mdContent::xdmf(const std::string& heavy) const {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);

  fmt::format_to(out,
                 "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n <Domain>\n"
                 "  <Grid Name=\"bodies\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
  for (std::size_t frame = 0; frame < times.size(); ++frame) {
    if (counts[frame] == 0) continue;  // the format has no empty hyperslab
    fmt::format_to(
        out,
        "   <Grid Name=\"step {}\">\n    <Time Value=\"{}\"/>\n"
        "    <Topology TopologyType=\"Polyvertex\" NodesPerElement=\"1\" NumberOfElements=\"{}\"/>\n",
        steps[frame], times[frame], counts[frame]);
    for (const H5mdColumn& column : columns) {
      if (column.name == "position") {
        fmt::format_to(out, "    <Geometry GeometryType=\"{}\">\n", column.components == 2 ? "XY" : "XYZ");
        fmt::format_to(out, "{}", data_item(*this, heavy, column, frame, 0, column.components));
        fmt::format_to(out, "    </Geometry>\n");
        continue;
      }
      // The reader takes every vector for three numbers, so others are shown as one scalar per component.
      const bool whole = column.components == 1 || column.components == 3;
      for (int k = 0; k < (whole ? 1 : column.components); ++k) {
        const std::string label = whole ? column.name : fmt::format("{}_{}", column.name, "xyzw"[k % 4]);
        fmt::format_to(out, "    <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"Node\">\n", label,
                       column.components == 3 ? "Vector" : "Scalar");
        fmt::format_to(out, "{}", data_item(*this, heavy, column, frame, k, whole ? column.components : 1));
        fmt::format_to(out, "    </Attribute>\n");
      }
    }
    fmt::format_to(out, "   </Grid>\n");
  }
  fmt::format_to(out, "  </Grid>\n </Domain>\n</Xdmf>\n");
  return fmt::to_string(text);
}

}  // namespace scree
