#include "schemes/nonsmooth/settings.hpp"

#include <fmt/format.h>

#include "contact/cohesion.hpp"
#include "core/error.hpp"
#include "core/petsc_options.hpp"

namespace scree {

template <int D>
void NonsmoothSettings<D>::describe(Section& root) {
  root.table("solver", {.doc = "Solver of the contact problem of each step"}, [&](Section& section) {
    solver.describe(section, fmt::format("{:g}, or {:g} where bodies have shapes", tolerance_of_spheres,
                                         tolerance_of_shapes));
    if (section.reading()) where_solver = section.where("type");
  });
  root.table("nonsmooth", {.doc = "Non-smooth dynamics: the scheme \"nonsmooth\""}, [&](Section& section) {
    std::string max_travel_word = "none";
    section.real("warm_start", warm_start,
                 {.range = unit_interval,
                  .doc = "Share of each contact's impulse that the next step's solve starts from"});
    section.real(
        "speculative_margin", speculative_margin,
        {.range = non_negative,
         .doc = "Pairs up to this gap take part in the solve, as a share of the sum of their radii; so do "
                "pairs at any gap that free motion would close within the step"});
    section.real(
        "contact_slop", contact_slop,
        {.range = non_negative,
         .doc = "Pairs up to this gap count as touching, as a share of the sum of their radii: they come "
                "no closer. Without it, tiny gaps stall the solvers of rigid piles"});
    section.real("new_overlap", new_overlap,
                 {.range = non_negative,
                  .doc = "Where pairs that free motion keeps apart would overlap by more than this with the "
                         "solved velocities, they become contacts and the step is solved "
                         "again: a share of the smallest radius"});
    section.real_or_word("rest_speed", rest_speed, rest_speed_word, {"auto"},
                         {.unit = Unit::speed,
                          .range = non_negative,
                          .doc = "Bodies that approach at most this fast do not bounce; \"auto\": the "
                                 "speed that gravity and forces give in a step"});
    section.choice(
        "impacts", impacts,
        {{"simultaneous", Impacts::simultaneous},
         {"sequential", Impacts::sequential},
         {"wave", Impacts::wave}},
        {.doc = "Impacts of a step: \"simultaneous\" all together, in the contact problem; "
                "before it, \"sequential\" pair by pair, for gases: with restitution 1 they keep "
                "their energy; \"wave\" through all bodies that touch, shared out as springs would"});
    section.real(
        "elasticity", elasticity,
        {.range = {.min = 1, .max = 2},
         .doc = "Of impacts = \"wave\": the power h of the force d^h of an overlap d, 1.5 for spheres, 1 "
                "for springs"});
    if (section.reading()) where_impacts = section.where("impacts");
    // Resolved decks give it always.
    if (section.reading() && elasticity != NonsmoothSettings{}.elasticity && impacts != Impacts::wave)
      section.fail("elasticity", "elasticity has no effect without impacts = \"wave\"");
    section.choice(
        "correction", correction,
        {{"projection", Correction::projection},
         {"baumgarte", Correction::baumgarte},
         {"none", Correction::none}},
        {.doc = "Removal of overlap that the solve leaves: \"projection\" moves bodies apart by "
                "sweeps that obey friction and change no velocity; \"baumgarte\" adds a separating "
                "velocity to the next step, and with it energy"});
    section.integer(
        "correction_sweeps", correction_sweeps,
        {.range = {.min = 1},
         .doc = "Most sweeps of the projection in a step in which bodies overlap by more than 0.005 "
                "of the smallest radius"});
    section.real(
        "correction_limit", correction_limit,
        {.range = positive,
         .doc = "Energy that the projection may put in in a step before a warning, as a share of the "
                "kinetic energy of the bodies and their weight times radius"});
    section.real("baumgarte", baumgarte,
                 {.range = unit_interval,
                  .doc = "Share of an overlap that \"baumgarte\" removes in a step",
                  .audience = Audience::laboratory});
    section.choice(
        "normals", normals, {{"closest_points", NormalsOf::closest_points}, {"faces", NormalsOf::faces}},
        {.doc =
             "Normal of a contact of two bodies with shapes: that of their closest points, or of the face "
             "along whose normal they are farthest apart. \"faces\" is wrong where edges meet: a tent of two "
             "cards then needs twice the friction to stand",
         .audience = Audience::laboratory});
    using enum FailureAction;
    on_failure.describe(
        section, "on_failure", {{"warn", warn}, {"halve", halve}, {"stop", stop}},
        {.doc = "What happens if a contact problem is not solved to solver.tolerance: a warning, the "
                "step again with half the length, or the end of the run"});
    section.real("overlap_limit", overlap_limit,
                 {.range = positive,
                  .doc = "Deepest overlap of a contact at the start of a step, as a share of its smaller "
                         "radius"});
    on_overlap.describe(section, "on_overlap", {{"warn", warn}, {"stop", stop}},
                        {.doc = "What happens beyond overlap_limit: a warning, or the end of the run"});
    section.real_or_word(
        "max_travel", max_travel, max_travel_word, {"none"},
        {.range = positive,
         .doc = "Steps are cut so that no body travels further in one, as a share of the smallest "
                "radius; \"none\": as long as time.step says, unless neighbour lists would reach too far"});
    if (section.reading() && contact_slop > speculative_margin)
      section.fail("contact_slop", "contact_slop must not exceed speculative_margin");
  });
}

template <int D>
void NonsmoothSettings<D>::check_impacts(const State<D>& state) const {
  if (impacts == Impacts::sequential && state.bodies.carries_shapes())
    throw InputError(where_impacts +
                     ": impacts = \"sequential\" is for spheres, but some bodies have a shape; use "
                     "\"simultaneous\"");
  if (impacts == Impacts::wave && !state.obstacles.driven().empty())
    throw InputError(where_impacts +
                     ": impacts = \"wave\" takes walls as infinitely heavy, but one is driven by a load; use "
                     "\"simultaneous\"");
  for (int a = 0; a < state.materials.size(); ++a)
    for (int b = 0; b <= a; ++b) {
      const PairProperties<D>* pair = state.materials.pair(a, b);
      if (!pair) continue;
      const std::string who = fmt::format("{} and {}", state.materials.name(a), state.materials.name(b));
      if (impacts != Impacts::wave && pair->impact_stiffness != 1)
        throw InputError(
            fmt::format("{}: the impact_stiffness of {} has no effect without [nonsmooth] impacts = "
                        "\"wave\"",
                        pair->where, who));
      if (impacts == Impacts::wave && !pair->elasticity.rigid())
        throw InputError(
            fmt::format("{}: impacts = \"wave\" is for rigid contacts, but {} have a stiffness, "
                        "which carries impacts on by itself; remove one of them (impact_stiffness "
                        "gives ratios)",
                        where_impacts, who));
      if (impacts == Impacts::wave && pair->cohesion)
        throw InputError(
            fmt::format("{}: impacts = \"wave\" knows no attraction, but {} attract each other; use "
                        "\"simultaneous\"",
                        where_impacts, who));
    }
}

template <int D>
void NonsmoothSettings<D>::check_solver(const State<D>& state) const {
  if (state.materials.has_rolling_friction() && !solver.solver->takes_rolling())
    throw InputError(where_solver +
                     ": this solver knows no rolling_friction, which some pairs of materials have; take "
                     "type = \"nsgs\", or set rolling_friction = 0");
  if (!state.obstacles.driven().empty() && !solver.solver->takes_walls())
    throw InputError(
        fmt::format("{}: this solver moves no walls, but {} has type = \"driven\"; take [solver] type = "
                    "\"nsgs\" or \"auto\"",
                    where_solver, state.obstacles.driven_motion_of(state.obstacles.driven()[0]).where()));
}

template <int D>
void NonsmoothSettings<D>::prepare(State<D>& state) {
  insert_petsc_options(solver.petsc_options);
  if (!solver.tolerance_word.empty())
    solver.tolerance = state.bodies.carries_shapes() ? tolerance_of_shapes : tolerance_of_spheres;
  state.shapes.normals = normals;
}

template struct NonsmoothSettings<2>;
template struct NonsmoothSettings<3>;

}  // namespace scree
