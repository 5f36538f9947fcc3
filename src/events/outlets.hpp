#pragma once
#include <string>
#include <vector>

#include "particles/packing/region.hpp"
#include "state/state.hpp"

namespace scree {

/// All [outlets.NAME] tables: regions that delete the bodies whose centres come into them.
template <int D>
class Outlets {
 public:
  /// Declares and reads [outlets.NAME].
  void describe(Section& root);
  bool empty() const { return outlets_.empty(); }
  /// Makes state.outlets, with nothing taken.
  void prepare(State<D>& state) const;

  /// Finds what the outlets take: true on all ranks if any does. `staying`: the owned bodies that none takes.
  /// Collective.
  bool find(const State<D>& state, std::vector<Index>& staying);
  /// Records what find() found in state.outlets. Collective.
  void record(State<D>& state) const;

 private:
  struct Outlet {
    std::string name;
    Region<D> region;
  };
  std::vector<Outlet> outlets_;
  std::vector<std::vector<Index>> taken_;  // of this rank, by outlet
};

}  // namespace scree
