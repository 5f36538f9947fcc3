#include "friction/scaled_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "friction/dense_block.hpp"

namespace scree {

namespace {

/// W_cc, row by row.
template <int D>
const Real* own_block(const LocalForm<D>& local, std::size_t c) {
  const auto first = local.row.begin() + local.column_first[c];
  const auto last = local.row.begin() + local.column_first[c + 1];
  const auto at = std::lower_bound(first, last, static_cast<Index>(c)) - local.row.begin();
  return local.block.data() + at * D * D;
}

}  // namespace

template <int D>
void ScaledProblem<D>::rebuild(const FrictionProblem<D>& problem) {
  Scope timer("scaling");
  const bool same_masses =
      problem.mass_stamp != 0 && problem_ == &problem && mass_stamp_ == problem.mass_stamp;
  problem_ = &problem;
  mass_stamp_ = problem.mass_stamp;
  const bool are_diagonal = count_all();
  if (!same_masses) mass_scale_ = mean_mass();
  // The velocity scale needs |H v_free + w|, which has no scale yet: take v_c = 1 first.
  velocity_scale_ = 1;
  has_spheres_ = problem.is_round();
  contacts_built_ = general_built_ = false;
  walls_.find(problem);
  if (problem.is_local()) {
    free_.assign(velocity_size(), 0.0);
    build_local_contacts();
  } else {
    if (!same_masses) roots_.find(problem, are_diagonal, mass_scale_);
    roots_.scale_velocities(problem.free_velocity, free_);
    if (has_spheres_) build_spheres();
  }
  find_velocity_scale();
}

template <int D>
void ScaledProblem<D>::rebuild_bias() {
  Scope timer("scaling");
  if (!is_round_everywhere_) return rebuild(*problem_);
  velocity_scale_ = 1;
  contacts_built_ = general_built_ = false;
  roots_.scale_velocities(problem_->free_velocity, free_);
  for (std::size_t c = 0; c < problem_->a.size(); ++c) {
    Real w[D];
    for (std::size_t i = 0; i < D; ++i) w[i] = bias(c, i);
    spheres_.set_bias(c, w);
  }
  if (problem_->rolls()) set_spin_bias();
  find_velocity_scale();
}

/// Counts over all ranks, in one reduction: this runs in every step. Returns whether all mass blocks are
/// diagonal: of all ranks, since the two ways to scale round differently. Collective.
template <int D>
bool ScaledProblem<D>::count_all() {
  const FrictionProblem<D>& problem = *problem_;
  std::int64_t n_unsymmetric = problem.is_local() ? 1 : 0, n_not_diagonal = 0;
  // Bodies that are round promise it.
  if (!problem.is_round())
    for (std::size_t i = 0; i < problem.mass.size() / (q * q); ++i) {
      const Real* block = problem.mass.data() + i * q * q;
      if (scree::is_diagonal<q>(block)) continue;
      ++n_not_diagonal;
      n_unsymmetric += scree::is_symmetric<q>(block, 1e-14) ? 0 : 1;
    }
  const std::int64_t n_general = problem.is_round() ? 0 : problem.n_contacts();
  const std::int64_t n_own = std::ranges::count_if(problem.own_scale, [](Real v) { return v > 0; });
  std::array counts{std::int64_t{problem.n_contacts()},
                    std::int64_t{n_owned()},
                    n_unsymmetric,
                    n_general,
                    n_own,
                    n_not_diagonal};
  comm().sum(counts);
  n_contacts_of_all_ = counts[0];
  n_bodies_of_all_ = counts[1];
  is_symmetric_ = counts[2] == 0;
  is_round_everywhere_ = counts[3] == 0;
  n_own_of_all_ = counts[4];
  return is_symmetric_ && counts[5] == 0;
}

/// Mean mass of a body [kg], or of the bodies at a contact of a local form. Collective.
template <int D>
Real ScaledProblem<D>::mean_mass() {
  const FrictionProblem<D>& problem = *problem_;
  const bool is_local = problem.is_local();
  const std::size_t n = is_local ? problem.n_contacts() : n_owned();
  const std::int64_t n_of_all = is_local ? n_contacts_of_all_ : n_bodies_of_all_;
  const std::span<Real> terms = lane_scratch(n);
  for (std::size_t i = 0; i < n; ++i) {
    Real trace = 0;
    if (is_local) {
      const Real* own = own_block(problem.local, i);
      for (std::size_t k = 0; k < D; ++k) trace += own[k * D + k];
      terms[i] = D / trace;
    } else {
      for (std::size_t k = 0; k < D; ++k) trace += problem.mass[(i * q + k) * q + k] / D;
      terms[i] = trace;
    }
  }
  const Real total = ReproducibleSum::sum(comm(), terms);
  return n_of_all > 0 ? total / static_cast<Real>(n_of_all) : 1;
}

/// Sets v_c, and scales with it what is there. Collective.
template <int D>
void ScaledProblem<D>::find_velocity_scale() {
  const std::span<Real> square = lane_scratch();
  if (has_spheres_) {
    spheres_.kernels().free_squares(spheres_.groups(), free_.data(), square.data());
  } else {
    const auto& rows = contacts();
    for (std::size_t c = 0; c < rows.size(); ++c) {
      Real u[D];
      rows[c].relative_velocity(free_.data(), u);
      square[c] = 0;
      for (int k = 0; k < D; ++k) square[c] += (u[k] + rows[c].w[k]) * (u[k] + rows[c].w[k]);
    }
  }
  Real total = ReproducibleSum::sum(comm(), square);
  free_norm_ = std::sqrt(total);
  // The bias of a spring is no velocity.
  if (n_own_of_all_ > 0 && n_own_of_all_ < n_contacts_of_all_) {
    for (std::size_t c = 0; c < problem_->own_scale.size(); ++c) {
      const Real own = problem_->own_scale[c];
      if (own > 0) square[spheres_.lanes().place()[c]] = own * own;
    }
    total = ReproducibleSum::sum(comm(), square);
  }
  if (problem_->velocity_scale > 0) {
    velocity_scale_ = problem_->velocity_scale;
  } else {
    const Real rms = n_contacts_of_all_ > 0 ? std::sqrt(total / static_cast<Real>(n_contacts_of_all_)) : 0;
    velocity_scale_ = std::max(rms, problem_->velocity_floor);
    if (!(velocity_scale_ > 0)) velocity_scale_ = 1;  // nothing moves and nothing pulls
  }
  for (Real& y : free_) y /= velocity_scale_;
  if (has_spheres_) spheres_.divide_bias(velocity_scale_);
  if (contacts_built_)
    for (Contact& row : contacts_)
      for (Real& w : row.w) w /= velocity_scale_;
  for (std::size_t c = 0; c < problem_->own_scale.size(); ++c)
    if (problem_->own_scale[c] > 0) spheres_.set_own_scale(c, problem_->own_scale[c] / velocity_scale_);
}

template <int D>
void ScaledProblem<D>::set_ends_and_bias(std::size_t c, Contact& row) const {
  const FrictionProblem<D>& problem = *problem_;
  row.a = problem.a[c] < 0 ? n_local() : problem.a[c];
  row.b = problem.b[c] < 0 ? n_local() : problem.b[c];
  row.mu = problem.mu[c];
  for (std::size_t k = 0; k < D; ++k) row.w[k] = bias(c, k) / velocity_scale_;
  for (std::size_t k = 0; k < 2; ++k)
    row.g[k] = problem.compliance.empty() ? 0 : mass_scale_ * problem.compliance[2 * c + k];
}

template <int D>
void ScaledProblem<D>::build_contacts() const {
  const FrictionProblem<D>& problem = *problem_;
  contacts_.resize(problem.a.size());
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& row = contacts_[c];
    set_ends_and_bias(c, row);
    row.coupling = nullptr;
    const Index body[2] = {problem.a[c], problem.b[c]};
    for (std::size_t side = 0; side < 2; ++side) {
      Real(&J)[D][q] = row.J[side];
      if (body[side] < 0) {
        std::fill_n(&J[0][0], D * q, 0.0);
        continue;
      }
      Real H[D * q];
      problem.find_rows(c, side, H);
      roots_.scale_rows(static_cast<std::size_t>(body[side]), H, J);
    }
    for (int i = 0; i < D; ++i)
      for (int j = i; j < D; ++j) {
        Real sum = 0;
        for (int k = 0; k < q; ++k) sum += row.J[0][i][k] * row.J[0][j][k] + row.J[1][i][k] * row.J[1][j][k];
        row.W[i][j] = row.W[j][i] = sum;
      }
  }
  if (!is_symmetric_) build_couplings();
  contacts_built_ = true;
}

