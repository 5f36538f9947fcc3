// What kinds of people know of exits, and whom they follow.
#include <fmt/format.h>

#include "core/error.hpp"
#include "core/suggestion.hpp"
#include "crowd/people/people.hpp"

namespace scree {

void People::describe_familiarity(Section& section, Familiarity& familiarity) const {
  section.texts(
      "knows", familiarity.knows,
      {.doc = "names of the exits that they know and choose among; not given: all. If none of these is "
              "open, they choose among all"});
  section.real(
      "notices", familiarity.notices,
      {.unit = Unit::length,
       .range = non_negative,
       .doc = "with knows: another exit counts as well when the route to it is no longer than this; on "
              "stairs and near walls, where routes take longer, it counts as longer"});
  section.text(
      "follows", familiarity.follows,
      {.doc = "name of an agent type: they leave by the exit of the nearest person of that type within "
              "follow_reach, or by their own choice if there is none"});
  section.real("follow_reach", familiarity.follow_reach,
               {.unit = Unit::length, .range = positive, .doc = "how far away they follow somebody"});
  if (!section.reading()) return;
  familiarity.where_notices = section.where("notices");
  if (section.has("knows") && familiarity.knows.empty())
    section.fail("knows", "knows is empty: name an exit, or leave it out for all");
  if (familiarity.notices > 0 && familiarity.knows.empty())
    section.fail("notices", "notices goes with knows: who knows all exits has none to notice");
  if (familiarity.knows.empty()) return;
  familiarity.is_known.assign(journey_plan_->exits().size(), 0);
  for (const std::string& name : familiarity.knows) {
    constexpr std::string_view prefix = "exits.";
    const std::string bare = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
    const int exit = journey_plan_->find_destination("exits", bare, section.where("knows"));
    familiarity.is_known[exit] = 1;
  }
}

/// After all kinds are read: who follows whom.
void People::find_leaders() {
  const std::vector<std::string> names = names_of(kinds_);
  for (AgentType& kind : kinds_) {
    const std::string& follows = kind.familiarity.follows;
    if (follows.empty()) continue;
    kind.familiarity.leaders = table_named("agents", follows, names, kind.where_follows);
    if (follows == kind.name)
      throw InputError(fmt::format("{}: \"{}\" cannot follow itself", kind.where_follows, follows));
  }
}

}  // namespace scree
