#include "crowd/people/group_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.hpp"

namespace scree {

namespace {

constexpr std::int64_t max_members = 1000;

std::vector<std::int64_t> whole_numbers(const Section& section, const std::vector<Real>& values) {
  std::vector<std::int64_t> sizes;
  for (const Real value : values) {
    if (value != std::floor(value) || !(value >= 1 && value <= max_members))
      section.fail("sizes", fmt::format("a group has a whole number of members from 1 to {}, not {:g}",
                                        max_members, value));
    sizes.push_back(static_cast<std::int64_t>(value));
    if (std::ranges::count(sizes, sizes.back()) > 1)
      section.fail("sizes", fmt::format("{:g} is listed twice", value));
  }
  return sizes;
}

}  // namespace

void GroupRule::describe(Section& section, bool has_file) {
  std::vector<Real> members;
  section.reals("sizes", members, -1,
                {.doc = "numbers of members of a group, such as [1, 2, 3]; required, except of people of a "
                        "file, whose column group says who is with whom"});
  section.reals("shares", shares, -1,
                {.range = non_negative,
                 .doc = "share of all groups that have each of the sizes; they need not sum to 1. With one "
                        "size it may be left out"});
  section.choice("stay", keeps_to_slowest, {{"slowest", true}, {"none", false}},
                 {.doc = "\"slowest\": nobody wants to be faster than the slowest member within reach; "
                         "\"none\": each walks with its own desired speed"});
  section.boolean("wait", waits,
                  {.doc = "whether who is ahead of another member by more than reach slows down"});
  section.real("reach", reach,
               {.unit = Unit::length,
                .range = positive,
                .doc = "distance within which members keep together; along the route: 3 m are 3 s at 1 m/s"});
  section.real("wait_factor", wait_factor,
               {.range = {.min = 0, .max = 1, .min_open = true},
                .doc = "share of the desired speed with which those walk who wait for others"});
  section.boolean("side_by_side", side_by_side,
                  {.doc = "whether who is ahead of the centre of the group, along the route, slows down: "
                          "members walk abreast where there is room"});
  if (!section.reading()) return;
  where = section.where("sizes");
  if (has_file) {
    if (!members.empty() || !shares.empty())
      section.fail(members.empty() ? "shares" : "sizes",
                   "the column group of the file says who is with whom: remove sizes and shares");
    return;
  }
  if (members.empty())
    section.fail("sizes", fmt::format("[{}] needs sizes, the numbers of members of groups: there is no size; "
                                      "give [1, 2, 3], say",
                                      section.path()));
  sizes = whole_numbers(section, members);
  if (shares.empty() && sizes.size() == 1) shares = {1};
  if (shares.size() != sizes.size())
    section.fail("shares", fmt::format("there must be a share for each of the {} sizes, not {}", sizes.size(),
                                       shares.size()));
  if (!(std::accumulate(shares.begin(), shares.end(), 0.0) > 0))
    section.fail("shares", "the shares sum to 0; one at least must be positive");
}

void GroupRule::require_room(std::int64_t n_people, const std::string& population) const {
  const std::int64_t largest = *std::ranges::max_element(sizes);
  if (largest > n_people)
    throw InputError(fmt::format("{}: a group of {} is larger than [populations.{}], which has {} people",
                                 where, largest, population, n_people));
}

GroupList::GroupList(const GroupRule& rule, std::int64_t n_people) {
  Real people_per_group = 0;
  for (std::size_t k = 0; k < rule.sizes.size(); ++k)
    people_per_group += rule.shares[k] * static_cast<Real>(rule.sizes[k]);
  std::int64_t n_remaining = n_people;
  for (std::size_t k = 0; k < rule.sizes.size(); ++k) {
    constexpr Real rounding = 1e-9;  // of shares that give whole numbers
    const auto n = static_cast<std::int64_t>(
        std::floor(static_cast<Real>(n_people) * rule.shares[k] / people_per_group + rounding));
    const std::int64_t possible = std::min(n, n_remaining / rule.sizes[k]);
    n_of_size_[rule.sizes[k]] += possible;
    n_remaining -= possible * rule.sizes[k];
  }
  std::vector<std::int64_t> falling = rule.sizes;
  std::ranges::sort(falling, std::greater<>());
  for (const std::int64_t size : falling) {
    n_of_size_[size] += n_remaining / size;
    n_remaining %= size;
  }
  if (n_remaining > 0) ++n_of_size_[n_remaining];
  std::erase_if(n_of_size_, [](const auto& entry) { return entry.second == 0; });
}

std::int64_t GroupList::n_groups() const {
  std::int64_t sum = 0;
  for (const auto& [size, n] : n_of_size_) sum += n;
  return sum;
}

GroupList::Group GroupList::group(std::int64_t k) const {
  std::int64_t first = 0;
  for (const auto& [size, n] : n_of_size_) {
    if (k < n) return {first + k * size, size};
    k -= n;
    first += n * size;
  }
  return {};
}

GroupList::Group GroupList::group_of(std::int64_t person) const {
  std::int64_t first = 0;
  for (const auto& [size, n] : n_of_size_) {
    if (person < first + n * size) return {first + (person - first) / size * size, size};
    first += n * size;
  }
  return {};
}

}  // namespace scree
