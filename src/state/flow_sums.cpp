#include "state/flow_sums.hpp"

namespace scree {

template <int D>
Real power_of_flow(const State<D>& state) {
  if (!state.deformation.moves()) return 0;
  Real sum = 0;
  ReproducibleSum::sum(state.comm, static_cast<std::size_t>(state.bodies.n_owned()), std::span(&sum, 1),
                       [&](std::size_t i, std::span<Real> terms) {
                         const Vec<D> c = velocity_about_flow(state, i);
                         terms[0] =
                             -state.bodies.mass()[i] * dot(c, state.deformation.gradient_times(state.box, c));
                       });
  return sum;
}

template Real power_of_flow<2>(const State<2>&);
template Real power_of_flow<3>(const State<3>&);

}  // namespace scree
