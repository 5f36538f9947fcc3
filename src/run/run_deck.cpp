#include "run/run_deck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "core/as_input.hpp"
#include "core/petsc.hpp"
#include "core/petsc_options.hpp"
#include "io/environment_output.hpp"
#include "run/deck_refusals.hpp"
#include "run/schemes.hpp"

namespace scree {

namespace {

void describe_dimension(Section& section, std::int64_t& dimension) {
  section.integer(
      "dimension", dimension,
      {.range = {.min = 2, .max = 3}, .required = true, .doc = "2: disks in the plane; 3: spheres"});
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void describe_ensemble(Section& section, std::int64_t& ensemble) {
  section.integer("ensemble", ensemble,
                  {.range = {.min = 1},
                   .doc = "Number of runs, one after the other, with seeds seed, seed + 1, ...: each in a "
                          "folder of its own, and what they have in common in ensemble.csv"});
}

/// The names of all steppers, for simulation.scheme.
template <int D>
std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const auto& entry : all_schemes<D>())
    if (entry.make) names.emplace_back(entry.name);
  return names;
}

/// Whether a scheme says itself how large the domain is.
template <int D>
bool brings_environment(const std::string& scheme) {
  for (const auto& entry : all_schemes<D>())
    if (entry.make && entry.name == scheme) return entry.make()->environment() != nullptr;
  return false;
}

/// A deck for a part of scree that was left out of this build: what else it says cannot be checked.
class NeedsOtherBuild : public InputError {
 public:
  using InputError::InputError;
};

template <int D>
void describe_simulation(Section& root, RunDeck<D>& deck, std::string& scheme) {
  root.table("simulation", {.required = true, .doc = "The run as a whole"}, [&](Section& section) {
    std::int64_t dimension = D;
    section.text("title", deck.title, {.doc = "One line, kept with all results"});
    describe_dimension(section, dimension);
    const std::vector<std::string> excluded = excluded_schemes();
    std::vector<std::string> names = scheme_names<D>();
    names.insert(names.end(), excluded.begin(), excluded.end());
    section.choice(
        "scheme", scheme, names,
        {.doc = "How bodies move; each scheme has tables of its own, and a deck may hold those of several"});
    if (section.reading() && std::ranges::find(excluded, scheme) != excluded.end())
      throw NeedsOtherBuild(fmt::format("{}: the scheme \"{}\" needs a build with SCREE_{}=ON",
                                        section.where("scheme"), scheme, upper_case(scheme)));
    section.real("end_time", deck.end_time,
                 {.unit = Unit::time,
                  .range = non_negative,
                  .doc = "When the run ends; required unless [[stages]] end it"});
    if (section.reading() && !section.has("end_time") && !root.has("stages"))
      section.fail("end_time",
                   "missing key 'end_time' in [simulation]: when the run ends [s]; only decks with "
                   "[[stages]] can do without it");
    section.integer(
        "seed", deck.seed,
        {.range = non_negative,
         .doc = "Seed of all random numbers; initial states do not depend on the number of ranks"});
    describe_ensemble(section, deck.ensemble);
    section.boolean("allow_overlap", deck.allow_overlap,
                    {.doc = "Whether bodies may overlap each other or obstacles at the start"});
    section.text(
        "petsc_options", deck.petsc_options,
        {.doc = "Options for PETSc, as on its command line (\"-scree_ksp_type cg\"); unknown ones are errors",
         .audience = Audience::laboratory});
  });
}

template <int D>
std::string unknown_group(const std::string& wanted, const std::vector<const ParticleGroup<D>*>& groups) {
  std::vector<std::string> known;
  for (const ParticleGroup<D>* group : groups) known.push_back(group->name);
  return fmt::format("no table [particles.{0}] or [inlets.{0}] makes bodies; valid: {1}", wanted,
                     fmt::join(known, ", "));
}

}  // namespace

