#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contact/contact_graph.hpp"
#include "crowd/crowd_scene.hpp"
#include "io/appended_file.hpp"
#include "io/pedestrian_archive.hpp"
#include "io/table.hpp"
#include "run/checkpoint.hpp"
#include "run/crowd_fields.hpp"
#include "run/run_deck.hpp"
#include "state/state.hpp"

namespace scree {

/// Where a run's files lie: FOLDER/NAME.h5 and so on.
struct RunFiles {
  std::string folder;  ///< DIRECTORY/NAME
  std::string name;
  std::string with(const std::string& ending) const { return folder + "/" + name + ending; }
  std::string checkpoints() const { return folder + "/checkpoint"; }
};

/// How many people had left, and through which exit, after each step that changed it: N(t) and what follows
/// from it.
class DepartureCurve {
 public:
  explicit DepartureCurve(std::size_t n_exits) : n_exits_(n_exits) {}

  /// Adds the numbers after a step, later than those before: all that left so far, by exit.
  void add(Real time, const std::vector<std::int64_t>& left);

  /// When the k-th person (counted from 1) had left, through any exit (-1) or one [s]; nothing if that is not
  /// known: fewer left, or before the curve begins.
  std::optional<Real> time_of(std::int64_t k, int exit = -1) const;
  std::int64_t n_left(int exit = -1) const;
  /// Mean of the times of leaving [s]; nothing if nobody left.
  std::optional<Real> mean_time() const;
  /// Persons per second between the 10th and the 90th percentile of those who left through the exit; nothing
  /// if these are one time.
  std::optional<Real> mean_flow(int exit) const;

 private:
  struct Row {
    Real time = 0;
    std::vector<std::int64_t> left;  ///< of each exit, then the sum
  };
  std::size_t column(int exit) const { return exit < 0 ? n_exits_ : static_cast<std::size_t>(exit); }

  std::size_t n_exits_;
  std::vector<Row> rows_;
};

/// What a run of people leaves behind besides what all runs do (docs/crowd.md, "Results"):
///     NAME.trajectory.h5     paths, if [output.trajectory] is given
///     vtk/NAME_fields.pvd    fields, if [output.fields] is given
///     NAME.agents.csv        one row per person that left, by time, then id
///     NAME.evacuation.csv    N(t): one row at the start and after each step in which somebody came or left
///     NAME.exits.csv         one row per exit, at the end
/// A restart goes on with them: what is later than its checkpoint is removed first. Everything collective;
/// failures make all ranks throw the same.
class CrowdWriter {
 public:
  CrowdWriter(const Comm& comm, const RunFiles& files, const RunDeck<2>& deck, const State<2>& state,
              const CrowdScene& scene, const std::optional<ResumePoint>& resume);
  ~CrowdWriter();

  bool has_fields() const { return fields_ != nullptr; }
  /// Whether they tell of contact forces.
  bool fields_use_contacts() const { return fields_ && fields_->needs_contacts(); }
  /// Writes a frame of the fields, which there are.
  void write_fields(const State<2>& state, const ContactGraph<2>& contacts) {
    fields_->write(state, contacts);
  }
  /// Writes what is due of paths and tables after a step, or at the start (before < 0). Whoever calls empties
  /// state.departures then. Frames of paths show multiples of 1 / fps, so none is added at the end.
  void write(const State<2>& state, Real before);
  /// Looks whether the tables are still there (AppendedFile).
  void keep_in_place();

  /// The summary of the run so far, which is written to NAME.exits.csv, too.
  struct Summary {
    std::string text;  ///< some lines
    std::string json;  ///< the same as a JSON object, for summary.json
  };
  Summary finish(const State<2>& state) const;

 private:
  class RowFile;
  std::int64_t frame_of(Real time) const;
  void write_trajectory(const State<2>& state, std::int64_t frame);
  void write_departures(const State<2>& state);
  std::int64_t n_came(const State<2>& state) const;
  std::vector<std::int64_t> n_left(const State<2>& state) const;

  Comm comm_;
  RunFiles files_;
  const OutputSettings& output_;
  const CrowdScene& scene_;
  std::unique_ptr<PedestrianArchive> trajectory_;
  std::unique_ptr<CrowdFields> fields_;
  std::unique_ptr<RowFile> agents_;
  std::unique_ptr<Table> evacuation_;
  DepartureCurve curve_;
  std::vector<std::int64_t> last_left_;  ///< of each exit, in the last row
  std::int64_t last_came_ = 0;
  Real began_ = 0;  ///< time of the first row [s]
};

/// The drawn lines of obstacles in the plane with the force of people on them, for ParaView.
struct LoadedWalls {
  std::vector<double> points;          ///< 3 per point; on rank 0 only, as all that follows
  std::vector<std::int64_t> lines;     ///< 2 per line
  std::vector<std::int32_t> obstacle;  ///< per line
  std::vector<double> load;            ///< per line [N/m]
};
/// Each line of an outline in equal pieces of at most 1 m; the load of a piece is the sum of the present
/// contact forces on it over its length. Independent of the number of ranks. Collective; O(contacts +
/// pieces).
LoadedWalls loaded_walls(const State<2>& state, const ContactGraph<2>& contacts, Real force_per_speed);

}  // namespace scree
