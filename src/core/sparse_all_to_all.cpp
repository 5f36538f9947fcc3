#include "core/sparse_all_to_all.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/timing.hpp"

namespace scree {

namespace {
constexpr int message_tag = 7101, size_tag = 7102;

constexpr std::size_t max_units = std::numeric_limits<int>::max();  // a message count is an int in MPI

/// Bytes per element of a message: long messages are padded.
std::size_t unit_of(std::size_t n_bytes) {
  constexpr std::size_t long_unit = 1024;
  if (n_bytes > max_units * long_unit) throw std::length_error("a message exceeds 2 TiB");
  return n_bytes > max_units ? long_unit : 1;
}
std::size_t padded(std::size_t n_bytes) {
  const std::size_t unit = unit_of(n_bytes);
  return (n_bytes + unit - 1) / unit * unit;
}

/// start(count, type) with the bytes as elements of an MPI type.
template <class Start>
void start_message(std::size_t n_bytes, Start&& start) {
  const std::size_t unit = unit_of(n_bytes);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  start(static_cast<int>(padded(n_bytes) / unit), type);
  MPI_Type_free(&type);  // lives on as long as the message
}

/// What other ranks say to this one: of each that says something, its rank and the number. `to`: the same of
/// this rank. No rank knows who speaks to it: each listens until all know that they were heard (T. Hoefler,
/// C. Siebert, A. Lumsdaine, PPoPP 2010, algorithm NBX). Collective.
std::vector<std::pair<int, std::int64_t>> heard(const Comm& comm,
                                                const std::vector<std::pair<int, std::int64_t>>& to) {
  std::vector<std::pair<int, std::int64_t>> from;
  std::vector<MPI_Request> said(to.size());
  for (std::size_t i = 0; i < to.size(); ++i)
    // NOLINTNEXTLINE(mpi-type-mismatch): std::int64_t is long here
    MPI_Issend(&to[i].second, 1, MPI_INT64_T, to[i].first, size_tag, comm.handle(), &said[i]);
  MPI_Request all_heard = MPI_REQUEST_NULL;
  for (int is_over = 0; !is_over;) {
    int speaks = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, size_tag, comm.handle(), &speaks, &status);
    if (speaks) {
      auto& [rank, number] = from.emplace_back(status.MPI_SOURCE, 0);
      MPI_Recv(&number, 1, MPI_INT64_T, rank, size_tag, comm.handle(), MPI_STATUS_IGNORE);
    } else if (all_heard != MPI_REQUEST_NULL) {
      MPI_Test(&all_heard, &is_over, MPI_STATUS_IGNORE);
    } else {
      int is_heard = 0;
      MPI_Testall(static_cast<int>(said.size()), said.data(), &is_heard, MPI_STATUSES_IGNORE);
      if (is_heard) MPI_Ibarrier(comm.handle(), &all_heard);
    }
  }
  // Nobody may say something new before all have stopped to listen.
  MPI_Barrier(comm.handle());
  std::ranges::sort(from);
  return from;
}

/// Collective; no message is for this rank.
std::vector<PackedMessage> exchange_with_others(const Comm& comm,
                                                std::map<int, std::vector<std::byte>>& outgoing) {
  const Waiting waiting;
  std::vector<std::pair<int, std::int64_t>> sizes;
  for (const auto& [rank, bytes] : outgoing)
    sizes.emplace_back(rank, static_cast<std::int64_t>(bytes.size()));
  sizes = heard(comm, sizes);

  std::vector<MPI_Request> requests;
  std::vector<PackedMessage> arrived(sizes.size());
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const std::size_t n_bytes = sizes[i].second;
    arrived[i].rank = sizes[i].first;
    arrived[i].bytes.resize(padded(n_bytes));
    start_message(n_bytes, [&](int count, MPI_Datatype type) {
      MPI_Irecv(arrived[i].bytes.data(), count, type, arrived[i].rank, message_tag, comm.handle(),
                &requests.emplace_back());
    });
  }
  for (auto& [rank, bytes] : outgoing) {
    const std::size_t n_bytes = bytes.size();
    bytes.resize(padded(n_bytes));
    start_message(n_bytes, [&, to = rank, data = bytes.data()](int count, MPI_Datatype type) {
      MPI_Isend(data, count, type, to, message_tag, comm.handle(), &requests.emplace_back());
    });
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < arrived.size(); ++i) arrived[i].bytes.resize(sizes[i].second);
  return arrived;
}
}  // namespace

std::size_t Outgoing::n_bytes() const {
  std::size_t n = 0;
  for (const auto& [rank, bytes] : bytes_) n += bytes.size();
  return n;
}

std::vector<PackedMessage> Outgoing::exchange(const Comm& comm) {
  std::map<int, std::vector<std::byte>> outgoing = std::exchange(bytes_, {});
  auto own = outgoing.extract(comm.rank());
  std::vector<PackedMessage> arrived;
  if (comm.size() > 1) arrived = exchange_with_others(comm, outgoing);
  if (own)
    arrived.insert(std::ranges::lower_bound(arrived, comm.rank(), {}, &PackedMessage::rank),
                   {comm.rank(), std::move(own.mapped())});
  return arrived;
}

}  // namespace scree
