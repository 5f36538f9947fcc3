#include "io/fclib.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/id_order.hpp"
#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/hdf5.hpp"
#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"
#include "friction/scaled_problem.hpp"
#include "io/fclib_layout.hpp"

namespace scree {

using fclib_layout::write_info;
using fclib_layout::write_integer;
using fclib_layout::write_matrix;
using fclib_layout::write_vector;

std::int32_t fclib_integer(std::int64_t count, std::string_view what, const std::string& path) {
  if (count > std::numeric_limits<std::int32_t>::max())
    throw RunError(fmt::format("cannot write {}: FCLIB counts with 32-bit integers, and {} {} are too many",
                               path, count, what));
  return static_cast<std::int32_t>(count);
}

namespace {

/// Impulses of the problem's contacts, the velocities of the local bodies that follow from them, and the
/// group that they are written to.
struct Iterate {
  std::string group;
  std::span<const Real> impulse;
  std::vector<Real> velocity;
};
constexpr std::size_t max_iterates = 2;  // a guess and a result

/// A body as it travels to the rank that writes it.
template <int D>
struct BodyRow {
  static constexpr std::size_t q = n_velocities<D>;
  GlobalId id;
  std::int32_t rank;  ///< where it is owned
  Index place;
  std::array<Real, q * q> mass;
  std::array<Real, q> free, start;
  std::array<std::array<Real, q>, max_iterates> v;
};

/// A contact as it travels.
template <int D>
struct ContactRow {
  static constexpr std::size_t q = n_velocities<D>;
  std::int64_t home;  ///< row of the body that decides where the contact is written
  ContactKey key;
  std::array<std::int32_t, 2> body;  ///< rows of a and b, -1: none
  std::array<Real, 2 * D * q> jacobian;
  std::array<Real, D> bias;
  std::array<std::array<Real, D>, max_iterates> r, u;
  std::array<Real, 2> compliance;
  Real mu;
};

template <std::size_t n>
void copy(std::span<const Real> from, std::size_t item, std::array<Real, n>& to) {
  if (from.empty())
    to.fill(0);
  else
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(item * n), n, to.begin());
}

/// The rows of all ranks' bodies in the order of ids.
template <int D>
std::vector<BodyRow<D>> sorted_bodies(const FrictionProblem<D>& problem, std::span<const Iterate> iterates,
                                      const IdOrder& order) {
  std::vector<BodyRow<D>> mine(problem.n_owned());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    mine[i].id = problem.body_id[i];
    mine[i].rank = problem.halo->comm().rank();
    mine[i].place = static_cast<Index>(i);
    copy(problem.mass, i, mine[i].mass);
    copy(problem.free_velocity, i, mine[i].free);
    copy(problem.start_velocity, i, mine[i].start);
    mine[i].v = {};
    for (std::size_t k = 0; k < iterates.size(); ++k) copy(iterates[k].velocity, i, mine[i].v[k]);
  }
  std::vector<BodyRow<D>> sorted;
  order.apply(std::span<const BodyRow<D>>(mine), sorted);
  return sorted;
}

/// Row of each local body, sent by the ranks that write them.
template <int D>
std::vector<Real> rows_of_bodies(const FrictionProblem<D>& problem, std::span<const BodyRow<D>> sorted,
                                 std::int64_t first) {
  Outgoing outgoing;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    Packer packer = outgoing.to(sorted[i].rank);
    packer.put(sorted[i].place);
    packer.put(first + static_cast<std::int64_t>(i));
  }
  // As reals, which the halo carries; rows are below 2^31.
  std::vector<Real> rows(problem.n_local(), -1.0);
  for (const PackedMessage& message : outgoing.exchange(problem.halo->comm())) {
    Unpacker unpacker(message.bytes);
    while (!unpacker.empty()) {
      const auto place = unpacker.template take<Index>();
      rows[place] = static_cast<Real>(unpacker.template take<std::int64_t>());
    }
  }
  problem.halo->copy_to_ghosts(rows, 1);
  return rows;
}

