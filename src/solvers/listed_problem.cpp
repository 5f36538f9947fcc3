#include "solvers/listed_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>

#include "core/error.hpp"
#include "core/petsc.hpp"
#include "solvers/contact_rows.hpp"

namespace scree {

template <int D>
Index ListedProblem<D>::add_body(const Vec<D>& at, Real body_mass, std::span<const Real> inertia,
                                 std::span<const Real> velocity) {
  constexpr std::size_t n_rotations = q - D;
  position.push_back(at);
  const std::size_t first = mass.size();
  mass.resize(first + q * q, 0.0);
  for (std::size_t k = 0; k < D; ++k) mass[first + k * q + k] = body_mass;
  for (std::size_t i = 0; i < n_rotations; ++i)
    for (std::size_t j = 0; j < n_rotations; ++j)
      mass[first + (D + i) * q + D + j] = inertia[i * n_rotations + j];
  free_velocity.insert(free_velocity.end(), velocity.begin(), velocity.end());
  return n_bodies() - 1;
}

template <int D>
Index ListedProblem<D>::add_contact(Index body_a, Index body_b, const Vec<D>& point, const Vec<D>& normal,
                                    Real coefficient, Real normal_bias) {
  const auto directions = contact_frame<D>(normal);
  const auto add_rows = [&](Index body, Real sign) {
    for (const Vec<D>& f : directions) {
      const std::size_t first = jacobian.size();
      jacobian.resize(first + q, 0.0);
      if (body < 0) continue;
      write_contact_row<D>(f, point - position[static_cast<std::size_t>(body)], sign,
                           jacobian.data() + first);
    }
  };
  a.push_back(body_a);
  b.push_back(body_b);
  add_rows(body_a, -1);
  add_rows(body_b, 1);
  bias.push_back(normal_bias);
  bias.resize(bias.size() + D - 1, 0.0);
  mu.push_back(coefficient);
  return n_contacts() - 1;
}

namespace {

/// Throws InputError unless the lists can be indexed; FrictionProblem::validate() looks at the numbers.
template <int D>
void check(const ListedProblem<D>& whole) {
  constexpr std::size_t q = ListedProblem<D>::q;
  const std::size_t n_bodies = whole.position.size();
  const std::size_t n = whole.a.size();
  if (whole.mass.size() != n_bodies * q * q || whole.free_velocity.size() != n_bodies * q ||
      whole.b.size() != n || whole.jacobian.size() != n * 2 * D * q || whole.bias.size() != n * D ||
      whole.mu.size() != n || (!whole.compliance.empty() && whole.compliance.size() != n * 2))
    throw InputError("listed friction problem: its arrays do not fit each other");
  for (std::size_t i = 0; i < n_bodies; ++i)
    for (const Real x : whole.position[i].component)
      if (!std::isfinite(x))
        throw InputError(fmt::format("listed friction problem: the position of body {} is not finite", i));
  for (std::size_t c = 0; c < n; ++c) {
    const Index a = whole.a[c];
    const Index b = whole.b[c];
    if (a == b || std::min(a, b) < -1 || std::max(a, b) >= whole.n_bodies())
      throw InputError(
          fmt::format("listed friction problem: contact {} is between bodies {} and {}; valid are "
                      "two different numbers from -1 (static) to {}",
                      c, a, b, whole.n_bodies() - 1));
  }
}

/// Bodies in an order of which every stretch is compact in space, cut into one stretch per rank, by recursive
/// bisection across the longest extent. Costs O(n log^2 n).
template <int D>
class Bisection {
 public:
  std::vector<Index> order;        ///< bodies
  std::vector<std::size_t> first;  ///< rank k owns order[first[k], first[k + 1])

  Bisection(const std::vector<Vec<D>>& position, int n_ranks)
      : order(position.size()), first(static_cast<std::size_t>(n_ranks)), position_(position) {
    std::iota(order.begin(), order.end(), 0);
    share(0, order.size(), 0, first.size());
    first.push_back(order.size());
  }

 private:
  void share(std::size_t begin, std::size_t end, std::size_t rank, std::size_t n_ranks) {
    if (n_ranks == 1) {
      first[rank] = begin;
      sort(begin, end);
      return;
    }
    const std::size_t below = n_ranks / 2;
    const std::size_t middle = begin + (end - begin) * below / n_ranks;
    part(begin, middle, end);
    share(begin, middle, rank, below);
    share(middle, end, rank + below, n_ranks - below);
  }

