#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "state/state.hpp"

namespace scree {

/// Bodies of a batch in place_arrivals(), at most.
inline constexpr std::int64_t max_arrivals_at_once = 256;

/// Finds free places for the bodies of a source that are due, and counts them in `progress`; false if one
/// found none in this step. A body that found none comes alone in the next try: those behind it wait and do
/// not overtake it. Which places are taken depends neither on the ranks nor on how bodies are batched.
/// `source` has
///     begin_batch()                     forgets the bodies of the batch before
///     draw_body(number)                 draws what the body with this number is like: the next of the batch
///     Vec<D> draw_place(attempt)        a place for the body drawn last
///     block(places, n_each, counts)     adds 1 where a place is not free, n_each per body of the batch;
///                                       ranks may share the work
///     bool meets_new(body, place)       whether it overlaps a body accepted before; alike on all ranks
///     accept(body, place)               takes the place of that number for a body of the batch
/// Collective, one reduction per batch.
template <int D, class Source>
bool place_arrivals(const Comm& comm, InletProgress& progress, Source& source) {
  constexpr std::int64_t tries_per_step = 64;  // of one body
  std::int64_t n_tried = 0;                    // in this step, by the body that is next
  std::vector<Vec<D>> at;
  std::vector<std::int64_t> is_blocked;
  while (progress.n_waiting() > 0 && n_tried < tries_per_step) {
    const std::int64_t n_bodies = n_tried > 0 ? 1 : std::min(progress.n_waiting(), max_arrivals_at_once);
    const std::int64_t tries_at_once = n_tried > 0 ? 20 : 4;
    source.begin_batch();
    at.clear();
    for (std::int64_t b = 0; b < n_bodies; ++b) {
      source.draw_body(progress.n_made + progress.n_dropped + b);
      for (std::int64_t a = 0; a < tries_at_once; ++a)
        at.push_back(source.draw_place((b == 0 ? progress.n_tries : 0) + a));
    }
    is_blocked.assign(at.size(), 0);
    source.block(std::span<const Vec<D>>(at), tries_at_once, std::span<std::int64_t>(is_blocked));
    comm.sum(is_blocked);

    for (std::int64_t b = 0; b < n_bodies; ++b) {
      std::int64_t a = 0;
      std::size_t i = b * tries_at_once;
      while (a < tries_at_once && (is_blocked[i] > 0 || source.meets_new(static_cast<std::size_t>(b), i)))
        ++a, ++i;
      if (a == tries_at_once) {
        progress.n_tries += tries_at_once;
        n_tried += tries_at_once;
        break;
      }
      source.accept(static_cast<std::size_t>(b), i);
      ++progress.n_made;
      progress.n_tries = 0;
      n_tried = 0;
    }
  }
  return progress.n_waiting() == 0;
}

}  // namespace scree
