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
  std::string name;              ///< empty: the deck's file name without ending
  std::int64_t vtk_writers = 0;  ///< of all VTK files; 0: chosen from the number of bodies
  bool vtk_single = true;
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

  /// Where the files of a run lie whose deck gives no name. Throws InputError if it cannot have the default.
  RunFiles files(const std::string& default_name) const;

  /// `of_frames` declares and reads the tables of outputs, `of_environments` those that environments add.
  void describe(Section& root, const std::function<void(Section& output)>& of_frames,
                const std::function<void(Section& output)>& of_environments);
};

/// Whether reals are stored with 32 bits.
void describe_precision(Section& table, bool& single);

}  // namespace scree
