#pragma once
#include <memory>

#include "analysis/continuum/fields.hpp"
#include "io/environment_output.hpp"
#include "io/image_data.hpp"

namespace scree {

/// Writes the fields of [output.continuum] as a series for ParaView, vtk/NAME_continuum.pvd. Everything
/// collective.
template <int D>
class ContinuumWriter {
 public:
  /// Throws InputError if the files to go on with do not fit.
  ContinuumWriter(const Comm& comm, const RunFiles& files, ContinuumFields<D>& fields, const State<D>& state,
                  const VtkOptions& options, const std::optional<ResumePoint>& resume);

  ContinuumFields<D>& fields() { return fields_; }
  /// Writes a frame of the mean, or the instant; nothing while the mean has no step.
  void write(const State<D>& state, const ContactGraph<D>& contacts);

 private:
  using Sums = typename ContinuumFields<D>::Sums;
  /// Velocity of every cell of this rank and the layers next to it; nan where there is no mass.
  void find_velocity(const std::vector<Sums>& sums);
  /// Sum of (dv_i/dx_j)^2 by differences between neighbouring points [1/s2].
  Real squared_gradient(std::int64_t cell) const;

  Comm comm_;
  ContinuumFields<D>& fields_;
  std::unique_ptr<ImageSeries> series_;
  std::int64_t first_ = 0;                        // cell of this rank
  std::vector<Vec<D>> velocity_, below_, above_;  // of its cells, of the layers next to them
};

}  // namespace scree
