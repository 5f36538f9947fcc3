#include "verify/solid_cases.hpp"

namespace scree {

bool verify_boxes(const Comm& comm, const VerifyOptions& options, const Show& show) {
  GrainTable table(comm, show, "Convex bodies against closed forms and small integrations");
  const auto wanted = [&](std::string_view name) { return options.only == "all" || options.only == name; };
  if (wanted("motions")) verify_solid_motions(table, options.quick);
  if (wanted("stacks")) verify_solid_stacks(table, options);
  if (wanted("dominoes")) verify_dominoes(table, options.quick);
  table.show("");
  return table.finish(options.csv);
}

}  // namespace scree
