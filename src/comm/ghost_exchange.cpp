#include "comm/ghost_exchange.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "comm/migration.hpp"
#include "comm/parcels.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {

/// The blocks that touch the bodies of one block: entry `axes` is the block one step down along `axes`.
template <int D>
struct Touchers {
  std::array<int, std::size_t{1} << D> rank;  // -1: no such block
  std::array<int, std::size_t{1} << D> phase;
  bool shared = false;  // touched by more than one rank

  Touchers(const Domain& domain, const Lattice<D>& lattice, const Cell<D>& block) {
    for (unsigned axes = 0; axes < rank.size(); ++axes) {
      Cell<D> down;
      unsigned wrapped = 0;
      const bool exists = lattice.neighbour(block, axes, -1, down, wrapped);
      rank[axes] = exists ? domain.owner_of(lattice.key_of(down)) : -1;
      phase[axes] = exists ? lattice.phase_of(down) : -1;
      shared = shared || (exists && rank[axes] != rank[0]);
    }
  }
};

/// low_layers() of a cell given by its number within the block.
template <int D>
unsigned low_layers(const Lattice<D>& lattice, std::int32_t local) {
  unsigned mask = 0;
  for (std::size_t k = 0; k < D; ++k) {
    if (local % lattice.block_cells[k] == 0) mask |= 1U << k;
    local /= lattice.block_cells[k];
  }
  return mask;
}

constexpr bool contains(unsigned set, unsigned subset) {
  return (set & subset) == subset;
}

}  // namespace

template <int D>
GhostExchange<D>::GhostExchange(const Comm& comm) : comm_(comm) {}

template <int D>
GhostExchange<D>::~GhostExchange() {
  for (auto& [width, type] : types_) MPI_Type_free(&type);
}

template <int D>
MPI_Datatype GhostExchange<D>::type_of(int width) {
  const auto [entry, is_new] = types_.emplace(width, MPI_DATATYPE_NULL);
  if (is_new) {
    MPI_Type_contiguous(width, MPI_DOUBLE, &entry->second);
    MPI_Type_commit(&entry->second);
  }
  return entry->second;
}

template <int D>
void GhostExchange<D>::rebuild(const Domain& domain, const Lattice<D>& lattice, BlockTable<D>& table,
                               std::span<const Place> places, BodyStore<D>& bodies, ContactMemory& memory) {
  if (comm_.size() == 1) {
    travels_.assign(static_cast<std::size_t>(bodies.n_owned()), 0);
    return;
  }
  std::map<int, std::vector<Index>> wanted;
  for (const auto& block : table.blocks()) {
    const Touchers<D> touchers(domain, lattice, block.place);
    if (!touchers.shared) continue;
    for (Index i = block.first; i < block.last; ++i) {
      const unsigned low = low_layers(lattice, local_cell(places[static_cast<std::size_t>(i)]));
      for (unsigned axes = 1; axes < touchers.rank.size(); ++axes) {
        const int rank = touchers.rank[axes];
        if (!contains(low, axes) || rank < 0 || rank == comm_.rank()) continue;
        std::vector<Index>& list = wanted[rank];
        if (list.empty() || list.back() != i) list.push_back(i);
      }
    }
  }

  std::vector<Parcel> outgoing;
  for (const auto& [rank, which] : wanted) {
    Packer packer(outgoing.emplace_back(Parcel{rank, {}}).bytes);
    packer.put(static_cast<Index>(which.size()));
    packer.put(std::span<const Index>(which));
    pack_bodies(bodies, memory, which, true, packer);
  }
  home_.clear();
  // Parcels come in order of rank, ranks own ascending ranges of the curve, and each rank packed in storage
  // order: so the ghosts arrive sorted by (place, id), which is the order the block table needs.
  for (const Parcel& parcel : deliver(comm_, std::move(outgoing))) {
    Unpacker unpacker(parcel.bytes);
    const auto count = unpacker.take<Index>();
    std::vector<Index> slots(static_cast<std::size_t>(count));
    unpacker.take(std::span<Index>(slots));
    for (const Index slot : slots) home_.push_back({parcel.rank, slot});
    const Index first = bodies.n_held();
    bodies.resize(bodies.n_owned(), bodies.n_ghosts() + count);
    unpack_bodies(unpacker, first, count, true, bodies, memory);
  }

  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
  std::vector<Place> ghost_places;
  const std::span<const Vec<D>> ghost_positions = std::as_const(bodies).position().subspan(n_owned);
  find_places<D>(lattice, ghost_positions, ghost_places);
  table.add(lattice, ghost_positions, ghost_places, bodies.n_owned(), false);

  std::vector<PetscSFNode> roots(home_.size());
  std::vector<PetscInt> leaves(home_.size());
  for (std::size_t g = 0; g < home_.size(); ++g) {
    roots[g] = {home_[g].rank, home_[g].index};
    leaves[g] = static_cast<PetscInt>(n_owned + g);
  }
  SCREE_PETSC(PetscSFCreate(comm_.handle(), ghosts_.address()));
  SCREE_PETSC(PetscSFSetGraph(ghosts_.get(), bodies.n_owned(), static_cast<PetscInt>(leaves.size()),
                              leaves.data(), PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES));
  {
    const Waiting waiting;
    SCREE_PETSC(PetscSFSetUp(ghosts_.get()));
  }

  std::vector<Place> all_places(places.begin(), places.end());
  all_places.insert(all_places.end(), ghost_places.begin(), ghost_places.end());
  plan_hand_overs(domain, lattice, table, all_places, bodies);
}

