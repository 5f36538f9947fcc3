#include "run/outputs/continuum.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {

constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();

/// Velocity of a cell on its way to a rank whose layer is next to it.
template <int D>
struct CellVelocity {
  std::int64_t cell;
  Vec<D> velocity;
};

Column frame_column(const char* name, const std::string& unit, int components,
                    const std::vector<Real>& values) {
  return {name, unit, components, std::span<const double>(values)};
}

}  // namespace

template <int D>
void ContinuumOutput<D>::check(const RunSurroundings<D>& run) const {
  fields_.check(run.box, run.traits.has_inertia());
  if (!run.traits.exports_forces)
    throw InputError(fmt::format(
        "{}: [output.continuum] needs the forces of contacts, but the scheme \"{}\" does not report "
        "those of impacts; remove it, or take the scheme \"nonsmooth\" or \"dem\"",
        fields_.where(), run.scheme));
  if (!run.where_deformation.empty())
    throw InputError(run.where_deformation +
                     ": [domain.deformation] does not go with [output.continuum]: take the measures "
                     "\"stress\" and \"profile\"");
}

template <int D>
void ContinuumOutput<D>::open(const OutputSetup<D>& setup) {
  const ContinuumGrid<D>& from = fields_.grid();
  ImageGrid grid;
  for (std::size_t k = 0; k < D; ++k) {
    grid.origin[k] = from.origin[k];
    grid.cell[k] = from.cell[k];
  }
  grid.nx = from.n[0];
  grid.ny = from.n[1];
  if constexpr (D == 3) grid.nz = from.n[2];
  const std::string folder = setup.files.folder + "/vtk";
  index_ = folder + "/" + setup.files.name + "_continuum.pvd";
  series_ =
      std::make_unique<ImageSeries>(setup.comm, folder, setup.files.name, "continuum", grid,
                                    ImageSeries::Options{.vtk = {.writers = std::max(setup.vtk_writers, 1),
                                                                 .single_precision = setup.single_precision,
                                                                 .compress = true}});
  if (setup.resume) series_->resume(setup.resume->last_of("continuum").step);
  first_ = grid.first_row(setup.comm) * grid.row_size();
  fields_.warn_of_lengths(setup.state);
}

template <int D>
void ContinuumOutput<D>::find_velocity(const Comm& comm, const std::vector<Sums>& sums) {
  using P = ContinuumPlaces<D>;
  velocity_.assign(sums.size(), filled<D>(nan));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Real mass = real_of(sums[i][P::mass]);
    if (!(mass > 0)) continue;
    for (int k = 0; k < D; ++k)
      velocity_[i][k] = real_of(sums[i][P::momentum + static_cast<std::size_t>(k)]) / mass;
  }
  // Layers go to the ranks of their neighbours, through periodic faces too.
  const ContinuumGrid<D>& grid = fields_.grid();
  const std::int64_t layer = grid.layer_size(), n_layers = grid.layers();
  const std::int64_t first = first_ / layer, end = first + static_cast<std::int64_t>(sums.size()) / layer;
  const auto neighbour = [&](std::int64_t at) -> std::int64_t {
    if (at >= 0 && at < n_layers) return at;
    return grid.periodic[D - 1] ? (at + n_layers) % n_layers : -1;
  };
  Outgoing outgoing;
  for (std::int64_t at = first; at < end; ++at)
    for (const std::int64_t beside : {neighbour(at - 1), neighbour(at + 1)}) {
      if (beside < 0 || (beside >= first && beside < end)) continue;
      Packer packer = outgoing.to(EvenShare::owner(n_layers, beside, comm.size()));
      for (std::int64_t cell = at * layer; cell < (at + 1) * layer; ++cell)
        packer.put(CellVelocity<D>{cell, velocity_[cell - first_]});
    }
  const auto inside = [&](std::int64_t at, std::vector<Vec<D>>& to) {
    to.assign(layer, filled<D>(nan));
    if (at < first || at >= end) return;
    std::copy_n(velocity_.begin() + (at - first) * layer, layer, to.begin());
  };
  const std::int64_t before = first < end ? neighbour(first - 1) : -1,
                     after = first < end ? neighbour(end) : -1;
  inside(before, below_);
  inside(after, above_);
  for (const CellVelocity<D>& arrived : exchange_values<CellVelocity<D>>(comm, outgoing)) {
    const std::int64_t at = arrived.cell / layer;
    const std::size_t place = arrived.cell % layer;
    if (at == before) below_[place] = arrived.velocity;
    if (at == after) above_[place] = arrived.velocity;
  }
}

