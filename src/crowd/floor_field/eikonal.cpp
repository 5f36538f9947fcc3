#include "crowd/floor_field/eikonal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/error.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {

constexpr Real nowhere = std::numeric_limits<Real>::infinity();
constexpr std::uint32_t outside = std::numeric_limits<std::uint32_t>::max();

// Crossing times of cells that all ranks march between two exchanges, in edges of tiles: shorter bands cost
// more messages, longer ones let a rank go on with values that others improve.
constexpr Real band_in_tiles = 0.5;

/// The larger root of (t - a)^2 + (t - b)^2 = s^2, or min(a, b) + s if only that one counts. Larger than what
/// it is found from, also after rounding.
Real upwind_time(Real a, Real b, Real s) {
  if (a > b) std::swap(a, b);
  const Real alone = a + s;
  if (b >= alone) return alone;
  const Real difference = b - a;
  const Real both = 0.5 * (a + b + std::sqrt(2 * s * s - difference * difference));
  return both > b ? both : alone;
}

}  // namespace

Eikonal::Eikonal(const Comm& comm, const Tiling& tiling)
    : comm_(comm),
      tiling_(tiling),
      edge_(static_cast<std::size_t>(tiling.edge())),
      stride_(edge_ + 2),
      area_(stride_ * stride_) {
  if (n_own() * area_ > std::numeric_limits<std::uint32_t>::max())
    throw RunError("floor field: a rank has more than 4e9 cells; use more ranks or larger cells");
  const auto own = tiling.own();
  for (std::size_t k = 0; k < own.size(); ++k) own_number_.emplace(own[k], static_cast<int>(k));
  links_.assign(n_own() * area_, 0);
  steps_.assign(n_own() * area_, 0);
  connect();
}

int Eikonal::own_number(std::int64_t tile) const {
  const auto found = own_number_.find(tile);
  return found == own_number_.end() ? -1 : found->second;
}

void Eikonal::connect() {
  // Rank, tile and side of the rim: its owner and the one who fills it sort alike.
  using Rim = std::pair<std::int64_t, Side>;
  std::map<int, std::vector<std::pair<Rim, std::uint32_t>>> incoming, outgoing;
  const auto own = tiling_.own();
  beyond_.assign(4 * own.size(), -1);
  for (std::size_t k = 0; k < own.size(); ++k)
    for (const Side side : all_sides) {
      const std::int64_t tile = tiling_.neighbour(own[k], side);
      if (tile < 0 || tiling_.owner(tile) < 0) continue;
      const auto rim = static_cast<std::uint32_t>(4 * k + static_cast<std::size_t>(side));
      const int owner = tiling_.owner(tile);
      if (owner == comm_.rank()) {
        beyond_[rim] = own_number_.at(tile);
      } else {
        incoming[owner].emplace_back(Rim{own[k], side}, rim);
        outgoing[owner].emplace_back(Rim{tile, opposite(side)}, rim);
      }
    }
  for (auto& [rank, rims] : incoming) {
    Neighbour neighbour{rank, {}};
    std::ranges::sort(rims);
    for (const auto& rim : rims) neighbour.rims.push_back(rim.second);
    auto& sent = outgoing[rank];
    std::ranges::sort(sent);
    for (std::size_t n = 0; n < sent.size(); ++n) {
      beyond_[sent[n].second] = -2 - static_cast<std::int32_t>(remote_.size());
      remote_.push_back({static_cast<std::uint32_t>(neighbours_.size()), static_cast<std::uint32_t>(n)});
    }
    neighbours_.push_back(std::move(neighbour));
  }
}

void Eikonal::set_cells(std::size_t own_number, std::span<const Links> links, std::span<const float> steps) {
  const std::int64_t tile = tiling_.own()[own_number];
  const int width = tiling_.width(tile);
  const int height = tiling_.height(tile);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const std::size_t cell = static_cast<std::size_t>(row) * edge_ + static_cast<std::size_t>(column);
      const bool is_at_edge = column == 0 || row == 0 || column == width - 1 || row == height - 1;
      links_[place(own_number, column, row)] =
          static_cast<Links>((links[cell] & all_links) | (is_at_edge ? at_edge : 0));
    }
  set_steps(own_number, steps);
}

