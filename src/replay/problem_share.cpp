#include "replay/problem_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/petsc.hpp"
#include "core/sparse_all_to_all.hpp"

namespace scree {

namespace {

using Number = std::int64_t;

constexpr Number no_number = std::numeric_limits<Number>::max();

/// Throws the message of the smallest number that has one. Collective.
void require_none(const Comm& comm, Number number, const std::string& message) {
  const std::string of_all = message_of_smallest(comm, number, message);
  if (!of_all.empty()) throw InputError(of_all);
}

/// Throws InputError unless the numbers of all ranks are 0 to n - 1 in some order. Collective.
void check_numbers(const Comm& comm, std::span<const Number> numbers, Number n, std::string_view what) {
  Number wrong = no_number;
  std::string message;
  for (const Number number : numbers)
    if (number < 0 || number >= n) wrong = std::min(wrong, number);
  if (wrong != no_number)
    message = fmt::format("friction problem: a {} has the number {}; valid are 0 to {}", what, wrong, n - 1);
  require_none(comm, wrong, message);

  Outgoing outgoing;
  for (const Number number : numbers) outgoing.to(EvenShare::owner(n, number, comm.size())).put(number);
  const EvenShare share(comm, n);
  std::vector<int> times(share.size(), 0);
  for (const Number number : exchange_values<Number>(comm, outgoing)) ++times[share.at(number)];
  const auto bad = std::find_if(times.begin(), times.end(), [](int k) { return k != 1; });
  if (bad != times.end()) {
    wrong = share.first + (bad - times.begin());
    message =
        fmt::format("friction problem: {} {} is given {} times; each must be given once", what, wrong, *bad);
  }
  require_none(comm, wrong, message);
}

/// The rows of a share, `width` numbers each.
template <class To, class T>
std::vector<To> rows_of(const std::vector<T>& all, const EvenShare& share, std::size_t width) {
  const auto row = [&](Number i) {
    return all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width);
  };
  return {row(share.first), row(share.last)};
}

}  // namespace

template <int D>
ShareSizes check_share(const Comm& comm, const ProblemShare<D>& share) {
  constexpr std::size_t q = ProblemShare<D>::q;
  ShareSizes sizes;
  sizes.n_bodies = comm.sum(static_cast<std::int64_t>(share.body.size()));
  sizes.n_contacts = comm.sum(static_cast<std::int64_t>(share.contact.size()));
  sizes.is_compliant = comm.any(!share.compliance.empty());
  sizes.has_start = comm.any(!share.start_velocity.empty());
  share_errors(comm, [&] {
    const std::size_t n = share.contact.size();
    if (share.mass.size() != share.body.size() * q * q ||
        share.free_velocity.size() != share.body.size() * q ||
        share.start_velocity.size() != (sizes.has_start ? share.body.size() * q : 0) || share.a.size() != n ||
        share.b.size() != n || share.jacobian.size() != n * 2 * D * q || share.bias.size() != n * D ||
        share.mu.size() != n || share.compliance.size() != (sizes.is_compliant ? n * 2 : 0))
      throw InputError("friction problem: the arrays of its bodies or contacts do not fit each other");
    if (sizes.n_bodies > PETSC_MAX_INT)
      throw InputError(
          fmt::format("friction problem: {} bodies; PETSc counts to {}", sizes.n_bodies, PETSC_MAX_INT));
  });
  check_numbers(comm, share.body, sizes.n_bodies, "body");
  check_numbers(comm, share.contact, sizes.n_contacts, "contact");

  Number wrong = no_number;
  std::string message;
  for (std::size_t c = 0; c < share.contact.size(); ++c) {
    const auto [low, high] = std::minmax(share.a[c], share.b[c]);
    if ((low >= -1 && low < high && high < sizes.n_bodies) || share.contact[c] >= wrong) continue;
    wrong = share.contact[c];
    message = fmt::format(
        "friction problem: contact {} is between bodies {} and {}; valid are two different numbers from -1 "
        "(static) to {}",
        wrong, share.a[c], share.b[c], sizes.n_bodies - 1);
  }
  require_none(comm, wrong, message);
  return sizes;
}

template <int D>
ProblemShare<D> share_of_list(const Comm& comm, const SerialProblem<D>& whole) {
  constexpr std::size_t q = SerialProblem<D>::q;
  const std::size_t n_bodies = whole.position.size();
  const std::size_t n = whole.a.size();
  if (whole.mass.size() != n_bodies * q * q || whole.free_velocity.size() != n_bodies * q ||
      whole.b.size() != n || whole.jacobian.size() != n * 2 * D * q || whole.bias.size() != n * D ||
      whole.mu.size() != n || (!whole.compliance.empty() && whole.compliance.size() != n * 2))
    throw InputError("serial friction problem: its arrays do not fit each other");

  ProblemShare<D> share;
  const EvenShare bodies(comm, whole.n_bodies()), contacts(comm, whole.n_contacts());
  share.body = bodies.numbers();
  share.mass = rows_of<Real>(whole.mass, bodies, q * q);
  share.free_velocity = rows_of<Real>(whole.free_velocity, bodies, q);
  share.contact = contacts.numbers();
  share.a = rows_of<Number>(whole.a, contacts, 1);
  share.b = rows_of<Number>(whole.b, contacts, 1);
  share.jacobian = rows_of<Real>(whole.jacobian, contacts, 2 * D * q);
  share.bias = rows_of<Real>(whole.bias, contacts, D);
  share.mu = rows_of<Real>(whole.mu, contacts, 1);
  if (!whole.compliance.empty()) share.compliance = rows_of<Real>(whole.compliance, contacts, 2);
  share.time_step = whole.time_step;
  share.velocity_floor = whole.velocity_floor;
  return share;
}

template ShareSizes check_share<2>(const Comm&, const ProblemShare<2>&);
template ShareSizes check_share<3>(const Comm&, const ProblemShare<3>&);
template ProblemShare<2> share_of_list<2>(const Comm&, const SerialProblem<2>&);
template ProblemShare<3> share_of_list<3>(const Comm&, const SerialProblem<3>&);

}  // namespace scree
