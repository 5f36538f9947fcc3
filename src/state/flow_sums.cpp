#include "state/flow_sums.hpp"

namespace scree {

template <int D>
Vec<D> momentum_flux(const State<D>& state) {
  Vec<D> sums;
  ReproducibleSum::sum(state.comm, static_cast<std::size_t>(state.bodies.n_owned()), sums.component,
                       [&](std::size_t i, std::span<Real> terms) {
                         const Vec<D> c = velocity_about_flow(state, i);
                         for (int k = 0; k < D; ++k)
                           terms[static_cast<std::size_t>(k)] = state.bodies.mass()[i] * c[k] * c[k];
                       });
  return sums;
}

template <int D>
Real power_of_flow(const State<D>& state) {
  if (!state.cell.moves()) return 0;
  Real sum = 0;
  ReproducibleSum::sum(state.comm, static_cast<std::size_t>(state.bodies.n_owned()), std::span(&sum, 1),
                       [&](std::size_t i, std::span<Real> terms) {
                         const Vec<D> c = velocity_about_flow(state, i);
                         terms[0] = -state.bodies.mass()[i] * dot(c, state.cell.gradient_times(state.box, c));
                       });
  return sum;
}

template Vec<2> momentum_flux<2>(const State<2>&);
template Vec<3> momentum_flux<3>(const State<3>&);
template Real power_of_flow<2>(const State<2>&);
template Real power_of_flow<3>(const State<3>&);

}  // namespace scree
