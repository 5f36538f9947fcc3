#include "analysis/continuum/fields.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {

constexpr std::int64_t max_blocks = 64;
constexpr Real max_cells = 1e8;

/// Number of the axis along which fields are reported, -1: all of them; -2: no such choice.
template <int D>
int axis_named(const std::string& axes) {
  if (axes == (D == 2 ? "xy" : "xyz")) return -1;
  const std::size_t place = std::string(D == 2 ? "xy" : "xyz").find(axes);
  return axes.size() == 1 && place != std::string::npos ? static_cast<int>(place) : -2;
}

template <int D>
struct MovedSums {
  std::int64_t cell;
  typename CellSums<D>::Sums sums;
};

}  // namespace

template <int D>
void ContinuumFields<D>::describe(Section& output) {
  output.optional_table(
      "continuum",
      {.doc = "Density, velocity, stress ... of grains as fields for ParaView, for schemes with inertia"},
      [&](Section& table) {
        every_.describe(table, "frames");
        table.real(
            "average", average_,
            {.unit = Unit::time,
             .range = non_negative,
             .doc = "Frames are means over this time before them; up to every, or a multiple of it; 0: "
                    "frames are instants"});
        table.integer("stride", stride_,
                      {.range = {.min = 1},
                       .doc = "Means are over every so many steps: sums cost time, and steps next to each "
                              "other are much alike"});
        table.real(
            "cell", cell_,
            {.unit = Unit::length,
             .range = positive,
             .required = true,
             .doc =
                 "Distance of the points at which fields are reported; a periodic axis is divided evenly"});
        table.text("axes", axes_,
                   {.doc = "\"x\", \"y\" or \"z\": along this axis, averaged over the others; \"xyz\" (in 2D "
                           "\"xy\"): on a grid"});
        table.kind("kernel", kernel_,
                   {.required = true, .doc = "Weight of bodies and contacts about a point"});
        if (!table.reading()) return;
        where_ = table.where("kernel");
        where_width_ = table.where("width");
        where_cell_ = table.where("cell");
        if (!every_.ever()) table.fail("kernel", "[output.continuum] needs 'every' or 'every_steps'");
        if (axis_named<D>(axes_) < -1)
          table.fail("axes",
                     fmt::format("axes is \"{}\"; it can be {}", axes_,
                                 D == 2 ? "\"x\", \"y\" or \"xy\"" : "\"x\", \"y\", \"z\" or \"xyz\""));
        if (average_ == 0 && stride_ > 1) table.fail("stride", "stride has no effect without average");
        if (average_ == 0) return;
        if (every_.time() == 0) table.fail("average", "average needs 'every', a time, not 'every_steps'");
        if (average_ <= every_.time()) return;
        const Real n = average_ / every_.time();
        n_blocks_ = std::llround(n);
        if (std::abs(n - static_cast<Real>(n_blocks_)) > 1e-6 || n_blocks_ > max_blocks)
          table.fail("average",
                     fmt::format("average, {:g} s, is longer than every, {:g} s: it has to be a "
                                 "multiple of it, {} times at most; {:g} s is",
                                 average_, every_.time(), max_blocks,
                                 static_cast<Real>(std::min(n_blocks_, max_blocks)) * every_.time()));
      });
}

template <int D>
void ContinuumFields<D>::check(const Box<D>& box, bool has_inertia) const {
  if (!has_inertia)
    throw InputError(fmt::format(
        "{}: [output.continuum] needs bodies with mass, but the scheme knows no inertia; remove the table or "
        "choose another simulation.scheme",
        where_));
  const int only = axis_named<D>(axes_);
  Real n = 1;
  for (int axis = 0; axis < D; ++axis) {
    if (only >= 0 && axis != only) continue;
    n *= (box.length(axis) + (box.is_periodic(axis) ? 0 : 2 * kernel_->reach())) / cell_;
    if (!box.is_periodic(axis) || box.length(axis) >= 2 * kernel_->reach()) continue;
    throw InputError(fmt::format(
        "{}: the kernel reaches {:g} m, more than half the period along {}, {:g} m; a width up to "
        "{:.3g} m fits",
        where_width_, kernel_->reach(), "xyz"[axis], box.length(axis),
        0.5 * box.length(axis) / kernel_->reach() * kernel_->width()));
  }
  if (n > max_cells)
    throw InputError(fmt::format("{}: the fields have {:.2g} cells; {:g} are possible: take a longer cell",
                                 where_cell_, n, max_cells));
}

