#include "particles/shape_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/error.hpp"
#include "core/input_file.hpp"

namespace scree {
namespace {

/// Calls f(number) for all numbers of a shape; lists have their lengths before them.
template <class Form, class F>
void for_each_number_of_shape(Form& form, F&& f) {
  const auto each = [&](auto& list, const auto& g) {
    auto n = static_cast<std::int64_t>(list.size());
    f(n);
    if constexpr (!std::is_const_v<Form>) list.resize(n);
    for (auto& entry : list) g(entry);
  };
  const auto vector = [&](auto& x) {
    for (auto& component : x.component) f(component);
  };
  each(form.core.vertices, vector);
  each(form.core.faces, [&](auto& face) { each(face, f); });
  f(form.rounding);
  f(form.volume);
  for (auto& moment : form.moments) f(moment);
  f(form.inscribed_radius);
  f(form.radius);
  for (auto& axis : form.described_axes) vector(axis);
  vector(form.described_centre);
}

}  // namespace

template <int D>
std::string text_of(const ShapeTable<D>& shapes) {
  std::string text;
  for (std::int32_t i = 1; i < shapes.size(); ++i) {
    text += shapes[i].name;
    for_each_number_of_shape(shapes[i].form, [&](auto number) { text += fmt::format(" {}", number); });
    text += '\n';
  }
  return text;
}

template <int D>
ShapeTable<D> shapes_of_text(std::string_view text) {
  ShapeTable<D> shapes;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    ConvexShape<D> form;
    const auto fail = [&] { throw InputError(fmt::format("the shape \"{}\" is damaged", name)); };
    constexpr std::int64_t max = 100'000;  // of a list
    for_each_number_of_shape(form, [&](auto& number) {
      using N = std::remove_reference_t<decltype(number)>;
      if (!(words >> word)) fail();
      if (!parse(word, number)) fail();
      if constexpr (std::is_integral_v<N>)
        if (number < 0 || number > max) fail();
    });
    const auto n = static_cast<int>(form.core.vertices.size());
    for (const auto& face : form.core.faces)
      if (face.size() < 3 || std::ranges::any_of(face, [n](int corner) { return corner >= n; })) fail();
    if (n == 0 || !(form.volume > 0) || !(form.rounding > 0)) fail();
    shapes.add({name, std::move(form)});
  }
  return shapes;
}

template std::string text_of(const ShapeTable<2>&);
template std::string text_of(const ShapeTable<3>&);
template ShapeTable<2> shapes_of_text<2>(std::string_view);
template ShapeTable<3> shapes_of_text<3>(std::string_view);

}  // namespace scree
