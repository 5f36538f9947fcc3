#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/timing.hpp"
#include "schemes/nonsmooth/contact_laws.hpp"
#include "schemes/nonsmooth/contact_solve.hpp"
#include "schemes/nonsmooth/contact_work.hpp"
#include "schemes/nonsmooth/free_motion.hpp"

namespace scree {

/// A deforming domain with rigid contacts (docs/method.md, "Deforming domains"): chooses its flow for a
/// step, so that the stress of the same step answers it by (H.22). Without [domain.deformation] all calls do
/// nothing but solve. The arguments of the constructor must outlive it.
template <int D>
class DomainMotion {
 public:
  DomainMotion(State<D>& state, FrictionAssembler<D>& assembler, const ContactLaws<D>& laws,
               ContactSolve<D>& solve)
      : state_(state), assembler_(assembler), laws_(laws), solve_(solve) {}

  /// At the start of a run bodies go with the flow. Local.
  void start() {
    BodyStore<D>& bodies = state_.bodies;
    state_.deformation.begin_step(state_.box, 0, [&](const auto& kick_at) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
        bodies.velocity()[i] += kick_at(bodies.position()[i]);
    });
  }
  /// The flow that velocities go with from step to step; where a step is refused, or taken again with another
  /// length, it is that again. Local.
  void begin_step() { before_ = state_.deformation.motion(); }
  void restore() { state_.deformation.set_motion(before_); }
  /// The flow of the step of `free`, to be solved for if a stress is asked for. Collective.
  void choose(const FreeMotion<D>& free) {
    residual_ = 0;
    if (!state_.deformation.is_given()) return;
    state_.deformation.choose_motion(state_.box, free.dt());
    if (state_.deformation.is_stress_driven()) find_kinetic(free);
  }
  /// Solves the problem of the assembler from the present impulses; where a stress is asked for, together
  /// with the flow that answers it. `keeps_guess`: see ContactSolve. Collective.
  void solve(Real dt, bool keeps_guess) {
    FrictionProblem<D>& problem = assembler_.problem();
    if (!state_.deformation.is_stress_driven()) return solve_.run(problem, keeps_guess);
    Scope timer("stress of the domain");
    const Real inertia = find_inertia(), answer = 2 * static_cast<Real>(sweeps_of_try) * inertia / dt;
    // What rests is not solved relative to its own errors.
    if (inertia > 0)
      problem.velocity_floor =
          std::max(problem.velocity_floor, negligible * dt * state_.deformation.largest_target() *
                                               state_.lattice.largest_radius / inertia);
    solve_.run(problem, keeps_guess, sweeps_of_try);
    for (int n = 1;; ++n) {
      state_.deformation.set_response(response(dt, modulus_of(inertia, dt)));
      const typename DomainDeformation<D>::Motion solved_for = state_.deformation.motion();
      residual_ = state_.deformation.choose_motion(state_.box, dt, answer);
      if ((solve_.report().converged && residual_ <= tolerance) || n == max_tries)
        return state_.deformation.set_motion(solved_for);
      assembler_.change_flow();
      solve_.run_on(problem, sweeps_of_try);
    }
  }
  /// The same after contacts have changed, see ContactSolve::run_again().
  bool solve_again(Real dt, bool keeps_guess) {
    if (!state_.deformation.is_stress_driven()) return solve_.run_again(assembler_.problem(), keeps_guess);
    solve(dt, keeps_guess);
    return true;
  }
  /// Whether a stress may be asked for in this run, and by how much the flow of the last step misses (H.22),
  /// as a share of the stress asked for.
  bool is_loaded() const { return state_.deformation.may_follow_stress(); }
  Real stress_residual() const { return residual_; }

 private:
  // Each sweep of a try answers a strain by the inertia of the bodies, twice in a chain, where it passes on
  // what it finds. After the fourth sweeps have momentum.
  static constexpr std::int64_t sweeps_of_try = 4;
  static constexpr Real negligible = 1e-3;  // of the speed that the stress gives to a body in a step
  static constexpr int max_tries = 200;
  static constexpr Real tolerance = 1e-3;