template <int D>
void ScaledProblem<D>::build_general() const {
  general_.begin(n_local());
  general_built_ = true;
  if (has_spheres_ || !is_symmetric_) return;
  for_each_stretch([&](Index first, Index last) {
    for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c)
      if (problem_->wall_of(c) >= 0)
        general_.defer();
      else
        general_.add(contacts()[c]);
    general_.end_stretch();
  });
  for_each_wall_stretch([&](std::size_t c) { general_.add(c, contacts()[c]); },
                        [&] { general_.end_stretch(); });
  // A full group takes as long as three contacts one at a time.
  constexpr std::size_t min_in_group = 3;
  if (general_.groups().size() * min_in_group > contacts().size()) general_.begin(n_local());
}

template <int D>
void ScaledProblem<D>::build_couplings() const {
  const FrictionProblem<D>& problem = *problem_;
  const Real root_mass = std::sqrt(mass_scale_);
  constexpr std::size_t ends_of_contact = 4;  // of J and of B^T, for a and for b
  ends_.resize(contacts_.size() * ends_of_contact);
  couplings_.resize(contacts_.size());
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& row = contacts_[c];
    End* end = ends_.data() + c * ends_of_contact;
    const std::array<Index, 2> body{problem.a[c], problem.b[c]};
    std::size_t n = 0;
    for (std::size_t side = 0; side < 2; ++side) {
      if (body[side] < 0) continue;
      const std::size_t i = body[side];
      End& velocity = end[n];
      End& impulse = end[2 + n++];
      velocity.body = impulse.body = body[side];
      std::copy_n(&row.J[side][0][0], D * q, &velocity.J[0][0]);
      // B^T = sqrt(m_c) H M^-T L, row by row.
      for (std::size_t k = 0; k < D; ++k) {
        Real solved[q], of_row[q];
        solve_block<q>(problem.mass.data() + i * q * q,
                       problem.jacobian.data() + ((c * 2 + side) * D + k) * q, solved);
        apply_root_transposed<q>(roots_.inverse_root(i), solved, of_row);
        for (std::size_t j = 0; j < q; ++j) impulse.J[k][j] = root_mass * of_row[j];
      }
    }
    couplings_[c] = {{end, n}, {end + 2, n}};
    row.coupling = &couplings_[c];
    for (int i = 0; i < D; ++i)
      for (int j = i; j < D; ++j) {
        Real sum = 0;
        for (std::size_t side = 0; side < n; ++side)
          for (int k = 0; k < q; ++k)
            sum += end[side].J[i][k] * end[2 + side].J[j][k] + end[side].J[j][k] * end[2 + side].J[i][k];
        row.W[i][j] = row.W[j][i] = sum / 2;
      }
  }
}