/// The contacts that this rank writes, in order: those of the bodies it writes. Fixed bodies have none with
/// driven walls.
template <int D>
std::vector<ContactRow<D>> sorted_contacts(const FrictionProblem<D>& problem,
                                           std::span<const ContactKey> keys,
                                           std::span<const Iterate> iterates, std::span<const Real> rows,
                                           std::int64_t n_bodies) {
  const Comm& comm = problem.halo->comm();
  Outgoing outgoing;
  for (std::size_t c = 0; c < keys.size(); ++c) {
    ContactRow<D> row;
    const std::array<Index, 2> body{problem.a[c], problem.b[c]};
    if (body[0] < 0 && body[1] < 0) continue;
    for (std::size_t side = 0; side < 2; ++side)
      row.body[side] = body[side] < 0 ? -1 : static_cast<std::int32_t>(rows[body[side]]);
    row.home = row.body[0] < 0 ? row.body[1] : row.body[0];
    row.key = keys[c];
    for (std::size_t side = 0; side < 2; ++side)
      problem.find_rows(c, side, &row.jacobian[side * D * n_velocities<D>]);
    copy(problem.bias, c, row.bias);
    copy(problem.compliance, c, row.compliance);
    row.r = row.u = {};
    for (std::size_t k = 0; k < iterates.size(); ++k) {
      copy(iterates[k].impulse, c, row.r[k]);
      const Vec<D> u = problem.relative_velocity(c, iterates[k].velocity);
      for (std::size_t i = 0; i < D; ++i) row.u[k][i] = u[static_cast<int>(i)] + row.bias[i];
    }
    row.mu = problem.mu[c];
    outgoing.to(EvenShare::owner(n_bodies, row.home, comm.size())).put(row);
  }

  std::vector<ContactRow<D>> sorted;
  for (const PackedMessage& message : outgoing.exchange(comm)) {
    Unpacker unpacker(message.bytes);
    while (!unpacker.empty()) sorted.push_back(unpacker.template take<ContactRow<D>>());
  }
  const auto order = [](const ContactRow<D>& row) { return std::tie(row.home, row.key); };
  std::sort(sorted.begin(), sorted.end(),
            [&](const ContactRow<D>& x, const ContactRow<D>& y) { return order(x) < order(y); });
  // Equal keys of one body meet on one rank.
  share_errors(comm, [&] {
    for (std::size_t c = 1; c < sorted.size(); ++c)
      if (order(sorted[c]) == order(sorted[c - 1])) {
        const ContactKey& key = sorted[c].key;
        throw RunError(fmt::format("friction problem: two contacts have the key ({}, {}, {})", key.a, key.b,
                                   key.feature));
      }
  });
  return sorted;
}

/// Triplets: `i` is the row and `p` the column.
struct Triplets : fclib_layout::Stretch {
  void add(std::int64_t row, std::int64_t column, Real value) {
    if (value == 0) return;
    i.push_back(static_cast<std::int32_t>(row));
    p.push_back(static_cast<std::int32_t>(column));
    x.push_back(value);
  }
};

template <int D>
Triplets mass_entries(std::span<const BodyRow<D>> bodies, std::int64_t first) {
  constexpr int q = n_velocities<D>;
  Triplets entries;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (int j = 0; j < q; ++j)
      for (int k = 0; k < q; ++k) {
        const std::int64_t base = (first + static_cast<std::int64_t>(i)) * q;
        entries.add(base + j, base + k, bodies[i].mass[j * q + k]);
      }
  return entries;
}

template <int D>
Triplets jacobian_entries(std::span<const ContactRow<D>> contacts, std::int64_t first) {
  constexpr int q = n_velocities<D>;
  Triplets entries;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const ContactRow<D>& row = contacts[c];
    const int lower = row.body[0] < row.body[1] ? 0 : 1;
    for (int k = 0; k < D; ++k)
      for (const int side : {lower, 1 - lower}) {
        const std::int64_t body = row.body[side];
        if (body < 0) continue;
        for (int j = 0; j < q; ++j)
          entries.add(body * q + j, (first + static_cast<std::int64_t>(c)) * D + k,
                      row.jacobian[(side * D + k) * q + j]);
      }
  }
  return entries;
}

/// `get(item)`, a number or an array of numbers, of all items one after the other.
template <class Item, class Get>
auto flat(const std::vector<Item>& items, const Get& get) {
  using Value = std::remove_cvref_t<decltype(get(items.front()))>;
  if constexpr (std::is_arithmetic_v<Value>) {
    std::vector<Value> values(items.size());
    std::transform(items.begin(), items.end(), values.begin(), get);
    return values;
  } else {
    std::vector<typename Value::value_type> values;
    values.reserve(items.size() * std::tuple_size_v<Value>);
    for (const Item& item : items) {
      const Value& of_item = get(item);
      values.insert(values.end(), of_item.begin(), of_item.end());
    }
    return values;
  }
}