template <int D>
void GhostExchange<D>::plan_hand_overs(const Domain& domain, const Lattice<D>& lattice,
                                       const BlockTable<D>& table, std::span<const Place> places,
                                       const BodyStore<D>& bodies) {
  struct HandOver {
    int peer;
    int stage;
    GlobalId id;
    Index body;
    bool operator<(const HandOver& other) const {
      return std::tie(peer, stage, id) < std::tie(other.peer, other.stage, other.id);
    }
  };
  std::vector<HandOver> sent, received;
  const int me = comm_.rank();
  travels_.assign(static_cast<std::size_t>(bodies.n_held()), 0);

  for (const auto& block : table.blocks()) {
    const Touchers<D> touchers(domain, lattice, block.place);
    if (!touchers.shared) continue;
    for (Index i = block.first; i < block.last; ++i) {
      const unsigned low = low_layers(lattice, local_cell(places[static_cast<std::size_t>(i)]));
      // Who touches the body, by phase; different touching blocks have different phases.
      std::array<int, std::size_t{Lattice<D>::n_phases}> toucher;
      toucher.fill(-1);
      for (unsigned axes = 0; axes < touchers.rank.size(); ++axes)
        if (contains(low, axes) && touchers.rank[axes] >= 0)
          toucher[static_cast<std::size_t>(touchers.phase[axes])] = touchers.rank[axes];
      const int home = touchers.rank[0];
      int holder = home;
      int stage = 0;
      const auto pass_on = [&](int next) {
        if (next == holder) return;
        const GlobalId id = bodies.id()[static_cast<std::size_t>(i)];
        if (holder == me) sent.push_back({next, stage, id, i});
        if (next == me) received.push_back({holder, stage, id, i});
        if (holder == me || next == me) travels_[static_cast<std::size_t>(i)] = 1;
        holder = next;
      };
      for (int phase = 0; phase < Lattice<D>::n_phases; ++phase) {
        if (toucher[static_cast<std::size_t>(phase)] < 0) continue;
        pass_on(toucher[static_cast<std::size_t>(phase)]);
        stage = phase + 1;
      }
      pass_on(home);
    }
  }
  std::sort(sent.begin(), sent.end());
  std::sort(received.begin(), received.end());

  // Both ends list the same bodies in the same order, so telling where each lies at the sender completes the
  // plan.
  std::vector<Parcel> outgoing;
  for (const HandOver& h : sent) {
    if (outgoing.empty() || outgoing.back().rank != h.peer) outgoing.push_back({h.peer, {}});
    Packer(outgoing.back().bytes).put(h.body);
  }
  std::array<std::vector<PetscInt>, static_cast<std::size_t>(n_stages)> leaves;
  std::array<std::vector<PetscSFNode>, static_cast<std::size_t>(n_stages)> roots;
  std::size_t next = 0;
  for (const Parcel& parcel : deliver(comm_, std::move(outgoing))) {
    Unpacker unpacker(parcel.bytes);
    for (; next < received.size() && received[next].peer == parcel.rank; ++next) {
      const auto stage = static_cast<std::size_t>(received[next].stage);
      leaves[stage].push_back(received[next].body);
      roots[stage].push_back({parcel.rank, unpacker.take<Index>()});
    }
    SCREE_ASSERT(unpacker.empty());
  }
  SCREE_ASSERT(next == received.size());

  std::array<std::int64_t, static_cast<std::size_t>(n_stages)> n_moved;
  for (std::size_t s = 0; s < n_moved.size(); ++s) n_moved[s] = static_cast<std::int64_t>(leaves[s].size());
  comm_.sum(n_moved);
  for (std::size_t s = 0; s < n_moved.size(); ++s) {
    stage_in_use_[s] = n_moved[s] > 0;
    if (!stage_in_use_[s]) continue;
    SCREE_PETSC(PetscSFCreate(comm_.handle(), stages_[s].address()));
    SCREE_PETSC(PetscSFSetGraph(stages_[s].get(), bodies.n_held(), static_cast<PetscInt>(leaves[s].size()),
                                leaves[s].data(), PETSC_COPY_VALUES, roots[s].data(), PETSC_COPY_VALUES));
    const Waiting waiting;
    SCREE_PETSC(PetscSFSetUp(stages_[s].get()));
  }
}

