#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace scree {

/// `; did you mean "x"?` for the word nearest to `word`, if a third of its letters or fewer differ; else
/// nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& words);

/// `there is no [KIND.NAME]`, with a suggestion or all names there are.
std::string no_such_table(std::string_view kind, std::string_view name,
                          const std::vector<std::string>& names);

/// Which of `names`, those of the tables [KIND.NAME], `name` is. Throws InputError that starts with `where`
/// and says no_such_table(). Local.
int table_named(std::string_view kind, std::string_view name, const std::vector<std::string>& names,
                const std::string& where);

/// The name nearest to `name`, or nullptr if none is near enough to be meant.
const std::string* nearest(std::string_view name, const std::vector<std::string>& names);

}  // namespace scree
