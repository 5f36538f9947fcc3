#pragma once
#include <string>
#include <vector>

#include "core/output_interval.hpp"
#include "core/section.hpp"

namespace scree {

/// Keys of [output.trajectory] and [output.fields].
struct CrowdOutputSettings {
  Real fps = 0;                  ///< frames per second of trajectories; 0: no file
  Real z = 0;                    ///< height of the floor [m]
  std::string where_trajectory;  ///< place of [output.trajectory] in the deck; empty: not given
  OutputInterval every;          ///< frames of fields
  Real cell = 0.5;               ///< [m]
  std::vector<std::string> fields;
  Real density_limit = 6;      ///< [1/m2]
  Real load_limit = 4500;      ///< [N/m]
  Real force_per_speed = 160;  ///< of contacts between people [kg/s]
  std::string where_fields;    ///< place of [output.fields], or of [output], in the deck

  /// Declares and reads both tables.
  void describe(Section& output);
};

}  // namespace scree