template <int D>
RunDeck<D> RunDeck<D>::read(Deck& deck, bool to_run) {
  RunDeck<D> content;
  as_input(deck.name(), [&] {
    try {
      content.describe(deck.root());
      deck.require_all_read();
    } catch (const NeedsOtherBuild&) {
      throw;
    } catch (const InputError& error) {
      throw InputError(errors_of_deck(deck.text(), deck.name(), deck.overrides(), error.what(),
                                      [](Section& root) { RunDeck<D>().describe(root); }));
    }
  });
  if (to_run && !content.petsc_options.empty()) insert_petsc_options(content.petsc_options);
  return content;
}

template <int D>
void RunDeck<D>::describe(Section& root) {
  std::string scheme = "pbd";
  describe_simulation(root, *this, scheme);
  std::string where_step;
  root.table("time", {.required = true, .doc = "Time steps"}, [&](Section& section) {
    where_step = section.where("step");
    section.real("step", dt,
                 {.unit = Unit::time, .range = positive, .required = true, .doc = "Length of a step"});
  });
  std::string where_outside;
  const bool needs_box = !brings_environment<D>(scheme);
  bool box_given = true;
  root.table(
      "domain", {.required = needs_box, .doc = "The box that holds everything"}, [&](Section& section) {
        box_place = section.where("lower");
        const Real not_given = std::numeric_limits<Real>::quiet_NaN();
        box.lower = box.upper = filled<D>(not_given);
        section.point<D>("lower", box.lower,
                         {.unit = Unit::length,
                          .required = needs_box,
                          .doc = "Lower corner; not needed where the scheme brings a floor plan"});
        section.point<D>("upper", box.upper,
                         {.unit = Unit::length, .required = needs_box, .doc = "Upper corner; the same"});
        std::vector<bool> periodic(D, false);
        section.booleans(
            "periodic", periodic, D,
            {.doc = "Whether bodies that leave along an axis come back opposite. Such an axis may be as "
                    "short as the largest diameter and a fiftieth of it"});
        section.choice("outside", outside,
                       {{"error", Outside::error}, {"delete", Outside::remove}, {"keep", Outside::keep}},
                       {.doc = "Bodies beyond open faces when the neighbour list is rebuilt: \"error\" ends "
                               "the run and names the body; \"delete\" removes it; \"keep\" leaves it"});
        where_outside = section.where("outside");
        deformation.describe(section, box);
        if (!section.reading()) return;
        box_given = section.has("lower") || section.has("upper");
        if (box_given != (section.has("lower") && section.has("upper")))
          section.fail("lower", "give both 'lower' and 'upper' in [domain], or neither of them");
        for (int k = 0; k < D; ++k) {
          box.periodic[k] = periodic[k];
          if (box.upper[k] <= box.lower[k])
            section.fail("upper", std::string("upper must exceed lower along ") + "xyz"[k]);
        }
      });
  neighbors.describe(root);
  std::string where_gravity;
  root.optional_table("physics", {.doc = "Gravity, for schemes with inertia"}, [&](Section& section) {
    section.point<D>("gravity", gravity,
                     {.unit = Unit::acceleration, .required = true, .doc = "Acceleration of gravity"});
    if (section.reading()) where_gravity = section.where("gravity");
  });
  materials.describe(root);
  shapes.describe(root);
  groups = describe_particle_groups<D>(root, shapes);
  obstacles.describe(root);
  events.inlets.describe(root, shapes);
  describe_forces(root);
  events.outlets.describe(root);
  events.stages.describe(root, obstacles);
  end_time = std::min(end_time, events.stages.latest_end());
  constexpr Real max_steps = 9e15;  // with 2^53, a time in 64 bits stands still
  if (root.reading() && std::isfinite(end_time) && !(end_time / dt <= max_steps))
    throw InputError(
        fmt::format("{}: steps of {:g} s until t = {:g} s are {:.3g} steps; at most {:g} are possible",
                    where_step, dt, end_time, end_time / dt, max_steps));
  const Steppers other_schemes = describe_scheme(root, scheme);
  const DeckRefusals<D> refusals(*this, scheme, where_gravity);
  if (root.reading()) {
    if (!stepper->traits().drives_walls) refusals.refuse_driven_walls();
    if (stepper->traits().has_inertia())
      resolve_materials();
    else
      refusals.refuse_inertia();
    if (stepper->traits().has_inertia()) refusals.refuse_soft_shapes();
    if (has_shapes() && !stepper->traits().takes_shapes) refusals.refuse_shapes();
    refusals.refuse_cohesion();
  }
  if (root.reading() && stepper->environment()) {
    const EnvironmentMessages messages = stepper->environment()->messages();
    refusals.refuse_bodies_beside_environment();
    if (!events.outlets.empty())
      root.fail("outlets", fmt::format("[outlets] have no effect in the scheme \"{}\": {}; remove them",
                                       scheme, messages.instead_of_outlets));
    if (outside != Outside::error)
      throw InputError(fmt::format("{}: outside = \"{}\" in [domain] {}; remove it", where_outside,
                                   outside == Outside::remove ? "delete" : "keep",
                                   messages.instead_of_outside));
    stepper->environment()->build(box, box_given, obstacles);
  }
  if (root.reading() && !stepper->environment()) {
    events.inlets.fit(box);
    obstacles.put_on_levels({});
  }
  describe_output(root, scheme, other_schemes);
  if (root.reading()) refusals.check_deformation();
  if (root.reading()) obstacles.set_domain(box);
  root.tables("measures", {.doc = "What is measured for the scalars; columns are named NAME_COLUMN"},
              [&](const std::string& name, Section& section) {
                NamedMeasure<D> measure{name, nullptr, {}};
                section.kind("type", measure.measure, {.required = true, .doc = "Kind of measure"});
                if (!section.reading()) return;
                measure.where = section.where("type");
                measures.push_back(std::move(measure));
              });
  if (root.reading() && !stepper->traits().exports_forces) refusals.refuse_forces_of_contacts();
}

