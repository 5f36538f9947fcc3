#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <vector>

#include "neighbors/neighborhood.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/common/side_keeper.hpp"
#include "schemes/dem/block_turns.hpp"
#include "schemes/dem/contact_energy.hpp"
#include "schemes/dem/force_kernels.hpp"
#include "schemes/dem/force_sums.hpp"
#include "schemes/dem/soft_laws.hpp"
#include "schemes/dem/wall_watch.hpp"
#include "state/state.hpp"

namespace scree {

/// A vector of the plane or of space in space, and back.
template <int N>
Vec<3> in_space(const Vec<N>& v) {
  Vec<3> w;
  for (int k = 0; k < N; ++k) w[k] = v[k];
  return w;
}
template <int D>
Vec<D> in_dimension(const Vec<3>& v) {
  Vec<D> w;
  for (int k = 0; k < D; ++k) w[k] = v[k];
  return w;
}

/// What the deck says of contacts with springs.
struct SpringSettings {
  NormalLaw law = NormalLaw::hertz;
  TangentialLaw tangential = TangentialLaw::whole;
  bool attraction = true;  ///< damping may pull
  bool friction = true;
  Real overlap_limit = 0;  ///< as a share of the smaller radius of a contact
  bool rolling_springs = true;
  Real rolling_damping = 0.3;
};

/// What a step does to the owned bodies [first, last).
using BodyPass = std::function<void(std::size_t first, std::size_t last)>;

/// Contact forces on all bodies, with the histories of the contacts. The contacts of a block add up in the
/// order of a sweep (docs/method.md, "Sweeps"), and the sums of the blocks that touch a body in the order of
/// their colours: the same bits on any number of ranks, and ranks need not wait for each other's colours.
template <int D>
class ForceSweeper {
 public:
  /// Throws InputError naming the pair for a law that the deck does not determine.
  ForceSweeper(const State<D>& state, Neighborhood<D>& neighborhood, const SpringSettings& settings)
      : neighborhood_(neighborhood),
        settings_(settings),
        laws_(laws_of(state, settings)),
        rolls_(
            std::ranges::any_of(laws_.laws(), [](const SoftLaw& law) { return law.rolling_stiffness > 0; })),
        feels_spin_(
            std::ranges::any_of(laws_.laws(), [](const SoftLaw& law) { return law.rolling_friction > 0; })),
        kernels_(force_kernels().of(settings.law, settings.tangential, laws_.pulls())) {}

  const SoftLaws<D>& laws() const { return laws_; }
  /// The widest gap of a contact that has begun, of the bodies of the last prepare() [m].
  Real reach() const { return reach_; }

  /// After a list build: fits all arrays and recalls histories from state.memory. Local.
  void prepare(const State<D>& state);
  /// Histories as memory of the owned bodies. Collective.
  ContactMemory remember(const State<D>& state);

  /// Forces and torques of the contacts at the present positions with these velocities (n_owned), by
  /// records(), while histories advance by dt. Obstacles are where they were placed and move as at `time`.
  /// Every owned body is in one call of `move`, which brings its records up to date, without forces, and in
  /// one of `finish`, when its forces are complete: a chunk of BlockTurns at a time.
  /// Collective, two messages per pair of neighbouring ranks and direction: motion of the bodies that others
  /// hold, and sums of the forces on them. Interior blocks run meanwhile.
  void evaluate(const State<D>& state, Real time, Real dt, const BodyPass& move, const BodyPass& finish);
  /// Of the held bodies; forces of the owned ones are complete after evaluate().
  struct Records {
    SweepRecord* places;
    MotionRecord* motions;
    ForceRecord* forces;
  };
  Records records() { return {places_.data(), motions_.data(), forces_.data()}; }
  /// Records of owned bodies as in `state`, with no forces.
  void load(const State<D>& state, std::size_t first, std::size_t last);
  /// Of the last evaluate(), on this rank.
  const ForceCounts& counts() const { return counts_; }
  const PassedThrough& passed_through() const { return passed_; }

  /// Which candidates find_contacts() takes: those that touch, and those within `tolerance`. Good until the
  /// next step.
  ContactRules<D> contact_rules(Real tolerance);
  /// Reactions of driven walls to the forces of the last evaluate(), with their slopes, into
  /// state.obstacles.driven(): exact sums. Collective.
  void tell_reactions(State<D>& state);

  /// The normal stress [Pa] along each axis of a deforming cell that follows one, of contacts by the forces
  /// of the last evaluate(), sum of f_k l_k over the volume with f the force on b and l the branch from a to
  /// b, and of the motion about the flow; compression positive. Exact sums. Collective.
  Vec<D> normal_stress(const State<D>& state);
  /// About how much it grows with a strain of the cell [Pa], at a mean of `pressure` [Pa]. Numbers over all
  /// ranks. Local.
  Real modulus(const State<D>& state, Real pressure, std::int64_t n_touching, std::int64_t n_bodies) const;

  /// Writes the forces of `contacts` (found by Neighborhood::detect), by the present velocities of `state`;
  /// no history advances. Collective.
  void tell_forces(const State<D>& state, Real time, ContactGraph<D>& contacts);

  /// Makes each evaluate() to come keep what find_energies() needs.
  void keep_histories() { keeps_histories_ = true; }
  /// Of the forces of the last evaluate(), which had the same `time` and `dt`, with the present velocities.
  /// Changes what bodies do here only. Collective, the same bits on any number of ranks.
  ContactEnergy find_energies(const State<D>& state, Real time, Real dt);
  /// Of the contacts that there are, as at the end of a step; nothing was done in it. After prepare().
  /// Collective.
  ContactEnergy find_energies_anew(const State<D>& state);

