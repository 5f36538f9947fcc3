#include "run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "io/array_file.hpp"
#include "io/result_file.hpp"

namespace scree {

namespace {

constexpr const char* checkpoint_kind = "scree checkpoint";
constexpr std::int64_t checkpoint_version =
    5;  // 5: checksums of all that is in the file, what the lattice was made for
constexpr const char* ending = ".scree";
constexpr const char* end_frames_name = "end_frames";

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
  f(std::string("lattice_usual_skin"), lattice.usual_skin);
  f(std::string("lattice_largest_radius"), lattice.largest_radius);
  f(std::string("lattice_cells_per_block"), lattice.cells_per_block);
}

/// Numbers of inlets, outlets and stages by name.
template <class S, class F>
void for_each_event_number(S& state, F&& f) {
  for (std::size_t i = 0; i < state.inlets.size(); ++i) {
    f(fmt::format("feeder_{}_made", i), state.inlets[i].n_made);
    f(fmt::format("feeder_{}_dropped", i), state.inlets[i].n_dropped);
    f(fmt::format("feeder_{}_tries", i), state.inlets[i].n_tries);
  }
  for (std::size_t i = 0; i < state.outlets.size(); ++i) {
    f(fmt::format("sink_{}_removed", i), state.outlets[i].n_removed);
    f(fmt::format("sink_{}_mass", i), state.outlets[i].mass);
  }
  f(std::string("stage_index"), state.stage.index);
  f(std::string("stage_begin"), state.stage.begin);
}

/// Numbers of measures by name.
template <class F>
void for_each_measured(const std::vector<NamedNumbers>& measures, F&& f) {
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

/// Reads all of a checkpoint, each array against its checksum. Throws InputError if something is damaged.
void require_whole(const Comm& comm, const std::string& path) {
  read_checkpoint_head(comm, path);
  const ResultFile file(comm, path);
  for (const ResultFile::Field& field : file.fields()) {
    const auto [first, last] = EvenShare(comm, field.rows);
    file.read(field, 0, first, last - first);
  }
}

}  // namespace

template <int D>
void write_checkpoint(const State<D>& state, const std::string& path, const std::string& run_name,
                      const std::string& deck, const files::Texts& provenance,
                      const std::vector<NamedNumbers>& measures, const std::string& end_frames) {
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
  if (!end_frames.empty()) file.provenance(end_frames_name, end_frames);
  for (const auto& [name, text] : provenance) file.provenance(name, text);
  file.commit();
}

CheckpointHead read_checkpoint_head(const Comm& comm, const std::string& path) {
  const ArrayFileReader file(comm, path, checkpoint_kind, checkpoint_version);
  CheckpointHead head;
  head.dimension = static_cast<int>(std::clamp<std::int64_t>(file.integer("dimension"), 0, 4));
  head.step = file.integer("step");
  head.time = file.real("time");
  for (const auto& [name, text] : file.provenance()) {
    if (name == "deck") head.deck = text;
    if (name == "run_name") head.run_name = text;
    if (name == "deck_folder") head.deck_folder = text;
    if (name == end_frames_name) head.end_frames = text;
    if (name == "started_from") head.started_from = text;
  }
  if (head.deck.empty() || (head.dimension != 2 && head.dimension != 3))
    throw InputError(path + ": the checkpoint holds no deck");
  return head;
}

namespace {

/// Numbers and rows of a checkpoint, refused with their names where they cannot be. All members are
/// collective.
template <int D>
class CheckedRows {
 public:
  CheckedRows(const Comm& comm, const std::string& path)
      : comm_(comm), file_(comm, path, checkpoint_kind, checkpoint_version) {
    n_bodies_ = file_.array_info("id").rows;
    const EvenShare share(comm, n_bodies_);
    first_ = share.first;
    count_ = share.last - first_;
    if (n_bodies_ / comm.size() >= std::numeric_limits<Index>::max())
      refuse(fmt::format("{} bodies are too many for {} ranks", n_bodies_, comm.size()));
  }

