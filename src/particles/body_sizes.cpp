#include "particles/body_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "particles/volume.hpp"

namespace scree {

template <int D>
void BodySizes<D>::describe(Section& section, const ShapeTable<D>& shapes) {
  section.optional_table("radius",
                         {.doc = "Radii of the bodies, with a shape those of their circumscribed spheres; "
                                 "needed unless the shape or the source gives them."},
                         [&](Section& radius) {
                           radius.kind("distribution", radius_,
                                       {.required = true, .doc = "how radii are distributed"});
                         });
  std::string name;
  std::vector<std::string> names;
  std::vector<Real> shares;
  section.text("shape", name,
               {.doc = "Name of a [shapes.NAME] table that all bodies have the form of; none: spheres"});
  section.texts("shapes", names, {.doc = "Names of several, for a mixture"});
  section.reals("shape_shares", shares, -1,
                {.range = non_negative,
                 .doc = "Share of each of `shapes` by number; they need not sum to 1; none: equal shares"});
  if (!section.reading()) return;
  if (!name.empty() && !names.empty()) section.fail("shapes", "give either 'shape' or 'shapes', not both");
  const std::string_view key = name.empty() ? "shapes" : "shape";
  if (!name.empty()) names = {name};
  if (!shares.empty() && shares.size() != names.size())
    section.fail("shape_shares", fmt::format("there must be as many shares as shapes ({})", names.size()));
  if (shares.empty()) shares.assign(names.size(), 1.0);
  const Real sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (!names.empty() && !(sum > 0))
    section.fail("shape_shares", "the shares sum to 0; one at least must be positive");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int32_t number = shapes.find(names[i]);
    if (number < 0)
      section.fail(
          key,
          fmt::format("unknown shape '{}'; [shapes] has: {}", names[i],
                      shapes.only_spheres() ? "none" : fmt::format("{}", fmt::join(shapes.names(), ", "))));
    const ConvexShape<D>& form = shapes[number].form;
    kinds_.push_back({.shape = number,
                      .up_to = (kinds_.empty() ? 0 : kinds_.back().up_to) + shares[i] / sum,
                      .share = shares[i] / sum,
                      .own_radius = form.radius,
                      .volume = shapes.volume(number, form.radius),
                      .of_sphere = form.volume / body_volume<D>(1)});
  }
}

template <int D>
const typename BodySizes<D>::Kind& BodySizes<D>::kind_at(Real share) const {
  for (const Kind& kind : kinds_)
    if (share < kind.up_to) return kind;
  return kinds_.back();
}

template <int D>
std::int32_t BodySizes<D>::draw_shape(RandomStream& stream) const {
  if (kinds_.empty()) return 0;
  return kinds_.size() == 1 ? kinds_[0].shape : kind_at(stream.uniform()).shape;
}

template <int D>
BodySize BodySizes<D>::draw(RandomStream& stream) const {
  if (kinds_.empty()) return {radius_->draw(stream), 0};
  const Kind& kind = kinds_.size() == 1 ? kinds_[0] : kind_at(stream.uniform());
  return {radius_ ? radius_->draw(stream) : kind.own_radius, kind.shape};
}

template <int D>
Real BodySizes<D>::largest() const {
  if (radius_) return radius_->largest();
  return std::ranges::max_element(kinds_, {}, &Kind::own_radius)->own_radius;
}

template <int D>
Real BodySizes<D>::mean_volume() const {
  if (kinds_.empty()) return radius_->mean_volume();
  Real volume = 0;
  for (const Kind& kind : kinds_)
    volume += kind.share * (radius_ ? kind.of_sphere * radius_->mean_volume() : kind.volume);
  return volume;
}

template class BodySizes<2>;
template class BodySizes<3>;

}  // namespace scree
