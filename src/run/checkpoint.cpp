#include "run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "io/array_file.hpp"
#include "io/result_file.hpp"
#include "particles/shape_text.hpp"
#include "run/checkpoint_layout.hpp"

namespace scree {

using namespace checkpoint_layout;

namespace {

constexpr const char* ending = ".scree";
constexpr const char* end_frames_name = "end_frames";

template <class T>
Column column_of(std::string_view name, std::string_view unit, std::span<const T> values) {
  using Number = typename Stored<T>::Number;
  const std::span<const Number> numbers(reinterpret_cast<const Number*>(values.data()),
                                        values.size() * Stored<T>::components);
  return {std::string(name), std::string(unit), Stored<T>::components, numbers};
}

/// What contacts remember: per body in the order of ids, within a body by partner. The rows get unique,
/// ordered keys.
template <int D>
void write_memory(const State<D>& state, const IdOrder& by_id, ArrayFileWriter& file) {
  const ContactMemory& memory = state.memory;
  const auto n = static_cast<std::size_t>(state.bodies.n_owned()),
             width = static_cast<std::size_t>(memory.width);
  std::vector<std::int32_t> counts(n);
  for (std::size_t i = 0; i < n; ++i) counts[i] = memory.start[i + 1] - memory.start[i];
  const std::int64_t max = state.comm.max(n == 0 ? std::int64_t{0} : std::int64_t{std::ranges::max(counts)});
  std::vector<GlobalId> keys, others;
  std::vector<Real> values;
  std::vector<std::size_t> row;
  for (std::size_t i = 0; i < n; ++i) {
    row.resize(counts[i]);
    std::iota(row.begin(), row.end(), static_cast<std::size_t>(memory.start[i]));
    std::ranges::sort(row, {}, [&](std::size_t p) { return memory.other[p]; });
    for (std::size_t k = 0; k < row.size(); ++k) {
      keys.push_back(state.bodies.id()[i] * max + static_cast<GlobalId>(k));
      others.push_back(memory.other[row[k]]);
      const auto first = memory.value.begin() + static_cast<std::ptrdiff_t>(row[k] * width);
      values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
  }
  file.array(column_of("memory_count", "-", std::span<const std::int32_t>(counts)), by_id);
  const IdOrder by_key(state.comm, keys);
  file.array(column_of("memory_other", "-", std::span<const GlobalId>(others)), by_key);
  file.number("memory_width", static_cast<std::int64_t>(width));
  // What is remembered, and in which unit, is up to the scheme and its friction.
  file.array({"memory_value", "-", static_cast<int>(width), std::span<const Real>(values)}, by_key);
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
                      const std::vector<NamedNumbers>& measures, const std::string& end_frames,
                      const std::vector<SharedRows>& shared) {
  Scope timer("checkpoint");
  const Comm& comm = state.comm;
  const BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();

  ArrayFileWriter file(comm, path, checkpoint_kind, checkpoint_version);
  file.number("dimension", std::int64_t{D});
  for_each_number(state, [&](const std::string& name, auto value, Real) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      file.number(name, value);
    else
      file.number(name, std::int64_t{value});
  });
  for_each_measured(measures, [&](const std::string& name, Real value) { file.number(name, value); });

  const IdOrder by_id(comm, bodies.id().first(n));
  bodies.for_each_field([&](const FieldInfo& info, const auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    if (info.saved) file.array(column_of(info.name, info.unit, std::span<const T>(values).first(n)), by_id);
  });

  write_memory(state, by_id, file);
  for (const SharedRows& rows : shared) {
    std::vector<GlobalId> numbers(rows.count);
    std::iota(numbers.begin(), numbers.end(), rows.first_row);
    file.array({rows.name, "-", rows.width, std::span<const std::int64_t>(rows.values)},
               IdOrder(comm, numbers));
  }

  if (bodies.carries_shapes()) file.provenance(shapes_name, text_of(state.shapes));
  file.provenance("run_name", run_name);
  file.provenance("deck", deck);
  if (!end_frames.empty()) file.provenance(end_frames_name, end_frames);
  for (const auto& [name, text] : provenance) file.provenance(name, text);
  file.commit();
}

bool read_shared_rows(const Comm& comm, const std::string& path, std::vector<SharedRows>& shared) {
  const ArrayFileReader file(comm, path, checkpoint_kind, checkpoint_version);
  for (const SharedRows& rows : shared) {
    if (!file.has_array(rows.name)) return false;
    const auto info = file.array_info(rows.name);
    if (info.rows != rows.n_rows || info.components != rows.width ||
        info.type != hdf5::type_of<std::int64_t>())
      return false;
  }
  for (SharedRows& rows : shared) file.array(rows.name, rows.first_row, rows.count, rows.values);
  return true;
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

template void write_checkpoint<2>(const State<2>&, const std::string&, const std::string&, const std::string&,
                                  const files::Texts&, const std::vector<NamedNumbers>&, const std::string&,
                                  const std::vector<SharedRows>&);
template void write_checkpoint<3>(const State<3>&, const std::string&, const std::string&, const std::string&,
                                  const files::Texts&, const std::vector<NamedNumbers>&, const std::string&,
                                  const std::vector<SharedRows>&);

}  // namespace scree
