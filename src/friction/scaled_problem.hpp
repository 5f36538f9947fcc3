#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "friction/friction_problem.hpp"
#include "friction/general_rows.hpp"
#include "friction/mass_roots.hpp"
#include "friction/sphere_rows.hpp"
#include "friction/wall_rows.hpp"

namespace scree {

/// What solvers work on: the problem in units of its own, with the mass matrix made the identity.
///
/// With M = L L^T per body, a mass m_c and a velocity v_c (docs/method.md, eq. F.5)
///     v = v_c sqrt(m_c) L^-T y,   r = m_c v_c r',   u = v_c u',   J = sqrt(m_c) H L^-T,
/// so that
///     y = y_free + J^T r',   u' = J y + w' + G' r',   W = J J^T.
/// Everything a solver touches at a contact lies in one row, so a sweep reads one stream.
///
/// An unsymmetric M takes L from its symmetric part; then y = y_free + B r' with B = sqrt(m_c) L^T M^-1 H^T,
/// and W = J B. In the local form y are relative velocities: u = v_c u', u' = y + w' + G' r', y = B r' with B
/// = m_c W, and J picks the contact's own. Rows of such problems carry a Coupling.
template <int D>
class ScaledProblem {
 public:
  ScaledProblem() = default;
  ScaledProblem(const ScaledProblem&) = delete;  // rows point into it
  ScaledProblem& operator=(const ScaledProblem&) = delete;

  static constexpr int q = n_velocities<D>;
  static constexpr int width = velocity_width<D>;  ///< numbers per body in arrays of velocities

  /// Part of a contact at one body: a block of J, or of B^T.
  struct End {
    Index body;
    Real J[D][q];
  };
  /// A contact for which B is not J^T, or which acts on more than two bodies.
  struct Coupling {
    std::span<const End> velocity_ends;  ///< J
    std::span<const End> impulse_ends;   ///< B^T
    void relative_velocity(const Real* y, Real* u) const {
      for (int i = 0; i < D; ++i) u[i] = 0;
      for (const End& end : velocity_ends) {
        const Real* of_body = y + static_cast<std::size_t>(end.body) * width;
        for (int i = 0; i < D; ++i)
          for (int k = 0; k < q; ++k) u[i] += end.J[i][k] * of_body[k];
      }
    }
    void add_impulse(const Real* r, Real* y) const {
      for (const End& end : impulse_ends) {
        Real* to_body = y + static_cast<std::size_t>(end.body) * width;
        for (int k = 0; k < q; ++k) {
          Real sum = 0;
          for (int i = 0; i < D; ++i) sum += end.J[i][k] * r[i];
          to_body[k] += sum;
        }
      }
    }
  };

  struct Contact {
    Index a, b;                ///< bodies; n_local stands for none
    const Coupling* coupling;  ///< takes the place of J if it is given
    Real J[2][D][q];           ///< rows for a and for b; zero for none
    /// Own block of the Delassus operator, without compliance; of an unsymmetric one the symmetric part.
    Real W[D][D];
    Real w[D];  ///< bias
    Real mu;
    Real g[2];  ///< compliance along N and along T
    Real compliance(int k) const { return g[k > 0]; }
    Real diagonal(int k) const { return W[k][k] + g[k > 0]; }  ///< of W + G
    /// m_c = D / tr W_c: how heavy the bodies are at this contact.
    Real effective_mass() const {
      Real trace = 0;
      for (int i = 0; i < D; ++i) trace += W[i][i];
      return D / trace;
    }
    /// J y, from the velocities of all local bodies.
    void relative_velocity(const Real* y, Real* u) const {
      if (coupling) return coupling->relative_velocity(y, u);
      const Real* of_a = y + static_cast<std::size_t>(a) * width;
      const Real* of_b = y + static_cast<std::size_t>(b) * width;
      for (int i = 0; i < D; ++i) {
        Real sum_a = 0;
        Real sum_b = 0;
        for (int k = 0; k < q; ++k) {
          sum_a += J[0][i][k] * of_a[k];
          sum_b += J[1][i][k] * of_b[k];
        }
        u[i] = sum_a + sum_b;
      }
    }
    /// y += J^T r.
    void add_impulse(const Real* r, Real* y) const {
      if (coupling) return coupling->add_impulse(r, y);
      Real* to_a = y + static_cast<std::size_t>(a) * width;
      Real* to_b = y + static_cast<std::size_t>(b) * width;
      for (int k = 0; k < q; ++k) {
        Real sum_a = 0;
        Real sum_b = 0;
        for (int i = 0; i < D; ++i) {
          sum_a += J[0][i][k] * r[i];
          sum_b += J[1][i][k] * r[i];
        }
        to_a[k] += sum_a;
        to_b[k] += sum_b;
      }
    }
  };

