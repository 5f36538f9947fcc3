#include "io/vtk_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "core/files.hpp"
#include "core/input_file.hpp"
#include "io/vtk_encoding.hpp"

namespace scree::vtk {

namespace {

constexpr int n_step_digits = 9;

/// The value of an XML attribute in a line that this file wrote.
std::string attribute_in(const std::string& line, const std::string& name) {
  const std::size_t begin = line.find(name + "=\"");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 2;
  return line.substr(value, line.find('"', value) - value);
}

}  // namespace

std::string declaration(const std::vector<Column>& columns, bool single_precision) {
  std::string text;
  for (const Column& column : columns)
    std::visit(
        [&]<class T>(std::span<const T>) {
          fmt::format_to(std::back_inserter(text),
                         "      <PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n",
                         narrowed<T>(single_precision) ? "Float32" : type_name<T>(), column.name,
                         column.components);
        },
        column.values);
  return text;
}

FrameIndex::FrameIndex(const Comm& comm, const std::string& directory, const std::string& folder,
                       const std::string& series, const Endings& endings)
    : comm_(comm), directory_(directory), folder_(folder), series_(series), endings_(endings) {
  share_errors(comm_, load);  // at the start of a run, not at its first frame
  files::make_directory(comm_, directory_ + "/" + folder_);
}

std::string FrameIndex::frame_name(std::int64_t step) const {
  return fmt::format("{}_{:0{}}", series_, step, n_step_digits);
}

std::string FrameIndex::piece_name(std::int64_t step, int piece) const {
  return fmt::format("{}_p{:03}{}", frame_name(step), piece, endings_.piece);
}

/// The step in a file name "SERIES_000000123..."; -1 if it is none of this series.
std::int64_t FrameIndex::step_in(const std::string& file) const {
  if (!file.starts_with(series_ + "_") || file.size() < series_.size() + 1 + n_step_digits) return -1;
  const char* begin = file.data() + series_.size() + 1;
  const char* end = std::find_if(begin, file.data() + file.size(), [](char c) { return c < '0' || c > '9'; });
  const std::string rest(end, file.data() + file.size());
  const bool is_piece = rest.starts_with("_p") && rest.ends_with(endings_.piece);
  if (end - begin < n_step_digits || !(rest == endings_.frame || is_piece)) return -1;
  std::int64_t step = -1;
  std::from_chars(begin, end, step);
  return step;
}

void FrameIndex::resume(std::int64_t step) {
  const std::string index = directory_ + "/" + series_ + ".pvd";
  std::string text;
  files::on_root(comm_, [&] {
    if (std::filesystem::exists(index)) text = read_input(index);
  });
  comm_.broadcast(text);

  frames_.clear();
  for (std::size_t at = text.find("<DataSet"); at != std::string::npos; at = text.find("<DataSet", at + 1)) {
    const std::string entry = text.substr(at, text.find("/>", at) - at);
    const std::string file = std::filesystem::path(attribute_in(entry, "file")).filename().string();
    const Frame frame{step_in(file), std::strtod(attribute_in(entry, "timestep").c_str(), nullptr)};
    if (frame.step >= 0 && frame.step <= step) frames_.push_back(frame);
  }
  write();
  files::on_root(comm_, [&] {
    std::vector<std::filesystem::path> later;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ + "/" + folder_))
      if (step_in(entry.path().filename().string()) > step) later.push_back(entry.path());
    for (const std::filesystem::path& path : later) std::filesystem::remove(path);
  });
}

void FrameIndex::add(const Frame& frame) {
  std::erase_if(frames_, [&](const Frame& other) { return other.step == frame.step; });
  frames_.push_back(frame);
  write();
}

void FrameIndex::write() const {
  std::string entries;
  for (const Frame& frame : frames_)
    entries += fmt::format("    <DataSet timestep=\"{}\" part=\"0\" file=\"{}/{}{}\"/>\n", frame.time,
                           folder_, frame_name(frame.step), endings_.frame);
  files::on_root(comm_, [&] {
    files::write_atomically(
        directory_ + "/" + series_ + ".pvd",
        fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                    "  <Collection>\n{}  </Collection>\n</VTKFile>\n",
                    entries));
  });
}

}  // namespace scree::vtk