template <int D>
Real ContinuumOutput<D>::squared_gradient(std::int64_t cell) const {
  const ContinuumGrid<D>& grid = fields_.grid();
  const std::int64_t n_mine = static_cast<std::int64_t>(velocity_.size()), layer = grid.layer_size();
  const auto velocity = [&](std::int64_t at) {
    if (at < 0) return below_[at + layer];
    if (at >= n_mine) return above_[at - n_mine];
    return velocity_[at];
  };
  Real sum = 0;
  std::int64_t stride = 1;
  for (std::size_t k = 0; k < D; ++k) {
    const std::int64_t n = grid.n[k], index = (first_ + cell) / stride % n;
    Vec<D> side[2] = {filled<D>(nan), filled<D>(nan)};
    for (const int step : {-1, 1}) {
      const std::int64_t to = index + step;
      const bool wraps = to < 0 || to >= n;
      if (!grid.active[k] || n < 2 || (wraps && !grid.periodic[k])) continue;
      // The last axis ends in the layers of other ranks, the others in this rank's own.
      const std::int64_t at =
          cell + step * stride + (wraps && k + 1 < D ? -step * n * stride : std::int64_t{0});
      side[step > 0 ? 1 : 0] = velocity(at);
    }
    Real length = 2 * grid.cell[k];
    for (Vec<D>& v : side)
      if (std::isnan(v[0])) {
        v = velocity(cell);
        length -= grid.cell[k];
      }
    if (length > 0.5 * grid.cell[k]) {
      const Vec<D> slope = (1 / length) * (side[1] - side[0]);
      sum += dot(slope, slope);
    }
    stride *= n;
  }
  return sum;
}

template <int D>
void ContinuumOutput<D>::write(const OutputFrame<D>& frame) {
  Scope timer("continuum");
  const State<D>& state = frame.state;
  using P = ContinuumPlaces<D>;
  std::vector<Sums> sums = fields_.frame(state, frame.contacts);
  if (state.comm.all(sums.empty())) return;
  find_velocity(state.comm, sums);
  const Real per_weight = 1 / fields_.covered();
  const std::size_t n = sums.size();
  std::vector<Real> density(n), solid(n), pressure(n), temperature(n), corrected(n), coordination(n);
  std::vector<Real> velocity(3 * n), wall(3 * n), contact(9 * n), kinetic(9 * n), fabric(9 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = [&](std::size_t place) { return real_of(sums[i][place]) * per_weight; };
    density[i] = value(P::mass);
    solid[i] = value(P::volume);
    coordination[i] = value(P::number) > 0 ? value(P::ends) / value(P::number) : nan;
    const Vec<D>& v = velocity_[i];
    const bool has_mass = !std::isnan(v[0]);
    for (std::size_t k = 0; k < D; ++k) {
      velocity[3 * i + k] = v[static_cast<int>(k)];
      wall[3 * i + k] = value(P::wall + k);
    }
    Real trace = 0, motion = 0;
    std::size_t place = 0;
    for_each_symmetric<D>([&](int a, int b) {
      const Real part = has_mass ? value(P::flux + place) - density[i] * v[a] * v[b] : 0;
      const Real segments = value(P::segments);
      const Real direction = segments > 0 ? value(P::fabric + place) / segments : nan;
      for (const std::size_t at : {3 * a + b, 3 * b + a}) {
        kinetic[9 * i + at] = part;
        fabric[9 * i + at] = direction;
      }
      if (a == b) motion += part;
      ++place;
    });
    place = P::contact;
    for (std::size_t a = 0; a < D; ++a)
      for (std::size_t b = 0; b < D; ++b) {
        contact[9 * i + 3 * a + b] = value(place++);
        if (a == b) trace += contact[9 * i + 3 * a + b];
      }
    pressure[i] = (trace + motion) / D;
    temperature[i] = has_mass ? motion / (D * density[i]) : nan;
    corrected[i] = has_mass ? temperature[i] - fields_.kernel().variance() / D *
                                                   squared_gradient(static_cast<std::int64_t>(i))
                            : nan;
  }
  const std::string stress_unit = D == 2 ? "N/m" : "Pa";
  series_->write(state.clock.step, state.clock.time,
                 {frame_column("density", D == 2 ? "kg/m2" : "kg/m3", 1, density),
                  frame_column("solid_fraction", "-", 1, solid), frame_column("velocity", "m/s", 3, velocity),
                  frame_column("contact_stress", stress_unit, 9, contact),
                  frame_column("kinetic_stress", stress_unit, 9, kinetic),
                  frame_column("pressure", stress_unit, 1, pressure),
                  frame_column("temperature", "m2/s2", 1, temperature),
                  frame_column("temperature_corrected", "m2/s2", 1, corrected),
                  frame_column("coordination", "-", 1, coordination), frame_column("fabric", "-", 9, fabric),
                  frame_column("wall_force", D == 2 ? "N/m2" : "N/m3", 3, wall)});
}

template class ContinuumOutput<2>;
template class ContinuumOutput<3>;

SCREE_PLUGIN(Output, continuum, ContinuumOutput, "fields of grains as images for ParaView")

}  // namespace scree
