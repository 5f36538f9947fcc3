#include <array>
#include <limits>

#include "analysis/measure.hpp"

namespace scree {
namespace {

/// Where the bodies are as a whole. Positions are unwrapped: a body that left through a periodic face counts
/// where its path has led it. With x_i the positions of n bodies:
///   centre c                sum x_i / n
///   gyration radius         sqrt(sum |x_i - c|^2 / n)
///   half square distance    sum |x_i - point|^2 / 2
/// The last one, times the rate, is the potential whose gradient the velocity field "attraction" follows.
template <int D>
class Extent final : public Measure<D> {
 public:
  void describe(Section& section) override {
    section.point("point", point_,
                  {.unit = Unit::length, .doc = "from where half_square_distance is measured"});
  }

  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    const std::size_t n_owned = state.bodies.n_owned();
    std::vector<Vec<D>> x(n_owned);
    for (std::size_t i = 0; i < n_owned; ++i) x[i] = followed_position(state, i);
    const auto n = static_cast<Real>(state.comm.sum(static_cast<std::int64_t>(n_owned)));

    Vec<D> centre;
    ReproducibleSum::sum(state.comm, n_owned, centre.component, [&](std::size_t i, std::span<Real> term) {
      for (int k = 0; k < D; ++k) term[k] = x[i][k];
    });
    centre *= n > 0 ? 1 / n : std::numeric_limits<Real>::quiet_NaN();
    std::array<Real, 2> squares{};
    ReproducibleSum::sum(state.comm, n_owned, squares, [&](std::size_t i, std::span<Real> term) {
      term[0] = dot(x[i] - centre, x[i] - centre);
      term[1] = dot(x[i] - point_, x[i] - point_);
    });
    MeasuredRow row;
    for (int k = 0; k < D; ++k) {
      const std::string axis(1, "xyz"[k]);
      row.push_back(
          {"center_" + axis, "m", "mean " + axis + " of the bodies; nan without bodies", centre[k]});
    }
    row.push_back({"gyration_radius", "m", "root mean square distance from the centre; nan without bodies",
                   std::sqrt(squares[0] / n)});
    row.push_back(
        {"half_square_distance", "m2", "half the sum of squared distances from the point", squares[1] / 2});
    return row;
  }

 private:
  Vec<D> point_{};
};

}  // namespace

SCREE_PLUGIN(Measure, extent, Extent, "centre, gyration radius and sum of squared distances from a point")

}  // namespace scree