void Eikonal::set_steps(std::size_t own_number, std::span<const float> steps) {
  for (int row = 0; row < tiling_.edge(); ++row)
    for (int column = 0; column < tiling_.edge(); ++column)
      steps_[place(own_number, column, row)] =
          steps[static_cast<std::size_t>(row) * edge_ + static_cast<std::size_t>(column)];
}

void Eikonal::copy(std::uint32_t from, std::uint32_t to, Real delay) {
  if ((links_[to] & is_copy) != 0) return;
  links_[to] = static_cast<Links>((links_[to] & ~walkable_bit) | is_copy);
  links_[from] |= is_copied;
  copies_.emplace(from, Copy{to, delay});
  if (delay == 0) sources_.emplace(to, from);
}

void Eikonal::forget_copies() {
  for (const auto& [from, to] : copies_) {
    links_[to.place] = static_cast<Links>((links_[to.place] & ~is_copy) | walkable_bit);
    links_[from] = static_cast<Links>(links_[from] & ~is_copied);
  }
  copies_.clear();
  sources_.clear();
}

std::uint32_t Eikonal::source(std::uint32_t place) const {
  if ((links_[place] & is_copy) == 0) return place;
  const auto found = sources_.find(place);
  return found == sources_.end() ? place : found->second;
}

Eikonal::Spot Eikonal::spot(std::uint32_t place) const {
  const std::size_t own = place / area_;
  return {own, place % area_ % stride_, place % area_ / stride_, tiling_.own()[own]};
}

/// Whether a cell is the last one of its tile on a side.
bool Eikonal::is_last(const Spot& spot, Side side) const {
  switch (side) {
    case Side::left:
      return spot.column == 1;
    case Side::right:
      return spot.column == static_cast<std::size_t>(tiling_.width(spot.tile));
    case Side::lower:
      return spot.row == 1;
    default:
      return spot.row == static_cast<std::size_t>(tiling_.height(spot.tile));
  }
}

/// The cell of the own tile `beyond` next to a cell that is the last one on `side`.
std::uint32_t Eikonal::across(const Spot& spot, Side side, std::size_t beyond) const {
  const std::int64_t tile = tiling_.own()[beyond];
  const std::size_t column = side == Side::left    ? static_cast<std::size_t>(tiling_.width(tile))
                             : side == Side::right ? 1
                                                   : spot.column;
  const std::size_t row = side == Side::lower   ? static_cast<std::size_t>(tiling_.height(tile))
                          : side == Side::upper ? 1
                                                : spot.row;
  return static_cast<std::uint32_t>(beyond * area_ + row * stride_ + column);
}

/// The place beside a cell in its tile and the rim around it.
std::uint32_t Eikonal::beside(std::uint32_t place, Side side) const {
  const auto stride = static_cast<std::uint32_t>(stride_);
  return side == Side::left    ? place - 1
         : side == Side::right ? place + 1
         : side == Side::lower ? place - stride
                               : place + stride;
}

/// The place beside a cell, across the edge of its tile if need be; `outside` if that is not on this rank.
std::uint32_t Eikonal::step_to(std::uint32_t place, Side side) const {
  if ((links_[place] & at_edge) == 0) return beside(place, side);
  const Spot here = spot(place);
  if (!is_last(here, side)) return beside(place, side);
  const std::int32_t beyond = beyond_[4 * here.own + static_cast<std::size_t>(side)];
  return beyond < 0 ? outside : across(here, side, static_cast<std::size_t>(beyond));
}

Real Eikonal::step(const Field& field, std::uint32_t place) const {
  const auto s = static_cast<Real>(steps_[place]);
  if (paces_.empty()) return s;
  const auto& pace = paces_[&field - fields_.data()];
  return pace.empty() ? s : s * static_cast<Real>(pace[place / area_]);
}

Real Eikonal::from_neighbours(const Field& field, std::uint32_t place) const {
  const Links links = links_[place];
  const Real* time = field.time.data() + place;
  const auto over = [&](Side side, std::ptrdiff_t offset) {
    return (links & link_bit(side)) != 0 ? time[offset] : nowhere;
  };
  const auto row = static_cast<std::ptrdiff_t>(stride_);
  const Real a = std::min(over(Side::left, -1), over(Side::right, 1));
  const Real b = std::min(over(Side::lower, -row), over(Side::upper, row));
  return upwind_time(a, b, step(field, place));
}