  std::size_t bytes() const;

 private:
  /// How the bodies of a contact move.
  struct Ends {
    const MotionRecord& a;
    const MotionRecord& b;
    bool is_wall;      // b
    Vec<3> of_flow{};  // how much faster the flow of a deforming cell is at b than at a
  };
  static SoftLaws<D> laws_of(const State<D>& state, const SpringSettings& settings) {
    SoftLaws<D> laws;
    laws.prepare(state, {.law = settings.law,
                         .friction = settings.friction,
                         .exact_without_attraction = !settings.attraction,
                         .rolling_springs = settings.rolling_springs,
                         .rolling_damping = settings.rolling_damping});
    return laws;
  }
  bool reaches_wall(const State<D>& state, Index constraint, std::size_t body, Real distance) const;
  void forget_left_overs();
  void note_histories();
  void find_touching();
  void find_pair_energies(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                          const ForceBatches& batches);
  void find_wall_energies(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                          const ForceBatches& batches);
  void add_energy(const ForceBatches& batches, const SoftContact& contact, const Ends& of_force,
                  const Ends& now, const ContactHistory& before, RollingHistory rolling);
  void load(const State<D>& state) { load(state, 0, static_cast<std::size_t>(state.bodies.n_owned())); }
  void run_pass(std::span<const Index> chunks, const BodyPass& pass) const;
  void finish_chunks(std::span<const Index> chunks, const BodyPass& finish);
  void note_coming(const State<D>& state, std::size_t turn);
  void send_motions();
  void receive_motions();
  ForceBatches operands(Real dt) const;
  void run_block(const State<D>& state, const typename SweepSchedule<D>::Block& block, ForceBatches& batches);
  void run_walls(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                 const ForceBatches& batches);
  void see_wall(const State<D>& state, Index constraint, std::span<const Index> due, std::size_t begin);
  void add_wall_force(const State<D>& state, Index constraint, std::size_t place, std::size_t k,
                      const ForceBatches& batches);
  void take_history(std::size_t place, Index from);
  /// Whether an obstacle acts on a body: on one that is held only if a load may
  /// move it.
  bool feels(const State<D>& state, Index constraint, std::size_t body) const {
    return motions_[body].inverse_mass != 0 || state.obstacles.driven_of(constraint) >= 0;
  }
  Index passed_from(std::size_t place) const;
  void hold_on(const State<D>& state, Index constraint, std::size_t place, Real distance);
  void note_reaction(const State<D>& state, Index constraint, const Vec<D>& point, const SoftContact& contact,
                     const MotionRecord& body, const MotionRecord& wall, const SoftForce& force);
  static SoftContact contact_with_wall(const SurfacePoint<D>& at, Real radius);
  MotionRecord motion_of_wall(const State<D>& state, Index constraint, const Vec<D>& point,
                              const Vec<D>& normal) const;

  Neighborhood<D>& neighborhood_;
  SpringSettings settings_;
  SoftLaws<D> laws_;
  bool rolls_;       // resistance to rolling has springs, with rolling_
  bool feels_spin_;  // spins of walls matter
  const LawKernels& kernels_;
  Real reach_ = 0;  // the widest gap of a contact
  Real time_ = 0;
  std::vector<SweepRecord> places_;    // held bodies, then two dummies
  std::vector<MotionRecord> motions_;  // held bodies
  std::vector<ForceRecord> forces_;    // held bodies

  BlockTurns<D> turns_;
  ForceSums<D> sums_;
  ComingLines coming_;
  /// Bits of wall_touching_. Another part or obstacle stands for one that `is_replaced`.
  static constexpr std::uint8_t touches = 1, touched_before = 2, is_replaced = 4;
  std::vector<std::uint8_t> touching_, wall_touching_;
  ContactField<ContactHistory> history_;
  ContactField<RollingHistory> rolling_;
  /// What is saved of both.
  struct Memory {
    ContactHistory history;
    RollingHistory rolling;
  };
  std::vector<Index> list_;
  std::vector<Vec<D>> at_, from_;  // of the obstacles of a block
  std::vector<Real> wall_reach_;   // how near a wall must be to act on a body
  std::vector<Real> clearance_;
  WallWatch<D> watch_;
  std::vector<SurfacePoint<D>> surface_;
  // For find_energies(); empty if nobody asks.
  bool keeps_histories_ = false;
  struct Histories {
    std::vector<ContactHistory> pairs, walls;
    std::vector<RollingHistory> rolling_pairs, rolling_walls;
  };
  Histories before_;                         // of the last evaluate(): 0 where nothing touched
  std::vector<MotionRecord> force_motions_;  // held bodies: by which its forces were made
  std::vector<ContactEnergy> energies_;      // of each block
  // Of the contacts with driven walls, by the last evaluate().
  struct Reaction {
    int wall;                        // number in driven()
    std::array<Real, 4> of_contact;  // reaction, stiffness, damping, drift
  };
  std::vector<Reaction> reactions_;
  std::vector<Real> reaction_sums_;
  std::array<std::vector<Real>, D> stress_terms_;
  std::vector<Vec<3>> face_virials_;  // of each block with pairs through faces, by the last evaluate()
  PassedThrough passed_;
  ForceCounts counts_;
};

}  // namespace scree
