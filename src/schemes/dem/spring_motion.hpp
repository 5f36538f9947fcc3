#pragma once
#include "core/reset.hpp"
#include "schemes/dem/dem_motion.hpp"
#include "schemes/dem/force_sweeper.hpp"

namespace scree {

/// Soft contact with friction by tangential springs, or without friction, in time by velocity Verlet
/// (docs/method.md, eq. H.6):
///     v(t + dt/2) = v(t) + dt/2 a(t),   x(t + dt) = x(t) + dt v(t + dt/2),
///     a(t + dt) = g + F(x(t + dt), v(t + dt/2)) / m,   v(t + dt) = v(t + dt/2) + dt/2 a(t + dt)
/// and spins likewise. The same bits on any number of ranks.
template <int D>
class SpringMotion final : public DemMotion<D> {
 public:
  /// Both must outlive this. Throws InputError naming the pair for a law that the deck does not determine.
  SpringMotion(State<D>& state, Neighborhood<D>& neighborhood, const SpringSettings& settings)
      : state_(state), sweeper_(state, neighborhood, settings) {}

  const SoftLaws<D>& laws() const override { return sweeper_.laws(); }
  void prepare() override;
  void start(Real dt) override;
  void set_free(std::size_t body) override { state_.bodies.acceleration()[body] = state_.gravity; }
  ContactMemory remember() override { return sweeper_.remember(state_); }
  void step(Real dt) override;
  void tell_forces(ContactGraph<D>& contacts) override {
    sweeper_.tell_forces(state_, state_.clock.time, contacts);
  }
  const PassedThrough& passed_through() const override { return sweeper_.passed_through(); }
  std::size_t bytes() const override { return sweeper_.bytes() + bytes_of(field_force_); }

 private:
  void drift(Real dt);
  void kick(Real time, Real dt);

  State<D>& state_;
  ForceSweeper<D> sweeper_;
  std::vector<Vec<D>> field_force_;  // n_owned
};

}  // namespace scree
