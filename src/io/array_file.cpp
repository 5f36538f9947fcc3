#include "io/array_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <sstream>

#include "core/error.hpp"

namespace scree {

namespace {

const std::string checksum_name = "checksum";
const std::string names_of = "_names";

/// A bijection of 64-bit words in which every input bit moves about half of the output bits (the finaliser of
/// SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

/// Sum modulo 2^64 of one hash per number, keyed by its place in the whole array: exact in any order.
std::uint64_t hash_sum(const void* values, std::int64_t bytes_per_number, std::int64_t first,
                       std::int64_t count) {
  const auto* bytes = static_cast<const unsigned char*>(values);
  const std::size_t width = bytes_per_number;
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + static_cast<std::size_t>(i) * width, width);
    sum += mixed(word + mixed(static_cast<std::uint64_t>(first + i) + 0x9e3779b97f4a7c15U));
  }
  return sum;
}

/// Halves of 32 bits are added, because a sum of signed 64-bit integers must not overflow.
std::uint64_t sum_over_ranks(const Comm& comm, std::uint64_t value) {
  std::int64_t halves[2] = {static_cast<std::int64_t>(value & 0xffffffffU),
                            static_cast<std::int64_t>(value >> 32)};
  comm.sum(std::span<std::int64_t>(halves));
  return static_cast<std::uint64_t>(halves[0]) + (static_cast<std::uint64_t>(halves[1]) << 32);
}

std::string printed(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

std::string checksum_of_text(const std::string& text) {
  return printed(hash_sum(text.data(), 1, 0, static_cast<std::int64_t>(text.size())));
}

/// The share of one thing of a file in the checksum of the root, which is the sum of all shares: the order in
/// which they are written does not count.
std::uint64_t share_of_root(std::string_view kind, std::string_view name, const std::string& content) {
  const std::string all = fmt::format("{}\n{}\n{}", kind, name, content);
  return mixed(hash_sum(all.data(), 1, 0, static_cast<std::int64_t>(all.size())));
}
std::uint64_t share_of_kind(const std::string& kind, std::int64_t version) {
  return share_of_root("file", kind, fmt::format("{}", version));
}
std::uint64_t share_of_number(const std::string& name, std::int64_t value) {
  return share_of_root("integer", name, fmt::format("{}", value));
}
std::uint64_t share_of_number(const std::string& name, Real value) {
  return share_of_root("real", name, printed(std::bit_cast<std::uint64_t>(value)));
}
std::uint64_t share_of_array(const std::string& name, const std::string& unit, hdf5::Type type,
                             std::int64_t rows, int components, const std::string& checksum) {
  return share_of_root(
      "array", name,
      fmt::format("{}\n{} {} {} {}", unit, static_cast<int>(type), rows, components, checksum));
}
std::uint64_t share_of_text(const std::string& object, const std::string& checksum) {
  return share_of_root("text", object, checksum);
}

}  // namespace

ArrayFileWriter::ArrayFileWriter(const Comm& comm, const std::string& path, const std::string& kind,
                                 std::int64_t version)
    : comm_(comm), part_(comm, path) {
  checksum_ = share_of_kind(kind, version);
  part_.write([&](hdf5::File& file) {
    file.set_attribute("/", "kind", kind);
    file.set_attribute("/", "version", version);
    for (const char* group : {"/arrays", "/numbers", "/texts", "/provenance"}) file.create_group(group);
  });
}

void ArrayFileWriter::array(const Column& column) {
  part_.write([&](hdf5::File& file) {
    std::visit(
        [&]<class T>(std::span<const T> values) {
          const std::string name = "/arrays/" + column.name;
          const std::int64_t first = file.write_rows(name, values, column.components);
          file.set_attribute(name, "unit", column.unit);
          const std::uint64_t checksum =
              sum_over_ranks(comm_, hash_sum(values.data(), sizeof(T), first * column.components,
                                             static_cast<std::int64_t>(values.size())));
          file.set_attribute(name, checksum_name, printed(checksum));
          const std::int64_t rows =
              comm_.sum(static_cast<std::int64_t>(values.size())) / std::max(column.components, 1);
          checksum_ += share_of_array(column.name, column.unit, hdf5::type_of<T>(), rows, column.components,
                                      printed(checksum));
        },
        column.values);
  });
}

