#include "core/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <sstream>

#include "core/json.hpp"

namespace scree {

Check::Check(const CLI::Validator& validator)
    : validator_(std::make_shared<const CLI::Validator>(validator)) {}

Check number(const std::string& name, bool (*holds)(Real)) {
  return Check(CLI::Validator(
      [=](const std::string& text) {
        Real value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && holds(value);
        return good ? std::string() : text + " is not a " + name + " number";
      },
      name));
}

Check positive_number() {
  return number("positive", [](Real value) { return value > 0; });
}
Check non_negative_number() {
  return number("non-negative", [](Real value) { return value >= 0; });
}
Check positive_count() {
  return Check(CLI::PositiveNumber);
}
Check non_negative_count() {
  return Check(CLI::NonNegativeNumber);
}
Check one_of(std::initializer_list<const char*> words) {
  return Check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
}
Check one_of(std::initializer_list<int> numbers) {
  return Check(CLI::IsMember(std::vector<int>(numbers)));
}
Check in_range(int min, int max) {
  return Check(CLI::Range(min, max));
}
Check in_range(Real min, Real max) {
  return Check(CLI::Range(min, max));
}

Option Option::check(const Check& check) const {
  option_->check(check.validator());
  return *this;
}
Option Option::required() const {
  option_->required();
  return *this;
}
Option Option::delimiter(char between) const {
  option_->delimiter(between);
  return *this;
}
Option Option::one_argument() const {
  option_->allow_extra_args(false);
  return *this;
}
Option Option::take_all() const {
  option_->take_all();
  return *this;
}
Option Option::hidden() const {
  option_->group("");
  return *this;
}
Option Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}
Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}
bool Option::given() const {
  return option_->count() > 0;
}
std::string Option::name() const {
  return option_->get_name();
}

CommandLine::CommandLine(const std::string& about)
    : owned_(std::make_shared<CLI::App>(about)), app_(owned_.get()) {}

CommandLine CommandLine::verb(const std::string& name, const std::string& about) {
  CLI::App* verb = app_->add_subcommand(name, about);
  verb->footer("");     // else it has that of the program
  verb->fallthrough();  // scree run -q is scree -q run
  return CommandLine(verb);
}
void CommandLine::require_verbs(std::size_t min, std::size_t max) {
  app_->require_subcommand(min, max);
}
template <class Value>
Option CommandLine::option(const std::string& names, Value& value, const std::string& about) {
  return Option(app_->add_option(names, value, about));
}
Option CommandLine::flag(const std::string& names, bool& value, const std::string& about) {
  return Option(app_->add_flag(names, value, about));
}
void CommandLine::version(const std::function<std::string()>& text) {
  app_->set_version_flag("--version", text);
}
void CommandLine::footer(const std::string& text) {
  app_->footer(text);
}
void CommandLine::example(const std::string& command) {
  std::string text = app_->get_footer();
  text.erase(text.find_last_not_of('\n') + 1);
  app_->footer(text + (text.empty() ? "" : "\n\n") + "Example:\n  " + command);
}
bool CommandLine::given() const {
  return app_->parsed();
}

namespace {

/// Options and arguments by place that the help shows.
Json options_of(const CLI::App& app) {
  Json options = Json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    options.push_back({{"name", option->get_name(option->get_positional())},
                       {"names", names},
                       {"is_by_place", option->get_positional()},
                       {"is_required", option->get_required()},
                       {"takes_value", option->get_items_expected_max() > 0},
                       {"type", option->get_type_name()},
                       {"about", option->get_description()}});
  }
  return options;
}

/// A command line and its verbs, as postprocess/scree/pages/command_line.py knows them.
Json description_of(const CLI::App& app) {
  Json verbs = Json::array();
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(description_of(*verb));
  return {{"name", app.get_name()},
          {"about", app.get_description()},
          {"footer", app.get_footer()},
          {"needs_verb", app.get_require_subcommand_min() > 0},
          // The help alone: another program has its options.
          {"is_answered_elsewhere", app.get_parent() != nullptr && app.get_options().size() == 1},
          {"options", options_of(app)},
          {"verbs", verbs}};
}

}  // namespace

std::optional<CommandLine::Ending> CommandLine::parse(int argc, char** argv) const {
  const std::string_view only = argc == 2 ? argv[1] : "";
  for (const std::string_view page : {"man", "completion"})
    if (only == fmt::format("--{}", page)) return Ending{.page = std::string(page)};
  if (only == "--describe") return Ending{.output = description_of(*app_).dump() + '\n'};
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream output, mistakes;
    const int code = app_->exit(error, output, mistakes);
    return Ending{output.str(), mistakes.str(), code == 0 ? ExitCode::done : ExitCode::bad_input};
  }
  return std::nullopt;
}

#define SCREE_OPTION(...) \
  template Option CommandLine::option(const std::string&, __VA_ARGS__&, const std::string&);
SCREE_OPTION(std::string)
SCREE_OPTION(int)
SCREE_OPTION(std::int64_t)
SCREE_OPTION(std::uint64_t)
SCREE_OPTION(Real)
SCREE_OPTION(std::optional<int>)
SCREE_OPTION(std::optional<Real>)
SCREE_OPTION(std::vector<std::string>)
SCREE_OPTION(std::vector<int>)
SCREE_OPTION(std::vector<std::int64_t>)
SCREE_OPTION(std::vector<Real>)
#undef SCREE_OPTION

}  // namespace scree
