#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "io/compare.hpp"

#include "core/json.hpp"

namespace scree {

namespace {

std::string place_of(const FieldDifference& field) {
  std::string place = fmt::format("row {}", field.row);
  if (field.id >= 0) place = fmt::format("id {}, ", field.id) + place;
  if (field.step >= 0) place += fmt::format(", step {}", field.step);
  return place;
}

/// The first of all differences of two results; both null if nothing but files on one side only differ.
struct Earliest {
  const FileComparison* file = nullptr;
  const FieldDifference* field = nullptr;
};

Earliest earliest_of(const Comparison& comparison) {
  Earliest best;
  const auto key = [](const FieldDifference& field) {
    const FirstDifference first = field.first.value_or(FirstDifference{.row = -2});
    return std::tuple(first.row == -2, std::isnan(first.time) ? HUGE_VAL : first.time, first.id < 0,
                      first.row);
  };
  for (const FileComparison& file : comparison.files)
    for (const FieldDifference& field : file.fields)
      if (!field.equal && (!best.field || key(field) < key(*best.field))) best = {&file, &field};
  return best;
}

std::string where_in_results(const FieldDifference& field) {
  const FirstDifference& first = *field.first;
  std::vector<std::string> parts;
  if (first.step >= 0) parts.push_back(fmt::format("step {}", first.step));
  if (!std::isnan(first.time)) parts.push_back(fmt::format("t = {} s", first.time));
  parts.push_back(first.component >= 0 ? fmt::format("{}[{}]", field.name, first.component) : field.name);
  if (!first.partner.empty())
    parts.push_back(fmt::format("contact of body {} with {}", first.id, first.partner));
  else if (first.id >= 0)
    parts.push_back(fmt::format("body {}", first.id));
  if (first.row >= 0) parts.push_back(fmt::format("row {}", first.row));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

bool FileComparison::equal() const {
  return std::all_of(fields.begin(), fields.end(), [](const FieldDifference& f) { return f.equal; });
}

bool Comparison::equal() const {
  return only_in_one.empty() &&
         std::all_of(files.begin(), files.end(), [](const FileComparison& f) { return f.equal(); });
}

std::string Comparison::text() const {
  fmt::memory_buffer buffer;
  const auto out = std::back_inserter(buffer);
  for (const FileComparison& file : files) {
    fmt::format_to(out, "{}\n{}\n", file.first, file.second);
    std::size_t width = 0;
    for (const FieldDifference& field : file.fields) width = std::max(width, field.name.size());
    for (const FieldDifference& field : file.fields) {
      fmt::format_to(out, "  {:<{}}  ", field.name, width);
      if (field.equal) fmt::format_to(out, "bitwise equal");
      if (!field.remark.empty()) fmt::format_to(out, "{}", field.remark);
      if (field.n_different > 0)
        fmt::format_to(out, "{}{} numbers differ, by at most {:.3g}{} at {}",
                       field.remark.empty() ? "" : "; ", field.n_different, field.largest,
                       field.unit == "-" ? "" : " " + field.unit, place_of(field));
      fmt::format_to(out, "\n");
    }
  }
  for (const std::string& path : only_in_one) fmt::format_to(out, "{}\n  has no counterpart\n", path);
  const auto n_different = std::ranges::count_if(files, [](const FileComparison& f) { return !f.equal(); });
  fmt::format_to(out, "{} pairs of files compared, {} differ", files.size(), n_different);
  if (!only_in_one.empty()) fmt::format_to(out, "; {} files are on one side only", only_in_one.size());
  fmt::format_to(out, ": {}\n", equal() ? "the results are bitwise equal" : "the results differ");
  return fmt::to_string(buffer);
}

std::string Comparison::json() const {
  Json list = Json::array();
  for (const FileComparison& file : files) {
    Json fields = Json::array();
    for (const FieldDifference& field : file.fields) {
      Json entry{{"name", field.name}, {"unit", field.unit}, {"equal", field.equal}};
      if (field.n_different > 0) {
        entry["n_different"] = field.n_different;
        // JSON has no infinity.
        entry["largest_difference"] = std::isfinite(field.largest) ? Json(field.largest) : Json("infinite");
        entry["row"] = field.row;
        if (field.id >= 0) entry["id"] = field.id;
        if (field.step >= 0) entry["step"] = field.step;
      }
      if (!field.remark.empty()) entry["note"] = field.remark;
      fields.push_back(entry);
    }
    list.push_back(
        {{"first", file.first}, {"second", file.second}, {"equal", file.equal()}, {"fields", fields}});
  }
  return Json{{"equal", equal()}, {"files", list}, {"only_in_one", only_in_one}}.dump(2) + "\n";
}

std::string Comparison::first_text() const {
  if (equal())
    return fmt::format("{} pairs of files compared: the results are bitwise equal\n", files.size());
  const auto [file, field] = earliest_of(*this);
  if (!file) return fmt::format("{}\n  has no counterpart\n", only_in_one.front());
  if (!field->first)
    return fmt::format("{}\n{}\n  {}: {}\n", file->first, file->second, field->name, field->remark);
  const FirstDifference& first = *field->first;
  return fmt::format("first difference: {}\n  {}  {}\n  {}  {}\n{}", where_in_results(*field), first.first,
                     file->first, first.second, file->second,
                     first.ulps >= 0 ? fmt::format("  {} ulps apart\n", first.ulps) : "");
}

std::string Comparison::first_json() const {
  Json json{{"equal", equal()}};
  if (const auto [file, field] = earliest_of(*this); file) {
    json["files"] = {file->first, file->second};
    json["field"] = field->name;
    json["unit"] = field->unit;
    if (!field->remark.empty()) json["note"] = field->remark;
    if (field->first) {
      const FirstDifference& first = *field->first;
      const std::pair<const char*, std::int64_t> numbers[]{{"component", first.component},
                                                           {"id", first.id},
                                                           {"row", first.row},
                                                           {"step", first.step},
                                                           {"ulps", first.ulps}};
      for (const auto& [name, number] : numbers)
        if (number != -1) json[name] = number;
      if (!first.partner.empty()) json["partner"] = first.partner;
      if (!std::isnan(first.time)) json["time_s"] = first.time;
      json["values"] = {first.first, first.second};
    }
  } else if (!only_in_one.empty()) {
    json["only_in_one"] = only_in_one;
  }
  return json.dump(2) + "\n";
}

}  // namespace scree
