#include "replay/split/body_directory.hpp"

#include <cstdlib>
#include <map>

#include "core/sparse_all_to_all.hpp"
#include "replay/split/index_set.hpp"

namespace scree::split {

namespace {

using PartitioningHandle = PetscHandle<MatPartitioning, MatPartitioningDestroy>;

/// For PETSc to keep and to free.
template <class T>
PetscInt* petsc_copy(const std::vector<T>& values) {
  PetscInt* copy = nullptr;
  using Allocate = PetscErrorCode (*)(int, PetscBool, int, const char*, const char*, std::size_t, void*, ...);
  SCREE_PETSC(reinterpret_cast<Allocate>(petsc_address("PetscMallocA"))(
      1, PETSC_FALSE, __LINE__, __func__, __FILE__, (values.size() + 1) * sizeof(PetscInt), &copy));
  std::transform(values.begin(), values.end(), copy, [](T x) { return static_cast<PetscInt>(x); });
  return copy;
}

/// The rank that each body of this rank's share goes to, such that ranks have about equal weights and few
/// edges between them. Collective.
std::vector<Index> partition(const Comm& comm, Number n_of_all, const std::vector<Index>& first,
                             const std::vector<Number>& neighbour, const std::vector<Number>& weight) {
  // Partitioners are known to fail on a handful of vertices per rank, where it does not matter who owns what.
  constexpr Number min_per_rank = 8;
  if (comm.size() == 1 || n_of_all < min_per_rank * comm.size())
    return std::vector<Index>(weight.size(), comm.rank());
  // Threads of PT-Scotch 7.0 communicate even where MPI was initialised for one thread, and then hang or
  // crash. One also finds the same partition every time.
  setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
  MatHandle graph;
  SCREE_PETSC(MatCreateMPIAdj(comm.handle(), static_cast<PetscInt>(weight.size()),
                              static_cast<PetscInt>(n_of_all), petsc_copy(first), petsc_copy(neighbour),
                              nullptr, graph.address()));
  PartitioningHandle partitioning;
  SCREE_PETSC(MatPartitioningCreate(comm.handle(), partitioning.address()));
  SCREE_PETSC(MatPartitioningSetAdjacency(partitioning.get(), graph.get()));
  SCREE_PETSC(MatPartitioningSetType(partitioning.get(), MATPARTITIONINGPTSCOTCH));
  SCREE_PETSC(MatPartitioningSetVertexWeights(partitioning.get(), petsc_copy(weight)));
  IsHandle rank;
  SCREE_PETSC(MatPartitioningApply(partitioning.get(), rank.address()));
  return values_of(rank);
}

}  // namespace

BodyDirectory::BodyDirectory(const Comm& comm, Number n_bodies, std::vector<BodyPair> pairs)
    : comm_(comm), n_bodies_(n_bodies), share_(comm, n_bodies), facts_(share_.size()) {
  struct Partner {
    Number body;
    Number partner;
    Number n_contacts;  // as the lower-numbered body, whose owner runs them
    bool operator<(const Partner& other) const {
      return std::tie(body, partner) < std::tie(other.body, other.partner);
    }
  };
  std::sort(pairs.begin(), pairs.end());
  Outgoing outgoing;
  for (auto pair = pairs.begin(); pair != pairs.end();) {
    const auto next = std::find_if(pair, pairs.end(), [&](const BodyPair& other) { return other != *pair; });
    const auto send = [&](Number body, Number partner, Number n_contacts) {
      outgoing.to(EvenShare::owner(n_bodies_, body, comm_.size())).put(Partner{body, partner, n_contacts});
    };
    send(pair->low, pair->high, next - pair);
    if (pair->high >= 0) send(pair->high, pair->low, 0);
    pair = next;
  }
  std::vector<Partner> partners = exchange_values<Partner>(comm_, outgoing);
  std::sort(partners.begin(), partners.end());

  std::vector<Number> weight(facts_.size(), 1);
  std::vector<Index> first(facts_.size() + 1, 0);
  std::vector<Number> neighbour;
  for (std::size_t k = 0; k < partners.size(); ++k) {
    const auto body = share_.at(partners[k].body);
    weight[body] += partners[k].n_contacts;
    if (k > 0 && !(partners[k - 1] < partners[k])) continue;
    ++facts_[body].n_partners;
    if (partners[k].partner < 0) continue;
    ++first[body + 1];
    neighbour.push_back(partners[k].partner);
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  const std::vector<Index> owner = partition(comm_, n_bodies_, first, neighbour, weight);
  for (std::size_t i = 0; i < facts_.size(); ++i) facts_[i].owner = owner[i];
}

std::vector<BodyFact> BodyDirectory::look_up(std::span<const Number> bodies) const {
  std::vector<BodyFact> facts(bodies.size());
  Outgoing questions;
  std::map<int, std::vector<std::size_t>> asked;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const int rank = EvenShare::owner(n_bodies_, bodies[i], comm_.size());
    if (rank == comm_.rank()) {
      facts[i] = facts_[share_.at(bodies[i])];
    } else {
      questions.to(rank).put(bodies[i]);
      asked[rank].push_back(i);
    }
  }
  Outgoing answers;
  for (const PackedMessage& message : questions.exchange(comm_)) {
    Packer packer = answers.to(message.rank);
    Unpacker unpacker(message.bytes);
    while (!unpacker.empty()) packer.put(facts_[share_.at(unpacker.take<Number>())]);
  }
  for (const PackedMessage& message : answers.exchange(comm_)) {
    Unpacker unpacker(message.bytes);
    for (const std::size_t i : asked[message.rank]) facts[i] = unpacker.take<BodyFact>();
  }
  return facts;
}

}  // namespace scree::split
