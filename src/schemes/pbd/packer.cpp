#include "schemes/pbd/packer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/timing.hpp"
#include "neighbors/neighborhood.hpp"
#include "particles/packing/region.hpp"
#include "schemes/pbd/sweeper.hpp"

namespace scree {

namespace {

/// Bodies may not leave the region: a round container, or planes across the axes.
template <int D>
void add_faces(const Region<D>& region, ObstacleSet<D>& obstacles) {
  const auto add = [&](std::unique_ptr<Shape<D>> face) {
    obstacles.add("face of " + region.where(), region.where(), std::move(face));
  };
  if (region.is_sphere()) {
    add(make_round_container(region.center(), region.radius()));
    return;
  }
  for (int k = 0; k < D; ++k) {
    if (region.bounds().is_periodic(k)) continue;
    add(make_plane(region.bounds().lower, unit_vector<D>(k)));
    add(make_plane(region.bounds().upper, -unit_vector<D>(k)));
  }
}

/// Growing bodies and those that stand in their way.
template <int D>
class Growth {
 public:
  Growth(const typename BodyPacker<D>::Task& task, std::span<const NewBody<D>> bodies)
      : state_{.comm = task.comm, .box = task.box, .obstacles = task.obstacles},
        neighborhood_(task.comm, settings(), Outside::keep),
        sweeper_(neighborhood_) {
    add_faces(task.region, state_.obstacles);
    state_.obstacles.place(0);
    state_.obstacles.begin_step();
    BodyStore<D>& store = state_.bodies;
    store.carry_path(false);
    const auto has_shape = [](const NewBody<D>& body) { return body.shape != 0; };
    store.carry_shapes(task.comm.any(std::ranges::any_of(bodies, has_shape) ||
                                     std::ranges::any_of(task.standing, has_shape)));
    state_.shapes = task.shapes;
    store.resize(static_cast<Index>(bodies.size() + task.standing.size()), 0);
    for (std::size_t i = 0; i < bodies.size() + task.standing.size(); ++i) {
      const bool grows = i < bodies.size();
      const NewBody<D>& body = grows ? bodies[i] : task.standing[i - bodies.size()];
      store.id()[i] = body.id;
      store.position()[i] = body.position;
      store.radius()[i] = body.radius;
      store.mobility()[i] = grows ? 1 : 0;
      if (store.carries_shapes()) {
        store.shape()[i] = body.shape;
        store.orientation()[i] = body.orientation;
      }
      if (!grows) continue;
      const Real inside =
          body.shape == 0 ? body.radius : task.shapes.inscribed_radius(body.shape, body.radius);
      smallest_ = std::min(smallest_, inside);
      largest_ = std::max(largest_, inside);
    }
    smallest_ = state_.comm.min(smallest_);
    largest_ = state_.comm.max(largest_);
    weighted_ = state_.comm.any(!task.standing.empty());
    state_.memory.clear(store.n_owned());
    constexpr Real usual_displacement = 1e-3;  // in diameters, per sweep
    neighborhood_.make_lattice(state_, usual_displacement * 2 * smallest_);
    rebuild();
  }

  // Of bodies with shapes those of inscribed spheres.
  Real smallest_radius() const { return smallest_; }
  Real usual_radius() const { return 0.5 * (smallest_ + largest_); }
  std::int64_t n_sweeps() const { return n_sweeps_; }

  /// Bodies that grow get `factor` times their radius.
  void set_factor(Real factor) {
    factor_ = factor;
    sweeper_.scale_radii(state_, factor_);
  }

  /// One sweep; returns the deepest overlap that it met on any rank [m].
  Real sweep() {
    ++n_sweeps_;
    Real deepest = sweeper_.sweep(state_, PairMode::plain, {});
    const auto records = sweeper_.records();
    const auto reference = std::as_const(state_.bodies).reference_position();
    Real max = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Vec<D> moved = position_of<D>(records[i]) - reference[i];
      max = std::max(max, dot(moved, moved));
    }
    constexpr Real share_of_skin = 0.5;  // two bodies that meet use up all of it
    if (neighborhood_.used_skin(state_, max, 0, &deepest) > share_of_skin * state_.lattice.skin) {
      sweeper_.store(state_);
      rebuild();
      sweeper_.scale_radii(state_, factor_);
    }
    return deepest;
  }

