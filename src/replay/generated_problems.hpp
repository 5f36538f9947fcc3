#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/parallel.hpp"
#include "replay/serial_problem.hpp"

namespace scree {

/// A family of friction problems made from a size and a seed, for tests, benchmarks and studies. All have a
/// solution, and each summary says why; postprocess/scree/problems makes them, but for the pile.
struct GeneratedFamily {
  std::string_view name;
  std::string_view summary;
  std::string_view size;  ///< what the size counts
  int min_size;
  int largest_size;      ///< by the memory of one rank, some GB
  int largest_in_plane;  ///< 0: there are none
};

/// All of them.
std::span<const GeneratedFamily> generated_families();

/// Throws InputError for a name that does not exist in this dimension, where '-' counts as '_', and for a
/// size out of its range, which the message names. Local.
const GeneratedFamily& require_family(int dimension, std::string_view name, int size);

/// The problem of a family, the same on all ranks; contacts and bodies as they were added, places of bodies
/// only in piles. Throws as require_family(), and RunError if Python fails. Collective.
template <int D>
SerialProblem<D> generate_problem(std::string_view name, int size, std::uint64_t seed = 1,
                                  const Comm& comm = Comm());

/// Has Python write the file of a problem that is none of a pile; returns a line that counts its bodies and
/// contacts. Local.
std::string write_by_python(const GeneratedFamily& family, int dimension, int size, std::uint64_t seed,
                            const std::string& path);

/// Random spheres settled in a box with walls: the family "pile". One step of 0.01 s under gravity from rest;
/// contacts with a gap may just close in it. Some hundred sweeps over the pairs, a thousand at 20,000
/// spheres. Local.
template <int D>
SerialProblem<D> pile_problem(int size, std::uint64_t seed);

}  // namespace scree
