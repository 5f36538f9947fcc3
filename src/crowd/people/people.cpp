#include "crowd/people/people.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "crowd/plan/ring.hpp"

namespace scree {

void People::describe_kinds(Section& root) {
  root.tables(
      "agents", {.doc = "An agent type. Without any table there is one, \"person\", with default values."},
      [&](const std::string& name, Section& section) {
        AgentType kind{.name = name};
        describe_distribution(section, "radius", Unit::length, kind.radius,
                              "Radii of people, who are disks; not given: normal, mean 0.19 "
                              "m, deviation 0.01 m, from 0.15 m to 0.199 m.");
        describe_distribution(section, "speed", Unit::speed, kind.speed,
                              "Free walking speeds; not given: normal, mean 1.34 m/s, deviation "
                              "0.26 m/s, from 0.5 m/s to 2.2 m/s.");
        section.real(
            "headway_time", kind.headway_time,
            {.unit = Unit::time,
             .range = non_negative,
             .doc = "time gap: the desired speed is at most the free distance ahead over this time"});
        section.real("creep_speed", kind.creep_speed,
                     {.unit = Unit::speed,
                      .range = non_negative,
                      .doc = "creep speed: lowest desired speed, however close the person ahead is"});
        section.choice("age", kind.age, {"under 30", "30 to 50", "over 50"},
                       {.doc = "age, for stairs with factors = \"fruin\""});
        section.choice("sex", kind.sex, {"male", "female"}, {.doc = "the same; not given: the mean of both"});
        describe_familiarity(section, kind.familiarity);
        if (!section.reading()) return;
        kind.where_follows = section.where("follows");
        if (!std::isfinite(kind.radius->max()) || !(kind.radius->min() > 0))
          section.fail("radius", "radii of people need bounds: give min, more than 0 m, and max");
        if (!std::isfinite(kind.speed->max()))
          section.fail("speed", "speeds of people need a bound: give max");
        kinds_.push_back(std::move(kind));
      });
  if (root.reading() && kinds_.empty()) kinds_.push_back({.name = "person"});
  find_leaders();
}

int People::read_journey(Section& section, const PersonFile& file) const {
  std::string journey;
  section.text("journey", journey,
               {.doc = "name of the [journeys.NAME] that they follow; optional if there is only one. Without "
                       "any, they leave by the nearest exit"});
  if (!section.reading()) return -1;
  if (file.is_given() && journey.empty() && journey_plan_->n_named() > 1) return PersonFile::journey_of_file;
  return journey_plan_->find(journey, section.where("journey"));
}

int People::read_level(Section& section, const BuildingPlan& building, const PersonFile& file) {
  const bool from_file = section.reading() && file.is_given() && building.n_levels() > 1;
  return from_file && !section.has("floor") ? PersonFile::level_of_file : building.read_level(section);
}

PersonNames People::names(const BuildingPlan& building, JourneyPlan& journey_plan,
                          const Origin& origin) const {
  return {names_of(kinds_), building, journey_plan, origin.level, origin.journey};
}

void People::describe_populations(Section& root, const BuildingPlan& building, JourneyPlan& journey_plan) {
  root.tables(
      "populations", {.doc = "People who are there at the start."},
      [&](const std::string& name, Section& section) {
        Population population;
        population.name = name;
        population.body_type = static_cast<std::int32_t>(populations_.size());
        population.file.describe(section, PersonFile::Use::start);
        population.mixture.describe(section, kinds_);
        population.level = read_level(section, building, population.file);
        population.region = read_ring(section, "region", false,
                                      "corners of the region of their centres; not given: the whole "
                                      "plan. Exits, and the space behind them, are left out");
        section.integer("count", population.count,
                        {.range = positive, .doc = "number of people; or give density"});
        section.real("density", population.density,
                     {.range = positive, .doc = "people per square metre of the free part of the region"});
        section.choice(
            "placement", population.on_lattice, {{"random", false}, {"lattice", true}},
            {.doc = "at random, or on a hexagonal lattice with the largest spacing that holds them"});
        population.journey = read_journey(section, population.file);
        describe_groups(section, population);
        if (!section.reading()) return;
        if (population.file.is_given()) {
          for (const char* key : {"count", "density", "region"})
            if (section.has(key) &&
                (population.count > 0 || population.density > 0 || !population.region.empty()))
              section.fail(key, fmt::format("{} has no effect with file, which says who is where; "
                                            "remove one of them",
                                            key));
          if (population.on_lattice)
            section.fail("placement", "people of a file stand where it says: remove placement");
          population.where = section.where("file");
          population.file.scan(names(building, journey_plan, population));
          if (population.groups && !population.file.numbers().has_groups)
            section.fail("groups",
                         "no row of the file has a group: give it a column group, or remove groups");
          if (population.file.numbers().has_groups && !population.groups) population.groups.emplace();
          populations_.push_back(std::move(population));
          return;
        }
        population.where = section.where(population.count > 0 ? "count" : "density");
        if ((population.count > 0) == (population.density > 0))
          section.fail("count", fmt::format("[{}] needs one of count or density, or file", section.path()));
        if (population.groups && population.count > 0)
          population.groups->require_room(population.count, name);
        populations_.push_back(std::move(population));
      });
}

void People::describe_groups(Section& section, Population& population) const {
  section.optional_table("groups", {.doc = "People of the population who walk together."},
                         [&](Section& table) {
                           GroupRule rule;
                           rule.describe(table, population.file.is_given());
                           population.groups = rule;
                         });
  if (section.reading() && population.groups && !population.file.is_given())
    require_shared_exit(population.journey, section.where("groups"));
}

void People::require_shared_exit(int number, const std::string& where) const {
  if (number < 0) return;
  const JourneyPlan::Journey& journey = journey_plan_->journeys()[number];
  for (const JourneyPlan::Step& step : journey.steps)
    if (step.choice == JourneyPlan::Choice::weights)
      throw InputError(
          fmt::format("{}: the members of a group share their exit, but the journey \"{}\" "
                      "draws one for each person: take choice = \"nearest\" or "
                      "\"quickest\" there instead of \"weights\"",
                      where, journey.name));
}

void People::describe_sources(Section& root, const BuildingPlan& building, JourneyPlan& journey_plan) {
  root.tables(
      "sources", {.doc = "A source of people during the run."},
      [&](const std::string& name, Section& section) {
        Source source;
        source.name = name;
        source.body_type = static_cast<std::int32_t>(populations_.size() + sources_.size());
        source.file.describe(section, PersonFile::Use::arrivals);
        source.mixture.describe(section, kinds_);
        source.level = read_level(section, building, source.file);
        source.region =
            read_ring(section, "region", !source.file.is_given(),
                      "corners of the region in which they appear (centres); not needed if a file "
                      "says where");
        source.arrivals.describe(section, source.file.is_given());
        section.choice(
            "when_full", source.when_full,
            {{"wait", WhenFull::wait}, {"drop", WhenFull::drop}, {"error", WhenFull::error}},
            {.doc =
                 "if there is no room for a person: \"wait\" holds back this person and those behind; "
                 "\"drop\" cancels this person and those due after it in the step; \"error\" stops the run"});
        source.journey = read_journey(section, source.file);
        if (!section.reading()) return;
        source.where = section.where(source.file.is_given() ? "file" : "region");
        if (source.file.is_given()) {
          if (source.arrivals.is_given())
            section.fail(
                section.has("rate") ? "rate" : "schedule",
                "people of a file come at the times that it says: remove rate and schedule, or file");
          list_arrivals(source, names(building, journey_plan, source));
        }
        if (building.level(source.level).lift)
          throw InputError(fmt::format(
              "{}: [sources.{}] is in [lifts.{}], whose capacity counts who gets in by its door: let people "
              "come on a floor",
              source.where, name, building.level(source.level).name));
        sources_.push_back(std::move(source));
      });
}

void People::describe(Section& root, const BuildingPlan& building, JourneyPlan& journey_plan) {
  journey_plan_ = &journey_plan;
  describe_kinds(root);
  describe_populations(root, building, journey_plan);
  describe_sources(root, building, journey_plan);
}

std::vector<std::string> People::body_type_names() const {
  std::vector<std::string> names;
  for_each_origin([&](const Origin& origin) { names.push_back(origin.name); });
  return names;
}
std::vector<std::pair<Real, Real>> People::radii() const {
  std::vector<std::pair<Real, Real>> radii;
  for (const AgentType& kind : kinds_) radii.emplace_back(kind.radius->min(), kind.radius->max());
  for_each_origin([&](const Origin& origin) {
    if (const PersonFile::Numbers& n = origin.file.numbers(); n.largest_radius > 0)
      radii.emplace_back(n.smallest_radius, n.largest_radius);
  });
  return radii;
}
Real People::largest_radius() const {
  return std::ranges::max(radii(), {}, &std::pair<Real, Real>::second).second;
}
Real People::smallest_radius() const {
  return std::ranges::min(radii(), {}, &std::pair<Real, Real>::first).first;
}
Real People::fastest() const {
  Real fastest = 0;
  for (const AgentType& kind : kinds_) fastest = std::max(fastest, kind.speed->max());
  for_each_origin([&](const Origin& origin) { fastest = std::max(fastest, origin.file.numbers().fastest); });
  return fastest;
}
Real People::longest_headway() const {
  Real longest = 0;
  for (const AgentType& kind : kinds_) longest = std::max(longest, kind.headway_time);
  return longest;
}

}  // namespace scree
