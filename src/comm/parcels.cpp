#include "comm/parcels.hpp"

#include <petscsys.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/petsc.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {
constexpr int parcel_tag = 7101;

constexpr std::size_t most_units = std::numeric_limits<int>::max();  // a message count is an int in MPI

/// Bytes that a parcel travels in units of: longer ones are padded.
std::size_t unit_of(std::size_t n_bytes) {
  constexpr std::size_t long_unit = 1024;
  if (n_bytes > most_units * long_unit) throw std::length_error("a message exceeds 2 TiB");
  return n_bytes > most_units ? long_unit : 1;
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
}  // namespace

std::vector<Parcel> deliver(const Comm& comm, std::vector<Parcel> outgoing) {
  if (comm.size() == 1) return outgoing;
  const Waiting waiting;
  const auto own = std::find_if(outgoing.begin(), outgoing.end(),
                                [&](const Parcel& parcel) { return parcel.rank == comm.rank(); });
  Parcel to_self;
  const bool has_own = own != outgoing.end();
  if (has_own) {
    to_self = std::move(*own);
    outgoing.erase(own);
  }

  std::vector<PetscMPIInt> to;
  std::vector<std::int64_t> sizes;
  for (const Parcel& parcel : outgoing) {
    to.push_back(parcel.rank);
    sizes.push_back(static_cast<std::int64_t>(parcel.bytes.size()));
  }
  PetscMPIInt n_from = 0;
  PetscMPIInt* from = nullptr;
  std::int64_t* from_sizes = nullptr;
  SCREE_PETSC(PetscCommBuildTwoSided(comm.handle(), 1, MPI_INT64_T, static_cast<PetscMPIInt>(to.size()),
                                     to.data(), sizes.data(), &n_from, &from,
                                     static_cast<void*>(&from_sizes)));

  std::vector<MPI_Request> requests;
  std::vector<Parcel> arrived(static_cast<std::size_t>(n_from));
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const auto n_bytes = static_cast<std::size_t>(from_sizes[i]);
    arrived[i].rank = from[i];
    arrived[i].bytes.resize(padded(n_bytes));
    start_message(n_bytes, [&](int count, MPI_Datatype type) {
      MPI_Irecv(arrived[i].bytes.data(), count, type, from[i], parcel_tag, comm.handle(),
                &requests.emplace_back());
    });
  }
  for (Parcel& parcel : outgoing) {
    const std::size_t n_bytes = parcel.bytes.size();
    parcel.bytes.resize(padded(n_bytes));
    start_message(n_bytes, [&](int count, MPI_Datatype type) {
      MPI_Isend(parcel.bytes.data(), count, type, parcel.rank, parcel_tag, comm.handle(),
                &requests.emplace_back());
    });
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < arrived.size(); ++i)
    arrived[i].bytes.resize(static_cast<std::size_t>(from_sizes[i]));
  PetscFree(from);
  PetscFree(from_sizes);
  if (has_own) arrived.push_back(std::move(to_self));
  std::sort(arrived.begin(), arrived.end(), [](const Parcel& p, const Parcel& q) { return p.rank < q.rank; });
  return arrived;
}

ExchangeVolume volume_of(std::span<const Parcel> outgoing) {
  ExchangeVolume volume;
  for (const Parcel& parcel : outgoing) {
    volume.messages += 2;
    volume.bytes += static_cast<std::int64_t>(sizeof(std::int64_t) + parcel.bytes.size());
  }
  return volume;
}

std::vector<Parcel> Outbox::deliver(const Comm& comm) {
  std::vector<Parcel> outgoing;
  for (auto& [rank, parcel] : parcels_) outgoing.push_back(std::move(parcel));
  parcels_.clear();
  return scree::deliver(comm, std::move(outgoing));
}

}  // namespace scree
