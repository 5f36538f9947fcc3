#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/timing.hpp"
#include "io/array_file.hpp"
#include "particles/shape_text.hpp"
#include "run/checkpoint_layout.hpp"

namespace scree {

using namespace checkpoint_layout;

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

  std::int64_t integer(const std::string& name, std::int64_t min, std::int64_t max) const {
    const std::int64_t value = file_.integer(name);
    if (value < min || value > max) refuse(fmt::format("{} is {}, not in [{}, {}]", name, value, min, max));
    return value;
  }
  Real real(const std::string& name, Real min = -max_real, Real max = max_real) const {
    const Real value = file_.real(name);
    if (!(value >= min && value <= max))
      refuse(min == -max_real && max == max_real ? fmt::format("{} is {}, not finite", name, value)
             : max == max_real ? fmt::format("{} is {}, not a number from {} on", name, value, min)
                               : fmt::format("{} is {}, not in [{}, {}]", name, value, min, max));
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
std::string fault_in_any_run(const State<D>& state, std::size_t i, GlobalId before) {
  const BodyStore<D>& bodies = state.bodies;
  const GlobalId next_id = state.next_id;
  const GlobalId id = bodies.id()[i];
  if (id < 0 || id >= next_id) return fmt::format("id is {}, not in [0, next_id = {})", id, next_id);
  if (id <= before) return fmt::format("id is {}, not above the {} before it", id, before);
  if (!(bodies.radius()[i] > 0)) return fmt::format("radius is {}, not positive", bodies.radius()[i]);
  if (bodies.mobility()[i] < 0) return fmt::format("mobility is {}, negative", bodies.mobility()[i]);
  if (bodies.carries_shapes() && (bodies.shape()[i] < 0 || bodies.shape()[i] >= state.shapes.size()))
    return fmt::format("shape is {}, not in [0, {})", bodies.shape()[i], state.shapes.size());
  if (bodies.has_inertia() && !(bodies.mass()[i] > 0))
    return fmt::format("mass is {}, not positive", bodies.mass()[i]);
  if (D == 3 && bodies.carries_turns()) {
    constexpr Real rounding = 1e-6;
    const Real length = norm(bodies.orientation()[i]);
    if (!(std::abs(length - 1) < rounding))
      return fmt::format("orientation is a quaternion of length {}, not 1", length);
  }
  return {};
}

/// The last id of the ranks before this one; -1: none. Collective, O(ranks).
GlobalId last_id_before(const Comm& comm, std::span<const GlobalId> ids) {
  std::vector<std::int64_t> last(comm.size(), 0);
  if (!ids.empty()) last[comm.rank()] = ids.back() + 1;
  comm.sum(last);
  GlobalId before = -1;
  for (std::size_t r = 0; r < static_cast<std::size_t>(comm.rank()); ++r)
    if (last[r] != 0) before = last[r] - 1;
  return before;
}

template <int D>
void check_lattice(const CheckedRows<D>& checked, const State<D>& state) {
  constexpr std::int64_t max_cells_of_block = std::int64_t{1} << Lattice<D>::cell_bits;
  const Lattice<D>& lattice = state.lattice;
  checked.real("lattice_skin", 0);
  checked.real("lattice_usual_skin", 0, lattice.skin);
  checked.real("lattice_largest_radius", 0);
  checked.real("lattice_second_radius", 0, lattice.largest_radius);
  constexpr std::int64_t max_cells_along_block = 32;  // see [decomposition] block_cells
  checked.integer("lattice_cells_per_block", 1, max_cells_along_block);
  const Real width = lattice.cell_width();
  std::int64_t cells_of_block = 1;
  for (int k = 0; k < D; ++k) {
    const char name = "xyz"[k];
    if (!(lattice.cell_edge[k] > 0)) checked.real(fmt::format("lattice_cell_edge_{}", name), 1e-300);
    checked.integer(fmt::format("lattice_blocks_{}", name), 1, std::int64_t{1} << Lattice<D>::axis_bits);
    checked.integer(fmt::format("lattice_block_cells_{}", name), 1, max_cells_of_block);
    const std::int64_t n_blocks = lattice.n_blocks[k], block = lattice.block_cells[k];
    const std::int64_t n_cells = lattice.n_cells[k];
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
  if (cells_of_block > max_cells_of_block)
    checked.refuse(
        fmt::format("a block of the lattice has {} cells, more than {}", cells_of_block, max_cells_of_block));
}

/// Version 0.2 had no shear stress of domains: files of its runs lack these numbers, which then are 0.
template <int D>
bool is_absent(const CheckedRows<D>& checked, const std::string& name) {
  return (name == "cell_lasting_shear_rate" || name == "cell_shear_stress") &&
         !checked.file().has_number(name);
}

/// Clock, lattice and all else that is no array.
template <int D>
void read_numbers(const CheckedRows<D>& checked, State<D>& state) {
  constexpr std::int64_t max = std::int64_t{1} << 56;  // room to count on, and to number contacts by ids
  checked.integer("dimension", D, D);
  for_each_number(state, [&](const std::string& name, auto& value, Real min) {
    using N = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_floating_point_v<N>) {
      if (!is_absent(checked, name)) value = checked.real(name, min);
    } else
      value = static_cast<N>(checked.integer(name, static_cast<std::int64_t>(min),
                                             std::min<std::int64_t>(max, std::numeric_limits<N>::max())));
  });
  checked.real("reference_time", 0, state.clock.time);
  if (state.deformation.is_given()) {
    for (int k = 0; k < D; ++k)
      for (const char* name : {"cell_", "cell_reference_"}) {
        const Real lower = checked.real(fmt::format("{}lower_{}", name, "xyz"[k]));
        checked.real(fmt::format("{}upper_{}", name, "xyz"[k]), std::nextafter(lower, HUGE_VAL));
      }
    state.deformation.restore(state.box);
  }
  check_lattice(checked, state);
  state.lattice.periodic = state.box.periodic;
}

template <int D>
void read_bodies(const CheckedRows<D>& checked, State<D>& state, const FaultOfBody<D>& fault_of_body) {
  state.bodies.resize(static_cast<Index>(checked.count()), 0);
  state.bodies.for_each_field([&](const FieldInfo& info, auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    using Number = typename Stored<T>::Number;
    const bool is_new =
        info.name.starts_with("measures.") && !checked.file().has_array(std::string(info.name));
    if (!info.saved || is_new) return;
    const auto numbers = checked.template rows<Number>(
        std::string(info.name), checked.n_bodies(), Stored<T>::components, checked.first(), checked.count());
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<Number*>(values.data()));
  });
  const BodyStore<D>& bodies = state.bodies;
  GlobalId before = last_id_before(state.comm, bodies.id());
  checked.require_rows(checked.first(), checked.count(), [&](std::size_t i) -> std::string {
    std::string fault = fault_in_any_run(state, i, before);
    if (fault.empty() && fault_of_body) fault = fault_of_body(bodies, i);
    before = bodies.id()[i];
    if (fault.empty()) return {};
    return fmt::format("row {} of the bodies: {}", checked.first() + static_cast<std::int64_t>(i), fault);
  });
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
  state.memory.width = static_cast<int>(checked.integer("memory_width", 1, ContactMemory::max_numbers));
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
  const CheckedRows<D> checked(state.comm, path);
  const ArrayFileReader& file = checked.file();
  read_numbers(checked, state);
  for_each_measured(measures, [&](const std::string& name, Real& value) {
    if (file.has_number(name)) value = file.real(name);
  });

  for (const auto& [name, text] : file.provenance()) {
    if (name != shapes_name) continue;
    state.bodies.carry_shapes(true);
    try {
      state.shapes = shapes_of_text<D>(text);
    } catch (const InputError& error) {
      checked.refuse(error.what());
    }
  }
  read_bodies(checked, state, fault_of_body);
  read_memory(checked, state);
}

template void read_checkpoint<2>(State<2>&, const std::string&, const std::vector<NamedNumbers>&,
                                 const FaultOfBody<2>&);
template void read_checkpoint<3>(State<3>&, const std::string&, const std::vector<NamedNumbers>&,
                                 const FaultOfBody<3>&);

}  // namespace scree
