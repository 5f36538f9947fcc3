#pragma once
#include <cmath>
#include <vector>

#include "core/body_halo.hpp"
#include "friction/linear/constraints.hpp"

/// Bodies 0 ... n - 1 with two velocities each, dealt out to ranks in stretches; every rank also holds the
/// first body of the rank after it that has any. Ranks may own nothing.
class ChainHalo final : public scree::BodyHalo {
 public:
  ChainHalo(const scree::Comm& comm, scree::Index n_bodies) : comm_(comm) {
    const auto first_of = [&](int rank) {
      return static_cast<scree::Index>(std::int64_t{n_bodies} * rank / comm.size());
    };
    first_ = first_of(comm.rank());
    n_owned_ = first_of(comm.rank() + 1) - first_;
    has_next_ = n_owned_ > 0 && first_ + n_owned_ < n_bodies;
    n_bodies_ = n_bodies;
  }
  scree::Index first() const { return first_; }
  bool has_next() const { return has_next_; }
  const scree::Comm& comm() const override { return comm_; }
  scree::Index n_owned() const override { return n_owned_; }
  scree::Index n_local() const override { return n_owned_ + (has_next_ ? 1 : 0); }
  int n_colours() const override { return 1; }
  void copy_to_ghosts(std::span<scree::Real> values, int width) override {
    exchange(values, width, n_owned_, n_local());
  }
  void add_to_owners(std::span<scree::Real> values, int width) override {
    exchange(values, width, n_local(), n_owned_);
  }
  void begin_transfer(int, std::span<const scree::Real>, int) override {}
  void end_transfer(int, std::span<scree::Real>, int) override {}

 private:
  /// Adds up what the first `n_from` bodies of all ranks have; writes the first `n_to`.
  void exchange(std::span<scree::Real> values, int width, scree::Index n_from, scree::Index n_to) const {
    const std::size_t w = width;
    const std::size_t offset = static_cast<std::size_t>(first_) * w;
    std::vector<scree::Real> total(static_cast<std::size_t>(n_bodies_) * w, 0.0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_from) * w; ++i) total[offset + i] = values[i];
    comm_.sum_to_round_off(total);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_to) * w; ++i) values[i] = total[offset + i];
  }

  scree::Comm comm_;
  scree::Index first_ = 0, n_owned_ = 0, n_bodies_ = 0;
  bool has_next_ = false;
};

/// The first body is tied to a wall, each one to the next, by rods of slowly turning direction; every row is
/// there `repeats` times. Masses 1, 2, 3, 1, ...
inline scree::ConstraintRows chain_rows(ChainHalo& halo, int repeats) {
  using scree::Index;
  using scree::Real;
  scree::ConstraintRows rows;
  rows.halo = &halo;
  rows.width = 2;
  for (Index i = 0; i < halo.n_local(); ++i)
    rows.inverse_mass.insert(rows.inverse_mass.end(), 2, 1.0 / (1 + (halo.first() + i) % 3));
  const auto tie = [&](Index a, Index b, Index number) {
    for (int k = 0; k < repeats; ++k) {
      const std::span<Real> row = rows.add(a, b);
      const Real x = std::cos(0.1 * number), y = std::sin(0.1 * number);
      row[0] = x;
      row[1] = y;
      row[2] = -x;
      row[3] = -y;
    }
  };
  if (halo.first() == 0 && halo.n_owned() > 0) tie(-1, 0, 0);
  for (Index i = 0; i + 1 < halo.n_local(); ++i) tie(i, i + 1, halo.first() + i + 1);
  return rows;
}
