#include "events/sinks.hpp"

#include <algorithm>

namespace scree {

template <int D>
void Sinks<D>::describe(Section& root) {
  root.tables("sinks", {.doc = "A region that deletes bodies and counts them."},
              [&](const std::string& name, Section& section) {
                Sink sink{name, {}};
                sink.region.describe(
                    section, {.required = true,
                              .doc = "A body is deleted after the step that brings its centre into it."});
                if (section.reading()) sinks_.push_back(std::move(sink));
              });
}

template <int D>
void Sinks<D>::prepare(State<D>& state) const {
  state.sinks.clear();
  for (const Sink& sink : sinks_) state.sinks.push_back({.name = sink.name});
}

template <int D>
bool Sinks<D>::find(const State<D>& state, std::vector<Index>& staying) {
  staying.clear();
  taken_.resize(sinks_.size());
  for (std::vector<Index>& bodies : taken_) bodies.clear();
  if (sinks_.empty()) return false;
  for (Index i = 0; i < state.bodies.n_owned(); ++i) {
    const Vec<D> x = wrapped(state.box, state.bodies.position()[static_cast<std::size_t>(i)]);
    const auto takes = [&](const Sink& sink) {
      bool inside = false;
      for_each_image(state.box, x,
                     [&](const Vec<D>& image) { inside = inside || sink.region.holds(image, 0); });
      return inside;
    };
    const auto sink = std::ranges::find_if(sinks_, takes);
    if (sink == sinks_.end())
      staying.push_back(i);
    else
      taken_[static_cast<std::size_t>(sink - sinks_.begin())].push_back(i);
  }
  return state.comm.any(staying.size() < static_cast<std::size_t>(state.bodies.n_owned()));
}

template <int D>
void Sinks<D>::book(State<D>& state) const {
  for (std::size_t s = 0; s < sinks_.size(); ++s) {
    state.sinks[s].n_removed += state.comm.sum(static_cast<std::int64_t>(taken_[s].size()));
    if (!state.bodies.has_inertia()) continue;
    std::vector<Real> mass;
    for (const Index i : taken_[s]) mass.push_back(state.bodies.mass()[static_cast<std::size_t>(i)]);
    state.sinks[s].mass += ReproducibleSum::sum(state.comm, mass);
  }
}

template class Sinks<2>;
template class Sinks<3>;

}  // namespace scree
