// Every kernel of every instruction set against the formulas of PairMode, written down pair by pair.
#include "schemes/pbd/pair_kernels.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "neighbors/sweep_schedule.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

constexpr Real length = 10;  // of the periodic box
constexpr Index n_bodies = 200;

/// Everything a kernel works on.
struct Work {
  std::vector<SweepRecord> records;
  std::vector<Index> ends;
  std::vector<Real> multipliers;
  std::vector<std::uint8_t> shifts;
  std::vector<Real> shift_table;
  std::vector<Real> mobility;
  std::vector<GlobalId> ids;
  Real compliance = 0;
  Real scale = 0.7;
  Real deepest = 0;

  Index n_batches() const { return static_cast<Index>(ends.size()) / (2 * batch_size); }
  PairBatches batches(Index n_coming = 0) {
    return {.records = records.data(),
            .ends = ends.data(),
            .n_batches = n_batches(),
            .multipliers = multipliers.data(),
            .shifts = shifts.data(),
            .shift_table = shift_table.data(),
            .mobility = mobility.data(),
            .ids = ids.data(),
            .compliance = compliance,
            .scale = scale,
            .coming = ends.data() + 2 * batch_size,
            .n_coming = n_coming};
  }
};

/// Bodies so dense that about half of the pairs overlap, in batches without a common body. Some centres
/// coincide, some batches are padded with the dummies, some bodies cannot move.
Work make_work(int dimension) {
  Work work;
  const Real side = dimension == 2 ? 2.0 : 1.6;
  for (Index i = 0; i < n_bodies; ++i) {
    RandomStream stream(11, i, 1);
    SweepRecord record{};
    for (int k = 0; k < dimension; ++k) record.x[k] = stream.uniform(0, side);
    record.radius = stream.uniform(0.3, 0.6);
    if (i % 10 == 1) std::copy_n(work.records.back().x, 3, record.x);
    work.records.push_back(record);
    work.mobility.push_back(i % 7 == 0 || i % 50 < 2 ? 0 : stream.uniform(0.2, 3));
    work.ids.push_back(1000 + 3 * ((i * 37) % n_bodies));
  }
  work.records.push_back({});
  work.records.push_back({{1, 0, 0}, 0});
  work.mobility.insert(work.mobility.end(), 2, 1.0);

  RandomStream stream(12, dimension, 1);
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<Index> some(n_bodies);
    std::iota(some.begin(), some.end(), 0);
    for (std::size_t i = 0; i < 2 * batch_size; ++i)
      std::swap(some[i], some[i + stream.bits() % (some.size() - i)]);
    // The first pair: neighbours in the list, which coincide if the first number ends in 0.
    const Index pair = static_cast<Index>(stream.bits() % (n_bodies / 10)) * 10;
    std::erase_if(some, [&](Index i) { return i == pair || i == pair + 1; });
    some.insert(some.begin(), {pair, pair + 1});
    const auto n_pairs = static_cast<Index>(batch % 3 == 0 ? 1 + stream.bits() % batch_size : batch_size);
    Index low[batch_size], high[batch_size];
    for (Index k = 0; k < batch_size; ++k) {
      low[k] = k < n_pairs ? some[2 * k] : n_bodies;
      high[k] = k < n_pairs ? some[2 * k + 1] : n_bodies + 1;
      const bool in_order = k >= n_pairs || work.ids[low[k]] < work.ids[high[k]];
      if (!in_order) std::swap(low[k], high[k]);
      const std::uint8_t none = dimension == 2 ? 4 : 13;
      work.shifts.push_back(k < n_pairs && k > 0 && stream.bits() % 4 == 0
                                ? static_cast<std::uint8_t>(stream.bits() % (2u * none + 1))
                                : none);
      work.multipliers.push_back(k < n_pairs && stream.bits() % 3 > 0 ? stream.uniform(0, 0.2) : 0.0);
    }
    work.ends.insert(work.ends.end(), low, low + batch_size);
    work.ends.insert(work.ends.end(), high, high + batch_size);
  }
  const int n_codes = dimension == 2 ? 9 : 27;
  for (int code = 0; code < n_codes; ++code) {
    const int digits[3] = {code % 3, code / 3 % 3, code / 9 % 3};
    for (int k = 0; k < 3; ++k)
      work.shift_table.push_back(k < dimension ? 0.03 * (digits[k] - 1) * length : 0.0);
  }
  return work;
}

