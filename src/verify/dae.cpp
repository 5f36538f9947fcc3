#include <algorithm>

#include "verify/dae_cases.hpp"

namespace scree {

std::unique_ptr<Integrator<2>> dae_integrator(const std::string& name) {
  auto integrator = make_integrator<2>(name);
  if (integrator) return integrator;
  std::string names;
  for (const auto& entry : registry<Integrator<2>>())
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  throw InputError(fmt::format("--integrator: '{}' is none of {}", name, names));
}

int steps_until(Real end_time, Real time_step) {
  const Real n = std::round(end_time / time_step);
  if (!(n >= 1 && n <= 1e7 && std::abs(n * time_step - end_time) <= 1e-9 * end_time))
    throw InputError(
        fmt::format("--end-time: {:g} s is not a whole number of steps of {:g} s, from 1 to 10 million",
                    end_time, time_step));
  return static_cast<int>(n);
}

namespace {

struct Case {
  std::string_view name;
  void (*verify)(DaeTable&);
  void (*run)(DaeTable&);
  bool is_pendulum, is_slope;
  std::size_t n_start;  ///< numbers of a start
};
constexpr Case cases[] = {
    {"pendulum", &verify_pendulum, &run_pendulum, true, false, 2},
    {"double-pendulum", &verify_double_pendulum, &run_double_pendulum, true, false, 4},
    {"slope", &verify_dry_slope, &run_dry_slope, false, true, 1},
    {"oscillator", &verify_oscillator, &run_oscillator, false, false, 1},
    {"stack", &verify_stack, &run_stack, false, false, 0},
};

/// Options that this case would pass over in silence are refused.
void check_options(const Case& chosen, const DaeOptions& options) {
  const auto refuse_if = [&](bool given, std::string_view option, std::string_view why) {
    if (given) throw InputError(fmt::format("{}: {} {}", option, chosen.name, why));
  };
  const bool pendulum = chosen.is_pendulum;
  const bool stack = chosen.n_start == 0;
  refuse_if(options.gravity && !pendulum && !chosen.is_slope && !stack, "--g", "has no gravity");
  refuse_if(options.angle && !chosen.is_slope, "--angle", "has no slope");
  refuse_if(options.mu && pendulum, "--mu", "has no friction");
  refuse_if(!options.projection.empty() && !pendulum && !stack, "--projection",
            "has one constraint, on velocity, which is met exactly");
  refuse_if(options.disks && !stack, "--disks", "has no disks");
  refuse_if(options.quick && (!stack || options.is_single_run()), "--quick", "has no quick form");
  refuse_if(options.strict && !pendulum, "--strict", "has no start that breaks a constraint");
  if (options.angle && *options.angle >= 90)
    throw InputError(fmt::format("--angle: {:g} degrees is no slope, it has to be below 90", *options.angle));
  const auto refuse_large = [](std::string_view option, Real value) {
    constexpr Real most = 1e30;  // with room for products of several
    if (std::abs(value) > most)
      throw InputError(fmt::format("{}: {:g} is too large, up to {:g} is possible", option, value, most));
  };
  refuse_large("--g", options.gravity.value_or(0));
  refuse_large("--dt", options.time_step.value_or(0));
  refuse_large("--end-time", options.end_time.value_or(0));
  refuse_large("--mu", options.mu.value_or(0));
  for (const Real x : options.start) refuse_large("--start", x);
  for (const Real v : options.velocity) refuse_large("--velocity", v);
  for (const auto& [option, values] :
       {std::pair{"--start", &options.start}, {"--velocity", &options.velocity}})
    if (!values->empty() && values->size() != chosen.n_start)
      throw InputError(fmt::format("{}: {} has {} coordinate{}, {} numbers were given", option, chosen.name,
                                   chosen.n_start, chosen.n_start == 1 ? "" : "s", values->size()));
}

}  // namespace

bool verify_dae(const Comm& comm, const DaeOptions& options, const Show& show) {
  const auto* chosen = std::ranges::find(cases, options.only, &Case::name);
  if (chosen == std::end(cases)) throw InputError("no such case: " + options.only);
  check_options(*chosen, options);
  DaeTable table(comm, options, show);
  (options.is_single_run() ? chosen->run : chosen->verify)(table);
  if (table.has_checks()) table.show("");
  return table.finish(options.csv);
}

}  // namespace scree
