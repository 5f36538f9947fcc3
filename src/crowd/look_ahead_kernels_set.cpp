// Compiled once per instruction set, with SCREE_SET naming the set (see crowd/CMakeLists.txt). The arithmetic
// of a pair is the same in all of them; only the number of pairs per register differs.
#include <array>
#include <cmath>

#include "crowd/look_ahead_kernels.hpp"
#include "neighbors/lanes.hpp"

namespace scree::SCREE_SET {

namespace {

// Which lanes: below(a, b), equal(a, b), combined by & and |; choose(which, a, b) is a there and b elsewhere.
// put_chosen(which, v, to) writes the chosen lanes in a row, and anything up to `width` of them.
#if defined(__AVX512F__)
using Chosen = __mmask8;
inline Chosen below(Lanes a, Lanes b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
inline Chosen up_to(Lanes a, Lanes b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
}
inline Chosen equal(Lanes a, Lanes b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
inline Lanes choose(Chosen which, Lanes a, Lanes b) {
  return _mm512_mask_blend_pd(which, b, a);
}
inline Lanes min(Lanes a, Lanes b) {
  return _mm512_maskz_min_pd(0xff, a, b);
}
inline unsigned bits_of(Chosen which) {
  return which;
}
inline void put_chosen(unsigned which, Lanes v, Real* to) {
  store(_mm512_maskz_compress_pd(static_cast<__mmask8>(which), v), to);
}
inline void put_chosen(unsigned which, const Index* numbers, Index* to) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_maskz_compress_epi32(static_cast<__mmask8>(which), all));
}
#else
using Chosen = std::int64_t __attribute__((vector_size(8 * width)));
inline Chosen below(Lanes a, Lanes b) {
  return a < b;
}
inline Chosen up_to(Lanes a, Lanes b) {
  return a <= b;
}
inline Chosen equal(Lanes a, Lanes b) {
  return a == b;
}
inline Lanes choose(Chosen which, Lanes a, Lanes b) {
  return which ? a : b;
}
#ifdef __AVX2__
inline Lanes min(Lanes a, Lanes b) {
  return _mm256_min_pd(a, b);
}
inline unsigned bits_of(Chosen which) {
  return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(which)));
}
/// For each set of lanes, the lanes chosen and then any: numbers of halves of lanes, and of bytes.
struct Order {
  alignas(32) std::int32_t halves[8];
  alignas(16) std::uint8_t bytes[16];
};
constexpr auto orders = [] {
  std::array<Order, 16> all{};
  for (unsigned which = 0; which < 16; ++which) {
    int n = 0;
    for (int k = 0; k < 4; ++k) {
      if ((which >> k & 1U) == 0) continue;
      for (int half = 0; half < 2; ++half) all[which].halves[2 * n + half] = 2 * k + half;
      for (int byte = 0; byte < 4; ++byte)
        all[which].bytes[4 * n + byte] = static_cast<std::uint8_t>(4 * k + byte);
      ++n;
    }
  }
  return all;
}();
inline void put_chosen(unsigned which, Lanes v, Real* to) {
  const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(orders[which].halves));
  _mm256_storeu_ps(reinterpret_cast<float*>(to), _mm256_permutevar8x32_ps(_mm256_castpd_ps(v), order));
}
inline void put_chosen(unsigned which, const Index* numbers, Index* to) {
  const __m128i order = _mm_load_si128(reinterpret_cast<const __m128i*>(orders[which].bytes));
  const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(numbers));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(all, order));
}
#else
inline Lanes min(Lanes a, Lanes b) {
  return a < b ? a : b;
}
inline unsigned bits_of(Chosen which) {
  return (which[0] != 0 ? 1U : 0U) | (which[1] != 0 ? 2U : 0U);
}
inline void put_chosen(unsigned which, Lanes v, Real* to) {
  to[0] = v[0];
  to[which & 1U] = v[1];
}
inline void put_chosen(unsigned which, const Index* numbers, Index* to) {
  to[0] = numbers[0];
  to[which & 1U] = numbers[1];
}
#endif
#endif

/// Few of the others stand in a path. In few lanes mostly none does, and a root takes longer than to ask; of
/// many lanes one mostly does.
constexpr bool is_narrow = width == 2;

/// 0 for negative numbers, which not every library takes the root of in little time.
inline Lanes root(Lanes v) {
  return square_root(is_narrow ? largest(v, Lanes{}) : v);
}
inline Lanes absolute(Lanes v) {
  return largest(v, -v);
}
inline Lanes at_least_zero(Lanes v) {
  return largest(v, Lanes{});
}
inline Real min_of(Lanes v) {
  Real min_one = v[0];
  for (int k = 1; k < width; ++k) min_one = v[k] < min_one ? v[k] : min_one;
  return min_one;
}
/// 0, 1, 2 ...
inline Lanes numbers_of_lanes() {
  Lanes v{};
  for (int k = 0; k < width; ++k) v[k] = k;
  return v;
}

