#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/types.hpp"

namespace scree {

/// An MPI communicator with the few reductions the code uses. All members but rank and size are collective.
class Comm {
 public:
  explicit Comm(MPI_Comm handle = MPI_COMM_WORLD);
  MPI_Comm handle() const { return handle_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  Real max(Real value) const;
  Real min(Real value) const;
  std::int64_t max(std::int64_t value) const;
  std::int64_t min(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  void max(std::span<Real> values) const;
  void min(std::span<Real> values) const;
  void sum(std::span<std::int64_t> values) const;
  /// Plain sums over ranks: the last bits depend on the number of ranks (ReproducibleSum: they do not).
  void sum_to_round_off(std::span<Real> values) const;
  bool any(bool value) const;
  bool all(bool value) const;
  /// Sum of `value` over the ranks before this one (0 on rank 0).
  std::int64_t sum_before(std::int64_t value) const;
  void broadcast(std::string& text, int root = 0) const;
  void barrier() const;

 private:
  MPI_Comm handle_;
  int rank_;
  int size_;
};

/// Life time of MPI and PETSc. Construct once in main. PETSc starts with the first call of one of its
/// functions (core/petsc_functions.hpp). It does not see argv, takes no signal and prints no error pages:
/// SCREE_PETSC (core/petsc.hpp) turns its errors into exceptions.
class Parallel {
 public:
  Parallel(int& argc, char**& argv);
  ~Parallel();
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  const Comm& world() const { return world_; }

 private:
  struct MpiLife {
    MpiLife(int& argc, char**& argv);
    ~MpiLife();
    std::string folder;  ///< of MPI, if it has one for this process alone
  } life_;
  Comm world_;
};

/// Whether MPI allows threads that do not call it.
bool may_have_threads();

/// Runs `work`, which must not communicate, on every rank. If it throws on any, all ranks throw the error of
/// the lowest failing rank: a CollectiveError keeps its exit code, other exceptions become RunError.
/// Collective.
void share_errors(const Comm& comm, const std::function<void()>& work);

/// The message of the rank with the smallest key among those that have one, on every rank; empty if none has.
/// Names the same body on any number of ranks. Collective.
std::string message_of_smallest(const Comm& comm, GlobalId key, std::string message);

/// Sum over bodies and ranks whose bits depend neither on order nor on the number of ranks: the terms are
/// rounded to multiples of a unit fixed by the largest magnitude (60 bits below it) and added as integers.
/// Relative error about n 2^-60 of the largest term. Collective, two reductions.
class ReproducibleSum {
 public:
  /// Sums `terms(i)` for i in [0, count) for totals.size() quantities at once: terms(i, out) writes that many
  /// numbers and is called twice for each i. A quantity with a term that is not finite sums to NaN.
  static void sum(const Comm& comm, std::size_t count, std::span<Real> totals,
                  const std::function<void(std::size_t, std::span<Real>)>& terms);
  /// The same of terms[j][i], for as many j as there are totals.
  static void sum(const Comm& comm, std::span<const std::span<const Real>> terms, std::span<Real> totals);
  static Real sum(const Comm& comm, std::span<const Real> values);
};

}  // namespace scree
