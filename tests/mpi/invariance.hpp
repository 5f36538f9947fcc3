#pragma once
#include <unordered_map>

#include "io/compare/differences.hpp"
#include "mpi/simulate.hpp"

namespace scree {

/// The numbers that an entry of a field consists of.
template <class T>
std::vector<Real> numbers_of(const T& entry) {
  if constexpr (std::is_arithmetic_v<T>)
    return {static_cast<Real>(entry)};
  else if constexpr (requires { entry.component; })
    return {entry.component.begin(), entry.component.end()};
  else
    return {entry.begin(), entry.end()};
}

/// The first saved field, and of it the body with the least id, in which two states differ; empty: none.
/// `alone` holds all bodies on each rank of `together`. Collective.
template <int D>
std::string first_different_body(const State<D>& alone, const State<D>& together) {
  std::unordered_map<GlobalId, std::size_t> place;
  for (Index i = 0; i < alone.bodies.n_owned(); ++i)
    place[alone.bodies.id()[i]] = static_cast<std::size_t>(i);
  const std::size_t n = together.bodies.n_owned();
  const auto ids = together.bodies.id().first(n);
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t rank_of_field = 0, field = none, body = none;
  std::string text;
  const auto note = [&](GlobalId id, const std::string& what) {
    if (std::pair(rank_of_field, id) >= std::pair(field, body)) return;
    field = rank_of_field;
    body = id;
    text = what;
  };
  for (const GlobalId id : ids)
    if (!place.contains(id)) note(id, "body " + std::to_string(id) + " is there on several ranks only");
  together.bodies.for_each_field([&](const FieldInfo& info, const auto& values) {
    ++rank_of_field;
    if (!info.saved) return;
    alone.bodies.for_each_field([&](const FieldInfo& other, const auto& expected) {
      if constexpr (std::is_same_v<decltype(values), decltype(expected)>) {
        if (info.name != other.name) return;
        for (std::size_t i = 0; i < n; ++i) {
          if (!place.contains(ids[i])) continue;
          const std::vector<Real> a = numbers_of(expected[place[ids[i]]]), b = numbers_of(values[i]);
          for (std::size_t k = 0; k < a.size(); ++k)
            if (!detail::same_bits(a[k], b[k]))
              note(ids[i], fmt::format("{}[{}] of body {}: {} alone, {} on several ranks, {} ulps", info.name,
                                       k, ids[i], a[k], b[k], detail::ulps_between(a[k], b[k])));
        }
      }
    });
  });
  const Comm& comm = together.comm;
  const std::int64_t first_field = comm.min(field);
  const std::int64_t first_body = comm.min(field == first_field ? body : none);
  if (first_field == none) return "";
  const bool mine = field == first_field && body == first_body;
  comm.broadcast(text, static_cast<int>(comm.max(std::int64_t{mine ? comm.rank() : -1})));
  return text;
}

/// Runs a deck alone and together once more and says after which step which field of which body differs
/// first. Collective.
template <int D>
std::string where_runs_part(const std::string& text, const Overrides& alone_with,
                            const Overrides& together_with, int n_steps) {
  Simulation<D> alone(Comm(MPI_COMM_SELF), read_deck<D>(text, alone_with));
  Simulation<D> together(Comm(), read_deck<D>(text, together_with));
  for (int step = 0; step <= n_steps; ++step) {
    if (const std::string found = first_different_body(alone.state(), together.state()); !found.empty())
      return fmt::format("step {}, {}", step, found);
    if (step == n_steps) break;
    alone.step(step + 1 == n_steps);
    together.step(step + 1 == n_steps);
  }
  return "fields of bodies are the same after each step: contacts, counts or the energy balance differ";
}

/// Compares all ranks together with each one alone; returns what all found together.
template <int D>
Outcome check_invariant(const std::string& text, const Overrides& overrides, int n_steps) {
  std::string what;
  for (const std::string& o : overrides) what += o + " ";
  CAPTURE(D, what);
  const Comm world;
  const Outcome alone = simulate<D>(Comm(MPI_COMM_SELF), text, overrides, n_steps);
  const Outcome together = simulate<D>(world, text, overrides, n_steps);
  const bool is_same = world.min(std::int64_t{together.same_result(alone)}) == 1;
  const std::string first_difference = is_same ? "" : where_runs_part<D>(text, overrides, overrides, n_steps);
  CAPTURE(alone, together, first_difference);
  CHECK(is_same);
  return together;
}

/// check_invariant() for runs that would prove nothing if bodies did not push each other, also across ranks.
template <int D>
Outcome check_pushing(const std::string& text, const Overrides& overrides, int n_steps) {
  const Outcome together = check_invariant<D>(text, overrides, n_steps);
  CAPTURE(together);
  CHECK(together.n_pushing > 20);
  CHECK(together.n_rebuilds > 2);
  if (Comm().size() > 1) {
    CHECK(together.n_shared_contacts > 0);
    CHECK(together.n_migrated > 0);
  }
  return together;
}

}  // namespace scree
