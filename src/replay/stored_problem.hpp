#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/petsc.hpp"
#include "friction/local_problem.hpp"
#include "replay/fclib_operator.hpp"
#include "replay/split_problem.hpp"

namespace scree {

/// W in blocks, from its entries in any order; equal ones add up. All of W on this rank. Local.
template <int D>
LocalForm<D> blocks_of_delassus(const SparseShare& W);

/// An FCLIB problem made ready for the solvers. A global one whose M is of blocks of rigid bodies, each
/// contact between two of them at most, is shared by all ranks. Any other one, and what is wanted in local
/// form, is solved by rank 0 alone as u = W r + q; the others wait.
template <int D>
class StoredProblem {
 public:
  enum class Form { as_stored, local, global };

  /// `in_operator` is that of `problem`. Throws InputError on all ranks if the global form is asked for and
  /// bodies are not what the problem consists of. Collective.
  StoredProblem(const Comm& comm, const FclibProblem& problem, FclibOperator& in_operator, Form form);

  bool is_shared() const { return split_.has_value(); }
  /// Empty if it is.
  const std::string& why_alone() const { return why_alone_; }
  /// Null on a rank that takes no part.
  const FrictionProblem<D>* problem() const;

  /// Impulses of this rank's contacts from its stretch of those of the file, and back. Collective.
  std::vector<Real> to_contacts(std::span<const Real> stretch) const;
  std::vector<Real> to_stretch(std::span<const Real> of_contacts) const;

 private:
  std::string why_alone_;
  std::optional<SplitProblem<D>> split_;
  std::unique_ptr<LocalProblem<D>> local_;
  std::size_t n_contacts_ = 0, n_stretch_ = 0;
  SfHandle contacts_;  ///< from each contact to its place in a stretch
  PetscHandle<MPI_Datatype, MPI_Type_free> unit_;
};

}  // namespace scree
