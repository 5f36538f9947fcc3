#include <algorithm>
#include <numbers>

#include "verify/grain_impacts.hpp"

namespace scree {

namespace {

constexpr Real normal_bound = 0.01;    // of overlap, force and contact time
constexpr Real rebound_bound = 0.005;  // of e
constexpr Real oblique_bound = 0.02;   // of changes along the surfaces
constexpr int steps_per_contact = 200;

/// A material of Chung and Ooi's tests.
struct Solid {
  std::string name;
  Elasticity elasticity;
  Real density = 0;  ///< [kg/m3]
};
const Solid glass{"glass", {48e9, 0.20}, 2800}, limestone{"limestone", {20e9, 0.25}, 2500};
const Solid alloy{"Al alloy", {70e9, 0.30}, 2699}, magnesium{"Mg alloy", {40e9, 0.35}, 1800};
const Solid oxide{"Al oxide", {380e9, 0.23}, 4000}, iron{"cast iron", {100e9, 0.25}, 7000};
const Solid alloy_4{"Al alloy", {70e9, 0.33}, 2700}, copper{"copper", {120e9, 0.35}, 8900};
const Solid steel{"steel", {208e9, 0.30}, 7850}, polyethylene{"polyethylene", {1e9, 0.40}, 1400};
const Solid nylon{"nylon", {2.5e9, 0.40}, 1000};

/// Elastic impact of two spheres of one solid, or of one with a rigid plane: H. Hertz, J. reine angew. Math.
/// 92 (1881) 156. Overlap d = (15 m* v^2 / (16 E* sqrt(R*)))^(2/5), force 4/3 E* sqrt(R*) d^(3/2), contact
/// for 2.943275 d / v.
struct HertzImpact {
  Real overlap, force, duration;

