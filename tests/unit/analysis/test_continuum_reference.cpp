// Continuum fields of grains against data made by another program, closed forms, and the measure `stress`.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "analysis/continuum/fields.hpp"
#include "analysis/measure.hpp"
#include "run/simulation.hpp"
#include "support/deck.hpp"
#include "support/reference_rows.hpp"

using namespace scree;

namespace {

constexpr Real g = 9.81;                          // [m/s2]
constexpr Real period_x = 7e-3, period_y = 6e-3;  // of the bed [m]
constexpr Real uncut = 12;                        // widths: beyond them the weight is below 1e-31 of its peak
using Places = ContinuumPlaces<3>;
using Sums = CellSums<3>::Sums;

template <int D>
std::unique_ptr<SmoothingKernel<D>> kernel_of(std::string_view name, const std::string& keys) {
  for (const auto& entry : registry<SmoothingKernel<D>>()) {
    if (entry.name != name) continue;
    auto kernel = entry.make();
    Deck deck = Deck::from_text(keys, "kernel");
    kernel->describe(deck.root());
    return kernel;
  }
  throw InputError(fmt::format("there is no kernel \"{}\"", name));
}

/// 400 spheres at rest on a floor, with the force of every contact (tests/reference/practice).
struct Bed {
  struct Body {
    Vec<3> x, v;
    Real radius, mass;
  };
  struct Contact {
    Vec<3> start, branch, force;  ///< as in ContactGraph: force on b, or on the floor
    bool with_wall;
    std::size_t a, b;
  };
  std::vector<Body> bodies;
  std::vector<Contact> contacts;
};

Vec<3> vector_at(const std::vector<Real>& row, std::size_t k) {
  return {{row[k], row[k + 1], row[k + 2]}};
}

/// The rows of a file of tests/reference/practice below its line of titles.
std::vector<std::vector<Real>> numbers_of(const std::string& name, const std::string& titles) {
  std::vector<std::vector<Real>> table;
  for (const std::vector<std::string>& row :
       reference_rows(SCREE_TESTS "/reference/practice/" + name, titles)) {
    table.emplace_back();
    for (const std::string& word : row) table.back().push_back(std::stod(word));
  }
  return table;
}

void check_error(const std::string& what, Real error, Real bound) {
  INFO(what << ": error " << error << ", bound " << bound);
  CHECK(error <= bound);
}

Bed read_bed() {
  Bed bed;
  for (const auto& row : numbers_of("continuum_bodies.csv", "x,y,z,radius,mass,vx,vy,vz,id"))
    bed.bodies.push_back({vector_at(row, 0), vector_at(row, 5), row[3], row[4]});
  for (const auto& row :
       numbers_of("continuum_pairs.csv", "id_i,id_j,fx_on_i,fy_on_i,fz_on_i,branch_x,branch_y,branch_z")) {
    // The file's branch is x_i - x_j: i is our b.
    const auto i = static_cast<std::size_t>(row[0]), j = static_cast<std::size_t>(row[1]);
    const Vec<3> branch = vector_at(row, 5);
    bed.contacts.push_back({bed.bodies[i].x - branch, branch, vector_at(row, 2), false, j, i});
  }
  for (const auto& row : numbers_of("continuum_floor.csv", "id,fx,fy,fz,foot_x,foot_y,foot_z")) {
    const std::size_t i = row[0];
    Vec<3> branch = vector_at(row, 4) - bed.bodies[i].x;
    branch[0] -= period_x * std::round(branch[0] / period_x);
    branch[1] -= period_y * std::round(branch[1] / period_y);
    bed.contacts.push_back({bed.bodies[i].x, branch, -1.0 * vector_at(row, 1), true, i, i});
  }
  return bed;
}

CellSums<3> sums_of(const Bed& bed, const SmoothingKernel<3>& kernel, const ContinuumGrid<3>& grid) {
  CellSums<3> sums;
  sums.resize(grid.size());
  ContinuumTerms<3> terms{kernel, grid, 1, sums};
  for (const Bed::Body& body : bed.bodies)
    terms.body(body.x, body.mass, 4 * M_PI / 3 * body.radius * body.radius * body.radius, body.v);
  for (const Bed::Contact& c : bed.contacts)
    terms.contact(c.start, c.branch, c.force, c.branch * (1 / norm(c.branch)), c.with_wall);
  return sums;
}

/// Points along z over the whole area of the bed.
ContinuumGrid<3> profile_grid(Real first, Real distance, std::int64_t n) {
  return {.origin = {0, 0, first - 0.5 * distance},
          .cell = {period_x, period_y, distance},
          .n = {1, 1, n},
          .active = {false, false, true},
          .periodic = {true, true, false},
          .per_area = 1 / (period_x * period_y)};
}

/// The columns that both files of fields have, from px on: momentum, contact stress, kinetic stress, wall.
std::vector<Real> columns_of(const Sums& sums) {
  std::vector<Real> row;
  const auto at = [&](std::size_t place) { return real_of(sums[place]); };
  const auto take = [&](std::size_t first, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) row.push_back(at(first + k));
  };
  take(Places::momentum, 3);
  take(Places::contact, 9);
  std::array<Real, 9> kinetic{};
  std::size_t place = Places::flux;
  for_each_symmetric<3>([&](int i, int j) {
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    kinetic[3 * a + b] = kinetic[3 * b + a] =
        at(place++) - at(Places::momentum + a) * at(Places::momentum + b) / at(Places::mass);
  });
  row.insert(row.end(), kinetic.begin(), kinetic.end());
  take(Places::wall, 3);
  return row;
}

