// People in a frame of a trajectory of the pedestrian dynamics data archive as text.
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/input_file.hpp"
#include "crowd/people/person_frame.hpp"

namespace scree {

namespace {

/// Words of letters in a line, in lower case: "x/cm" has "x" and "cm".
std::vector<std::string> words_in(std::string_view line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper || (c >= 'a' && c <= 'z'))
      words.back() += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Length of one unit of the coordinates, as a line of the header says it: after x ("x/cm", "x [in m]",
/// "X (cm)"), or as "in cm"; 0: it does not.
Real unit_in(std::string_view header_line) {
  const std::vector<std::string> words = words_in(header_line);
  for (std::size_t k = 0; k + 1 < words.size(); ++k) {
    std::size_t unit = 0;
    if (words[k] == "x") unit = words[k + 1] == "in" && k + 2 < words.size() ? k + 2 : k + 1;
    if (words[k] == "in") unit = k + 1;
    if (unit == 0) continue;
    if (words[unit] == "m" || words[unit] == "meter" || words[unit] == "meters") return 1;
    if (words[unit] == "cm" || words[unit] == "centimeter" || words[unit] == "centimeters") return 0.01;
  }
  return 0;
}

/// The next word of a line, which is taken off it.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view blank = " \t\r,;";
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  const std::string_view word = line.substr(0, std::min(line.find_first_of(blank), line.size()));
  line.remove_prefix(word.size());
  return word;
}

/// A whole number, also one written as 12.0.
std::int64_t archive_number(std::string_view word, const char* what, const std::string& where) {
  Real value = -1;
  if (!parse(word, value) || !(value >= 0 && value <= static_cast<Real>(most_id)) ||
      value != std::floor(value))
    throw InputError(
        fmt::format("{}: {} '{}' is not a whole number from 0 to {}", where, what, word, most_id));
  return static_cast<std::int64_t>(value);
}

void each_text_row(const std::string& path, const std::function<void(std::int64_t, const PersonRow&)>& f) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  Real unit = 0;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (is_comment(line)) {
      if (const Real said = unit_in(line); said != 0) unit = said;
      continue;
    }
    const std::string where = fmt::format("{}:{}", path, number);
    if (unit == 0)
      throw InputError(where +
                       ": no line before says whether coordinates are in m or cm: add the line "
                       "\"# id frame x/m y/m\", or with cm");
    std::string_view rest = line;
    PersonRow person;
    person.id = archive_number(next_word(rest), "id", where);
    const std::int64_t frame = archive_number(next_word(rest), "frame", where);
    for (int k = 0; k < 2; ++k) {
      const std::string_view word = next_word(rest);
      if (!parse(word, person.x[k]) || !std::isfinite(person.x[k]))
        throw InputError(fmt::format("{}: '{}' is not a number ({}); rows are id, frame, x, y", where, word,
                                     k == 0 ? "x" : "y"));
      person.x[k] *= unit;
    }
    f(frame, person);
  }
}

}  // namespace

void read_archive_text(const std::string& path, std::int64_t frame, const TakePerson& take) {
  take_frame(
      path, frame, [&](const auto& f) { each_text_row(path, f); }, take);
}

}  // namespace scree
