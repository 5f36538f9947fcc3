// Connectors of floors: their tables.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/error.hpp"
#include "crowd/plan/building_plan.hpp"

namespace scree {

/// What a connector is, with keys of its own: [connectors.NAME] type.
class ConnectorKind {
 public:
  virtual ~ConnectorKind() = default;
  virtual void describe(Section& section) { describe_walking(section, false); }
  const Incline& incline() const { return incline_; }  ///< but for its ends

 protected:
  void describe_walking(Section& section, bool needs_direction) {
    section.real("up_factor", incline_.up_factor,
                 {.range = positive, .doc = "factor of desired speeds along the slope, upwards"});
    section.real("down_factor", incline_.down_factor, {.range = positive, .doc = "the same downwards"});
    std::string direction;
    section.choice(
        "direction", direction, {"up", "down"},
        {.required = needs_direction,
         .doc = needs_direction ? "where people go: \"up\", from bottom to top, or \"down\""
                                : "where people may go: \"up\", from bottom to top, or \"down\"; both ways "
                                  "if not given"});
    incline_.allowed_direction = direction == "up" ? 1 : direction == "down" ? -1 : 0;
  }
  Incline incline_;
};

namespace {

Vec<2> middle(const std::array<Vec<2>, 2>& line) {
  return 0.5 * (line[0] + line[1]);
}

class Stair final : public ConnectorKind {
 public:
  // Not given: values that the keys refuse.
  Stair() { incline_.up_factor = incline_.down_factor = std::nan(""); }
  void describe(Section& section) override {
    describe_walking(section, false);
    std::string factors;
    section.choice(
        "factors", factors, {"fruin"},
        {.doc =
             "instead of up_factor and down_factor, which are 0.5 and 0.75 if nothing is given: \"fruin\": "
             "speeds of a table of J. J. Fruin, by age and sex of [agents.NAME]"});
    if (!section.reading()) return;
    incline_.is_by_age = !factors.empty();
    const auto finish = [&](const char* key, Real& factor, Real usual) {
      if (incline_.is_by_age && std::isfinite(factor))
        section.fail(key, fmt::format("factors gives the speeds on this stair: remove {}", key));
      if (!std::isfinite(factor)) factor = usual;
    };
    finish("up_factor", incline_.up_factor, 0.5);
    finish("down_factor", incline_.down_factor, 0.75);
  }
};

class Escalator final : public ConnectorKind {
 public:
  void describe(Section& section) override {
    describe_walking(section, true);
    section.real("speed", incline_.belt_speed,
                 {.unit = Unit::speed,
                  .range = positive,
                  .required = true,
                  .doc = "speed of the steps along the slope"});
    section.real("walk", incline_.walking_share,
                 {.range = unit_interval, .doc = "share of the people who walk on it; the others stand"});
  }
};

class Ramp final : public ConnectorKind {};
class LevelBridge final : public ConnectorKind {};

}  // namespace

template <>
std::span<const Entry<ConnectorKind>> registry<ConnectorKind>() {
  static constexpr std::array<Entry<ConnectorKind>, 4> all{{
      {"stair", "one straight flight", &make_plugin<ConnectorKind, Stair>},
      {"ramp", "a ramp", &make_plugin<ConnectorKind, Ramp>},
      {"escalator", "an escalator, which carries people one way", &make_plugin<ConnectorKind, Escalator>},
      {"level", "a bridge between floors of one elevation", &make_plugin<ConnectorKind, LevelBridge>},
  }};
  return all;
}

BuildingPlan::End BuildingPlan::describe_end(Section& section, const char* key, const char* doc) {
  End end;
  section.table(key, {.required = true, .doc = doc}, [&](Section& table) {
    table.text("floor", end.floor, {.required = true, .doc = "name of the floor"});
    std::vector<std::vector<Real>> line;
    table.points("line", line, 2,
                 {.unit = Unit::length,
                  .required = true,
                  .doc = "two ends of the line on the border of the floor that people cross"});
    if (!table.reading()) return;
    end.where = table.where("line");
    end.line = line_of(table, "line", line);
  });
  return end;
}

void BuildingPlan::describe_connectors(Section& root) {
  root.tables(
      "connectors", {.doc = "What people take from one floor to another."},
      [&](const std::string& name, Section& section) {
        if (section.reading() && find(name) >= 0)
          section.fail("",
                       fmt::format("there is a floor \"{}\" already: give the connector another name", name));
        std::unique_ptr<ConnectorKind> kind;
        section.kind("type", kind, {.doc = "what it is", .usual = "stair"});
        const Ring ring = read_ring(section, "polygon", true,
                                    "corners of its plan, which may lie above or below floors and other "
                                    "connectors");
        Real closed_from = HUGE_VAL;
        section.real("closed_from", closed_from,
                     {.unit = Unit::time,
                      .range = positive,
                      .doc = "when it closes: nobody enters it from then on, and who is in it walks out"});
        Connector connector;
        connector.ends[0] = describe_end(section, "bottom", "the lower end");
        connector.ends[1] = describe_end(section, "top", "the upper end");
        if (!section.reading()) return;
        if (levels_.size() == 1 && levels_[0]->name.empty())
          section.fail("", "connectors join floors: the deck has [walkable], and no [floors.NAME]");
        auto level = std::make_unique<Level>();
        level->name = name;
        level->where = section.where("polygon");
        level->plan.use_polygon(ring, level->where);
        level->incline = kind->incline();
        level->incline->closed_from = closed_from;
        connector.level = n_levels();
        place(section, *level, connector);
        const Real rise = level->incline->rise;
        const bool is_bridge = dynamic_cast<const LevelBridge*>(kind.get()) != nullptr;
        if (is_bridge && rise != 0)
          section.fail("type",
                       fmt::format("its ends are {:g} m apart in height: \"level\" joins floors of one "
                                   "elevation; take \"ramp\"",
                                   rise));
        if (!is_bridge && rise == 0)
          section.fail("type", level->incline->belt_speed > 0
                                   ? "both ends are at one elevation: take \"level\", which may have a "
                                     "direction, too, and remove speed and walk"
                                   : "both ends are at one elevation: take \"level\"");
        levels_.push_back(std::move(level));
        connectors_.push_back(std::move(connector));
      });
}

/// Finds heights and slope of a connector from its ends.
void BuildingPlan::place(Section& section, Level& level, const Connector& connector) const {
  std::array<int, 2> floors{};
  for (std::size_t e = 0; e < 2; ++e)
    floors[e] = floor_named(connector.ends[e].floor, connector.ends[e].where);
  Incline& incline = *level.incline;
  incline.lower_floor = floors[0];
  incline.upper_floor = floors[1];
  level.elevation = this->level(floors[0]).elevation;
  incline.rise = this->level(floors[1]).elevation - level.elevation;
  if (incline.rise < 0)
    section.fail("top", fmt::format("the top is {:g} m below the bottom: exchange the two", -incline.rise));
  if (floors[0] == floors[1]) section.fail("top", "both ends are on one floor");
  incline.foot = middle(connector.ends[0].line);
  incline.head = middle(connector.ends[1].line);
  const Vec<2> along = incline.head - incline.foot;
  incline.run = norm(along);
  constexpr Real steepest = 1.7320508;  // 60 degrees
  if (incline.rise > steepest * incline.run)
    section.fail("top", fmt::format("it rises {:g} m over {:g} m from line to line, more than 60 degrees",
                                    incline.rise, incline.run));
  if (incline.rise > 0) incline.uphill = (1 / incline.run) * along;
}

}  // namespace scree
