#include "replay/stored_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "replay/fclib_rigid.hpp"
#include "replay/round_form.hpp"

namespace scree {

template <int D>
LocalForm<D> blocks_of_delassus(const SparseShare& W) {
  struct Entry {
    Index column, row;
    std::size_t number;
    bool operator<(const Entry& other) const {
      return std::tie(column, row, number) < std::tie(other.column, other.row, other.number);
    }
  };
  std::vector<Entry> entries;
  entries.reserve(W.value.size());
  for (std::size_t e = 0; e < W.value.size(); ++e)
    entries.push_back({static_cast<Index>(W.column[e] / D), static_cast<Index>(W.row[e] / D), e});
  std::sort(entries.begin(), entries.end());

  LocalForm<D> form;
  form.column_first.assign(static_cast<std::size_t>(W.n_columns / D) + 1, 0);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Entry& entry = entries[k];
    if (k == 0 || entry.column != entries[k - 1].column || entry.row != entries[k - 1].row) {
      form.row.push_back(entry.row);
      form.block.resize(form.block.size() + D * D, 0.0);
      ++form.column_first[static_cast<std::size_t>(entry.column) + 1];
    }
    const std::size_t place = W.row[entry.number] % D * D + W.column[entry.number] % D;
    form.block[form.block.size() - D * D + place] += W.value[entry.number];
  }
  std::partial_sum(form.column_first.begin(), form.column_first.end(), form.column_first.begin());
  return form;
}

template <int D>
StoredProblem<D>::StoredProblem(const Comm& comm, const FclibProblem& problem, FclibOperator& in_operator,
                                Form form)
    : n_stretch_(problem.mu.values.size()) {
  std::vector<PetscInt> places;
  if (form == Form::local) {
    why_alone_ = "the local form was asked for";
  } else if (!problem.is_global) {
    why_alone_ = "the file is in local form";
  } else if (auto share = rigid_share<D>(comm, problem, &why_alone_)) {
    split_.emplace(comm, std::move(*share));
    take_round_form(split_->problem());
    places.assign(split_->contact_number().begin(), split_->contact_number().end());
  }
  if (!split_ && form == Form::global)
    throw InputError(fmt::format("{}: cannot be solved in global form: {}", problem.path, why_alone_));
  if (!split_) {
    share_errors(comm, [&] {
      if (!comm.is_root()) return;
      const Comm alone(MPI_COMM_SELF);
      const auto take = [&](FclibProblem local) {
        auto made = std::make_unique<LocalProblem<D>>(alone, blocks_of_delassus<D>(local.W),
                                                      std::move(local.q.values), std::move(local.mu.values));
        made->problem().time_step = local.time_step;
        made->problem().velocity_floor = local.velocity_floor;
        local_ = std::move(made);
      };
      if (comm.size() == 1) {
        take(in_operator.local_problem());
      } else {
        const FclibProblem whole = read_fclib(alone, problem.path);
        take(FclibOperator(alone, whole).local_problem());
      }
      places.resize(problem.n_contacts);
      std::iota(places.begin(), places.end(), PetscInt{0});
    });
  }
  n_contacts_ = places.size();

  PetscHandle<PetscLayout, PetscLayoutDestroy> stretches;
  SCREE_PETSC(PetscLayoutCreateFromSizes(comm.handle(), static_cast<PetscInt>(n_stretch_), PETSC_DETERMINE, 1,
                                         stretches.address()));
  SCREE_PETSC(PetscSFCreate(comm.handle(), contacts_.address()));
  SCREE_PETSC(PetscSFSetGraphLayout(contacts_.get(), stretches.get(), static_cast<PetscInt>(places.size()),
                                    nullptr, PETSC_OWN_POINTER, places.data()));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(D, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  *unit_.address() = type;
}

template <int D>
const FrictionProblem<D>* StoredProblem<D>::problem() const {
  if (split_) return &split_->problem();
  return local_ ? &local_->problem() : nullptr;
}

template <int D>
std::vector<Real> StoredProblem<D>::to_contacts(std::span<const Real> stretch) const {
  std::vector<Real> of_contacts(n_contacts_ * D);
  SCREE_PETSC(
      PetscSFBcastBegin(contacts_.get(), unit_.get(), stretch.data(), of_contacts.data(), MPI_REPLACE));
  SCREE_PETSC(PetscSFBcastEnd(contacts_.get(), unit_.get(), stretch.data(), of_contacts.data(), MPI_REPLACE));
  return of_contacts;
}

template <int D>
std::vector<Real> StoredProblem<D>::to_stretch(std::span<const Real> of_contacts) const {
  std::vector<Real> stretch(n_stretch_ * D);
  SCREE_PETSC(
      PetscSFReduceBegin(contacts_.get(), unit_.get(), of_contacts.data(), stretch.data(), MPI_REPLACE));
  SCREE_PETSC(
      PetscSFReduceEnd(contacts_.get(), unit_.get(), of_contacts.data(), stretch.data(), MPI_REPLACE));
  return stretch;
}

template LocalForm<2> blocks_of_delassus<2>(const SparseShare&);
template LocalForm<3> blocks_of_delassus<3>(const SparseShare&);
template class StoredProblem<2>;
template class StoredProblem<3>;

}  // namespace scree
