#include "crowd/departure.hpp"

namespace scree {

Departure departure_of(const BodyStore<2>& bodies, std::size_t i, std::int32_t exit, Real time) {
  Departure departure{.id = bodies.id()[i],
                      .exit = exit,
                      .body_type = bodies.type()[i],
                      .level = level_of(bodies, i),
                      .radius = bodies.radius()[i],
                      .time = time,
                      .at = bodies.position()[i]};
  for (std::size_t k = 0; k < agent::fields.size(); ++k)
    departure.values[k] = agent::fields[k].is_integer ? static_cast<Real>(bodies.extra<std::int32_t>(k)[i])
                                                      : bodies.extra<Real>(k)[i];
  return departure;
}

}  // namespace scree