template <class T>
void write_extra(hdf5::File& file, const std::string& name, const std::string& unit, int components,
                 const std::vector<T>& values) {
  const std::string path = "/scree/" + name;
  file.write_rows(path, std::span<const T>(values), components, hdf5::Damage::noticed);
  file.set_attribute(path, "unit", unit);
}

/// v = v_free + M^-1 H r of the local bodies, as solvers add it up: the same bits on any number of ranks.
template <int D>
Iterate iterate_of(const FrictionProblem<D>& problem, const ScaledProblem<D>& scaled,
                   std::span<const Real> impulse, std::string group) {
  std::vector<Real> r(impulse.size());
  std::vector<Real> y(scaled.velocity_size());
  scaled.scale_impulse(impulse, r);
  scaled.velocity_from_impulse(r, y);
  Iterate iterate{std::move(group), impulse,
                  std::vector<Real>(static_cast<std::size_t>(problem.n_local()) * n_velocities<D>)};
  scaled.unscale_velocity(y, iterate.velocity);
  return iterate;
}

/// The texts, with what the file cannot say of the problem.
FclibInfo described(FclibInfo texts, bool is_compliant) {
  if (is_compliant) {
    if (!texts.description.empty()) texts.description += "; ";
    texts.description +=
        "contacts are compliant, u = H^T v + w + G r, with the diagonal of G in /scree/compliance: without G "
        "this is the rigid problem";
  }
  return texts;
}

/// The guess and the result, as far as any rank has them, and how many of these are guesses.
template <int D>
std::pair<std::vector<Iterate>, std::int32_t> iterates_of(const FrictionProblem<D>& problem,
                                                          std::span<const Real> guess,
                                                          const FclibResult& result) {
  const Comm& comm = problem.halo->comm();
  const bool has_guess = comm.any(!guess.empty());
  const bool has_result = comm.any(!result.impulse.empty());
  std::vector<Iterate> iterates;
  std::int32_t n_guesses = 0;
  if (has_guess || has_result) {
    ScaledProblem<D> scaled;
    scaled.rebuild(problem);
    const auto next_guess = [&] { return fmt::format("/guesses/{}", ++n_guesses); };
    if (has_guess) iterates.push_back(iterate_of(problem, scaled, guess, next_guess()));
    if (has_result)
      iterates.push_back(
          iterate_of(problem, scaled, result.impulse, result.solved ? "/solution" : next_guess()));
  }
  return {std::move(iterates), n_guesses};
}

/// f = M v_free of one body.
template <int D>
auto free_momentum(const BodyRow<D>& body) {
  constexpr std::size_t q = n_velocities<D>;
  std::array<Real, q> f{};
  for (std::size_t j = 0; j < q; ++j)
    for (std::size_t k = 0; k < q; ++k) f[j] += body.mass[j * q + k] * body.free[k];
  return f;
}

/// What FCLIB cannot say.
template <int D>
void write_extras(hdf5::File& file, const FrictionProblem<D>& problem, const std::vector<BodyRow<D>>& bodies,
                  const std::vector<ContactRow<D>>& contacts, bool has_start, bool is_compliant) {
  constexpr int q = n_velocities<D>;
  file.create_group("/scree");
  constexpr std::int64_t version = 1;
  file.set_attribute("/scree", "version", version);
  file.set_attribute("/scree", "time_step", problem.time_step);
  file.set_attribute("/scree", "velocity_floor", problem.velocity_floor);
  const std::string unit = "m/s, rad/s";
  write_extra(file, "body_id", "-", 1, flat(bodies, [](const BodyRow<D>& body) { return body.id; }));
  write_extra(file, "free_velocity", unit, q, flat(bodies, [](const BodyRow<D>& body) { return body.free; }));
  if (has_start)
    write_extra(file, "start_velocity", unit, q,
                flat(bodies, [](const BodyRow<D>& body) { return body.start; }));
  write_extra(file, "contact_key", "-", 3, flat(contacts, [](const ContactRow<D>& c) {
                return std::array<std::int64_t, 3>{c.key.a, c.key.b, c.key.feature};
              }));
  write_extra(file, "contact_body", "-", 2, flat(contacts, [](const ContactRow<D>& c) { return c.body; }));
  if (is_compliant)
    write_extra(file, "compliance", "1/kg", 2,
                flat(contacts, [](const ContactRow<D>& c) { return c.compliance; }));
}

}  // namespace

