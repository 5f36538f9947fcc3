#include <algorithm>
#include <map>

#include "core/even_share.hpp"
#include "io/compare/differences.hpp"
#include "io/pedestrian_archive.hpp"

namespace scree::detail {

namespace {

/// The arrays of numbers in any HDF5 file, by name; texts, such as titles, are left out. Collective.
void find_arrays(const hdf5::File& file, const std::string& group,
                 std::map<std::string, hdf5::ObjectInfo>& arrays) {
  for (const std::string& member : file.members(group.empty() ? "/" : group)) {
    const std::string name = group + "/" + member;
    const hdf5::ObjectInfo found = file.find(name);
    if (found.content == hdf5::Content::integers || found.content == hdf5::Content::reals)
      arrays[name] = found;
    else if (found.content == hdf5::Content::something_else && !file.is_dataset(name))
      find_arrays(file, name, arrays);
  }
}

}  // namespace

FileComparison compare_trajectories(const Comm& comm, const std::string& first, const std::string& second) {
  const hdf5::File a(comm, first, hdf5::Open::read), b(comm, second, hdf5::Open::read);
  const std::int64_t rows_a = PedestrianArchive::n_rows_in(a), rows_b = PedestrianArchive::n_rows_in(b);
  FileComparison result{first, second, {}};
  if (rows_a != rows_b) {
    FieldDifference rows{"rows", "-"};
    add_remark(rows, fmt::format("{} rows against {}", rows_a, rows_b));
    result.fields.push_back(rows);
  }
  const std::int64_t n = std::min(rows_a, rows_b);
  const EvenShare share(comm, n);
  const std::int64_t begin = share.first, count = share.last - begin;
  const std::vector<TrajectoryRow> in_a = PedestrianArchive::read_rows(a, begin, count),
                                   in_b = PedestrianArchive::read_rows(b, begin, count);
  const Real fps = a.attribute<double>("/trajectory", "fps").value_or(0);
  const auto compare_member = [&](const char* name, const char* unit, auto member) {
    const auto values_of = [&](const std::vector<TrajectoryRow>& rows) {
      std::vector<std::conditional_t<std::is_floating_point_v<decltype(TrajectoryRow().*member)>, double,
                                     std::int64_t>>
          values;
      for (const TrajectoryRow& row : rows) values.push_back(row.*member);
      return values;
    };
    FieldDifference verdict{name, unit};
    add_to(verdict, comm, differences(values_of(in_a), values_of(in_b), begin, 1), -1, begin, {});
    if (verdict.first) {
      const std::int64_t row = verdict.first->row - begin;
      const bool mine = row >= 0 && row < count;
      const auto of_row = [&](auto number) {
        return comm.max(mine ? std::int64_t{in_a[row].*number} : std::int64_t{-1});
      };
      verdict.first->id = of_row(&TrajectoryRow::id);
      const std::int64_t frame = of_row(&TrajectoryRow::frame);
      if (fps > 0) verdict.first->time = static_cast<Real>(frame) / fps;
    }
    result.fields.push_back(verdict);
  };
  compare_member("frame", "-", &TrajectoryRow::frame);
  compare_member("id", "-", &TrajectoryRow::id);
  compare_member("x", "m", &TrajectoryRow::x);
  compare_member("y", "m", &TrajectoryRow::y);
  compare_member("z", "m", &TrajectoryRow::z);
  return result;
}

FileComparison compare_problems(const Comm& comm, const std::string& first, const std::string& second) {
  const hdf5::File a(comm, first, hdf5::Open::read), b(comm, second, hdf5::Open::read);
  std::map<std::string, hdf5::ObjectInfo> in_a, in_b;
  find_arrays(a, "", in_a);
  find_arrays(b, "", in_b);
  FileComparison result{first, second, {}};
  const auto compare_as = [&]<class T>(T, const std::string& name, const hdf5::Shape& shape,
                                       FieldDifference& verdict) {
    // Every rank reads a share of the rows; of a single value all read it and one looks at it.
    const std::int64_t rows = shape.empty() ? 1 : shape.front();
    const EvenShare share(comm, rows);
    const std::int64_t begin = shape.empty() ? 0 : share.first;
    hdf5::Slab slab{hdf5::Shape(shape.size(), 0), shape};
    if (!shape.empty()) {
      slab.start.front() = begin;
      slab.count.front() = share.last - begin;
    }
    std::vector<T> values_a, values_b;
    a.read_any_width(name, slab, values_a);
    b.read_any_width(name, slab, values_b);
    if (shape.empty() && !comm.is_root()) values_a.clear();
    const std::int64_t of_row = std::max<std::int64_t>(slab.size() / std::max<std::int64_t>(rows, 1), 1);
    add_to(verdict, comm, differences(values_a, values_b, begin, static_cast<int>(of_row)), -1, begin, {});
  };
  for (const auto& [name, found] : in_a) {
    FieldDifference verdict{name, "-"};
    const auto other = in_b.find(name);
    if (other == in_b.end())
      add_remark(verdict, "only in the first");
    else if (found.content != other->second.content || found.shape != other->second.shape)
      add_remark(verdict, "stored in another form");
    else if (found.content == hdf5::Content::reals)
      compare_as(double{}, name, found.shape, verdict);
    else
      compare_as(std::int64_t{}, name, found.shape, verdict);
    result.fields.push_back(verdict);
  }
  for (const auto& [name, found] : in_b) {
    if (in_a.contains(name)) continue;
    result.fields.push_back(only_in("second", name));
  }
  return result;
}

}  // namespace scree::detail