  /// Scales `problem`, which must be valid and outlive this: m_c is the mean of tr(M_lin) / D over all
  /// bodies, of D / tr W_cc over all contacts of a local form; v_c as the problem says. Reuses memory.
  /// Collective.
  void rebuild(const FrictionProblem<D>& problem);
  /// The same after the bias of that problem has changed and nothing else. Collective.
  void rebuild_bias();

  const FrictionProblem<D>& original() const { return *problem_; }
  BodyHalo& halo() const { return *problem_->halo; }
  const Comm& comm() const { return halo().comm(); }
  Index n_owned() const { return halo().n_owned(); }
  Index n_local() const { return halo().n_local(); }
  Index n_contacts() const { return problem_->n_contacts(); }
  std::int64_t n_contacts_of_all() const { return n_contacts_of_all_; }
  /// Contacts of all ranks with a scale of their own.
  std::int64_t n_own_of_all() const { return n_own_of_all_; }
  std::int64_t n_bodies_of_all() const { return n_bodies_of_all_; }
  /// Of round contacts built when first asked for. Local.
  const std::vector<Contact>& contacts() const {
    if (!contacts_built_) build_contacts();
    return contacts_;
  }
  /// Calls f with the contacts in their shortest form: SphereRows if the problem says that all are round,
  /// else a vector of Contact.
  template <class F>
  decltype(auto) with_rows(F&& f) const {
    return has_spheres_ ? f(spheres_) : f(contacts());
  }
  /// Whether all contacts of all ranks are sphere contacts.
  bool is_round_everywhere() const { return is_round_everywhere_; }
  /// Whether all contacts of this rank are sphere contacts; if so, their rows. Local.
  bool has_spheres() const { return has_spheres_; }
  const SphereRows<D>& spheres() const { return spheres_; }
  SphereRows<D>& spheres() { return spheres_; }
  /// The contacts() in groups, built when first asked for. Empty for round contacts, for rows with a coupling
  /// and where contacts are so much in line that groups of eight would hold one or two. Local.
  const GeneralRows<D>& general() const {
    if (!general_built_) build_general();
    return general_;
  }
  /// y_free of the local bodies, (n_local + 1) * width; the last entry stands for none and is zero, as in all
  /// arrays of velocities.
  const std::vector<Real>& free_velocity() const { return free_; }
  std::size_t velocity_size() const { return static_cast<std::size_t>(n_local() + 1) * width; }
  std::size_t impulse_size() const { return problem_->n_impulses(); }
  Real mass_scale() const { return mass_scale_; }
  Real velocity_scale() const { return velocity_scale_; }
  /// False if B is not J^T for all contacts of all ranks.
  bool is_symmetric() const { return is_symmetric_; }
  /// |H v_free + w|_2 over all contacts [m/s].
  Real free_norm() const { return free_norm_; }

