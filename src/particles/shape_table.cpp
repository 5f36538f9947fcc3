#include "particles/shape_table.hpp"

#include <utility>

#include "particles/orientation.hpp"
#include "particles/volume.hpp"

namespace scree {

template <int D>
BodyShape<D>::BodyShape(std::string with_name, ConvexShape<D> with_form)
    : name(std::move(with_name)), form(std::move(with_form)), core(form.core) {
  for (std::size_t k = 0; k < form.moments.size(); ++k)
    moments[static_cast<int>(k)] = form.moments[k] / form.volume;
  // Described axis k lies along described_axes[k] in body axes.
  to_body_axes = reversed<D>(orientation_of<D>(form.described_axes));
}

template <int D>
ShapeTable<D>::ShapeTable() {
  add({"sphere", sphere_shape<D>()});
}

template <int D>
void ShapeTable<D>::describe(Section& root) {
  root.tables("shapes", {.doc = "A convex shape that bodies may have, by a name of your choice."},
              [&](const std::string& name, Section& section) {
                std::unique_ptr<ShapeKind<D>> kind;
                section.kind("type", kind, {.required = true, .doc = "Kind of shape"});
                if (!section.reading()) return;
                if (find(name) >= 0) section.fail("type", "\"sphere\" is the shape of bodies without one");
                add({name, kind->shape()});
              });
}

template <int D>
std::int32_t ShapeTable<D>::find(const std::string& name) const {
  for (std::int32_t i = 0; i < size(); ++i)
    if ((*this)[i].name == name) return i;
  return -1;
}

template <int D>
std::vector<std::string> ShapeTable<D>::names() const {
  std::vector<std::string> names;
  for (std::int32_t i = 1; i < size(); ++i) names.push_back((*this)[i].name);
  return names;
}

template <int D>
Real ShapeTable<D>::volume(std::int32_t number, Real radius) const {
  if (number == 0) return body_volume<D>(radius);  // to the last bit what runs of spheres have
  return (*this)[number].form.volume * (D == 2 ? radius * radius : radius * radius * radius);
}

template struct BodyShape<2>;
template struct BodyShape<3>;
template class ShapeTable<2>;
template class ShapeTable<3>;

}  // namespace scree