template <int D>
std::array<Real, 5> ContinuumFields<D>::signature() const {
  return {kernel_->reach(), kernel_->width(), kernel_->variance(), average_, every_.time()};
}

template <int D>
void ContinuumFields<D>::prepare(const State<D>& state) {
  grid_ = ContinuumGrid<D>::make(state.box, axis_named<D>(axes_), cell_, kernel_->reach());
  added_.resize(grid_.size());
  blocks_.assign(average_ > 0 ? static_cast<std::size_t>(n_blocks_) : 1, Block(n_cells(state.comm), Sums{}));
  numbers_.assign(n_signature + 1 + blocks_.size(), 0);
  std::ranges::copy(signature(), numbers_.begin());
}

template <int D>
void ContinuumFields<D>::warn_of_lengths(const State<D>& state) const {
  const std::size_t n_owned = state.bodies.n_owned();
  const std::int64_t n = state.comm.sum(static_cast<std::int64_t>(n_owned));
  const auto radius = state.bodies.radius().first(n_owned);
  const Real sum = ReproducibleSum::sum(state.comm, std::vector<Real>(radius.begin(), radius.end()));
  const Real width = kernel_->width();
  if (n > 0 && width < 0.5 * sum / static_cast<Real>(n))
    log::warn("{}: the width, {:g} m, is below half the mean radius, {:g} m: fields show the single grains",
              where_width_, width, sum / static_cast<Real>(n));
  if (cell_ > width)
    log::warn("{}: the cell, {:g} m, is longer than the width, {:g} m: fields vary between the points",
              where_cell_, cell_, width);
}

template <int D>
std::int64_t ContinuumFields<D>::first_cell(const Comm& comm) const {
  return EvenShare(comm, grid_.layers(), grid_.layer_size()).first;
}
template <int D>
std::size_t ContinuumFields<D>::n_cells(const Comm& comm) const {
  return EvenShare(comm, grid_.layers(), grid_.layer_size()).size();
}

template <int D>
bool ContinuumFields<D>::takes(Real before, Real time, std::int64_t step) const {
  if (average_ == 0 || before < 0 || step % stride_ != 0) return false;
  if (average_ >= every_.time()) return true;
  const Real next = (interval_count(before, every_.time()) + 1) * every_.time();
  return time > next - average_ * (1 - 1e-6);
}

template <int D>
void ContinuumFields<D>::after_step(const State<D>& state, Real before, const ContactGraph<D>& contacts) {
  if (average_ == 0) return;
  Real& stage = numbers_[n_signature];
  if (stage != static_cast<Real>(state.stage.index)) {
    // The step was the last one of its stage.
    const bool was_averaging = covered() > 0;
    start_over();
    stage = static_cast<Real>(state.stage.index);
    if (was_averaging)
      log::warn("[output.continuum]: a stage ended at t = {:g} s within an average, which starts again",
                state.clock.time);
    return;
  }
  if (!takes(before, state.clock.time, state.clock.step)) return;
  Scope timer("continuum");
  const Real share = state.clock.last_dt / average_;
  fits_ = add_terms(state, contacts, *kernel_, grid_, share, added_) && fits_;
  weight(0) += share;
}

template <int D>
Real ContinuumFields<D>::covered() const {
  if (average_ == 0) return 1;
  Real sum = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) sum += numbers_[n_signature + 1 + b];
  return sum;
}