/// Checks each group of columns: the largest error over the largest value of the group.
void compare(const std::string& variant, const std::vector<std::vector<Real>>& expected,
             const std::vector<std::vector<Real>>& found,
             const std::vector<std::pair<std::string, std::pair<std::size_t, std::size_t>>>& groups,
             Real bound) {
  for (const auto& [quantity, columns] : groups) {
    Real largest = 0, error = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      for (std::size_t k = columns.first; k < columns.second; ++k) {
        largest = std::max(largest, std::abs(expected[i][k]));
        error = std::max(error, std::abs(expected[i][k] - found[i][k]));
      }
    check_error(quantity + ", " + variant, error / largest, bound);
  }
}

const std::string tensors =
    "contact_xx,contact_xy,contact_xz,contact_yx,contact_yy,contact_yz,contact_zx,contact_zy,contact_zz,"
    "kinetic_xx,kinetic_xy,kinetic_xz,kinetic_yx,kinetic_yy,kinetic_yz,kinetic_zx,kinetic_zy,kinetic_zz,"
    "tx,ty,tz";

}  // namespace

TEST_CASE("Continuum: the profile of a bed is that of another program to 1e-10, cut at 6 widths to 1e-7") {
  const Bed bed = read_bed();
  const auto reference = numbers_of("continuum_profile.csv", "z,density,solid_fraction,px,py,pz," + tensors);
  const ContinuumGrid<3> grid = profile_grid(-1.5e-3, 0.5e-3, static_cast<std::int64_t>(reference.size()));
  for (const auto& [cut, bound] : {std::pair<Real, Real>{uncut, 1e-10}, {6, 1e-7}}) {
    CellSums<3> sums =
        sums_of(bed, *kernel_of<3>("gauss", fmt::format("width = 0.6e-3\ncut = {}", cut)), grid);
    std::vector<std::vector<Real>> found;
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      const Sums& cell = sums.at(i);
      found.push_back({grid.centre(2, i), real_of(cell[Places::mass]), real_of(cell[Places::volume])});
      const std::vector<Real> rest = columns_of(cell);
      found.back().insert(found.back().end(), rest.begin(), rest.end());
    }
    compare(fmt::format("cut at {} widths", cut), reference, found,
            {{"density", {1, 2}},
             {"solid fraction", {2, 3}},
             {"momentum", {3, 6}},
             {"contact stress", {6, 15}},
             {"kinetic stress", {15, 24}},
             {"wall force", {24, 27}}},
            bound);
  }
}

