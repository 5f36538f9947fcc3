#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/crowd_writer.hpp"
#include "app/run_deck.hpp"
#include "contact/contact_graph.hpp"
#include "dynamics/state.hpp"
#include "io/background.hpp"
#include "io/files.hpp"
#include "io/h5md.hpp"
#include "io/table.hpp"
#include "io/vtk_series.hpp"

namespace scree {

/// All series that a run writes. They read the state and never change it. Everything collective.
template <int D>
class Writers {
 public:
  /// `resume_after`: the step of a checkpoint to go on from; empty: new files.
  Writers(const Comm& comm, const RunFiles& files, const RunDeck<D>& deck, const State<D>& state,
          const std::string& resolved, const files::Texts& provenance, std::optional<Clock> resume_after);

  /// Whether the step that took the run from `before` to `time` (number `step`) is followed by output of
  /// contacts.
  bool needs_contacts(std::int64_t step, Real before, Real time) const;
  /// Writes what is due. `contacts` are current if needs_contacts said so. `contact_counts`: per owned body.
  void write(const State<D>& state, Real before, const ContactGraph<D>& contacts,
             std::span<const std::int32_t> contact_counts, const Stepper<D>& stepper);
  /// Waits for frames that are being written and lists them, and looks whether tables are still there. Before
  /// a checkpoint, since a restart from it keeps what is listed, and at the end of a run.
  void complete();
  /// The file to open in ParaView; "" if there is none.
  std::string to_look_at() const;
  /// Of a run of people: what came of it, at the end; empty in other runs.
  CrowdWriter::Summary finish(const State<D>& state) const;

 private:
  void list_frames();
  /// Columns that every table starts with, and their values.
  std::vector<Table::Heading> first_headings() const;
  void start_row(const State<D>& state, const Stepper<D>& stepper);
  void write_row(const State<D>& state, const ContactGraph<D>& contacts, const Stepper<D>& stepper);
  void write_vtk(const State<D>& state, const ContactGraph<D>& contacts,
                 std::span<const std::int32_t> contact_counts);
  void write_h5md(const State<D>& state, const Stepper<D>& stepper);
  /// The series of frames that there are.
  std::vector<VtkSeries*> frame_series() const;

  Comm comm_;
  const RunDeck<D>& deck_;
  RunFiles files_;
  std::unique_ptr<Background> background_;  ///< null: frames are written at once
  std::unique_ptr<Table> scalars_, certificate_;
  std::unique_ptr<VtkSeries> particles_, contacts_, obstacles_;
  std::unique_ptr<H5mdWriter> h5md_;
  std::unique_ptr<CrowdWriter> people_;  ///< null in other runs
  std::vector<Real> row_;
};

}  // namespace scree
