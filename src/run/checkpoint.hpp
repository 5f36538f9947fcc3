#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "io/run_files.hpp"
#include "state/shared_rows.hpp"
#include "state/state.hpp"

namespace scree {

/// Writes the state to PATH.part and renames it: a file with the final name is complete. `state.memory` must
/// hold the memory of the owned bodies (Stepper::save). The content is sorted by global id, so it does not
/// depend on the number of ranks. `deck` is the resolved deck, `end_frames` as in CheckpointHead. Collective;
/// throws RunError on all ranks.
template <int D>
void write_checkpoint(const State<D>& state, const std::string& path, const std::string& run_name,
                      const std::string& deck, const files::Texts& provenance,
                      const std::vector<NamedNumbers>& measures = {}, const std::string& end_frames = {},
                      const std::vector<SharedRows>& shared = {});

/// Fills rows of this rank; false, and nothing, if the checkpoint has none of this name and size. Collective.
bool read_shared_rows(const Comm& comm, const std::string& path, std::vector<SharedRows>& shared);

/// What a checkpoint says about its run before its bodies are read.
struct CheckpointHead {
  int dimension = 0;
  std::int64_t step = 0;
  Real time = 0;
  std::string run_name;
  std::string deck;
  std::string started_from;  ///< the checkpoint that brought the bodies of the run, in words; empty: none did
  std::string deck_folder;   ///< where files lie that the deck names; empty: not known
  /// Outputs with a frame of this step that their interval does not ask for, separated by blanks: the run
  /// ended with it.
  std::string end_frames;
};

/// Throws InputError on all ranks if `path` is no complete checkpoint, or a damaged one: then what its
/// checksums show apart from the arrays, which read_checkpoint checks. Collective.
CheckpointHead read_checkpoint_head(const Comm& comm, const std::string& path);

/// What is wrong with what body i carries, as "type is 7, but there are 2"; empty: nothing. Local.
template <int D>
using FaultOfBody = std::function<std::string(const BodyStore<D>& bodies, std::size_t i)>;

/// Fills bodies, clock, lattice, memory and next_id; box and obstacles come from the deck. Each rank reads an
/// equal share of the bodies. A measure that the checkpoint does not know keeps the numbers it has. Every
/// number is checked, also those of a file made by hand whose checksums fit; `fault_of_body` knows what the
/// run allows. Collective; throws InputError on all ranks: what is damaged or out of range, with array and
/// row.
template <int D>
void read_checkpoint(State<D>& state, const std::string& path, const std::vector<NamedNumbers>& measures = {},
                     const FaultOfBody<D>& fault_of_body = {});

/// The checkpoint with the highest step in a folder among those that are whole, or "" if there is none. Each
/// that is damaged and passed over is named in a warning; throws InputError if all are. Reads the whole file.
/// Collective.
std::string latest_checkpoint(const Comm& comm, const std::string& folder);
/// Path of the checkpoint of a step.
std::string checkpoint_path(const std::string& folder, const std::string& run_name, std::int64_t step);
/// Removes all but `newest` and the `keep` - 1 checkpoints before it from a folder. Later ones, of a run that
/// was restarted further back, go too: they do not belong to the series any more. Collective.
void remove_other_checkpoints(const Comm& comm, const std::string& folder, const std::string& newest,
                              std::int64_t keep);

}  // namespace scree
