#include "verify/grain_cases.hpp"

namespace scree {

GrainTable::GrainTable(const Comm& comm, const Show& show_line, const std::string& what)
    : Checks(comm, show_line, "case,variant,quantity,expected,found,error,bound,holds\n") {
  show(what + "; of each quantity the row with the largest share of its bound.\n");
  show(fmt::format("{:<26} {:<27} {:>4} {:<24} {:>11} {:>11} {:>8} {:>8}", "case", "quantity", "rows",
                   "worst", "expected", "found", "error", "bound"));
}

void GrainTable::add(const std::string& name, const std::vector<GrainRow>& rows) {
  struct Group {
    std::string quantity;
    int n_rows = 0;
    const GrainRow* worst = nullptr;
  };
  std::vector<Group> groups;
  for (const GrainRow& r : rows) {
    const bool holds = r.error <= r.bound;
    csv += fmt::format("\"{}\",\"{}\",\"{}\",{},{},{},{},{}\n", name, r.variant, r.quantity, r.expected,
                       r.found, r.error, r.bound, holds ? "yes" : "no");
    count(holds, fmt::format("{}, {}: {} = {:.12g}, expected {:.12g} within {:.2g}", name, r.variant,
                             r.quantity, r.found, r.expected, r.bound));
    auto group = std::ranges::find(groups, r.quantity, &Group::quantity);
    if (group == groups.end()) group = groups.insert(groups.end(), {r.quantity});
    ++group->n_rows;
    // Not "greater": a number that is none must show.
    if (!group->worst || !(r.error / r.bound <= group->worst->error / group->worst->bound)) group->worst = &r;
  }
  for (const Group& g : groups)
    show(fmt::format("{:<26} {:<27} {:>4} {:<24} {:>11.6g} {:>11.6g} {:>8.1e} {:>8.1e}", name, g.quantity,
                     g.n_rows, g.worst->variant, g.worst->expected, g.worst->found, g.worst->error,
                     g.worst->bound));
}

}  // namespace scree
