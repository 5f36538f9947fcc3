#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/files.hpp"
#include "core/plugin.hpp"
#include "io/environment_output.hpp"
#include "run/output_settings.hpp"
#include "schemes/common/stepper.hpp"
#include "state/shared_rows.hpp"

namespace scree {

/// What an output has to suit.
template <int D>
struct RunSurroundings {
  const Box<D>& box;
  SchemeTraits traits;
  std::string_view scheme;
  std::string where_deformation;  ///< in the deck; empty: the domain does not deform
};

/// What an output opens its files with.
template <int D>
struct OutputSetup : OutputContext<D> {
  const std::string& resolved_deck;
  const files::Texts& provenance;
  bool fixed_bodies;                        ///< all frames have the same bodies
  bool exports_forces;                      ///< contacts know their forces
  const EnvironmentWriter<D>* environment;  ///< null in runs without
};

/// What it writes a frame from, after a step.
template <int D>
struct OutputFrame {
  const State<D>& state;
  const ContactGraph<D>& contacts;               ///< current if the output asked for them
  std::span<const std::int32_t> contact_counts;  ///< per owned body, likewise
  const Stepper<D>& stepper;
};

/// A series of frames that runs write, with a table of [output] that has its name and says when. Outputs read
/// the state and never change it. Everything collective unless it says local. To add one, write one file in
/// run/outputs; those whose frames are means over steps implement after_step() and what follows it, too.
template <int D>
class Output {
 public:
  virtual ~Output() = default;
  /// Of its table, of its timer, and in checkpoints.
  virtual std::string_view name() const = 0;
  /// Declares and reads its table; `shared`: what several outputs go by. Local.
  virtual void describe(Section& output, OutputSettings& shared) = 0;
  /// When there is a frame, besides that at the end of a run. Local.
  virtual const OutputInterval& every() const = 0;
  /// Throws InputError if the table does not suit the run. Local.
  virtual void check(const RunSurroundings<D>&) const {}
  /// Whether it needs a build with VTK. Local.
  virtual bool is_vtk() const { return false; }
  /// Whether frames have contacts, or the numbers of contacts of bodies. Local.
  virtual bool uses_contacts() const { return false; }
  virtual bool uses_contact_counts() const { return false; }
  /// What a body takes [bytes], on disk for each frame and in memory while one is written: for estimates.
  struct Size {
    Real on_disk = 0, in_memory = 0;
  };
  virtual Size size_of_body() const { return {}; }

  /// Opens new files, or goes on with those of `setup.resume`.
  virtual void open(const OutputSetup<D>& setup) = 0;
  virtual void write(const OutputFrame<D>& frame) = 0;
  /// Waits for frames that are being written and lists them.
  virtual void list_frames() {}
  /// At the end of a run, after the last frame.
  virtual void complete() {}
  /// The file to open in ParaView; "": none. Local.
  virtual std::string file_to_view() const { return ""; }

  /// After every step, before frames. `before`: the time before the step.
  virtual void after_step(const OutputFrame<D>&, Real /*before*/) {}
  /// Whether after_step() reads the contacts of this step. Local.
  virtual bool takes(std::int64_t /*step*/, Real /*before*/, Real /*time*/) const { return false; }
  /// A frame of the interval was written, none that only the end of a run asked for. Local.
  virtual void frame_is_written() {}
  /// Before the first step. Local.
  virtual void prepare(const State<D>&) {}
  /// Numbers of a mean that has begun, the same on all ranks; checkpoints have them. Local.
  virtual std::span<Real> memory() { return {}; }
  /// And those that ranks share.
  virtual std::vector<SharedRows> saved(const Comm&) { return {}; }
  /// What saved() of such a run gave, without values, to be filled and handed to restore().
  virtual std::vector<SharedRows> to_restore(const Comm&) const { return {}; }
  /// Goes on with memory() and rows of a checkpoint; false: they are of other settings. Local.
  virtual bool restore(const std::vector<SharedRows>&) { return true; }
};

/// Whether this build writes the output, which the deck asks for.
template <int D>
bool is_written(const Output<D>& output) {
  return !output.is_vtk() || has_vtk();
}

template <>
std::span<const Entry<Output<2>>> registry<Output<2>>();
template <>
std::span<const Entry<Output<3>>> registry<Output<3>>();

}  // namespace scree
