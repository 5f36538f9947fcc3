#include "app/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "io/array_file.hpp"

namespace scree {

namespace {

constexpr const char* checkpoint_kind = "scree checkpoint";
constexpr std::int64_t checkpoint_version = 4;
constexpr const char* ending = ".scree";

/// The number type and count that a field is stored with.
template <class T>
struct Stored {
  using Number = T;
  static constexpr int components = 1;
};
template <int D>
struct Stored<Vec<D>> {
  using Number = Real;
  static constexpr int components = D;
};
template <class N, std::size_t n>
struct Stored<std::array<N, n>> {
  using Number = N;
  static constexpr int components = static_cast<int>(n);
};

template <class T>
Column column_of(std::string_view name, std::string_view unit, std::span<const T> values) {
  using Number = typename Stored<T>::Number;
  const std::span<const Number> numbers(reinterpret_cast<const Number*>(values.data()),
                                        values.size() * Stored<T>::components);
  return {std::string(name), std::string(unit), Stored<T>::components, numbers};
}

/// Numbers of a lattice by name.
template <class L, class F>
void for_each_lattice_number(L& lattice, F&& f) {
  for (std::size_t k = 0; k < lattice.n_cells.size(); ++k) {
    const char axis = "xyz"[k];
    f(fmt::format("lattice_origin_{}", axis), lattice.origin[static_cast<int>(k)]);
    f(fmt::format("lattice_cell_edge_{}", axis), lattice.cell_edge[static_cast<int>(k)]);
    f(fmt::format("lattice_cells_{}", axis), lattice.n_cells[k]);
    f(fmt::format("lattice_block_cells_{}", axis), lattice.block_cells[k]);
    f(fmt::format("lattice_blocks_{}", axis), lattice.n_blocks[k]);
  }
  f(std::string("lattice_skin"), lattice.skin);
}

/// Numbers of feeders, sinks and stages by name.
template <class S, class F>
void for_each_event_number(S& state, F&& f) {
  for (std::size_t i = 0; i < state.feeders.size(); ++i) {
    f(fmt::format("feeder_{}_made", i), state.feeders[i].n_made);
    f(fmt::format("feeder_{}_dropped", i), state.feeders[i].n_dropped);
    f(fmt::format("feeder_{}_tries", i), state.feeders[i].n_tries);
  }
  for (std::size_t i = 0; i < state.sinks.size(); ++i) {
    f(fmt::format("sink_{}_removed", i), state.sinks[i].n_removed);
    f(fmt::format("sink_{}_mass", i), state.sinks[i].mass);
    f(fmt::format("sink_{}_shut", i), state.sinks[i].is_shut);
  }
  f(std::string("stage_index"), state.stage.index);
  f(std::string("stage_begin"), state.stage.begin);
}

/// Numbers of measures by name.
template <class F>
void for_each_measured(const std::vector<MeasureMemory>& measures, F&& f) {
  for (const auto& [name, numbers] : measures)
    for (std::size_t i = 0; i < numbers.size(); ++i) f(fmt::format("measure_{}_{}", name, i), numbers[i]);
}

std::vector<std::filesystem::path> checkpoints_in(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ending) found.push_back(entry.path());
  std::sort(found.begin(), found.end());  // zero-padded steps: the latest last
  return found;
}

}  // namespace

