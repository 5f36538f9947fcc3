#include "crowd/output/row_file.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/error.hpp"
#include "io/files.hpp"

namespace scree {

namespace {

/// The cell of a number; NaN if the line has none there.
Real number_in(const std::string& line, std::size_t column) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size() && column > 0; ++at) {
    // Quotes within a quoted cell are doubled, so that parity tells what is inside.
    if (line[at] == '"')
      while (++at < line.size() && line[at] != '"') continue;
    else if (line[at] == ',' && --column == 0)
      begin = at + 1;
  }
  if (column > 0) return std::numeric_limits<Real>::quiet_NaN();
  const char* start = line.c_str() + begin;
  char* end = nullptr;
  const Real value = std::strtod(start, &end);
  return end == start ? std::numeric_limits<Real>::quiet_NaN() : value;
}

}  // namespace

RowFile::RowFile(const Comm& comm, const std::string& path, const std::string& header,
                 std::size_t time_column, std::optional<Real> time)
    : comm_(comm), path_(path) {
  files::on_root(comm_, [&] {
    if (time)
      cut(header, time_column, *time);
    else
      files::write_atomically(path_, header + "\n", true);
    file_.emplace(path_);
  });
}

void RowFile::add(const std::string& lines) {
  files::on_root(comm_, [&] { file_->add(lines); });
}

void RowFile::keep_in_place() {
  files::on_root(comm_, [&] { file_->keep_in_place(); });
}

/// Takes away the first row later than `time` and all after it, and a last line cut short.
void RowFile::cut(const std::string& header, std::size_t time_column, Real time) const {
  std::ifstream stream(path_, std::ios::binary);
  std::string line;
  if (!std::getline(stream, line) || line != header)
    throw InputError(fmt::format("{} has the columns {}, but the run would add {}", path_, line, header));
  std::uintmax_t kept = line.size() + 1;
  while (std::getline(stream, line) && !stream.eof() && number_in(line, time_column) <= time)
    kept += line.size() + 1;
  std::error_code error;
  std::filesystem::resize_file(path_, kept, error);
  if (error) throw RunError(fmt::format("cannot shorten {}: {}", path_, error.message()));
}

}  // namespace scree
