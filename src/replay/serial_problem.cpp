#include "replay/serial_problem.hpp"

#include "friction/contact_rows.hpp"

namespace scree {

template <int D>
Index SerialProblem<D>::add_body(const Vec<D>& at, Real body_mass, std::span<const Real> inertia,
                                 std::span<const Real> velocity) {
  constexpr std::size_t n_rotations = q - D;
  position.push_back(at);
  const std::size_t first = mass.size();
  mass.resize(first + q * q, 0.0);
  for (std::size_t k = 0; k < D; ++k) mass[first + k * q + k] = body_mass;
  for (std::size_t i = 0; i < n_rotations; ++i)
    for (std::size_t j = 0; j < n_rotations; ++j)
      mass[first + (D + i) * q + D + j] = inertia[i * n_rotations + j];
  free_velocity.insert(free_velocity.end(), velocity.begin(), velocity.end());
  return n_bodies() - 1;
}

template <int D>
Index SerialProblem<D>::add_contact(Index body_a, Index body_b, const Vec<D>& point, const Vec<D>& normal,
                                    Real coefficient, Real normal_bias) {
  const auto directions = contact_frame<D>(normal);
  const auto add_rows = [&](Index body, Real sign) {
    for (const Vec<D>& f : directions) {
      const std::size_t first = jacobian.size();
      jacobian.resize(first + q, 0.0);
      if (body < 0) continue;
      write_contact_row<D>(f, point - position[body], sign, jacobian.data() + first);
    }
  };
  a.push_back(body_a);
  b.push_back(body_b);
  add_rows(body_a, -1);
  add_rows(body_b, 1);
  bias.push_back(normal_bias);
  bias.resize(bias.size() + D - 1, 0.0);
  mu.push_back(coefficient);
  return n_contacts() - 1;
}

template struct SerialProblem<2>;
template struct SerialProblem<3>;

}  // namespace scree