/// Whoever looks, in all lanes.
struct Own {
  Lanes x, y, radius, direction_x, direction_y, speed, sight, destination, time_to_go;

  Own(const LookAheadView& view, Index i) {
    const Lanes zero{};
    const SweepRecord& disk = view.disks[i];
    const SweepRecord& heading = view.headings[i];
    const SweepRecord& goal = view.goals[i];
    x = zero + disk.x[0];
    y = zero + disk.x[1];
    radius = zero + disk.radius;
    direction_x = zero + heading.x[0];
    direction_y = zero + heading.x[1];
    speed = zero + heading.x[2];
    sight = zero + heading.radius;
    destination = zero + (goal.x[0] >= 0 ? goal.x[0] : HUGE_VAL);  // nobody goes there
    time_to_go = zero + goal.x[1];
  }
};

/// Adds those of the candidates of person i that it can see to the n in scratch, and returns how many there
/// are then: near enough, and ahead or beside.
template <bool shifted>
std::size_t gather_near(const LookAheadView& view, const LookAheadView::Candidates& candidates, Index i,
                        const Own& own, std::size_t n) {
  const Lanes zero{};
  const Index last = candidates.first[i + 1];
  for (Index entry = candidates.first[i]; entry < last; entry += width) {
    const Index* who = candidates.others + entry;
    const Bodies other = load(view.disks, who);
    Lanes dx = other.x - own.x;
    Lanes dy = other.y - own.y;
    if constexpr (shifted)
      for (int k = 0; k < width; ++k) {
        if (entry + k >= last) break;
        const Real* shift = view.shift_table + 3 * candidates.shifts[entry + k];
        dx[k] -= shift[0];
        dy[k] -= shift[1];
      }
    const Lanes squared = dx * dx + dy * dy;
    const Lanes radii = own.radius + other.radius;
    const Lanes seen_from = radii + own.sight;
    const Lanes along = dx * own.direction_x + dy * own.direction_y;
    const Lanes leftward = own.direction_x * dy - own.direction_y * dx;
    Chosen visible = below(zero, along);
    if (view.turns) visible = visible | below(-along, absolute(leftward));
    if (view.sides) visible = visible | below(along * along, radii * radii);
    visible = visible & up_to(squared, seen_from * seen_from) &
              below(numbers_of_lanes(), zero + static_cast<Real>(last - entry));
    const unsigned which = bits_of(visible);
    put_chosen(which, along, view.along + n);
    put_chosen(which, leftward, view.leftward + n);
    put_chosen(which, squared, view.squared + n);
    put_chosen(which, radii, view.radii + n);
    put_chosen(which, who, view.who + n);
    n += static_cast<std::size_t>(__builtin_popcount(which));
  }
  return n;
}

/// Leaves those out of the n in scratch whom levels keep from person i; returns how many there are then.
std::size_t leave_out_others(const LookAheadView& view, Index i, std::size_t n) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Index j = view.who[k];
    if (view.levels[j] != view.levels[i] && !view.may_meet(view.meeting, i, j)) continue;
    for (Real* values : {view.along, view.leftward, view.squared, view.radii}) values[kept] = values[k];
    view.who[kept++] = j;
  }
  return kept;
}