  void sort(std::size_t begin, std::size_t end) {
    if (end - begin < 2) return;
    const std::size_t middle = begin + (end - begin) / 2;
    part(begin, middle, end);
    sort(begin, middle);
    sort(middle, end);
  }

  void part(std::size_t begin, std::size_t middle, std::size_t end) {
    if (begin == middle || middle == end) return;
    const std::span<Index> bodies = std::span(order).subspan(begin, end - begin);
    Vec<D> low = place(bodies[0]);
    Vec<D> high = low;
    for (const Index body : bodies)
      for (int k = 0; k < D; ++k) {
        low[k] = std::min(low[k], place(body)[k]);
        high[k] = std::max(high[k], place(body)[k]);
      }
    int longest = 0;
    for (int k = 1; k < D; ++k)
      if (high[k] - low[k] > high[longest] - low[longest]) longest = k;
    std::nth_element(bodies.begin(), bodies.begin() + static_cast<std::ptrdiff_t>(middle - begin),
                     bodies.end(), [&](Index i, Index j) {
                       return std::tuple(place(i)[longest], i) < std::tuple(place(j)[longest], j);
                     });
  }

  const Vec<D>& place(Index body) const { return position_[static_cast<std::size_t>(body)]; }
  const std::vector<Vec<D>>& position_;
};

/// All contacts of two bodies, or of one body with static ones. Pairs of one colour share no body.
struct Pair {
  Index low = 0;   ///< the lower-numbered of the bodies that move
  Index high = 0;  ///< the other, or -1
  int colour = 0;
  bool operator==(const Pair& other) const { return low == other.low && high == other.high; }
  bool operator<(const Pair& other) const { return std::tie(low, high) < std::tie(other.low, other.high); }
};

template <int D>
Pair pair_of(const ListedProblem<D>& whole, std::size_t contact) {
  const auto [low, high] = std::minmax(whole.a[contact], whole.b[contact]);
  return low < 0 ? Pair{high, low} : Pair{low, high};
}

/// The pairs in ascending order. Each gets the least colour that neither of its bodies has yet; pairs of
/// bodies with many partners choose first, which keeps the number of colours near the most partners.
template <int D>
std::vector<Pair> coloured_pairs(const ListedProblem<D>& whole) {
  std::vector<Pair> pairs(whole.a.size());
  for (std::size_t c = 0; c < pairs.size(); ++c) pairs[c] = pair_of(whole, c);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());

  std::vector<int> n_partners(whole.position.size());
  const auto partners = [&](const Pair& pair) {
    return pair.high < 0 ? 1
                         : std::max(n_partners[static_cast<std::size_t>(pair.low)],
                                    n_partners[static_cast<std::size_t>(pair.high)]);
  };
  for (const Pair& pair : pairs)
    for (const Index body : {pair.low, pair.high})
      if (body >= 0) ++n_partners[static_cast<std::size_t>(body)];
  std::vector<std::size_t> turn(pairs.size());
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  std::stable_sort(turn.begin(), turn.end(),
                   [&](std::size_t i, std::size_t j) { return partners(pairs[i]) > partners(pairs[j]); });

  std::vector<std::vector<bool>> taken(whole.position.size());
  const auto is_taken = [&](Index body, std::size_t colour) {
    if (body < 0) return false;
    const std::vector<bool>& of_body = taken[static_cast<std::size_t>(body)];
    return colour < of_body.size() && of_body[colour];
  };
  for (const std::size_t i : turn) {
    Pair& pair = pairs[i];
    std::size_t colour = 0;
    while (is_taken(pair.low, colour) || is_taken(pair.high, colour)) ++colour;
    pair.colour = static_cast<int>(colour);
    for (const Index body : {pair.low, pair.high}) {
      if (body < 0) continue;
      std::vector<bool>& of_body = taken[static_cast<std::size_t>(body)];
      if (of_body.size() <= colour) of_body.resize(colour + 1);
      of_body[colour] = true;
    }
  }
  return pairs;
}

}  // namespace