/// Contact c has the velocities [c mod n D, ...) of "body" c / n, n = q / D.
template <int D>
void ScaledProblem<D>::build_local_contacts() {
  const FrictionProblem<D>& problem = *problem_;
  const LocalForm<D>& local = problem.local;
  constexpr std::size_t together = q / D;
  contacts_.resize(problem.a.size());
  couplings_.resize(contacts_.size());
  // All ends first, since spans do not survive the growth of the array.
  ends_.clear();
  std::vector<std::size_t> first_end;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    first_end.push_back(ends_.size());
    End own{static_cast<Index>(c / together), {}};
    for (std::size_t k = 0; k < D; ++k) own.J[k][c % together * D + k] = 1;
    ends_.push_back(own);
    for (std::size_t at = local.column_first[c]; at < static_cast<std::size_t>(local.column_first[c + 1]);
         ++at) {
      const std::size_t row = local.row[at];
      const auto body = static_cast<Index>(row / together);
      if (ends_.size() == first_end.back() + 1 || ends_.back().body != body) ends_.push_back({body, {}});
      for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < D; ++j)
          ends_.back().J[j][row % together * D + i] = mass_scale_ * local.block[(at * D + i) * D + j];
    }
  }
  first_end.push_back(ends_.size());
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& row = contacts_[c];
    set_ends_and_bias(c, row);
    std::fill_n(&row.J[0][0][0], 2 * D * q, 0.0);
    const std::span<const End> of_contact(ends_.data() + first_end[c], first_end[c + 1] - first_end[c]);
    couplings_[c] = {of_contact.first(1), of_contact.subspan(1)};
    row.coupling = &couplings_[c];
    const Real* own = own_block(local, c);
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t j = 0; j < D; ++j) row.W[i][j] = mass_scale_ * (own[i * D + j] + own[j * D + i]) / 2;
  }
  contacts_built_ = true;
}

