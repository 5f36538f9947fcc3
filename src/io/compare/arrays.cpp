#include <algorithm>
#include <charconv>
#include <map>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "io/compare/differences.hpp"
#include "io/compare/renames.hpp"
#include "io/result_file.hpp"
#include "particles/contact_memory.hpp"

namespace scree::detail {

namespace {

using Fields = std::vector<ResultFile::Field>;

const ResultFile::Field* find_field(const Fields& fields, const std::string& name, bool per_body) {
  const auto found = std::ranges::find_if(
      fields, [&](const ResultFile::Field& f) { return f.name == name && f.per_body == per_body; });
  return found == fields.end() ? nullptr : &*found;
}

/// The fields of a file by the names of now.
Fields fields_of(const ResultFile& file) {
  Fields fields = file.fields();
  std::vector<std::string*> of_bodies, observables;
  for (ResultFile::Field& field : fields) (field.per_body ? of_bodies : observables).push_back(&field.name);
  use_new_names(file.path(), "bodies", of_bodies);
  use_new_names(file.path(), "certificate", observables);
  return fields;
}

/// The single numbers of a file by the names of now.
files::Texts values_of(const ResultFile& file) {
  files::Texts values = file.values();
  std::vector<std::string*> names;
  for (auto& [name, value] : values) names.push_back(&name);
  use_new_names(file.path(), "numbers", names);
  return values;
}

/// Difference of the texts of two numbers; -1 if one of them is no real number.
std::int64_t ulps_of_texts(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && text.find_first_of(".en") != text.npos;
  };
  double x = 0, y = 0;
  return number(a, x) && number(b, y) ? ulps_between(x, y) : -1;
}

class FilePair {
 public:
  FilePair(const Comm& comm, const std::string& first, const std::string& second, bool last_frame_only)
      : comm_(comm),
        a_(comm, first),
        b_(comm, second),
        fields_a_(fields_of(a_)),
        fields_b_(fields_of(b_)),
        last_frame_only_(last_frame_only) {
    if (a_.class_of_file() != b_.class_of_file())
      throw InputError(
          fmt::format("cannot compare {} ({}) with {} ({})", first, a_.kind(), second, b_.kind()));
    result_.first = first;
    result_.second = second;
    for (const auto& [name, value] : a_.values()) {
      if (name == "step") std::from_chars(value.data(), value.data() + value.size(), moment_.step);
      if (name == "time") std::from_chars(value.data(), value.data() + value.size(), moment_.time);
    }
  }

  FileComparison compare() {
    compare_values();
    if (a_.is_h5md()) {
      FieldDifference frames{"frames", "-"};
      if (!last_frame_only_ && a_.n_frames() != b_.n_frames())
        add_remark(frames, fmt::format("{} frames against {}", a_.n_frames(), b_.n_frames()));
      if (a_.n_frames() == 0 && b_.n_frames() == 0) return result_;
      if (a_.n_frames() == 0 || b_.n_frames() == 0) add_remark(frames, "one file has no frame");
      if (!frames.equal) result_.fields.push_back(frames);
      if (a_.n_frames() == 0 || b_.n_frames() == 0) return result_;
    }
    for (const ResultFile::Field& field : fields_a_) {
      FieldDifference verdict{field.name, field.unit};
      if (const ResultFile::Field* other = find_field(fields_b_, field.name, field.per_body))
        compare_field(verdict, field, *other);
      else
        add_remark(verdict, "only in the first");
      result_.fields.push_back(verdict);
    }
    for (const ResultFile::Field& field : fields_b_) {
      if (find_field(fields_a_, field.name, field.per_body) != nullptr) continue;
      result_.fields.push_back(only_in("second", field.name, field.unit));
    }
    name_contacts();
    return result_;
  }

 private:
  void compare_values() {
    const files::Texts of_b = values_of(b_);
    std::map<std::string, std::string> rest(of_b.begin(), of_b.end());
    for (const auto& [name, value] : values_of(a_)) {
      FieldDifference verdict{name, "-"};
      const auto other = rest.find(name);
      if (other == rest.end()) {
        add_remark(verdict, "only in the first");
      } else {
        if (value != other->second) {
          constexpr std::size_t longest_shown = 40;
          add_remark(verdict, value.size() + other->second.size() <= longest_shown
                                  ? fmt::format("{} against {}", value, other->second)
                                  : "the texts differ");
          verdict.first = FirstDifference{.step = moment_.step,
                                          .time = moment_.time,
                                          .first = value.substr(0, longest_shown),
                                          .second = other->second.substr(0, longest_shown),
                                          .ulps = ulps_of_texts(value, other->second)};
        }
        rest.erase(other);
      }
      result_.fields.push_back(verdict);
    }
    for (const auto& [name, value] : rest) {
      result_.fields.push_back(only_in("second", name));
    }
  }

