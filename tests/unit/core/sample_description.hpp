#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/plugin.hpp"
#include "core/section.hpp"

/// A description with every form of key that a deck knows, for the tests of decks.
namespace sample {

struct Form {
  virtual ~Form() = default;
  virtual void describe(scree::Section& section) = 0;
};

struct Plane final : Form {
  scree::Vec<2> origin{{0, 0.5}};
  scree::Real tilt = 0;
  void describe(scree::Section& section) override {
    section.point<2>("origin", origin, {.unit = scree::Unit::length, .doc = "A point of the plane."});
    section.real("tilt", tilt, {.unit = scree::Unit::angle, .doc = "The slope."});
  }
};

struct Disk final : Form {
  scree::Real radius = 0;
  void describe(scree::Section& section) override {
    section.real(
        "radius", radius,
        {.unit = scree::Unit::length, .range = scree::positive, .required = true, .doc = "The radius."});
    section.table("surface", {.doc = "The rim."}, [](scree::Section& inner) {
      std::int64_t facets = 12;
      inner.integer("facets", facets, {.range = {.min = 3, .max = 100}, .doc = "The edges of its outline."});
    });
  }
};

struct Run {
  std::string title;
  std::int64_t dimension = 2;
  scree::Real end_time = 1.5;
  std::string end_word;
  std::int64_t sweeps = 0;
  std::string sweeps_word = "converged";
  bool strict = true;
  scree::Real limit = HUGE_VAL;
  std::vector<bool> periodic{false, true};
  std::vector<scree::Real> corner{0, 0};
  std::string outside = "delete";
  std::vector<std::vector<scree::Real>> outline;
  std::vector<std::string> fields{"id", "speed"};
  bool has_output = false;
  scree::Real every = 0.25;
  struct Group {
    std::string name;
    scree::Real density = 0;
    std::unique_ptr<Form> form;
  };
  std::vector<Group> groups;
  struct Stage {
    scree::Real duration = HUGE_VAL;
    scree::Real energy = HUGE_VAL;
    std::unique_ptr<Form> form;
  };
  std::vector<Stage> stages;

  void describe(scree::Section& root) {
    using namespace scree;
    root.table("simulation", {.required = true, .doc = "The run."}, [&](Section& section) {
      section.text("title", title, {.doc = "Its name."});
      section.integer("dimension", dimension,
                      {.range = {.min = 2, .max = 3}, .required = true, .doc = "Of space."});
      section.real_or_word("end_time", end_time, end_word, {"never", "auto"},
                           {.unit = Unit::time, .range = positive, .doc = "When it ends."});
      section.integer_or_word("sweeps", sweeps, sweeps_word, {"converged"},
                              {.range = positive, .doc = "Passes over the contacts."});
      section.boolean("strict", strict, {.doc = "Stop at the first doubt."});
      section.real("limit", limit, {.range = non_negative, .doc = "The largest value."});
    });
    root.table("domain", {.doc = "The box."}, [&](Section& section) {
      section.booleans("periodic", periodic, 2, {.doc = "Axes without walls."});
      section.reals("corner", corner, 2, {.unit = Unit::length, .doc = "The lower corner."});
      section.choice("outside", outside, {"delete", "error"}, {.doc = "What befalls bodies that leave."});
      section.points("outline", outline, 2, {.unit = Unit::length, .doc = "A polygon."});
    });
    root.optional_table("output", {.doc = "Files."}, [&](Section& section) {
      has_output = section.reading();
      section.texts("fields", fields, {.doc = "What is written."});
      section.real("every", every, {.unit = Unit::time, .range = positive, .doc = "The interval."});
    });
    root.tables("particles", {.doc = "A group of bodies."}, [&](const std::string& name, Section& section) {
      Group group;
      group.name = name;
      section.real("density", group.density,
                   {.unit = Unit::density, .range = positive, .required = true, .doc = "Mass by volume."});
      section.kind("type", group.form, {.required = true, .doc = "The form."});
      if (section.reading()) groups.push_back(std::move(group));
    });
    root.list("stages", {.doc = "What happens in turn."}, [&](std::size_t index, Section& section) {
      Stage stage;
      section.real("duration", stage.duration, {.unit = Unit::time, .range = positive, .doc = "How long."});
      section.kind("gate", stage.form, {.doc = "What opens."});
      section.optional_table("until", {.doc = "When it ends."}, [&](Section& inner) {
        inner.real("energy", stage.energy, {.unit = Unit::energy, .required = true, .doc = "Left."});
      });
      if (section.reading() && index == stages.size()) stages.push_back(std::move(stage));
    });
  }
};

/// Gives every key of the description.
inline constexpr const char* full_deck = R"(
[simulation]
title = "sand \"fine\""
dimension = 2
end_time = "90 s"
sweeps = 4
strict = false
limit = 7

[domain]
periodic = [true, false]
corner = ["-4 mm", 0.1]
outside = "error"
outline = [[0, 0], [1, 0], ["50 cm", 1]]

[output]
fields = ["radius"]
every = "20 ms"

[particles.heavy]
density = "7.2 g/cm3"
type = "plane"
origin = [1, 2]
tilt = "30 deg"

[particles."a b"]
density = 1000
type = "disk"
radius = 3e-3
[particles."a b".surface]
facets = 24

[[stages]]
duration = "2 min"

[[stages]]
gate = "plane"
[stages.until]
energy = "3 uJ"

[[stages]]
duration = 3
gate = "disk"
radius = 5
)";

}  // namespace sample

namespace scree {
template <>
inline std::span<const Entry<sample::Form>> registry<sample::Form>() {
  static const Entry<sample::Form> entries[] = {
      {"plane", "a half-plane", &make_plugin<sample::Form, sample::Plane>},
      {"disk", "a disk", &make_plugin<sample::Form, sample::Disk>},
      {"cone", "a cone", nullptr},
  };
  return entries;
}
}  // namespace scree
