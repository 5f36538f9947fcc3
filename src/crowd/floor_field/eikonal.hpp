#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "crowd/floor_field/terrain.hpp"
#include "crowd/floor_field/tiling.hpp"

namespace scree {

/// Solves |grad T| = 1/F on the cells of a tiling, for several sets of starts at once, by the first-order
/// upwind scheme: T is the one solution of
///
///     T_i = min(start_i, f(a, b)),   a, b: least T of the neighbours linked to i along x and y,
///     f = the larger root of (f - a)^2 + (f - b)^2 = s_i^2, or min(a, b) + s_i if that is no larger than
///     max(a, b)
///
/// with s_i = cell / F_i, the time that it takes to cross a cell [s]. Each rank marches through its own tiles
/// in the order of T and sends changed rims to the owners of the tiles beyond, until nothing changes on any
/// rank.
///
/// The bits of T depend on neither ranks nor tiles. f is larger than all values that it uses, and does not
/// change with those that are not smaller than itself. So were there two solutions, take the smallest value
/// that any cell has in one of them and not in the other: what it was found from is smaller, thus the same in
/// both, and so is it. And changes come to an end: a value below that of the solution can only come from a
/// smaller one of this sort, so the least of these grows until there is none. No property of real numbers is
/// needed that rounding might spoil.
class Eikonal {
 public:
  struct Start {
    std::uint32_t place = 0;  ///< place() of a cell of this rank
    Real time = 0;            ///< [s]
  };

  /// For the tiles that this rank owns; links and steps follow with set_cells(). Needs share_out() done.
  /// Local; throws RunError if the rank has more than 4e9 cells.
  Eikonal(const Comm& comm, const Tiling& tiling);

  /// Own tiles count from 0 in the order of tiling.own().
  std::size_t n_own() const { return tiling_.own().size(); }
  /// Number of an own tile, or -1.
  int own_number(std::int64_t tile) const;
  /// Of all cells of an own tile, in rows of tiling.edge(): links, and s [s] where walkable. Links of two
  /// neighbours must agree, on whichever rank they are.
  void set_cells(std::size_t own_number, std::span<const Links> links, std::span<const float> steps);
  void set_steps(std::size_t own_number, std::span<const float> steps);
  /// Factors on the steps of each field, by own tile; an empty vector of a field, or none: 1.
  void set_paces(std::vector<std::vector<float>> paces) { paces_ = std::move(paces); }
  /// Gives the cell `to` the value of `from`, instead of one that its neighbours lead to: one goes on to the
  /// other, in `delay` [s] >= 0. Both are on this rank. After all set_cells().
  void copy(std::uint32_t from, std::uint32_t to, Real delay = 0);
  /// From here on no cell is a copy.
  void forget_copies();
  /// The place whose value and direction a cell has: its own, or that it is a copy of without delay.
  std::uint32_t source(std::uint32_t place) const;
  std::uint32_t place(std::size_t own_number, int column, int row) const {
    return static_cast<std::uint32_t>(own_number * area_ + static_cast<std::size_t>(row + 1) * stride_ +
                                      static_cast<std::size_t>(column + 1));
  }

  /// Finds T of one field per set of starts; a place may stand in a set once. Collective; O(n log n) for n
  /// cells of this rank, and O(longest path / edge of a tile) rounds of messages.
  void solve(std::span<const std::vector<Start>> starts);

  Links links(std::uint32_t place) const { return links_[place] & all_links; }
  /// T [s]; infinite where no route leads to a start.
  Real time(std::size_t field, std::uint32_t place) const { return fields_[field].time[place]; }
  /// Minus the gradient of T times cell, from the differences that the scheme uses. Local, O(1).
  Vec<2> descent(std::size_t field, std::uint32_t place) const;

 private:
  struct Pending {
    Real time;
    std::uint32_t place;
    friend bool operator>(const Pending& a, const Pending& b) { return a.time > b.time; }
  };
  struct Field {
    std::vector<Real> time;  // by place; rims of tiles hold copies of the cells beyond
    std::unordered_map<std::uint32_t, Real> starts;
    std::vector<Pending> queue;          // heap, the least time first; entries may be out of date
    std::vector<std::uint32_t> rising;   // cells whose neighbours relied on a smaller value
    std::vector<std::uint32_t> to_send;  // changed cells with a neighbour on another rank
  };
  /// A rank that owns tiles next to tiles of this one. Both list the sides that they share in one order.
  struct Neighbour {
    int rank = 0;
    std::vector<std::uint32_t> rims;  // own tile * 4 + side, where what arrives belongs
  };
  struct RimValue {
    Real time;
    std::uint32_t field;
    std::uint32_t place;  // number of the side in Neighbour::rims * edge + place along it
  };

  struct Copy {
    std::uint32_t place;
    Real delay;  // [s]
  };

  struct Spot {
    std::size_t own, column, row;  // column and row from 1, as the rim comes first
    std::int64_t tile;
  };

  static constexpr Links all_links = 0x1F;
  static constexpr Links at_edge = 1U << 5U;    // of its tile
  static constexpr Links may_start = 1U << 6U;  // in some field
  static constexpr Links is_copy = 1U << 7U;    // see copy()
  static constexpr Links is_copied = 1U << 8U;

  void connect();
  void find_band();
  Spot spot(std::uint32_t place) const;
  bool is_last(const Spot& spot, Side side) const;
  std::uint32_t across(const Spot& spot, Side side, std::size_t beyond) const;
  std::uint32_t beside(std::uint32_t place, Side side) const;
  std::uint32_t step_to(std::uint32_t place, Side side) const;
  Real from_neighbours(const Field& field, std::uint32_t place) const;
  Real step(const Field& field, std::uint32_t place) const;
  void change(Field& field, std::uint32_t place, Real time);
  void revisit(Field& field, std::uint32_t place);
  void revisit_neighbours(Field& field, std::uint32_t place, bool larger_only);
  void march(Field& field, Real limit);
  void exchange();

  const Comm& comm_;
  const Tiling& tiling_;
  std::size_t edge_, stride_, area_;
  std::unordered_map<std::int64_t, int> own_number_;
  std::vector<Links> links_;
  std::vector<float> steps_;
  std::vector<std::vector<float>> paces_;
  std::multimap<std::uint32_t, Copy> copies_;                 // of a place
  std::unordered_map<std::uint32_t, std::uint32_t> sources_;  // of copies without delay
  std::vector<std::int32_t> beyond_;  // own tile * 4 + side: own tile there; -1: nothing; -2 - k: remote_[k]
  struct Remote {
    std::uint32_t neighbour;
    std::uint32_t side;  // its number among the sides shared with that rank
  };
  std::vector<Remote> remote_;
  std::vector<Neighbour> neighbours_;
  std::vector<Field> fields_;
  Real band_ = 0;  // how far in time all ranks march between two exchanges
};

}  // namespace scree