template <int D>
void ContinuumFields<D>::move_to_holders(const Comm& comm, CellSums<D>& added, Block& to) const {
  Outgoing outgoing;
  const std::int64_t layer = grid_.layer_size(), all = grid_.size();
  added.for_each([&](std::int64_t cell, const Sums& sums) {
    if (cell < all && std::ranges::any_of(sums, [](FixedPoint sum) { return sum != 0; }))
      outgoing.to(EvenShare::owner(grid_.layers(), cell / layer, comm.size())).put(MovedSums<D>{cell, sums});
  });
  added.clear();
  const std::int64_t first = first_cell(comm);
  for (const MovedSums<D>& moved : exchange_values<MovedSums<D>>(comm, outgoing)) {
    Sums& sums = to[moved.cell - first];
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += moved.sums[k];
  }
}

template <int D>
std::vector<typename ContinuumFields<D>::Sums> ContinuumFields<D>::frame(const State<D>& state,
                                                                         const ContactGraph<D>& contacts) {
  const Comm& comm = state.comm;
  if (average_ == 0) fits_ = add_terms(state, contacts, *kernel_, grid_, 1, added_);
  if (comm.any(!fits_))
    throw RunError(
        fmt::format("{}: a field is larger than 1e15 in its unit and cannot be summed up", where_));
  if (covered() == 0) return {};
  if (average_ == 0) {
    Block sums(n_cells(comm), Sums{});
    move_to_holders(comm, added_, sums);
    return sums;
  }
  move_to_holders(comm, added_, blocks_[0]);
  Block sums = blocks_[0];
  for (std::size_t b = 1; b < blocks_.size(); ++b)
    for (std::size_t cell = 0; cell < sums.size(); ++cell)
      for (std::size_t k = 0; k < sums[cell].size(); ++k) sums[cell][k] += blocks_[b][cell][k];
  return sums;
}

template <int D>
void ContinuumFields<D>::frame_is_written() {
  if (average_ == 0) return;
  std::rotate(blocks_.begin(), blocks_.end() - 1, blocks_.end());
  std::rotate(numbers_.begin() + n_signature + 1, numbers_.end() - 1, numbers_.end());
  std::ranges::fill(blocks_[0], Sums{});
  weight(0) = 0;
}

template <int D>
void ContinuumFields<D>::start_over() {
  added_.clear();
  for (Block& block : blocks_) std::ranges::fill(block, Sums{});
  std::fill(numbers_.begin() + n_signature + 1, numbers_.end(), 0.0);
}

template <int D>
std::vector<SharedRows> ContinuumFields<D>::to_restore(const Comm& comm) const {
  std::vector<SharedRows> all;
  if (average_ == 0) return all;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    all.push_back({fmt::format("continuum_{}", b), grid_.size(), 2 * static_cast<int>(CellSums<D>::width),
                   first_cell(comm), static_cast<std::int64_t>(n_cells(comm))});
  return all;
}

template <int D>
std::vector<SharedRows> ContinuumFields<D>::saved(const Comm& comm) {
  std::vector<SharedRows> all = to_restore(comm);
  if (all.empty()) return all;
  move_to_holders(comm, added_, blocks_[0]);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (const Sums& sums : blocks_[b])
      for (const FixedPoint sum : sums) {
        all[b].values.push_back(static_cast<std::int64_t>(sum >> 64));
        all[b].values.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(sum)));
      }
  }
  return all;
}

template <int D>
bool ContinuumFields<D>::fits_memory() const {
  return std::ranges::equal(signature(), std::span(numbers_).first(n_signature));
}

template <int D>
void ContinuumFields<D>::restore(const std::vector<SharedRows>& rows) {
  constexpr FixedPoint two_to_32 = FixedPoint{1} << 32;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::int64_t* from = rows[b].values.data();
    for (Sums& sums : blocks_[b])
      for (FixedPoint& sum : sums) {
        sum = FixedPoint{from[0]} * two_to_32 * two_to_32 + FixedPoint{static_cast<std::uint64_t>(from[1])};
        from += 2;
      }
  }
}

template class ContinuumFields<2>;
template class ContinuumFields<3>;

}  // namespace scree