template <int D>
void write_fclib(const FrictionProblem<D>& problem, std::span<const ContactKey> keys,
                 std::span<const Real> guess, const FclibInfo& info, const std::string& path,
                 const FclibResult& result) {
  Scope timer("fclib");
  using Body = BodyRow<D>;
  using Contact = ContactRow<D>;
  constexpr int q = n_velocities<D>;
  const Comm& comm = problem.halo->comm();
  const std::size_t n_owned = problem.n_owned();
  SCREE_ASSERT(keys.size() == problem.a.size());
  SCREE_ASSERT(guess.empty() || guess.size() == problem.a.size() * D);
  SCREE_ASSERT(result.impulse.empty() || result.impulse.size() == problem.a.size() * D);

  const IdOrder by_id(comm, std::span(problem.body_id).first(n_owned));
  const std::int64_t n_bodies = by_id.n_total();
  const std::int32_t n = fclib_integer(n_bodies * q, "velocities", path);
  const bool has_start = comm.any(!problem.start_velocity.empty());
  const bool is_compliant = comm.any(
      std::any_of(problem.compliance.begin(), problem.compliance.end(), [](Real g) { return g != 0; }));

  const auto found = iterates_of(problem, guess, result);
  const std::vector<Iterate>& iterates = found.first;
  const std::vector<Body> bodies = sorted_bodies<D>(problem, iterates, by_id);
  const std::vector<Real> rows = rows_of_bodies<D>(problem, bodies, by_id.first());
  const std::vector<Contact> contacts = sorted_contacts<D>(problem, keys, iterates, rows, n_bodies);
  const std::int64_t n_contacts = comm.sum(static_cast<std::int64_t>(contacts.size()));
  const std::int32_t m = fclib_integer(n_contacts * D, "relative velocities", path);
  const Triplets mass = mass_entries<D>(bodies, by_id.first());
  const Triplets jacobian =
      jacobian_entries<D>(contacts, comm.sum_before(static_cast<std::int64_t>(contacts.size())));
  const auto n_entries = [&](const Triplets& entries, std::string_view what) {
    return fclib_integer(comm.sum(static_cast<std::int64_t>(entries.x.size())), what, path);
  };
  const std::int32_t nz_mass = n_entries(mass, "entries of M");
  const std::int32_t nz_jacobian = n_entries(jacobian, "entries of H");

  hdf5::PartFile part(comm, path);
  part.write([&](hdf5::File& file) {
    write_integer(file, "/fclib_global/spacedim", D);
    write_matrix(file, "/fclib_global/M", mass, nz_mass, n, n, nz_mass);
    write_matrix(file, "/fclib_global/H", jacobian, nz_jacobian, n, m, nz_jacobian);
    write_vector(file, "/fclib_global/vectors/f", flat(bodies, free_momentum<D>));
    write_vector(file, "/fclib_global/vectors/w", flat(contacts, [](const Contact& c) { return c.bias; }));
    write_vector(file, "/fclib_global/vectors/mu", flat(contacts, [](const Contact& c) { return c.mu; }));
    write_info(file, "/fclib_global", described(info, is_compliant));
    if (found.second > 0) write_integer(file, "/guesses/number_of_guesses", found.second);
    for (std::size_t k = 0; k < iterates.size(); ++k) {
      const std::string& group = iterates[k].group;
      write_vector(file, group + "/v", flat(bodies, [k](const Body& body) { return body.v[k]; }));
      write_vector(file, group + "/u", flat(contacts, [k](const Contact& c) { return c.u[k]; }));
      write_vector(file, group + "/r", flat(contacts, [k](const Contact& c) { return c.r[k]; }));
    }

    write_extras<D>(file, problem, bodies, contacts, has_start, is_compliant);
  });
  part.commit();
}

template void write_fclib<2>(const FrictionProblem<2>&, std::span<const ContactKey>, std::span<const Real>,
                             const FclibInfo&, const std::string&, const FclibResult&);
template void write_fclib<3>(const FrictionProblem<3>&, std::span<const ContactKey>, std::span<const Real>,
                             const FclibInfo&, const std::string&, const FclibResult&);

}  // namespace scree
