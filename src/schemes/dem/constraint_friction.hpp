#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "neighbors/neighborhood.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/dem/dem_motion.hpp"
#include "schemes/dem/integrator.hpp"
#include "schemes/dem/sticking_contacts.hpp"

namespace scree {

/// Soft contact with static friction as a constraint on velocities (docs/method.md, "Friction as a
/// constraint", eq. K.5-K.7): a contact sticks, t . u = 0 for its slip velocity u and all tangents t, or it
/// slips with mu N against its direction. Sticking contacts share one system of multipliers,
///     (G M^-1 G^T) lambda = G b + (dG/dt) v,  M x'' = M b - G^T lambda,
/// in the sense of least norm; b are the accelerations by all other forces. A contact that would need more
/// than mu N lets go. After each step a contact that slips the other way sticks, and velocities are projected
/// to G v = 0.
///
/// Normal forces are those of the laws of soft contact without attraction: N >= 0. Modes are kept by pair.
/// Ranks: decisions come from values of the rank that owns a contact; dot products of the solver depend on
/// the number of ranks, so results agree to its tolerance and not bit by bit. Cost of an evaluation: finding
/// contacts, one or more solves.
template <int D>
class ConstraintFriction final : public DemMotion<D>, private MotionSystem {
 public:
  struct Settings {
    NormalLaw law = NormalLaw::linear;
    std::string integrator = "gear";
    bool projection = true;  ///< false: velocities drift from G v = 0
    Real overlap_limit = 0;  ///< as a share of the smaller radius of a contact
  };
  /// Both must outlive this. Throws InputError naming the pair for a law that the deck does not determine.
  ConstraintFriction(State<D>& state, Neighborhood<D>& neighborhood, const Settings& settings);

  /// How much bodies carry for this integrator.
  static FieldSet field_set(const std::string& integrator);
  const SoftLaws<D>& laws() const override { return laws_; }

  /// Before the first step of a run or a restart, after prepare(): histories of the integrator for steps of
  /// `dt`. Velocities that sticking contacts do not allow are projected, with a warning. Collective.
  void start(Real dt) override;
  /// After a list build: fits all arrays and restores modes from state.memory. Local.
  void prepare() override;
  /// From here on bodies move freely, as those made after the last step: they have a history too. Local.
  void set_free(std::size_t body) override;
  /// Modes as memory of the owned bodies. Collective.
  ContactMemory remember() override;
  Real farthest_after(Real dt) const override { return find_farthest(state_, dt); }

  /// Bodies from state.clock.time to dt later, obstacles with them. Collective.
  void step(Real dt) override;

  const PassedThrough& passed_through() const override { return passed_; }
  std::vector<CertificateEntry> certificate() const override;

  /// Writes the forces of `contacts` (found by Neighborhood::detect) by the present velocities; friction of
  /// sticking contacts is that of the last evaluation. Collective.
  void export_forces(ContactGraph<D>& contacts) override;

 private:
  using Touch = FrictionContact<D>;
  static constexpr std::size_t q = D + n_spins<D>;

  /// What result() does not say.
  struct Report {
    std::int64_t n_sticking = 0;
    std::int64_t n_released = 0;  ///< contacts that stuck until the limit of friction was passed
    std::int64_t n_rounds = 0;    ///< solves that decide on modes, in the first evaluation
    Real residual = 0;            ///< of the last of these solves, over the right side
    Real slip = 0;                ///< largest |t . u| of a sticking contact at the end [m/s]
  };

  std::size_t size() const override { return static_cast<std::size_t>(state_.bodies.n_owned()) * q; }
  std::size_t width() const override { return q; }
  void accelerate(Real time, int stage, std::span<const Real> x, std::span<const Real> v,
                  std::span<Real> a) override;

  MotionArrays arrays();
  void take_velocities();
  void put_velocities();
  void look(Real time);
  Touch touch_of(const ContactGraph<D>& contacts, std::size_t c, Real time);

  Vec<D> linear(Index body) const;
  Spin<D> spin(Index body) const;
  Vec<D> slip_velocity(const Touch& touch) const;
  Vec<D> drift(const Touch& touch, Real time) const;
  void find_normal_force(Touch& touch, Index wall) const;

  void begin_modes();
  void adopt(const Touch& touch);
  void balance();
  void add_force(const Touch& touch, const Vec<D>& on_b);
  ConstraintReport solve(Real time);
  void decide(Real time);
  std::int64_t release(bool all);
  std::array<Real, 3> rank_of(const Touch& touch, Real excess) const;
  void find_worst();
  bool is_worst(const Touch& touch, Real excess) const;
  void turn_back();
  void share_result();
  void settle();

  PassedThrough passed_;
  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  BodyHalo& halo_;
  Settings settings_;
  std::unique_ptr<Integrator<D>> integrator_;
  SoftLaws<D> laws_;
  const LawKernels& kernels_;
  StickingContacts<D> sticking_;
  ContactGraph<D> graph_;
  std::vector<Touch> contacts_;
  ContactField<ContactMode> modes_;
  std::vector<ContactMode*> closed_;  // those not open at the last evaluation of a step's start
  std::vector<Real> moved_, moving_;  // n_owned * q, of the integrator: displacement, velocity
  std::vector<Real> v_, a_, force_;   // n_local * q
  std::vector<Vec<D>> field_force_;   // n_owned
  std::vector<Real> excess_;          // of those that stick, over the limit; 0: none
  std::vector<Real> worst_;           // n_local * 3: largest excess at a body, and whose
  Real step_ = 0;                     // length of the present step [s]
  Real history_dt_ = 0;               // steps that histories are made for [s]
  Report report_;
};

}  // namespace scree