  const ArrayFileReader& file() const { return file_; }
  std::int64_t n_bodies() const { return n_bodies_; }
  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", file_.path(), what));
  }

  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const {
    const std::int64_t value = file_.integer(name);
    if (value < least || value > most)
      refuse(fmt::format("{} is {}, not in [{}, {}]", name, value, least, most));
    return value;
  }
  Real real(const std::string& name, Real least = -max_real, Real most = max_real) const {
    const Real value = file_.real(name);
    if (!(value >= least && value <= most))
      refuse(least == -max_real && most == max_real ? fmt::format("{} is {}, not finite", name, value)
             : most == max_real ? fmt::format("{} is {}, not a number from {} on", name, value, least)
                                : fmt::format("{} is {}, not in [{}, {}]", name, value, least, most));
    return value;
  }

  /// Refuses the first row of all ranks for which fault(i), of this rank's row i, is not empty.
  template <class Fault>
  void require_rows(std::int64_t first, std::int64_t count, const Fault& fault) const {
    std::int64_t row = 0;
    std::string text;
    while (row < count && (text = fault(static_cast<std::size_t>(row))).empty()) ++row;
    const std::string message = message_of_smallest(comm_, first + row, text);
    if (!message.empty()) refuse(message);
  }

  /// This rank's rows of an array that has to have this form; reals are finite.
  template <class Number>
  std::vector<Number> rows(const std::string& name, std::int64_t n_rows, int components, std::int64_t first,
                           std::int64_t count) const {
    const auto stored = file_.array_info(name);
    if (stored.rows != n_rows || stored.components != components || stored.type != hdf5::type_of<Number>())
      refuse(fmt::format("array {} has {} x {} numbers{}, not {} x {}", name, stored.rows, stored.components,
                         stored.type == hdf5::type_of<Number>() ? "" : " of another type", n_rows,
                         components));
    std::vector<Number> numbers;
    file_.array(name, first, count, numbers);
    if constexpr (std::is_floating_point_v<Number>)
      require_rows(first, count, [&](std::size_t i) -> std::string {
        for (std::size_t k = 0; k < static_cast<std::size_t>(components); ++k) {
          const Real value = numbers[i * static_cast<std::size_t>(components) + k];
          if (!std::isfinite(value))
            return fmt::format("{}[{}{}] is {}", name, first + static_cast<std::int64_t>(i),
                               components == 1 ? "" : fmt::format(", {}", k), value);
        }
        return {};
      });
    return numbers;
  }

 private:
  static constexpr Real max_real = std::numeric_limits<Real>::max();

