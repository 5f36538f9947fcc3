#include "state/force_field.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/error.hpp"

namespace scree {

template <int D>
void require_stable_forces(const State<D>& state, Real dt) {
  const BodyStore<D>& bodies = state.bodies;
  for (const auto& field : state.forces) {
    GlobalId key = std::numeric_limits<GlobalId>::max();
    std::string message;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      if (bodies.mobility()[i] == 0 || bodies.id()[i] >= key || !field->acts_on(bodies, i)) continue;
      const Real longest = field->longest_step(bodies.mass()[i]);
      if (dt <= longest) continue;
      key = bodies.id()[i];
      message = fmt::format(
          "{}: a step of {:g} s is too long for the force \"{}\" on body {} of {:.3g} kg, which stays "
          "bounded up to "
          "{:.3g} s; reduce [time] step",
          field->where(), dt, field->name(), key, bodies.mass()[i], longest);
    }
    message = message_of_smallest(state.comm, key, message);
    if (!message.empty()) throw InputError(message);
  }
}

template void require_stable_forces<2>(const State<2>&, Real);
template void require_stable_forces<3>(const State<3>&, Real);

}  // namespace scree