void ArrayFileWriter::array(const Column& column, const IdOrder& order) {
  std::visit(
      [&]<class T>(std::span<const T> values) {
        std::vector<T> sorted;
        order.apply(values, sorted, column.components);
        array(Column{column.name, column.unit, column.components, std::span<const T>(sorted)});
      },
      column.values);
}

void ArrayFileWriter::number(const std::string& name, std::int64_t value) {
  checksum_ += share_of_number(name, value);
  integers_.add(name, value);
}

void ArrayFileWriter::number(const std::string& name, Real value) {
  checksum_ += share_of_number(name, value);
  reals_.add(name, value);
}

template <class T>
void ArrayFileWriter::write_numbers(const std::string& kind, const NamedNumbers<T>& numbers) {
  if (numbers.values.empty()) return;
  part_.write([&](hdf5::File& file) {
    const std::span<const T> all(numbers.values);
    file.write_rows("/numbers/" + kind, comm_.is_root() ? all : std::span<const T>());
    file.write_text("/numbers/" + kind + names_of, numbers.names);
  });
}

void ArrayFileWriter::provenance(const std::string& name, const std::string& value) {
  const std::string object = "/provenance/" + name;
  const std::string checksum = checksum_of_text(value);
  checksum_ += share_of_text(object, checksum);
  part_.write([&](hdf5::File& file) {
    file.write_text(object, value);
    file.set_attribute(object, checksum_name, checksum);
  });
}

void ArrayFileWriter::commit() {
  write_numbers("integers", integers_);
  write_numbers("reals", reals_);
  part_.write([&](hdf5::File& file) { file.set_attribute("/", checksum_name, printed(checksum_)); });
  part_.commit();
}

ArrayFileReader::ArrayFileReader(const Comm& comm, const std::string& path)
    : comm_(comm), file_(std::make_unique<hdf5::File>(comm, path, hdf5::Open::read)) {
  kind_ = file_->text_attribute("/", "kind");
  if (kind_.empty()) return;
  version_ = file_->attribute<std::int64_t>("/", "version").value_or(-1);
  read_numbers();
  verify_all();
}

ArrayFileReader::ArrayFileReader(const Comm& comm, const std::string& path, const std::string& kind,
                                 std::int64_t version)
    : ArrayFileReader(comm, path) {
  if (kind_ != kind)
    throw InputError(
        fmt::format("{} is no {} of scree{}", path, kind, kind_.empty() ? "" : " but a " + kind_));
  if (version_ != version)
    throw InputError(fmt::format("{} is a {} of version {}; this program reads version {}", path, kind,
                                 version_, version));
  if (!file_->has_attribute("/", checksum_name))
    throw InputError(fmt::format("{} is damaged: it has no checksum", path));
}

void ArrayFileReader::read_numbers() {
  for (const char* group : {"/arrays", "/numbers", "/texts", "/provenance"})
    if (!file_->exists(group)) throw InputError(fmt::format("{} is damaged: there is no {}", path(), group));
  read_numbers<std::int64_t>("integers");
  read_numbers<Real>("reals");
}

template <class T>
void ArrayFileReader::read_numbers(const std::string& kind) {
  const std::string list = "/numbers/" + kind;
  if (!file_->exists(list)) return;
  const std::string text = file_->read_text(list + names_of);
  const auto n = static_cast<std::int64_t>(std::ranges::count(text, '\n'));
  // Before its numbers are read: a damaged list may have any length.
  if (file_->info(list).shape != hdf5::Shape{n})
    throw InputError(
        fmt::format("{} is damaged: {} is no list of {} numbers, which have names", path(), list, n));
  std::vector<T> values;
  file_->read(list, {{0}, {n}}, values);
  std::istringstream names(text);
  std::string name;
  for (const T value : values)
    if (std::getline(names, name)) numbers_[name] = value;
}

