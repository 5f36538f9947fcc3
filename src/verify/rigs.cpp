#include <string_view>
#include <vector>

#include "verify/rig_cases.hpp"

namespace scree {

namespace {

struct Group {
  std::string_view name;
  void (*verify)(GrainTable&, const VerifyOptions&);
};

const std::vector<Group> groups{
#define SCREE_RIG(name) {#name, &verify_rig_##name},
#include "verify/rigs.def"
#undef SCREE_RIG
};

}  // namespace

bool verify_rigs(const Comm& comm, const VerifyOptions& options, const Show& show) {
  GrainTable table(comm, show, "Rigs against closed forms and reference data");
  for (const Group& group : groups)
    if (options.only == "all" || options.only == group.name) group.verify(table, options);
  table.show("");
  return table.finish(options.csv);
}

}  // namespace scree
