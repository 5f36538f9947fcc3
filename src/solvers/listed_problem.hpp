#pragma once
#include <memory>
#include <span>
#include <vector>

#include "solvers/friction_problem.hpp"

namespace scree {

/// A whole friction problem as lists that are the same on every rank: for tests, benchmarks and stored
/// problems, whose size is bounded by the memory of one rank.
/// Shapes, units and signs as in FrictionProblem; bodies and contacts are numbered from 0.
template <int D>
struct ListedProblem {
  static constexpr int q = n_velocities<D>;

  std::vector<Vec<D>> position;  ///< of bodies [m]; only used to share bodies between ranks and for levers
  std::vector<Real> mass;
  std::vector<Real> free_velocity;
  std::vector<Index> a, b;
  std::vector<Real> jacobian;
  std::vector<Real> bias;
  std::vector<Real> mu;
  std::vector<Real> compliance;
  Real time_step = 0;
  Real velocity_floor = 0;

  Index n_bodies() const { return static_cast<Index>(position.size()); }
  Index n_contacts() const { return static_cast<Index>(a.size()); }

  /// Adds a body with a scalar mass [kg], an inertia about its centre (2D: one number, 3D: 3 x 3, row by row)
  /// [kg m^2] and a free velocity; returns its number.
  Index add_body(const Vec<D>& at, Real body_mass, std::span<const Real> inertia,
                 std::span<const Real> velocity);
  /// Adds a contact of bodies a and b (-1: static) at a point [m], with the unit normal from a to b and the
  /// normal bias [m/s]; tangents are chosen from the normal. Returns its number.
  Index add_contact(Index body_a, Index body_b, const Vec<D>& point, const Vec<D>& normal, Real coefficient,
                    Real normal_bias = 0);
};

/// One rank's share of a ListedProblem, with its halo. Bodies go to ranks in compact groups; contacts of a
/// pair of bodies stay together and are run by the owner of the lower-numbered body. Phases of a sweep are
/// colours of body pairs that share no body, found the same way on any number of ranks, so sweeps give the
/// same bits on any number of ranks.
template <int D>
class SplitProblem {
 public:
  /// Collective; `whole` must be the same on all ranks.
  SplitProblem(const Comm& comm, const ListedProblem<D>& whole);
  ~SplitProblem();

  FrictionProblem<D>& problem() { return problem_; }
  const FrictionProblem<D>& problem() const { return problem_; }
  /// Number in the list of each contact of this rank.
  std::span<const Index> contact_number() const { return contact_number_; }
  /// Values of all contacts / bodies on every rank in the order of the lists: the inputs are
  /// n_contacts * width numbers of this rank, or n_held * width of which the owned ones count. Collective.
  std::vector<Real> gather_contacts(std::span<const Real> values, int width) const;
  std::vector<Real> gather_bodies(std::span<const Real> values, int width) const;

 private:
  class Halo;
  std::unique_ptr<Halo> halo_;
  FrictionProblem<D> problem_;
  std::vector<Index> contact_number_;
  Index n_bodies_of_all_ = 0, n_contacts_of_all_ = 0;
};

}  // namespace scree