namespace {
constexpr SweepTurn all_holders{.first = false};  // they begin with the same values
}

template <int D>
void ScaledProblem<D>::velocity_from_impulse(std::span<const Real> r, std::span<Real> y) const {
  if (has_spheres_)
    return velocity_from_impulse(std::span<const GroupImpulses<D>>(packed(r)), y, pack_rolling(r));
  std::copy(free_.begin(), free_.end(), y.begin());
  const auto& rows = contacts();
  run_colours(y, all_holders, [&](Index first, Index last) {
    for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c)
      if (problem_->wall_of(c) < 0) rows[c].add_impulse(r.data() + c * D, y.data());
  });
  for (const Index c : walls_.contacts())
    rows[c].add_impulse(r.data() + static_cast<std::size_t>(c) * D, y.data());
  make_ghosts_current(y);
}

template <int D>
void ScaledProblem<D>::velocity_from_impulse(std::span<const GroupImpulses<D>> r, std::span<Real> y,
                                             RollingSweep<D> rolling) const {
  std::copy(free_.begin(), free_.end(), y.begin());
  std::size_t stretch = 0;
  const auto add_next = [&] {
    const std::size_t first = spheres_.lanes().first_group(stretch);
    spheres_.kernels().add(spheres_.groups_of(stretch), r.data() + first, y.data(), rolling.from(first));
    ++stretch;
  };
  run_colours(y, all_holders, [&](Index, Index) { add_next(); });
  for (std::size_t k = 0; k < walls_.walls().size(); ++k) add_next();
  make_ghosts_current(y);
}

template <int D>
void ScaledProblem<D>::add_impulse(std::span<const Real> r, std::span<Real> y) const {
  const auto first_ghost = static_cast<std::size_t>(n_owned()) * width;
  const std::span<Real> local = y.first(static_cast<std::size_t>(n_local()) * width);
  std::fill(local.begin() + static_cast<std::ptrdiff_t>(first_ghost), local.end(), 0.0);
  with_rows([&](const auto& rows) {
    for (std::size_t c = 0; c < rows.size(); ++c) rows[c].add_impulse(r.data() + c * D, y.data());
  });
  halo().add_to_owners(local, width);
  halo().copy_to_ghosts(local, width);
}

template <int D>
void ScaledProblem<D>::scale_impulse(std::span<const Real> r, std::span<Real> scaled) const {
  for (std::size_t i = 0; i < r.size(); ++i) scaled[i] = r[i] / (mass_scale_ * velocity_scale_);
  for (std::size_t i = problem_->a.size() * D; i < r.size(); ++i) scaled[i] /= rolling_radius_of(i);
}
template <int D>
void ScaledProblem<D>::unscale_impulse(std::span<const Real> scaled, std::span<Real> r) const {
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = scaled[i] * (mass_scale_ * velocity_scale_);
  for (std::size_t i = problem_->a.size() * D; i < r.size(); ++i) r[i] *= rolling_radius_of(i);
}
template <int D>
void ScaledProblem<D>::unscale_velocity(std::span<const Real> y, std::span<Real> v) const {
  if (problem_->is_local()) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_local()); ++i)
      for (std::size_t j = 0; j < q; ++j) v[i * q + j] = velocity_scale_ * y[i * width + j];
    return;
  }
  roots_.unscale_velocities(y, velocity_scale_, v);
}

template class ScaledProblem<2>;
template class ScaledProblem<3>;

}  // namespace scree
