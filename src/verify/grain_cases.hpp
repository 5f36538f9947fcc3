#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "run/simulation.hpp"
#include "verify/checks.hpp"

namespace scree {

/// A number that a case is held against.
struct GrainRow {
  std::string quantity;  ///< with its unit
  std::string variant;   ///< of the case
  Real expected = 0;
  Real found = 0;
  Real error = 0;  ///< in the unit of the quantity
  Real bound = 0;  ///< of the error
};

/// The rows of all cases: shows the worst of each quantity of a case, keeps all as CSV.
class GrainTable : public Checks {
 public:
  /// `what`: the first words of the report.
  GrainTable(const Comm& comm, const Show& show_line,
             const std::string& what = "Grains against closed forms");
  /// All rows of a case at once.
  void add(const std::string& name, const std::vector<GrainRow>& rows);
  /// A fact about the case that makes it the test it is meant to be.
  void demand(const std::string& name, bool holds, const std::string& failure) {
    count(holds, name + ": " + failure);
  }
};

/// A row whose error is |found - expected|.
inline GrainRow row(std::string quantity, std::string variant, Real expected, Real found, Real bound) {
  return {std::move(quantity), std::move(variant), expected, found, std::abs(found - expected), bound};
}

template <int D>
std::string text_of(const Vec<D>& v) {
  return fmt::format("[{}]", fmt::join(v.component, ", "));
}

/// One body of a case.
template <int D>
struct Grain {
  std::string material;
  Vec<D> position;  ///< [m]
  Real radius = 0;  ///< [m]
  Vec<D> velocity{};
  Spin<D> spin{};
  std::string more;  ///< further keys of its [particles.NAME]
};

/// Of a material of soft bodies. An infinite modulus is written as "rigid".
struct Elasticity {
  Real young_modulus = 0;  ///< [Pa]
  Real poisson_ratio = 0;
};

/// Writes the deck of a case: rigid grains with the solver "nsgs" unless soft() is called. Contacts of pairs
/// that are not given have neither friction nor restitution.
template <int D>
class GrainDeck {
 public:
  GrainDeck(const Vec<D>& lower, const Vec<D>& upper, Real dt) : lower_(lower), upper_(upper), dt_(dt) {}
  Real dt() const { return dt_; }

  void gravity(const Vec<D>& g) { more_ += "[physics]\ngravity = " + text_of<D>(g) + "\n"; }
  void skin(Real length) { skin_ = length; }
  void tolerance(Real t) { tolerance_ = t; }
  void solver(const std::string& name) { solver_ = name; }
  /// Bodies may be anywhere at the start: the case moves them before the first step.
  void allow_overlap() { allows_overlap_ = true; }
  void nonsmooth(const std::string& keys) { more_ += "[nonsmooth]\n" + keys; }
  /// The scheme "dem".
  void soft(const std::string& keys) {
    scheme_ = "dem";
    more_ += "[dem]\n" + keys;
  }
  void material(const std::string& name, Real density, const std::optional<Elasticity>& elasticity = {}) {
    materials_.push_back(name);
    more_ += fmt::format("[materials.{}]\ndensity = {}\n", name, density);
    if (!elasticity) return;
    more_ += std::isinf(elasticity->young_modulus)
                 ? "young_modulus = 'rigid'\n"
                 : fmt::format("young_modulus = {}\npoisson_ratio = {}\n", elasticity->young_modulus,
                               elasticity->poisson_ratio);
  }
  /// Asks for the energy balance.
  void energy_balance() { more_ += "[measures.energy]\ntype = 'energy'\nbalance = true\n"; }
  /// Further keys of all pairs.
  void pair_keys(const std::string& keys) { pair_keys_ = keys; }
  void pair(const std::string& a, const std::string& b, Real mu, Real e, Real rolling = 0) {
    given_.push_back(a + "-" + b);
    given_.push_back(b + "-" + a);
    more_ += fmt::format("[pairs.\"{}-{}\"]\nfriction = {}\nrestitution = {}\nrolling_friction = {}\n{}", a,
                         b, mu, e, rolling, pair_keys_);
  }
  /// Bodies get the ids 0, 1, ... in the order of these calls.
  void add(const Grain<D>& grain) {
    const Vec<D> half = filled<D>(grain.radius);
    group(grain.material, grain.radius,
          fmt::format("type = 'lattice', spacing = {}, region = {{ lower = {}, upper = {} }}",
                      2 * grain.radius, text_of<D>(grain.position - half), text_of<D>(grain.position + half)),
          fmt::format("velocity = {}\nangular_velocity = {}\n{}", text_of<D>(grain.velocity),
                      text_of<n_spins<D>>(grain.spin), grain.more));
  }
  void group(const std::string& material, Real radius, const std::string& source, const std::string& keys) {
    more_ += fmt::format(
        "[particles.g{}]\nmaterial = '{}'\nradius = {{ distribution = 'constant', value = {} }}\n"
        "source = {{ {} }}\n{}\n",
        n_groups_++, material, radius, source, keys);
  }
  /// Further tables.
  void tables(const std::string& text) { more_ += text; }
  void obstacle(const std::string& name, const std::string& material, const std::string& keys) {
    more_ += fmt::format("[obstacles.{}]\nmaterial = '{}'\n{}\n", name, material, keys);
  }
  /// A plane through the origin, along the last axis.
  void floor(const std::string& material) {
    obstacle("floor", material,
             fmt::format("type = 'plane'\npoint = {}\nnormal = {}", text_of<D>({}),
                         text_of<D>(unit_vector<D>(D - 1))));
  }

