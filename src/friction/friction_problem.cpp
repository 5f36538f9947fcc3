#include "friction/friction_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

template <int D>
void FrictionProblem<D>::validate() const {
  const Comm& comm = halo->comm();
  if (is_local()) return validate_local();
  const auto n_bodies = static_cast<std::size_t>(n_local());
  const std::size_t n = a.size();
  share_errors(comm, [&] {
    const auto colours = static_cast<std::size_t>(halo->n_colours());
    const bool fits =
        body_id.size() == n_bodies && mass.size() == n_bodies * q * q &&
        free_velocity.size() == n_bodies * q &&
        (start_velocity.empty() || start_velocity.size() == n_bodies * q) && b.size() == n &&
        jacobian.size() == (is_round() ? 0 : n * 2 * D * q) &&
        (frame.size() == n || (!is_round() && frame.empty())) && (!is_round() || arm.size() == n * 2) &&
        bias.size() == n * D && mu.size() == n && (compliance.empty() || compliance.size() == n * 2) &&
        (own_scale.empty() || (own_scale.size() == n && is_round())) &&
        (!rolls() || (is_round() && rolling.size() == n * 2 && spin_bias.size() == n * (q - D))) &&
        at_walls.fit(walls.empty() ? 0 : n, rolls()) && colour_first.size() == colours + 1 &&
        interior_first.size() == colours && colour_first.front() == 0 && colour_first.back() == n_contacts();
    if (!fits) throw InputError("friction problem: its arrays do not fit each other");
    const auto usable = [](Real x) { return std::isfinite(x) && x >= 0; };
    if (!usable(time_step) || !usable(velocity_floor))
      throw InputError("friction problem: time step and velocity floor must be finite and not negative");
  });

  Complaint complaint;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_owned()); ++i) {
    const Real* block = mass.data() + i * q * q;
    const GlobalId id = body_id[i];
    if (!all_finite(block, q * q))
      complaint.add(key_of_body(id), fmt::format("friction problem: the mass of body {} is not finite", id));
    else if (!(block[0] > 0))
      complaint.add(key_of_body(id),
                    fmt::format("friction problem: body {} has mass {:g} kg; a mass must be positive (leave "
                                "static bodies out)",
                                id, block[0]));
    else if (!is_positive_definite<q>(block))
      complaint.add(key_of_body(id),
                    fmt::format("friction problem: the mass matrix of body {} is singular or not symmetric "
                                "positive definite (look at its inertia)",
                                id));
    else if (!all_finite(free_velocity.data() + i * q, q) ||
             !(start_velocity.empty() || all_finite(start_velocity.data() + i * q, q)))
      complaint.add(key_of_body(id),
                    fmt::format("friction problem: the free velocity of body {} is not finite", id));
  }
  Real rows[2 * D * q];
  for (std::size_t c = 0; c < n; ++c) {
    const bool in_range = a[c] < n_local() && b[c] < n_local() && a[c] >= -1 && b[c] >= -1;
    const auto id = [&](Index body) {
      return body < 0 ? GlobalId{-1} : body_id[static_cast<std::size_t>(body)];
    };
    const GlobalId key = in_range ? key_of_contact(id(a[c]), id(b[c])) : 0;
    const auto complain = [&](const std::string& what) {
      const auto name = [&](Index body) {
        return body < 0 || !in_range ? std::string("a static body") : fmt::format("body {}", id(body));
      };
      complaint.add(key,
                    fmt::format("friction problem: contact of {} and {}: {}", name(a[c]), name(b[c]), what));
    };
    if (!in_range || (a[c] < 0 && b[c] < 0 && wall_of(c) < 0) || (a[c] == b[c] && a[c] >= 0))
      complain("it needs one or two different bodies that move");
    else if (find_rows(c, 0, rows), find_rows(c, 1, rows + D * q); !all_finite(rows, 2 * D * q))
      complain("its Jacobian is not finite");
    else if (!all_finite(bias.data() + c * D, D))
      complain("its bias is not finite");
    else if (!(mu[c] >= 0 && std::isfinite(mu[c])))
      complain(fmt::format("mu = {:g}; a friction coefficient must be finite and not negative", mu[c]));
    else if (!compliance.empty() && !(compliance[2 * c] >= 0 && compliance[2 * c + 1] >= 0 &&
                                      all_finite(compliance.data() + 2 * c, 2)))
      complain("a compliance must be finite and not negative");
    else if (rolls() &&
             !(rolling[2 * c] >= 0 && rolling[2 * c + 1] > 0 && all_finite(rolling.data() + 2 * c, 2) &&
               all_finite(spin_bias.data() + c * (q - D), q - D)))
      complain("its rolling friction must be finite and not negative, with a radius above 0");
    else if (a[c] >= 0 || b[c] >= 0) {
      // Each row needs a body that it accelerates, or the contact's own equations are singular.
      for (int i = 0; i < D; ++i) {
        Real sum = 0;
        for (int side = 0; side < 2; ++side)
          for (int k = 0; k < q; ++k) sum += std::abs(rows[(side * D + i) * q + k]);
        if (sum == 0) complain("a row of its Jacobian is zero");
      }
    }
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
    for (auto at = static_cast<std::size_t>(first[c]); at < static_cast<std::size_t>(first[c + 1]); ++at) {
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
    if (!(mu[c] >= 0 && std::isfinite(mu[c])))
      refuse(c, fmt::format("mu = {:g}; a friction coefficient must be finite and not negative", mu[c]));
    if (!compliance.empty() &&
        !(compliance[2 * c] >= 0 && compliance[2 * c + 1] >= 0 && all_finite(compliance.data() + 2 * c, 2)))
      refuse(c, "a compliance must be finite and not negative");
  }
}

template struct FrictionProblem<2>;
template struct FrictionProblem<3>;

}  // namespace scree
