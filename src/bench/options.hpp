#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "core/types.hpp"

namespace scree {

/// A check of numbers on the command line. CLI11's own checks of signs name the largest number there is, in
/// full.
inline CLI::Validator number(const std::string& name, bool (*holds)(Real)) {
  return CLI::Validator(
      [=](const std::string& text) {
        Real value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && holds(value);
        return good ? std::string() : text + " is not a " + name + " number";
      },
      name);
}

inline CLI::Validator positive_number() {
  return number("positive", [](Real value) { return value > 0; });
}
inline CLI::Validator non_negative_number() {
  return number("non-negative", [](Real value) { return value >= 0; });
}

}  // namespace scree
