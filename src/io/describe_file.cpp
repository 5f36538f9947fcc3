#include "io/describe_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/files.hpp"
#include "io/fclib_file.hpp"
#include "io/result_file.hpp"

namespace scree {

namespace {

/// "from a to b"; integers are kept as such, since ids may be larger than 2^53.
std::string range_of(const Comm& comm, const FieldValues& values) {
  return std::visit(
      [&]<class T>(const std::vector<T>& list) -> std::string {
        using Wide = std::conditional_t<std::is_integral_v<T>, std::int64_t, Real>;
        Wide min = std::numeric_limits<Wide>::max();
        Wide max = std::numeric_limits<Wide>::lowest();
        std::int64_t n_not_finite = 0;
        for (const T value : list) {
          if constexpr (!std::is_integral_v<T>) {
            if (!std::isfinite(value)) {
              ++n_not_finite;
              continue;
            }
          }
          min = std::min(min, static_cast<Wide>(value));
          max = std::max(max, static_cast<Wide>(value));
        }
        min = comm.min(min);
        max = comm.max(max);
        n_not_finite = comm.sum(n_not_finite);
        std::string text = min <= max ? fmt::format("{} to {}", min, max) : "no values";
        if (n_not_finite > 0) text += fmt::format(", {} not finite", n_not_finite);
        return text;
      },
      values);
}

std::string name_of(hdf5::Type type) {
  switch (type) {
    case hdf5::Type::real64:
      return "real64";
    case hdf5::Type::real32:
      return "real32";
    case hdf5::Type::int64:
      return "int64";
    case hdf5::Type::int32:
      return "int32";
  }
  return "";
}

void add_texts(std::string& text, const std::string& title, const files::Texts& entries) {
  if (entries.empty()) return;
  text += title + "\n";
  for (const auto& [name, value] : entries) {
    const auto n_lines = std::count(value.begin(), value.end(), '\n');
    text +=
        fmt::format("  {:<24} {}\n", name, n_lines == 0 ? value : fmt::format("(text of {} lines)", n_lines));
  }
}

std::string describe_result(const Comm& comm, const std::string& path) {
  const ResultFile file(comm, path);
  std::string text = fmt::format("{}: {}\n", path, file.kind());
  if (file.is_h5md()) {
    text += fmt::format("{} frames", file.n_frames());
    if (file.n_frames() > 0)
      text +=
          fmt::format(", t = {} s to {} s, steps {} to {}, {} bodies in the last", file.times().front(),
                      file.times().back(), file.steps().front(), file.steps().back(), file.counts().back());
    text += "\n";
  }
  add_texts(text, "values", file.values());
  if (!file.fields().empty()) text += "fields\n";
  for (const ResultFile::Field& field : file.fields()) {
    const std::int64_t frame = std::max<std::int64_t>(file.n_frames() - 1, 0);
    const bool empty = file.is_h5md() && file.n_frames() == 0;
    const std::int64_t rows = empty ? 0 : file.rows(field, frame);
    const auto [first, last] = EvenShare(comm, rows);
    const std::string range =
        empty ? "no values" : range_of(comm, file.read(field, frame, first, last - first));
    text += fmt::format("  {:<24} {:<7} {} x {} [{}]: {}\n", field.name, name_of(field.type), rows,
                        field.components, field.unit, range);
  }
  add_texts(text, "provenance", file.provenance());
  return text;
}

std::string describe_fclib(const Comm& comm, const std::string& path) {
  const FclibProblem problem = read_fclib(comm, path);
  std::string text =
      fmt::format("{}: FCLIB, {} form, {}D\n{} contacts", path, problem.is_global ? "global" : "local",
                  problem.dimension, problem.n_contacts);
  if (problem.is_global) text += fmt::format(", {} velocities", problem.n_velocities);
  if (problem.n_constraints > 0) text += fmt::format(", {} bilateral constraints", problem.n_constraints);
  text += "\n";
  if (problem.time_step > 0) text += fmt::format("time step {} s\n", problem.time_step);
  if (problem.has_solution) text += "a solution\n";
  if (problem.n_guesses > 0) text += fmt::format("guesses: {}\n", problem.n_guesses);
  text += "matrices\n";
  const auto add_matrix = [&](std::string_view name, const SparseShare& matrix) {
    if (matrix.n_rows == 0 && matrix.n_columns == 0) return;
    text +=
        fmt::format("  {:<24} {} x {}, {} entries: {}\n", name, matrix.n_rows, matrix.n_columns,
                    comm.sum(static_cast<std::int64_t>(matrix.value.size())), range_of(comm, matrix.value));
  };
  add_matrix("M", problem.M);
  add_matrix("H", problem.H);
  add_matrix("G", problem.G);
  add_matrix("W", problem.W);
  add_matrix("V", problem.V);
  add_matrix("R", problem.R);
  text += fmt::format("  {:<24} {:.2g}\n", "relative asymmetry", problem.asymmetry);
  text += "vectors\n";
  const auto add_vector = [&](std::string_view name, const VectorShare& vector) {
    if (const auto n = comm.sum(static_cast<std::int64_t>(vector.values.size())); n > 0)
      text += fmt::format("  {:<24} {}: {}\n", name, n, range_of(comm, vector.values));
  };
  add_vector("mu", problem.mu);
  add_vector("f", problem.f);
  add_vector("w", problem.w);
  add_vector("b", problem.b);
  add_vector("q", problem.q);
  add_vector("s", problem.s);
  add_vector("compliance", problem.compliance);
  files::Texts info;
  for (const auto& [name, value] :
       {std::pair("title", problem.info.title), std::pair("description", problem.info.description),
        std::pair("math_info", problem.info.math_info)})
    if (!value.empty()) info.emplace_back(name, value);
  add_texts(text, "info", info);
  return text;
}

bool is_fclib(const Comm& comm, const std::string& path) {
  const hdf5::File file(comm, path, hdf5::Open::read);
  return file.exists("/fclib_local") || file.exists("/fclib_global");
}

/// The values of an XML attribute in the entries of an index.
std::vector<std::string> values_of(const std::string& text, const std::string& attribute) {
  std::vector<std::string> values;
  for (std::size_t at = text.find("<DataSet"); at != std::string::npos; at = text.find("<DataSet", at + 1)) {
    const std::string entry = text.substr(at, text.find('>', at) - at);
    const std::string key = " " + attribute + "=\"";
    const std::size_t begin = entry.find(key);
    if (begin == std::string::npos) continue;
    values.push_back(
        entry.substr(begin + key.size(), entry.find('"', begin + key.size()) - begin - key.size()));
  }
  return values;
}

std::string describe_index(const Comm& comm, const std::string& path) {
  const std::string text = files::read_on_all(comm, path);
  if (text.find("<VTKFile") == std::string::npos || text.find("<Collection>") == std::string::npos)
    throw InputError(path + " is no index of VTK files");
  const std::vector<std::string> times = values_of(text, "timestep");
  const std::vector<std::string> names = values_of(text, "file");
  std::string report = fmt::format("{}: index of a series for ParaView\n{} frames", path, names.size());
  if (!times.empty()) report += fmt::format(", t = {} s to {} s", times.front(), times.back());
  report += "\n";
  std::string missing;
  files::on_root(comm, [&] {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    for (const std::string& name : names)
      if (!std::filesystem::exists(folder / name)) missing += fmt::format("  missing: {}\n", name);
  });
  comm.broadcast(missing);
  if (!names.empty()) report += fmt::format("first {}\nlast  {}\n", names.front(), names.back());
  return report + missing;
}

}  // namespace

std::string describe_file(const Comm& comm, const std::string& path) {
  if (path.ends_with(".pvd")) return describe_index(comm, path);
  return is_fclib(comm, path) ? describe_fclib(comm, path) : describe_result(comm, path);
}

}  // namespace scree
