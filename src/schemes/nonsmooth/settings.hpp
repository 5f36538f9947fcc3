#pragma once
#include <cstdint>
#include <string>

#include "friction/friction_solver.hpp"
#include "schemes/common/step_control.hpp"
#include "state/state.hpp"

namespace scree {

/// What the deck says of the scheme "nonsmooth": [solver] and [nonsmooth].
template <int D>
struct NonsmoothSettings {
  enum class Correction { projection, baumgarte, none };

  enum class Impacts { simultaneous, sequential, wave };

  static constexpr Real tolerance_of_spheres = 1e-2, tolerance_of_shapes = 1e-3;

  SolverSettings<D> solver;
  std::string where_solver;  ///< place of its type in the deck
  Impacts impacts = Impacts::simultaneous;
  std::string where_impacts;  ///< place in the deck
  Real elasticity = 1.5;      ///< of the law "wave"
  Real warm_start = 1;
  Real speculative_margin = 2e-3;
  Real contact_slop = 5e-5;
  Real new_overlap = 0.03;
  Real rest_speed = 0;
  std::string rest_speed_word = "auto";
  Correction correction = Correction::projection;
  std::int64_t correction_sweeps = 20;
  Real correction_limit = 0.01;
  StepControl on_correction{FailureAction::warn};
  Real baumgarte = 0.2;
  NormalsOf normals = NormalsOf::closest_points;
  StepControl on_failure{FailureAction::warn};
  Real overlap_limit = 0.3;
  StepControl on_overlap{FailureAction::stop};
  Real max_travel = 0;

  void describe(Section& root);
  /// Throws InputError if the law of impacts does not go with what the deck has.
  void check_impacts(const State<D>& state) const;
  /// Throws InputError if the solver cannot do what the deck has.
  void check_solver(const State<D>& state) const;
  /// Before the first step: chooses the tolerance if the deck does not, passes options on to PETSc, sets what
  /// shapes have to know.
  void prepare(State<D>& state);
};

}  // namespace scree