// Every rank knows the whole list, so each finds by itself what the others hold and send.
template <int D>
class SplitProblem<D>::Halo final : public BodyHalo {
 public:
  Halo(const Comm& comm, const Bisection<D>& shares, const std::vector<Pair>& pairs);
  ~Halo() override {
    for (auto& [width, type] : types_) MPI_Type_free(&type);
  }
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  const Comm& comm() const override { return comm_; }
  Index n_owned() const override { return n_owned_; }
  Index n_held() const override { return static_cast<Index>(held_.size()); }
  int n_phases() const override { return n_phases_; }
  void copy_to_ghosts(std::span<Real> values, int width) override {
    if (comm_.size() == 1) return;
    SCREE_PETSC(PetscSFBcastBegin(ghosts_.get(), type(width), values.data(), values.data(), MPI_REPLACE));
    SCREE_PETSC(PetscSFBcastEnd(ghosts_.get(), type(width), values.data(), values.data(), MPI_REPLACE));
  }
  void add_to_owners(std::span<Real> values, int width) override {
    if (comm_.size() == 1) return;
    SCREE_PETSC(PetscSFReduceBegin(ghosts_.get(), type(width), values.data(), values.data(), MPI_SUM));
    SCREE_PETSC(PetscSFReduceEnd(ghosts_.get(), type(width), values.data(), values.data(), MPI_SUM));
  }
  void begin_hand_over(int stage, std::span<Real> values, int width) override {
    const SfHandle& sf = stages_[static_cast<std::size_t>(stage)];
    if (!sf.get()) return;
    SCREE_PETSC(PetscSFBcastBegin(sf.get(), type(width), values.data(), values.data(), MPI_REPLACE));
  }
  void end_hand_over(int stage, std::span<Real> values, int width) override {
    const SfHandle& sf = stages_[static_cast<std::size_t>(stage)];
    if (!sf.get()) return;
    SCREE_PETSC(PetscSFBcastEnd(sf.get(), type(width), values.data(), values.data(), MPI_REPLACE));
  }

  /// Numbers in the list of the bodies held.
  const std::vector<Index>& held() const { return held_; }
  int owner(Index body) const { return owner_[static_cast<std::size_t>(body)]; }
  /// Where this rank holds a body; -1 for -1.
  Index place(Index body) const { return body < 0 ? -1 : place_on(comm_.rank(), body); }
  /// 1 if the live copy of this held body leaves or reaches this rank during a sweep.
  bool travels(Index held) const { return travels_[static_cast<std::size_t>(held)] != 0; }

 private:
  using Ghost = std::pair<int, Index>;  // rank, body

  Index place_on(int rank, Index body) const {
    if (owner(body) == rank) return slot_[static_cast<std::size_t>(body)];
    const auto of_rank = std::lower_bound(all_ghosts_.begin(), all_ghosts_.end(), Ghost{rank, 0});
    const auto at = std::lower_bound(of_rank, all_ghosts_.end(), Ghost{rank, body});
    return n_owned_by_[static_cast<std::size_t>(rank)] + static_cast<Index>(at - of_rank);
  }
  void plan_hand_overs(const std::vector<Pair>& pairs);
  void set_graph(SfHandle& sf, std::vector<PetscInt>& leaves, std::vector<PetscSFNode>& roots) {
    SCREE_PETSC(PetscSFCreate(comm_.handle(), sf.address()));
    SCREE_PETSC(PetscSFSetGraph(sf.get(), n_held(), static_cast<PetscInt>(leaves.size()), leaves.data(),
                                PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES));
    SCREE_PETSC(PetscSFSetUp(sf.get()));
  }
  MPI_Datatype type(int width) {
    const auto [found, is_new] = types_.try_emplace(width, MPI_DATATYPE_NULL);
    if (is_new) {
      MPI_Type_contiguous(width, MPI_DOUBLE, &found->second);
      MPI_Type_commit(&found->second);
    }
    return found->second;
  }

  Comm comm_;
  std::vector<int> owner_;         // of each body of the list
  std::vector<Index> slot_;        // where its owner holds it
  std::vector<Index> n_owned_by_;  // of each rank
  std::vector<Ghost> all_ghosts_;  // of all ranks, sorted
  Index n_owned_ = 0;
  int n_phases_ = 0;
  std::vector<Index> held_;
  std::vector<std::uint8_t> travels_;
  SfHandle ghosts_;
  std::vector<SfHandle> stages_;  // empty where nothing moves
  std::map<int, MPI_Datatype> types_;
};