  Comm comm_;
  ArrayFileReader file_;
  std::int64_t n_bodies_ = 0;
  std::int64_t first_ = 0, count_ = 0;  // of the bodies that this rank reads
};

/// What no run of any deck has; empty: nothing.
template <int D>
std::string fault_in_any_run(const BodyStore<D>& bodies, std::size_t i, GlobalId before, GlobalId next_id) {
  const GlobalId id = bodies.id()[i];
  if (id < 0 || id >= next_id) return fmt::format("id is {}, not in [0, next_id = {})", id, next_id);
  if (id <= before) return fmt::format("id is {}, not above the {} before it", id, before);
  if (!(bodies.radius()[i] > 0)) return fmt::format("radius is {}, not positive", bodies.radius()[i]);
  if (bodies.mobility()[i] < 0) return fmt::format("mobility is {}, negative", bodies.mobility()[i]);
  if (!bodies.has_inertia()) return {};
  if (!(bodies.mass()[i] > 0)) return fmt::format("mass is {}, not positive", bodies.mass()[i]);
  if constexpr (D == 3) {
    constexpr Real rounding = 1e-6;
    const Real length = norm(bodies.orientation()[i]);
    if (!(std::abs(length - 1) < rounding))
      return fmt::format("orientation is a quaternion of length {}, not 1", length);
  }
  return {};
}

/// The last id of the ranks before this one; -1: none. Collective, O(ranks).
GlobalId last_id_before(const Comm& comm, std::span<const GlobalId> ids) {
  std::vector<std::int64_t> last(static_cast<std::size_t>(comm.size()), 0);
  if (!ids.empty()) last[static_cast<std::size_t>(comm.rank())] = ids.back() + 1;
  comm.sum(last);
  GlobalId before = -1;
  for (std::size_t r = 0; r < static_cast<std::size_t>(comm.rank()); ++r)
    if (last[r] != 0) before = last[r] - 1;
  return before;
}

template <int D>
void read_lattice(const CheckedRows<D>& checked, State<D>& state) {
  constexpr std::int64_t most_cells_of_block = std::int64_t{1} << Lattice<D>::cell_bits;
  for_each_lattice_number(state.lattice, [&](const std::string& name, auto& value) {
    using N = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_floating_point_v<N>)
      value = checked.real(name);
    else
      value = static_cast<N>(checked.integer(name, 1, std::numeric_limits<N>::max()));
  });
  const Lattice<D>& lattice = state.lattice;
  checked.real("lattice_skin", 0);
  checked.real("lattice_usual_skin", 0, lattice.skin);
  checked.real("lattice_largest_radius", 0);
  constexpr std::int64_t most_cells_along_block = 32;  // see [decomposition] block_cells
  checked.integer("lattice_cells_per_block", 1, most_cells_along_block);
  const Real width = Lattice<D>::reach(lattice.largest_radius, lattice.skin);
  std::int64_t cells_of_block = 1;
  for (int k = 0; k < D; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const char name = "xyz"[k];
    if (!(lattice.cell_edge[k] > 0)) checked.real(fmt::format("lattice_cell_edge_{}", name), 1e-300);
    checked.integer(fmt::format("lattice_blocks_{}", name), 1, std::int64_t{1} << Lattice<D>::axis_bits);
    checked.integer(fmt::format("lattice_block_cells_{}", name), 1, most_cells_of_block);
    const std::int64_t n_blocks = lattice.n_blocks[axis], block = lattice.block_cells[axis];
    const std::int64_t n_cells = lattice.n_cells[axis];
    if (n_cells > n_blocks * block || n_cells <= (n_blocks - 1) * block)
      checked.refuse(fmt::format("lattice_cells_{} is {}, which {} blocks of {} cells do not hold", name,
                                 n_cells, n_blocks, block));
    constexpr Real rounding = 1e-9;
    if ((n_cells > 1 || state.box.is_periodic(k)) && lattice.cell_edge[k] < width * (1 - rounding))
      checked.refuse(fmt::format("lattice_cell_edge_{} is {}, less than {}, two largest radii and the skin",
                                 name, lattice.cell_edge[k], width));
    if (state.box.is_periodic(k) && n_blocks % 2 != 0 && n_cells != 1)
      checked.refuse(
          fmt::format("lattice_blocks_{} is {}, neither even nor one block of one cell", name, n_blocks));
    cells_of_block *= block;
  }
  if (cells_of_block > most_cells_of_block)
    checked.refuse(fmt::format("a block of the lattice has {} cells, more than {}", cells_of_block,
                               most_cells_of_block));
  state.lattice.periodic = state.box.periodic;
}

template <int D>
void read_memory(const CheckedRows<D>& checked, State<D>& state) {
  const Comm& comm = state.comm;
  const ArrayFileReader& file = checked.file();
  const auto counts = checked.template rows<std::int32_t>("memory_count", checked.n_bodies(), 1,
                                                          checked.first(), checked.count());
  const std::int64_t n_stored = file.array_info("memory_other").rows;
  checked.require_rows(checked.first(), checked.count(), [&](std::size_t i) -> std::string {
    if (counts[i] >= 0 && counts[i] <= n_stored) return {};
    return fmt::format("memory_count[{}] is {}, not in [0, {}], the rows of memory_other",
                       checked.first() + static_cast<std::int64_t>(i), counts[i], n_stored);
  });
  const std::int64_t n_rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t n_all = comm.sum(n_rows);
  if (n_all != n_stored)
    checked.refuse(
        fmt::format("memory_count adds up to {} contacts, but memory_other has {} rows", n_all, n_stored));
  if (comm.any(n_rows >= std::numeric_limits<Index>::max()))
    checked.refuse(fmt::format("{} contacts are too many for {} ranks", n_all, comm.size()));
  const std::int64_t first_row = comm.sum_before(n_rows);
  state.memory.clear(static_cast<Index>(checked.count()));
  for (std::size_t i = 0; i < counts.size(); ++i)
    state.memory.start[i + 1] = state.memory.start[i] + counts[i];
  state.memory.width = static_cast<int>(checked.integer("memory_width", 1, ContactMemory::most_numbers));
  state.memory.other = checked.template rows<GlobalId>("memory_other", n_stored, 1, first_row, n_rows);
  state.memory.value =
      checked.template rows<Real>("memory_value", n_stored, state.memory.width, first_row, n_rows);
  checked.require_rows(first_row, n_rows, [&](std::size_t e) -> std::string {
    const GlobalId id = id_of_partner(state.memory.other[e]);
    if (id < state.next_id) return {};
    return fmt::format("memory_other[{}] is {}, which names body {}, not below next_id = {}",
                       first_row + static_cast<std::int64_t>(e), state.memory.other[e], id, state.next_id);
  });
}

}  // namespace