  /// y = y_free + J^T r, added up in the order of a sweep: the same bits on any number of ranks. Ghosts are
  /// current afterwards. Collective, n_colours transfers and a copy.
  void velocity_from_impulse(std::span<const Real> r, std::span<Real> y) const;
  /// The same on a rank with spheres(), from impulses in groups.
  void velocity_from_impulse(std::span<const GroupImpulses<D>> r, std::span<Real> y,
                             RollingSweep<D> rolling) const;
  /// y += J^T r, faster, to the last bits only; y holds owned values on entry (ghosts are overwritten),
  /// ghosts are current afterwards. Collective.
  void add_impulse(std::span<const Real> r, std::span<Real> y) const;
  /// Overwrites ghosts in velocities by what their owners have. Collective.
  void make_ghosts_current(std::span<Real> y) const {
    halo().copy_to_ghosts(y.first(static_cast<std::size_t>(n_local()) * width), width);
  }
  /// Room for `per_contact` numbers at each contact, for whoever needs it next; there is only one. Local.
  std::span<Real> scratch(std::size_t per_contact) const {
    return lane_scratch(per_contact * problem_->a.size());
  }
  /// u = J y + w + G r of one contact. Local.
  void relative_velocity(Index c, std::span<const Real> r, std::span<const Real> y, Real* u) const {
    with_rows([&](const auto& rows) { relative_velocity(rows[c], static_cast<std::size_t>(c), r, y, u); });
  }
  /// The same of contact c, whose row the caller has at hand.
  template <class Row>
  static void relative_velocity(const Row& row, std::size_t c, std::span<const Real> r,
                                std::span<const Real> y, Real* u) {
    row.relative_velocity(y.data(), u);
    for (int i = 0; i < D; ++i) u[i] += row.w[i] + row.compliance(i) * r[c * D + static_cast<std::size_t>(i)];
  }

  /// Room for a number at each contact and each unused lane of spheres(). Local.
  std::span<Real> lane_scratch() const {
    return lane_scratch(has_spheres_ ? spheres_.groups().size() * group_size : problem_->a.size());
  }
  /// Room for n numbers.
  std::span<Real> lane_scratch(std::size_t n) const {
    scratch_.resize(std::max(scratch_.size(), n));
    return std::span<Real>(scratch_).first(n);
  }
  /// Impulses as kernels of spheres() want them, in room that there is once. Local.
  std::vector<GroupImpulses<D>>& packed(std::span<const Real> r) const {
    spheres_.lanes().pack(r, packed_impulse_);
    return packed_impulse_;
  }

  /// Resistance to rolling for these kernels, with its part of the impulses r in `groups`. Local.
  RollingSweep<D> pack_rolling(std::span<const Real> r,
                               std::vector<GroupImpulses<n_turns<D>>>& groups) const {
    if (!problem_->rolls()) return {};  // rows may be those of a problem before
    spheres_.lanes().pack(r.subspan(problem_->a.size() * D), groups);
    return {spheres_.rolling().data(), groups.data()};
  }
  RollingSweep<D> pack_rolling(std::span<const Real> r) const { return pack_rolling(r, packed_rolling_); }

  /// Runs visit(first, last) over the contacts of each colour in sweep order with transfers of `y` between
  /// colours. Collective.
  template <class Visit>
  void run_colours(std::span<Real> y, SweepTurn turn, Visit&& visit) const {
    run_sweep_colours(halo(), problem_->colour_first, problem_->interior_first, y, width, visit, turn);
  }
  template <class Visit>
  void run_colours(std::span<Real> y, Visit&& visit) const {
    run_colours(y, {}, visit);
  }

  /// Calls f(first, last) for the stretches of contacts that run_colours() visits, in its order. Local.
  template <class F>
  void for_each_stretch(F&& f) const {
    scree::for_each_stretch(problem_->colour_first, problem_->interior_first, f);
  }