/// The formulas, one pair after the other.
template <int D>
void project(Work& work, PairMode mode, bool shifted, bool weighted) {
  for (std::size_t batch = 0; batch < static_cast<std::size_t>(work.n_batches()); ++batch)
    for (std::size_t k = 0; k < batch_size; ++k) {
      const std::size_t place = batch * batch_size + k;
      const std::size_t low = work.ends[2 * batch_size * batch + k];
      const std::size_t high = work.ends[2 * batch_size * batch + batch_size + k];
      if (low >= n_bodies) continue;
      SweepRecord& i = work.records[low];
      SweepRecord& j = work.records[high];
      Vec<D> d;
      for (int c = 0; c < D; ++c) {
        d[c] = i.x[c] - j.x[c];
        if (shifted) d[c] += work.shift_table[3u * work.shifts[place] + static_cast<std::size_t>(c)];
      }
      Real distance = norm(d);
      const Real gap = distance - (i.radius + j.radius);
      if (distance < 1e-12 * (i.radius + j.radius)) {
        const Vec<3> direction = coincident_direction(work.ids[low], work.ids[high], D);
        for (int c = 0; c < D; ++c) d[c] = direction[c];
        distance = 1;
      }
      const Real w_i = weighted ? work.mobility[low] : 1;
      const Real w_j = weighted ? work.mobility[high] : 1;
      const Real total = w_i + w_j + work.compliance;
      const Real share = total > 0 ? 1 / total : 0;
      Real& l = work.multipliers[place];
      Real push = 0;
      switch (mode) {
        case PairMode::plain:
          push = std::max(0.0, -gap) * share;
          break;
        case PairMode::record:
          push = std::max(0.0, -gap) * share;
          l += push;
          break;
        case PairMode::accumulate:
          push = std::max(-l, (-gap - work.compliance * l) * share);
          l += push;
          break;
        case PairMode::warm:
          l *= work.scale;
          push = l;
          break;
      }
      if (mode != PairMode::warm) work.deepest = std::max(work.deepest, -gap);
      const Real along = push / distance;
      for (int c = 0; c < D; ++c) {
        i.x[c] += w_i * along * d[c];
        j.x[c] -= w_j * along * d[c];
      }
    }
}

bool same_bits(Real a, Real b) {
  // Adding nothing may or may not turn -0 into 0.
  return a == b ? true : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

int n_different(const Work& a, const Work& b) {
  int n = 0;
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    n += !same_bits(a.records[i].radius, b.records[i].radius);
    for (int c = 0; c < 3; ++c) n += !same_bits(a.records[i].x[c], b.records[i].x[c]);
  }
  for (std::size_t p = 0; p < a.multipliers.size(); ++p) n += !same_bits(a.multipliers[p], b.multipliers[p]);
  return n;
}

template <int D>
void check_all_kernels() {
  const Work start = make_work(D);
  for (const PairKernels* set : available_pair_kernels<D>())
    for (int m = 0; m < n_pair_modes; ++m)
      for (const bool shifted : {false, true})
        for (const bool weighted : {false, true})
          for (const Real compliance : {0.0, 0.25}) {
            CAPTURE(D, std::string(set->instruction_set), m, shifted, weighted, compliance);
            Work expected = start, found = start;
            expected.compliance = found.compliance = compliance;
            project<D>(expected, static_cast<PairMode>(m), shifted, weighted);
            found.deepest = set->kernel[m][shifted][weighted](found.batches());
            CHECK(n_different(expected, start) > 200);  // otherwise nothing is compared
            CHECK(n_different(expected, found) == 0);
            CHECK(same_bits(expected.deepest, found.deepest));
            CHECK(std::ranges::all_of(found.records, [](const SweepRecord& r) {
              return std::isfinite(r.x[0]) && std::isfinite(r.x[1]) && std::isfinite(r.x[2]);
            }));
          }
}

