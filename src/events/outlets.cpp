#include "events/outlets.hpp"

#include <algorithm>

namespace scree {

template <int D>
void Outlets<D>::describe(Section& root) {
  root.tables("outlets", {.doc = "A region that deletes bodies and counts them."},
              [&](const std::string& name, Section& section) {
                Outlet outlet{name, {}};
                outlet.region.describe(
                    section, {.required = true,
                              .doc = "A body is deleted after the step that brings its centre into it."});
                if (section.reading()) outlets_.push_back(std::move(outlet));
              });
}

template <int D>
void Outlets<D>::prepare(State<D>& state) const {
  state.outlets.clear();
  for (const Outlet& outlet : outlets_) state.outlets.push_back({.name = outlet.name});
}

template <int D>
bool Outlets<D>::find(const State<D>& state, std::vector<Index>& staying) {
  staying.clear();
  taken_.resize(outlets_.size());
  for (std::vector<Index>& bodies : taken_) bodies.clear();
  if (outlets_.empty()) return false;
  for (Index i = 0; i < state.bodies.n_owned(); ++i) {
    const Vec<D> x = wrapped(state.box, state.bodies.position()[i]);
    const auto takes = [&](const Outlet& outlet) { return outlet.region.holds_image(state.box, x); };
    const auto outlet = std::ranges::find_if(outlets_, takes);
    if (outlet == outlets_.end())
      staying.push_back(i);
    else
      taken_[outlet - outlets_.begin()].push_back(i);
  }
  return state.comm.any(staying.size() < static_cast<std::size_t>(state.bodies.n_owned()));
}

template <int D>
void Outlets<D>::record(State<D>& state) const {
  for (std::size_t s = 0; s < outlets_.size(); ++s) {
    state.outlets[s].n_removed += state.comm.sum(static_cast<std::int64_t>(taken_[s].size()));
    if (!state.bodies.has_inertia()) continue;
    std::vector<Real> mass;
    for (const Index i : taken_[s]) mass.push_back(state.bodies.mass()[i]);
    state.outlets[s].mass += ReproducibleSum::sum(state.comm, mass);
  }
}

template class Outlets<2>;
template class Outlets<3>;

}  // namespace scree
