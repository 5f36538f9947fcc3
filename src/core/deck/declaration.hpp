#pragma once
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/section.hpp"

namespace scree {

/// One key or table that a describe() function declared. The tree of declarations is what unknown keys are
/// compared with, what the reference is printed from, and, with the values of a run, the resolved deck.
struct Declaration {
  enum class Form {
    real,
    integer,
    boolean,
    text,
    texts,
    reals,
    booleans,
    points,
    choice,
    integer_or_word,
    real_or_word,
    kind,
    table,
    optional_table,
    tables,
    list
  };
  /// One choice of a key of Form::kind, with the keys it adds to the table.
  struct Option {
    std::string name;
    std::string summary;
    bool available = true;  ///< in this dimension
    Audience audience = Audience::users;
    std::list<Declaration> members;
  };

  std::string name;
  Form form = Form::real;
  Unit unit = Unit::none;
  Range range;
  bool required = false;
  std::string doc;
  Audience audience = Audience::users;
  int count = -1;                     ///< entries of a list or numbers of a point; < 0: any
  std::vector<std::string> choices;   ///< words that are allowed; of kinds, those for users
  std::string value;                  ///< in TOML: the default, or the value of the run; empty: none
  bool present = false;               ///< a table that the run has
  std::vector<Option> options;        ///< of a kind
  std::optional<std::size_t> chosen;  ///< the option of the run
  std::list<Declaration>
      members;  ///< of a table (each named table for `tables`, each entry for `list`); never moved

  bool is_table() const { return form >= Form::table; }
};

/// The stand-in for the name of a table [particles.NAME] while documenting.
inline constexpr std::string_view any_name = "NAME";

/// The child `name` of the table `path`, in TOML's writing: 'a."b c"'.
std::string join_path(const std::string& path, std::string_view name);
/// Entry `index` of the array `path`: "stages[0]".
std::string join_path(const std::string& path, std::size_t index);
/// `text` as a TOML string.
std::string toml_string(const std::string& text);
/// `name` as a TOML key, in quotes if need be.
std::string toml_key(std::string_view name);

bool contains(const Range& range, Real value);
/// "> 0", "in [0, 1]"; empty if any number will do.
std::string range_text(const Range& range);
/// What to write for a key: "number [m]", "list of 3 numbers", "\"a\" or \"b\"".
std::string type_text(const Declaration& declaration);
/// The sentence of a key with type, range and default, for messages.
std::string meaning_text(const Declaration& declaration);
/// `"a" or "b"`
std::string quoted_list(const std::vector<std::string>& words);

}  // namespace scree