TEST_CASE("Continuum: fields at points in space are those of another program to 1e-7") {
  const Bed bed = read_bed();
  const auto reference = numbers_of("continuum_points.csv", "x,y,z,density,px,py,pz," + tensors);
  const ContinuumGrid<3> grid{.origin = {-0.5e-3, -0.75e-3, -0.4e-3},
                              .cell = {1e-3, 1.5e-3, 2e-3},
                              .n = {7, 4, 6},
                              .active = {true, true, true},
                              .periodic = {true, true, false}};
  CellSums<3> sums = sums_of(bed, *kernel_of<3>("gauss", "width = 0.8e-3"), grid);
  std::vector<std::vector<Real>> found;
  for (const std::vector<Real>& row : reference) {
    const std::int64_t x = std::llround(row[0] / 1e-3), y = std::llround(row[1] / 1.5e-3),
                       z = std::llround((row[2] - 0.6e-3) / 2e-3);
    const Sums& cell = sums.at((z * grid.n[1] + y) * grid.n[0] + x);
    found.push_back({row[0], row[1], row[2], real_of(cell[Places::mass])});
    const std::vector<Real> rest = columns_of(cell);
    found.back().insert(found.back().end(), rest.begin(), rest.end());
  }
  compare("cut at 6 widths", reference, found,
          {{"density", {3, 4}},
           {"momentum", {4, 7}},
           {"contact stress", {7, 16}},
           {"kinetic stress", {16, 25}},
           {"wall force", {25, 28}}},
          1e-7);
}

/// The integral of the contact stress is the sum of f l of all contacts. Gauss: a sum over points closer than
/// two thirds of the width is the integral to 1e-18.
TEST_CASE("Continuum: the contact stress integrates to the sum of f l to 1e-12") {
  const Bed bed = read_bed();
  const ContinuumGrid<3> grid = profile_grid(-8e-3, 0.4e-3, 80);
  CellSums<3> sums =
      sums_of(bed, *kernel_of<3>("gauss", fmt::format("width = 0.6e-3\ncut = {}", uncut)), grid);
  std::array<Real, 9> expected{}, found{};
  for (const Bed::Contact& c : bed.contacts)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) expected[3 * i + j] += c.force[i] * c.branch[j];
  for (std::int64_t cell = 0; cell < grid.size(); ++cell)
    for (std::size_t k = 0; k < 9; ++k)
      found[k] += real_of(sums.at(cell)[Places::contact + k]) * 0.4e-3 * period_x * period_y;
  Real error = 0;
  for (std::size_t k = 0; k < 9; ++k) error = std::max(error, std::abs(found[k] - expected[k]) / expected[8]);
  check_error("integral of contact stress", error, 1e-12);
}

/// At every z: d sigma_iz / dz = t_i - sum of (contact force on body) W, whatever the forces.
TEST_CASE("Continuum: the balance of momentum holds at every height") {
  const Bed bed = read_bed();
  std::vector<Vec<3>> force(bed.bodies.size());
  for (const Bed::Contact& c : bed.contacts) {
    force[c.a] -= c.force;
    if (!c.with_wall) force[c.b] += c.force;
  }
  for (const std::string name : {"gauss", "lucy"}) {
    const Real h = name == "gauss" ? 0.01e-3 : 0.02e-3;
    const auto kernel = kernel_of<3>(name, name == "gauss" ? "width = 0.6e-3\ncut = 12" : "width = 1.5e-3");
    const ContinuumGrid<3> grid = profile_grid(-1e-3, h, 1000);
    CellSums<3> sums = sums_of(bed, *kernel, grid);
    Real error = 0, largest = 0;
    for (std::int64_t cell = 2; cell + 2 < grid.size(); cell += 7)
      for (std::size_t i = 0; i < 3; ++i) {
        const auto stress = [&](std::int64_t at) {
          return real_of(sums.at(at)[Places::contact + 3 * i + 2]);
        };
        const Real slope =
            (8 * (stress(cell + 1) - stress(cell - 1)) - stress(cell + 2) + stress(cell - 2)) / (12 * h);
        Real on_bodies = 0;
        for (std::size_t b = 0; b < bed.bodies.size(); ++b)
          on_bodies += force[b][static_cast<int>(i)] * grid.per_area *
                       kernel->weight_along(grid.centre(2, cell) - bed.bodies[b].x[2]);
        const Real wall = real_of(sums.at(cell)[Places::wall + i]);
        largest = std::max({largest, std::abs(slope), std::abs(wall)});
        error = std::max(error, std::abs(slope - (wall - on_bodies)));
      }
    // What differences of fourth order leave; Lucy's third derivative jumps at its reach.
    check_error(name, error / largest, name == "gauss" ? 1e-6 : 1e-4);
  }
}

