#include "crowd/people/people.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "crowd/people/people_content.hpp"
#include "crowd/plan/ring.hpp"

namespace scree {

People::People() : content_(std::make_unique<Content>()) {}
People::~People() = default;

/// What people are like if the deck says nothing (docs/crowd.md, "Calibration").
AgentTraits usual_traits(const std::string& name) {
  return {name, normal_distribution<Unit::length>(0.202, 0.01, 0.15, 0.24),
          normal_distribution<Unit::speed>(1.34, 0.26, 0.5, 2.2)};
}

void People::Content::describe_kinds(Section& root) {
  root.tables(
      "agents",
      {.doc = "A kind of people. Without any there is one, \"person\", with the values that are "
              "used where a key is not given."},
      [&](const std::string& name, Section& section) {
        AgentType kind;
        AgentTraits trait = usual_traits(name);
        kind.name = name;
        describe_distribution<Unit::length>(
            section, "radius", trait.radius,
            "Radii of the disks that people are; not given: normal, mean 0.202 m, deviation 0.01 m, from "
            "0.15 m to 0.24 m.");
        describe_distribution<Unit::speed>(
            section, "speed", trait.speed,
            "Speeds that people have where nothing is in the way; not given: normal, mean 1.34 m/s, "
            "deviation 0.26 m/s, from 0.5 m/s to 2.2 m/s.");
        section.real("headway_time", kind.headway_time,
                     {.unit = Unit::time,
                      .range = non_negative,
                      .doc = "people walk no faster than lets them reach the one ahead in this time"});
        section.real("push_speed", kind.creep_speed,
                     {.unit = Unit::speed,
                      .range = non_negative,
                      .doc = "speed that people want at least, however close the one ahead is"});
        if (!section.reading()) return;
        kind.where = section.where("radius");
        kind.min_radius = trait.radius->least();
        kind.max_radius = trait.radius->most();
        kind.max_speed = trait.speed->most();
        if (!std::isfinite(kind.max_radius) || !(kind.min_radius > 0))
          section.fail("radius", "radii of people need bounds: give min, more than 0 m, and max");
        if (!std::isfinite(kind.max_speed)) section.fail("speed", "speeds of people need a bound: give max");
        kinds.push_back(std::move(kind));
        traits.push_back(std::move(trait));
      });
  if (!root.reading() || !kinds.empty()) return;
  AgentTraits trait = usual_traits("person");
  kinds.push_back({.name = trait.name,
                   .where = {},
                   .max_radius = trait.radius->most(),
                   .min_radius = trait.radius->least(),
                   .max_speed = trait.speed->most()});
  traits.push_back(std::move(trait));
}

int People::Content::read_journey(Section& section) const {
  std::string journey;
  section.text("journey", journey,
               {.doc = "name of the [journeys.NAME] that they follow; may be left out if there is but one. "
                       "Without any, they leave by the nearest exit"});
  return section.reading() ? journeys->find(journey, section.where("journey")) : -1;
}

void People::Content::describe_populations(Section& root) {
  root.tables(
      "populations", {.doc = "People who are there at the start."},
      [&](const std::string& name, Section& section) {
        Population population;
        population.name = name;
        population.mixture.describe(section, traits);
        population.region = read_ring(section, "region", false,
                                      "corners of where their centres are; not given: the whole plan. "
                                      "Exits, and what is behind them, are left out");
        section.integer("count", population.count,
                        {.range = positive, .doc = "number of people; or give density"});
        section.real("density", population.density,
                     {.range = positive, .doc = "people per square metre of the free part of the region"});
        section.choice("placement", population.on_lattice, {{"random", false}, {"lattice", true}},
                       {.doc = "at random, or on a hexagonal lattice, as wide as their number allows"});
        population.journey = read_journey(section);
        if (!section.reading()) return;
        population.where = section.where(population.count > 0 ? "count" : "density");
        if ((population.count > 0) == (population.density > 0))
          section.fail("count", fmt::format("[{}] needs either count or density", section.path()));
        populations.push_back(std::move(population));
      });
}

void People::Content::describe_sources(Section& root) {
  root.tables("sources", {.doc = "Where people come in during the run."},
              [&](const std::string& name, Section& section) {
                Source source;
                source.name = name;
                source.mixture.describe(section, traits);
                source.region =
                    read_ring(section, "region", true, "corners of where their centres are when they come");
                source.arrivals.describe(section);
                section.choice(
                    "when_full", source.when_full,
                    {{"wait", WhenFull::wait}, {"drop", WhenFull::drop}, {"error", WhenFull::error}},
                    {.doc = "what becomes of somebody for whom there is no room: waits outside, "
                            "and those behind as well; never comes, nor do the others of "
                            "that step; or the run stops"});
                source.journey = read_journey(section);
                if (!section.reading()) return;
                source.where = section.where("region");
                sources.push_back(std::move(source));
              });
}

void People::describe(Section& root, const Journeys& journeys) {
  content_->journeys = &journeys;
  content_->describe_kinds(root);
  content_->describe_populations(root);
  content_->describe_sources(root);
}

std::span<const AgentType> People::types() const {
  return content_->kinds;
}
std::vector<std::string> People::group_names() const {
  std::vector<std::string> names;
  for (const Population& population : content_->populations) names.push_back(population.name);
  for (const Source& source : content_->sources) names.push_back(source.name);
  return names;
}
Real People::largest_radius() const {
  return content_->largest_radius();
}
Real People::smallest_radius() const {
  Real smallest = HUGE_VAL;
  for (const AgentType& kind : content_->kinds) smallest = std::min(smallest, kind.min_radius);
  return smallest;
}
Real People::fastest() const {
  Real fastest = 0;
  for (const AgentType& kind : content_->kinds) fastest = std::max(fastest, kind.max_speed);
  return fastest;
}
Real People::longest_headway() const {
  Real longest = 0;
  for (const AgentType& kind : content_->kinds) longest = std::max(longest, kind.headway_time);
  return longest;
}

bool People::has_sources() const {
  return !content_->sources.empty();
}

}  // namespace scree