/// A deck may hold the tables of several schemes. That of the run comes last: a table of several is its own.
template <int D>
typename RunDeck<D>::Steppers RunDeck<D>::describe_scheme(Section& root, const std::string& scheme) {
  Steppers others;
  for (const auto& entry : all_schemes<D>()) {
    if (!entry.make || (root.reading() && entry.name == scheme)) continue;
    root.unused([&](Section& section) { entry.make()->describe(section); });
    others.push_back(entry.make());
  }
  for (const auto& entry : all_schemes<D>()) {
    if (!root.reading() || entry.name != scheme) continue;
    stepper = entry.make();
    stepper->describe(root);
    neighbors.choose_weights(stepper->traits().same_for_any_owners);
    neighbors.has_problems = stepper->traits().has_contact_problems;
    neighbors.in_classes = stepper->traits().needs_classes;
    neighbors.searches_pairs = stepper->traits().searches_pairs;
    if (stepper->environment()) neighbors.purpose = stepper->environment()->list_purpose();
  }
  return others;
}

template <int D>
void RunDeck<D>::describe_output(Section& root, const std::string& scheme, const Steppers& other_schemes) {
  std::vector<EnvironmentOutput<D>*> others;
  for (const auto& other : other_schemes)
    if (other->environment()) others.push_back(&other->environment()->output());
  EnvironmentOutput<D>* own = stepper && stepper->environment() ? &stepper->environment()->output() : nullptr;
  for (const Entry<Output<D>>& entry : registry<Output<D>>()) outputs.push_back(entry.make());
  output.describe(
      root,
      [&](Section& section) {
        for (const auto& one : outputs) one->describe(section, output);
      },
      [&](Section& section) {
        for (EnvironmentOutput<D>* other : others) other->describe(section);
        if (own) own->describe(section);
      });
  if (!root.reading()) return;
  if (!stepper->traits().has_contact_problems) DeckRefusals<D>(*this, scheme, "").refuse_contact_problems();
  std::erase_if(outputs, [](const auto& one) { return !one->every().ever(); });
  for (const auto& one : outputs)
    one->check({box, stepper->traits(), scheme, deformation.is_given() ? deformation.where() : ""});
  for (const EnvironmentOutput<D>* other : others) other->refuse(scheme);
  if (own) own->check(box, dt);
}

