#pragma once
#include <array>
#include <span>
#include <vector>

#include "schemes/nonsmooth/contact_work.hpp"

namespace scree {

/// What a law of impacts before the contact problem did in a step (docs/method.md, eq. D.13, D.21-D.23).
/// Local.
template <int D>
class ImpactRecord {
 public:
  /// Of contact c along N, T1[, T2] [N s], beside that of the solve.
  const std::array<Real, D>& impulse(std::size_t c) const { return done_[c].impulse; }
  void add_work(ContactWork& work) const {
    for (std::size_t c = 0; c < done_.size(); ++c) {
      work.normal[c] += done_[c].normal;
      work.tangential[c] += done_[c].tangential;
      work.obstacle[c] -= done_[c].obstacle;
    }
  }

 protected:
  /// What impacts did at a contact.
  struct Done {
    std::array<Real, D> impulse{};    ///< along N, T1[, T2] [N s]
    Real normal = 0, tangential = 0;  ///< dissipated [J]
    Real obstacle = 0;                ///< done on the obstacle [J]
  };

  void begin(const StepContacts<D>& step) {
    copy_into(step.problem.start_velocity, start_velocity_);
    reset(done_, step.contacts.size());
  }
  /// The velocities without contacts change as those at the start of the step did; those of obstacles may be
  /// others in the solve.
  void end(const StepContacts<D>& step) {
    for (std::size_t c = 0; c < done_.size(); ++c)
      for (std::size_t i = 0; i < D; ++i)
        done_[c].obstacle += done_[c].impulse[i] * step.obstacle_velocity[c * D + i];
    for (std::size_t i = 0; i < start_velocity_.size(); ++i)
      step.problem.free_velocity[i] += step.problem.start_velocity[i] - start_velocity_[i];
  }
  /// Whether the surfaces, which approach at `speed` < 0, meet within the step.
  static bool closes(const StepContacts<D>& step, std::size_t c, Real speed) {
    return step.contacts.gap[c] + step.law.dt * speed <= step.slop(c);
  }

  std::vector<Done> done_;  // of each contact

 private:
  std::vector<Real> start_velocity_;  // before the impacts
};

}  // namespace scree