void Eikonal::change(Field& field, std::uint32_t place, Real time) {
  field.time[place] = time;
  field.queue.push_back({time, place});
  std::ranges::push_heap(field.queue, std::greater<>());
  if ((links_[place] & is_copied) != 0)
    for (auto [at, end] = copies_.equal_range(place); at != end; ++at) {
      const auto [to, delay] = at->second;
      const Real old = field.time[to], then = time + delay;
      change(field, to, then);
      if (then > old) field.rising.push_back(to);
    }
  if ((links_[place] & at_edge) == 0) return;
  // The tiles beyond have a copy in their rims.
  const Spot here = spot(place);
  for (const Side side : all_sides) {
    if (!is_last(here, side)) continue;
    const std::int32_t beyond = beyond_[4 * here.own + static_cast<std::size_t>(side)];
    if (beyond >= 0)
      field.time[beside(across(here, side, static_cast<std::size_t>(beyond)), opposite(side))] = time;
    else if (beyond < -1)
      field.to_send.push_back(place);
  }
}

/// Finds the value of a cell again from those around it.
void Eikonal::revisit(Field& field, std::uint32_t place) {
  if ((links_[place] & is_copy) != 0) return;
  Real time = from_neighbours(field, place);
  if ((links_[place] & may_start) != 0) {
    const auto start = field.starts.find(place);
    if (start != field.starts.end()) time = std::min(time, start->second);
  }
  const Real old = field.time[place];
  if (time == old) return;
  change(field, place, time);
  if (time > old) field.rising.push_back(place);
}

void Eikonal::revisit_neighbours(Field& field, std::uint32_t place, bool larger_only) {
  for (const Side side : all_sides) {
    if ((links_[place] & link_bit(side)) == 0) continue;
    const std::uint32_t next = step_to(place, side);
    if (next == outside) continue;
    if (larger_only && field.time[next] <= field.time[place]) continue;
    revisit(field, next);
  }
}

void Eikonal::march(Field& field, Real limit) {
  while (!field.queue.empty() && field.queue.front().time <= limit) {
    const Pending min = field.queue.front();
    std::ranges::pop_heap(field.queue, std::greater<>());
    field.queue.pop_back();
    if (field.time[min.place] != min.time) continue;
    // A value that fell does not concern neighbours that are no larger: they did not use what was there.
    revisit_neighbours(field, min.place, true);
    while (!field.rising.empty()) {
      const std::uint32_t place = field.rising.back();
      field.rising.pop_back();
      revisit_neighbours(field, place, false);
    }
  }
}

