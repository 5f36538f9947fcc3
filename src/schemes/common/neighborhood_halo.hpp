#pragma once
#include "comm/ghost_exchange.hpp"
#include "core/body_halo.hpp"
#include "state/state.hpp"

namespace scree {

/// The bodies of a run as solvers see them: owned bodies and ghosts of the neighbourhood, transfers in the
/// colours of the block lattice. Follows every rebuild. Both arguments must outlive it.
template <int D>
class NeighborhoodHalo final : public BodyHalo {
 public:
  NeighborhoodHalo(const State<D>& state, GhostExchange<D>& ghosts) : state_(state), ghosts_(ghosts) {}

  const Comm& comm() const override { return state_.comm; }
  Index n_owned() const override { return state_.bodies.n_owned(); }
  Index n_held() const override { return state_.bodies.n_held(); }
  int n_colours() const override { return Lattice<D>::n_colours; }
  void copy_to_ghosts(std::span<Real> values, int width) override { ghosts_.copy_to_ghosts(values, width); }
  void add_to_owners(std::span<Real> values, int width) override { ghosts_.add_to_owners(values, width); }
  void begin_transfer(int stage, std::span<const Real> values, int width) override {
    ghosts_.begin_transfer(stage, values, width);
  }
  void end_transfer(int stage, std::span<Real> values, int width) override {
    ghosts_.end_transfer(stage, values, width);
  }

 private:
  const State<D>& state_;
  GhostExchange<D>& ghosts_;
};

}  // namespace scree
