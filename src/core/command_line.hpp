#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/types.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
class Validator;
}  // namespace CLI

namespace scree {

/// What a value on the command line must be. The message of one that is not says so.
class Check {
 public:
  explicit Check(const CLI::Validator& validator);
  const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};

/// A number for which `holds`, such as "positive".
Check number(const std::string& name, bool (*holds)(Real));
Check positive_number();
Check non_negative_number();
/// The same for counts, of which the message names the largest there is.
Check positive_count();
Check non_negative_count();
Check one_of(std::initializer_list<const char*> words);
Check one_of(std::initializer_list<int> numbers);
Check in_range(int min, int max);
Check in_range(Real min, Real max);

/// An option of a command line, to say more of it; what it returns is the same option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option check(const Check& check) const;
  Option required() const;
  /// Of lists: written as one argument with this between the values, or as several.
  Option delimiter(char between) const;
  /// Of lists: each time the option is written it takes one argument.
  Option one_argument() const;
  /// Of lists: all that is given each time the option is written.
  Option take_all() const;
  /// Not in the help.
  Option hidden() const;
  Option needs(const Option& other) const;
  Option excludes(const Option& other) const;

  bool given() const;
  std::string name() const;

 private:
  CLI::Option* option_;
};

/// The command line of a program, or of a verb of it; a handle: copies are the same command line. Everything
/// is compiled in command_line.cpp: the library behind it takes longer to compile than most files that use
/// it.
class CommandLine {
 public:
  explicit CommandLine(const std::string& about);

  /// Adds a verb, with options of its own.
  CommandLine verb(const std::string& name, const std::string& about);
  void require_verbs(std::size_t min, std::size_t max);
  /// Adds an option for `value`, which stays as it is if the option is not given. Values: a text, int,
  /// int64_t, uint64_t or Real, a vector of these, or an optional number. A name without dashes is one by
  /// place.
  template <class Value>
  Option option(const std::string& names, Value& value, const std::string& about = "");
  Option flag(const std::string& names, bool& value, const std::string& about = "");
  /// Adds --version.
  void version(const std::function<std::string()>& text);
  /// Text below the help.
  void footer(const std::string& text);
  /// A command to learn from, as one types it, at the end of the help.
  void example(const std::string& command);

  /// Whether this verb was given.
  bool given() const;

  /// How a command line ends the program: what to print, and the exit code.
  struct Ending {
    std::string output{}, mistakes{};
    ExitCode code = ExitCode::done;
    std::string page{};  ///< to print instead: one of postprocess/scree/pages, which asks this program back
  };
  /// Reads the arguments; has a value if that ends the program: help, version, or a mistake. Of a program,
  /// alone: also --man and --completion, which print docs/man/PROGRAM.1 and packaging/completions/PROGRAM,
  /// and --describe, what they are made of.
  std::optional<Ending> parse(int argc, char** argv) const;

 private:
  explicit CommandLine(CLI::App* app) : app_(app) {}

  std::shared_ptr<CLI::App> owned_;  ///< of a program; verbs belong to it
  CLI::App* app_;
};

}  // namespace scree
