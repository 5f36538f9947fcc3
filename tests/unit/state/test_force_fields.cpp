#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "state/force_field.hpp"

using namespace scree;

namespace {

template <int D>
std::unique_ptr<ForceField<D>> field_of(const std::string& lines, std::vector<bool> groups = {true}) {
  Deck deck = Deck::from_text(lines, "test.toml");
  std::unique_ptr<ForceField<D>> field;
  deck.root().kind("type", field, {.required = true, .doc = ""});
  deck.require_all_read();
  field->set_table("test", "test.toml:1:1", std::move(groups));
  return field;
}

/// One body of 2 kg of each place, of groups 0, 1, ...
template <int D>
State<D> bodies_at(const std::vector<Vec<D>>& places, const Vec<D>& velocity = {}) {
  State<D> state{.comm = Comm(MPI_COMM_SELF), .box = {filled<D>(-10), filled<D>(10), {}}};
  state.bodies.carry(FieldSet::with_inertia);
  state.bodies.resize(static_cast<Index>(places.size()), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    state.bodies.id()[i] = static_cast<GlobalId>(i);
    state.bodies.type()[i] = static_cast<std::int32_t>(i);
    state.bodies.position()[i] = places[i];
    state.bodies.velocity()[i] = velocity;
    state.bodies.mass()[i] = 2;
    state.bodies.radius()[i] = 0.1;
    state.bodies.mobility()[i] = 1;
  }
  return state;
}

template <int D>
Vec<D> force_at(const ForceField<D>& field, const State<D>& state, std::size_t i = 0) {
  std::vector<Vec<D>> force(state.bodies.n_owned());
  field.add(state, 0, force);
  return force[i];
}

template <int D>
Real potential_at(const ForceField<D>& field, const State<D>& state, std::size_t i = 0) {
  std::vector<Real> energy(state.bodies.n_owned(), 0.0);
  field.add_potential(state, energy);
  return energy[i];
}

}  // namespace

TEST_CASE("spring: force and energy at (3, 1) of springs of 4 and 2 N/m to (1, 0)", "[dynamics]") {
  const auto field = field_of<2>("type = 'spring'\npoint = [1, 0]\nstiffness = [4, 2]");
  const State<2> state = bodies_at<2>({{{3, 1}}});
  CHECK(force_at(*field, state) == Vec<2>{{-8, -2}});
  CHECK(field->has_potential());
  CHECK(potential_at(*field, state) == 0.5 * 4 * 4 + 0.5 * 2 * 1);
  CHECK(field->longest_step(9) == 2 * 1.5);
}

TEST_CASE("spring: the force is minus the gradient of the energy", "[dynamics]") {
  const auto field = field_of<3>("type = 'spring'\npoint = [0.3, 0, 1]\nstiffness = [0.5, 0, 7]");
  const Vec<3> x{{1.1, -2, 0.4}};
  const Vec<3> force = force_at(*field, bodies_at<3>({x}));
  for (int k = 0; k < 3; ++k) {
    constexpr Real h = 1e-4;
    Vec<3> above = x, below = x;
    above[k] += h;
    below[k] -= h;
    const Real slope =
        (potential_at(*field, bodies_at<3>({above})) - potential_at(*field, bodies_at<3>({below}))) / (2 * h);
    CHECK(force[k] == Approx(-slope).margin(1e-10));
  }
}

TEST_CASE("spring: bodies are followed through periodic faces", "[dynamics]") {
  const auto field = field_of<2>("type = 'spring'\nstiffness = [1, 0]");
  State<2> state = bodies_at<2>({{{-9, 0}}});
  state.bodies.image()[0][0] = 1;
  CHECK(force_at(*field, state) == Vec<2>{{9, 0}});
  state.box.periodic[0] = true;
  CHECK(force_at(*field, state) == Vec<2>{{-11, 0}});
  CHECK(potential_at(*field, state) == 60.5);
}

TEST_CASE("drag: against the velocity, without a potential", "[dynamics]") {
  const auto field = field_of<2>("type = 'drag'\ncoefficient = 0.5");
  const State<2> state = bodies_at<2>({{{3, 1}}}, {{2, -4}});
  CHECK(force_at(*field, state) == Vec<2>{{-1, 2}});
  CHECK_FALSE(field->has_potential());
  CHECK(potential_at(*field, state) == 0);
  CHECK(field->longest_step(3) == 12);
}

TEST_CASE("forces add up, on bodies of their groups alone", "[dynamics]") {
  const auto one = field_of<2>("type = 'spring'\nstiffness = [1, 1]", {true, false});
  const auto all = field_of<2>("type = 'drag'\ncoefficient = 1", {true, true});
  const State<2> state = bodies_at<2>({{{1, 0}}, {{1, 0}}}, {{0, 1}});
  std::array<Vec<2>, 2> force{};
  one->add(state, 0, force);
  all->add(state, 0, force);
  CHECK(force[0] == Vec<2>{{-1, -1}});
  CHECK(force[1] == Vec<2>{{0, -1}});
  CHECK(potential_at(*one, state, 1) == 0);
}

TEST_CASE("forces: a step beyond the stability limit is refused, for bodies that can move", "[dynamics]") {
  State<2> state = bodies_at<2>({{{0, 0}}, {{1, 0}}});
  state.forces.push_back(field_of<2>("type = 'drag'\ncoefficient = 2", {false, true}));
  CHECK_NOTHROW(require_stable_forces(state, 2.0));
  CHECK_THROWS_WITH(require_stable_forces(state, 2.1), Catch::Contains("test.toml:1:1") &&
                                                           Catch::Contains("body 1 ") &&
                                                           Catch::Contains("\"test\""));
  state.bodies.mobility()[1] = 0;
  CHECK_NOTHROW(require_stable_forces(state, 2.1));
}

TEST_CASE("forces: bad keys", "[dynamics]") {
  CHECK_THROWS_AS(field_of<2>("type = 'spring'"), InputError);
  CHECK_THROWS_AS(field_of<2>("type = 'spring'\nstiffness = [1, -1]"), InputError);
  CHECK_THROWS_AS(field_of<2>("type = 'spring'\nstiffness = 1"), InputError);
  CHECK_THROWS_AS(field_of<2>("type = 'drag'\ncoefficient = -1"), InputError);
  CHECK_THROWS_AS(field_of<3>("type = 'drag'\ncoefficient = '1 N'"), InputError);
}
