// Every search for near bodies against the definition, one body after the other.
#include "neighbors/near_search.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"

using namespace scree;

namespace {

constexpr Real length = 4;  // of the periodic box
constexpr Real skin = 0.1;

/// Bodies with what lies beyond the last one: entries that would be near if they counted.
template <int D>
struct Columns {
  std::array<std::vector<Real>, std::size_t{D}> x, period;
  std::vector<Real> radius;

  explicit Columns(std::size_t n) {
    for (std::size_t i = 0; i < n + near_search_padding; ++i) {
      RandomStream stream(5, static_cast<GlobalId>(i), 1);
      for (std::size_t k = 0; k < D; ++k) {
        x[k].push_back(i < n ? stream.uniform(0, length) : 0.5 * length);
        period[k].push_back(stream.bits() % 4 == 0 ? length : 0);
      }
      radius.push_back(i < n ? stream.uniform(0.2, 0.6) : length);
    }
  }
  BodyColumns<D> columns() const {
    BodyColumns<D> all;
    for (std::size_t k = 0; k < D; ++k) {
      all.x[k] = x[k].data();
      all.period[k] = period[k].data();
    }
    all.radius = radius.data();
    all.skin = skin;
    return all;
  }
};

template <int D>
std::vector<Index> by_definition(const Columns<D>& bodies, bool wraps, Index i, Index first, Index last) {
  std::vector<Index> near;
  const std::size_t a = i;
  for (Index j = first; j < last; ++j) {
    const std::size_t b = j;
    Real squared = 0;
    for (std::size_t k = 0; k < D; ++k) {
      Real d = bodies.x[k][a] - bodies.x[k][b];
      if (wraps) d += bodies.period[k][a] - bodies.period[k][b];
      squared += d * d;
    }
    const Real reach = bodies.radius[a] + bodies.radius[b] + skin;
    if (!(squared >= reach * reach)) near.push_back(j);
  }
  return near;
}

template <int D>
void check_searches(const Columns<D>& bodies, Index n) {
  std::vector<Index> found(static_cast<std::size_t>(n) + near_search_padding);
  std::size_t n_found = 0, n_looked_at = 0;
  for (const NearSearches<D>* set : available_near_searches<D>()) {
    const NearSearches<D>& searches = *set;
    CAPTURE(D, searches.instruction_set);
    for (const bool wraps : {false, true})
      for (Index i = 0; i < n; ++i) {
        // Runs of every length, also of none.
        const Index first = (i * 7) % n;
        const Index last = std::min(n, first + i % 30);
        const std::size_t count = (wraps ? searches.through_faces : searches.within_box)(
            bodies.columns(), i, first, last, found.data());
        const std::vector<Index> expected = by_definition(bodies, wraps, i, first, last);
        REQUIRE(count == expected.size());
        CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
        n_found += count;
        n_looked_at += static_cast<std::size_t>(last - first);
      }
  }
  CHECK(n_found > n_looked_at / 50);
  CHECK(n_found < n_looked_at / 2);
}

}  // namespace

TEST_CASE("near search: all searches find the bodies within reach, in order, and none beyond the run",
          "[contact]") {
  check_searches(Columns<2>(400), 400);
  check_searches(Columns<3>(400), 400);
}

TEST_CASE("near search: a distance of exactly the reach is too far, one that is no number counts",
          "[contact]") {
  Columns<2> bodies(4);
  for (std::size_t i = 0; i < 4; ++i) {
    bodies.radius[i] = 0.25;
    bodies.x[0][i] = bodies.x[1][i] = bodies.period[0][i] = bodies.period[1][i] = 0;
  }
  const Real reach = bodies.radius[0] + bodies.radius[1] + skin;
  bodies.x[0][1] = reach;
  bodies.x[0][2] = std::nextafter(reach, 0);
  bodies.x[1][3] = std::numeric_limits<Real>::quiet_NaN();
  std::vector<Index> found(4 + near_search_padding);
  for (const NearSearches<2>* set : available_near_searches<2>())
    for (const auto search : {set->within_box, set->through_faces}) {
      CAPTURE(set->instruction_set);
      REQUIRE(search(bodies.columns(), 0, 1, 4, found.data()) == 2);
      CHECK(found[0] == 2);
      CHECK(found[1] == 3);
    }
}
