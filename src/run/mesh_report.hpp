#pragma once
#include <string>

#include "core/types.hpp"

namespace scree {

struct MeshReportOptions {
  Real scale = 1;                   ///< length of one unit of the file [m]
  bool json = false;                ///< instead of text
  bool keeps_inner_shells = false;  ///< shells within others are walls of their own
  std::string output;               ///< STL file for the mended mesh; empty: none
};

/// What an STL or OBJ file holds as a wall would read it: triangles, shells, whether they are closed, and
/// what was mended; writes the mended mesh, facing outwards, if asked. Throws InputError for a file that
/// cannot be read. On one rank.
std::string report_mesh(const std::string& path, const MeshReportOptions& options);

}  // namespace scree
