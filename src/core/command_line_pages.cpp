#include "core/command_line_pages.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

namespace scree {

namespace {

/// Name of the program and what it is.
std::pair<std::string, std::string> name_and_purpose(const CLI::App& app) {
  const std::string about = app.get_description();
  const std::size_t colon = about.find(": ");
  return {about.substr(0, colon), about.substr(colon + 2)};
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Whether another program answers a verb: it has no options here but the help.
bool is_answered_elsewhere(const CLI::App& verb) {
  return verb.get_parent() != nullptr && verb.get_options().size() == 1;
}

/// Options, or arguments by place, that the help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& app, bool by_place) {
  return app.get_options([=](const CLI::Option* option) {
    return option->get_positional() == by_place && !option->get_group().empty();
  });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// The words that an option takes; empty if it takes others, too.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

/// What stands for the value of an option.
std::string value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.find('{') != std::string::npos) return fmt::format("{}", fmt::join(choices_of(option), "|"));
  if (const std::size_t range = type.find(" in ["); range != std::string::npos)
    return "NUMBER" + type.substr(range);
  return type.substr(0, type.find(':'));
}

/// Text as roff takes it: dashes that can be copied, no line that is a request.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
    if (c == '-' || c == '\\') result += '\\';
    result += c == '\\' ? 'e' : c;
  }
  return result;
}

std::string synopsis(const std::string& command, const CLI::App& app) {
  std::string text = fmt::format("\\fB{}\\fR [\\fIOPTION\\fR]...", roff(command));
  for (const CLI::Option* place : options_of(app, true)) {
    const std::string name = fmt::format("\\fI{}\\fR", roff(place->get_name(true)));
    text += place->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string described(const CLI::App& app) {
  std::string text;
  for (const bool by_place : {true, false})
    for (const CLI::Option* option : options_of(app, by_place)) {
      std::string tag =
          by_place ? fmt::format("\\fI{}\\fR", roff(option->get_name(true)))
                   : fmt::format("\\fB{}\\fR", roff(fmt::format("{}", fmt::join(names_of(*option), ", "))));
      if (takes_value(*option) && (!by_place || !choices_of(*option).empty()))
        tag += fmt::format(" \\fI{}\\fR", roff(value_of(*option)));
      text += fmt::format(".TP\n{}\n{}\n", tag, roff(option->get_description()));
    }
  return text;
}

/// The files that an argument names, as a pattern of the shell; empty if it names none. By its name: the
/// library behind the command line knows texts only.
std::string files_of(const CLI::Option& option) {
  const std::string name = option.get_name(option.get_positional());
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* one) { return name == one; });
  };
  if (is({"deck"})) return "*.toml";
  if (is({"checkpoint", "--from"})) return "*.scree";
  if (is({"file", "files", "a", "b", "--csv", "--json", "--output", "--source"})) return "*";
  return "";
}

std::string of_words(const std::vector<std::string>& words) {
  return fmt::format("words='{}'", fmt::join(words, " "));
}

/// What completes an argument; empty if nothing does.
std::string completes(const CLI::Option& option) {
  if (const auto choices = choices_of(option); !choices.empty()) return of_words(choices);
  if (const std::string files = files_of(option); !files.empty()) return fmt::format("files='{}'", files);
  return "";
}

}  // namespace

std::string man_page(const CLI::App& app) {
  const auto [name, purpose] = name_and_purpose(app);
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = fmt::format(
      ".\\\" Made by {0} --man.\n.TH {1} 1 \"\" scree \"User commands\"\n.SH NAME\n{0} \\- {2}\n.SH "
      "SYNOPSIS\n",
      name, upper, roff(purpose));
  const auto verbs = verbs_of(app);
  std::vector<std::string> lines;
  if (verbs.empty() || app.get_require_subcommand_min() == 0) lines.push_back(synopsis(name, app));
  for (const CLI::App* verb : verbs) lines.push_back(synopsis(name + " " + verb->get_name(), *verb));
  text += fmt::format("{}\n.SH OPTIONS\n{}", fmt::join(lines, "\n.br\n"), described(app));
  if (!verbs.empty()) text += ".SH COMMANDS\n";
  for (const CLI::App* verb : verbs)
    text += fmt::format(
        ".SS {}\n{}\n{}", synopsis(name + " " + verb->get_name(), *verb), roff(verb->get_description()),
        is_answered_elsewhere(*verb) ? fmt::format(".br\n\\fB{} {} \\-\\-help\\fR has its options.\n",
                                                   roff(name), roff(verb->get_name()))
                                     : described(*verb));
  if (!app.get_footer().empty()) text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(app.get_footer()));
  return text + R"(.SH ENVIRONMENT
