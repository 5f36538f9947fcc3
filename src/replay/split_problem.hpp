#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "friction/friction_problem.hpp"
#include "replay/problem_share.hpp"

namespace scree {

namespace split {
class Halo;
}

/// A friction problem distributed over ranks for solution. Bodies go to ranks in groups with few pairs
/// between groups and about as many contacts in each (PTScotch on the graph of bodies), and lie in memory in
/// reverse Cuthill-McKee order. Contacts of a pair of bodies stay together and are run by the owner of the
/// lower-numbered body.
///
/// Colours of a sweep are colours of body pairs that share no body: each pair has the least colour that no
/// pair before it has at its bodies, pairs of bodies with many partners first. That is the greedy colouring
/// on one rank; several find the same one in rounds, a pair as soon as those before it at its bodies are done
/// (Jones and Plassmann, SIAM J. Sci. Comput. 14, 1993). So sweeps give the same bits on any number of ranks.
///
/// Each row travels once. A rank never holds more than its share, its halo, and an even share of a directory
/// of bodies.
template <int D>
class SplitProblem {
 public:
  /// Throws InputError on all ranks if the arrays do not fit each other, a number is missing or occurs twice,
  /// or a contact is not between two different bodies; FrictionProblem::validate() looks at the values.
  /// Collective.
  SplitProblem(const Comm& comm, ProblemShare<D> share);
  /// `whole` must be the same on all ranks. Collective.
  SplitProblem(const Comm& comm, const SerialProblem<D>& whole);
  ~SplitProblem();

  FrictionProblem<D>& problem() { return problem_; }
  const FrictionProblem<D>& problem() const { return problem_; }
  /// Number of each contact of this rank; those of bodies are FrictionProblem::body_id.
  std::span<const std::int64_t> contact_number() const { return contact_number_; }

 private:
  std::unique_ptr<split::Halo> halo_;
  FrictionProblem<D> problem_;
  std::vector<std::int64_t> contact_number_;
};

}  // namespace scree