  RunDeck<D> read() const {
    std::string text = fmt::format(
        "[simulation]\ndimension = {}\nscheme = '{}'\nend_time = 1e6\nallow_overlap = {}\n"
        "[domain]\nlower = {}\nupper = {}\noutside = 'keep'\n[time]\nstep = {}\n"
        "[decomposition]\nblock_cells = 1\n",
        D, scheme_, allows_overlap_, text_of<D>(lower_), text_of<D>(upper_), dt_);
    if (scheme_ == "nonsmooth")
      text += fmt::format("[solver]\ntype = '{}'\ntolerance = {}\n", solver_, tolerance_);
    if (skin_ > 0) text += fmt::format("[neighbors]\nskin = {}\n", skin_);
    text += more_;
    for (std::size_t a = 0; a < materials_.size(); ++a)
      for (std::size_t b = a; b < materials_.size(); ++b) {
        const std::string name = materials_[a] + "-" + materials_[b];
        if (std::ranges::find(given_, name) == given_.end())
          text += fmt::format("[pairs.\"{}\"]\nfriction = 0\nrestitution = 0\n{}", name, pair_keys_);
      }
    return read_run_deck<D>(Deck::from_text(text, "grains"));
  }

 private:
  Vec<D> lower_, upper_;
  Real dt_;
  Real skin_ = 0;
  Real tolerance_ = 1e-12;
  std::string scheme_ = "nonsmooth";
  std::string solver_ = "nsgs";
  std::string more_, pair_keys_;
  bool allows_overlap_ = false;
  std::vector<std::string> materials_, given_;
  int n_groups_ = 0;
};

/// The bodies of a run in the order of their ids, on every rank.
template <int D>
struct GrainStates {
  std::vector<Vec<D>> position, velocity;
  std::vector<Spin<D>> spin;
  std::vector<Real> mass;
  std::vector<int> rank;
};

/// For a few bodies. Collective.
template <int D>
GrainStates<D> states_of(const Simulation<D>& simulation) {
  const State<D>& state = simulation.state();
  const BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(simulation.n_bodies());
  constexpr std::size_t width = 2 * D + n_spins<D> + 2;
  std::vector<Real> numbers(n * width, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    Real* to = &numbers[static_cast<std::size_t>(bodies.id()[i]) * width];
    to = std::ranges::copy(bodies.position()[i].component, to).out;
    to = std::ranges::copy(bodies.velocity()[i].component, to).out;
    to = std::ranges::copy(bodies.angular_velocity()[i].component, to).out;
    to[0] = bodies.mass()[i];
    to[1] = state.comm.rank();
  }
  state.comm.max(numbers);
  GrainStates<D> all;
  for (std::size_t i = 0; i < n; ++i) {
    const Real* from = &numbers[i * width];
    const auto take = [&](auto& list) {
      auto& v = list.emplace_back();
      std::copy_n(from, v.component.size(), v.component.begin());
      from += v.component.size();
    };
    take(all.position);
    take(all.velocity);
    take(all.spin);
    all.mass.push_back(from[0]);
    all.rank.push_back(static_cast<int>(from[1]));
  }
  return all;
}

}  // namespace scree
