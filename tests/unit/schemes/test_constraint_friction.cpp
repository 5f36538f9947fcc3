// Static friction as a constraint on soft contact, against closed forms: what sticks, what slips and where
// to, which of several contacts lets go.
#include <fmt/format.h>

#include <fstream>
#include <numbers>

#include "mpi/restarts.hpp"

namespace scree {

namespace {

constexpr Real stiffness = 1e5;  // [N/m]
constexpr Real radius = 0.5;     // [m], and 1 kg
constexpr Real g = 10;           // [m/s2], across the floor
constexpr Real settled = 1e-4;   // overlap by the weight of 1 kg [m]

/// Bodies of 1 kg in a column on a floor across the last axis, which have settled by their weight.
template <int D>
std::string deck(const Vec<D>& gravity, Real mu, const std::string& body) {
  const Real density = D == 2 ? 1 / (std::numbers::pi * radius * radius)
                              : 0.75 / (std::numbers::pi * radius * radius * radius);
  const Vec<D> far = filled<D>(50);
  const auto text = [](const Vec<D>& v) { return fmt::format("[{:.17g}]", fmt::join(v.component, ", ")); };
  return fmt::format(R"(
[simulation]
dimension = {}
scheme = "dem"
end_time = 100
allow_overlap = true
[domain]
lower = {}
upper = {}
[time]
step = 2e-4
[physics]
gravity = {}
[dem]
law = "linear"
friction = "dae"
[materials.body]
density = {:.17g}
[materials.floor]
density = 1
[pairs."body-body"]
friction = {}
restitution = 0.5
stiffness = {}
[pairs."body-floor"]
friction = {}
restitution = 0.5
stiffness = {}
[particles.body]
material = "body"
radius = {{ distribution = "constant", value = {} }}
source = {{ type = "file", path = "places.csv" }}
{}
[obstacles.floor]
type = "plane"
material = "floor"
point = {}
normal = {}
)",
                     D, text(-far), text(far), text(gravity), density, mu, stiffness, mu, stiffness, radius,
                     body, text({}), text(unit_vector<D>(D - 1)));
}

/// With `n` bodies.
template <int D>
Simulation<D> make(const std::string& text, Overrides overrides = {}, int n = 1) {
  const Comm comm(MPI_COMM_SELF);
  const Scratch scratch(comm);
  const std::string path = scratch / "places.csv";
  std::ofstream file(path);
  file << (D == 2 ? "x,y\n" : "x,y,z\n");
  Real height = -radius;
  for (int i = 0; i < n; ++i) {
    height += 2 * radius - (n - i) * settled;
    file << (D == 2 ? "0," : "0,0,") << fmt::format("{:.17g}\n", height);
  }
  file.close();
  overrides.push_back("particles.body.source.path=\"" + path + "\"");
  return Simulation<D>(comm, read_deck<D>(text, overrides));
}

template <int D>
void run(Simulation<D>& simulation, int n_steps) {
  for (int step = 0; step < n_steps; ++step) simulation.step();
}

}  // namespace

TEST_CASE("a block on a slope stays where friction holds it, and slides as friction says where it does not") {
  for (const std::string integrator : {"gear", "rk4", "symplectic_euler"})
    for (const Real mu : {0.25, 0.5, 1.5}) {
      CAPTURE(integrator, mu);
      const Real pull = 5;  // mu g = 5 is the limit: an equality sticks
      auto simulation =
          make<2>(deck<2>({{pull, -g}}, mu, "rotates = false"), {"dem.integrator=\"" + integrator + "\""});
      const BodyStore<2>& bodies = simulation.state().bodies;
      run(simulation, 1000);
      const Real t = simulation.state().clock.time;
      const ContactGraph<2>& contacts = simulation.find_contacts(0);
      REQUIRE(contacts.size() == 1);
      CHECK(contacts.force[0] == Approx(g).epsilon(1e-9));
      // The friction is on the floor.
      CHECK(contacts.friction[0][0] == Approx(std::min(pull, mu * g)).epsilon(1e-9));
      if (mu * g < pull) {
        const Real a = pull - mu * g;
        // Gear's method starts in the middle of a motion.
        CHECK(bodies.position()[0][0] == Approx(a * t * t / 2).margin(2 * a * t * 2e-4));
        CHECK(bodies.velocity()[0][0] == Approx(a * t).epsilon(1e-3));
        CHECK(simulation.certified("sticking") == 0);
      } else {
        CHECK(std::abs(bodies.position()[0][0]) < 1e-15);
        CHECK(std::abs(bodies.velocity()[0][0]) < 1e-15);
        CHECK(simulation.certified("sticking") == 1);
      }
    }
}