template <int D>
void GhostExchange<D>::copy_to_ghosts(std::span<Real> values, int width) {
  if (comm_.size() == 1) return;
  const Waiting waiting;
  const MPI_Datatype type = type_of(width);
  SCREE_PETSC(PetscSFBcastBegin(ghosts_.get(), type, values.data(), values.data(), MPI_REPLACE));
  SCREE_PETSC(PetscSFBcastEnd(ghosts_.get(), type, values.data(), values.data(), MPI_REPLACE));
}

template <int D>
void GhostExchange<D>::add_to_owners(std::span<std::int32_t> counts) {
  if (comm_.size() == 1) return;
  const Waiting waiting;
  SCREE_PETSC(PetscSFReduceBegin(ghosts_.get(), MPI_INT, counts.data(), counts.data(), MPI_SUM));
  SCREE_PETSC(PetscSFReduceEnd(ghosts_.get(), MPI_INT, counts.data(), counts.data(), MPI_SUM));
}

template <int D>
void GhostExchange<D>::add_to_owners(std::span<Real> values, int width) {
  if (comm_.size() == 1) return;
  const Waiting waiting;
  const MPI_Datatype type = type_of(width);
  SCREE_PETSC(PetscSFReduceBegin(ghosts_.get(), type, values.data(), values.data(), MPI_SUM));
  SCREE_PETSC(PetscSFReduceEnd(ghosts_.get(), type, values.data(), values.data(), MPI_SUM));
}

template <int D>
void GhostExchange<D>::min_to_owners(std::span<Real> values, int width) {
  if (comm_.size() == 1) return;
  const Waiting waiting;
  const MPI_Datatype type = type_of(width);
  SCREE_PETSC(PetscSFReduceBegin(ghosts_.get(), type, values.data(), values.data(), MPI_MIN));
  SCREE_PETSC(PetscSFReduceEnd(ghosts_.get(), type, values.data(), values.data(), MPI_MIN));
}

template <int D>
void GhostExchange<D>::begin_hand_over(int stage, std::span<Real> values, int width) {
  const auto s = static_cast<std::size_t>(stage);
  if (!stage_in_use_[s]) return;
  const Waiting waiting;
  SCREE_PETSC(PetscSFBcastBegin(stages_[s].get(), type_of(width), values.data(), values.data(), MPI_REPLACE));
}

template <int D>
void GhostExchange<D>::end_hand_over(int stage, std::span<Real> values, int width) {
  const auto s = static_cast<std::size_t>(stage);
  if (!stage_in_use_[s]) return;
  const Waiting waiting;
  SCREE_PETSC(PetscSFBcastEnd(stages_[s].get(), type_of(width), values.data(), values.data(), MPI_REPLACE));
}

template <int D>
ContactMemory GhostExchange<D>::bring_home(Index n_owned, std::span<const RememberedContact> contacts,
                                           int width) const {
  std::vector<RememberedContact> at_home;
  std::map<int, std::vector<RememberedContact>> away;
  for (RememberedContact contact : contacts) {
    if (contact.body < n_owned) {
      at_home.push_back(contact);
      continue;
    }
    const Home& home = home_[static_cast<std::size_t>(contact.body - n_owned)];
    contact.body = home.index;
    away[home.rank].push_back(contact);
  }
  std::vector<Parcel> outgoing;
  for (const auto& [rank, list] : away)
    Packer(outgoing.emplace_back(Parcel{rank, {}}).bytes).put(std::span<const RememberedContact>(list));
  for (const Parcel& parcel : deliver(comm_, std::move(outgoing))) {
    const std::size_t before = at_home.size();
    at_home.resize(before + parcel.bytes.size() / sizeof(RememberedContact));
    Unpacker(parcel.bytes).take(std::span<RememberedContact>(at_home).subspan(before));
  }
  return collect(n_owned, at_home, width);
}

template class GhostExchange<2>;
template class GhostExchange<3>;

}  // namespace scree
