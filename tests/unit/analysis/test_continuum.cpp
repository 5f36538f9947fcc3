// Kernels of continuum fields: integrals by quadrature, and every group of the verification.
#include <catch2/catch.hpp>

#include "analysis/continuum/sums.hpp"
#include "core/deck.hpp"

namespace scree {

namespace {

template <int D>
std::unique_ptr<SmoothingKernel<D>> made(const Entry<SmoothingKernel<D>>& entry, Real width) {
  auto kernel = entry.make();
  Deck deck = Deck::from_text("width = " + std::to_string(width), "kernel.toml");
  kernel->describe(deck.root());
  return kernel;
}

template <int D>
void check_integrals() {
  for (const auto& entry : registry<SmoothingKernel<D>>()) {
    CAPTURE(entry.name, D);
    const auto kernel = made(entry, 0.7);
    constexpr int n = 60;
    const Real reach = kernel->reach(), h = 2 * reach / n;
    const auto middle = [&](int i) { return -reach + (i + 0.5) * h; };
    Real all = 0, squares = 0, along = 0;
    for (int i = 0; i < n; ++i) {
      along += kernel->weight_along(middle(i)) * h;
      Real across = 0;
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < (D == 3 ? n : 1); ++k) {
          Vec<D> r{};
          r[0] = middle(i);
          r[1] = middle(j);
          if constexpr (D == 3) r[2] = middle(k);
          const Real w = kernel->weight(r) * std::pow(h, D);
          across += w;
          squares += w * r[0] * r[0];
        }
      all += across;
      CHECK(across / h == Approx(kernel->weight_along(middle(i))).margin(2e-3));
    }
    CHECK(all == Approx(1).epsilon(1e-3));
    CHECK(along == Approx(1).epsilon(1e-3));
    CHECK(squares == Approx(kernel->variance()).epsilon(2e-3));

    // Means over segments through, beside and beyond the middle, and of none.
    for (const Real length : {1e-9, 0.3, 1.9})
      for (const Real from : {-0.4, 0.1, 0.9}) {
        Vec<D> r{}, l{};
        r[0] = from;
        r[1] = 0.13;
        l[0] = 0.8 * length;
        l[1] = -0.6 * length;
        constexpr int parts = 20000;
        Real mean = 0, mean_along = 0;
        for (int i = 0; i < parts; ++i) {
          const Real s = (i + 0.5) / parts;
          mean += kernel->weight(r - s * l) / parts;
          mean_along += kernel->weight_along(r[0] - s * l[0]) / parts;
        }
        CAPTURE(length, from);
        CHECK(kernel->line(r, l) == Approx(mean).epsilon(1e-4).margin(1e-6));
        CHECK(kernel->line_along(r[0], l[0]) == Approx(mean_along).epsilon(1e-4).margin(1e-6));
      }
  }
}

}  // namespace

TEST_CASE("continuum kernels: integral 1, variance, profiles and means over segments in the plane",
          "[analysis]") {
  check_integrals<2>();
}
TEST_CASE("continuum kernels: integral 1, variance, profiles and means over segments in space",
          "[analysis]") {
  check_integrals<3>();
}

TEST_CASE("continuum sums: multiples of 2^-76 add up in any order, and too large ones are refused",
          "[analysis]") {
  const std::vector<Real> terms{1e14, -1e-9, 3.7e5, -1e14, 2e-20};
  FixedPoint forwards = 0, backwards = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    forwards += fixed_point(terms[i]);
    backwards += fixed_point(terms[terms.size() - 1 - i]);
  }
  CHECK(forwards == backwards);
  CHECK(real_of(forwards) == Approx(3.7e5 - 1e-9).epsilon(1e-15));

  const auto kernel = made(registry<SmoothingKernel<3>>()[0], 1);
  const ContinuumGrid<3> grid = ContinuumGrid<3>::make({{}, filled<3>(1.0), {}}, 2, 1, 6);
  CellSums<3> sums;
  sums.resize(grid.size());
  ContinuumTerms<3> terms_of{*kernel, grid, 1, sums};
  terms_of.body(filled<3>(0.5), 1, 1, {});
  CHECK(terms_of.fits);
  terms_of.body(filled<3>(0.5), 1e20, 1, {});
  CHECK_FALSE(terms_of.fits);
}

TEST_CASE("continuum grids: reach beyond open faces, fill a period", "[analysis]") {
  const auto grid = ContinuumGrid<2>::make({{{0, 0}}, {{1, 2}}, {true, false}}, -1, 0.3, 0.5);
  CHECK(grid.n[0] == 3);
  CHECK(grid.cell[0] * 3 == Approx(1));
  CHECK(grid.origin[1] <= -0.5);
  CHECK(grid.origin[1] + grid.cell[1] * static_cast<Real>(grid.n[1]) >= 2.5);
  const auto profile = ContinuumGrid<2>::make({{{0, 0}}, {{4, 2}}, {true, false}}, 1, 0.3, 0.5);
  CHECK(profile.n[0] == 1);
  CHECK(profile.per_area == 0.25);
}

}  // namespace scree
