#pragma once
#include <string>
#include <tuple>
#include <vector>

#include "core/deck/toml.hpp"

namespace scree {

/// A deck as toml++ parsed it, with new names for old ones and with the overrides applied.
struct DeckSource {
  struct Override {
    std::string path;   // as paths are written in messages: "stages[0].duration"
    std::string given;  // as the command line writes it: "stages.0.duration"
  };

  std::string name;
  toml::table root;
  std::vector<Override> overridden;   // in the order given
  std::vector<std::string> warnings;  // of old names

  /// Throws InputError.
  static DeckSource parse(const std::string& text, const std::string& name,
                          const std::vector<std::string>& overrides);

  /// Where the node of this path and region was written: "file:line:col" or "--set path".
  std::string place(const std::string& path, const toml::source_region& region) const;
  /// Sorts places as a reader meets them: the file from the top, then the overrides.
  std::tuple<bool, std::uint32_t, std::uint32_t> order(const std::string& path,
                                                       const toml::source_region& region) const;
};

/// "the integer 3", "a table".
std::string describe_node(const toml::node& node);
/// "in [path]", "at the top level of the deck".
std::string table_text(const std::string& path);

}  // namespace scree
