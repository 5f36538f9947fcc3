// What people see by the kernels of every instruction set, against the formulas of LookAhead written down
// pair by pair (docs/method.md, eq. P.1-P.2).
#include "crowd/look_ahead_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/simd.hpp"
#include "neighbors/sweep_schedule.hpp"

namespace scree {

namespace {

constexpr Index n_people = 300;
constexpr Real side = 9;  // of the field [m]
constexpr Index n_codes = 9;

/// Everything the kernels work on. Some people stand, some have the same place, some do not see anybody.
struct Crowd {
  std::vector<SweepRecord> disks, headings, goals;
  std::vector<Index> first{0}, others, first_shifted{0}, others_shifted;
  std::vector<std::uint8_t> shifts;
  std::vector<Real> shift_table;
  std::vector<Real> scratch;
  std::vector<Index> who;

  Crowd() {
    for (Index i = 0; i < n_people; ++i) {
      RandomStream stream(21, i, 1);
      SweepRecord disk{{stream.uniform(0, side), stream.uniform(0, side), 0}, stream.uniform(0.15, 0.3)};
      if (i % 20 == 1) std::copy_n(disks.back().x, 2, disk.x);
      disks.push_back(disk);
      const Real angle = stream.uniform(0, 7), speed = stream.uniform(0.5, 2);
      headings.push_back(i % 11 == 0 ? SweepRecord{{0, 0, 0}, 0}
                                     : SweepRecord{{std::cos(angle), std::sin(angle), speed}, 0});
      headings.back().radius = i % 17 == 0 ? -1 : stream.uniform(0.5, 3.2);
      // Whole seconds: some people have equally far to go.
      const auto destination = static_cast<Real>(stream.bits() % 4) - 1;
      const auto time = static_cast<Real>(stream.bits() % 6);
      const Real width = stream.uniform(0.3, 1);
      goals.push_back({{destination, time, i % 3 == 0 ? 1 : width * width}, 0});
    }
    disks.push_back({});
    disks.push_back({{HUGE_VAL, 0, 0}, 0});
    for (Index code = 0; code < n_codes; ++code)
      for (const Index step : {code % 3, code / 3, Index{1}})
        shift_table.push_back(static_cast<Real>(step - 1) * 0.2 * side);
    std::size_t max = 0;
    for (Index i = 0; i < n_people; ++i) {
      RandomStream stream(22, i, 1);
      const auto add = [&](std::uint64_t n, std::vector<Index>& to) {
        for (std::uint64_t k = 0; k < n; ++k)
          to.push_back(static_cast<Index>(
              (static_cast<std::uint64_t>(i) + 1 + stream.bits() % (n_people - 1)) % n_people));
      };
      const std::size_t before = others.size() + others_shifted.size();
      if (i % 13 != 0) add(stream.bits() % 60, others);
      if (i % 4 == 0) add(stream.bits() % 20, others_shifted);
      max = std::max(max, others.size() + others_shifted.size() - before);
      first.push_back(static_cast<Index>(others.size()));
      first_shifted.push_back(static_cast<Index>(others_shifted.size()));
      while (shifts.size() < others_shifted.size())
        shifts.push_back(static_cast<std::uint8_t>(stream.bits() % n_codes));
    }
    others.insert(others.end(), batch_size, 0);
    others_shifted.insert(others_shifted.end(), batch_size, 0);
    who.resize(max + 2 * batch_size);
    scratch.resize(4 * who.size());
  }