.TP
\fBSCREE_PLUGINS\fR
shared objects with further shapes, forces, measures, ..., separated by colons
.SH EXIT STATUS
.TP
0
done
.TP
1
a failure while running
.TP
2
bad input
.TP
3
the solver failed, or bodies overlap too deeply
.TP
4
stopped by a signal or by \-\-max\-wall\-time; a checkpoint is written
.TP
5
people of a crowd are locked, and [crowd.lock] says to stop
.SH SEE ALSO
\fBscree\fR(1), \fBscree_bench\fR(1), \fBscree_replay\fR(1), \fBmpirun\fR(1)
)";
}

namespace {

/// The cases of a completion that depend on the line: after options, for words with a dash, for others.
struct Cases {
  std::string values, options, places;
};

Cases cases_of(const CLI::App& app) {
  const auto verbs = verbs_of(app);
  std::vector<const CLI::App*> lines{&app};
  lines.insert(lines.end(), verbs.begin(), verbs.end());
  Cases cases;
  std::vector<std::string> elsewhere;
  for (const CLI::App* line : lines) {
    const std::string verb = line == &app ? "" : line->get_name();
    std::vector<std::string> words;
    for (const CLI::Option* option : options_of(*line, false)) {
      const auto names = names_of(*option);
      words.insert(words.end(), names.begin(), names.end());
      if (!takes_value(*option)) continue;
      cases.values += fmt::format("    {0}:{1}) {2} ;;\n", verb, fmt::join(names, " | " + verb + ":"),
                                  completes(*option));
    }
    if (is_answered_elsewhere(*line))
      elsewhere.push_back("'" + verb + "'");
    else
      cases.options += fmt::format("        '{}') {} ;;\n", verb, of_words(words));
    const auto by_place = options_of(*line, true);
    const std::string first = by_place.empty() ? "" : completes(*by_place.front());
    if (!first.empty()) cases.places += fmt::format("        '{}') {} ;;\n", verb, first);
  }
  if (!elsewhere.empty()) {
    const std::string all = fmt::format("        {}", fmt::join(elsewhere, " | "));
    cases.places += all + ") files='*' ;;\n";
    cases.options += all +
                     ") words=$(\"${COMP_WORDS[@]:0:COMP_CWORD}\" --help 2>/dev/null | grep -oE -- "
                     "'--[a-z][a-z-]*') ;;\n";
  }
  return cases;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  Cases cases = cases_of(app);
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(app)) names.push_back(verb->get_name());
  std::string find_verb;
  if (!names.empty()) {
    cases.places += fmt::format("        '') {} ;;\n", of_words(names));
    find_verb = fmt::format(R"(  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in {}) verb=$word; break ;; esac
  done
)",
                            fmt::join(names, " | "));
  }
  return fmt::format(R"(# Completion of {0} in bash. Made by {0} --completion.
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb= word= words= files=
{1}  case $verb:$previous in
{2}    *) case $current in
      -*) case $verb in
{3}        esac ;;
      *) case $verb in
{4}        esac ;;
    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <({{ compgen -f -X "!$files" -- "$current"; compgen -d -- "$current"; }} | sort -u)
  fi
}}
complete -F _{0} {0}
)",
                     name_and_purpose(app).first, find_verb, cases.values, cases.options, cases.places);
}

}  // namespace scree
