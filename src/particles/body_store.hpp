#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "core/types.hpp"

namespace scree {

template <int D>
using PeriodicImage = std::array<std::int32_t, D>;

/// Angular velocity [rad/s]: one number in the plane (counter-clockwise), a vector in space.
template <int D>
inline constexpr int n_spins = D == 2 ? 1 : 3;
template <int D>
using Spin = Vec<n_spins<D>>;
/// Angle [rad] in the plane; unit quaternion (w, x, y, z) that turns body axes to world axes in space.
template <int D>
using Orientation = Vec<D == 2 ? 1 : 4>;

/// Four derivatives of position and angle, what multistep integrators remember.
template <int D>
using MotionDerivatives = Vec<4 * (D + n_spins<D>)>;

/// The orientation of a body that has not turned.
template <int D>
constexpr Orientation<D> upright() {
  Orientation<D> orientation;
  if constexpr (D == 3) orientation[0] = 1;
  return orientation;
}

enum class Ghosts { keep, none, with_shapes };
/// The fields that a body has besides its place. Levels of motion include those before them; `path`, `shapes`
/// and `oriented` and `levels` are apart from these, see BodyStore::carry_path(), carry_shapes(),
/// carry_levels().
enum class FieldSet {
  always,
  with_inertia,
  with_accelerations,
  with_derivatives,
  path,
  shapes,
  oriented,
  levels
};
constexpr bool has_inertia(FieldSet set) {
  return set >= FieldSet::with_inertia && set <= FieldSet::with_derivatives;
}

/// What a field is: name, unit and rules, from fields.def.
struct FieldInfo {
  std::string_view name;
  std::string_view unit;
  Ghosts ghosts;
  bool saved;
  FieldSet field_set;
  std::string_view what;
};

/// A field that an environment (people's, say) or a measure brings: of owned bodies, saved.
struct ExtraField {
  FieldInfo info;
  bool is_integer;  ///< of type std::int32_t; else Real
};

/// The bodies of a rank: one array per field (fields.def), owned bodies first, then ghost copies.
/// Spans stay valid until the next resize. Fields with Ghosts::none have owned entries only.
template <int D>
class BodyStore {
 public:
  Index n_owned() const { return n_owned_; }
  Index n_ghosts() const { return n_ghosts_; }
  Index n_local() const { return n_owned_ + n_ghosts_; }

  /// Says what bodies carry; before the first of them is made.
  void carry(FieldSet set) { field_set_ = set; }
  bool has_inertia() const { return scree::has_inertia(field_set_); }
  /// Says whether some bodies are no spheres, and all carry `shape` and `orientation`, ghosts too; before the
  /// first of them is made.
  void carry_shapes(bool carried) { carries_shapes_ = carried; }
  bool carries_shapes() const { return carries_shapes_; }
  /// Says whether bodies carry `level`; before the first of them is made.
  void carry_levels(bool carried) { carries_levels_ = carried; }
  bool carries_levels() const { return carries_levels_; }
  /// Whether they carry `orientation` and `angular_velocity`.
  bool carries_turns() const { return carries_shapes_ || has_inertia(); }
  /// Whether ghost copies have this field.
  bool is_of_ghosts(const FieldInfo& info) const {
    return info.ghosts == Ghosts::keep || (info.ghosts == Ghosts::with_shapes && carries_shapes_);
  }
  /// Says which fields bodies carry besides those of fields.def; before the first body is made.
  void carry_extra(std::span<const ExtraField> fields);
  /// Adds a field to these; returns its number. The name must stay valid.
  std::size_t add_extra(const ExtraField& field);
  /// The k-th of these, of type Real or std::int32_t as its ExtraField says.
  template <class T>
  std::span<T> extra(std::size_t k) {
    return std::get<std::vector<T>>(extra_[k].values);
  }
  template <class T>
  std::span<const T> extra(std::size_t k) const {
    return std::get<std::vector<T>>(extra_[k].values);
  }

  /// Whether bodies carry `previous`; they do unless set not to, and then that span is empty. Bodies that are
  /// there already get zeros, or lose theirs.
  void carry_path(bool carried);
  bool carries_path() const { return carries_path_; }
  /// Where the owned bodies were when the present step began [m]: `previous`. A scheme that runs without it
  /// leaves `position` there until its step is done.
  std::span<const Vec<D>> step_start() const { return carries_path_ ? previous() : position(); }

#define SCREE_FIELD(name, type, unit, ghosts, saved, field_set, frames, h5md, what) \
  std::span<type> name() {                                                          \
    return name##_;                                                                 \
  }                                                                                 \
  std::span<const type> name() const {                                              \
    return name##_;                                                                 \
  }
#include "particles/fields.def"
#undef SCREE_FIELD

  /// Calls f(FieldInfo, std::vector<T>&) for every field that this run carries.
  template <class F>
  void for_each_field(F&& f) {
#define SCREE_FIELD(name, type, unit, ghosts, saved, field_set, frames, h5md, what) \
  if (carries(info_##name)) f(info_##name, name##_);
#include "particles/fields.def"
#undef SCREE_FIELD
    for (Extra& field : extra_) std::visit([&](auto& values) { f(field.info, values); }, field.values);
  }
  template <class F>
  void for_each_field(F&& f) const {
#define SCREE_FIELD(name, type, unit, ghosts, saved, field_set, frames, h5md, what) \
  if (carries(info_##name)) f(info_##name, name##_);
#include "particles/fields.def"
#undef SCREE_FIELD
    for (const Extra& field : extra_)
      std::visit([&](const auto& values) { f(field.info, values); }, field.values);
  }

  /// Sets the numbers of bodies. New entries are value-initialised; ghost entries exist for Ghosts::keep
  /// only.
  void resize(Index n_owned, Index n_ghosts);
  /// Reorders the owned bodies: new i is old order[i]; order may be shorter than n_owned (the others are
  /// dropped). Drops the ghosts.
  void reorder(std::span<const Index> order);
  /// Drops all but the bodies `local`, n_owned owned ones and then ghosts, both ascending: new i is old
  /// local[i]. Asks for no memory.
  void keep(std::span<const Index> local, Index n_owned);

 private:
  bool carries(const FieldInfo& info) const {
    if (info.field_set == FieldSet::path) return carries_path_;
    if (info.field_set == FieldSet::shapes) return carries_shapes_;
    if (info.field_set == FieldSet::oriented) return carries_turns();
    if (info.field_set == FieldSet::levels) return carries_levels_;
    if (info.field_set == FieldSet::always || info.field_set == field_set_) return true;
    return scree::has_inertia(field_set_) && info.field_set <= field_set_;
  }

  enum : bool { yes = true, no = false };
#define SCREE_FIELD(name, type, unit, ghosts, saved, field_set, frames, h5md, what) \
  static constexpr FieldInfo info_##name{#name, unit, Ghosts::ghosts, saved, FieldSet::field_set, what};
#include "particles/fields.def"
#undef SCREE_FIELD
#define SCREE_FIELD(name, type, unit, ghosts, saved, field_set, frames, h5md, what) std::vector<type> name##_;
#include "particles/fields.def"
#undef SCREE_FIELD
  struct Extra {
    FieldInfo info;
    std::variant<std::vector<Real>, std::vector<std::int32_t>> values;
  };
  std::vector<Extra> extra_;
  Index n_owned_ = 0;
  Index n_ghosts_ = 0;
  FieldSet field_set_ = FieldSet::always;
  bool carries_path_ = true;
  bool carries_shapes_ = false;
  bool carries_levels_ = false;
};

}  // namespace scree