template <int D>
void read_checkpoint(State<D>& state, const std::string& path, const std::vector<NamedNumbers>& measures,
                     const FaultOfBody<D>& fault_of_body) {
  Scope timer("read checkpoint");
  const Comm& comm = state.comm;
  const CheckedRows<D> checked(comm, path);
  const ArrayFileReader& file = checked.file();
  constexpr std::int64_t most = std::int64_t{1} << 56;  // room to count on, and to number contacts by ids
  checked.integer("dimension", D, D);
  state.clock.step = checked.integer("step", 0, most);
  state.clock.time = checked.real("time", 0);
  state.clock.last_dt = checked.real("last_dt", 0);
  state.clock.listed_time = checked.real("listed_time", 0, state.clock.time);
  state.next_id = checked.integer("next_id", 0, most);
  EnergyLedger::for_each(state.ledger, [&](const char* name, Real& value) {
    value = checked.real(std::string("energy_") + name);
  });
  read_lattice(checked, state);
  for_each_event_number(state, [&](const std::string& name, auto& value) {
    if constexpr (std::is_floating_point_v<std::remove_reference_t<decltype(value)>>)
      value = checked.real(name, 0);
    else
      value = checked.integer(name, 0, most);
  });
  for_each_measured(measures, [&](const std::string& name, Real& value) {
    if (file.has_number(name)) value = file.real(name);
  });

  const auto count = static_cast<std::size_t>(checked.count());
  state.bodies.resize(static_cast<Index>(count), 0);
  state.bodies.for_each_field([&](const FieldInfo& info, auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    using Number = typename Stored<T>::Number;
    if (!info.saved) return;
    const auto numbers = checked.template rows<Number>(
        std::string(info.name), checked.n_bodies(), Stored<T>::components, checked.first(), checked.count());
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<Number*>(values.data()));
  });
  const BodyStore<D>& bodies = state.bodies;
  GlobalId before = last_id_before(comm, bodies.id());
  checked.require_rows(checked.first(), checked.count(), [&](std::size_t i) -> std::string {
    std::string fault = fault_in_any_run(bodies, i, before, state.next_id);
    if (fault.empty() && fault_of_body) fault = fault_of_body(bodies, i);
    before = bodies.id()[i];
    if (fault.empty()) return {};
    return fmt::format("row {} of the bodies: {}", checked.first() + static_cast<std::int64_t>(i), fault);
  });
  read_memory(checked, state);
}

std::string latest_checkpoint(const Comm& comm, const std::string& folder) {
  std::string list;  // a path per line, the latest first
  if (comm.is_root())
    for (const std::filesystem::path& path : checkpoints_in(folder)) list.insert(0, path.string() + "\n");
  comm.broadcast(list);
  std::vector<std::string> damaged, messages;
  std::istringstream lines(list);
  for (std::string path; std::getline(lines, path);) {
    try {
      require_whole(comm, path);
    } catch (const InputError& error) {
      damaged.push_back(path);
      messages.emplace_back(error.what());
      continue;
    }
    for (const std::string& message : messages)
      log::warn("{}: this checkpoint is passed over for the one before, {}", message, path);
    return path;
  }
  if (!damaged.empty())
    throw InputError(fmt::format("no checkpoint in {} can be read: {}", folder, fmt::join(messages, "; ")));
  return "";
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

#define SCREE_INSTANTIATE(D)                                                                        \
  template void write_checkpoint<D>(const State<D>&, const std::string&, const std::string&,        \
                                    const std::string&, const files::Texts&,                        \
                                    const std::vector<NamedNumbers>&, const std::string&);          \
  template void read_checkpoint<D>(State<D>&, const std::string&, const std::vector<NamedNumbers>&, \
                                   const FaultOfBody<D>&);
SCREE_INSTANTIATE(2)
SCREE_INSTANTIATE(3)
#undef SCREE_INSTANTIATE

}  // namespace scree
