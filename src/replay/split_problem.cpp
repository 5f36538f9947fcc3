#include "replay/split_problem.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "core/sparse_all_to_all.hpp"
#include "replay/split/halo.hpp"

namespace scree {

using namespace split;

namespace {

template <int D>
struct BodyRow {
  static constexpr std::size_t q = n_velocities<D>;
  OwnedBody body;
  std::array<Real, q * q> mass;
  std::array<Real, q> free_velocity, start_velocity;
};

template <int D>
struct ContactRow {
  static constexpr std::size_t q = n_velocities<D>;
  Number number;
  Number a, b;
  std::array<Real, 2 * D * q> jacobian;
  std::array<Real, D> bias;
  std::array<Real, 2> compliance;
  Real mu;
};

template <std::size_t n>
void copy_row(const std::vector<Real>& values, std::size_t row, std::array<Real, n>& to) {
  if (values.empty())
    to.fill(0);
  else
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * n), n, to.begin());
}

/// The rows of all ranks that belong to bodies of this rank: row i goes to the owner that to[i] names.
template <class Row, class FillRow>
std::vector<Row> sent_to_owners(const Comm& comm, std::span<const BodyFact> to, const FillRow& fill) {
  std::map<int, std::size_t> n_rows;
  for (const BodyFact& fact : to) ++n_rows[fact.owner];
  Outgoing outgoing;
  for (const auto& [rank, n] : n_rows) outgoing.reserve(rank, n * sizeof(Row));
  Row row;
  for (std::size_t i = 0; i < to.size(); ++i) {
    fill(i, row);
    outgoing.to(to[i].owner).put(row);
  }
  return exchange_values<Row>(comm, outgoing);
}

template <std::size_t n>
void append(std::vector<Real>& to, const std::array<Real, n>& row) {
  to.insert(to.end(), row.begin(), row.end());
}

/// A contact in the order of its rank's list: by colour, contacts of shared bodies first, then as bodies
/// lie in memory.
struct Visit {
  int colour;
  bool is_interior;
  Index place;
  Number number;
  std::size_t row;
  Index pair;
  bool operator<(const Visit& other) const {
    return std::tie(colour, is_interior, place, number) <
           std::tie(other.colour, other.is_interior, other.place, other.number);
  }
};

/// Rows of bodies that a rank owns, ascending, and of contacts that it runs.
template <int D>
struct OwnRows {
  std::vector<BodyRow<D>> bodies;
  std::vector<ContactRow<D>> contacts;
};

/// Rows go to the owners of bodies and of the lower bodies of contacts. Collective.
template <int D>
OwnRows<D> sent_to_owners(const Comm& comm, const ProblemShare<D>& share, const BodyDirectory& directory) {
  OwnRows<D> own;
  const std::vector<BodyFact> facts = directory.look_up(share.body);
  own.bodies = sent_to_owners<BodyRow<D>>(comm, facts, [&](std::size_t i, BodyRow<D>& row) {
    row.body = {share.body[i], facts[i].n_partners};
    copy_row(share.mass, i, row.mass);
    copy_row(share.free_velocity, i, row.free_velocity);
    copy_row(share.start_velocity, i, row.start_velocity);
  });
  std::ranges::sort(own.bodies, {}, [](const BodyRow<D>& row) { return row.body.number; });
  std::vector<Number> lows(share.contact.size());
  for (std::size_t c = 0; c < lows.size(); ++c) lows[c] = pair_of(share.a[c], share.b[c]).low;
  own.contacts =
      sent_to_owners<ContactRow<D>>(comm, directory.look_up(lows), [&](std::size_t c, ContactRow<D>& row) {
        row.number = share.contact[c];
        row.a = share.a[c];
        row.b = share.b[c];
        copy_row(share.jacobian, c, row.jacobian);
        copy_row(share.bias, c, row.bias);
        copy_row(share.compliance, c, row.compliance);
        row.mu = share.mu[c];
      });
  return own;
}

/// Pairs of bodies, ascending, and which of them each contact belongs to.
struct RunPairs {
  std::vector<BodyPair> pairs;
  std::vector<Index> of_contact;
};

template <int D>
RunPairs pairs_of(const std::vector<ContactRow<D>>& contacts) {
  std::vector<std::pair<BodyPair, std::size_t>> pair_and_row;
  pair_and_row.reserve(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c)
    pair_and_row.emplace_back(pair_of(contacts[c].a, contacts[c].b), c);
  std::sort(pair_and_row.begin(), pair_and_row.end());
  RunPairs run;
  run.of_contact.resize(contacts.size());
  for (const auto& [pair, c] : pair_and_row) {
    if (run.pairs.empty() || run.pairs.back() != pair) run.pairs.push_back(pair);
    run.of_contact[c] = static_cast<Index>(run.pairs.size()) - 1;
  }
  return run;
}

