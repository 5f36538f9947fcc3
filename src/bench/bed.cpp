#include "bench/bed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/packing.hpp"
#include "core/error.hpp"
#include "core/files.hpp"
#include "run/simulation.hpp"

namespace scree {

Bed::Bed(const Comm& comm, BedOptions options)
    : comm_(comm), options_(std::move(options)), folder_(comm, options_.folder) {
  // Dense: along z the lattice does not close on itself.
  const std::string places = options_.loose ? fmt::format("count = {}, jitter = 0.09", tile_bodies)
                                            : fmt::format("spacing = {}, jitter = 0.05", diameter);
  const Real height = (options_.loose ? 35 : tile_edge + 0.5) * diameter;
  Simulation<3> simulation(comm,
                           deck_of(1, 1,
                                   fmt::format("random_speed = 0.2\nsource = {{ type = \"lattice\", {}, "
                                               "region = {{ lower = [0, 0, 0], upper = [{}, {}, {}] }} }}",
                                               places, tile_edge * diameter, tile_edge * diameter, height)));
  SCREE_ASSERT(simulation.n_bodies() == tile_bodies);
  while (simulation.state().clock.time < options_.settling_time) simulation.step();
  const State<3>& state = simulation.state();
  std::vector<Real> by_id(static_cast<std::size_t>(3 * tile_bodies));
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    for (int k = 0; k < 3; ++k)
      by_id[static_cast<std::size_t>(3 * state.bodies.id()[i] + k)] = state.bodies.position()[i][k];
  comm.sum_to_round_off(by_id);  // each from one rank: exact
  tile_.resize(static_cast<std::size_t>(tile_bodies));
  for (std::size_t i = 0; i < tile_.size(); ++i)
    tile_[i] = {{by_id[3 * i], by_id[3 * i + 1], by_id[3 * i + 2]}};
}

RunDeck<3> Bed::deck_of(std::int64_t columns, std::int64_t rows, const std::string& source) const {
  return read_bench_deck<3>(fmt::format(
      R"([simulation]
dimension = 3
scheme = "{}"
end_time = 1e9
allow_overlap = true
[domain]
lower = [0, 0, -0.01]
upper = [{}, {}, {}]
periodic = [true, true, false]
[physics]
gravity = [0, 0, -9.81]
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "glass"
[particles.grains]
material = "glass"
radius = {{ distribution = "constant", value = {} }}
{}
{}
)",
      options_.scheme, static_cast<Real>(columns * tile_edge) * diameter,
      static_cast<Real>(rows * tile_edge) * diameter, options_.loose ? 0.4 : 0.3, diameter / 2, source,
      options_.tables));
}

RunDeck<3> Bed::deck(std::int64_t bodies) {
  const std::int64_t n_tiles = bodies / tile_bodies;
  // As square as a whole number of tiles can be.
  auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<Real>(n_tiles)));
  while (n_tiles % rows != 0) --rows;
  const std::int64_t columns = n_tiles / rows;
  const Real edge = tile_edge * diameter;
  const auto wrapped = [&](Real x) { return std::clamp(x - std::floor(x / edge) * edge, 0.0, edge); };
  const std::string path = folder_.path() + "/bed.csv";
  files::on_root(comm_, [&] {
    std::string text = "x,y,z\n";
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t row = 0; row < rows; ++row)
        for (const Vec<3>& x : tile_)
          text += fmt::format("{:.12g},{:.12g},{:.12g}\n", wrapped(x[0]) + static_cast<Real>(column) * edge,
                              wrapped(x[1]) + static_cast<Real>(row) * edge, x[2]);
    files::write_atomically(path, text);
  });
  return deck_of(columns, rows, fmt::format("source = {{ type = \"file\", path = \"{}\" }}", path));
}

void Bed::validate(std::int64_t bodies) {
  if (bodies < tile_bodies || bodies % tile_bodies != 0)
    throw InputError(
        fmt::format("--bodies {}: beds are made of tiles, give a multiple of {}", bodies, tile_bodies));
}

std::int64_t Bed::nearest(std::int64_t bodies) {
  return std::max<std::int64_t>(1, (bodies + tile_bodies / 2) / tile_bodies) * tile_bodies;
}

}  // namespace scree
