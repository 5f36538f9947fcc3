#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "core/sparse_all_to_all.hpp"
#include "friction/dense_block.hpp"
#include "friction/wave_impact.hpp"
#include "schemes/nonsmooth/impact_record.hpp"

namespace scree {

/// Impacts that run through all bodies that touch (docs/method.md, eq. D.21-D.23): each cluster of contacts
/// that touch or close within the step, with one that is an impact, is resolved on the rank of its smallest
/// id.
template <int D>
class WaveImpacts : public ImpactRecord<D> {
 public:
  explicit WaveImpacts(Real elasticity) { rules_.elasticity = elasticity; }

  /// Clusters, until no impact is left: one may bring bodies to others within the step. Changes the
  /// velocities that the step starts with, ghosts included, and those without contacts alike. The same bits
  /// on any number of ranks. Collective; allocates where there are impacts.
  void add_to(const StepContacts<D>& step) {
    constexpr int max_rounds = 20;
    rules_.rest_speed = step.law.rest_speed;
    this->begin(step);
    reset(is_deferred_, step.contacts.size());
    for (int round = 0; round < max_rounds && find_clusters(step); ++round) resolve(step);
    this->end(step);
  }

 private:
  static constexpr int q = n_velocities<D>;
  using ImpactRecord<D>::done_;
  /// A contact, sent to where its cluster is resolved.
  struct Record {
    GlobalId cluster;
    std::array<GlobalId, 2> id;  ///< -1: none
    std::int64_t wall, point;    ///< of one pair, or of a body and an obstacle
    int sender;
    std::size_t contact;  ///< there
    std::array<std::array<Real, q>, 2> velocity;
    WaveContact<D> law;
  };
  /// What came of it, sent back.
  struct Result {
    std::size_t contact;
    bool is_deferred;  ///< to the contact problem
    std::array<std::array<Real, q>, 2> velocity;
    std::array<Real, D> impulse;
    Real normal, tangential;
  };
  /// Of each body, while clusters are found. Reals, as halos carry these.
  enum Mark : std::size_t { label, owner, is_hit, n_marks };
  enum class Part : char { none, member, impact };

  static Real normal_speed(const StepContacts<D>& step, std::size_t c) {
    return step.problem.normal_velocity(c, step.problem.start_velocity) + step.obstacle_velocity[c * D];
  }
  static bool is_member(const StepContacts<D>& step, std::size_t c) {
    return ImpactRecord<D>::closes(step, c, std::min(normal_speed(step, c), 0.0));
  }
  bool is_impact(const StepContacts<D>& step, std::size_t c) const {
    const Real speed = normal_speed(step, c);
    return !is_deferred_[c] && speed < -step.law.rest_speed && ImpactRecord<D>::closes(step, c, speed);
  }

