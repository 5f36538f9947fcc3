#pragma once
#include <span>
#include <vector>

#include "core/even_share.hpp"
#include "replay/split/pairs.hpp"

namespace scree::split {

struct BodyFact {
  int owner = 0;
  int n_partners = 0;  ///< different bodies in contact with it; all static ones count as one
};

/// Who owns which body: a partition of the graph of body pairs. A rank keeps an even share of all numbers.
class BodyDirectory {
 public:
  /// `pairs` of this rank's contacts. Decides who owns what. Collective.
  BodyDirectory(const Comm& comm, Number n_bodies, std::vector<BodyPair> pairs);

  /// Facts about bodies of any rank. Collective.
  std::vector<BodyFact> look_up(std::span<const Number> bodies) const;

 private:
  Comm comm_;
  Number n_bodies_;
  EvenShare share_;
  std::vector<BodyFact> facts_;
};

}  // namespace scree::split
