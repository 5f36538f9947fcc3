#pragma once
#include <array>
#include <string>
#include <vector>

#include "verify/dae_cases.hpp"
#include "verify/holonomic.hpp"

/// Pendulums: unit masses that hang on each other by rods of unit length, the first at the origin.
namespace scree::rods {

struct Sample {
  Real t = 0;
  std::vector<Real> x, v;
  Real energy = 0;
  ConstrainedMotion::Defects defects;
};

struct Run {
  Real gravity = 9.81, time_step = 0.1, end_time = 20;
  std::string integrator = "rk4", projection = "velocity";
  std::vector<Real> x, v;
  bool strict = false;
};

inline constexpr std::array projections{"none", "position", "velocity", "both"};

/// Throws InputError for a word that is none of them.
Stabilization stabilization(const std::string& projection);

/// Samples of the start and of each step; fewer than asked for if the run blows up.
std::vector<Sample> trajectory(const Run& run);

bool blew_up(const Run& run, const std::vector<Sample>& samples);

/// The sample of this time, or the last one.
const Sample& at(const std::vector<Sample>& samples, Real time);

/// Exact motion of a single pendulum at the times of `samples`, from their first.
std::vector<Sample> exact_motion(Real gravity, const std::vector<Sample>& samples);

}  // namespace scree::rods