  /// Marks what hangs together, by sweeps that hand the smallest id on. False on all ranks: there is no
  /// impact.
  bool find_clusters(const StepContacts<D>& step) {
    FrictionProblem<D>& problem = step.problem;
    const std::size_t n_local = problem.n_local();
    reset(marks_, n_local * n_marks);
    reset(part_, step.contacts.size());
    for (std::size_t i = 0; i < n_local; ++i) {
      marks_[i * n_marks + label] = static_cast<Real>(problem.body_id[i]);
      marks_[i * n_marks + owner] = step.state.comm.rank();
    }
    problem.halo->copy_to_ghosts(marks_, n_marks);
    std::int64_t n_changes = 0;
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      part_[c] = is_impact(step, c) ? Part::impact : is_member(step, c) ? Part::member : Part::none;
      n_changes += part_[c] == Part::impact;
    }
    if (step.state.comm.sum(n_changes) == 0) return false;
    const auto visit = [&](Index first, Index last) {
      for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c)
        if (part_[c] != Part::none) n_changes += join(problem, c, part_[c] == Part::impact);
    };
    do {
      n_changes = 0;
      run_sweep_colours(*problem.halo, problem.colour_first, problem.interior_first, marks_, n_marks, visit);
      n_changes = step.state.comm.sum(n_changes);
    } while (n_changes > 0);
    problem.halo->copy_to_ghosts(marks_, n_marks);
    return true;
  }
  /// Both bodies of a contact get the smaller label, with its owner, and are hit if one is.
  bool join(const FrictionProblem<D>& problem, std::size_t c, bool is_impact) {
    std::array<Real, n_marks> joined{HUGE_VAL, 0, is_impact ? 1.0 : 0.0};
    const std::array ends{problem.a[c], problem.b[c]};
    for (const Index end : ends) {
      if (end < 0) continue;
      const Real* mark = &marks_[static_cast<std::size_t>(end) * n_marks];
      if (mark[label] < joined[label]) joined[label] = mark[label], joined[owner] = mark[owner];
      joined[is_hit] = std::max(joined[is_hit], mark[is_hit]);
    }
    bool has_changed = false;
    for (const Index end : ends) {
      if (end < 0) continue;
      Real* mark = &marks_[static_cast<std::size_t>(end) * n_marks];
      has_changed |= !std::equal(joined.begin(), joined.end(), mark);
      std::ranges::copy(joined, mark);
    }
    return has_changed;
  }

  void resolve(const StepContacts<D>& step) {
    for (std::size_t c = 0, point = 0; c < step.contacts.size(); ++c) {
      point = c > 0 && step.contacts.same_pair(c - 1, step.contacts, c) ? point + 1 : 0;
      const Real* mark = mark_of(step.problem, c);
      if (part_[c] == Part::none || mark[is_hit] == 0) continue;
      outgoing_.to(static_cast<int>(mark[owner]))
          .put(record(step, c, static_cast<std::int64_t>(point), mark));
    }
    records_ = exchange_values<Record>(step.state.comm, outgoing_);
    sorted_.clear();
    for (const Record& r : records_) sorted_.push_back(&r);
    std::ranges::stable_sort(sorted_, {}, [](const Record* r) {
      return std::tuple(r->cluster, r->id[0], r->id[1], r->wall, r->point);
    });
    for (std::size_t first = 0, last = 0; first < sorted_.size(); first = last) {
      while (last < sorted_.size() && sorted_[last]->cluster == sorted_[first]->cluster) ++last;
      resolve(std::span(sorted_).subspan(first, last - first));
    }
    results_ = exchange_values<Result>(step.state.comm, outgoing_);
    take_back(step);
  }
  const Real* mark_of(const FrictionProblem<D>& problem, std::size_t c) const {
    const Index end = problem.a[c] >= 0 ? problem.a[c] : problem.b[c];
    return &marks_[static_cast<std::size_t>(end) * n_marks];
  }
  Record record(const StepContacts<D>& step, std::size_t c, std::int64_t point, const Real* mark) const {
    const FrictionProblem<D>& problem = step.problem;
    const auto ids = step.state.bodies.id();
    const ContactGraph<D>& contacts = step.contacts;
    Record r{};
    r.cluster = static_cast<GlobalId>(mark[label]);
    r.id[0] = ids[contacts.a[c]];
    r.id[1] = contacts.b[c] < 0 ? -1 : ids[contacts.b[c]];
    r.wall = contacts.wall[c];
    r.point = point;
    r.sender = step.state.comm.rank();
    r.contact = c;
    const std::array ends{problem.a[c], problem.b[c]};
    for (std::size_t side = 0; side < 2; ++side) {
      r.law.body[side] = ends[side] < 0 ? -1 : 0;
      if (ends[side] < 0) continue;
      const std::size_t body = ends[side];
      std::copy_n(&problem.start_velocity[body * q], q, r.velocity[side].begin());
      problem.find_rows(c, side, r.law.rows[side].data());
      const Real* mass = &problem.mass[body * q * q];
      for (std::size_t i = 0; i < D; ++i) {
        const Real* row = &r.law.rows[side][i * q];
        Real* move = &r.law.moves[side][i * q];
        if (!problem.is_round()) solve_block<q>(mass, row, move);
        for (std::size_t k = 0; k < q && problem.is_round(); ++k) move[k] = row[k] / mass[k * q + k];
      }
    }
    for (std::size_t i = 0; i < D; ++i) r.law.obstacle[i] = step.obstacle_velocity[c * D + i];
    r.law.friction = problem.mu[c];
    r.law.restitution = step.pair[c]->restitution;
    r.law.stiffness = step.pair[c]->impact_stiffness;
    return r;
  }
  /// One cluster, in order: what came of it goes back.
  void resolve(std::span<const Record* const> records) {
    ids_.clear();
    for (const Record* r : records)
      for (std::size_t side = 0; side < 2; ++side)
        if (r->law.body[side] >= 0) ids_.push_back(r->id[side]);
    std::ranges::sort(ids_);
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    reset(velocity_, ids_.size() * q);
    contacts_.clear();
    for (const Record* r : records) {
      WaveContact<D>& contact = contacts_.emplace_back(r->law);
      for (std::size_t side = 0; side < 2; ++side) {
        if (contact.body[side] < 0) continue;
        const auto place = std::ranges::lower_bound(ids_, r->id[side]) - ids_.begin();
        contact.body[side] = static_cast<int>(place);
        std::ranges::copy(r->velocity[side], velocity_.begin() + place * q);
      }
    }
    const bool is_deferred = !law_.run(rules_, contacts_, velocity_);
    for (std::size_t k = 0; k < records.size(); ++k) {
      const WaveContact<D>& contact = contacts_[k];
      Result result{records[k]->contact, is_deferred,    {},
                    contact.impulse,     contact.normal, contact.tangential};
      for (std::size_t side = 0; side < 2; ++side)
        if (contact.body[side] >= 0)
          std::copy_n(velocity_.begin() + contact.body[side] * q, q, result.velocity[side].begin());
      outgoing_.to(records[k]->sender).put(result);
    }
  }
  /// What came of the contacts of this rank. Their bodies get it in a sweep, as owners need not be here.
  void take_back(const StepContacts<D>& step) {
    FrictionProblem<D>& problem = step.problem;
    reset(result_of_, step.contacts.size());
    for (const Result& r : results_) {
      result_of_[r.contact] = &r;
      is_deferred_[r.contact] |= r.is_deferred ? 1 : 0;
      auto& done = done_[r.contact];
      for (std::size_t i = 0; i < D; ++i) done.impulse[i] += r.impulse[i];
      done.normal += r.normal;
      done.tangential += r.tangential;
    }
    const auto visit = [&](Index first, Index last) {
      for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c) {
        if (!result_of_[c]) continue;
        const auto& velocity = result_of_[c]->velocity;
        const std::array ends{problem.a[c], problem.b[c]};
        for (std::size_t side = 0; side < 2; ++side)
          if (ends[side] >= 0)
            std::ranges::copy(velocity[side],
                              &problem.start_velocity[static_cast<std::size_t>(ends[side]) * q]);
      }
    };
    run_sweep_colours(*problem.halo, problem.colour_first, problem.interior_first,
                      std::span<Real>(problem.start_velocity), q, visit);
    problem.halo->copy_to_ghosts(problem.start_velocity, q);
  }

  WaveRules rules_;
  WaveImpact<D> law_;
  std::vector<Real> marks_;        // n_marks of each local body
  std::vector<Part> part_;         // of each contact
  std::vector<char> is_deferred_;  // of each contact: to the contact problem
  Outgoing outgoing_;
  std::vector<Record> records_;
  std::vector<const Record*> sorted_;
  std::vector<Result> results_;
  std::vector<const Result*> result_of_;  // of each contact, null
  // Of one cluster.
  std::vector<GlobalId> ids_;
  std::vector<Real> velocity_;
  std::vector<WaveContact<D>> contacts_;
};

}  // namespace scree
