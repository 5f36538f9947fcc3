#include "friction/friction_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/error.hpp"
#include "friction/contact_rows.hpp"
#include "friction/dense_block.hpp"

namespace scree {

namespace {

/// |A_ij - A_ji| that blocks may have, in units of the root of A_ii A_jj. Gyroscopic terms of stored problems
/// reach 0.053; blocks of which one triangle was forgotten may exceed this.
constexpr Real max_asymmetric = 0.5;

template <int q>
bool is_positive_definite(const Real* block) {
  Real root[q][q] = {};
  return is_symmetric<q>(block, max_asymmetric) && find_root<q>(block, root);
}

bool all_finite(const Real* first, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k)
    if (!std::isfinite(first[k])) return false;
  return true;
}

// Order of errors: bodies by id, each followed by its contacts with static bodies (id -1) and with bodies of
// smaller ids, so that any number of ranks reports the same one. Ids are below 2^31.
GlobalId key_of_body(GlobalId id) {
  return id << 32;
}
GlobalId key_of_contact(GlobalId one, GlobalId other) {
  return key_of_body(std::max(one, other)) + std::min(one, other) + 2;
}

/// Keeps the first error, by key.
struct Complaint {
  GlobalId key = std::numeric_limits<GlobalId>::max();
  std::string message;
  void add(GlobalId of, std::string text) {
    if (of >= key) return;
    key = of;
    message = std::move(text);
  }
};

/// Whether the arrays of a problem with bodies have the sizes that its numbers of bodies and contacts ask
/// for.
template <int D>
bool has_fitting_arrays(const FrictionProblem<D>& p) {
  constexpr int q = FrictionProblem<D>::q;
  const std::size_t n_bodies = p.n_local();
  const std::size_t colours = p.halo->n_colours();
  const std::size_t n = p.a.size();
  const bool bodies_fit = p.body_id.size() == n_bodies && p.mass.size() == n_bodies * q * q &&
                          p.free_velocity.size() == n_bodies * q &&
                          (p.start_velocity.empty() || p.start_velocity.size() == n_bodies * q);
  const bool rows_fit = p.jacobian.size() == (p.is_round() ? 0 : n * 2 * D * q) &&
                        (p.frame.size() == n || (!p.is_round() && p.frame.empty())) &&
                        (!p.is_round() || p.arm.size() == n * 2);
  const bool laws_fit =
      p.bias.size() == n * D && p.mu.size() == n && (p.compliance.empty() || p.compliance.size() == n * 2) &&
      (p.own_scale.empty() || (p.own_scale.size() == n && p.is_round())) &&
      (!p.rolls() || (p.is_round() && p.rolling.size() == n * 2 && p.spin_bias.size() == n * (q - D))) &&
      p.at_walls.fit(n, !p.walls.empty(), p.rolls());
  return bodies_fit && p.b.size() == n && rows_fit && laws_fit && p.colour_first.size() == colours + 1 &&
         p.interior_first.size() == colours && p.colour_first.front() == 0 &&
         p.colour_first.back() == p.n_contacts();
}

/// What is wrong with body i; empty: nothing.
template <int D>
std::string fault_of_body(const FrictionProblem<D>& p, std::size_t i) {
  constexpr int q = FrictionProblem<D>::q;
  const Real* block = p.mass.data() + i * q * q;
  const GlobalId id = p.body_id[i];
  if (!all_finite(block, q * q)) return fmt::format("the mass of body {} is not finite", id);
  if (!(block[0] > 0))
    return fmt::format("body {} has mass {:g} kg; a mass must be positive (leave static bodies out)", id,
                       block[0]);
  if (!is_positive_definite<q>(block))
    return fmt::format(
        "the mass matrix of body {} is singular or not symmetric positive definite (look at its inertia)",
        id);
  if (!all_finite(p.free_velocity.data() + i * q, q) ||
      !(p.start_velocity.empty() || all_finite(p.start_velocity.data() + i * q, q)))
    return fmt::format("the free velocity of body {} is not finite", id);
  return {};
}

/// Whether both places of contact c are bodies of the problem or none.
template <int D>
bool has_known_bodies(const FrictionProblem<D>& p, std::size_t c) {
  return p.a[c] < p.n_local() && p.b[c] < p.n_local() && p.a[c] >= -1 && p.b[c] >= -1;
}

/// What is wrong with friction and compliance of contact c; empty: nothing.
template <int D>
std::string fault_of_law(const FrictionProblem<D>& p, std::size_t c) {
  if (!(p.mu[c] >= 0 && std::isfinite(p.mu[c])))
    return fmt::format("mu = {:g}; a friction coefficient must be finite and not negative", p.mu[c]);
  if (!p.compliance.empty() && !(p.compliance[2 * c] >= 0 && p.compliance[2 * c + 1] >= 0 &&
                                 all_finite(p.compliance.data() + 2 * c, 2)))
    return "a compliance must be finite and not negative";
  return {};
}

/// What is wrong with contact c; empty: nothing.
template <int D>
std::string fault_of_contact(const FrictionProblem<D>& p, std::size_t c) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const bool has_body = p.a[c] >= 0 || p.b[c] >= 0;
  if (!has_known_bodies(p, c) || (!has_body && p.wall_of(c) < 0) || (p.a[c] == p.b[c] && p.a[c] >= 0))
    return "it needs one or two different bodies that move";
  std::array<Real, 2 * D * q> rows;
  p.find_rows(c, 0, rows.data());
  p.find_rows(c, 1, rows.data() + D * q);
  if (!all_finite(rows.data(), rows.size())) return "its Jacobian is not finite";
  if (!all_finite(p.bias.data() + c * D, D)) return "its bias is not finite";
  if (std::string fault = fault_of_law(p, c); !fault.empty()) return fault;
  if (p.rolls() &&
      !(p.rolling[2 * c] >= 0 && p.rolling[2 * c + 1] > 0 && all_finite(p.rolling.data() + 2 * c, 2) &&
        all_finite(p.spin_bias.data() + c * (q - D), q - D)))
    return "its rolling friction must be finite and not negative, with a radius above 0";
  // Each row needs a body that it accelerates, or the contact's own equations are singular.
  for (std::size_t i = 0; i < D && has_body; ++i) {
    Real sum = 0;
    for (std::size_t side = 0; side < 2; ++side)
      for (std::size_t k = 0; k < q; ++k) sum += std::abs(rows[(side * D + i) * q + k]);
    if (sum == 0) return "a row of its Jacobian is zero";
  }
  return {};
}

}  // namespace

