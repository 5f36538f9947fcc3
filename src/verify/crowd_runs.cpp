#include "verify/crowd_runs.hpp"

#include <algorithm>
#include <cmath>

#include "crowd/agent_fields.hpp"
#include "crowd/crowd_scene.hpp"

namespace scree {

RunDeck<2> read_crowd(const std::string& text) {
  return read_run_deck<2>(
      Deck::from_text("[simulation]\ndimension = 2\nscheme = 'crowd'\nend_time = 1e6\n" + text, "crowd"));
}

void put(Simulation<2>& simulation, const std::vector<Vec<2>>& places) {
  State<2>& state = simulation.state();
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    state.bodies.position()[i] = state.bodies.previous()[i] =
        places[static_cast<std::size_t>(state.bodies.id()[i])];
  state.memory.clear(state.bodies.n_owned());
  simulation.stepper().bodies_changed(state);
}

std::vector<Person> everybody(const Simulation<2>& simulation) {
  const State<2>& state = simulation.state();
  const BodyStore<2>& bodies = state.bodies;
  constexpr std::size_t width = 8;
  std::vector<Real> numbers(static_cast<std::size_t>(state.next_id) * width, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const int destination = agent::destination(bodies)[i];
    const bool walks = destination >= 0 && state.clock.time >= agent::premovement_end(bodies)[i];
    const Vec<2> way = walks ? crowd_world(state)->scene->floor_field().direction(
                                   destination, wrapped(state.box, bodies.position()[i]), level_of(bodies, i),
                                   agent::way_radius(bodies)[i])
                             : Vec<2>{};
    Real* to = &numbers[static_cast<std::size_t>(bodies.id()[i]) * width];
    for (const Vec<2>& v : {bodies.position()[i], bodies.velocity()[i], way})
      to = std::ranges::copy(v.component, to).out;
    for (const Real number : {bodies.radius()[i], agent::desired_speed(bodies)[i]}) *to++ = number;
  }
  state.comm.max(numbers);
  std::vector<Person> people(static_cast<std::size_t>(state.next_id));
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Real* from = &numbers[i * width];
    Person& person = people[i];
    person.is_here = from[0] > -HUGE_VAL;
    for (Vec<2>* v : {&person.position, &person.velocity, &person.way})
      for (Real& x : v->component) x = *from++;
    for (Real* number : {&person.radius, &person.desired_speed}) *number = *from++;
  }
  return people;
}

Loads::Loads(Simulation<2>& simulation)
    : n_(static_cast<std::size_t>(simulation.state().next_id)),
      n_walls_(static_cast<std::size_t>(simulation.state().obstacles.n_constraints())),
      load_(n_ * (n_ + n_walls_)) {
  // Those who pressed have parted by less than this in the same step.
  constexpr Real share_of_radii = 1;
  const ContactGraph<2>& contacts = simulation.find_contacts(share_of_radii);
  const auto id = std::as_const(simulation.state().bodies).id();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const auto a = static_cast<std::size_t>(id[static_cast<std::size_t>(contacts.a[c])]);
    const auto b = contacts.b[c] < 0 ? n_ + static_cast<std::size_t>(contacts.wall[c])
                                     : static_cast<std::size_t>(id[static_cast<std::size_t>(contacts.b[c])]);
    load_[a * (n_ + n_walls_) + b] = contacts.force[c];
  }
  simulation.state().comm.max(load_);
}

Real Loads::of_walls() const {
  Real sum = 0;
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t w = 0; w < n_walls_; ++w) sum += of_wall(i, w);
  return sum;
}

}  // namespace scree
