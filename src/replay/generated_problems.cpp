#include "replay/generated_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/hdf5.hpp"
#include "core/scratch_folder.hpp"
#include "replay/fclib_rigid.hpp"
#include "run/python_package.hpp"

namespace scree {

namespace {

// Two million contacts at most, with which lists, shares and files take some GB of memory; the pile is
// bounded by its sweeps, which are minutes.
constexpr int max_bodies = 400'000;
constexpr std::string_view pile = "pile";

constexpr GeneratedFamily families[]{
    {"stack",
     "a column of cubes, each a little out of line; mu 0.5; it stands: the centre of all that lies above a "
     "face is over that face",
     "cubes", 1, max_bodies, max_bodies},
    {"mass_ratio",
     "a column of cubes, each heavier than the one below, the last 1e4 times the first; it stands as a stack "
     "does",
     "cubes", 2, max_bodies, max_bodies},
    {"sliding",
     "thin plates of different mass on each other; plate k (from 1) comes in with k * 0.1 m/s and is slowed "
     "by mu g dt, mu 0.3: its solution",
     "plates", 1, max_bodies, max_bodies},
    {"redundant",
     "a plate on many points, pushed half as hard as would move it; mu 0.45 to 0.55; it stays: friction in "
     "proportion to the load holds it",
     "points along an edge", 2, 1200, max_bodies},
    {"wall",
     "bricks of different mass in running bond with closed joints; mu 0.45 to 0.55; it stands: each brick "
     "lies on its whole length",
     "courses, and bricks in each", 1, 400, 400},
    {"arch",
     "half a ring of stones of different mass between two abutments; mu 0.63 to 0.77; it stands: 0.2 radii "
     "thick, twice what it needs",
     "stones", 3, max_bodies, max_bodies},
    {"tower",
     "rings of 12 stones of different mass in bond, closed joints; mu 0.45 to 0.55; it stands as a wall does",
     "courses", 1, 10'000, 0},
    {"kapla",
     "planks of different mass crosswise, two to a layer; mu 0.45 to 0.55; it stands: each plank is held up "
     "at both ends",
     "layers", 1, 100'000, 0},
    {"jammed",
     "face-centred cubic packing that fills its box, shaken at random by g dt; mu 0.3; self-stress of any "
     "size; solvable, for v = 0 violates nothing",
     "cells along an edge", 1, 40, 400},
    {pile, "random spheres settled in a box with walls; mu 0.5; solvable, for v = 0 violates nothing",
     "spheres", 1, 100'000, 100'000},
    {"manufactured",
     "boxes on a lattice with random contacts, mu 0 to 1, of which a third each is open, sticks and slips; "
     "made from a solution",
     "boxes", 1, max_bodies, max_bodies},
    {"ill_conditioned",
     "a column of cubes whose masses span size / 2 decades, six at most, in random order, on many contacts "
     "with normals 1e-3 apart; mu 0.3 to 0.7; made from a solution",
     "cubes", 2, max_bodies / 3, max_bodies / 3},
};

template <class T>
void broadcast(const Comm& comm, std::vector<T>& values) {
  std::size_t n = comm.max(static_cast<std::int64_t>(comm.is_root() ? values.size() : 0));
  values.resize(n);
  MPI_Bcast(values.data(), static_cast<int>(n * sizeof(T)), MPI_BYTE, 0, comm.handle());
}

/// Rows of contacts in the file, put back to their numbers in the list, and sides to their order. Local.
template <int D>
SerialProblem<D> read_list(const std::string& path) {
  const Comm alone(MPI_COMM_SELF);
  ProblemShare<D> share = *rigid_share<D>(alone, read_fclib(alone, path));
  const std::size_t n = share.contact.size();
  std::vector<std::int64_t> keys;
  hdf5::File(alone, path, hdf5::Open::read)
      .read("/scree/contact_key", {{0, 0}, {static_cast<std::int64_t>(n), 3}}, keys);

  constexpr std::size_t width = D * SerialProblem<D>::q;  // of the rows of one side
  SerialProblem<D> serial;
  serial.position.resize(share.body.size());
  serial.mass = std::move(share.mass);
  serial.free_velocity = std::move(share.free_velocity);
  serial.a.resize(n), serial.b.resize(n), serial.mu.resize(n);
  serial.jacobian.resize(n * 2 * width), serial.bias.resize(n * D);
  for (std::size_t row = 0; row < n; ++row) {
    const std::size_t contact = keys[row * 3 + 2];
    serial.a[contact] = static_cast<Index>(keys[row * 3]);
    serial.b[contact] = static_cast<Index>(keys[row * 3 + 1]);
    serial.mu[contact] = share.mu[row];
    std::copy_n(&share.bias[row * D], D, &serial.bias[contact * D]);
    const Real* from = &share.jacobian[row * 2 * width];
    const bool is_turned = serial.a[contact] > serial.b[contact];
    for (std::size_t side = 0; side < 2; ++side)
      std::copy_n(from + (is_turned ? 1 - side : side) * width, width,
                  &serial.jacobian[(contact * 2 + side) * width]);
  }
  serial.time_step = share.time_step;
  serial.velocity_floor = share.velocity_floor;
  return serial;
}

}  // namespace

std::span<const GeneratedFamily> generated_families() {
  return families;
}

const GeneratedFamily& require_family(int dimension, std::string_view name, int size) {
  std::string listed_name(name), names;
  std::ranges::replace(listed_name, '-', '_');
  for (const GeneratedFamily& family : families) {
    const int largest = dimension == 2 ? family.largest_in_plane : family.largest_size;
    if (largest == 0) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", family.name);
    if (family.name != listed_name) continue;
    if (size >= family.min_size && size <= largest) return family;
    throw InputError(fmt::format(
        "generated problem \"{}\": size {} ({}) is {}: sizes go from {} to {}", name, size, family.size,
        size < family.min_size ? fmt::format("below {}", family.min_size) : fmt::format("above {}", largest),
        family.min_size, largest));
  }
  throw InputError(fmt::format("there is no generated problem \"{}\"; there are {}", name, names));
}

std::string write_by_python(const GeneratedFamily& family, int dimension, int size, std::uint64_t seed,
                            const std::string& path) {
  return output_of_python("problems", {std::string(family.name), std::to_string(dimension),
                                       std::to_string(size), std::to_string(seed), path});
}

template <int D>
SerialProblem<D> generate_problem(std::string_view name, int size, std::uint64_t seed, const Comm& comm) {
  const GeneratedFamily& family = require_family(D, name, size);
  if (family.name == pile) return pile_problem<D>(size, seed);
  SerialProblem<D> whole;
  files::on_root(comm, [&] {
    const ScratchFolder folder(Comm(MPI_COMM_SELF), "");
    const std::string path = folder.path() + "/problem.hdf5";
    write_by_python(family, D, size, seed, path);
    whole = read_list<D>(path);
  });
  for (auto* values : {&whole.mass, &whole.free_velocity, &whole.jacobian, &whole.bias, &whole.mu})
    broadcast(comm, *values);
  for (auto* values : {&whole.a, &whole.b}) broadcast(comm, *values);
  whole.position.resize(whole.mass.size() / (SerialProblem<D>::q * SerialProblem<D>::q));
  whole.time_step = comm.max(whole.time_step);
  whole.velocity_floor = comm.max(whole.velocity_floor);
  return whole;
}

template SerialProblem<2> generate_problem<2>(std::string_view, int, std::uint64_t, const Comm&);
template SerialProblem<3> generate_problem<3>(std::string_view, int, std::uint64_t, const Comm&);

}  // namespace scree
