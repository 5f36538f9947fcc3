#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run_deck.hpp"
#include "contact/contact_graph.hpp"
#include "dynamics/state.hpp"
#include "io/files.hpp"
#include "io/h5md.hpp"
#include "io/table.hpp"
#include "io/vtk_series.hpp"

namespace scree {

/// Where a run's files lie: FOLDER/NAME.h5 and so on.
struct RunFiles {
  std::string folder;  ///< DIRECTORY/NAME
  std::string name;
  std::string with(const std::string& ending) const { return folder + "/" + name + ending; }
  std::string checkpoints() const { return folder + "/checkpoint"; }
};

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

 private:
  /// Columns that every table starts with, and their values.
  std::vector<Table::Heading> first_headings() const;
  void start_row(const State<D>& state, const Stepper<D>& stepper);
  void write_row(const State<D>& state, const ContactGraph<D>& contacts, const Stepper<D>& stepper);
  void write_vtk(const State<D>& state, const ContactGraph<D>& contacts,
                 std::span<const std::int32_t> contact_counts);
  void write_h5md(const State<D>& state, const Stepper<D>& stepper);

  Comm comm_;
  const RunDeck<D>& deck_;
  RunFiles files_;
  std::unique_ptr<Table> scalars_, certificate_;
  std::unique_ptr<VtkSeries> particles_, contacts_, obstacles_;
  std::unique_ptr<H5mdWriter> h5md_;
  std::vector<Real> row_;
};

}  // namespace scree