void Eikonal::exchange() {
  std::vector<std::vector<RimValue>> out(neighbours_.size());
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    Field& field = fields_[f];
    std::ranges::sort(field.to_send);
    field.to_send.erase(std::unique(field.to_send.begin(), field.to_send.end()), field.to_send.end());
    for (const std::uint32_t place : field.to_send) {
      const Spot here = spot(place);
      for (const Side side : all_sides) {
        const std::int32_t beyond = beyond_[4 * here.own + static_cast<std::size_t>(side)];
        if (beyond >= -1 || !is_last(here, side)) continue;
        const std::size_t along = side == Side::left || side == Side::right ? here.row : here.column;
        const Remote& remote = remote_[-2 - beyond];
        out[remote.neighbour].push_back({field.time[place], static_cast<std::uint32_t>(f),
                                         static_cast<std::uint32_t>(remote.side * edge_ + along - 1)});
      }
    }
    field.to_send.clear();
  }

  constexpr int tag = 0x574159;
  std::vector<MPI_Request> requests(neighbours_.size(), MPI_REQUEST_NULL);
  for (std::size_t n = 0; n < neighbours_.size(); ++n)
    MPI_Isend(out[n].data(), static_cast<int>(out[n].size() * sizeof(RimValue)), MPI_BYTE,
              neighbours_[n].rank, tag, comm_.handle(), &requests[n]);
  std::vector<RimValue> arrived;
  for (const Neighbour& neighbour : neighbours_) {
    MPI_Status status;
    int n_bytes = 0;
    MPI_Probe(neighbour.rank, tag, comm_.handle(), &status);
    MPI_Get_count(&status, MPI_BYTE, &n_bytes);
    arrived.resize(static_cast<std::size_t>(n_bytes) / sizeof(RimValue));
    MPI_Recv(arrived.data(), n_bytes, MPI_BYTE, neighbour.rank, tag, comm_.handle(), MPI_STATUS_IGNORE);
    for (const RimValue& value : arrived) {
      const std::uint32_t rim = neighbour.rims[value.place / edge_];
      const std::size_t along = value.place % edge_ + 1;
      const std::size_t own = rim / 4;
      const auto side = static_cast<Side>(rim % 4);
      const std::int64_t tile = tiling_.own()[own];
      const std::size_t width = tiling_.width(tile);
      const std::size_t height = tiling_.height(tile);
      const std::size_t row = side == Side::lower ? 1 : side == Side::upper ? height : along;
      const std::size_t column = side == Side::left ? 1 : side == Side::right ? width : along;
      const auto cell = static_cast<std::uint32_t>(own * area_ + row * stride_ + column);
      Field& field = fields_[value.field];
      field.time[beside(cell, side)] = value.time;
      if ((links_[cell] & link_bit(side)) != 0) revisit(field, cell);
    }
  }
  const Waiting waiting;
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void Eikonal::find_band() {
  std::array<std::int64_t, 1> n_cells{0};
  std::array<Real, 1> sum{0};
  for (std::size_t i = 0; i < links_.size(); ++i)
    if ((links_[i] & walkable_bit) != 0) {
      ++n_cells[0];
      sum[0] += static_cast<Real>(steps_[i]);
    }
  comm_.sum(n_cells);
  comm_.sum_to_round_off(sum);
  const auto n = static_cast<Real>(std::max<std::int64_t>(n_cells[0], 1));
  band_ = comm_.max(band_in_tiles * static_cast<Real>(edge_) * sum[0] / n);
}

void Eikonal::solve(std::span<const std::vector<Start>> starts) {
  for (Links& links : links_) links = static_cast<Links>(links & ~may_start);
  fields_.resize(starts.size());
  for (std::size_t f = 0; f < starts.size(); ++f)
    for (const Start& start : starts[f]) links_[start.place] |= may_start;
  for (std::size_t f = 0; f < starts.size(); ++f) {
    Field& field = fields_[f];
    field.time.assign(links_.size(), nowhere);
    field.queue.clear();
    field.starts.clear();
    for (const Start& start : starts[f]) field.starts.emplace(start.place, start.time);
    for (const Start& start : starts[f]) change(field, start.place, start.time);
  }
  if (fields_.empty()) return;
  if (comm_.size() == 1) {
    for (Field& field : fields_) march(field, nowhere);
    return;
  }

  find_band();
  std::vector<Real> min(fields_.size());
  while (true) {
    // Values that wait for the next exchange count, though nothing here is left to be done with them.
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const Field& field = fields_[f];
      min[f] = field.queue.empty() ? nowhere : field.queue.front().time;
      for (const std::uint32_t place : field.to_send) min[f] = std::min(min[f], field.time[place]);
    }
    comm_.min(min);
    if (std::ranges::none_of(min, [](Real time) { return time < nowhere; })) break;
    for (std::size_t f = 0; f < fields_.size(); ++f) march(fields_[f], min[f] + band_);
    exchange();
  }
}

Vec<2> Eikonal::descent(std::size_t field, std::uint32_t place) const {
  const Real* time = fields_[field].time.data() + place;
  const Links links = links_[place];
  const Real here = *time;
  const auto along = [&](Side back, Side forth, std::ptrdiff_t offset) {
    const Real lower = (links & link_bit(back)) != 0 ? time[-offset] : nowhere;
    const Real upper = (links & link_bit(forth)) != 0 ? time[offset] : nowhere;
    const Real min = std::min(lower, upper);
    if (!(min < here)) return 0.0;
    return lower <= upper ? min - here : here - min;
  };
  if (!(here < nowhere)) return {};
  return {{along(Side::left, Side::right, 1),
           along(Side::lower, Side::upper, static_cast<std::ptrdiff_t>(stride_))}};
}

}  // namespace scree
