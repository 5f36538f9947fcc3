#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/environment_output.hpp"
#include "io/table.hpp"
#include "run/run_deck.hpp"

namespace scree {

/// Columns of the table of scalars: those that every table starts with, then those of the measures. After the
/// scheme has started. Throws InputError naming the measure if two columns have one name. Collective.
template <int D>
std::vector<Table::Heading> scalars_headings(const RunDeck<D>& deck, const State<D>& state);

/// All series that a run writes. They read the state and never change it. Everything collective.
///
/// Each has a frame (a row, of tables) when its interval says so and at the end of the run, however it ends:
/// write() after every step, then at the end after the last one. A restart removes frames of the end, so
/// a run in pieces leaves the files of a run in one. `deck` must outlive it.
template <int D>
class Writers {
 public:
  /// `resume`: where a checkpoint goes on; empty: new files.
  Writers(const Comm& comm, const RunFiles& files, const RunDeck<D>& deck, const State<D>& state,
          const std::string& resolved, const files::Texts& provenance,
          const std::optional<ResumePoint>& resume);

  /// Whether any output has contacts. Any step may be the last, so each has to be able to.
  bool use_contacts() const;
  /// Whether the step that took the run from `before` to `time` (number `step`) is followed by output of
  /// contacts.
  bool needs_contacts(std::int64_t step, Real before, Real time) const;
  /// The same of the numbers of contacts of bodies.
  bool needs_contact_counts(std::int64_t step, Real before, Real time) const;
  /// Writes what is due or, `at_end`, what the last step has left without a frame. Contacts are current if
  /// needs_contacts said so, or at the end.
  void write(const OutputFrame<D>& frame, Real before, bool at_end);
  /// The outputs that a step leaves without a frame, separated by blanks.
  std::string end_frames(std::int64_t step, Real before, Real time) const;
  /// Waits for frames that are being written and lists them, and looks whether tables are still there. Before
  /// a checkpoint, since a restart from it keeps what is listed.
  void complete_frames();
  /// The same, and brings all indices up to date: at the end of a run.
  void complete();
  /// The file to open in ParaView, one of VTK if there is any; "" if there is none.
  std::string paraview_file() const;
  /// What the environment says of the run at its end; empty without one.
  typename EnvironmentWriter<D>::Summary finish(const State<D>& state) const;

 private:
  /// Whatever has an interval.
  struct Scheduled {
    std::string_view name;  ///< as ResumePoint knows it
    const OutputInterval& every;
    bool uses_contacts;
  };
  std::vector<Scheduled> scheduled() const;
  /// The values of the columns that every table starts with.
  void start_row(const OutputFrame<D>& frame);
  void write_row(const OutputFrame<D>& frame);

  Comm comm_;
  const RunDeck<D>& deck_;
  std::unique_ptr<Table> scalars_, certificate_;
  std::unique_ptr<EnvironmentWriter<D>> of_environment_;  ///< null in runs without
  std::vector<Output<D>*> outputs_;                       ///< of the deck, those that are written
  std::vector<Real> row_;
};

}  // namespace scree