  HertzImpact(const Impact& impact, const Elasticity& of) {
    const Real one_side = of.young_modulus / (1 - of.poisson_ratio * of.poisson_ratio);
    const Real modulus = impact.meets_floor() ? one_side : 0.5 * one_side;
    const Real radius = impact.meets_floor()
                            ? impact.a.radius
                            : impact.a.radius * impact.b.radius / (impact.a.radius + impact.b.radius);
    const Real v = impact.approach();
    const Real stiffness = modulus * std::sqrt(radius);
    overlap = std::pow(15 * v * v / (16 * impact.inverse_mass() * stiffness), 0.4);
    force = 4.0 / 3 * stiffness * std::pow(overlap, 1.5);
    duration = 2.943275 * overlap / v;
  }
};

/// What became of the impacts of a box.
struct Course {
  std::vector<Movement> a, b;                   ///< of each impact, afterwards
  Real overlap = 0, force = 0, n_touching = 0;  ///< largest of all, and steps in contact (if watched)
};

struct SoftBox {
  Real shortest = 0, longest = 0;  ///< time in contact, about [s]
  ImpactBox box;
  std::string law = "hertz";
  bool attraction = true;
};

Course run_soft(GrainTable& table, const std::string& name, const std::vector<Impact>& impacts,
                const SoftBox& soft, bool watch = false) {
  GrainDeck<3> deck = impact_deck(impacts, soft.box);
  deck.soft(fmt::format("law = '{}'\nattraction = {}\n", soft.law, soft.attraction));
  Simulation<3> simulation(table.comm(), deck.read());
  demand_split_pair(table, name, impacts, simulation);
  Course course;
  // Damped contacts last longer than elastic ones.
  const Real duration = last_arrival(impacts, soft.box.gap) + 2.5 * soft.longest;
  for (std::int64_t step = 0; step < std::llround(duration / soft.box.dt); ++step) {
    simulation.step();
    if (!watch) continue;
    course.overlap = std::max(course.overlap, simulation.certified("overlap"));
    course.n_touching += simulation.certified("contacts");
    const ContactGraph<3>& contacts = simulation.find_contacts(0);
    for (const Real f : contacts.force) course.force = std::max(course.force, f);
  }
  course.force = table.comm().max(course.force);
  table.demand(name, simulation.certified("contacts") == 0, "some have not parted at the end");
  const GrainStates<3> found = states_of(simulation);
  std::size_t id = 0;
  for (const Impact& impact : impacts) {
    course.a.push_back({found.velocity[id], found.spin[id]});
    id += 1;
    course.b.push_back(impact.meets_floor() ? Movement{} : Movement{found.velocity[id], found.spin[id]});
    if (!impact.meets_floor()) ++id;
  }
  return course;
}

SoftBox hertz_box(const std::vector<Impact>& impacts, const Solid& solid) {
  SoftBox soft;
  soft.shortest = HUGE_VAL;
  soft.box.elasticity = solid.elasticity;
  for (const Impact& impact : impacts) {
    const HertzImpact elastic(impact, solid.elasticity);
    soft.shortest = std::min(soft.shortest, elastic.duration);
    soft.longest = std::max(soft.longest, elastic.duration);
    soft.box.gap = std::max(soft.box.gap, 0.02 * elastic.overlap);
  }
  soft.box.dt = soft.shortest / steps_per_contact;
  return soft;
}

/// Speed of parting over that of approach.
GrainRow rebound(const Impact& impact, const Movement& a, const Movement& b) {
  const Real parting = -dot(a.velocity - b.velocity, impact.normal);
  return row("restitution [-]", impact.variant, impact.e, parting / impact.approach(), rebound_bound);
}

/// Tests 1 and 2: the impact itself.
void elastic(GrainTable& table, const std::string& test, const Solid& solid, Impact impact) {
  const std::string name = "Chung " + test + ", soft";
  impact.variant = solid.name;
  const std::vector<Impact> impacts{impact};
  const SoftBox soft = hertz_box(impacts, solid);
  const Course course = run_soft(table, name, impacts, soft, true);
  const HertzImpact expected(impact, solid.elasticity);
  const auto compare = [&](const std::string& quantity, Real value, Real found) {
    return row(quantity, impact.variant, value, found, normal_bound * value);
  };
  table.add(name, {compare("overlap [um]", 1e6 * expected.overlap, 1e6 * course.overlap),
                   compare("force [kN]", 1e-3 * expected.force, 1e-3 * course.force),
                   compare("contact [us]", 1e6 * expected.duration, 1e6 * course.n_touching * soft.box.dt),
                   rebound(impact, course.a[0], course.b[0])});
}

/// Share of the overlap by which the lever of friction is shorter than the radius, as a mean over an elastic
/// impact on a plane: B(7/5, 1/2)/2, weighted with the normal force.
constexpr Real mean_overlap_ratio = 0.8176;

/// Tests 3 to 8: rebound; where surfaces slip to the end, or not at all, the answers of impulses; else what
/// holds of any friction at one point.
void oblique_impacts(GrainTable& table, const std::string& test, const Solid& solid,
                     const std::vector<Impact>& impacts, bool attraction = true) {
  const std::string name = "Chung " + test + (attraction ? ", soft" : ", no pull");
  SoftBox soft = hertz_box(impacts, solid);
  soft.attraction = attraction;
  const Course course = run_soft(table, name, impacts, soft);
  std::vector<GrainRow> rows;
  Real most_reversed = -1;
  std::string where;
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    Impact impact = impacts[i];
    impact.variant = solid.name + ", " + impact.variant;
    const Movement& a = course.a[i];
    rows.push_back(rebound(impact, a, course.b[i]));
    if (impact.mu == 0) continue;
    const RigidImpact expected(impact);
    const Vec<3> across = cross(impact.normal, expected.tangent);
    const Real r = impact.a.radius;
    const Real shorter = mean_overlap_ratio * HertzImpact(impact, solid.elasticity).overlap / r;
    const Real lever = impact.meets_floor() ? 1 - shorter : 1 - 0.5 * shorter;  // over r
    const auto along = [](const Vec<3>& axis, const Vec<3>& before, const Vec<3>& after) {
      return dot(after - before, axis);
    };
    const auto compare = [&](const std::string& quantity, Real value, Real found, Real bound) {
      rows.push_back(row(quantity, impact.variant, value, found, bound));
    };
    const Vec<3> slip = impact.slip(impact.a.start, impact.b.start);
    const Real slip_speed = norm(slip);
    const Real v_t = along(expected.tangent, impact.a.start.velocity, a.velocity);
    const Real turn = along(across, impact.a.start.spin, a.spin);
    if (slip_speed < 1e-9 * impact.approach()) {
      compare("v_t, gears [m/s]", 0, v_t, 1e-10);
      compare("spin change, gears [rad/s]", 0, turn, 1e-10 / r);
      continue;
    }
    compare("r spin / velocity change [-]", 2.5 * lever, std::abs(r * turn / v_t),
            2.5 * (oblique_bound + shorter));
    if (expected.slips) {
      const Real change = along(expected.tangent, impact.a.start.velocity, expected.a.velocity);
      compare("v_t change, slips [m/s]", change, v_t, oblique_bound * std::abs(change));
      continue;
    }
    const Real reversed = -dot(impact.slip(a, course.b[i]), slip) / (slip_speed * slip_speed);
    if (reversed > most_reversed) where = impact.variant;
    most_reversed = std::max(most_reversed, reversed);
  }
  // Bodies recoil along their surfaces, as rigid ones do not: "of order 0.3" of the slip if they are elastic.
  if (!where.empty() && impacts.front().e > 0.9)
    rows.push_back(row("slip reversed, at most [-]", where, 0.3, most_reversed, 0.15));
  table.add(name, rows);
}

/// Linear law without sliding: two oscillators with the masses m* and 2/7 m*, J. Schaefer, S. Dippel and
/// D. E. Wolf, J. Phys. I France 6 (1996) 5. After half a period of the normal one, t = pi/w, the slip is
///     u = u_0 exp(-b t) (cos w_T t - b/w_T sin w_T t),  b = gamma_T/(2 m_T),  w_T^2 = k_T/m_T - b^2.
void linear_springs(GrainTable& table) {
  constexpr Real stiffness = 1e5, r = 0.01, slow = 0.02;
  const std::string name = "linear law, no sliding";
  std::vector<GrainRow> rows;
  for (const Real ratio : {2.0 / 7, 1.0 / 7})
    for (const Real e : {1.0, 0.5}) {
      const Impact impact{fmt::format("k_T/k = {:.4f}, e = {}", ratio, e),
                          oblique,
                          {r, 2500, {0.1 * oblique + slow * aside, {}}},
                          {r, 2500, {-0.1 * oblique, {}}},
                          1e3,
                          e};
      const Real mass = 1 / impact.inverse_mass();
      const Real log_e = std::log(e);
      const Real share = -log_e / std::hypot(log_e, std::numbers::pi);  // of critical damping
      const Real time = std::numbers::pi / std::sqrt(stiffness / mass * (1 - share * share));
      const Real mass_t = 2 * mass / 7;
      const Real b = share * std::sqrt(ratio * stiffness * mass) / mass_t;
      const Real w = std::sqrt(ratio * stiffness / mass_t - b * b);
      const Real left = std::exp(-b * time) * (std::cos(w * time) - b / w * std::sin(w * time));
      const std::string keys = fmt::format("stiffness = {}\ntangential_ratio = {}\n", stiffness, ratio);
      SoftBox soft;
      soft.longest = time;
      soft.box.gap = 1e-3 * time * impact.approach();
      soft.box.dt = time / 1000;
      soft.box.pair_keys = keys;
      soft.law = "linear";
      const Course course = run_soft(table, name, {impact}, soft, true);
      const Vec<3> slip = impact.slip(impact.a.start, impact.b.start);
      const Vec<3> after = impact.slip(course.a[0], course.b[0]);
      rows.push_back(rebound(impact, course.a[0], course.b[0]));
      rows.push_back(row("slip left [-]", impact.variant, left, dot(after, slip) / dot(slip, slip), 0.01));
      rows.push_back(
          row("contact [ms]", impact.variant, 1e3 * time, 1e3 * course.n_touching * soft.box.dt, 10 * time));
    }
  table.add(name, rows);
}

}  // namespace

