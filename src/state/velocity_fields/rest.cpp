#include <algorithm>

#include "state/velocity_field.hpp"

namespace scree {
namespace {

/// f = 0: bodies move only when contacts or walls push them.
template <int D>
class Rest final : public VelocityField<D> {
 public:
  void describe(Section&) override {}
  void evaluate(Real, std::span<const Vec<D>>, std::span<Vec<D>> velocity) const override {
    std::ranges::fill(velocity, Vec<D>{});
  }
};

}  // namespace

SCREE_PLUGIN(VelocityField, rest, Rest, "no motion but what contacts and walls force")

}  // namespace scree