  /// Deepest overlap at the radii asked for [m].
  Real find_overlap() {
    sweeper_.store(state_);
    rebuild();
    sweeper_.scale_radii(state_, factor_);
    neighborhood_.detect(state_, {.tolerance = 0}, contacts_);
    Real deepest = 0;
    for (std::size_t c = 0; c < contacts_.size(); ++c)
      if (!stands(contacts_.a[c]) || (contacts_.b[c] >= 0 && !stands(contacts_.b[c])))
        deepest = std::max(deepest, -contacts_.gap[c]);
    return state_.comm.max(deepest);
  }

  /// The growing bodies, where they are. After find_overlap().
  std::vector<NewBody<D>> bodies() const {
    std::vector<NewBody<D>> all;
    const BodyStore<D>& store = state_.bodies;
    for (std::size_t i = 0; i < static_cast<std::size_t>(store.n_owned()); ++i) {
      if (store.mobility()[i] == 0) continue;
      all.push_back({store.id()[i], store.position()[i], store.radius()[i]});
      if (store.carries_shapes()) {
        all.back().shape = store.shape()[i];
        all.back().orientation = store.orientation()[i];
      }
    }
    return all;
  }

 private:
  static NeighborhoodSettings settings() {
    NeighborhoodSettings settings;
    settings.weights = NeighborhoodSettings::Weights::counts;
    return settings;
  }
  bool stands(Index i) const { return state_.bodies.mobility()[i] == 0; }
  void rebuild() {
    state_.memory.clear(state_.bodies.n_owned());
    neighborhood_.rebuild(state_);
    sweeper_.prepare(state_, weighted_);
    sweeper_.owned_records_written();
  }

  State<D> state_;
  Neighborhood<D> neighborhood_;
  PbdSweeper<D> sweeper_;
  ContactGraph<D> contacts_;
  bool weighted_ = false;
  Real smallest_ = HUGE_VAL, largest_ = 0;
  Real factor_ = 1;
  std::int64_t n_sweeps_ = 0;
};

}  // namespace

template <int D>
typename BodyPacker<D>::Report PbdPacker<D>::pack(const typename BodyPacker<D>::Task& task, Real start,
                                                  std::vector<NewBody<D>>& bodies) const {
  Scope timer("pack");
  constexpr Real fastest = 2e-3;  // growth per sweep, as a share of the radius
  constexpr Real soft = 0.05;     // overlap at which growth stops, in usual radii
  // Share of the radii asked for that bodies grow to. Pairs that touch at its end have a gap of 0.0015 of the
  // sum of their radii: within the speculative margin of "nonsmooth", 0.002, and not on it, where rounding
  // would decide.
  constexpr Real max = 1.0015;
  // Looks at what has been gained: how many sweeps lie between, and what is little.
  constexpr int watched = 500;
  constexpr Real min_growth = 5e-4;
  constexpr Real min_relief = 0.97;
  Growth<D> growth(task, bodies);
  Real factor = start;
  growth.set_factor(factor);
  typename BodyPacker<D>::Report report;
  report.overlap = -1;  // not known
  Real before = factor, last = HUGE_VAL;
  for (int n = 1;; ++n) {
    const Real deepest = growth.sweep();
    // Bodies that overlap by less than they are larger than asked for do not overlap as asked for. A sweep
    // detects overlaps before it takes them out, and leaves others: the pairs are asked once more.
    if (factor > 1 && deepest <= (factor - 1) * growth.smallest_radius()) {
      report.overlap = growth.find_overlap() / growth.smallest_radius();
      if (report.overlap <= task.overlap_limit) break;
    }
    const Real gain = fastest * std::max(0.0, 1 - deepest / (soft * growth.usual_radius()));
    factor = std::min(max, factor * (1 + gain));
    growth.set_factor(factor);
    if (n % watched != 0) continue;
    if (factor <= before * (1 + min_growth) && (factor < 1 || deepest > min_relief * last)) break;
    before = factor;
    last = deepest;
  }
  report.growth = std::min(factor, 1.0);
  if (!(report.overlap >= 0 && report.overlap <= task.overlap_limit))
    report.overlap = growth.find_overlap() / growth.smallest_radius();
  report.n_sweeps = growth.n_sweeps();
  bodies = growth.bodies();
  return report;
}

template class PbdPacker<2>;
template class PbdPacker<3>;

}  // namespace scree