  // Walls that loads move (D.17). Their velocities are part of the bias; contacts with them come after those
  // of all colours in a sweep, when the owners of bodies have their velocities.
  WallRows<D>& walls() const { return walls_; }
  /// w of contact c, with what its wall adds [m/s].
  Real bias(std::size_t c, std::size_t i) const {
    Real w = problem_->bias[c * D + i];
    problem_->at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
      w += problem_->at_walls.row[row * D + i] * walls_[k].velocity;
    });
    return w;
  }
  /// From here on a wall has this velocity along its direction k [m/s]. Local; alike on all ranks.
  void move_wall(std::size_t k, Real velocity) const;
  /// s . r of a row of contact c with a wall [N s]; r and, beside rolling, s: D and n_turns<D> scaled
  /// impulses. Local.
  Real impulse_of_row(std::size_t c, std::size_t row, const Real* r, const Real* s) const;
  /// Sums it up for each direction: get(c, r, s) writes the impulses of contact c. Exact. Collective.
  template <class Get>
  void find_wall_impulses(std::span<Real> impulse, Get&& get) const {
    const std::span<const Index> contacts = walls_.contacts();
    ReproducibleSum::sum(comm(), contacts.size(), impulse, [&](std::size_t i, std::span<Real> terms) {
      const std::size_t c = contacts[i];
      Real r[D], s[n_turns<D>];
      get(c, r, s);
      std::ranges::fill(terms, 0.0);
      problem_->at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
        terms[k] += impulse_of_row(c, row, r, problem_->rolls() ? s : nullptr);
      });
    });
  }
  /// Gives walls with inertia the velocities that follow from these impulses [N s]. Returns by how much walls
  /// miss their loads or exceed their speeds, to be compared to the natural residual. Local.
  Real place_walls(std::span<const Real> impulse) const;
  /// Walls that have gone beyond their largest speeds keep these from here on, and those that are pushed back
  /// no more. False: nothing changed. After a residual. Local.
  bool keep_walls_within_speeds() const;
  /// Walls as they were when the best impulses were found. Local.
  void restore_walls() const;
  /// Walls go as they do without contacts. Local.
  void release_walls() const;

  /// Impulses and velocities of the original problem from scaled ones and back. Local.
  void scale_impulse(std::span<const Real> r, std::span<Real> scaled) const;
  void unscale_impulse(std::span<const Real> scaled, std::span<Real> r) const;
  /// v[n_local * q] from y.
  void unscale_velocity(std::span<const Real> y, std::span<Real> v) const;

 private:
  bool count_all();
  Real mean_mass();
  void find_velocity_scale();
  void build_contacts() const;
  void build_local_contacts();
  void build_spheres();
  /// R of the contact of impulse i, which comes after those of all contacts [m].
  Real rolling_radius_of(std::size_t i) const {
    return problem_->rolling[2 * ((i - problem_->a.size() * D) / n_turns<D>)+1];
  }
  void add_rolling(std::size_t c, std::size_t place);
  void set_spin_bias();
  void set_spin_bias(std::size_t c, Real unit) const;
  void fill_sphere(std::size_t c, std::size_t place);
  /// The bodies of contact c, n_local for none.
  std::array<Index, 2> ends_of(std::size_t c) const {
    const Index a = problem_->a[c], b = problem_->b[c];
    return {a < 0 ? n_local() : a, b < 0 ? n_local() : b};
  }
  /// Calls f(contact) with those of walls, and end_stretch() after those of each.
  template <class F, class G>
  void for_each_wall_stretch(F&& f, G&& end_stretch) const {
    for (const auto& wall : walls_.walls()) {
      for (const Index c : walls_.contacts_of(wall)) f(static_cast<std::size_t>(c));
      end_stretch();
    }
  }
  void build_general() const;
  /// Gives rows of bodies with unsymmetric masses their B. Needs contacts_ without.
  void build_couplings() const;
  /// Bodies, bias, friction and compliance of a row, in scaled units.
  void set_ends_and_bias(std::size_t c, Contact& row) const;

  const FrictionProblem<D>* problem_ = nullptr;
  std::int64_t mass_stamp_ = 0;
  bool has_spheres_ = false;
  bool is_symmetric_ = true;
  bool is_round_everywhere_ = false;
  mutable bool contacts_built_ = false, general_built_ = false;
  Real mass_scale_ = 1, velocity_scale_ = 1, free_norm_ = 0;
  std::int64_t n_contacts_of_all_ = 0, n_bodies_of_all_ = 0, n_own_of_all_ = 0;
  mutable std::vector<Contact> contacts_;
  mutable std::vector<End> ends_;
  mutable std::vector<Coupling> couplings_;
  mutable SphereRows<D> spheres_;
  mutable WallRows<D> walls_;
  mutable GeneralRows<D> general_;
  mutable std::vector<GroupImpulses<D>> packed_impulse_;
  mutable std::vector<GroupImpulses<n_turns<D>>> packed_rolling_;
  std::vector<Real> free_;
  MassRoots<D> roots_;  // not of a local form
  mutable std::vector<Real> scratch_;
};

}  // namespace scree