template <int D>
SplitProblem<D>::Halo::Halo(const Comm& comm, const Bisection<D>& shares, const std::vector<Pair>& pairs)
    : comm_(comm), owner_(shares.order.size()), slot_(shares.order.size()) {
  for (std::size_t rank = 0; rank + 1 < shares.first.size(); ++rank) {
    n_owned_by_.push_back(static_cast<Index>(shares.first[rank + 1] - shares.first[rank]));
    for (std::size_t k = shares.first[rank]; k < shares.first[rank + 1]; ++k) {
      const auto body = static_cast<std::size_t>(shares.order[k]);
      owner_[body] = static_cast<int>(rank);
      slot_[body] = static_cast<Index>(k - shares.first[rank]);
    }
  }
  for (const Pair& pair : pairs) {
    n_phases_ = std::max(n_phases_, pair.colour + 1);
    if (pair.high >= 0 && owner(pair.high) != owner(pair.low))
      all_ghosts_.emplace_back(owner(pair.low), pair.high);
  }
  std::sort(all_ghosts_.begin(), all_ghosts_.end());
  all_ghosts_.erase(std::unique(all_ghosts_.begin(), all_ghosts_.end()), all_ghosts_.end());

  const auto me = static_cast<std::size_t>(comm_.rank());
  n_owned_ = n_owned_by_[me];
  held_.assign(shares.order.begin() + static_cast<std::ptrdiff_t>(shares.first[me]),
               shares.order.begin() + static_cast<std::ptrdiff_t>(shares.first[me + 1]));
  std::vector<PetscInt> leaves;
  std::vector<PetscSFNode> roots;
  for (const auto& [rank, body] : all_ghosts_) {
    if (rank != comm_.rank()) continue;
    leaves.push_back(n_held());
    roots.push_back({owner(body), slot_[static_cast<std::size_t>(body)]});
    held_.push_back(body);
  }
  travels_.assign(held_.size(), 0);
  stages_.resize(static_cast<std::size_t>(n_phases_) + 1);
  if (comm_.size() == 1) return;
  set_graph(ghosts_, leaves, roots);
  plan_hand_overs(pairs);
}

template <int D>
void SplitProblem<D>::Halo::plan_hand_overs(const std::vector<Pair>& pairs) {
  struct Touch {
    Index body;
    int phase;
    int rank;
    bool operator<(const Touch& other) const {
      return std::tie(body, phase) < std::tie(other.body, other.phase);
    }
  };
  std::vector<Touch> touches;
  for (const Pair& pair : pairs)
    for (const Index body : {pair.low, pair.high})
      if (body >= 0) touches.push_back({body, pair.colour, owner(pair.low)});
  std::sort(touches.begin(), touches.end());

  std::vector<std::vector<PetscInt>> leaves(stages_.size());
  std::vector<std::vector<PetscSFNode>> roots(stages_.size());
  std::vector<std::uint8_t> in_use(stages_.size(), 0);
  const int me = comm_.rank();
  const auto pass_on = [&](Index body, std::size_t stage, int from, int to) {
    if (from == to) return;
    in_use[stage] = 1;
    if (from == me || to == me) travels_[static_cast<std::size_t>(place_on(me, body))] = 1;
    if (to != me) return;
    leaves[stage].push_back(place_on(me, body));
    roots[stage].push_back({from, place_on(from, body)});
  };
  for (std::size_t k = 0; k < touches.size();) {
    const Index body = touches[k].body;
    int holder = owner(body);
    std::size_t stage = 0;
    for (; k < touches.size() && touches[k].body == body; ++k) {
      pass_on(body, stage, holder, touches[k].rank);
      holder = touches[k].rank;
      stage = static_cast<std::size_t>(touches[k].phase) + 1;
    }
    pass_on(body, stage, holder, owner(body));
  }
  for (std::size_t s = 0; s < stages_.size(); ++s)
    if (in_use[s]) set_graph(stages_[s], leaves[s], roots[s]);
}

