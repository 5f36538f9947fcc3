#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "contact/contact_graph.hpp"
#include "friction/friction_problem.hpp"
#include "neighbors/neighborhood.hpp"
#include "state/state.hpp"

namespace scree {

/// What makes a step a friction problem, beyond where the bodies are.
template <int D>
struct FrictionStep {
  Real dt = 0;              ///< [s]
  Real velocity_floor = 0;  ///< [m/s], see FrictionProblem
  /// Of each group of bodies [kg/m3], disks count as 1 m thick; not used if bodies have a mass of their own.
  std::span<const Real> density = {};
  /// n_owned * n_velocities<D>: velocities at the end of the step without contacts [m/s, rad/s].
  std::span<const Real> free_velocity;
  /// n_owned * n_velocities<D>: velocities at the start of the step; none: not needed by laws or solver. (An
  /// empty span is that of a rank without bodies, which may have ghosts.)
  std::optional<std::span<const Real>> start_velocity;
  /// Writes mu and the compliances along N and T (zero on entry) of the contacts found, and adds the normal
  /// bias of the contact law to the bias, which is the velocity of obstacles on entry. Local.
  std::function<void(const ContactGraph<D>&, FrictionProblem<D>&)> laws;
};

/// Turns bodies and walls into a FrictionProblem (docs/method.md, eq. B.1-B.2): the only place that knows
/// both.
///
/// Bodies   solid spheres, m = 4/3 pi R^3 rho, I = 2/5 m R^2; disks, m = pi R^2 rho, I = 1/2 m R^2.
/// Contacts what the caller found, in the order of a sweep. The contact point lies on the surface of each
///          body along the normal: levers R_a n and -R_b n. The frame is a function of the normal.
/// Shapes   where some body is no sphere, all blocks of M are R I R^T, made again in each step, and all
/// contacts
///          have a jacobian with levers to the middle of the gap.
/// Bias     at an obstacle its velocity in the middle of the step, all components; the contact law adds its
///          normal bias (normal_bias). In a deforming domain velocities are those about its flow, and the
///          bias of a pair has L l, with l the branch from a to b: the flow between their centres.
/// Held     bodies of mobility 0 do not move: they are static ends of contacts.
/// Ranks    each contact is on one rank, with both of its bodies; all numbers of a contact and their order
///          within colours do not depend on the number of ranks.
/// Cost     O(contacts + bodies); memory is reused from step to step.
template <int D>
class FrictionAssembler {
 public:
  /// Both must outlive this. The candidates of `neighborhood` must be current and contacts found when
  /// assemble() is called.
  FrictionAssembler(State<D>& state, Neighborhood<D>& neighborhood)
      : state_(state), neighborhood_(neighborhood), halo_(neighborhood.ghosts()) {
    problem_.halo = &halo_;
  }
  FrictionAssembler(const FrictionAssembler&) = delete;
  FrictionAssembler& operator=(const FrictionAssembler&) = delete;

  /// Fills the problem of contacts(), which stays valid until the next call or rebuild of the neighbourhood.
  /// Collective.
  const FrictionProblem<D>& assemble(const FrictionStep<D>& step);
  /// The flow of a deforming domain has changed since: changes the bias alone. Local.
  void change_flow();

  /// Of the last assemble(); free velocities may still be changed.
  FrictionProblem<D>& problem() { return problem_; }
  const FrictionProblem<D>& problem() const { return problem_; }
  /// The contacts of the problem, one by one the same; Neighborhood::detect() puts them there.
  ContactGraph<D>& contacts() { return contacts_; }
  const ContactGraph<D>& contacts() const { return contacts_; }
  std::span<Real> surface_velocity() { return surface_velocity_; }
  /// n_contacts * D: what obstacles, or the flow of a deforming domain, add to the bias along N, T1[, T2]
  /// [m/s].
  std::span<const Real> surface_velocity() const { return surface_velocity_; }
  /// The mean of that and of the middle of the step before, if there are springs and walls move (of walls
  /// under load, what they had before the step); else that of the step.
  std::span<const Real> mean_surface_velocity() const {
    return mean_surface_velocity_.empty() ? surface_velocity_ : mean_surface_velocity_;
  }

  /// Empty unless there are springs and walls move.
  std::span<Real> own_mean_surface_velocity() { return mean_surface_velocity_; }

 private:
  void fill_bodies(const FrictionStep<D>& step);
  void fill_masses(std::span<const Real> density);
  void fill_contacts(const FrictionStep<D>& step);
  void add_flow(std::size_t c);
  void write_rows(std::size_t c, std::size_t side, bool rotates);

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  BodyHalo& halo_;
  ContactGraph<D> contacts_;
  FrictionProblem<D> problem_;
  std::vector<Real> surface_velocity_, mean_surface_velocity_;
  // Of the masses in the problem.
  std::int64_t list_of_masses_ = -1;
  std::vector<Real> density_of_masses_;
};

}  // namespace scree