/// Spheres on each other on a floor: sigma_zz A = n m g Phi(z/w) - m g sum_k Phi((z - z_k)/w).
TEST_CASE("Continuum: a chain of spheres on a floor has its closed form to 1e-12") {
  constexpr Real r = 0.01, w = 0.008, mass = 2;
  constexpr int n = 5;
  const auto phi = [](Real u) { return 0.5 * std::erfc(-u / std::sqrt(2.0)); };
  const auto kernel = kernel_of<3>("gauss", fmt::format("width = {}\ncut = {}", w, uncut));
  ContinuumGrid<3> grid = profile_grid(-0.02, 0.004, 40);
  CellSums<3> sums;
  sums.resize(grid.size());
  ContinuumTerms<3> terms{*kernel, grid, 1, sums};
  for (int k = 0; k < n; ++k) {
    const Vec<3> at{{1e-3, 2e-3, (2 * k + 1) * r}};
    const bool lowest = k == 0;
    terms.contact(at, {{0, 0, lowest ? -r : -2 * r}}, {{0, 0, -(n - k) * mass * g}}, {{0, 0, -1}}, lowest);
  }
  Real error = 0;
  const Real scale = n * mass * g;
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const Real z = grid.centre(2, i);
    Real expected = n * mass * g * phi(z / w);
    for (int k = 0; k < n; ++k) expected -= mass * g * phi((z - (2 * k + 1) * r) / w);
    error = std::max(error,
                     std::abs(real_of(sums.at(i)[Places::contact + 8]) / grid.per_area - expected) / scale);
  }
  check_error("sigma_zz A / weight", error, 1e-12);
}

namespace {

/// v_x = rate y on a fine lattice: sigma_k,xx = density (rate w)^2, gauss; the variance of other kernels.
template <int D>
void check_shear(const std::string& name) {
  constexpr Real rate = 3, w = 0.5, h = 0.05;
  const auto kernel = kernel_of<D>(name, fmt::format("width = {}", w));
  ContinuumGrid<D> grid;
  for (std::size_t k = 0; k < D; ++k) {
    grid.origin[k] = -0.5;
    grid.cell[k] = 1;
    grid.n[k] = 1;
    grid.active[k] = k == 1;
    grid.periodic[k] = false;
  }
  CellSums<D> sums;
  sums.resize(1);
  ContinuumTerms<D> terms{*kernel, grid, 1, sums};
  for (int k = -100; k < 100; ++k) {
    Vec<D> x{}, v{};
    x[1] = (k + 0.5) * h;
    v[0] = rate * x[1];
    terms.body(x, 2, 1, v);
  }
  const Real found = real_of(sums.at(0)[ContinuumPlaces<D>::flux]) / real_of(sums.at(0)[0]);
  const Real expected = rate * rate * kernel->variance();
  // The sum over the lattice: gauss loses what is beyond 6 widths, lucy the corners between points. Of a box
  // of n = w/h points the variance is that of w less 1/n^2.
  const Real bound = name == "gauss" ? 1e-6 : name == "lucy" ? 1e-4 : 1.001 * h * h / (w * w);
  check_error(fmt::format("{} {}D", name, D), std::abs(found - expected), bound * expected);
}

/// 200 spheres fall into a box with a paddle that turns, a wall that pushes and a floor that shakes.
const std::string stirred_box = R"([solver]
type = "nsgs"
tolerance = 1e-6
[materials.body]
density = 2500
[materials.wall]
density = 1
[pairs]
body-body = { friction = 0.4, restitution = 0.5, rolling_friction = 0.02 }
body-wall = { friction = 0.3, restitution = 0.7, rolling_friction = 0.02 }
[particles.bodies]
material = "body"
radius = { distribution = "constant", value = 0.02 }
source = { type = "lattice", count = 200, jitter = 0.05, region = { lower = [0.02, 0, 0.05], upper = [0.3, 0.25, 0.7] } }
random_speed = 0.3
angular_velocity = [3, 0, 1]
[obstacles]
floor = { material = "wall", type = "plane", point = [0, 0, 0], normal = [0, 0, 1], motion = { type = "oscillate", amplitude = [0, 0, 0.005], frequency = 5 } }
left = { material = "wall", type = "plane", point = [0, 0, 0], normal = [1, 0, 0], motion = { type = "translate", velocity = [0.05, 0.02, 0] } }
right = { material = "wall", type = "plane", point = [0.5, 0, 0], normal = [-1, 0, 0] }
front = { material = "wall", type = "plane", point = [0, 0, 0], normal = [0, 1, 0] }
back = { material = "wall", type = "plane", point = [0, 0.25, 0], normal = [0, -1, 0] }
paddle = { material = "wall", type = "box", lower = [0.33, 0.05, 0.07], upper = [0.45, 0.2, 0.09], motion = { type = "rotate", point = [0.39, 0.12, 0.08], axis = [0, 1, 0], rate = 6 } }
[measures.stress]
type = "stress"
region = { lower = [0.1, 0.05, 0], upper = [0.25, 0.2, 0.15] }
)";

}  // namespace

