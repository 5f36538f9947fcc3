#include "events/inlet.hpp"
#include "particles/packing/region.hpp"

namespace scree {
namespace {

/// Places drawn evenly from those where the body lies in the region.
template <int D>
class Pour final : public Inlet<D> {
 public:
  void describe(Section& section) override {
    region_.describe(section, {.doc = "Where the bodies appear; not given: the whole domain."});
  }

  void fit(const Box<D>& domain, Real largest) override {
    region_.fit(domain);
    if (largest > region_.largest_radius())
      throw InputError(
          fmt::format("{}: the region is too small for a body of radius {:g} m, it holds up to {:g} m",
                      region_.where(), largest, region_.largest_radius()));
  }

  Vec<D> draw(RandomStream& stream, Real radius) const override { return region_.draw(stream, radius); }
  const Box<D>& bounds() const override { return region_.bounds(); }
  std::string text() const override { return "the region " + region_.text(); }

 private:
  Region<D> region_;
};

}  // namespace

SCREE_PLUGIN(Inlet, pour, Pour, "at random places of a region, where they touch nothing")

}  // namespace scree
