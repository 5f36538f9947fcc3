#pragma once
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace scree {

/// The rows of a CSV file below its line of titles, which must be `titles`; lines that begin with # are
/// comments.
inline std::vector<std::vector<std::string>> reference_rows(const std::string& path,
                                                            const std::string& titles) {
  INFO(path);
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<std::vector<std::string>> rows;
  bool has_titles = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (!has_titles) {
      REQUIRE(line == titles);
      has_titles = true;
      continue;
    }
    std::istringstream words(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string word; std::getline(words, word, ',');) row.push_back(word);
  }
  REQUIRE(!rows.empty());
  return rows;
}

}  // namespace scree
