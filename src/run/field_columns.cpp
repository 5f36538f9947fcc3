#include "run/field_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace scree {

namespace {

struct ColumnPlace {
  std::string_view field;
  int frames, h5md;
};
constexpr std::array column_places{
#define SCREE_FIELD(name, type, unit, ghosts, saved, field_set, frames, h5md, what) \
  ColumnPlace{#name, frames, h5md},
#include "particles/fields.def"
#undef SCREE_FIELD
};

/// 0: not in the file.
int place_in(FieldFile file, std::string_view field) {
  const auto place = std::ranges::find(column_places, field, &ColumnPlace::field);
  if (place == column_places.end()) return 0;
  return file == FieldFile::frames ? place->frames : place->h5md;
}

template <int n>
std::span<const double> flat(std::span<const Vec<n>> list) {
  return {reinterpret_cast<const double*>(list.data()), list.size() * n};
}

/// Appends v as ParaView has it: of the plane with z = 0; one number as a rotation about z, as a quaternion
/// if it is an angle.
template <int n>
void append_in_space(std::vector<double>& list, const Vec<n>& v, bool is_angle) {
  if (n == 1 && is_angle)
    list.insert(list.end(), {std::cos(0.5 * v[0]), 0, 0, std::sin(0.5 * v[0])});
  else if (n == 1)
    list.insert(list.end(), {0, 0, v[0]});
  else
    list.insert(list.end(), v.component.begin(), v.component.end());
  if (n == 2) list.push_back(0);
}

}  // namespace

template <int D>
FieldColumns<D>::FieldColumns(const State<D>& state, FieldFile file) : state_(state), file_(file) {
  const std::size_t n = state.bodies.n_owned();
  state.bodies.for_each_field([&]<class T>(const FieldInfo& field, const std::vector<T>& values) {
    const int place = place_in(file, field.name);
    if (place > 0) add_field(place, field, std::span<const T>(values).first(n));
  });
}

template <int D>
template <class T>
void FieldColumns<D>::add_field(int place, const FieldInfo& field, std::span<const T> values) {
  Column column{std::string(field.name), std::string(field.unit), 1, {}};
  if constexpr (std::is_same_v<T, PeriodicImage<D>>) {
    column.components = D;
    column.values = std::span(reinterpret_cast<const std::int32_t*>(values.data()), values.size() * D);
  } else if constexpr (std::is_arithmetic_v<T>) {
    column.values = values;
  } else {
    column.components = add_vectors(column, values);
  }
  add(place, std::move(column));
}

template <int D>
template <int n>
int FieldColumns<D>::add_vectors(Column& column, std::span<const Vec<n>> values) {
  const bool is_orientation = column.name == "orientation";
  if (!is_orientation && (file_ == FieldFile::h5md || n >= 3)) {
    column.values = flat(values);
    return n;
  }
  std::vector<double>& list = converted_.emplace_back();
  for (std::size_t i = 0; i < values.size(); ++i) {
    Vec<n> v = values[i];
    if constexpr (std::is_same_v<Vec<n>, Orientation<D>>)
      if (is_orientation) v = described_orientation(state_, i);
    if (file_ == FieldFile::frames)
      append_in_space(list, v, is_orientation);
    else
      list.insert(list.end(), v.component.begin(), v.component.end());
  }
  column.values = std::span<const double>(list);
  if (file_ == FieldFile::h5md) return n;
  return is_orientation ? 4 : 3;
}

template <int D>
void FieldColumns<D>::add(int place, Column column) {
  placed_.push_back({place, std::move(column)});
}

template <int D>
std::vector<Column> FieldColumns<D>::columns() {
  std::ranges::sort(placed_, {}, &Placed::place);
  std::vector<Column> columns;
  for (Placed& placed : placed_) columns.push_back(std::move(placed.column));
  return columns;
}

template class FieldColumns<2>;
template class FieldColumns<3>;

}  // namespace scree