template <int D>
void write_checkpoint(const State<D>& state, const std::string& path, const std::string& run_name,
                      const std::string& deck, const files::Texts& provenance,
                      const std::vector<MeasureMemory>& measures) {
  Scope timer("checkpoint");
  const Comm& comm = state.comm;
  const BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());

  ArrayFileWriter file(comm, path, checkpoint_kind, checkpoint_version);
  file.number("dimension", std::int64_t{D});
  file.number("step", state.clock.step);
  file.number("time", state.clock.time);
  file.number("last_dt", state.clock.last_dt);
  file.number("listed_time", state.clock.listed_time);
  file.number("next_id", state.next_id);
  EnergyLedger::for_each(
      state.ledger, [&](const char* name, Real value) { file.number(std::string("energy_") + name, value); });
  for_each_lattice_number(state.lattice, [&](const std::string& name, auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      file.number(name, value);
    else
      file.number(name, std::int64_t{value});
  });

  for_each_event_number(state, [&](const std::string& name, auto value) { file.number(name, value); });
  for_each_measured(measures, [&](const std::string& name, Real value) { file.number(name, value); });

  const IdOrder by_id(comm, bodies.id().first(n));
  bodies.for_each_field([&](const FieldInfo& info, const auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    if (info.saved) file.array(column_of(info.name, info.unit, std::span<const T>(values).first(n)), by_id);
  });

  // What contacts remember: per body in the order of ids, within a body by partner. The rows get unique,
  // ordered keys.
  std::vector<std::int32_t> counts(n);
  std::vector<GlobalId> keys, others;
  std::vector<Real> values;
  std::int64_t most = 0;
  const auto width = static_cast<std::size_t>(state.memory.width);
  for (std::size_t i = 0; i < n; ++i) {
    counts[i] = state.memory.start[i + 1] - state.memory.start[i];
    most = std::max<std::int64_t>(most, counts[i]);
  }
  most = comm.max(most);
  std::vector<std::size_t> row;
  for (std::size_t i = 0; i < n; ++i) {
    row.resize(static_cast<std::size_t>(counts[i]));
    std::iota(row.begin(), row.end(), static_cast<std::size_t>(state.memory.start[i]));
    std::sort(row.begin(), row.end(),
              [&](std::size_t p, std::size_t q) { return state.memory.other[p] < state.memory.other[q]; });
    for (std::size_t k = 0; k < row.size(); ++k) {
      keys.push_back(bodies.id()[i] * most + static_cast<GlobalId>(k));
      others.push_back(state.memory.other[row[k]]);
      values.insert(values.end(), state.memory.value.begin() + static_cast<std::ptrdiff_t>(row[k] * width),
                    state.memory.value.begin() + static_cast<std::ptrdiff_t>((row[k] + 1) * width));
    }
  }
  file.array(column_of("memory_count", "-", std::span<const std::int32_t>(counts)), by_id);
  const IdOrder by_key(comm, keys);
  file.array(column_of("memory_other", "-", std::span<const GlobalId>(others)), by_key);
  file.number("memory_width", static_cast<std::int64_t>(width));
  // What is remembered, and in which unit, is up to the scheme and its friction.
  file.array({"memory_value", "-", static_cast<int>(width), std::span<const Real>(values)}, by_key);

  file.provenance("run_name", run_name);
  file.provenance("deck", deck);
  for (const auto& [name, text] : provenance) file.provenance(name, text);
  file.commit();
}

CheckpointHead read_checkpoint_head(const Comm& comm, const std::string& path) {
  const ArrayFileReader file(comm, path, checkpoint_kind, checkpoint_version);
  CheckpointHead head;
  head.dimension = static_cast<int>(file.integer("dimension"));
  head.step = file.integer("step");
  head.time = file.real("time");
  for (const auto& [name, text] : file.provenance()) {
    if (name == "deck") head.deck = text;
    if (name == "run_name") head.run_name = text;
    if (name == "deck_folder") head.deck_folder = text;
  }
  if (head.deck.empty() || (head.dimension != 2 && head.dimension != 3))
    throw InputError(path + ": the checkpoint holds no deck");
  return head;
}

