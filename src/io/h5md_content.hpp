#pragma once
#include <string>
#include <vector>

#include "core/hdf5.hpp"
#include "core/types.hpp"

namespace scree {

/// A quantity of the bodies in an H5MD file of scree (io/h5md.hpp).
struct H5mdColumn {
  std::string name;
  hdf5::Type type = hdf5::Type::real64;
  int components = 1;
  bool constant = false;    ///< stored once, not in each frame
  std::int64_t places = 0;  ///< length of the axis of bodies
  std::string dataset() const;
};

/// What an H5MD file of scree holds, but for the values of bodies and observables.
struct H5mdContent {
  static const std::string bodies, box, observables_group;
  /// The group whose step and time all other series share.
  static const std::string master;

  std::vector<H5mdColumn> columns;
  std::vector<std::string> observables;  ///< "count", the number of bodies, is not among them
  std::vector<std::int64_t> steps, counts;
  std::vector<Real> times;

  static std::string series_of(const std::string& observable);
  /// The datasets that have an entry per frame.
  std::vector<std::string> series() const;
  /// Keeps the first n frames.
  void resize(std::size_t n);
  /// The text of the .xdmf file that shows the frames of the file `heavy` to ParaView.
  std::string xdmf(const std::string& heavy) const;
};

/// Throws InputError if the file has frames but is none of scree's. A run that was killed may leave its last
/// frame in some series and not in others: only frames that are in all are listed. Collective.
H5mdContent read_h5md_content(const hdf5::File& file);

}  // namespace scree