template <int D>
std::vector<const ParticleGroup<D>*> RunDeck<D>::all_groups() const {
  std::vector<const ParticleGroup<D>*> all;
  for (const ParticleGroup<D>& group : groups) all.push_back(&group);
  for (const InletTable<D>& inlet : events.inlets.list()) all.push_back(&inlet.bodies);
  return all;
}

template <int D>
void RunDeck<D>::describe_forces(Section& root) {
  root.tables("forces",
              {.doc = "Forces on bodies besides gravity and contacts, for schemes with inertia; they add up"},
              [&](const std::string& name, Section& section) {
                std::unique_ptr<ForceField<D>> field;
                section.kind("type", field, {.required = true, .doc = "Kind of force"});
                std::vector<std::string> names;
                section.texts("groups", names,
                              {.doc = "Names of the [particles.NAME] and [inlets.NAME] tables whose bodies "
                                      "it acts on; none: on all bodies"});
                if (!section.reading()) return;
                const auto all = all_groups();
                std::vector<bool> acts_on(all.size(), names.empty());
                for (const std::string& wanted : names) {
                  bool found = false;
                  for (std::size_t g = 0; g < all.size(); ++g)
                    if (all[g]->name == wanted) found = acts_on[g] = true;
                  if (!found) section.fail("groups", unknown_group(wanted, all));
                }
                field->set_table(name, section.where("type"), std::move(acts_on));
                forces.push_back(std::move(field));
              });
}

template <int D>
void RunDeck<D>::resolve_materials() {
  const auto resolve = [&](ParticleGroup<D>& group) {
    type_material.push_back(materials.find(group.material, group.where_material));
    group.density = materials.density(type_material.back());
  };
  for (ParticleGroup<D>& group : groups) resolve(group);
  for (InletTable<D>& inlet : events.inlets.list()) resolve(inlet.bodies);
  for (const Obstacle<D>& obstacle : obstacles.list())
    obstacle_material.push_back(materials.find(obstacle.material, obstacle.where_material));
  for (const int a : type_material) {
    for (const int b : type_material) materials.require_pair(a, b);
    for (const int b : obstacle_material) materials.require_pair(a, b);
  }
}

int dimension_of(Deck& deck) {
  std::int64_t dimension = 0;
  try {
    deck.root().table("simulation", {.required = true, .doc = "The run as a whole"},
                      [&](Section& section) { describe_dimension(section, dimension); });
  } catch (const InputError&) {
    // Only who knows all keys of the table can say which one is misspelt.
    RunDeck<2> content;
    std::string scheme;
    describe_simulation(deck.root(), content, scheme);
    throw;
  }
  return static_cast<int>(dimension);
}

std::int64_t ensemble_of(Deck& deck) {
  std::int64_t ensemble = 1;
  try {
    deck.root().table("simulation", {.required = true, .doc = "The run as a whole"},
                      [&](Section& section) { describe_ensemble(section, ensemble); });
  } catch (const InputError&) {
    return 1;  // the message is that of whoever reads the whole table and so knows its other keys
  }
  return ensemble;
}

DeckDescription deck_description() {
  return {[](Section& root) { RunDeck<2>().describe(root); },
          [](Section& root) { RunDeck<3>().describe(root); }};
}

template struct RunDeck<2>;
template struct RunDeck<3>;

}  // namespace scree
