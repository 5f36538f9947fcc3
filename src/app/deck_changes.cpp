#include "app/deck_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

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

std::string full_name(const Deck::Setting& setting) {
  return setting.table.empty() ? setting.key : setting.table + "." + setting.key;
}

bool may_change(const Deck::Setting& setting) {
  const std::string name = full_name(setting);
  return std::ranges::any_of(changeable, [&](std::string_view start) { return name.starts_with(start); });
}

Settings fixed_settings(const Deck& deck) {
  Settings all = deck.settings();
  std::erase_if(all, may_change);
  return all;
}

std::map<std::string, const Deck::Setting*> by_name(const Settings& settings) {
  std::map<std::string, const Deck::Setting*> map;
  for (const Deck::Setting& setting : settings) map.emplace(full_name(setting), &setting);
  return map;
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
    const auto was = by_name(before), is = by_name(now);
    const auto tables_now = tables_of(now), tables_before = tables_of(before);
    for (const Deck::Setting& setting : now) {
      const auto other = was.find(full_name(setting));
      if (other == was.end())
        only_here(setting, std::ranges::find(tables_before, setting.table) == tables_before.end());
      else if (other->second->value != setting.value)
        add(fmt::format("{}: '{}' in [{}] is {}, but {} {}", setting.where, setting.key, setting.table,
                        setting.value, other->second->value, whose_));
    }
    for (const Deck::Setting& setting : before)
      if (!is.contains(full_name(setting)))
        only_there(setting, std::ranges::find(tables_now, setting.table) == tables_now.end());
    // Groups and obstacles are numbered in the order of the deck.
    if (n_ == 0 && tables_now != tables_before) {
      const auto place = std::ranges::mismatch(tables_now, tables_before);
      const auto first = std::ranges::find(now, *place.in1, &Deck::Setting::table);
      add(fmt::format("{}: [{}] stands where [{}] stood {}: the order of tables is another", first->where,
                      *place.in1, *place.in2, whose_));
    }
  }

  bool empty() const { return n_ == 0; }
  std::string text() const {
    return n_ > most_shown ? fmt::format("{}\nand {} more", text_, n_ - most_shown) : text_;
  }

 private:
  static constexpr std::size_t most_shown = 10;

  void add(const std::string& line) {
    if (++n_ <= most_shown) text_ += (text_.empty() ? "" : "\n") + line;
  }
  /// A table that the other deck does not have at all is named once.
  void only_here(const Deck::Setting& setting, bool whole_table) {
    if (!whole_table)
      add(fmt::format("{}: '{}' in [{}] is {}, but is not given {}", setting.where, setting.key,
                      setting.table, setting.value, whose_));
    else if (named_.insert(setting.table).second)
      add(fmt::format("{}: [{}] is new; there is no such table {}", setting.where, setting.table, whose_));
  }
  void only_there(const Deck::Setting& setting, bool whole_table) {
    if (!whole_table)
      add(fmt::format("'{}' in [{}] is not given, but is {} {}", setting.key, setting.table, setting.value,
                      whose_));
    else if (named_.insert(setting.table).second)
      add(fmt::format("[{}] is missing; there is such a table {}", setting.table, whose_));
  }

  std::string whose_, text_;
  std::size_t n_ = 0;
  std::set<std::string> named_;
};

}  // namespace

void require_same_run(const Deck& now, const Deck& before, const std::string& whose) {
  const Differences differences(fixed_settings(now), fixed_settings(before), whose);
  if (differences.empty()) return;
  throw InputError(
      fmt::format("{}; a run goes on as it was made: only {}", differences.text(), changeable_in_words));
}

}  // namespace scree
