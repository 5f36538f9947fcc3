#include "schemes/dem/force_sums.hpp"

#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace scree {

namespace {

/// Blocks run in the order of this number.
template <int D>
constexpr int turn_of_blocks(int colour, bool boundary) {
  constexpr int n_colours = Lattice<D>::n_colours;
  return colour + (boundary ? n_colours : colour < n_early_colours<D> ? 0 : 2 * n_colours);
}

void add(ForceRecord& sum, const ForceRecord& part) {
  for (int c = 0; c < 3; ++c) {
    sum.force[c] += part.force[c];
    sum.torque[c] += part.torque[c];
  }
}

}  // namespace

template <int D>
void ForceSums<D>::plan(const SweepSchedule<D>& schedule, const GhostExchange<D>& ghosts,
                        std::size_t n_held) {
  const auto blocks = schedule.all_blocks();
  const auto leaving = ghosts.sums_leaving();
  const auto arriving = ghosts.sums_arriving();
  n_leaving_ = leaving.size();
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };

  // Who touches whom, and whether in the order of colours.
  std::vector<Index> touched, first_touched{0};
  std::vector<Index> last_block(n_held, -1);
  std::vector<Index> n_parts(n_held, 0);
  constexpr std::int8_t never = -1, out_of_turn = 127;
  std::vector<std::int8_t> last_turn(n_held, never);
  const auto find_touched = [&](const typename SweepSchedule<D>::Block& block, int turn) {
    const auto b = static_cast<Index>(&block - blocks.data());
    const auto touch = [&](Index body) {
      if (std::exchange(last_block[at(body)], b) == b) return;
      touched.push_back(body);
      ++n_parts[at(body)];
      std::int8_t& last = last_turn[at(body)];
      last = last < turn ? static_cast<std::int8_t>(turn) : out_of_turn;
    };
    schedule.for_each_pair(block, [&](std::size_t, Index low, Index high, Index) {
      touch(low);
      touch(high);
    });
    for (const auto& wall : schedule.walls(block))
      for (const Index body : schedule.wall_bodies(wall)) touch(body);
    first_touched.push_back(static_cast<Index>(touched.size()));
  };
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    for (const auto& block : schedule.boundary_blocks(colour))
      find_touched(block, turn_of_blocks<D>(colour, true));
    for (const auto& block : schedule.interior_blocks(colour))
      find_touched(block, turn_of_blocks<D>(colour, false));
  }
  constexpr Index whole = 2;  // what other ranks add or need is never added to forces directly
  for (const auto& sum : arriving) {
    n_parts[at(sum.body)] += whole;
    last_turn[at(sum.body)] = out_of_turn;
  }
  std::vector<Index> first_leaving(n_held, -1);
  for (std::size_t k = leaving.size(); k-- > 0;) {
    first_leaving[at(leaving[k].body)] = static_cast<Index>(k);
    n_parts[at(leaving[k].body)] += whole;
  }

  auto n_places = static_cast<Index>(leaving.size() + arriving.size());
  std::vector<Part> own;  // in the order of colours
  std::vector<Index> sum_in_turn(n_held, -1);
  block_parts_.clear();
  first_part_.assign(1, 0);
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    for (const auto& block : schedule.blocks(colour)) {
      const auto b = static_cast<std::size_t>(&block - blocks.data());
      for (Index t = first_touched[b]; t < first_touched[b + 1]; ++t) {
        const Index body = touched[at(t)];
        if (n_parts[at(body)] < 2) continue;
        if (Index place = first_leaving[at(body)]; place >= 0) {
          while (leaving[at(place)].colour != colour) ++place;
          SCREE_ASSERT(leaving[at(place)].body == body);
          block_parts_.push_back({body, place});
        } else if (sum_in_turn[at(body)] >= 0) {
          block_parts_.push_back({body, ~sum_in_turn[at(body)]});
        } else {
          own.push_back({body, n_places++});
          block_parts_.push_back(own.back());
          if (last_turn[at(body)] != out_of_turn) sum_in_turn[at(body)] = own.back().place;
        }
      }
      first_part_.push_back(static_cast<Index>(block_parts_.size()));
    }
    for (std::size_t k = 0; k < arriving.size(); ++k)
      if (arriving[k].colour == colour)
        own.push_back({arriving[k].body, static_cast<Index>(leaving.size() + k)});
  }
  parts_.assign(at(n_places), ForceRecord{});

  std::vector<Index>& next = last_block;
  next.assign(n_held + 1, 0);
  for (const Part& part : own) ++next[at(part.body) + 1];
  summed_.clear();
  first_summand_.assign(1, 0);
  for (std::size_t i = 0; i < n_held; ++i)
    if (next[i + 1] > 0) {
      summed_.push_back(static_cast<Index>(i));
      first_summand_.push_back(first_summand_.back() + next[i + 1]);
    }
  std::partial_sum(next.begin(), next.end(), next.begin());
  summands_.resize(own.size());
  for (const Part& part : own) summands_[at(next[at(part.body)]++)] = part.place;
}

template <int D>
void ForceSums<D>::collect(std::size_t b, std::span<ForceRecord> forces) {
  for (Index k = first_part_[b]; k < first_part_[b + 1]; ++k) {
    const Part part = block_parts_[static_cast<std::size_t>(k)];
    const ForceRecord made = std::exchange(forces[static_cast<std::size_t>(part.body)], ForceRecord{});
    if (part.place >= 0)
      parts_[static_cast<std::size_t>(part.place)] = made;
    else
      add(parts_[static_cast<std::size_t>(~part.place)], made);
  }
}

template <int D>
void ForceSums<D>::add_up(std::span<ForceRecord> forces) const {
  for (std::size_t s = 0; s < summed_.size(); ++s) {
    const auto first = static_cast<std::size_t>(first_summand_[s]);
    const auto last = static_cast<std::size_t>(first_summand_[s + 1]);
    ForceRecord sum = parts_[static_cast<std::size_t>(summands_[first])];
    for (std::size_t k = first + 1; k < last; ++k) add(sum, parts_[static_cast<std::size_t>(summands_[k])]);
    forces[static_cast<std::size_t>(summed_[s])] = sum;
  }
}

template <int D>
std::size_t ForceSums<D>::bytes() const {
  return held_bytes(parts_, block_parts_, first_part_, summed_, summands_, first_summand_);
}

template class ForceSums<2>;
template class ForceSums<3>;

}  // namespace scree
