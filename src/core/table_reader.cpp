#include "core/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/input_file.hpp"
#include "core/suggestion.hpp"

namespace scree {

namespace {

std::string_view without_quotes(std::string_view field) {
  return field.size() >= 2 && field.front() == '"' && field.back() == '"' ? field.substr(1, field.size() - 2)
                                                                          : field;
}

}  // namespace

TableReader::TableReader(std::string path, std::unique_ptr<std::istream> lines)
    : path_(std::move(path)), lines_(std::move(lines)) {}

TableReader TableReader::of_file(const std::string& path, std::string_view if_empty) {
  TableReader table(path, std::make_unique<std::ifstream>(path, std::ios::binary));
  table.read_header(if_empty);
  return table;
}

TableReader TableReader::of_text(const std::string& path, std::string text, std::string_view if_empty) {
  TableReader table(path, std::make_unique<std::istringstream>(std::move(text)));
  table.read_header(if_empty);
  return table;
}

TableReader TableReader::of_share(const Comm& comm, const std::string& path, std::string_view if_empty) {
  TableReader table(path, nullptr);
  std::string text;
  share_errors(comm, [&] {
    table.lines_ = std::make_unique<std::ifstream>(open_binary(path));
    table.read_header(if_empty);
    std::ifstream file = open_binary(path);
    EvenShare share(comm, static_cast<std::int64_t>(std::filesystem::file_size(path)));
    text = read_lines(path, file, share.first, share.last);
  });
  table.line_ = comm.sum_before(std::ranges::count(text, '\n'));
  table.lines_ = std::make_unique<std::istringstream>(std::move(text));
  return table;
}

TableReader TableReader::of_words(const std::string& where, std::span<const std::string_view> names,
                                  std::string text, std::int64_t n_before) {
  TableReader table(where, std::make_unique<std::istringstream>(std::move(text)));
  table.is_of_words_ = true;
  table.line_ = n_before;
  table.name_columns(names);
  return table;
}

void TableReader::read_header(std::string_view if_empty) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  do {
    if (!std::getline(*lines_, content_)) throw InputError(fmt::format("{}: {}", path_, if_empty));
    if (++line_ == 1 && content_.starts_with(byte_order_mark)) content_.erase(0, byte_order_mark.size());
  } while (is_comment(content_));
  header_ = line_;
  name_columns(fields_of(content_));
}

void TableReader::name_columns(std::span<const std::string_view> fields) {
  for (const std::string_view field : fields) {
    std::string_view name = without_quotes(field), unit;
    if (const auto bracket = name.find('['); bracket != name.npos && name.ends_with(']') && !is_of_words_) {
      unit = name.substr(bracket + 1, name.size() - bracket - 2);
      name = trimmed(name.substr(0, bracket));
    }
    names_.emplace_back(name);
    units_.emplace_back(unit);
  }
}

bool TableReader::has(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

bool TableReader::bind(std::string_view name, const AnyBound& bound, const ColumnRules& rules) {
  asked_for_.emplace_back(name);
  if (!has(name)) return false;
  if (std::ranges::count(names_, name) > 1) refuse(fmt::format("two columns are called {}", name));
  const std::size_t place = std::ranges::find(names_, name) - names_.begin();
  const std::string& unit = units_[place];
  if (!unit.empty() && !rules.unit.empty() && unit != rules.unit)
    refuse(fmt::format("the column {} is in {}, but is read in {}", name, unit, rules.unit));
  columns_.push_back({place, rules, bound});
  return true;
}

std::vector<std::string> TableReader::others() const {
  std::vector<std::string> names;
  for (const std::string& name : names_)
    if (!name.empty() && std::ranges::find(asked_for_, name) == asked_for_.end()) names.push_back(name);
  return names;
}

void TableReader::refuse_others() const {
  for (const std::string& name : names_)
    if (std::ranges::find(asked_for_, name) == asked_for_.end())
      refuse(fmt::format("there is no column \"{}\"{}; valid: {}", name, suggestion(name, asked_for_),
                         fmt::join(asked_for_, ", ")));
}

bool TableReader::next() {
  is_at_header_ = false;
  do {
    if (!std::getline(*lines_, content_)) return false;
  } while (++line_ <= header_ || is_comment(content_));
  const std::vector<std::string_view> fields = is_of_words_ ? words_of(content_) : fields_of(content_);
  if (fields.size() != names_.size())
    refuse(fmt::format("{} value{}, but the header names {} column{}", fields.size(),
                       fields.size() == 1 ? "" : "s", names_.size(), names_.size() == 1 ? "" : "s"));
  for (const Column& column : columns_)
    std::visit(
        [&](const auto& bound) {
          const std::string_view field = fields[column.place];
          *bound.value = bound.before;
          if (!field.empty() || !column.rules.may_be_empty) take(without_quotes(field), column, *bound.value);
        },
        column.bound);
  return true;
}

void TableReader::take(std::string_view field, const Column& column, Real& value) const {
  const auto& [place, rules, bound] = column;
  if (!parse(field, value) || !(std::isfinite(value) || rules.may_be_infinite))
    refuse(fmt::format("'{}' is not a number ({})", field, names_[place]));
  if (value < rules.min || value > rules.max)
    refuse(fmt::format("{} = {:g} is not {}", names_[place], value, rules.range));
}

void TableReader::take(std::string_view field, const Column& column, std::int64_t& value) const {
  const auto& [place, rules, bound] = column;
  const bool is_whole = parse(field, value);
  const bool is_inside = static_cast<Real>(value) >= rules.min && static_cast<Real>(value) <= rules.max;
  if (is_whole && is_inside) return;
  refuse(fmt::format("{} '{}' is not {}", names_[place], field,
                     rules.range.empty() ? "an integer" : rules.range));
}

void TableReader::take(std::string_view field, const Column&, std::string_view& value) const {
  value = field;
}

std::string TableReader::where() const {
  if (is_of_words_) return is_at_header_ ? path_ : fmt::format("{}, row {}", path_, line_);
  return fmt::format("{}:{}", path_, is_at_header_ ? header_ : line_);
}

void TableReader::refuse(const std::string& what) const {
  throw InputError(where() + ": " + what);
}

std::string read_lines(const std::string& path, std::istream& file, std::int64_t& begin, std::int64_t end) {
  std::string text;
  if (begin >= end) return text;
  file.clear();
  std::string line;
  if (begin > 0) {
    // Unless the byte before ends a line, the first line here began earlier and is another rank's.
    file.seekg(begin - 1);
    std::getline(file, line);
    begin += static_cast<std::int64_t>(line.size());
    if (begin >= end) return text;
  }
  file.seekg(begin);
  text.resize(end - begin);
  file.read(text.data(), end - begin);
  if (file.gcount() != end - begin) throw InputError(path + ": cannot be read to its end");
  if (text.back() != '\n' && std::getline(file, line)) {
    text += line;
    if (!file.eof()) text += '\n';
  }
  return text;
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blank = " \t\r";
  std::vector<std::string_view> words;
  while (true) {
    const auto first = line.find_first_not_of(blank);
    if (first == line.npos) return words;
    line.remove_prefix(first);
    const auto length = std::min(line.find_first_of(blank), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

std::ifstream open_binary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be opened");
  return file;
}

}  // namespace scree
