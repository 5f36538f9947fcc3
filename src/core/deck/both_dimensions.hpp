#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "core/deck/deck_table.hpp"

namespace scree::detail {

/// What a key is in each dimension; one of the two is null where it does not exist.
struct Both {
  const Declaration* flat;   // 2D
  const Declaration* solid;  // 3D
  const Declaration& any() const { return flat ? *flat : *solid; }
};

inline const std::list<Declaration>* members_of(const Declaration* declaration) {
  return declaration ? &declaration->members : nullptr;
}

/// The keys of two lists by name: those of 2D, with those of 3D alone behind the one they follow in 3D.
inline std::vector<Both> merged(const std::list<Declaration>* flat, const std::list<Declaration>* solid) {
  std::vector<Both> all;
  if (flat)
    for (const Declaration& declaration : *flat) all.push_back({&declaration, nullptr});
  std::size_t next = 0;
  if (solid)
    for (const Declaration& declaration : *solid) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const Both& both) { return both.any().name == declaration.name; });
      if (same != all.end()) {
        same->solid = &declaration;
        next = static_cast<std::size_t>(same - all.begin()) + 1;
      } else {
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(next++), {nullptr, &declaration});
      }
    }
  return all;
}

struct BothOption {
  const Declaration::Option* flat;
  const Declaration::Option* solid;
  const Declaration::Option& any() const { return flat ? *flat : *solid; }
  std::vector<Both> members() const {
    return merged(flat ? &flat->members : nullptr, solid ? &solid->members : nullptr);
  }
};

/// The options of a kind; every registry lists the same names in both dimensions.
inline std::vector<BothOption> merged_options(const Both& kind) {
  std::vector<BothOption> all;
  const auto add = [&](const Declaration* declaration, const Declaration::Option* BothOption::*side) {
    if (!declaration) return;
    for (const Declaration::Option& option : declaration->options) {
      if (!option.available) continue;
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const BothOption& other) { return other.any().name == option.name; });
      if (same == all.end()) same = all.insert(all.end(), BothOption{nullptr, nullptr});
      (*same).*side = &option;
    }
  };
  add(kind.flat, &BothOption::flat);
  add(kind.solid, &BothOption::solid);
  return all;
}

template <class Pair>
std::string_view dimension_mark(const Pair& both) {
  if (!both.solid) return " (2D only)";
  if (!both.flat) return " (3D only)";
  return "";
}

/// `text(declaration)`, or both texts where 2D and 3D differ.
template <class Function>
std::string in_both(const Both& both, const Function& text) {
  if (!both.flat || !both.solid) return text(both.any());
  const std::string flat = text(*both.flat);
  const std::string solid = text(*both.solid);
  return flat == solid ? flat : fmt::format("2D: {}; 3D: {}", flat, solid);
}

struct Documented {
  std::list<Declaration> flat;
  std::list<Declaration> solid;
  explicit Documented(const DeckDescription& description) {
    Section flat_root(std::make_unique<DeckTable>(flat, ""));
    description.in_2d(flat_root);
    Section solid_root(std::make_unique<DeckTable>(solid, ""));
    description.in_3d(solid_root);
  }
};

}  // namespace scree::detail
