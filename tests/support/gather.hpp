#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/split_problem.hpp"

/// Puts rows of all ranks in place. Added as integers over zeros, so that every bit arrives. Collective.
inline std::vector<scree::Real> gather_rows(const scree::Comm& comm, std::span<const std::int64_t> number,
                                            std::span<const scree::Real> values, int width) {
  const std::size_t w = width;
  const auto n_of_all = comm.sum(static_cast<std::int64_t>(number.size()));
  std::vector<std::int64_t> bits(static_cast<std::size_t>(n_of_all) * w, 0);
  for (std::size_t i = 0; i < number.size(); ++i)
    for (std::size_t k = 0; k < w; ++k)
      bits[static_cast<std::size_t>(number[i]) * w + k] = std::bit_cast<std::int64_t>(values[i * w + k]);
  comm.sum(bits);
  std::vector<scree::Real> all(bits.size());
  std::ranges::transform(bits, all.begin(), [](std::int64_t b) { return std::bit_cast<scree::Real>(b); });
  return all;
}

/// Values of all contacts / bodies on every rank in the order of their numbers: the inputs are
/// n_contacts * width numbers of this rank, or n_local * width of which the owned ones count. Collective.
template <int D>
std::vector<scree::Real> gather_contacts(const scree::SplitProblem<D>& split,
                                         std::span<const scree::Real> values, int width) {
  return gather_rows(split.problem().halo->comm(), split.contact_number(), values, width);
}
template <int D>
std::vector<scree::Real> gather_bodies(const scree::SplitProblem<D>& split,
                                       std::span<const scree::Real> values, int width) {
  const scree::FrictionProblem<D>& problem = split.problem();
  return gather_rows(problem.halo->comm(), std::span(problem.body_id).first(problem.n_owned()), values,
                     width);
}