  /// sum of m c' c' over the volume at the start of the step, along each axis, and of m c'_flow c'_gradient
  /// [Pa], with c' = c - sum of m c over the mass.
  void find_kinetic(const FreeMotion<D>& free) {
    constexpr std::size_t q = n_velocities<D>;
    const BodyStore<D>& bodies = state_.bodies;
    std::array<Real, 2 * D + 2> sums{};  // m c c, m c_flow c_gradient, m c, m
    ReproducibleSum::sum(state_.comm, static_cast<std::size_t>(bodies.n_owned()), sums,
                         [&](std::size_t i, std::span<Real> terms) {
                           const auto c = free.start_velocity().subspan(i * q, D);
                           const Real mass = bodies.mass()[i];
                           for (std::size_t k = 0; k < D; ++k) {
                             terms[k] = mass * c[k] * c[k];
                             terms[D + 1 + k] = mass * c[k];
                           }
                           terms[D] = mass * c[flow()] * c[gradient()];
                           terms[2 * D + 1] = mass;
                         });
    const std::span<const Real> momentum(&sums[D + 1], D);
    const Real mass = sums[2 * D + 1];
    const auto about_mean = [&](Real sum, std::size_t i, std::size_t j) {
      return mass > 0 ? (sum - momentum[i] * momentum[j] / mass) / state_.box.volume() : 0;
    };
    for (std::size_t k = 0; k < D; ++k) kinetic_[k] = about_mean(sums[k], k, k);
    kinetic_[D] = about_mean(sums[D], flow(), gradient());
  }
  /// Stresses of all impulses of contacts, with those of motion [Pa]: sum of r_k l_k over dt and the volume,
  /// for shear the negative sum of r_flow l_gradient.
  typename DomainDeformation<D>::Response response(Real dt, Real modulus) const {
    const ContactGraph<D>& contacts = assembler_.contacts();
    const FrictionProblem<D>& problem = assembler_.problem();
    std::array<Real, D + 1> sums{};
    ReproducibleSum::sum(state_.comm, contacts.size(), sums, [&](std::size_t c, std::span<Real> terms) {
      Vec<D> r;
      const std::array<Real, D> beside = laws_.impulse_beside(c);
      for (std::size_t i = 0; i < D; ++i)
        r += (solve_.impulse()[c * D + i] + beside[i]) * problem.frame[c][i];
      for (std::size_t k = 0; k < D; ++k)
        terms[k] = r[static_cast<int>(k)] * contacts.branch[c][static_cast<int>(k)];
      terms[D] = r[static_cast<int>(flow())] * contacts.branch[c][static_cast<int>(gradient())];
    });
    for (std::size_t k = 0; k <= D; ++k) sums[k] = kinetic_[k] + sums[k] / (dt * state_.box.volume());
    typename DomainDeformation<D>::Response response{.shear_stress = -sums[D], .modulus = modulus};
    std::copy_n(sums.begin(), D, response.stress.component.begin());
    return response;
  }
  /// Axes of shear, or the first one.
  std::size_t flow() const { return static_cast<std::size_t>(std::max(state_.box.flow, 0)); }
  std::size_t gradient() const { return static_cast<std::size_t>(std::max(state_.box.gradient, 0)); }
  /// The largest of sum m_ab l_k^2 over the volume along the axes [Pa s2]. Collective.
  Real find_inertia() const {
    const ContactGraph<D>& contacts = assembler_.contacts();
    const BodyStore<D>& bodies = state_.bodies;
    std::array<Real, D> sums{};
    ReproducibleSum::sum(state_.comm, contacts.size(), sums, [&](std::size_t c, std::span<Real> terms) {
      const auto a = static_cast<std::size_t>(contacts.a[c]), b = static_cast<std::size_t>(contacts.b[c]);
      const Real mass = bodies.mass()[a] * bodies.mass()[b] / (bodies.mass()[a] + bodies.mass()[b]);
      for (std::size_t k = 0; k < D; ++k) {
        const Real along = contacts.branch[c][static_cast<int>(k)];
        terms[k] = mass * along * along;
      }
    });
    return *std::ranges::max_element(sums) / state_.box.volume();
  }
  /// M of (H.24): by which free bodies answer a strain of the domain in the step [Pa].
  Real modulus_of(Real inertia, Real dt) const {
    return inertia /
           (dt * std::min(state_.deformation.response_time(dt), state_.deformation.usual_steps * dt));
  }

  State<D>& state_;
  FrictionAssembler<D>& assembler_;
  const ContactLaws<D>& laws_;
  ContactSolve<D>& solve_;
  typename DomainDeformation<D>::Motion before_;
  std::array<Real, D + 1> kinetic_{};
  Real residual_ = 0;
};

}  // namespace scree
