#include "run/deck_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "core/error.hpp"

namespace scree {

namespace {

using Settings = std::vector<Deck::Setting>;

/// What may change: keys that start so. They end in a dot where a whole table is meant.
constexpr std::array<std::string_view, 9> changeable{"simulation.end_time",
                                                     "simulation.title",
                                                     "simulation.ensemble",
                                                     "output.",
                                                     "analysis.",
                                                     "measures.",
                                                     "solver.",
                                                     "nonsmooth.",
                                                     "decomposition.rebalance"};
constexpr std::string_view changeable_in_words =
    "simulation.end_time, simulation.title, simulation.ensemble, output.*, analysis.*, measures.*, solver.*, "
    "nonsmooth.* and decomposition.rebalance* can change";

bool may_change(const Deck::Setting& setting) {
  const std::string name = full_name(setting);
  return std::ranges::any_of(changeable, [&](std::string_view start) { return name.starts_with(start); });
}

Settings fixed_settings(const Deck& deck) {
  Settings all = deck.settings();
  std::erase_if(all, may_change);
  return all;
}

/// The tables in their order, each once.
std::vector<std::string> tables_of(const Settings& settings) {
  std::vector<std::string> tables;
  for (const Deck::Setting& setting : settings)
    if (std::ranges::find(tables, setting.table) == tables.end()) tables.push_back(setting.table);
  return tables;
}

class Differences {
 public:
  Differences(const Settings& now, const Settings& before, const std::string& whose) : whose_(whose) {
    for (const SettingChange& change : changes_between(now, before)) add(text_of(change));
    // Groups and obstacles are numbered in the order of the deck.
    const auto tables_now = tables_of(now), tables_before = tables_of(before);
    if (n_ == 0 && tables_now != tables_before) {
      const auto place = std::ranges::mismatch(tables_now, tables_before);
      const auto first = std::ranges::find(now, *place.in1, &Deck::Setting::table);
      add(fmt::format("{}: [{}] stands where [{}] stood {}: the order of tables is another", first->where,
                      *place.in1, *place.in2, whose_));
    }
  }

  bool empty() const { return n_ == 0; }
  std::string text() const {
    return n_ > max_shown ? fmt::format("{}\nand {} more", text_, n_ - max_shown) : text_;
  }

 private:
  static constexpr std::size_t max_shown = 10;

  void add(const std::string& line) {
    if (++n_ <= max_shown) text_ += (text_.empty() ? "" : "\n") + line;
  }
  std::string text_of(const SettingChange& change) const {
    const Deck::Setting* now = change.now;
    const Deck::Setting* before = change.before;
    if (now && before)
      return fmt::format("{}: '{}' in [{}] is {}, but {} {}", now->where, now->key, now->table, now->value,
                         before->value, whose_);
    if (now && change.whole_table)
      return fmt::format("{}: [{}] is new; there is no such table {}", now->where, now->table, whose_);
    if (now)
      return fmt::format("{}: '{}' in [{}] is {}, but is not given {}", now->where, now->key, now->table,
                         now->value, whose_);
    if (change.whole_table)
      return fmt::format("[{}] is missing; there is such a table {}", before->table, whose_);
    return fmt::format("'{}' in [{}] is not given, but is {} {}", before->key, before->table, before->value,
                       whose_);
  }

  std::string whose_, text_;
  std::size_t n_ = 0;
};

}  // namespace

std::string full_name(const Deck::Setting& setting) {
  return setting.table.empty() ? setting.key : setting.table + "." + setting.key;
}

std::vector<SettingChange> changes_between(const Settings& now, const Settings& before,
                                           const std::function<bool(const Deck::Setting&)>& skip) {
  struct Names {
    std::map<std::string, const Deck::Setting*> by_name;
    std::set<std::string> tables;
  };
  const auto names_of = [](const Settings& settings) {
    Names names;
    for (const Deck::Setting& setting : settings) {
      names.by_name.emplace(full_name(setting), &setting);
      names.tables.insert(setting.table);
    }
    return names;
  };
  const Names is = names_of(now), was = names_of(before);
  std::vector<SettingChange> changes;
  std::set<std::string> named;  // tables that only one of the decks has
  const auto add_if_alone = [&](const Deck::Setting& setting, const Names& other, bool is_now) {
    const bool whole_table = !other.tables.contains(setting.table);
    if (whole_table && !named.insert(setting.table).second) return;
    changes.push_back({is_now ? &setting : nullptr, is_now ? nullptr : &setting, whole_table});
  };
  for (const Deck::Setting& setting : now) {
    if (skip(setting)) continue;
    const auto other = was.by_name.find(full_name(setting));
    if (other == was.by_name.end())
      add_if_alone(setting, was, true);
    else if (other->second->value != setting.value)
      changes.push_back({&setting, other->second});
  }
  for (const Deck::Setting& setting : before)
    if (!skip(setting) && !is.by_name.contains(full_name(setting))) add_if_alone(setting, is, false);
  return changes;
}

void require_same_run(const Deck& now, const Deck& before, const std::string& whose) {
  const Differences differences(fixed_settings(now), fixed_settings(before), whose);
  if (differences.empty()) return;
  throw InputError(
      fmt::format("{}; a run goes on as it was made: only {}", differences.text(), changeable_in_words));
}

}  // namespace scree
