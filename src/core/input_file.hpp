#pragma once
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace scree {

/// Path of a file that a deck names: in the current folder if it is there, otherwise beside the deck. `where`
/// is the place "file:line:col" of the key (Section::where).
inline std::string path_of_input(const std::string& named, const std::string& where) {
  std::error_code none;
  if (std::filesystem::is_regular_file(named, none)) return named;
  std::string deck = where;
  for (int i = 0; i < 2; ++i) deck.resize(std::min(deck.size(), deck.rfind(':')));
  return (std::filesystem::path(deck).parent_path() / named).string();
}

/// What keeps `path` from being read as input, in words: the system's reason, or that it is a folder, a pipe
/// or a device, which might never end. Empty: nothing. Waits for nothing. Local.
std::string obstacle_to_read(const std::string& path);

/// The content of a regular file; throws InputError "cannot read PATH: reason". Local.
std::string read_input(const std::string& path);

/// How deep the brackets ( [ { of a text are nested; those in "quotes" do not count. Parsers call themselves
/// once per level, so a text is asked before it is parsed. Local, O(length).
std::size_t bracket_depth(std::string_view text);
/// The deepest nesting that is read: far more than any plan or deck needs, far less than a stack holds.
inline constexpr std::size_t max_nested = 100;

/// `text` with the line ends of all systems (CR, CR LF) as LF.
std::string with_plain_line_ends(std::string text);

/// `text` without blanks around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto first = text.find_first_not_of(blank);
  return first == text.npos ? std::string_view{}
                            : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Whether a line of a CSV file holds nothing, or a comment that starts with #.
inline bool is_comment(std::string_view line) {
  return trimmed(line).empty() || trimmed(line).front() == '#';
}

/// The fields of a line of a CSV file, trimmed.
inline std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == line.npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

/// Reads a number that fills the whole of `text`; false if it does not.
template <class T>
bool parse(std::string_view text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace scree
