#pragma once
#include <map>
#include <string>
#include <tuple>

#include "replay/generated_problems.hpp"

/// generate_problem(), each problem once for all test cases of a program: Python makes them. Collective.
template <int D>
const scree::SerialProblem<D>& generated(const std::string& name, int size, std::uint64_t seed = 1) {
  static std::map<std::tuple<std::string, int, std::uint64_t>, scree::SerialProblem<D>> made;
  const auto key = std::tuple(name, size, seed);
  if (const auto found = made.find(key); found != made.end()) return found->second;
  return made.emplace(key, scree::generate_problem<D>(name, size, seed)).first->second;
}
