#include "bench/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/measure_time.hpp"
#include "bench/row.hpp"
#include "core/memory.hpp"
#include "core/timing.hpp"
#include "run/python_lines.hpp"

namespace scree {

namespace {

/// A simulation whose steps are counted, with what they report.
template <int D>
class CountedSteps {
 public:
  CountedSteps(Simulation<D>& simulation, const StepTiming& plan, std::string deck)
      : simulation_(simulation), plan_(plan), deck_(std::move(deck)) {}

  void warm_up() {
    const auto is_warm = [&] {
      return plan_.warm_up_time > 0 ? simulation_.state().clock.time >= plan_.warm_up_time
                                    : n_taken_ >= plan_.warm_up;
    };
    while (!is_warm()) {
      step();
      count();
    }
    n_before_ = n_taken_;
    n_bodies_ = 0;
    certificate_.clear();
    n_lists_before_ = simulation_.neighborhood().n_rebuilds();
  }
  void step() {
    if (!simulation_.running())
      throw InputError(fmt::format(
          "{}: the run ends after {} steps, at t = {:g} s; {} are to be measured, the warm-up included: "
          "reduce --warm-up, --steps or --repetitions, or --set a later simulation.end_time",
          deck_, n_taken_, simulation_.state().clock.time,
          plan_.warm_up + std::int64_t{plan_.repetitions} * plan_.steps));
    n_bodies_ += simulation_.state().bodies.n_owned();
    simulation_.step();
    ++n_taken_;
  }
  /// After each step.
  void count() {
    if (!asked_for_options_) asked_for_options_ = simulation_.require_known_options();
    const std::vector<CertificateEntry> certificate = simulation_.stepper().certificate();
    certificate_.resize(certificate.size());
    for (std::size_t k = 0; k < certificate.size(); ++k) {
      certificate_[k].entry = certificate[k];
      certificate_[k].sum += certificate[k].value;
      const Real value = certificate[k].value;
      certificate_[k].max = std::isnan(value) ? value : std::max(certificate_[k].max, value);  // a NaN stays
    }
  }

  std::int64_t n_warm_up() const { return n_before_; }
  std::int64_t n_counted() const { return n_taken_ - n_before_; }
  std::int64_t n_lists() const { return simulation_.neighborhood().n_rebuilds() - n_lists_before_; }
  /// Mean over the counted steps of the bodies of all ranks. Collective.
  Real bodies(const Comm& comm) const {
    return static_cast<Real>(comm.sum(n_bodies_)) / static_cast<Real>(n_counted());
  }
  /// {name: {sum, max}} over the counted steps, texts where they are not finite.
  Json certificate() const {
    Json json = Json::object();
    for (const CertificateSums& sums : certificate_)
      json[sums.entry.name] = {{"sum", finite_or_text(sums.sum)}, {"max", finite_or_text(sums.max)}};
    return json;
  }
  /// How many of the counted steps did what was asked; null: the scheme does not say.
  Json solved() const {
    Json sum;
    for (const CertificateSums& sums : certificate_)
      if (sums.entry.is_success) sum = sums.sum + (sum.is_null() ? 0 : sum.get<Real>());
    return sum;
  }

 private:
  struct CertificateSums {
    CertificateEntry entry;
    Real sum = 0, max = 0;
  };

  Simulation<D>& simulation_;
  const StepTiming& plan_;
  std::string deck_;
  std::int64_t n_taken_ = 0, n_before_ = 0, n_lists_before_ = 0;
  std::int64_t n_bodies_ = 0;  // of this rank, summed over steps
  std::vector<CertificateSums> certificate_;
  bool asked_for_options_ = false;
};

/// Contacts and lists of all ranks. Collective.
template <int D>
Json measure_contacts(const Comm& comm, Simulation<D>& simulation) {
  const auto of_all = [&](auto of_rank) { return comm.sum(static_cast<std::int64_t>(of_rank)); };
  const SweepSchedule<D>& schedule = simulation.neighborhood().schedule();
  return {{"contacts", of_all(simulation.find_contacts(0).size())},
          {"pairs", of_all(schedule.n_pairs())},
          {"lanes", of_all(schedule.n_batches() * batch_size)},
          {"blocks", of_all(schedule.all_blocks().size())}};
}

}  // namespace

template <int D>
Json measure_steps(const Comm& comm, Simulation<D>& simulation, std::int64_t memory_before,
                   const StepTiming& plan, const std::string& deck) {
  CountedSteps<D> steps(simulation, plan, deck);
  const Real warm_up = seconds_of_call(comm, TimeKind::processor, [&] { steps.warm_up(); });
  const Json contacts = measure_contacts(comm, simulation);
  reset_timers();
  Timing step;
  const auto take_step = [&] { steps.step(); };
  const auto count_step = [&] { steps.count(); };
  const Real wall = seconds_of_call(comm, TimeKind::wall, [&] {
    step = plan.seconds > 0 ? measure_time(comm, plan.repetitions, plan.seconds, take_step,
                                           TimeKind::processor, count_step)
                            : measure_windows(comm, plan.repetitions, plan.steps, take_step, count_step);
  });
  const Real bodies = steps.bodies(comm);
  if (bodies == 0)
    throw InputError(fmt::format("{}: there are no bodies in the {} steps after the warm-up of {}", deck,
                                 steps.n_counted(), steps.n_warm_up()));
  const std::vector<TimerRow> timers = timer_table(comm);
  Json seconds = Json::object(), phases = Json::object();
  for (const TimerRow& timer : timers) seconds[timer.name] = seconds_of(timers, timer.name);
  for (const BenchPhase& phase : phases_within(timers, "step")) phases[phase.name] = phase.share;
  Json found{{"seconds", step.median},
             {"spread", step.spread},
             {"bodies", bodies},
             {"steps", steps.n_counted()},
             {"wall", wall},
             {"warm_up", {{"steps", steps.n_warm_up()}, {"seconds", warm_up}}},
             {"timers", seconds},
             {"phases", phases},
             {"certificate", steps.certificate()},
             {"solved", steps.solved()},
             {"rebuilds", steps.n_lists()}};
  found.update(contacts);
  found["imbalance"] = simulation.neighborhood().imbalance();
  found["bytes"] = comm.sum(live_memory() - memory_before);
  found["memory_of_rank"] = comm.max(peak_memory());
  const RunDeck<D>& said = simulation.deck();
  found["run_time"] =
      std::isfinite(said.end_time) ? Json(step.median * std::ceil(said.end_time / said.dt)) : Json();
  return found;
}

template Json measure_steps<2>(const Comm&, Simulation<2>&, std::int64_t, const StepTiming&,
                               const std::string&);
template Json measure_steps<3>(const Comm&, Simulation<3>&, std::int64_t, const StepTiming&,
                               const std::string&);

}  // namespace scree