template <int D>
void read_checkpoint(State<D>& state, const std::string& path, const std::vector<MeasureMemory>& measures) {
  Scope timer("read checkpoint");
  const Comm& comm = state.comm;
  const ArrayFileReader file(comm, path, checkpoint_kind, checkpoint_version);
  state.clock.step = file.integer("step");
  state.clock.time = file.real("time");
  state.clock.last_dt = file.real("last_dt");
  state.clock.listed_time = file.real("listed_time");
  state.next_id = file.integer("next_id");
  EnergyLedger::for_each(
      state.ledger, [&](const char* name, Real& value) { value = file.real(std::string("energy_") + name); });
  for_each_lattice_number(state.lattice, [&](const std::string& name, auto& value) {
    using N = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_floating_point_v<N>)
      value = file.real(name);
    else
      value = static_cast<N>(file.integer(name));
  });
  state.lattice.periodic = state.box.periodic;
  for_each_event_number(state, [&](const std::string& name, auto& value) {
    if constexpr (std::is_floating_point_v<std::remove_reference_t<decltype(value)>>)
      value = file.real(name);
    else
      value = file.integer(name);
  });
  for_each_measured(measures, [&](const std::string& name, Real& value) {
    if (file.has_number(name)) value = file.real(name);
  });

  const std::int64_t n_bodies = file.array_info("id").rows;
  const std::int64_t first = share_start(n_bodies, comm.rank(), comm.size());
  const std::int64_t count = share_start(n_bodies, comm.rank() + 1, comm.size()) - first;
  state.bodies.resize(static_cast<Index>(count), 0);
  state.bodies.for_each_field([&](const FieldInfo& info, auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    using Number = typename Stored<T>::Number;
    if (!info.saved) return;
    const auto stored = file.array_info(std::string(info.name));
    if (stored.rows != n_bodies || stored.components != Stored<T>::components)
      throw InputError(fmt::format("{}: array {} has {} x {} numbers, not {} x {}", path, info.name,
                                   stored.rows, stored.components, n_bodies, Stored<T>::components));
    std::vector<Number> numbers;
    file.array(std::string(info.name), first, count, numbers);
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<Number*>(values.data()));
  });

  std::vector<std::int32_t> counts;
  file.array("memory_count", first, count, counts);
  const std::int64_t n_rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t first_row = comm.sum_before(n_rows);
  state.memory.clear(static_cast<Index>(count));
  for (std::size_t i = 0; i < counts.size(); ++i)
    state.memory.start[i + 1] = state.memory.start[i] + counts[i];
  state.memory.width = static_cast<int>(file.integer("memory_width"));
  file.array("memory_other", first_row, n_rows, state.memory.other);
  file.array("memory_value", first_row, n_rows, state.memory.value);
}

std::string latest_checkpoint(const Comm& comm, const std::string& folder) {
  std::string path;
  if (comm.is_root()) {
    const auto found = checkpoints_in(folder);
    if (!found.empty()) path = found.back().string();
  }
  comm.broadcast(path);
  return path;
}

std::string checkpoint_path(const std::string& folder, const std::string& run_name, std::int64_t step) {
  return fmt::format("{}/{}_{:09}{}", folder, run_name, step, ending);
}

void remove_other_checkpoints(const Comm& comm, const std::string& folder, const std::string& newest,
                              std::int64_t keep) {
  files::on_root(comm, [&] {
    const std::filesystem::path present(newest);
    std::int64_t n_kept = 0;
    std::vector<std::filesystem::path> found = checkpoints_in(folder);
    std::reverse(found.begin(), found.end());
    for (const std::filesystem::path& path : found)
      if (path.filename() > present.filename() || ++n_kept > keep) std::filesystem::remove(path);
  });
}

#define SCREE_INSTANTIATE(D)                                                                 \
  template void write_checkpoint<D>(const State<D>&, const std::string&, const std::string&, \
                                    const std::string&, const files::Texts&,                 \
                                    const std::vector<MeasureMemory>&);                      \
  template void read_checkpoint<D>(State<D>&, const std::string&, const std::vector<MeasureMemory>&);
SCREE_INSTANTIATE(2)
SCREE_INSTANTIATE(3)
#undef SCREE_INSTANTIATE

}  // namespace scree