/// What person i sees of the n in scratch.
LookAheadResult perceive(const LookAheadView& view, Index i, const Own& own, std::size_t n) {
  constexpr int n_turns = LookAheadResult::n_turns;
  const Lanes zero{};
  const Lanes range = zero + view.range;
  const Lanes side_range = zero + view.side_range;
  const Lanes never = zero + HUGE_VAL;
  Lanes free_distance = range, room_left = side_range, room_right = side_range, left = never, right = never;
  Lanes turned[n_turns] = {range, range, range, range};
  // Lanes to spare see nobody: a disk of no size behind.
  for (std::size_t k = n; k < n + width; ++k) {
    view.along[k] = -1;
    view.leftward[k] = view.squared[k] = view.radii[k] = 0;
    view.who[k] = i;
  }
  for (std::size_t at = 0; at < n; at += width) {
    const Lanes along = load(view.along + at);
    const Lanes leftward = load(view.leftward + at);
    const Lanes radii = load(view.radii + at);
    const Lanes squared = radii * radii;
    const Lanes along_squared = along * along;
    const Chosen to_the_left = below(zero, leftward);
    if (view.sides) {
      const Chosen beside = below(along_squared, squared);
      if (!is_narrow || bits_of(beside) != 0) {
        const Lanes room = at_least_zero(absolute(leftward) - root(squared - along_squared));
        room_left = min(choose(beside & to_the_left, room, side_range), room_left);
        room_right = min(choose(beside & ~to_the_left, room, side_range), room_right);
      }
    }
    // Whoever yields has no width.
    const Bodies goal = load(view.goals, view.who + at);
    const Chosen yields = equal(goal.x, own.destination) & below(own.time_to_go, goal.y);
    const Lanes taken = choose(yields, zero, goal.z * squared);
    const Chosen ahead = below(zero, along);
    if (view.turns) {
      const Lanes taken_beside = choose(ahead | below(-along, absolute(leftward)), taken, zero);
      for (int k = 0; k < n_turns; ++k) {
        const Lanes forward = view.cosines[k] * along + view.sines[k] * leftward;
        const Lanes aside = view.cosines[k] * leftward - view.sines[k] * along;
        const Lanes aside_squared = aside * aside;
        const Chosen stands_there = below(zero, forward) & below(aside_squared, taken_beside);
        if (is_narrow && bits_of(stands_there) == 0) continue;
        const Lanes distance = at_least_zero(forward - root(squared - aside_squared));
        turned[k] = min(choose(stands_there, distance, range), turned[k]);
      }
    }
    const Lanes across_squared = at_least_zero(load(view.squared + at) - along_squared);
    const Chosen blocks = ahead & below(across_squared, taken);
    if (!is_narrow || bits_of(blocks) != 0) {
      const Lanes distance = at_least_zero(along - root(squared - across_squared));
      free_distance = min(choose(blocks, distance, range), free_distance);
    }
    if (!view.oncoming) continue;
    const Bodies heading = load(view.headings, view.who + at);
    const Lanes with_own = own.direction_x * heading.x + own.direction_y * heading.y;
    const Lanes corridor = radii + view.lateral_clearance;
    const Lanes closing = own.speed - heading.z * with_own;
    const Chosen comes = ahead & up_to(with_own, zero - LookAheadKernels::against) &
                         below(across_squared, corridor * corridor) & below(zero, closing);
    const Lanes time = choose(comes, at_least_zero(along - radii) / closing, never);
    // Somebody straight ahead, to within a third of the radii, is passed on the right like one on the left.
    const Chosen on_the_left = below(-radii / 3, leftward);
    left = min(choose(on_the_left, time, never), left);
    right = min(choose(on_the_left, never, time), right);
  }
  LookAheadResult result{.free_distance = min_of(free_distance),
                         .left = min_of(left),
                         .right = min_of(right),
                         .room_left = min_of(room_left),
                         .room_right = min_of(room_right),
                         .wall_left = HUGE_VAL,
                         .wall_right = HUGE_VAL,
                         .turned = {}};
  for (int k = 0; k < n_turns; ++k) result.turned[k] = min_of(turned[k]);
  return result;
}

void look(const LookAheadView& of_caller) {
  const LookAheadView view = of_caller;  // stores cannot change it
  for (Index i = 0; i < view.n_local; ++i) {
    const Own own(view, i);
    std::size_t n = 0;
    if (view.headings[i].radius >= 0) {
      n = gather_near<false>(view, view.within_box, i, own, 0);
      if (view.through_faces.shifts) n = gather_near<true>(view, view.through_faces, i, own, n);
    }
    if (view.levels) n = leave_out_others(view, i, n);
    view.results[i] = perceive(view, i, own, n);
  }
}

template <bool shifted>
std::size_t find_near(const NearBatches& p, Index* places) {
  std::size_t n = 0;
  for (Index batch = 0; batch < p.n_batches; ++batch)
    for (int part = 0; part < batch_size; part += width) {
      const Index* low = p.ends + 2 * batch_size * batch + part;
      const Index place = batch * batch_size + part;
      const Bodies i = load(p.disks, low);
      const Bodies j = load(p.disks, low + batch_size);
      Lanes dx = j.x - i.x;
      Lanes dy = j.y - i.y;
      if constexpr (shifted)
        for (int k = 0; k < width; ++k) {
          const Real* shift = p.shift_table + 3 * p.shifts[place + k];
          dx[k] -= shift[0];
          dy[k] -= shift[1];
        }
      const Lanes contact_reach = i.radius + j.radius + p.reach;
      unsigned near = bits_of(up_to(dx * dx + dy * dy, contact_reach * contact_reach));
      for (; near != 0; near &= near - 1) places[n++] = place + static_cast<Index>(__builtin_ctz(near));
    }
  return n;
}
std::size_t find_near_in_any(const NearBatches& batches, Index* places) {
  return batches.shifts ? find_near<true>(batches, places) : find_near<false>(batches, places);
}

}  // namespace

extern const LookAheadKernels look_ahead_kernels_of_set{name_of_set, &look, &find_near_in_any};

}  // namespace scree::SCREE_SET
