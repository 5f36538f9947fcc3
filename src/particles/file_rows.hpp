#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "geometry/box.hpp"
#include "particles/body_store.hpp"

namespace scree {

/// This rank's share of the bodies that a file lists, in the order of the file over all ranks. Lists other
/// than `position` have an entry per body, or none where the file does not say. From `box` on it is the same
/// on all ranks.
template <int D>
struct FileRows {
  std::vector<Vec<D>> position;
  std::vector<Real> radius;
  std::vector<GlobalId> id;
  std::vector<Vec<D>> velocity;
  std::vector<Spin<D>> angular_velocity;
  std::vector<Orientation<D>> orientation;

  std::optional<Box<D>> box;           ///< the file's own; `periodic` may not be known
  std::string unit_system;             ///< as the file calls it; empty: it does not
  std::vector<std::string> not_taken;  ///< names of what else is in the file
};

/// Reads a CSV file: a header line with names of columns (x, y, z, radius or diameter, id, vx, ..., omegax,
/// ..., qw, ...; in the plane angle), then rows; lines that are empty or begin with # do not count. Each rank
/// reads a share of the bytes. Throws InputError on all ranks. Collective.
template <int D>
FileRows<D> read_csv_rows(const Comm& comm, const std::string& path);

/// Reads frame `frame` (not given: the last) of a text dump of LAMMPS or LIGGGHTS, "ITEM: ATOMS id type x y z
/// ...", in SI units: columns as of CSV files, and xu, xs, xsu, ... for x. Each rank looks through a share of
/// the file and reads a share of the frame. Throws InputError on all ranks. Collective.
template <int D>
FileRows<D> read_dump_rows(const Comm& comm, const std::string& path, std::optional<std::int64_t> frame);

/// How a dump begins.
bool begins_dump(std::string_view first_bytes);

/// The numbers 0, 1, ... of the bodies of all ranks in the order of `ids`, which may be any. Throws
/// InputError on all ranks if two are the same. Sets `renumbered` if a number differs from its id.
/// Collective.
std::vector<GlobalId> numbers_by_id(const Comm& comm, const std::string& path, std::span<const GlobalId> ids,
                                    bool& renumbered);

}  // namespace scree
