#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "neighbors/neighborhood.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "state/state.hpp"

namespace scree {

/// What contacts remember from step to step: a T for every candidate pair and every candidate at a wall, by
/// its place in the neighbour list. T is a Real or a struct of Reals; all zeros: nothing is remembered.
template <class T>
class ContactField {
 public:
  static constexpr int width = sizeof(T) / sizeof(Real);  // NOLINT(bugprone-sizeof-expression)
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) == width * sizeof(Real));

  /// To the present candidates; what they remember is not defined then. Local.
  template <int D>
  void resize(const Neighborhood<D>& neighborhood) {
    resize_exactly(pairs_, static_cast<std::size_t>(neighborhood.schedule().n_batches() * batch_size));
    walls_.resize(neighborhood.schedule().wall_bodies().size());
  }
  /// Resizes to the present candidates and takes what bodies remember of them. After every rebuild. Local.
  template <int D>
  void restore(const State<D>& state, const Neighborhood<D>& neighborhood) {
    resize(neighborhood);
    neighborhood.list().restore(state, numbers(pairs_), numbers(walls_), width);
  }
  /// Goes on with these of the candidates at walls (SweepSchedule::renumber). Local.
  void keep_walls(std::span<const Index> kept) {
    for (std::size_t k = 0; k < kept.size(); ++k) walls_[k] = walls_[kept[k]];
    walls_.resize(kept.size());
  }
  /// All of it as the memory of the owned bodies. Collective.
  template <int D>
  ContactMemory remember(const State<D>& state, const Neighborhood<D>& neighborhood) const {
    return neighborhood.list().remember(state, neighborhood.ghosts(), numbers(pairs_), numbers(walls_),
                                        width);
  }
  /// Hands what contacts with obstacles remember on to neighbouring parts: see NeighborList::inherit. Local.
  template <class Contacts, int D>
  void inherit(const Contacts& contacts, Neighborhood<D>& neighborhood) {
    std::span<const Index> excluded;
    if constexpr (requires { contacts.excluded; }) excluded = contacts.excluded;
    neighborhood.list().inherit(contacts.b, contacts.place, excluded, numbers(walls_), width);
  }
  /// Lets contacts of a moment between two steps read there what they will go on with. Local.
  template <int D>
  void find_places(ContactGraph<D>& contacts, Neighborhood<D>& neighborhood) const {
    for (const auto& [place, from] : neighborhood.list().find_inherited(
             contacts.b, contacts.place, contacts.excluded, numbers(walls_), width))
      for (std::size_t c = 0; c < contacts.size(); ++c)
        if (contacts.b[c] < 0 && contacts.place[c] == place) contacts.place[c] = from;
  }

  /// Of contact c of a ContactGraph or the like.
  template <class Contacts>
  T& of(const Contacts& contacts, std::size_t c) {
    return (contacts.b[c] < 0 ? walls_ : pairs_)[contacts.place[c]];
  }
  template <class Contacts>
  const T& of(const Contacts& contacts, std::size_t c) const {
    return (contacts.b[c] < 0 ? walls_ : pairs_)[contacts.place[c]];
  }

  std::span<T> pairs() { return pairs_; }
  std::span<const T> pairs() const { return pairs_; }
  std::span<T> walls() { return walls_; }
  std::span<const T> walls() const { return walls_; }
  /// Contacts that remember something count as such, however wide their gaps: see ContactRules.
  template <int D>
  ContactRules<D> rules(Real tolerance) const {
    ContactRules<D> rules;
    rules.tolerance = tolerance;
    rules.pair_values = numbers(pairs_);
    rules.wall_values = numbers(walls_);
    rules.width = width;
    return rules;
  }

  void clear() {
    std::ranges::fill(pairs_, T{});
    std::ranges::fill(walls_, T{});
  }

 private:
  static std::span<Real> numbers(std::vector<T>& values) {
    return {reinterpret_cast<Real*>(values.data()), values.size() * width};
  }
  static std::span<const Real> numbers(const std::vector<T>& values) {
    return {reinterpret_cast<const Real*>(values.data()), values.size() * width};
  }
  /// Left to itself a vector doubles, with the old values, which are not needed, beside the new ones; and
  /// after a list with a wide skin it stays long.
  static void resize_exactly(std::vector<T>& values, std::size_t n) {
    if (n > values.capacity() || values.capacity() > n + n / 4) {
      values = std::vector<T>();
      values.reserve(n + n / 128);
    }
    values.resize(n);
  }

  std::vector<T> pairs_, walls_;
};

}  // namespace scree