/// The order in which a sweep visits contacts.
template <int D>
std::vector<Visit> visits_of(const std::vector<ContactRow<D>>& contacts, const RunPairs& run,
                             const Halo& halo) {
  std::vector<Visit> visits;
  visits.reserve(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Pair& pair = halo.pair(run.of_contact[c]);
    const bool is_interior = !halo.is_shared(pair.low) && (pair.high < 0 || !halo.is_shared(pair.high));
    visits.push_back({pair.colour, is_interior, pair.low, contacts[c].number, c, run.of_contact[c]});
  }
  std::sort(visits.begin(), visits.end());
  return visits;
}

/// Values of the local bodies, from the rows of those that are owned. Collective.
template <int D, std::size_t width>
void fill_bodies(Halo& halo, const std::vector<BodyRow<D>>& bodies,
                 std::array<Real, width> BodyRow<D>::*of_row, std::vector<Real>& values) {
  values.resize(halo.local().size() * width);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    std::copy_n((bodies[i].*of_row).begin(), width,
                values.begin() + halo.place_of_owned()[i] * static_cast<std::ptrdiff_t>(width));
  halo.copy_to_ghosts(values, static_cast<int>(width));
}

}  // namespace

template <int D>
SplitProblem<D>::SplitProblem(const Comm& comm, const SerialProblem<D>& whole)
    : SplitProblem(comm, share_of_list(comm, whole)) {}

template <int D>
SplitProblem<D>::SplitProblem(const Comm& comm, ProblemShare<D> share) {
  const ShareSizes sizes = check_share(comm, share);
  constexpr std::size_t q = ProblemShare<D>::q;
  problem_.time_step = share.time_step;
  problem_.velocity_floor = share.velocity_floor;

  std::vector<BodyPair> pairs(share.contact.size());
  for (std::size_t c = 0; c < pairs.size(); ++c) pairs[c] = pair_of(share.a[c], share.b[c]);
  const BodyDirectory directory(comm, sizes.n_bodies, std::move(pairs));
  const OwnRows<D> own = sent_to_owners(comm, share, directory);
  share = {};

  std::vector<OwnedBody> owned;
  for (const BodyRow<D>& row : own.bodies) owned.push_back(row.body);
  const RunPairs run = pairs_of(own.contacts);
  halo_ = std::make_unique<Halo>(comm, directory, owned, run.pairs);
  problem_.halo = halo_.get();
  problem_.body_id.assign(halo_->local().begin(), halo_->local().end());
  fill_bodies(*halo_, own.bodies, &BodyRow<D>::mass, problem_.mass);
  fill_bodies(*halo_, own.bodies, &BodyRow<D>::free_velocity, problem_.free_velocity);
  if (sizes.has_start) fill_bodies(*halo_, own.bodies, &BodyRow<D>::start_velocity, problem_.start_velocity);

  const std::vector<Visit> visits = visits_of(own.contacts, run, *halo_);
  const auto n_colours = at(halo_->n_colours());
  problem_.colour_first.assign(n_colours + 1, 0);
  problem_.interior_first.assign(n_colours, 0);
  problem_.jacobian.reserve(visits.size() * 2 * D * q);
  problem_.bias.reserve(visits.size() * D);
  for (const Visit& visit : visits) {
    const ContactRow<D>& row = own.contacts[visit.row];
    const Pair& pair = halo_->pair(visit.pair);
    const bool is_a_low = row.a == pair.bodies.low;
    ++problem_.colour_first[at(visit.colour) + 1];
    if (!visit.is_interior) ++problem_.interior_first[at(visit.colour)];
    contact_number_.push_back(row.number);
    problem_.a.push_back(is_a_low ? pair.low : pair.high);
    problem_.b.push_back(is_a_low ? pair.high : pair.low);
    problem_.mu.push_back(row.mu);
    append(problem_.jacobian, row.jacobian);
    append(problem_.bias, row.bias);
    if (sizes.is_compliant) append(problem_.compliance, row.compliance);
  }
  for (std::size_t p = 0; p < n_colours; ++p) {
    problem_.colour_first[p + 1] += problem_.colour_first[p];
    problem_.interior_first[p] += problem_.colour_first[p];
  }
}

template <int D>
SplitProblem<D>::~SplitProblem() = default;

template class SplitProblem<2>;
template class SplitProblem<3>;

}  // namespace scree
