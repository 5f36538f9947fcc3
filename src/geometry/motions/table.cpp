#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/file_checksum.hpp"
#include "core/input_file.hpp"
#include "core/table_reader.hpp"
#include "geometry/motions/turn.hpp"

namespace scree {

namespace {

/// Displacement d(t) and angle a(t), linear between the rows of a table and constant before the first and
/// after the last:
///   x(t) = d(t) + c + R(a(t)) (x - c),  c the centre of the rotation: the shape turns where the deck has it,
///   and then is displaced without turning.
/// At a row the velocity is that of the time after it.
template <int D>
class Table final : public Motion<D> {
 public:
  void describe(Section& section) override {
    std::vector<std::vector<Real>> positions;
    section.reals("times", times_, -1, {.unit = Unit::time, .doc = "times of the rows, increasing"});
    section.points(
        "positions", positions, D,
        {.unit = Unit::length, .doc = "displacement at each time, from where the deck has the shape"});
    section.reals("angles", angles_, -1,
                  {.unit = Unit::angle, .doc = "angle at each time, positive counter-clockwise"});
    turn_.describe(section, false);
    std::string path;
    section.text(
        "path", path,
        {.doc = "CSV file instead of times, positions and angles: columns time, then x, y (, z) or "
                "angle or both, in SI units; looked for in the current folder, then beside the deck"});
    if (section.reading() && !path.empty()) {
      for (const std::string_view key : {"times", "positions", "angles"})
        if (section.has(key)) section.fail(key, "is not for a table that is read from a file");
      where_rows_ = path_of_input(path, section.where("path"));
      read(section, positions);
    }
    describe_checksum(section, "path", path);
    if (!section.reading()) return;
    const auto refuse = [&](std::string_view key, const std::string& what) {
      if (path.empty()) section.fail(key, what);
      section.fail("path", fmt::format("{}: {}: {}", where_rows_, key, what));
    };
    if (times_.size() < 2)
      refuse("times", fmt::format("{} rows given, at least 2 are needed", times_.size()));
    for (std::size_t i = 1; i < times_.size(); ++i)
      if (!(times_[i - 1] < times_[i]))
        refuse("times", fmt::format("must increase: {:g} s comes after {:g} s", times_[i], times_[i - 1]));
    if (positions.empty() && angles_.empty()) refuse("positions", "neither positions nor angles are given");
    if (!positions.empty() && positions.size() != times_.size())
      refuse("positions", fmt::format("{} positions for {} times", positions.size(), times_.size()));
    if (!angles_.empty() && angles_.size() != times_.size())
      refuse("angles", fmt::format("{} angles for {} times", angles_.size(), times_.size()));
    if (!angles_.empty() && !turn_.given())
      section.fail("angles", D == 2 ? "to turn by angles, center is needed"
                                    : "to turn by angles, point and axis are needed");
    displacements_.resize(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i)
      std::copy_n(positions[i].begin(), D, displacements_[i].component.begin());
  }

  Pose<D> pose(Real time) const override {
    Pose<D> pose = angles_.empty() ? Pose<D>{} : turn_.pose(angle(time));
    pose.translation += displacement(time);
    return pose;
  }

  Vec<D> velocity(const Vec<D>& x, Real time) const override {
    Vec<D> v = slope(displacements_, time);
    if (!angles_.empty()) v += turn_.velocity(x - displacement(time), slope(angles_, time));
    return v;
  }

  Vec<D == 2 ? 1 : 3> spin(Real time) const override {
    if (angles_.empty()) return {};
    return turn_.spin(slope(angles_, time));
  }

 private:
  Vec<D> displacement(Real time) const { return value(displacements_, time); }
  Real angle(Real time) const { return value(angles_, time); }

  /// The row after `time`; 0 before the first, the number of rows from the last on.
  std::size_t row_after(Real time) const {
    return static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), time) - times_.begin());
  }

  template <class T>
  T value(const std::vector<T>& rows, Real time) const {
    if (rows.empty()) return T{};
    const std::size_t next = row_after(time);
    if (next == 0) return rows.front();
    if (next == rows.size()) return rows.back();
    const Real part = (time - times_[next - 1]) / (times_[next] - times_[next - 1]);
    return rows[next - 1] + part * (rows[next] - rows[next - 1]);
  }

  template <class T>
  T slope(const std::vector<T>& rows, Real time) const {
    const std::size_t next = row_after(time);
    if (rows.empty() || next == 0 || next == rows.size()) return T{};
    return (rows[next] - rows[next - 1]) * (1 / (times_[next] - times_[next - 1]));
  }

  void read(const Section& section, std::vector<std::vector<Real>>& positions) {
    if (const std::string obstacle = obstacle_to_read(where_rows_); !obstacle.empty())
      section.fail("path",
                   fmt::format("file '{}' is not there or cannot be opened: {}", where_rows_, obstacle));
    const std::vector<std::string> turned{"time", "angle"};
    std::vector<std::string> displaced{"time", "x", "y"};
    if (D == 3) displaced.emplace_back("z");
    std::vector<std::string> both = displaced;
    both.emplace_back("angle");
    const std::string wanted = fmt::format("the columns must be '{}', 'time,angle' or '{}'",
                                           fmt::join(displaced, ","), fmt::join(both, ","));
    try {
      TableReader table =
          TableReader::of_text(where_rows_, with_plain_line_ends(read_input(where_rows_)), wanted);
      const std::vector<std::string>& names = table.names();
      if (names != displaced && names != both && names != turned) table.refuse(wanted);
      std::vector<Real> values(names.size());
      for (std::size_t k = 0; k < names.size(); ++k)
        table.real(names[k], values[k], {.unit = k == 0 ? "s" : names[k] == "angle" ? "rad" : "m"});
      while (table.next()) {
        times_.push_back(values.front());
        if (names[1] == "x") positions.emplace_back(values.begin() + 1, values.begin() + 1 + D);
        if (names.back() == "angle") angles_.push_back(values.back());
      }
    } catch (const InputError& error) {
      section.fail("path", error.what());
    }
  }

  std::vector<Real> times_;
  std::vector<Vec<D>> displacements_;  // by row; none: 0
  std::vector<Real> angles_;           // by row; none: 0
  Turn<D> turn_;
  std::string where_rows_;
};

}  // namespace

SCREE_PLUGIN(Motion, table, Table, "displacement and angle from a table, linear in between")

}  // namespace scree