TEST_CASE("bodies that cannot move and are poured have no acceleration") {
  const std::string inlet = R"(
[inlets.fixed]
type = "pour"
material = "body"
mobility = 0
rate = 1000
radius = { distribution = "constant", value = 0.3 }
region = { lower = [-9, 5], upper = [9, 9] }
)";
  for (const std::string friction : {"dae", "spring"}) {
    CAPTURE(friction);
    auto simulation = make<2>(deck<2>({{0, -g}}, 0.5, "") + inlet, {"dem.friction=\"" + friction + "\""});
    run(simulation, 50);
    const BodyStore<2>& bodies = std::as_const(simulation).state().bodies;
    REQUIRE(bodies.n_owned() > 3);
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      if (bodies.mobility()[i] != 0) continue;
      CHECK(norm(bodies.acceleration()[i]) == 0);
      CHECK(norm(bodies.velocity()[i]) == 0);
      if (friction != "dae") continue;
      for (int level = 0; level < 2; ++level) CHECK(bodies.derivatives()[i][level] == 0);
    }
  }
}

TEST_CASE("a block that slides comes to rest where its energy is spent") {
  // v^2 / (2 mu g) = 0.025 m after 0.1 s, and not a step back.
  auto simulation = make<2>(deck<2>({{0, -g}}, 2.0, "rotates = false\nvelocity = [1, 0]"));
  run(simulation, 1000);
  const BodyStore<2>& bodies = simulation.state().bodies;
  CHECK(bodies.position()[0][0] == Approx(1 / (2 * 2.0 * g)).epsilon(5e-3));
  CHECK(std::abs(bodies.velocity()[0][0]) < 1e-15);
}

TEST_CASE("without projection a contact that sticks keeps the slip it had, and the certificate says so") {
  const auto slip = [](const char* projection) {
    auto simulation = make<2>(deck<2>({{5, -g}}, 2.0, "rotates = false\nvelocity = [0.1, 0]"),
                              {std::string("dem.projection=") + projection});
    run(simulation, 500);
    CHECK(simulation.certified("sticking") == 1);
    CHECK(simulation.certified("slip") == std::abs(simulation.state().bodies.velocity()[0][0]));
    return simulation.certified("slip");
  };
  CHECK(slip("true") < 1e-15);
  CHECK(slip("false") > 1e-7);
}

TEST_CASE("velocities that sticking contacts do not allow are projected when a run goes on") {
  const std::string text = deck<2>({{5, -g}}, 2.0, "rotates = false\nvelocity = [0.1, 0]");
  auto drifting = make<2>(text, {"dem.projection=false"});
  run(drifting, 500);
  CHECK(std::abs(drifting.state().bodies.velocity()[0][0]) > 1e-7);
  const Scratch scratch(Comm(MPI_COMM_SELF));
  save(drifting, scratch / "drifting.scree");
  Simulation<2> goes_on(Comm(MPI_COMM_SELF),
                        read_deck<2>(text, {"particles.body.source.path=\"not read again\""}),
                        scratch / "drifting.scree");
  CHECK(std::abs(goes_on.state().bodies.velocity()[0][0]) < 1e-16);
}

