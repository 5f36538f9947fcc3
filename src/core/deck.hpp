#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/section.hpp"

namespace scree {

/// A TOML deck with its overrides: strict, every key accounted for.
class Deck {
 public:
  /// Reads `path` on rank 0, broadcasts the text and parses it on every rank; applies `overrides` ("a.b=c", c
  /// any TOML value, a bare word counts as a string). Collective. Throws InputError on all ranks.
  static Deck read(const Comm& comm, const std::string& path, const std::vector<std::string>& overrides);
  /// The text of a deck; throws InputError. Local.
  static std::string text_of(const std::string& path);
  /// The same from a text that all ranks hold; `name` stands for the file in messages. Local.
  static Deck from_text(const std::string& text, const std::string& name,
                        const std::vector<std::string>& overrides = {});
  /// The same deck, unread, with `more` overrides after its own. Local.
  Deck with(const std::vector<std::string>& more) const;
  ~Deck();
  Deck(Deck&&) noexcept;
  Deck& operator=(Deck&&) noexcept;

  Section& root();

  /// To be called when everything has described itself: throws InputError for the first key or table that
  /// nothing declared, with its place, the nearest declared name and that name's meaning.
  void require_all_read() const;

  const std::string& name() const;                    ///< the path, as given
  const std::string& text() const;                    ///< the exact text of the file
  const std::vector<std::string>& overrides() const;  ///< as given on the command line
  /// One per key or word that the deck gives by its old name, with its place.
  const std::vector<std::string>& warnings() const;
  /// The deck as it runs: all declared keys, with defaults filled in, overrides applied, SI values. A valid
  /// deck.
  std::string resolved() const;

  /// One key of the deck as it runs.
  struct Setting {
    std::string table;  ///< "particles.bed", "stages[0]"
    std::string key;
    std::string value;  ///< in TOML, as in resolved()
    std::string where;  ///< "file:line:col" or "--set a.b"; of the table where the deck leaves the key out
  };
  /// All of resolved(), key by key.
  std::vector<Setting> settings() const;
  /// What the deck asks for that is not for users, as "solver.type = \"admm\"", unless it is the default.
  /// `describe`: of the whole program in the dimension of the deck.
  std::vector<std::string> laboratory_settings(const std::function<void(Section&)>& describe) const;

 private:
  struct Impl;
  explicit Deck(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// All that is wrong with a deck that some reading has refused, as the message of one error: a line each,
/// with its place, up to 20 of them. `describe` reads the deck once more; from the first mistake on its
/// sections are not reading(), so that nothing is computed from values. What is missing is reported only if
/// nothing before it is wrong. `first`: the error of the first reading, for a deck that cannot be parsed or
/// shows no error now. Local.
std::string errors_of_deck(const std::string& text, const std::string& name,
                           const std::vector<std::string>& overrides, const std::string& first,
                           const std::function<void(Section&)>& describe);

/// What a deck may contain: the describe functions of the whole program in 2 and in 3 dimensions.
struct DeckDescription {
  std::function<void(Section&)> in_2d;
  std::function<void(Section&)> in_3d;
};
/// All tables, keys and kinds in the order of their declarations, and the units, as JSON: what
/// postprocess/scree/pages makes the reference and the JSON Schema of.
std::string deck_keys(const DeckDescription& description);

}  // namespace scree
