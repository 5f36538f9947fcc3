#pragma once
#include <utility>

#include "core/body_halo.hpp"
#include "friction/friction_problem.hpp"

namespace scree {

/// A friction problem in local form, u = W r + q with K* containing u + mu |u_T| e_N perpendicular to r in K,
/// and its halo. All of it is on one rank.
template <int D>
class LocalProblem {
 public:
  /// `comm` has one rank; q: n_contacts * D [m/s], mu: n_contacts.
  LocalProblem(const Comm& comm, LocalForm<D> form, const std::vector<Real>& q, std::vector<Real> mu)
      : halo_(comm, bodies_of_local_form<D>(static_cast<Index>(mu.size()))) {
    const auto n = static_cast<Index>(mu.size());
    problem_.a.assign(mu.size(), -1);
    problem_.b.assign(mu.size(), -1);
    for (Index i = 0; i < halo_.n_local(); ++i) problem_.body_id.push_back(i);
    problem_.bias = q;
    problem_.mu = std::move(mu);
    problem_.local = std::move(form);
    problem_.colour_first = {0, n};
    problem_.interior_first = {0};
    problem_.halo = &halo_;
  }
  LocalProblem(const LocalProblem&) = delete;
  LocalProblem& operator=(const LocalProblem&) = delete;

  FrictionProblem<D>& problem() { return problem_; }
  const FrictionProblem<D>& problem() const { return problem_; }

 private:
  SerialHalo halo_;
  FrictionProblem<D> problem_;
};

}  // namespace scree
