#include "run/output.hpp"

#include <fmt/format.h>

namespace scree {

/// Frames as text files NAME.dump_STEP that LAMMPS and OVITO read: id, type from 1 on, position, radius.
template <int D>
class Dump final : public Output<D> {
 public:
  std::string_view name() const override { return "dump"; }
  void describe(Section& output, OutputSettings& /*shared*/) override {
    output.table("dump", {.doc = "Frames as dumps of LAMMPS, NAME.dump_STEP"},
                 [&](Section& table) { every_.describe(table, "frames"); });
  }
  const OutputInterval& every() const override { return every_; }
  void open(const OutputSetup<D>& setup) override { path_ = setup.files.with(".dump_"); }

  void write(const OutputFrame<D>& frame) override {
    const State<D>& state = frame.state;
    const auto n = state.comm.sum(std::int64_t{state.bodies.n_owned()});
    std::string text;
    if (state.comm.is_root()) {
      text =
          fmt::format("ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS", state.clock.step, n);
      for (int k = 0; k < 3; ++k) text += k < D && state.box.is_periodic(k) ? " pp" : " ff";
      for (int k = 0; k < 3; ++k)
        text += k < D ? fmt::format("\n{} {}", state.box.lower[k], state.box.upper[k]) : "\n-0.5 0.5";
      text += "\nITEM: ATOMS id type x y z radius\n";
    }
    for (Index i = 0; i < state.bodies.n_owned(); ++i) {
      const Vec<D> x = state.bodies.position()[i];
      text += fmt::format("{} {} {} {} {} {}\n", state.bodies.id()[i], state.bodies.type()[i] + 1, x[0], x[1],
                          D == 3 ? x[D - 1] : 0, state.bodies.radius()[i]);
    }
    share_errors(state.comm,
                 [&] { append_in_order(state.comm, fmt::format("{}{}", path_, state.clock.step), text); });
  }

 private:
  /// Makes a file of the texts of all ranks, one after the other.
  static void append_in_order(const Comm& comm, const std::string& path, const std::string& text) {
    MPI_File file = MPI_FILE_NULL;
    const int opened =
        MPI_File_open(comm.handle(), path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    if (opened != MPI_SUCCESS) throw RunError("cannot write " + path);
    MPI_File_set_size(file, 0);
    const int written =
        MPI_File_write_ordered(file, text.data(), static_cast<int>(text.size()), MPI_CHAR, MPI_STATUS_IGNORE);
    if (MPI_File_close(&file) != MPI_SUCCESS || written != MPI_SUCCESS)
      throw RunError("cannot write " + path);
  }

  OutputInterval every_;
  std::string path_;
};

SCREE_PLUGIN(Output, dump, Dump, "frames as dumps of LAMMPS")

}  // namespace scree
