#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace scree {

template <int D>
using PeriodicImage = std::array<std::int32_t, D>;

enum class Ghosts { keep, none };

/// What a field is: name, unit and rules, from fields.def.
struct FieldInfo {
  std::string_view name;
  std::string_view unit;
  Ghosts ghosts;
  bool saved;
  std::string_view what;
};

/// The bodies of a rank: one array per field (fields.def), owned bodies first, then ghost copies.
/// Spans stay valid until the next resize. Fields with Ghosts::none have owned entries only.
template <int D>
class BodyStore {
 public:
  Index n_owned() const { return n_owned_; }
  Index n_ghosts() const { return n_ghosts_; }
  Index n_held() const { return n_owned_ + n_ghosts_; }

#define SCREE_FIELD(name, type, unit, ghosts, saved, what) \
  std::span<type> name() {                                 \
    return name##_;                                        \
  }                                                        \
  std::span<const type> name() const {                     \
    return name##_;                                        \
  }
#include "particles/fields.def"
#undef SCREE_FIELD

  /// Calls f(FieldInfo, std::vector<T>&) for every field.
  template <class F>
  void for_each_field(F&& f) {
#define SCREE_FIELD(name, type, unit, ghosts, saved, what) f(info_##name, name##_);
#include "particles/fields.def"
#undef SCREE_FIELD
  }
  template <class F>
  void for_each_field(F&& f) const {
#define SCREE_FIELD(name, type, unit, ghosts, saved, what) f(info_##name, name##_);
#include "particles/fields.def"
#undef SCREE_FIELD
  }

  /// Sets the numbers of bodies. New entries are value-initialised; ghost entries exist for Ghosts::keep
  /// only.
  void resize(Index n_owned, Index n_ghosts);
  /// Reorders the owned bodies: new i is old order[i]; order may be shorter than n_owned (the others are
  /// dropped). Drops the ghosts.
  void reorder(std::span<const Index> order);

 private:
  enum : bool { yes = true, no = false };
#define SCREE_FIELD(name, type, unit, ghosts, saved, what) \
  static constexpr FieldInfo info_##name{#name, unit, Ghosts::ghosts, saved, what};
#include "particles/fields.def"
#undef SCREE_FIELD
#define SCREE_FIELD(name, type, unit, ghosts, saved, what) std::vector<type> name##_;
#include "particles/fields.def"
#undef SCREE_FIELD
  Index n_owned_ = 0;
  Index n_ghosts_ = 0;
};

}  // namespace scree
