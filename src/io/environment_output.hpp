#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/output_interval.hpp"
#include "core/section.hpp"
#include "io/frame.hpp"
#include "io/run_files.hpp"
#include "io/vtk_series.hpp"
#include "state/state.hpp"

namespace scree {

/// A quantity of each run of an ensemble; NaN where a run does not know it.
struct EnsembleQuantity {
  std::string name;
  std::string unit;
  std::vector<Real> values;
};

/// What the files of a run are written with.
template <int D>
struct OutputContext {
  const Comm& comm;
  RunFiles files;
  std::string title;    ///< of the deck; may be empty
  std::string creator;  ///< program and version
  int vtk_writers;      ///< files per frame at most
  bool single_precision;
  const State<D>& state;
  std::optional<ResumePoint> resume;  ///< where a checkpoint goes on; empty: new files
};

/// Files of an environment besides those of all runs. Everything collective.
template <int D>
class EnvironmentWriter {
 public:
  /// An output with an interval.
  struct Scheduled {
    const char* name;  ///< as ResumePoint knows it
    const OutputInterval& every;
    bool uses_contacts;
  };
  struct Summary {
    std::string text;  ///< some lines
    std::string json;  ///< the same as a JSON object, for summary.json
  };

  virtual ~EnvironmentWriter() = default;
  virtual std::vector<Scheduled> scheduled() const = 0;
  /// Writes a frame of scheduled()[k]; contacts are current if it uses them.
  virtual void write_frame(std::size_t k, const State<D>& state, const ContactGraph<D>& contacts) = 0;
  /// Writes what is due of the rest after a step, or at the start (before < 0).
  virtual void write(const State<D>& state, Real before) = 0;
  /// Checks that tables are still there (AppendedFile).
  virtual void keep_in_place() = 0;
  /// Adds columns to a frame of the bodies. Local.
  virtual void add_columns(const BodyStore<D>& bodies, std::vector<Column>& columns) const = 0;
  /// Writes a frame of the obstacles.
  virtual void write_obstacles(VtkSeries& series, const State<D>& state,
                               const ContactGraph<D>& contacts) const = 0;
  /// Of the run so far.
  virtual Summary finish(const State<D>& state) const = 0;
};

/// What an environment adds to the results of a run: tables of [output], files, entries of summary and
/// ensemble.
template <int D>
class EnvironmentOutput {
 public:
  virtual ~EnvironmentOutput() = default;
  /// Declares and reads the tables of [output] that are the environment's own.
  virtual void describe(Section& output) = 0;
  /// Throws InputError if one of them is given, in a run of another scheme. Local.
  virtual void refuse(std::string_view scheme_of_run) const = 0;
  /// Throws InputError if they do not suit the run. After Environment::build(); local.
  virtual void check(const Box<D>& box, Real dt) const = 0;
  /// Whether they ask for results.
  virtual bool is_asked_for() const = 0;
  virtual std::unique_ptr<EnvironmentWriter<D>> make_writer(const OutputContext<D>& context) = 0;
  /// Those of its tables of [output] that are asked for and written as VTK files.
  virtual std::vector<std::string> vtk_tables() const = 0;
  /// The endings of its files NAME.ending, which --force removes.
  virtual std::span<const std::string_view> endings() const = 0;
  /// The key of its part of summary.json.
  virtual std::string_view summary_key() const = 0;
  /// What the runs of an ensemble have in common, from that part of their summaries (JSON texts; "{}" of runs
  /// without). Local.
  virtual std::vector<EnsembleQuantity> quantities(std::span<const std::string> summaries) const = 0;
};

}  // namespace scree