template <int D>
void FrictionProblem<D>::validate() const {
  const Comm& comm = halo->comm();
  if (is_local()) return validate_local();
  share_errors(comm, [&] {
    if (!has_fitting_arrays(*this)) throw InputError("friction problem: its arrays do not fit each other");
    const auto usable = [](Real x) { return std::isfinite(x) && x >= 0; };
    if (!usable(time_step) || !usable(velocity_floor))
      throw InputError("friction problem: time step and velocity floor must be finite and not negative");
  });

  Complaint complaint;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_owned()); ++i)
    if (const std::string fault = fault_of_body(*this, i); !fault.empty())
      complaint.add(key_of_body(body_id[i]), "friction problem: " + fault);
  for (std::size_t c = 0; c < a.size(); ++c) {
    const std::string fault = fault_of_contact(*this, c);
    if (fault.empty()) continue;
    const bool is_known = has_known_bodies(*this, c);
    const auto id = [&](Index body) { return body < 0 || !is_known ? GlobalId{-1} : body_id[body]; };
    const auto name = [&](Index body) {
      return id(body) < 0 ? std::string("a static body") : fmt::format("body {}", id(body));
    };
    complaint.add(is_known ? key_of_contact(id(a[c]), id(b[c])) : 0,
                  fmt::format("friction problem: contact of {} and {}: {}", name(a[c]), name(b[c]), fault));
  }
  const std::string message = message_of_smallest(comm, complaint.key, complaint.message);
  if (!message.empty()) throw InputError(message);
}

template <int D>
void FrictionProblem<D>::find_rows(std::size_t c, std::size_t side, Real* rows) const {
  if (!is_round()) {
    std::copy_n(&jacobian[(c * 2 + side) * D * q], D * q, rows);
    return;
  }
  if ((side == 0 ? a : b)[c] < 0) {
    std::fill_n(rows, D * q, 0.0);
    return;
  }
  const Real sign = side == 0 ? -1 : 1;
  const Vec<D> lever = frame[c][0] * (-sign * arm[2 * c + side]);
  for (std::size_t i = 0; i < D; ++i) write_contact_row<D>(frame[c][i], lever, sign, rows + i * q);
}

template <int D>
void FrictionProblem<D>::validate_local() const {
  const std::size_t n = mu.size();
  const std::vector<Index>& first = local.column_first;
  const auto refuse = [](std::size_t contact, std::string_view what) {
    throw InputError(fmt::format("friction problem: contact {}: {}", contact, what));
  };
  if (halo->comm().size() != 1 || n_local() != bodies_of_local_form<D>(n_contacts()) || a.size() != n ||
      b.size() != n || is_round() || !mass.empty() || !free_velocity.empty() || !jacobian.empty() ||
      bias.size() != n * D || (!compliance.empty() && compliance.size() != n * 2) || first.size() != n + 1 ||
      first.front() != 0 || static_cast<std::size_t>(first.back()) != local.row.size() ||
      local.block.size() != local.row.size() * D * D)
    throw InputError("friction problem in local form: its arrays do not fit each other");
  for (std::size_t c = 0; c < n; ++c) {
    if (first[c] > first[c + 1]) refuse(c, "its column of W is not in order");
    Index before = -1;
    bool has_own = false;
    for (std::size_t at = first[c]; at < static_cast<std::size_t>(first[c + 1]); ++at) {
      if (local.row[at] <= before || local.row[at] >= n_contacts())
        refuse(c, "its column of W is not in order");
      before = local.row[at];
      const Real* block = local.block.data() + at * D * D;
      if (!all_finite(block, D * D)) refuse(c, "its column of W is not finite");
      if (local.row[at] != static_cast<Index>(c)) continue;
      has_own = true;
      if (!is_positive_definite<D>(block)) refuse(c, "its own block of W is not positive definite");
    }
    if (!has_own) refuse(c, "its own block of W is zero: nothing answers to its impulse");
    if (!all_finite(bias.data() + c * D, D)) refuse(c, "its free velocity is not finite");
    if (const std::string fault = fault_of_law(*this, c); !fault.empty()) refuse(c, fault);
  }
}

template struct FrictionProblem<2>;
template struct FrictionProblem<3>;

}  // namespace scree
