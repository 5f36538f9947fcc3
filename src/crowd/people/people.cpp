#include "crowd/people/people.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "crowd/plan/ring.hpp"

namespace scree {

void People::describe_kinds(Section& root) {
  root.tables(
      "agents", {.doc = "An agent type. Without any table there is one, \"person\", with default values."},
      [&](const std::string& name, Section& section) {
        AgentType kind{.name = name};
        describe_distribution<Unit::length>(section, "radius", kind.radius,
                                            "Radii of people, who are disks; not given: normal, mean 0.19 "
                                            "m, deviation 0.01 m, from 0.15 m to 0.199 m.");
        describe_distribution<Unit::speed>(section, "speed", kind.speed,
                                           "Free walking speeds; not given: normal, mean 1.34 m/s, deviation "
                                           "0.26 m/s, from 0.5 m/s to 2.2 m/s.");
        section.real("headway_time", kind.headway_time,
                     {.unit = Unit::time,
                      .range = non_negative,
                      .doc = "time gap: the desired speed is at most the free way ahead over this time"});
        section.real("push_speed", kind.creep_speed,
                     {.unit = Unit::speed,
                      .range = non_negative,
                      .doc = "creep speed: lowest desired speed, however close the person ahead is"});
        if (!section.reading()) return;
        if (!std::isfinite(kind.radius->most()) || !(kind.radius->least() > 0))
          section.fail("radius", "radii of people need bounds: give min, more than 0 m, and max");
        if (!std::isfinite(kind.speed->most()))
          section.fail("speed", "speeds of people need a bound: give max");
        kinds_.push_back(std::move(kind));
      });
  if (root.reading() && kinds_.empty()) kinds_.push_back({.name = "person"});
}

int People::read_journey(Section& section) const {
  std::string journey;
  section.text("journey", journey,
               {.doc = "name of the [journeys.NAME] that they follow; optional if there is only one. Without "
                       "any, they leave by the nearest exit"});
  return section.reading() ? journeys_->find(journey, section.where("journey")) : -1;
}

void People::describe_populations(Section& root, const BuildingPlan& building) {
  root.tables("populations", {.doc = "People who are there at the start."},
              [&](const std::string& name, Section& section) {
                Population population;
                population.name = name;
                population.mixture.describe(section, kinds_);
                population.level = building.read_level(section);
                population.region = read_ring(section, "region", false,
                                              "corners of the region of their centres; not given: the whole "
                                              "plan. Exits, and the space behind them, are left out");
                section.integer("count", population.count,
                                {.range = positive, .doc = "number of people; or give density"});
                section.real(
                    "density", population.density,
                    {.range = positive, .doc = "people per square metre of the free part of the region"});
                section.choice(
                    "placement", population.on_lattice, {{"random", false}, {"lattice", true}},
                    {.doc = "at random, or on a hexagonal lattice with the largest spacing that holds them"});
                population.journey = read_journey(section);
                if (!section.reading()) return;
                population.where = section.where(population.count > 0 ? "count" : "density");
                if ((population.count > 0) == (population.density > 0))
                  section.fail("count", fmt::format("[{}] needs either count or density", section.path()));
                populations_.push_back(std::move(population));
              });
}

void People::describe_sources(Section& root, const BuildingPlan& building) {
  root.tables(
      "sources", {.doc = "A source of people during the run."},
      [&](const std::string& name, Section& section) {
        Source source;
        source.name = name;
        source.mixture.describe(section, kinds_);
        source.level = building.read_level(section);
        source.region =
            read_ring(section, "region", true, "corners of the region in which they appear (centres)");
        source.arrivals.describe(section);
        section.choice(
            "when_full", source.when_full,
            {{"wait", WhenFull::wait}, {"drop", WhenFull::drop}, {"error", WhenFull::error}},
            {.doc =
                 "if there is no room for a person: \"wait\" holds back this person and those behind; "
                 "\"drop\" cancels this person and those due after it in the step; \"error\" stops the run"});
        source.journey = read_journey(section);
        if (!section.reading()) return;
        source.where = section.where("region");
        sources_.push_back(std::move(source));
      });
}

void People::describe(Section& root, const BuildingPlan& building, const Journeys& journeys) {
  journeys_ = &journeys;
  describe_kinds(root);
  describe_populations(root, building);
  describe_sources(root, building);
}

std::vector<std::string> People::group_names() const {
  std::vector<std::string> names;
  for (const Population& population : populations_) names.push_back(population.name);
  for (const Source& source : sources_) names.push_back(source.name);
  return names;
}
Real People::largest_radius() const {
  Real largest = 0;
  for (const AgentType& kind : kinds_) largest = std::max(largest, kind.radius->most());
  return largest;
}
Real People::fastest() const {
  Real fastest = 0;
  for (const AgentType& kind : kinds_) fastest = std::max(fastest, kind.speed->most());
  return fastest;
}
Real People::longest_headway() const {
  Real longest = 0;
  for (const AgentType& kind : kinds_) longest = std::max(longest, kind.headway_time);
  return longest;
}

}  // namespace scree
