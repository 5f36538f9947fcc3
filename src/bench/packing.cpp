#include "bench/packing.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/command_line.hpp"

namespace scree {

template <int D>
std::string packing_text(const PackingOptions& options) {
  const Real radius = 0.5;
  const Real solid_fraction = (D == 2 ? 0.80 : 0.55) * (options.random ? 0.5 : 1);
  // Mean of r^2 and r^3 for radii spread evenly by +-20 %.
  const Real volume =
      D == 2 ? M_PI * radius * radius * (1 + 0.04 / 3) : 4.0 / 3 * M_PI * std::pow(radius, 3) * 1.04;
  const Real spacing = std::pow(volume / solid_fraction, 1.0 / D);
  const auto per_edge =
      static_cast<std::int64_t>(std::llround(std::pow(static_cast<Real>(options.bodies), 1.0 / D)));
  const Real edge = static_cast<Real>(per_edge) * spacing;
  const auto repeated = [](const std::string& text) {
    return "[" + text + ", " + text + (D == 3 ? ", " + text : "") + "]";
  };
  const std::int64_t count = D == 2 ? per_edge * per_edge : per_edge * per_edge * per_edge;
  const std::string source =
      options.random ? fmt::format(R"(type = "random", count = {})", count)
                     : fmt::format(R"(type = "lattice", spacing = {:.17g}, jitter = 0.3)", spacing);
  return fmt::format(
      R"([simulation]
dimension = {}
end_time = 1e9
allow_overlap = true
[domain]
lower = {}
upper = {}
periodic = {}
[time]
step = 0.001
[velocity]
type = "constant"
velocity = {}
[pbd]
sweeps = 2
overlap_limit = 0
[neighbors]
skin = {}
[decomposition]
block_cells = {}
[particles.all]
radius = {{ distribution = "uniform", min = 0.4, max = 0.6 }}
source = {{ {} }}
{}
)",
      D, repeated("0"), repeated(fmt::format("{:.17g}", edge)), repeated("true"),
      D == 2 ? "[1.0, 0.3]" : "[1.0, 0.3, 0.2]", options.skin,
      options.block_cells > 0 ? std::to_string(options.block_cells) : "\"auto\"", source, options.more);
}

template std::string packing_text<2>(const PackingOptions&);
template std::string packing_text<3>(const PackingOptions&);

void PackingBench::add_options(CommandLine& app) {
  app.option("--dimensions", dimensions_, "2, 3 or both").delimiter(',').check(in_range(2, 3));
  app.option("--bodies", bodies_, "numbers of bodies, over all ranks")
      .delimiter(',')
      .check(positive_number());
  add_repetitions(app);
}

void PackingBench::make_quick() {
  bodies_ = {quick_bodies_};
  repetitions_ = 3;
}

}  // namespace scree
