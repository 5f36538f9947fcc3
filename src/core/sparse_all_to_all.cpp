#include "core/sparse_all_to_all.hpp"

#include <petscsys.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/petsc.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {
constexpr int message_tag = 7101;

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

/// Collective; no message is for this rank.
std::vector<PackedMessage> exchange_with_others(const Comm& comm,
                                                std::map<int, std::vector<std::byte>>& outgoing) {
  const Waiting waiting;
  std::vector<PetscMPIInt> to;
  std::vector<std::int64_t> sizes;
  for (const auto& [rank, bytes] : outgoing) {
    to.push_back(rank);
    sizes.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  PetscMPIInt n_from = 0;
  PetscMPIInt* from = nullptr;
  std::int64_t* from_sizes = nullptr;
  SCREE_PETSC(PetscCommBuildTwoSided(comm.handle(), 1, MPI_INT64_T, static_cast<PetscMPIInt>(to.size()),
                                     to.data(), sizes.data(), &n_from, &from,
                                     static_cast<void*>(&from_sizes)));

  std::vector<MPI_Request> requests;
  std::vector<PackedMessage> arrived(static_cast<std::size_t>(n_from));
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const auto n_bytes = static_cast<std::size_t>(from_sizes[i]);
    arrived[i].rank = from[i];
    arrived[i].bytes.resize(padded(n_bytes));
    start_message(n_bytes, [&](int count, MPI_Datatype type) {
      MPI_Irecv(arrived[i].bytes.data(), count, type, from[i], message_tag, comm.handle(),
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
  for (std::size_t i = 0; i < arrived.size(); ++i)
    arrived[i].bytes.resize(static_cast<std::size_t>(from_sizes[i]));
  PetscFree(from);
  PetscFree(from_sizes);
  std::ranges::sort(arrived, {}, &PackedMessage::rank);
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
