#include "schemes/common/attracted_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "contact/cohesion.hpp"
#include "core/error.hpp"
#include "core/log.hpp"

namespace scree {

namespace {

/// Of the bodies of a material that can move.
struct Sizes {
  Real min_radius = HUGE_VAL, max_radius = 0;
  Real min_mass = HUGE_VAL, max_mass = 0;
  bool any() const { return max_radius > 0; }
};

template <int D>
std::vector<Sizes> sizes_of(const State<D>& state) {
  std::vector<Sizes> sizes(state.materials.size());
  const BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (bodies.mobility()[i] == 0) continue;
    const int material = state.type_material[bodies.type()[i]];
    Sizes& of = sizes[material];
    const Real radius = bodies.radius()[i], mass = bodies.mass()[i];
    of.min_radius = std::min(of.min_radius, radius);
    of.max_radius = std::max(of.max_radius, radius);
    of.min_mass = std::min(of.min_mass, mass);
    of.max_mass = std::max(of.max_mass, mass);
  }
  for (Sizes& of : sizes) {
    of.min_radius = state.comm.min(of.min_radius);
    of.max_radius = state.comm.max(of.max_radius);
    of.min_mass = state.comm.min(of.min_mass);
    of.max_mass = state.comm.max(of.max_mass);
  }
  return sizes;
}

}  // namespace

template <int D>
std::vector<AttractedPair> attracted_pairs(const State<D>& state) {
  std::vector<AttractedPair> found;
  if (!state.materials.has_cohesion()) return found;
  const std::vector<Sizes> sizes = sizes_of(state);
  for (int a = 0; a < state.materials.size(); ++a)
    for (int b = 0; b < state.materials.size(); ++b) {
      const PairProperties<D>* pair = state.materials.pair(a, b);
      const Sizes &of_a = sizes[a], &of_b = sizes[b];
      if (!pair || !pair->cohesion || !of_a.any()) continue;
      if (std::ranges::count(state.obstacle_material, b) > 0)
        found.push_back({a, b, true, of_a.max_radius, of_a.min_radius, of_a.max_mass, of_a.min_mass});
      if (b <= a && of_b.any())
        found.push_back({a, b, false, effective_radius(of_a.max_radius, of_b.max_radius),
                         effective_radius(of_a.min_radius, of_b.min_radius),
                         std::min(of_a.max_mass, of_b.max_mass), std::min(of_a.min_mass, of_b.min_mass)});
    }
  return found;
}

template <int D>
void check_cohesion(const State<D>& state, const std::vector<AttractedPair>& attracted) {
  constexpr Real max_bond_number = 1e4;
  const Real gravity = norm(state.gravity);
  for (const AttractedPair& pair : attracted) {
    const Cohesion<D>& cohesion = *state.materials.pair(pair.a, pair.b)->cohesion;
    const std::string which = fmt::format("{}: the cohesion of {} and {}", cohesion.where(),
                                          state.materials.name(pair.a), state.materials.name(pair.b));
    if (gravity == 0 && cohesion.needs_gravity())
      throw InputError(which + " has a bond_number, but there is no gravity: give pull_off");
    // R' is 2 R: the radius of two equal spheres.
    const Real cube = 8 * pair.smallest * pair.smallest * pair.smallest;
    if (const Real volume = cohesion.volume(pair.smallest); volume > cube)
      throw InputError(
          fmt::format("{} has bridges of {:.3g} m3, more than R^3 = {:.3g} m3 of the smallest "
                      "bodies, for which its force does not hold: reduce volume",
                      which, volume, cube));
    const Real weight = pair.lightest * gravity;
    const Real pull = cohesion.pull_off(gravity).of(pair.smallest, pair.lightest);
    if (weight > 0 && pull > max_bond_number * weight)
      log::warn(
          "{} pulls with {:.3g} N, {:.2g} times the weight of the lightest body: steps must be short and "
          "contacts stiff to carry that",
          which, pull, pull / weight);
  }
}

template std::vector<AttractedPair> attracted_pairs(const State<2>&);
template std::vector<AttractedPair> attracted_pairs(const State<3>&);
template void check_cohesion(const State<2>&, const std::vector<AttractedPair>&);
template void check_cohesion(const State<3>&, const std::vector<AttractedPair>&);

}  // namespace scree
