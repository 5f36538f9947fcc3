#pragma once
#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "particles/orientation.hpp"
#include "state/energy_balance.hpp"
#include "verify/grain_cases.hpp"

namespace scree {

/// A body with a shape of the deck, and how it starts.
template <int D>
struct Solid {
  std::string shape, material;
  Vec<D> position{};                   ///< of its centre [m]
  Orientation<D> turn = upright<D>();  ///< of the frame in which the shape is described
  Vec<D> velocity{};                   ///< of its centre [m/s]
  Spin<D> spin{};                      ///< [rad/s]
};

/// The turn by `angle` [rad] about axis `axis`; in the plane counter-clockwise.
template <int D>
Orientation<D> turned(Real angle, int axis = 2) {
  if constexpr (D == 2) {
    return {{angle}};
  } else {
    Orientation<3> q{{std::cos(0.5 * angle), 0, 0, 0}};
    q[1 + axis] = std::sin(0.5 * angle);
    return q;
  }
}

/// The turn by `angle` [rad] of x towards the last axis.
template <int D>
Orientation<D> leaning(Real angle) {
  return D == 2 ? turned<D>(angle) : turned<D>(-angle, 1);
}

/// Writes the deck of a case of bodies with shapes. They are made in the middle of the domain, where no
/// obstacle must be, and are put in their places before the first step.
template <int D>
class SolidDeck : public GrainDeck<D> {
 public:
  SolidDeck(const Vec<D>& lower, const Vec<D>& upper, Real dt)
      : GrainDeck<D>(lower, upper, dt), middle_(0.5 * (lower + upper)) {
    this->allow_overlap();
  }
  /// A box of these outer extents. `rounding` [m].
  void box(const std::string& name, const Vec<D>& size, Real rounding) {
    shape(name, fmt::format("type = 'box'\nsize = {}\nrounding = {}\n", text_of<D>(size), rounding),
          0.5 * norm(size));
  }
  /// `keys`: of [shapes.NAME]; `reach`: not less than the radius of the circumscribed ball [m].
  void shape(const std::string& name, const std::string& keys, Real reach) {
    this->tables(fmt::format("[shapes.{}]\n{}", name, keys));
    reach_.emplace_back(name, reach);
  }
  /// Bodies get the ids 0, 1, ... in the order of these calls.
  void add(const Solid<D>& solid) {
    Real reach = 0;
    for (const auto& [name, length] : reach_)
      if (name == solid.shape) reach = length;
    const Vec<D> half = filled<D>(reach);
    this->tables(fmt::format(
        "[particles.s{}]\nshape = '{}'\nmaterial = '{}'\nsource = {{ type = 'lattice', spacing = {}, region "
        "= {{ lower = {}, upper = {} }} }}\n",
        solids_.size(), solid.shape, solid.material, 2 * reach, text_of<D>(middle_ - half),
        text_of<D>(middle_ + half)));
    solids_.push_back(solid);
  }
  /// Puts all bodies in their places. Before the first step of a simulation of this deck. Collective.
  void put(Simulation<D>& simulation) const {
    State<D>& state = simulation.state();
    BodyStore<D>& bodies = state.bodies;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      const Solid<D>& solid = solids_[static_cast<std::size_t>(bodies.id()[i])];
      bodies.position()[i] = solid.position;
      bodies.orientation()[i] = combined<D>(solid.turn, state.shapes[bodies.shape()[i]].to_body_axes);
      bodies.velocity()[i] = solid.velocity;
      bodies.angular_velocity()[i] = solid.spin;
    }
    simulation.stepper().bodies_changed(state);
    state.energy_balance.start = mechanical_energy(state).total();
  }
  const std::vector<Solid<D>>& solids() const { return solids_; }

 private:
  Vec<D> middle_;
  std::vector<std::pair<std::string, Real>> reach_;
  std::vector<Solid<D>> solids_;
};

/// How the bodies are turned, by id, on every rank. Collective.
template <int D>
std::vector<Orientation<D>> turns_of(const Simulation<D>& simulation) {
  const State<D>& state = simulation.state();
  constexpr std::size_t width = D == 2 ? 1 : 4;
  std::vector<Real> numbers(static_cast<std::size_t>(simulation.n_bodies()) * width, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    std::ranges::copy(described_orientation(state, i).component,
                      &numbers[static_cast<std::size_t>(state.bodies.id()[i]) * width]);
  state.comm.max(numbers);
  std::vector<Orientation<D>> turns(numbers.size() / width);
  for (std::size_t i = 0; i < turns.size(); ++i)
    std::copy_n(&numbers[i * width], width, turns[i].component.begin());
  return turns;
}

/// Steps until `time`; the last step is cut to meet it. Returns how many contact problems were not solved.
/// `each`: called after every step. Collective.
template <int D>
int step_until(Simulation<D>& simulation, Real time, const std::function<void()>& each = {}) {
  int unsolved = 0;
  simulation.deck().end_time = time;
  while (simulation.running()) {
    simulation.step();
    unsolved += simulation.certified("solved") < 1;
    if (each) each();
  }
  return unsolved;
}

/// The limit of values at steps of dt, dt/2, dt/4, ..., whose errors are a power series of the step that
/// begins with the power `order` (1: all powers; 2: even ones): Romberg's table.
inline Real at_zero_step(std::vector<Real> values, int order) {
  for (Real factor = order == 1 ? 2 : 4; values.size() > 1; factor *= order == 1 ? 2 : 4) {
    for (std::size_t k = 0; k + 1 < values.size(); ++k)
      values[k] = values[k + 1] + (values[k + 1] - values[k]) / (factor - 1);
    values.pop_back();
  }
  return values.front();
}

void verify_solid_motions(GrainTable& table,
                          bool quick);  ///< slope, rolling capsule, plate, free brick, tops, toppling
void verify_solid_stacks(GrainTable& table,
                         const VerifyOptions& options);  ///< tents, stacks of cubes, wall of bricks
void verify_dominoes(GrainTable& table, bool quick);     ///< speed of a wave

}  // namespace scree
