#pragma once
#include <functional>
#include <string>

#include "core/output_interval.hpp"
#include "core/section.hpp"
#include "io/run_files.hpp"

namespace scree {

/// Why a run cannot have this name, which becomes that of its folder and files; empty: it can.
std::string fault_of_name(const std::string& name);

/// Keys of [output] and its tables.
struct OutputSettings {
  std::string directory = "results";
  std::string name;  ///< empty: the deck's file name without ending
  OutputInterval vtk;
  std::int64_t vtk_writers = 0;  ///< 0: chosen from the number of bodies
  bool vtk_asynchronous = true;
  bool vtk_contacts = true;
  bool vtk_obstacles = true;
  enum class Surfaces { automatic, always, never };
  Surfaces vtk_surfaces = Surfaces::automatic;
  bool vtk_single = true;
  OutputInterval h5md;
  bool h5md_single = false;
  std::int64_t h5md_compression = 0;
  OutputInterval checkpoint;
  Real checkpoint_wall_time = 15 * 60;
  std::int64_t checkpoint_keep = 2;
  OutputInterval fclib;
  std::int64_t fclib_on_failure = 10;
  bool fclib_guess = true;
  bool fclib_solution = true;
  std::string where_fclib;  ///< place of [output.fclib] in the deck; empty: not given
  OutputInterval certificate;
  OutputInterval scalars;
  Real contact_tolerance = 1e-3;

  /// Whether frames for ParaView are written: a build without VTK writes none.
  bool writes_vtk() const;
  /// Where the files of a run lie whose deck gives no name. Throws InputError if it cannot have the default.
  RunFiles files(const std::string& default_name) const;

  /// `of_environments` declares and reads the tables that environments add to [output].
  void describe(Section& root, const std::function<void(Section& output)>& of_environments);
};

}  // namespace scree