TEST_CASE("a sphere rolls where friction allows it and spins up where it does not, along any direction") {
  // Rolling takes F = m a (I / m L^2) / (1 + I / m L^2) of a pull a per kg; L = R - overlap.
  const Vec<3> along{{0.6, 0.8, 0}};
  const Real pull = 4;
  const Real lever = radius - settled;
  const Real share = 1 / (1 + 0.4 * radius * radius / (lever * lever));  // of a, while it rolls
  for (const Real mu : {0.05, 0.5}) {
    CAPTURE(mu);
    const bool rolls = mu * g > pull * (1 - share);
    auto simulation = make<3>(deck<3>(pull * along + Vec<3>{{0, 0, -g}}, mu, ""));
    run(simulation, 500);
    const Real t = simulation.state().clock.time;
    const Vec<3> v = simulation.state().bodies.velocity()[0];
    const Vec<3> spin = simulation.state().bodies.angular_velocity()[0];
    const Real a = rolls ? share * pull : pull - mu * g;
    const Real turning = rolls ? a / lever : mu * g * lever / (0.4 * radius * radius);
    CHECK(dot(v, along) == Approx(a * t).epsilon(3e-3));
    CHECK(norm(v - dot(v, along) * along) < 1e-12);
    const Vec<3> axis = cross(Vec<3>{{0, 0, 1}}, along);
    CHECK(dot(spin, axis) == Approx(turning * t).epsilon(3e-3));
    CHECK(norm(spin - dot(spin, axis) * axis) < 1e-12);
    if (rolls) CHECK(simulation.certified("slip") < 1e-15);
    CHECK(simulation.certified("sticking") == (rolls ? 1 : 0));
  }
}

TEST_CASE("friction of a block that slides on a plane follows its velocity") {
  const Real mu = 0.3;
  auto simulation = make<3>(deck<3>({{2, 0, -g}}, mu, "rotates = false\nvelocity = [0, 1, 0]"));
  run(simulation, 2000);
  // v' = pull - mu g v / |v|, by steps that are much shorter.
  Vec<2> v{{0, 1}};
  const Real dt = 1e-6;
  for (int i = 0; i < 400'000; ++i) v += dt * (Vec<2>{{2, 0}} - (mu * g / norm(v)) * v);
  CHECK(norm(v) < 0.3);
  const Vec<3> found = simulation.state().bodies.velocity()[0];
  CHECK(found[0] == Approx(v[0]).margin(2e-3));
  CHECK(found[1] == Approx(v[1]).margin(2e-3));
}

TEST_CASE("of contacts a little beyond their limits that share bodies, the worst lets go alone") {
  // A column of three: every contact carries the same share of its load. Once the floor lets go, the column
  // moves as one, and the others need exactly what they have.
  const auto make_column = [](Real pull) {
    return make<2>(deck<2>({{pull, -g}}, 0.5, "rotates = false"), {}, 3);
  };
  auto held = make_column(4.99);
  held.step();
  CHECK(held.certified("sticking") == 3);
  CHECK(held.certified("rounds") == 1);
  auto column = make_column(5.1);
  column.step();
  CHECK(column.certified("contacts") == 3);
  CHECK(column.certified("sticking") == 2);
  const auto velocity = column.state().bodies.velocity();
  for (std::size_t i = 0; i < 3; ++i) CHECK(velocity[i][0] == Approx(0.1 * 2e-4).epsilon(0.01));
  // Far beyond them all let go at once.
  auto pulled = make_column(8);
  pulled.step();
  CHECK(pulled.certified("sticking") == 0);
}

TEST_CASE("a body that sticks to a floor that shakes moves as the floor does") {
  // A = 1 mm at 10 Hz: up to 3.9 m/s2.
  const std::string shakes = "motion = { type = \"oscillate\", amplitude = [0.001, 0], frequency = 10 }\n";
  for (const Real mu : {0.3, 0.5}) {
    CAPTURE(mu);
    auto simulation = make<2>(deck<2>({{0, -g}}, mu, "rotates = false") + shakes);
    const auto* motion = simulation.state().obstacles.list()[0].motion.get();
    // From rest it slides until it has caught up.
    run(simulation, 1000);
    bool always = true;
    Real off = 0;
    for (int step = 0; step < 500; ++step) {
      simulation.step();
      always = always && simulation.certified("sticking") == 1;
      off = std::max(off, std::abs(simulation.state().bodies.velocity()[0][0] -
                                   motion->velocity({}, simulation.state().clock.time)[0]));
    }
    CHECK(always == (mu > 0.395));
    if (always)
      CHECK(off < 1e-15);
    else
      CHECK(off > 1e-3);
  }
}

}  // namespace scree
