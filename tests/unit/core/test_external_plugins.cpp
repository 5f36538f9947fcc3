// Plug-ins that shared objects add behind those of a list. Loading files: tests/regression/test_install.py.
#include "core/external_plugins.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace scree;

namespace {

struct Tool {
  virtual ~Tool() = default;
  virtual int number() const { return 1; }
};
struct Saw final : Tool {
  int number() const override { return 2; }
};

const std::array own{Entry<Tool>{"hammer", "hits", &make_plugin<Tool, Tool>}};

}  // namespace

namespace scree {
template <>
std::span<const Entry<Tool>> registry<Tool>() {
  static const auto all = with_external<Tool>(own);
  return all;
}
}  // namespace scree

TEST_CASE("external plug-ins: they follow those of the list, and a name that is taken is refused", "[core]") {
  const char interface = 0;
  Registration::add(&interface, Entry<Tool>{"saw", "cuts", &make_plugin<Tool, Saw>});
  const auto all = registry<Tool>();
  REQUIRE(all.size() == 2);
  CHECK((all[0].name == "hammer" && all[1].name == "saw" && all[1].summary == "cuts"));
  CHECK((all[0].make()->number() == 1 && all[1].make()->number() == 2));

  Registration::add(&interface, Entry<Tool>{"hammer", "hits harder", nullptr});
  CHECK_THROWS_WITH(with_external<Tool>(own), Catch::Contains("plug-in") && Catch::Contains("\"hammer\""));
}

TEST_CASE("external plug-ins: names of two shared objects differ", "[core]") {
  const std::array entries{own[0], Entry<Tool>{"drill", "", nullptr}, Entry<Tool>{"drill", "", nullptr}};
  CHECK_NOTHROW(require_distinct_names<Tool>(std::span(entries).first<2>(), 1));
  CHECK_THROWS_WITH(require_distinct_names<Tool>(entries, 2), Catch::Contains("\"drill\""));
}
