#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/section.hpp"
#include "state/state.hpp"

namespace scree {

/// A force on bodies besides gravity and contacts, which depends on time and on the body itself alone:
/// F_i = F(x_i, v_i, t). Periodic faces do not cut it: x_i is followed through them.
template <int D>
class ForceField {
 public:
  virtual ~ForceField() = default;
  /// Declares and reads the keys of this kind, in the table [forces.NAME].
  virtual void describe(Section& section) = 0;
  /// force[i] += F(x_i, v_i, time) [N] for each owned body that it acts on, at the present position and
  /// velocity. Local, O(owned bodies), no allocation.
  virtual void add(const State<D>& state, Real time, std::span<Vec<D>> force) const = 0;
  /// Whether F = -dU/dx: otherwise all its work is recorded as such.
  virtual bool has_potential() const = 0;
  /// energy[i] += U(x_i) [J] for each owned body that it acts on; nothing for a force without a potential.
  /// Local, no allocation.
  virtual void add_potential(const State<D>& state, std::span<Real> energy) const = 0;
  /// The longest step [s] with which a body of this mass [kg] that nothing touches keeps a bounded velocity,
  /// if forces are those at the start of the step and positions follow the new velocity.
  virtual Real longest_step(Real mass) const = 0;

  /// What the deck says of it whatever its kind; `types`: whether it acts on bodies of each type.
  void set_table(std::string name, std::string where, std::vector<bool> types) {
    name_ = std::move(name);
    where_ = std::move(where);
    types_ = std::move(types);
  }
  const std::string& name() const { return name_; }
  const std::string& where() const { return where_; }
  bool acts_on(const BodyStore<D>& bodies, std::size_t i) const { return types_[bodies.type()[i]]; }

 private:
  std::string name_;
  std::string where_;
  std::vector<bool> types_;
};

/// Throws InputError naming force, body and limit if steps of `dt` are too long for a force on a body that is
/// free to move. Collective.
template <int D>
void require_stable_forces(const State<D>& state, Real dt);

template <>
std::span<const Entry<ForceField<2>>> registry<ForceField<2>>();
template <>
std::span<const Entry<ForceField<3>>> registry<ForceField<3>>();

}  // namespace scree
