// The list of near pairs leaves out no contact, and its kernels follow their formula in every instruction
// set.
#include "neighbors/near_pairs.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "neighbors/neighborhood.hpp"
#include "unit/neighbors/random_state.hpp"

namespace scree {

namespace {

constexpr Index n_bodies = 120;

/// Random pairs with padding, some far, some near, some with numbers that are not finite.
struct Candidates {
  std::vector<SweepRecord> places, displacements[2];
  std::vector<Index> ends;
  std::vector<std::uint8_t> shifts;
  std::vector<Real> shift_table;

  explicit Candidates(int dimension) {
    RandomStream stream(3, dimension, 1);
    const auto vector = [&](Real max) {
      SweepRecord record{};
      for (int k = 0; k < dimension; ++k) record.x[k] = stream.uniform(-max, max);
      return record;
    };
    for (Index i = 0; i < n_bodies; ++i) {
      places.push_back(vector(1));
      places.back().radius = stream.uniform(0.2, 0.6);
      for (auto& of_bodies : displacements) of_bodies.push_back(vector(i % 3 == 0 ? 1 : 0.1));
    }
    places[5].x[0] = std::numeric_limits<Real>::quiet_NaN();
    places[6].x[1] = HUGE_VAL;
    displacements[0][7].x[0] = std::numeric_limits<Real>::quiet_NaN();
    places.insert(places.end(), {SweepRecord{}, SweepRecord{{1, 0, 0}, 0}});
    for (auto& of_bodies : displacements) of_bodies.resize(places.size());
    const int n_codes = dimension == 2 ? 9 : 27;
    for (int batch = 0; batch < 100; ++batch) {
      const auto n_pairs = static_cast<Index>(batch % 4 == 0 ? stream.bits() % batch_size : batch_size);
      const auto fill = [&](Index dummy) {
        for (Index k = 0; k < batch_size; ++k)
          ends.push_back(k < n_pairs ? static_cast<Index>(stream.bits() % n_bodies) : dummy);
      };
      fill(n_bodies);
      fill(n_bodies + 1);
      for (Index k = 0; k < batch_size; ++k)
        shifts.push_back(static_cast<std::uint8_t>(k < n_pairs
                                                       ? stream.bits() % static_cast<unsigned>(n_codes)
                                                       : static_cast<unsigned>(n_codes / 2)));
    }
    for (int code = 0; code < n_codes; ++code)
      for (int k = 0, rest = code; k < 3; ++k, rest /= 3)
        shift_table.push_back(k < dimension ? 0.4 * (rest % 3 - 1) : 0.0);
  }
  std::size_t n_batches() const { return shifts.size() / batch_size; }
};

/// The formula of NearKernel, pair by pair.
template <int D>
bool is_near(const Candidates& all, std::size_t place, bool shifted, int n_displacements, Real factor) {
  const std::size_t at = place / batch_size * 2 * batch_size + place % batch_size;
  const std::size_t low = all.ends[at];
  const std::size_t high = all.ends[at + batch_size];
  Vec<D> d = position_of<D>(all.places[low]) - position_of<D>(all.places[high]);
  if (shifted)
    for (int k = 0; k < D; ++k) d[k] += all.shift_table[3u * all.shifts[place] + static_cast<std::size_t>(k)];
  const Real reach = factor * (all.places[low].radius + all.places[high].radius);
  const Real squared = dot(d, d);
  if (!(squared > reach * reach)) return true;
  for (int displacement = 0; displacement < n_displacements; ++displacement) {
    const Vec<D> w = position_of<D>(all.displacements[displacement][low]) -
                     position_of<D>(all.displacements[displacement][high]);
    const Real after = dot(d, d + w);
    if (!(after > 0 && after * after > reach * reach * squared)) return true;
  }
  return false;
}

template <int D>
void check_kernels() {
  const Candidates all(D);
  for (const NearKernels* set : available_near_kernels<D>())
    for (const bool shifted : {false, true})
      for (const int n_displacements : {0, 1, 2}) {
        CAPTURE(D, std::string(set->instruction_set), shifted, n_displacements);
        const Real factor = 0.9;
        std::vector<std::uint8_t> found(all.n_batches());
        set->kernel[shifted][n_displacements](
            {.ends = all.ends.data(),
             .n_batches = static_cast<Index>(all.n_batches()),
             .shifts = all.shifts.data(),
             .shift_table = all.shift_table.data(),
             .places = all.places.data(),
             .displacements = {all.displacements[0].data(), all.displacements[1].data()}},
            factor, found.data());
        int n_near = 0, n_wrong = 0;
        for (std::size_t place = 0; place < all.shifts.size(); ++place) {
          const bool near = (found[place / batch_size] >> (place % batch_size) & 1) != 0;
          n_near += near;
          n_wrong += near != is_near<D>(all, place, shifted, n_displacements, factor);
        }
        CHECK(n_wrong == 0);
        CHECK(n_near > 100);
        CHECK(n_near < 700);
      }
}

/// Contacts by the rules, found among all candidates.
template <int D>
ContactGraph<D> look_at_all(const State<D>& state, const NeighborList<D>& list,
                            const ContactRules<D>& rules) {
  ContactGraph<D> contacts;
  const auto along = [](std::span<const Vec<D>> displacement, const Vec<D>& n, std::size_t a, std::size_t b) {
    return displacement.empty() ? 0 : dot(n, displacement[b] - displacement[a]);
  };
  const auto radius = state.bodies.radius();
  for (const auto& block : list.schedule().all_blocks())
    list.schedule().for_each_pair(block, [&](std::size_t place, Index low, Index high, Index shift) {
      const auto a = static_cast<std::size_t>(low), b = static_cast<std::size_t>(high);
      Vec<D> d = state.bodies.position()[a] - state.bodies.position()[b];
      if (shift >= 0)
        for (int k = 0; k < D; ++k) d[k] += list.shift_table()[3 * shift + k];
      const Real reach = rules.tolerance * (radius[a] + radius[b]);
      const Real gap = norm(d) - (radius[a] + radius[b]);
      const Vec<D> normal = d * (-1 / norm(d));
      if (gap <= reach || gap + along(rules.displacement, normal, a, b) <= reach ||
          gap + along(rules.other_displacement, normal, a, b) < -rules.overlap_threshold ||
          rules.remembers_pair(place))
        contacts.add(low, high, gap, normal, place);
    });
  return contacts;
}

/// How many entries differ in the contacts found and expected, but for those with obstacles.
template <int D>
int n_different(const ContactGraph<D>& found, const ContactGraph<D>& expected) {
  int n = 0;
  std::size_t next = 0;
  for (std::size_t c = 0; c < found.size(); ++c) {
    if (found.b[c] < 0) continue;
    if (next == expected.size()) return n + 1;
    n += found.place[c] != expected.place[next] || found.a[c] != expected.a[next] ||
         found.b[c] != expected.b[next] || found.gap[c] != expected.gap[next] ||
         found.normal[c] != expected.normal[next];
    ++next;
  }
  return n + (next != expected.size());
}

/// Two columns of disks that go head on at each other, each pair with another gap: the list may leave out
/// none for a step too long. `in_step`: where they are stays, and what they would move in the step grows.
void check_head_on(bool in_step) {
  constexpr int n_pairs = 150, n_steps = 40;
  constexpr Real radius = 0.25, speed = 1e-3;
  const Box<2> box{{}, {{4, n_pairs}}, {}};
  std::vector<Body<2>> bodies;
  for (int k = 0; k < n_pairs; ++k) {
    const Real half = radius + 1e-4 * (k + 10);
    for (const Real side : {-1, 1})
      bodies.push_back({static_cast<GlobalId>(bodies.size()), {{2 + side * half, k + 0.5}}, radius});
  }
  State<2> state = state_of(Comm(MPI_COMM_SELF), box, bodies, [](GlobalId) { return true; });
  NeighborhoodSettings settings;
  settings.skin = 0.2;
  Neighborhood<2> neighborhood(state.comm, settings, Outside::keep);
  neighborhood.make_lattice(state, 0);
  neighborhood.rebuild(state);
  std::vector<Vec<2>> displacements(bodies.size());
  ContactGraph<2> found;
  int n_wrong = 0;
  std::vector<std::size_t> n_found;
  for (int step = 0; step < n_steps; ++step) {
    ContactRules<2> rules{.tolerance = 1e-3};
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      Vec<2>& x = state.bodies.position()[i];
      (in_step ? displacements[i] : x)[0] += x[0] < 2 ? speed : -speed;
    }
    if (in_step) rules.displacement = displacements;
    neighborhood.detect(state, rules, found);
    n_wrong += n_different(found, look_at_all(state, neighborhood.list(), rules));
    n_found.push_back(found.size());
  }
  CAPTURE(in_step);
  CHECK(n_wrong == 0);
  CHECK(n_found.front() < n_pairs / 10);
  CHECK(n_found.back() == n_pairs);
  CHECK(neighborhood.near_pairs().n_lists() < n_steps / 2);
}

/// Bodies that rest, drift, fly and jump in a box; each step asks in another way.
template <int D>
void check_moves(bool lively) {
  constexpr int n = 400, n_steps = 60;
  const Real side = D == 2 ? 12 : 6;
  const Box<D> box{{}, filled<D>(side), {true, D == 3}};
  State<D> state =
      state_of(Comm(MPI_COMM_SELF), box, random_bodies(box, n, 0.2, 0.3, 17), [](GlobalId) { return true; });
  NeighborhoodSettings settings;
  settings.skin = 0.2;
  Neighborhood<D> neighborhood(state.comm, settings, Outside::keep);
  neighborhood.make_lattice(state, 0);
  neighborhood.rebuild(state);
  std::vector<Vec<D>> displacements(n), others(n), velocity(n);
  std::vector<Real> values;
  RandomStream stream(19, D, 1);
  const auto vector = [&](Real max) {
    Vec<D> x;
    for (int k = 0; k < D; ++k) x[k] = stream.uniform(-max, max);
    return x;
  };
  for (std::size_t i = 0; i < n; ++i) velocity[i] = vector(!lively || i % 4 != 0 ? 1e-3 : 0.02);
  int n_wrong = 0;
  std::size_t n_found = 0, n_remembered = 0;
  int n_more = 0, n_same = 0;  // whether wider rules find more contacts
  ContactGraph<D> found;
  for (int step = 0; step < n_steps; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
      state.bodies.position()[i] += velocity[i];
      displacements[i] = velocity[i] + vector(1e-4);
      others[i] = lively && i % 50 == 0 ? vector(0.05) : 0.5 * displacements[i];
    }
    if (neighborhood.needs_rebuild(state, 0.4, displacements, 0)) {
      neighborhood.rebuild(state);
      values.clear();
    }
    const NeighborList<D>& list = neighborhood.list();
    // Few pairs remember something, far ones as well.
    values.resize(static_cast<std::size_t>(list.schedule().n_batches()) * batch_size);
    ContactRules<D> rules{.tolerance = step % 3 == 2 ? 0.02 : 1e-3};
    if (step % 3 != 2) rules.displacement = displacements;
    if (step % 3 == 1) rules.other_displacement = others;
    if (step % 3 == 1) rules.overlap_threshold = 1e-3;
    if (lively && step % 5 == 4) {
      // Places that no pair uses remember nothing.
      std::vector<std::size_t> used;
      list.schedule().for_each_pair([&](std::size_t place, Index, Index, Index) { used.push_back(place); });
      for (int k = 0; k < 8; ++k) values[used[stream.bits() % used.size()]] = 1;
      rules.pair_values = values;
    }
    neighborhood.detect(state, rules, found);
    const ContactGraph<D> expected = look_at_all(state, list, rules);
    n_wrong += n_different(found, expected);
    n_found += expected.size();
    if (step % 3 == 0) {
      ContactRules<D> wider = rules;
      wider.other_displacement = others;
      wider.overlap_threshold = 1e-3 * (step % 4);
      const bool more = look_at_all(state, list, wider).size() > expected.size();
      n_wrong += neighborhood.misses_contacts(state, wider) != more;
      (more ? n_more : n_same) += 1;
    }
    for (std::size_t c = 0; c < expected.size(); ++c)
      n_remembered +=
          rules.remembers_pair(static_cast<std::size_t>(expected.place[c])) && expected.gap[c] > 0.1;
  }
  CAPTURE(D, lively);
  CHECK(n_wrong == 0);
  CHECK(n_found > n_steps * n / 2);
  CHECK((lively ? n_more : n_same) > 0);
  const NearPairs<D>& near = neighborhood.near_pairs();
  CHECK(near.n_listed() < neighborhood.schedule().n_pairs() * 9 / 10);
  if (lively)
    CHECK(n_remembered > 0);
  else
    CHECK(near.n_lists() < n_steps / 4);  // otherwise no list was used again
}

}  // namespace

TEST_CASE("near pairs: every instruction set gives the formula", "[contact]") {
  check_kernels<2>();
  check_kernels<3>();
}

TEST_CASE("near pairs: contacts have the bits of a look at all candidates, whatever moves", "[contact]") {
  for (const bool lively : {false, true}) {
    check_moves<2>(lively);
    check_moves<3>(lively);
  }
  check_head_on(false);
  check_head_on(true);
}

}  // namespace scree