TEST_CASE("Continuum: linear shear has the kinetic stress of the kernel's variance") {
  for (const std::string kernel : {"gauss", "lucy", "box"}) {
    check_shear<2>(kernel);
    check_shear<3>(kernel);
  }
}

/// The field of the kernel "box" about the middle of a cube is what the measure `stress` says of the cube.
TEST_CASE("Continuum: the kernel \"box\" has the numbers of the measure \"stress\" to 1e-12") {
  const Comm comm(MPI_COMM_SELF);
  Simulation<3> simulation(comm, read_run_deck<3>(Deck::from_text(deck({.dimension = 3,
                                                                        .scheme = "nonsmooth",
                                                                        .lower = "[0, 0, -0.1]",
                                                                        .upper = "[0.5, 0.25, 0.7]",
                                                                        .step = 1e-3,
                                                                        .gravity = "[0, 0, -9.81]"},
                                                                       stirred_box),
                                                                  "stirred box")));
  for (int step = 0; step < 150; ++step) simulation.step(step == 149);
  const ContactGraph<3>& contacts = simulation.find_contacts(1e-3);
  const MeasuredRow measured = simulation.deck().measures[0].measure->record({simulation.state(), contacts});
  const ContinuumGrid<3> grid{
      .origin = {-0.325, -0.375, -0.425}, .cell = {1, 1, 1}, .n = {1, 1, 1}, .active = {true, true, true}};
  CellSums<3> sums;
  sums.resize(1);
  add_terms(simulation.state(), contacts, *kernel_of<3>("box", "width = 0.15"), grid, 1, sums);
  Sums cell = sums.at(0);
  std::vector<Real> all;
  for (const FixedPoint sum : cell)
    all.push_back(ReproducibleSum::sum(comm, std::vector<Real>{real_of(sum)}));
  Real error = 0, largest = 0;
  const auto compare_with = [&](Real value, Real expected) {
    largest = std::max(largest, std::abs(expected));
    error = std::max(error, std::abs(value - expected));
  };
  for (std::size_t k = 0; k < 9; ++k) compare_with(all[Places::contact + k], measured[k].value);
  std::size_t k = 0;
  for_each_symmetric<3>([&](int i, int j) {
    const Real v_v = all[Places::momentum + static_cast<std::size_t>(i)] *
                     all[Places::momentum + static_cast<std::size_t>(j)] / all[Places::mass];
    compare_with(all[Places::flux + k] - v_v, measured[9 + k].value);
    ++k;
  });
  REQUIRE(largest > 0);  // somebody is in the box
  check_error("all components", error / largest, 1e-12);
}
