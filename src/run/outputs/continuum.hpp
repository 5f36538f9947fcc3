#pragma once
#include <memory>
#include <string>
#include <vector>

#include "analysis/continuum/fields.hpp"
#include "io/image_data.hpp"
#include "run/output.hpp"

namespace scree {

/// The fields of [output.continuum] as a series for ParaView, vtk/NAME_continuum.pvd.
template <int D>
class ContinuumOutput final : public Output<D> {
 public:
  std::string_view name() const override { return "continuum"; }
  void describe(Section& output, OutputSettings& /*shared*/) override { fields_.describe(output); }
  const OutputInterval& every() const override { return fields_.every(); }
  void check(const RunSurroundings<D>& run) const override;
  bool is_vtk() const override { return true; }
  bool uses_contacts() const override { return true; }

  void open(const OutputSetup<D>& setup) override;
  void write(const OutputFrame<D>& frame) override;
  std::string file_to_view() const override { return index_; }

  void after_step(const OutputFrame<D>& frame, Real before) override {
    fields_.after_step(frame.state, before, frame.contacts);
  }
  bool takes(std::int64_t step, Real before, Real time) const override {
    return fields_.takes(before, time, step);
  }
  void frame_is_written() override { fields_.frame_is_written(); }
  void prepare(const State<D>& state) override { fields_.prepare(state); }
  std::span<Real> memory() override { return fields_.memory(); }
  std::vector<SharedRows> saved(const Comm& comm) override { return fields_.saved(comm); }
  std::vector<SharedRows> to_restore(const Comm& comm) const override { return fields_.to_restore(comm); }
  bool restore(const std::vector<SharedRows>& rows) override {
    if (!fields_.fits_memory()) return false;
    fields_.restore(rows);
    return true;
  }

  /// For tests.
  ContinuumFields<D>& fields() { return fields_; }

 private:
  using Sums = typename ContinuumFields<D>::Sums;
  /// Velocity of every cell of this rank and the layers next to it; nan where there is no mass. Collective.
  void find_velocity(const Comm& comm, const std::vector<Sums>& sums);
  /// Sum of (dv_i/dx_j)^2 by differences between neighbouring points [1/s2].
  Real squared_gradient(std::int64_t cell) const;

  ContinuumFields<D> fields_;
  std::string index_;
  std::unique_ptr<ImageSeries> series_;
  std::int64_t first_ = 0;                        // cell of this rank
  std::vector<Vec<D>> velocity_, below_, above_;  // of its cells, of the layers next to them
};

}  // namespace scree
