#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "crowd/crowd_environment.hpp"
#include "crowd/departure.hpp"
#include "crowd/output/crowd_fields.hpp"
#include "crowd/output/crowd_output_settings.hpp"
#include "crowd/output/departure_curve.hpp"
#include "io/environment_output.hpp"
#include "io/pedestrian_archive.hpp"
#include "io/table.hpp"

namespace scree {

/// What a run of people leaves behind besides what all runs do (docs/crowd.md, "Results"):
///     NAME.trajectory.h5     paths, if [output.trajectory] is given
///     vtk/NAME_fields.pvd    fields, if [output.fields] is given; of each level if there are several
///     NAME.agents.csv        one row per person that left, by time, then id; at the end those who stay, by
///     id NAME.evacuation.csv    N(t): one row at the start and after each step in which somebody came or
///     left NAME.exits.csv         one row per exit, at the end NAME.queues.csv        one row per person and
///     queue, by the time when it has been served, then id
/// A restart goes on with them: what is later than its checkpoint is removed first. Everything collective;
/// failures make all ranks throw the same.
class CrowdWriter final : public EnvironmentWriter<2> {
 public:
  CrowdWriter(const OutputContext<2>& context, const CrowdOutputSettings& settings,
              CrowdEnvironment& environment);

  std::vector<Scheduled> scheduled() const override;
  void write_frame(std::size_t k, const State<2>& state, const ContactGraph<2>& contacts) override;
  /// Writes what is due of paths and tables, and empties the environment's list of those who left. Frames of
  /// paths show multiples of 1 / fps, so none is added at the end.
  void write(const State<2>& state, Real before) override;
  void keep_in_place() override;
  void add_columns(const BodyStore<2>& bodies, std::vector<Column>& columns) const override;
  /// The loads on walls (loaded_walls.hpp).
  void write_obstacles(VtkSeries& series, const State<2>& state,
                       const ContactGraph<2>& contacts) const override;
  /// Writes NAME.exits.csv and the rows of those who stay, too.
  Summary finish(const State<2>& state) const override;

 private:
  std::unique_ptr<Table> open_table(const OutputContext<2>& context, const std::string& ending,
                                    const std::vector<Table::Heading>& headings,
                                    std::size_t time_column) const;
  void open_trajectory(const OutputContext<2>& context);
  void open_evacuation(const OutputContext<2>& context);
  std::int64_t frame_of(Real time) const;
  void write_trajectory(const State<2>& state, std::int64_t frame);
  void write_departures(const State<2>& state);
  void write_rows(const State<2>& state, const std::vector<Departure>& mine) const;
  void write_stayers(const State<2>& state) const;
  void write_served();

  Comm comm_;
  RunFiles files_;
  const CrowdOutputSettings& settings_;
  CrowdEnvironment& environment_;
  std::unique_ptr<PedestrianArchive> trajectory_;
  std::vector<std::unique_ptr<CrowdFields>> fields_;  ///< by level
  std::unique_ptr<Table> agents_;
  std::vector<std::size_t> fields_of_frames_;  ///< numbers of those of agent_fields.def, in order
  std::unique_ptr<Table> evacuation_;
  std::unique_ptr<Table> queues_;  ///< of decks with queues
  DepartureCurve curve_;
  std::vector<std::int64_t> last_left_;  ///< of each exit, in the last row
  std::int64_t last_came_ = 0;
  std::int64_t last_fallen_ = 0;
  std::int64_t last_served_ = 0;
  Real began_ = 0;  ///< time of the first row [s]
};

}  // namespace scree
