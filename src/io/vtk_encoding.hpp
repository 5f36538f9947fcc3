#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/vtk_frames.hpp"

// All that needs VTK: its files as text, and numbers from its files. vtk_encoding.cpp does it, in a library
// of its own that vtk_library.cpp loads for the first frame: most runs write none, and VTK's libraries take a
// sixth of the start of a small run. A build without VTK has vtk_left_out.cpp instead. VTK is used by one
// thread at a time, whichever calls.

namespace scree::vtk {

/// Whether this build has VTK.
extern const bool is_built_in;
/// Loads it, which else the first call does. Throws RunError. Local.
void load();

struct StoredColumn {
  std::string name;
  int components;
  Numbers numbers;
};

/// What one file of points, lines and triangles holds: gathered by the rank, encoded by whichever thread.
struct SurfacePiece {
  Real time = 0;
  bool vertices = false;
  Numbers points;
  std::vector<std::int64_t> lines, triangles;
  std::vector<StoredColumn> point_columns, cell_columns;
};

/// What one file of cells of a grid holds: rows [first, end) of it; in space layers of n_lines rows.
struct ImagePiece {
  Real time = 0;
  std::array<Real, 3> origin{}, cell{};
  std::int64_t n_columns = 0, n_lines = 0, first = 0, end = 0;
  std::vector<StoredColumn> columns{};
};

/// The XML text of a file: inline binary data with 64-bit sizes. Uses the numbers of `piece` in place. Throws
/// RunError. Local.
std::string encoded(SurfacePiece& piece, bool compress);
std::string encoded(ImagePiece& piece, bool compress);

/// Rows [first, end) of a grid.
struct ImageRows {
  std::int64_t n_columns, n_rows, first, end;
};
/// A column of one 64-bit number per cell from the file that lists the pieces of a frame. Throws InputError
/// if it lacks the column or is of another grid. Local.
std::vector<Real> image_rows(const std::string& path, const std::string& column, const ImageRows& rows);

/// The same functions, as the library has them under the name `scree_vtk_functions`.
struct Functions {
  std::string (*encoded_surface)(SurfacePiece&, bool compress);
  std::string (*encoded_image)(ImagePiece&, bool compress);
  std::vector<Real> (*image_rows)(const std::string& path, const std::string& column, const ImageRows& rows);
};

}  // namespace scree::vtk
