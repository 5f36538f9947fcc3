#include "replay/fclib_rigid.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/even_share.hpp"
#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"
#include "friction/dense_block.hpp"

namespace scree {

namespace {

/// Why a problem is none of rigid bodies; that of the smallest number counts.
struct Obstacle {
  std::int64_t number = std::numeric_limits<std::int64_t>::max();
  std::string text;
};

struct Entry {
  std::int64_t row, column;
  Real value;
};

/// Entries of all ranks but zeros, each at the rank that `rank_of` names, in the order of the file.
template <class RankOf>
std::vector<Entry> routed(const Comm& comm, const SparseShare& matrix, const RankOf& rank_of) {
  Outgoing outgoing;
  for (std::size_t e = 0; e < matrix.value.size(); ++e) {
    const Entry entry{matrix.row[e], matrix.column[e], matrix.value[e]};
    if (entry.value != 0) outgoing.to(rank_of(entry)).put(entry);
  }
  return exchange_values<Entry>(comm, outgoing);
}

/// A vector of velocities, dealt out by bodies in place of by velocities; nothing if it is absent.
template <int D>
std::vector<Real> by_bodies(const Comm& comm, const VectorShare& vector, std::int64_t n_bodies) {
  constexpr int q = n_velocities<D>;
  if (!comm.any(!vector.values.empty())) return {};
  const EvenShare bodies(comm, n_bodies);
  Outgoing outgoing;
  for (std::size_t i = 0; i < vector.values.size(); ++i) {
    const std::int64_t row = vector.first + static_cast<std::int64_t>(i);
    outgoing.to(EvenShare::owner(n_bodies, row / q, comm.size())).put(Entry{row, 0, vector.values[i]});
  }
  std::vector<Real> values(bodies.size() * q);
  for (const Entry& entry : exchange_values<Entry>(comm, outgoing))
    values[entry.row - bodies.first * q] = entry.value;
  return values;
}

template <int D>
std::vector<Real> mass_blocks(const Comm& comm, const FclibProblem& problem, std::int64_t n_bodies) {
  constexpr int q = n_velocities<D>;
  const EvenShare bodies(comm, n_bodies);
  std::vector<Real> blocks(bodies.size() * q * q);
  const auto rank_of = [&](const Entry& entry) {
    return EvenShare::owner(n_bodies, entry.row / q, comm.size());
  };
  for (const Entry& entry : routed(comm, problem.M, rank_of)) {
    const std::size_t within = entry.row % q * q + entry.column % q;
    blocks[bodies.at(entry.row / q) * q * q + within] += entry.value;
  }
  return blocks;
}

/// Bodies and Jacobian of this rank's contacts; returns what stands against it.
template <int D>
Obstacle find_contacts(const Comm& comm, const FclibProblem& problem, ProblemShare<D>& share) {
  constexpr int q = n_velocities<D>;
  const EvenShare contacts(comm, problem.n_contacts);
  share.contact = contacts.numbers();
  share.a.assign(contacts.size(), -1);
  share.b.assign(contacts.size(), -1);
  share.jacobian.assign(contacts.size() * 2 * D * q, 0.0);
  const auto rank_of = [&](const Entry& entry) {
    return EvenShare::owner(problem.n_contacts, entry.column / D, comm.size());
  };
  const std::vector<Entry> entries = routed(comm, problem.H, rank_of);

  Obstacle obstacle;
  for (const Entry& entry : entries) {
    const std::int64_t body = entry.row / q;
    const std::int64_t contact = entry.column / D;
    std::int64_t& a = share.a[contacts.at(contact)];
    std::int64_t& b = share.b[contacts.at(contact)];
    if (body == a || body == b) continue;
    if (a < 0)
      a = std::exchange(b, body);
    else if (contact < obstacle.number)
      obstacle = {contact, fmt::format("contact {} touches more than two bodies", contact)};
  }
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (share.a[c] > share.b[c]) std::swap(share.a[c], share.b[c]);
    if (share.b[c] < 0 && share.contact[c] < obstacle.number)
      obstacle = {share.contact[c], fmt::format("contact {} touches no body", share.contact[c])};
  }
  if (!obstacle.text.empty()) return obstacle;
  for (const Entry& entry : entries) {
    const std::size_t c = contacts.at(entry.column / D);
    const std::size_t side = entry.row / q == share.a[c] ? 0 : 1;
    const std::size_t row = entry.column % D;
    share.jacobian[((c * 2 + side) * D + row) * q + static_cast<std::size_t>(entry.row % q)] += entry.value;
  }
  return obstacle;
}

/// v of M v = f for one body: `stored` if that gives f to round-off, else by elimination, refined once.
template <int q>
void solve_for_velocity(const Real* M, const Real* f, const Real* stored, Real* v) {
  constexpr Real round_off = 1e-13;
  if (stored) {
    bool is_same = true;
    for (int i = 0; i < q; ++i) {
      Real sum = 0;
      Real scale = 0;
      for (int j = 0; j < q; ++j) {
        sum += M[i * q + j] * stored[j];
        scale += std::abs(M[i * q + j] * stored[j]);
      }
      is_same = is_same && std::abs(sum - f[i]) <= round_off * scale;
    }
    if (is_same) {
      std::copy_n(stored, q, v);
      return;
    }
  }
  solve_block<q>(M, f, v);
  std::array<Real, q> rest;
  for (int i = 0; i < q; ++i) {
    rest[i] = f[i];
    for (int j = 0; j < q; ++j) rest[i] -= M[i * q + j] * v[j];
  }
  std::array<Real, q> correction;
  solve_block<q>(M, rest.data(), correction.data());
  for (int i = 0; i < q; ++i) v[i] += correction[i];
}

/// What about the file as a whole speaks against rigid bodies.
template <int D>
std::string general_obstacle(const FclibProblem& problem) {
  constexpr int q = n_velocities<D>;
  if (!problem.is_global) return "the problem is in local form";
  if (problem.dimension != D) return fmt::format("the problem has {} dimensions", problem.dimension);
  if (problem.n_constraints > 0) return "there are bilateral constraints";
  if (problem.n_velocities % q != 0)
    return fmt::format("{} velocities are not {} for each body", problem.n_velocities, q);
  return "";
}

}  // namespace

