#include "run/schemes.hpp"

#include "core/external_plugins.hpp"

namespace scree {

#ifdef SCREE_CROWD
#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<Stepper<D>> Stepper_##name();
#include "crowd/schemes/schemes.def"
#undef SCREE_ENTRY
#endif

template <int D>
const std::vector<Entry<Stepper<D>>>& all_schemes() {
  static const std::vector<Entry<Stepper<D>>> all = [] {
    const auto own = registry<Stepper<D>>();
    std::vector<Entry<Stepper<D>>> list(own.begin(), own.end());
#ifdef SCREE_CROWD
#define SCREE_ENTRY(name) list.push_back(Stepper_##name<D>());
#include "crowd/schemes/schemes.def"
#undef SCREE_ENTRY
#endif
    require_distinct_names<Stepper<D>>(list, list.size() - own.size());
    return list;
  }();
  return all;
}

std::vector<std::string> excluded_schemes() {
#ifdef SCREE_CROWD
  return {};
#else
  return {"crowd"};
#endif
}

template const std::vector<Entry<Stepper<2>>>& all_schemes<2>();
template const std::vector<Entry<Stepper<3>>>& all_schemes<3>();

}  // namespace scree
