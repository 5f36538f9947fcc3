#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "contact/contact_graph.hpp"
#include "crowd/crowd_environment.hpp"
#include "crowd/output/crowd_output_settings.hpp"
#include "io/image_data.hpp"
#include "state/state.hpp"

namespace scree {

/// Share of a disk of area 1 m2 around (0, 0) that lies in each cell between the rising lines x[0], x[1], ...
/// and y[0], y[1], ... [m2]: cell (i, j) has place i + j (x.size() - 1). Exact to rounding. Local.
std::vector<Real> disk_shares(const std::vector<Real>& x, const std::vector<Real>& y);

/// Fields of the crowd on one level on a grid of cells (docs/crowd.md, "Results"), as a series for ParaView.
/// A person, or a contact, is spread evenly over the disk of area 1 m2 around it. Sums are of integers:
/// values do not depend on the number of ranks. Each rank holds some rows of the grid. Everything collective.
class CrowdFields {
 public:
  /// Throws InputError if the files to go on with do not fit.
  CrowdFields(const OutputContext<2>& context, const CrowdOutputSettings& output,
              const CrowdEnvironment& environment, int level);
  /// The name of the series of a level.
  static std::string series_name(const BuildingPlan& building, int level);

  /// Whether contacts with forces are needed.
  bool needs_contacts() const { return has("load") || has("exposure"); }
  /// Writes a frame. O(persons + contacts) and O(cells / ranks).
  void write(const State<2>& state, const ContactGraph<2>& contacts);

 private:
  struct Sums {
    std::int64_t persons = 0, speed = 0, flux_x = 0, flux_y = 0, load = 0;
  };
  bool has(const std::string& name) const;
  void sum_up(const State<2>& state, const ContactGraph<2>& contacts, std::vector<Sums>& mine) const;
  void find_travel_times();

  Comm comm_;
  const CrowdOutputSettings& output_;
  const CrowdEnvironment& environment_;
  int level_;
  std::array<bool, 2> periodic_{};
  std::unique_ptr<ImageSeries> series_;
  std::vector<std::uint8_t> is_free_;  ///< of each cell of this rank: its centre is where people can be
  // Of each cell of this rank.
  std::vector<Real> exposure_density_, exposure_load_;  ///< [s]
  std::vector<std::vector<Real>> travel_times_;         ///< of each exit [s at 1 m/s]
  int n_closed_ = 0;                                    // connectors, when these were found
};

}  // namespace scree