  void compare_field(FieldDifference& verdict, const ResultFile::Field& in_a, const ResultFile::Field& in_b) {
    if (in_a.type != in_b.type || in_a.components != in_b.components || in_a.in_frames != in_b.in_frames)
      return add_remark(verdict, "stored in another form");
    if (!in_a.in_frames && in_a.per_body) return compare_rows(verdict, in_a, 0, in_b, 0);
    if (!in_a.per_body) {
      const std::int64_t n = std::min(in_a.rows, in_b.rows);
      if (last_frame_only_)
        compare_range(verdict, in_a, 0, in_a.rows - 1, in_b, 0, in_b.rows - 1, 1);
      else
        compare_range(verdict, in_a, 0, 0, in_b, 0, 0, n);
      return;
    }
    if (last_frame_only_) return compare_rows(verdict, in_a, a_.n_frames() - 1, in_b, b_.n_frames() - 1);
    for (std::int64_t frame = 0; frame < std::min(a_.n_frames(), b_.n_frames()); ++frame)
      compare_rows(verdict, in_a, frame, in_b, frame);
  }

  /// One frame (or an array without frames); other numbers of rows are reported and the common ones compared.
  void compare_rows(FieldDifference& verdict, const ResultFile::Field& in_a, std::int64_t frame_a,
                    const ResultFile::Field& in_b, std::int64_t frame_b) {
    const std::int64_t rows_a = a_.rows(in_a, frame_a);
    const std::int64_t rows_b = b_.rows(in_b, frame_b);
    if (rows_a != rows_b && verdict.remark.empty())
      add_remark(verdict, fmt::format("{} rows against {}", rows_a, rows_b));
    compare_range(verdict, in_a, frame_a, 0, in_b, frame_b, 0, std::min(rows_a, rows_b));
  }

  void compare_range(FieldDifference& verdict, const ResultFile::Field& in_a, std::int64_t frame_a,
                     std::int64_t from_a, const ResultFile::Field& in_b, std::int64_t frame_b,
                     std::int64_t from_b, std::int64_t n) {
    const EvenShare share(comm_, n);
    const std::int64_t first = share.first, count = share.last - first;
    const FieldValues a = a_.read(in_a, frame_a, from_a + first, count);
    const FieldValues b = b_.read(in_b, frame_b, from_b + first, count);
    const RowDifferences found = std::visit(
        [&]<class T>(const std::vector<T>& values) {
          return differences(values, std::get<std::vector<T>>(b), from_a + first, in_a.components);
        },
        a);
    if (comm_.sum(found.n_different) == 0) return;

    std::vector<GlobalId> ids;
    const ResultFile::Field* id = find_field(fields_a_, "id", true);
    const bool has_ids = in_a.per_body && id != nullptr && id->type == hdf5::Type::int64 &&
                         a_.rows(*id, frame_a) == a_.rows(in_a, frame_a);
    if (has_ids) ids = std::get<std::vector<GlobalId>>(a_.read(*id, frame_a, from_a + first, count));
    Moment moment = moment_;
    const auto in_frame = [&](std::int64_t frame) { moment = {a_.steps()[frame], a_.times()[frame]}; };
    if (in_a.in_frames)
      in_frame(frame_a);
    else if (!in_a.per_body)
      in_frame(comm_.min(std::min(found.first_row, a_.n_frames() - 1)));
    add_to(verdict, comm_, found, in_a.in_frames ? moment.step : -1, from_a + first, ids, moment);
  }

  /// Rows of what contacts remember belong to pairs: a body and its partner.
  void name_contacts() {
    const ResultFile::Field* counts = find_field(fields_a_, "memory_count", true);
    const ResultFile::Field* others = find_field(fields_a_, "memory_other", true);
    const ResultFile::Field* ids = find_field(fields_a_, "id", true);
    if (!counts || !others || !ids || counts->rows != ids->rows) return;
    for (FieldDifference& field : result_.fields) {
      if (!field.first || !field.name.starts_with("memory_") || field.name == "memory_count") continue;
      FirstDifference& first = *field.first;
      if (first.row < 0 || first.row >= others->rows) continue;
      const auto count = std::get<std::vector<std::int32_t>>(a_.read(*counts, 0, 0, counts->rows));
      const auto id = std::get<std::vector<GlobalId>>(a_.read(*ids, 0, 0, ids->rows));
      const auto other = std::get<std::vector<GlobalId>>(a_.read(*others, 0, first.row, 1));
      std::int64_t n_before = 0;
      std::size_t body = 0;
      while (body + 1 < count.size() && n_before + count[body] <= first.row) n_before += count[body++];
      first.id = id[body];
      first.partner = other.front() < 0
                          ? fmt::format("constraint {} of obstacles", id_of_partner(-1 - other.front()))
                          : fmt::format("body {}", id_of_partner(other.front()));
    }
  }

  Comm comm_;
  ResultFile a_, b_;
  Fields fields_a_, fields_b_;
  bool last_frame_only_;
  Moment moment_;  // of a state
  FileComparison result_;
};

}  // namespace

FileComparison compare_arrays(const Comm& comm, const std::string& first, const std::string& second,
                              bool last_frame_only) {
  return FilePair(comm, first, second, last_frame_only).compare();
}

}  // namespace scree::detail