template <int D>
std::optional<ProblemShare<D>> rigid_share(const Comm& comm, const FclibProblem& problem,
                                           std::string* reason) {
  Scope timer("fclib");
  constexpr int q = n_velocities<D>;
  const auto refuse = [&](const std::string& why) {
    if (reason) *reason = why;
    return std::nullopt;
  };
  if (const std::string why = general_obstacle<D>(problem); !why.empty()) return refuse(why);

  Obstacle coupling;
  for (std::size_t e = 0; e < problem.M.value.size(); ++e) {
    const std::int64_t row = problem.M.row[e];
    const std::int64_t column = problem.M.column[e];
    if (problem.M.value[e] != 0 && row / q != column / q && row < coupling.number)
      coupling = {row, fmt::format("M couples velocities {} and {}, of different bodies", row, column)};
  }
  if (const std::string why = message_of_smallest(comm, coupling.number, coupling.text); !why.empty())
    return refuse(why);

  ProblemShare<D> share;
  const Obstacle contact = find_contacts(comm, problem, share);
  if (const std::string why = message_of_smallest(comm, contact.number, contact.text); !why.empty())
    return refuse(why);

  const std::int64_t n_bodies = problem.n_velocities / q;
  share.body = EvenShare(comm, n_bodies).numbers();
  share.mass = mass_blocks<D>(comm, problem, n_bodies);
  const std::vector<Real> f = by_bodies<D>(comm, problem.f, n_bodies);
  const std::vector<Real> stored = by_bodies<D>(comm, problem.free_velocity, n_bodies);
  share.free_velocity.resize(f.size());
  for (std::size_t i = 0; i < share.body.size(); ++i)
    solve_for_velocity<q>(share.mass.data() + i * q * q, f.data() + i * q,
                          stored.empty() ? nullptr : stored.data() + i * q,
                          share.free_velocity.data() + i * q);
  share.start_velocity = by_bodies<D>(comm, problem.start_velocity, n_bodies);
  share.bias = problem.w.values;
  share.mu = problem.mu.values;
  share.compliance = problem.compliance.values;
  share.time_step = problem.time_step;
  share.velocity_floor = problem.velocity_floor;
  return share;
}

template std::optional<ProblemShare<2>> rigid_share<2>(const Comm&, const FclibProblem&, std::string*);
template std::optional<ProblemShare<3>> rigid_share<3>(const Comm&, const FclibProblem&, std::string*);

}  // namespace scree
