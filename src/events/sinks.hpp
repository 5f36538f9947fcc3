#pragma once
#include <string>
#include <vector>

#include "particles/fill/region.hpp"
#include "state/state.hpp"

namespace scree {

/// All [sinks.NAME] tables: regions that delete the bodies whose centres come into them.
template <int D>
class Sinks {
 public:
  /// Declares and reads [sinks.NAME].
  void describe(Section& root);
  bool empty() const { return sinks_.empty(); }
  /// Makes state.sinks, with nothing taken.
  void prepare(State<D>& state) const;

  /// Finds what the sinks take: true on all ranks if any does. `staying`: the owned bodies that none takes.
  /// Collective.
  bool find(const State<D>& state, std::vector<Index>& staying);
  /// Books what find() found in state.sinks. Collective.
  void book(State<D>& state) const;

 private:
  struct Sink {
    std::string name;
    Region<D> region;
  };
  std::vector<Sink> sinks_;
  std::vector<std::vector<Index>> taken_;  // of this rank, by sink
};

}  // namespace scree