void verify_soft_impacts(GrainTable& table) {
  for (const Solid& solid : {glass, limestone}) {
    const auto sphere = [&](Real v) { return Sphere{0.01, solid.density, {v * oblique, {}}}; };
    elastic(table, "1, head-on", solid, {"", oblique, sphere(10), sphere(-10), 0.35, 1});
  }
  for (const Solid& solid : {alloy, magnesium})
    elastic(table, "2, plane", solid, {"", down, {0.1, solid.density, {0.2 * down, {}}}, {}, 0, 1});
  for (const Solid& solid : {oxide, iron})
    for (const bool attraction : {true, false})
      oblique_impacts(table, "3, plane", solid, chung_3(solid.density), attraction);
  for (const Solid& solid : {oxide, alloy_4})
    oblique_impacts(table, "4, oblique", solid, chung_4(solid.density));
  for (const Solid& solid : {steel, polyethylene})
    oblique_impacts(table, "5, tangential", solid, chung_5(solid.density));
  // A normal force that pulls as bodies part has friction, too: where damping is strong, the impulse of
  // friction is mu times that of the normal force only if nothing pulls.
  for (const Solid& solid : {alloy_4, nylon})
    oblique_impacts(table, "6, spinning", solid, chung_6(solid.density), false);
  for (const Solid& solid : {alloy_4, copper})
    oblique_impacts(table, "7, gears", solid, chung_7(solid.density), false);
  for (const Solid& solid : {alloy_4, nylon})
    oblique_impacts(table, "8, two spheres", solid, chung_8(solid.density), false);
  linear_springs(table);
}

}  // namespace scree