void ArrayFileReader::verify_all() const {
  if (!file_->has_attribute("/", checksum_name)) return;
  std::uint64_t sum = share_of_kind(kind_, version_);
  for (const auto& [name, value] : numbers_)
    sum += std::visit([&, &key = name](auto number) { return share_of_number(key, number); }, value);
  for (const ArrayInfo& info : arrays())
    sum += share_of_array(info.name, info.unit, info.type, info.rows, info.components,
                          file_->text_attribute(dataset(info.name), checksum_name));
  for (const char* group : {"/texts", "/provenance"})
    for (const std::string& name : file_->members(group)) {
      const std::string object = fmt::format("{}/{}", group, name);
      sum += share_of_text(object, file_->text_attribute(object, checksum_name));
    }
  if (printed(sum) != file_->text_attribute("/", checksum_name))
    throw InputError(fmt::format(
        "{} is damaged: its numbers, names and shapes do not have the checksum of the whole", path()));
}

std::vector<ArrayFileReader::ArrayInfo> ArrayFileReader::arrays() const {
  std::vector<ArrayInfo> result;
  for (const std::string& name : file_->members("/arrays")) result.push_back(array_info(name));
  return result;
}

bool ArrayFileReader::has_array(const std::string& name) const {
  return file_->exists(dataset(name));
}

ArrayFileReader::ArrayInfo ArrayFileReader::array_info(const std::string& name) const {
  if (!has_array(name)) throw InputError(fmt::format("{}: there is no array {}", path(), name));
  const hdf5::DatasetInfo info = file_->info(dataset(name));
  if (info.shape.empty() || info.shape.size() > 2)
    throw InputError(fmt::format("{}: {} is no list of rows", path(), name));
  return {name, file_->text_attribute(dataset(name), "unit"), info.type, info.shape[0],
          info.shape.size() == 2 ? static_cast<int>(info.shape[1]) : 1};
}

hdf5::Slab ArrayFileReader::slab(const std::string& name, std::int64_t first, std::int64_t count) const {
  const ArrayInfo info = array_info(name);
  if (file_->info(dataset(name)).shape.size() == 1) return {{first}, {count}};
  return {{first, 0}, {count, info.components}};
}

void ArrayFileReader::verify(const ArrayInfo& info, std::int64_t first, std::int64_t count,
                             const void* values) const {
  const std::int64_t before = comm_.sum_before(count);
  if (comm_.any(before != first) || comm_.sum(count) != info.rows) return;
  const std::uint64_t checksum = sum_over_ranks(
      comm_, hash_sum(values, hdf5::bytes_of(info.type), first * info.components, count * info.components));
  const std::string expected = file_->text_attribute(dataset(info.name), checksum_name);
  share_errors(comm_, [&] {
    if (printed(checksum) != expected)
      throw InputError(
          fmt::format("{} is damaged: the array {} does not have its checksum", path(), info.name));
  });
}

const std::variant<std::int64_t, Real>& ArrayFileReader::number_named(const std::string& name) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) throw InputError(fmt::format("{}: there is no number {}", path(), name));
  return found->second;
}

bool ArrayFileReader::has_number(const std::string& name) const {
  return numbers_.contains(name);
}

std::int64_t ArrayFileReader::integer(const std::string& name) const {
  const auto* value = std::get_if<std::int64_t>(&number_named(name));
  if (value == nullptr) throw InputError(fmt::format("{}: {} is no integer", path(), name));
  return *value;
}

Real ArrayFileReader::real(const std::string& name) const {
  const auto* value = std::get_if<Real>(&number_named(name));
  if (value == nullptr) throw InputError(fmt::format("{}: {} is no real", path(), name));
  return *value;
}

files::Texts ArrayFileReader::numbers() const {
  files::Texts result;
  for (const auto& [name, value] : numbers_)
    result.emplace_back(name, std::visit([](auto number) { return fmt::format("{}", number); }, value));
  return result;
}

files::Texts ArrayFileReader::provenance() const {
  files::Texts result;
  for (const std::string& name : file_->members("/provenance")) {
    const std::string object = "/provenance/" + name;
    std::string value = file_->read_text(object);
    const std::string expected = file_->text_attribute(object, checksum_name);
    const bool is_older = !file_->has_attribute("/", checksum_name) && expected.empty();
    share_errors(comm_, [&] {
      if (!is_older && checksum_of_text(value) != expected)
        throw InputError(fmt::format("{} is damaged: the text {} does not have its checksum", path(), name));
    });
    result.emplace_back(name, std::move(value));
  }
  return result;
}

}  // namespace scree