template <int D>
SplitProblem<D>::SplitProblem(const Comm& comm, const ListedProblem<D>& whole)
    : n_bodies_of_all_(whole.n_bodies()), n_contacts_of_all_(whole.n_contacts()) {
  constexpr std::size_t q = ListedProblem<D>::q;
  check(whole);
  const std::vector<Pair> pairs = coloured_pairs(whole);
  halo_ = std::make_unique<Halo>(comm, Bisection<D>(whole.position, comm.size()), pairs);
  const auto append = [](std::vector<Real>& to, const std::vector<Real>& from, Index i, std::size_t width) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
  };
  for (const Index body : halo_->held()) {
    problem_.body_id.push_back(body);
    append(problem_.mass, whole.mass, body, q * q);
    append(problem_.free_velocity, whole.free_velocity, body, q);
  }

  // The order of a sweep: by phase, contacts of travelling bodies first, then as bodies lie in memory.
  struct Visit {
    int phase;
    bool is_interior;
    Index place;
    Index contact;
    bool operator<(const Visit& other) const {
      return std::tie(phase, is_interior, place, contact) <
             std::tie(other.phase, other.is_interior, other.place, other.contact);
    }
  };
  std::vector<Visit> visits;
  for (Index c = 0; c < whole.n_contacts(); ++c) {
    const Pair pair =
        *std::lower_bound(pairs.begin(), pairs.end(), pair_of(whole, static_cast<std::size_t>(c)));
    if (halo_->owner(pair.low) != comm.rank()) continue;
    const Index low = halo_->place(pair.low);
    const Index high = halo_->place(pair.high);
    const bool is_interior = !halo_->travels(low) && (high < 0 || !halo_->travels(high));
    visits.push_back({pair.colour, is_interior, low, c});
  }
  std::sort(visits.begin(), visits.end());
  problem_.phase_first.assign(static_cast<std::size_t>(halo_->n_phases()) + 1, 0);
  problem_.interior_first.assign(static_cast<std::size_t>(halo_->n_phases()), 0);
  for (const Visit& visit : visits) {
    const auto phase = static_cast<std::size_t>(visit.phase);
    const auto c = static_cast<std::size_t>(visit.contact);
    ++problem_.phase_first[phase + 1];
    if (!visit.is_interior) ++problem_.interior_first[phase];
    contact_number_.push_back(visit.contact);
    problem_.a.push_back(halo_->place(whole.a[c]));
    problem_.b.push_back(halo_->place(whole.b[c]));
    problem_.mu.push_back(whole.mu[c]);
    append(problem_.jacobian, whole.jacobian, visit.contact, 2 * D * q);
    append(problem_.bias, whole.bias, visit.contact, D);
    if (!whole.compliance.empty()) append(problem_.compliance, whole.compliance, visit.contact, 2);
  }
  for (std::size_t p = 0; p < problem_.interior_first.size(); ++p) {
    problem_.phase_first[p + 1] += problem_.phase_first[p];
    problem_.interior_first[p] += problem_.phase_first[p];
  }
  problem_.time_step = whole.time_step;
  problem_.velocity_floor = whole.velocity_floor;
  problem_.halo = halo_.get();
}

template <int D>
SplitProblem<D>::~SplitProblem() = default;

namespace {

/// Puts rows of all ranks in place. Added as integers over zeros, so that every bit arrives.
std::vector<Real> gather(const Comm& comm, std::span<const Index> number, std::span<const Real> values,
                         int width, Index n_of_all) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<std::int64_t> bits(static_cast<std::size_t>(n_of_all) * w, 0);
  for (std::size_t i = 0; i < number.size(); ++i)
    for (std::size_t k = 0; k < w; ++k)
      bits[static_cast<std::size_t>(number[i]) * w + k] = std::bit_cast<std::int64_t>(values[i * w + k]);
  comm.sum(bits);
  std::vector<Real> all(bits.size());
  std::transform(bits.begin(), bits.end(), all.begin(),
                 [](std::int64_t b) { return std::bit_cast<Real>(b); });
  return all;
}

}  // namespace

template <int D>
std::vector<Real> SplitProblem<D>::gather_contacts(std::span<const Real> values, int width) const {
  return gather(halo_->comm(), contact_number_, values, width, n_contacts_of_all_);
}

template <int D>
std::vector<Real> SplitProblem<D>::gather_bodies(std::span<const Real> values, int width) const {
  const auto owned = std::span(halo_->held()).first(static_cast<std::size_t>(halo_->n_owned()));
  return gather(halo_->comm(), owned, values, width, n_bodies_of_all_);
}

template struct ListedProblem<2>;
template struct ListedProblem<3>;
template class SplitProblem<2>;
template class SplitProblem<3>;

}  // namespace scree
