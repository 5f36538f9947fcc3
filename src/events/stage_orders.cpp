// What stages ask of driven obstacles.
#include "events/stage_orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/suggestion.hpp"
#include "geometry/driven_motion.hpp"

namespace scree {

template <int D>
int find_driven(const Section& section, std::string_view key, const std::string& name,
                const ObstacleSet<D>& obstacles) {
  std::vector<std::string> known;
  const auto driven = obstacles.driven();
  for (std::size_t k = 0; k < driven.size(); ++k) {
    known.push_back(obstacles.name_of(driven[k]));
    if (known.back() == name) return static_cast<int>(k);
  }
  const bool exists = std::ranges::find(obstacles.list(), name, &Obstacle<D>::name) != obstacles.list().end();
  section.fail(key, exists ? fmt::format("obstacle '{}' has no motion of the type \"driven\"", name)
                    : known.empty()
                        ? fmt::format("there is no obstacle '{}'; no obstacle of the deck is driven", name)
                        : fmt::format("there is no obstacle '{}'{}", name, suggestion(name, known)));
}

template <int D>
void describe_orders(Section& section, const ObstacleSet<D>& obstacles, std::vector<WallOrder>& orders) {
  section.list(
      "drive",
      {.doc = "What driven obstacles are asked to do from the beginning of the stage on, one entry each"},
      [&](std::size_t, Section& entry) {
        std::string name;
        Real load = NAN, pressure = NAN, torque = NAN, speed = NAN, rate = NAN;
        entry.text("obstacle", name,
                   {.required = true,
                    .doc = "Name of an obstacle whose motion is \"driven\"; OBSTACLE.NAME for a further "
                           "direction of it"});
        entry.real("load", load, {.unit = Unit::force, .doc = "Force along its axis"});
        entry.real(
            "pressure", pressure,
            {.unit = Unit::pressure, .doc = "The same as a pressure, if its motion says on which area"});
        entry.real("torque", torque, {.unit = Unit::torque, .doc = "Torque, of an obstacle that turns"});
        entry.real("speed", speed,
                   {.unit = Unit::speed, .doc = "Speed along its axis instead of a load; 0 holds it"});
        entry.real("rate", rate, {.unit = Unit::angular_speed, .doc = "The same of an obstacle that turns"});
        if (!entry.reading()) return;
        const int wall = find_driven(entry, "obstacle", name, obstacles);
        const DrivenMotion<D>& driven_motion = obstacles.driven_motion_of(obstacles.driven()[wall]);
        struct Choice {
          std::string_view key;
          Real value;
          DrivenOrder::Kind kind;
          bool turns;
        };
        const Choice choices[] = {{"load", load, DrivenOrder::Kind::load, false},
                                  {"pressure", pressure, DrivenOrder::Kind::pressure, false},
                                  {"torque", torque, DrivenOrder::Kind::load, true},
                                  {"speed", speed, DrivenOrder::Kind::speed, false},
                                  {"rate", rate, DrivenOrder::Kind::speed, true}};
        WallOrder order{-1, {}};
        for (const Choice& choice : choices) {
          if (std::isnan(choice.value)) continue;
          if (order.wall >= 0)
            entry.fail(choice.key, "give one of load, pressure, torque, speed and rate, not two");
          if (choice.turns != driven_motion.turns())
            entry.fail(choice.key,
                       fmt::format("obstacle '{}' {}: give {}", name,
                                   driven_motion.turns() ? "turns" : "moves along a line",
                                   driven_motion.turns() ? "torque or rate" : "load, pressure or speed"));
          if (choice.kind == DrivenOrder::Kind::pressure && !driven_motion.has_area())
            entry.fail(choice.key,
                       fmt::format("the motion of obstacle '{}' has neither area nor between", name));
          if (choice.kind == DrivenOrder::Kind::speed &&
              !(std::abs(choice.value) <= driven_motion.max_speed()))
            entry.fail(choice.key, fmt::format("is above the {} of the motion of obstacle '{}', {:g}",
                                               driven_motion.turns() ? "max_rate" : "max_speed", name,
                                               driven_motion.max_speed()));
          order = {wall, {choice.kind, choice.value}};
        }
        if (order.wall < 0)
          entry.fail("load", fmt::format("[{}] needs a load, pressure, torque, speed or rate", entry.path()));
        for (const WallOrder& other : orders)
          if (other.wall == wall)
            entry.fail("obstacle", fmt::format("obstacle '{}' has two entries in this stage", name));
        orders.push_back(order);
      });
}

#define SCREE_ORDERS(D)                                                                                  \
  template int find_driven(const Section&, std::string_view, const std::string&, const ObstacleSet<D>&); \
  template void describe_orders(Section&, const ObstacleSet<D>&, std::vector<WallOrder>&);
SCREE_ORDERS(2)
SCREE_ORDERS(3)
#undef SCREE_ORDERS

}  // namespace scree