  LookAheadView view() {
    LookAheadView v{.n_local = n_people,
                    .disks = disks.data(),
                    .headings = headings.data(),
                    .goals = goals.data(),
                    .within_box = {first.data(), others.data()},
                    .through_faces = {first_shifted.data(), others_shifted.data(), shifts.data()},
                    .shift_table = shift_table.data(),
                    .range = 3,
                    .side_range = 1,
                    .lateral_clearance = 0.2,
                    .along = scratch.data(),
                    .leftward = scratch.data() + who.size(),
                    .squared = scratch.data() + 2 * who.size(),
                    .radii = scratch.data() + 3 * who.size(),
                    .who = who.data()};
    const Real angles[] = {-0.6, 0.6, -1.9, 1.9};  // the last ones look back
    for (int k = 0; k < LookAheadResult::n_turns; ++k) {
      v.cosines[k] = std::cos(angles[k]);
      v.sines[k] = std::sin(angles[k]);
    }
    return v;
  }
};

/// What person i sees of j, d away.
void perceive(const LookAheadView& v, Index i, Index j, const Vec<2>& d, LookAheadResult& result) {
  const Real radii = v.disks[i].radius + v.disks[j].radius;
  const Real squared = radii * radii;
  const Real distance_squared = d[0] * d[0] + d[1] * d[1];
  const Real sight = v.headings[i].radius;
  if (sight < 0 || distance_squared > (radii + sight) * (radii + sight)) return;
  const Real* heading = v.headings[i].x;
  const Real* heading_of_other = v.headings[j].x;
  const Real along = d[0] * heading[0] + d[1] * heading[1];
  const Real leftward = heading[0] * d[1] - heading[1] * d[0];
  if (v.sides && along * along < squared) {
    Real& room = leftward > 0 ? result.room_left : result.room_right;
    room = std::min(room, std::max(std::abs(leftward) - std::sqrt(squared - along * along), 0.0));
  }
  const auto [destination, time_to_go, width] = v.goals[i].x;
  const bool counts = !(destination >= 0 && v.goals[j].x[0] == destination && v.goals[j].x[1] > time_to_go);
  const Real taken = v.goals[j].x[2] * squared;
  if (v.turns && counts && (along > 0 || -along < std::abs(leftward)))
    for (int k = 0; k < LookAheadResult::n_turns; ++k) {
      const Real ahead = v.cosines[k] * along + v.sines[k] * leftward;
      const Real aside = v.cosines[k] * leftward - v.sines[k] * along;
      if (!(ahead > 0) || aside * aside >= taken) continue;
      result.turned[k] =
          std::min(result.turned[k], std::max(ahead - std::sqrt(squared - aside * aside), 0.0));
    }
  if (!(along > 0)) return;
  const Real across = std::max(distance_squared - along * along, 0.0);
  if (counts && across < taken)
    result.free_distance = std::min(result.free_distance, std::max(along - std::sqrt(squared - across), 0.0));
  const Real with_own = heading[0] * heading_of_other[0] + heading[1] * heading_of_other[1];
  const Real corridor = radii + v.lateral_clearance;
  const Real closing = heading[2] - heading_of_other[2] * with_own;
  if (!v.oncoming || with_own > -LookAheadKernels::against || across >= corridor * corridor || !(closing > 0))
    return;
  Real& met = leftward > -radii / 3 ? result.left : result.right;
  met = std::min(met, std::max(along - radii, 0.0) / closing);
}

std::vector<LookAheadResult> results_one_by_one(const LookAheadView& v) {
  std::vector<LookAheadResult> all;
  for (Index i = 0; i < n_people; ++i) {
    LookAheadResult result{.free_distance = v.range,
                           .left = HUGE_VAL,
                           .right = HUGE_VAL,
                           .room_left = v.side_range,
                           .room_right = v.side_range,
                           .wall_left = HUGE_VAL,
                           .wall_right = HUGE_VAL,
                           .turned = {v.range, v.range, v.range, v.range}};
    for (const auto& candidates : {v.within_box, v.through_faces})
      for (Index at = candidates.first[i]; at < candidates.first[i + 1]; ++at) {
        const Index j = candidates.others[at];
        Vec<2> d;
        for (int c = 0; c < 2; ++c) {
          d[c] = v.disks[j].x[c] - v.disks[i].x[c];
          if (candidates.shifts) d[c] -= v.shift_table[3 * candidates.shifts[at] + c];
        }
        perceive(v, i, j, d, result);
      }
    all.push_back(result);
  }
  return all;
}

/// The same bits.
bool operator==(const LookAheadResult& a, const LookAheadResult& b) {
  const auto bits = [](const LookAheadResult& result) {
    return std::bit_cast<std::array<std::uint64_t, sizeof(LookAheadResult) / sizeof(Real)>>(result);
  };
  return bits(a) == bits(b);
}

}  // namespace

TEST_CASE("look ahead kernels: every instruction set gives the bits of the formulas", "[crowd]") {
  Crowd crowd;
  const std::vector<Index> nobody(n_people + 1, 0);
  for (const LookAheadKernels* set : available_look_ahead_kernels())
    for (const bool turns : {false, true})
      for (const bool sides : {false, true})
        for (const bool oncoming : {false, true})
          for (const bool periodic : {false, true}) {
            CAPTURE(std::string(set->instruction_set), turns, sides, oncoming, periodic);
            LookAheadView view = crowd.view();
            view.turns = turns;
            view.sides = sides;
            view.oncoming = oncoming;
            std::vector<LookAheadResult> found(n_people);
            view.results = found.data();
            if (!periodic) view.through_faces = {nobody.data(), nullptr, nullptr};
            set->look(view);
            const std::vector<LookAheadResult> expected = results_one_by_one(view);
            CHECK(std::ranges::equal(found, expected, [](const auto& a, const auto& b) { return a == b; }));
            // Otherwise nothing is compared.
            const auto n_below = [&](auto member, Real none) {
              return std::ranges::count_if(expected,
                                           [&](const LookAheadResult& s) { return s.*member < none; });
            };
            CHECK(n_below(&LookAheadResult::free_distance, view.range) > 50);
            CHECK((n_below(&LookAheadResult::room_left, view.side_range) > 20) == sides);
            CHECK((n_below(&LookAheadResult::room_right, view.side_range) > 20) == sides);
            CHECK((n_below(&LookAheadResult::left, HUGE_VAL) > 20) == oncoming);
            CHECK((n_below(&LookAheadResult::right, HUGE_VAL) > 20) == oncoming);
            for (int k = 0; k < LookAheadResult::n_turns; ++k)
              CHECK((std::ranges::count_if(expected, [&](const LookAheadResult& s) {
                       return s.turned[k] < view.range;
                     }) > 20) == turns);
          }
}

TEST_CASE("look ahead kernels: near pairs are those of the formula, in order, and no dummies", "[crowd]") {
  Crowd crowd;
  RandomStream stream(23, 0, 1);
  constexpr Index n_batches = 200;
  std::vector<Index> ends;
  std::vector<std::uint8_t> codes;
  for (Index batch = 0; batch < n_batches; ++batch) {
    const auto n_pairs = static_cast<Index>(batch % 3 == 0 ? 1 + stream.bits() % batch_size : batch_size);
    for (const Index dummy : {n_people, n_people + 1})
      for (Index k = 0; k < batch_size; ++k)
        ends.push_back(k < n_pairs ? static_cast<Index>(stream.bits() % n_people) : dummy);
    for (Index k = 0; k < batch_size; ++k)
      codes.push_back(static_cast<std::uint8_t>(stream.bits() % n_codes));
  }
  const std::uint8_t* both[] = {nullptr, codes.data()};
  for (const std::uint8_t* shifts : both)
    for (const Real reach : {0.5, 3.0}) {
      const NearBatches batches{crowd.disks.data(),       ends.data(), n_batches, shifts,
                                crowd.shift_table.data(), reach};
      std::vector<Index> expected;
      for (Index place = 0; place < n_batches * batch_size; ++place) {
        const Index* low = ends.data() + 2 * batch_size * (place / batch_size) + place % batch_size;
        if (low[0] == n_people) continue;
        const SweepRecord& a = crowd.disks[low[0]];
        const SweepRecord& b = crowd.disks[low[batch_size]];
        Real squared = 0;
        for (int c = 0; c < 2; ++c) {
          const Real shift = shifts ? crowd.shift_table[3 * codes[place] + c] : 0;
          const Real d = b.x[c] - a.x[c] - shift;
          squared += d * d;
        }
        const Real soon = a.radius + b.radius + reach;
        if (squared <= soon * soon) expected.push_back(place);
      }
      CHECK(expected.size() > 10);
      for (const LookAheadKernels* set : available_look_ahead_kernels()) {
        CAPTURE(std::string(set->instruction_set), reach, shifts != nullptr);
        std::vector<Index> found(static_cast<std::size_t>(n_batches + 1) * batch_size);
        found.resize(set->find_near(batches, found.data()));
        CHECK(found == expected);
      }
    }
}

TEST_CASE("look ahead kernels: there are all sets that the processor runs", "[crowd]") {
  std::vector<std::string_view> found, expected;
  for (const LookAheadKernels* set : available_look_ahead_kernels()) found.push_back(set->instruction_set);
  for (const std::string_view set : instruction_sets)
    if (processor_runs(set)) expected.push_back(set);
  CHECK(found == expected);
}

}  // namespace scree
