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

/// A message count is an int in MPI; longer parcels travel in units of 2^10 bytes with a padded end.
constexpr std::size_t unit = 1024;
int units(std::size_t n_bytes) {
  const std::size_t n = (n_bytes + unit - 1) / unit;
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::length_error("a message exceeds 2 TiB");
  return static_cast<int>(n);
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

  MPI_Datatype chunk = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &chunk);
  MPI_Type_commit(&chunk);
  std::vector<MPI_Request> requests;
  std::vector<Parcel> arrived(static_cast<std::size_t>(n_from));
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const int n = units(static_cast<std::size_t>(from_sizes[i]));
    arrived[i].rank = from[i];
    arrived[i].bytes.resize(static_cast<std::size_t>(n) * unit);
    MPI_Irecv(arrived[i].bytes.data(), n, chunk, from[i], parcel_tag, comm.handle(),
              &requests.emplace_back());
  }
  for (Parcel& parcel : outgoing) {
    const int n = units(parcel.bytes.size());
    parcel.bytes.resize(static_cast<std::size_t>(n) * unit);
    MPI_Isend(parcel.bytes.data(), n, chunk, parcel.rank, parcel_tag, comm.handle(),
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&chunk);
  for (std::size_t i = 0; i < arrived.size(); ++i)
    arrived[i].bytes.resize(static_cast<std::size_t>(from_sizes[i]));
  PetscFree(from);
  PetscFree(from_sizes);
  if (has_own) arrived.push_back(std::move(to_self));
  std::sort(arrived.begin(), arrived.end(), [](const Parcel& p, const Parcel& q) { return p.rank < q.rank; });
  return arrived;
}

std::vector<Parcel> Outbox::deliver(const Comm& comm) {
  std::vector<Parcel> outgoing;
  for (auto& [rank, parcel] : parcels_) outgoing.push_back(std::move(parcel));
  parcels_.clear();
  return scree::deliver(comm, std::move(outgoing));
}

}  // namespace scree