/// Bodies 0 and 1 of radius 0.5 with the ids 7 and 9 in the same place, alone in a batch.
Work coincident_pair(Index low, Index high) {
  Work work;
  work.records = {{{0.25, -0.5, 0}, 0.5}, {{0.25, -0.5, 0}, 0.5}, {}, {{1, 0, 0}, 0}};
  work.ids = {7, 9};
  if (low == 1) std::swap(work.ids[0], work.ids[1]);
  work.mobility.assign(4, 1.0);
  work.ends.assign(batch_size, 2);
  work.ends.insert(work.ends.end(), batch_size, 3);
  work.ends[0] = low;
  work.ends[batch_size] = high;
  work.multipliers.assign(batch_size, 0.0);
  return work;
}

/// Sets an environment variable for its life time.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("pair kernels: every instruction set gives the bits of the formulas, in every mode", "[dynamics]") {
  REQUIRE(available_pair_kernels<2>().front()->instruction_set == "portable");
  check_all_kernels<2>();
  check_all_kernels<3>();
}

TEST_CASE("pair kernels: looking ahead changes no bit", "[dynamics]") {
  const Work start = make_work(3);
  constexpr Index ahead = 10;
  for (const PairKernels* set : available_pair_kernels<3>()) {
    Work with = start, without = start;
    const PairKernel kernel = set->kernel[static_cast<int>(PairMode::accumulate)][0][0];
    kernel(with.batches(ahead));
    kernel(without.batches());
    CHECK(n_different(with, start) > 300);
    CHECK(n_different(with, without) == 0);
  }
}

TEST_CASE("pair kernels: coincident centres part to contact, the same way for any order in memory",
          "[dynamics]") {
  for (const PairKernels* set : available_pair_kernels<2>()) {
    Work work = coincident_pair(0, 1), other = coincident_pair(1, 0);
    const PairKernel kernel = set->kernel[static_cast<int>(PairMode::plain)][0][0];
    CHECK(kernel(work.batches()) == 1.0);
    kernel(other.batches());
    const auto& [a, b] = std::tie(work.records[0], work.records[1]);
    CHECK(std::hypot(a.x[0] - b.x[0], a.x[1] - b.x[1]) == Approx(1.0).epsilon(1e-14));
    for (int c = 0; c < 3; ++c) {
      CHECK(other.records[1].x[c] == a.x[c]);
      CHECK(other.records[0].x[c] == b.x[c]);
    }
    CHECK((a.x[2] == 0 && b.x[2] == 0));
  }
}

TEST_CASE("pair kernels: coincident directions are unit vectors, in the plane for disks", "[dynamics]") {
  Vec<3> mean_2d, mean_3d;
  constexpr int n = 2000;
  for (GlobalId id = 0; id < n; ++id) {
    const Vec<3> in_2d = coincident_direction(id, id + 5, 2);
    const Vec<3> in_3d = coincident_direction(id, id + 5, 3);
    CHECK(norm(in_2d) == Approx(1).epsilon(1e-14));
    CHECK(in_2d[2] == 0);
    CHECK(norm(in_3d) == Approx(1).epsilon(1e-14));
    mean_2d += (1.0 / n) * in_2d;
    mean_3d += (1.0 / n) * in_3d;
  }
  // Means of n independent unit vectors: 5 standard deviations of each component.
  for (int k = 0; k < 3; ++k) {
    CHECK(std::abs(mean_2d[k]) < 5 * std::sqrt(0.5 / n));
    CHECK(std::abs(mean_3d[k]) < 5 * std::sqrt(1.0 / 3 / n));
  }
}

TEST_CASE("pair kernels: SCREE_INSTRUCTION_SET chooses among the sets that the processor has", "[dynamics]") {
  for (const PairKernels* set : available_pair_kernels<3>()) {
    const EnvironmentVariable wanted("SCREE_INSTRUCTION_SET", std::string(set->instruction_set));
    CHECK(pair_kernels<3>().instruction_set == set->instruction_set);
  }
  // A name that is none, or of a set that the processor lacks: what runs fastest here, which is a wide set if
  // there is one, AVX2 if that is the only one.
  const EnvironmentVariable unknown("SCREE_INSTRUCTION_SET", "z80");
  const auto sets = available_pair_kernels<3>();
  const std::string_view chosen = pair_kernels<3>().instruction_set;
  CHECK((chosen == "portable") == (sets.size() == 1));
  if (sets.size() == 2) CHECK(chosen == sets[1]->instruction_set);
  CHECK(pair_kernels<2>().instruction_set == chosen);
}

}  // namespace scree
