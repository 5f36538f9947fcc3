#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/input_crash.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"

/// A thin layer over parallel HDF5. Files whose content lies in part in other files are refused
/// (content_elsewhere). All members are collective unless they say otherwise; whatever fails on
/// one rank makes all ranks throw the same InputError (a file opened to be read) or RunError (a file being
/// written).
namespace scree::hdf5 {

enum class Type { real64, real32, int64, int32 };

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, double>) return Type::real64;
  if constexpr (std::is_same_v<T, float>) return Type::real32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::int64;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::int32;
}
std::int64_t bytes_of(Type type);

using Shape = std::vector<std::int64_t>;

struct DatasetInfo {
  Type type = Type::real64;
  Shape shape;
};

/// What a name of a foreign file stands for, whatever the width of its numbers.
enum class Content { nothing, integers, reals, text, something_else };

struct ObjectInfo {
  Content content = Content::nothing;
  Shape shape;  ///< empty for a single value
};

/// The box of a dataset that one rank reads or writes: along each axis the first place and how many. A zero
/// count anywhere means nothing.
struct Slab {
  Shape start;
  Shape count;
  std::int64_t size() const;

  /// Rows of a list of `components` numbers each; one component makes it one-dimensional.
  static Slab rows(std::int64_t first, std::int64_t count, std::int64_t components = 1) {
    return components > 1 ? Slab{{first, 0}, {count, components}} : Slab{{first}, {count}};
  }
  /// The same in one frame, which is the first axis.
  Slab in_frame(std::int64_t frame) && {
    start.insert(start.begin(), frame);
    count.insert(count.begin(), 1);
    return std::move(*this);
  }
};

/// One member of a record: an unsigned 32-bit integer or a 64-bit real, `offset` bytes from its start.
struct RecordField {
  enum class Type { uint32, real64 };
  std::string name;
  Type type = Type::real64;
  std::size_t offset = 0;
};

/// What the rows of a compound dataset look like in memory; stored little-endian without gaps.
struct RecordLayout {
  std::vector<RecordField> fields;
  std::size_t bytes = 0;  ///< of a record in memory
};

/// The list that an attribute holds; HDF5 knows no difference between one value and a list of one.
using AttributeList = std::variant<std::vector<std::string>, std::vector<std::int64_t>, std::vector<double>>;

enum class NewPlaces { filled, undefined };

/// Whether HDF5 itself notices damaged numbers when any program reads them (its Fletcher-32 filter).
enum class Damage { unseen, noticed };

enum class Open {
  overwrite,  ///< a new file, in place of one that exists
  read,       ///< an existing file
  append      ///< an existing file, to be changed
};

class File {
 public:
  File(const Comm& comm, const std::string& path, Open how);
  /// Closes the file. While an exception travels it is left open instead, since only a collective error
  /// brings all ranks here: MPI_Finalize or the abort ends it, and what was flushed is safe.
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  const Comm& comm() const { return comm_; }

  /// Whether the name still leads to this file: somebody may have removed or replaced it. Of use on rank 0.
  /// Local.
  bool is_in_place() const;

  void flush();
  void close();
  /// Closes and ignores errors: for a file that will be removed.
  void discard() noexcept;

  bool exists(const std::string& object) const;
  bool is_dataset(const std::string& object) const;
  /// Does not throw: for files of other programs, where anything may be found. A group is something else.
  ObjectInfo find(const std::string& object) const;
  /// Names in a group, sorted.
  std::vector<std::string> members(const std::string& group) const;
  /// Makes a group and those above it, as far as they do not exist.
  void create_group(const std::string& group);
  /// A second name for an object (hard link).
  void link(const std::string& existing, const std::string& name);
  /// Takes an object out of its group, with all that is in it.
  void remove(const std::string& object);

  /// `value`: a text, an std::int64_t, a double, or a vector of them.
  template <class T>
  void set_attribute(const std::string& object, const std::string& name, const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string>)
      set_list(object, name, std::vector<std::string>{value});
    else if constexpr (std::is_arithmetic_v<T>)
      set_list(object, name, std::vector<T>{value});
    else
      set_list(object, name, value);
  }
  /// A text of any length, as h5py makes them: a variable-length string, which Python reads as text.
  void set_long_text(const std::string& object, const std::string& name, const std::string& text);
  bool has_attribute(const std::string& object, const std::string& name) const;
  std::vector<std::string> attributes(const std::string& object) const;
  /// What set_attribute() takes; nothing if there is no such attribute or it holds something else.
  template <class T>
  std::optional<T> attribute(const std::string& object, const std::string& name) const {
    if (!has_attribute(object, name)) return std::nullopt;
    const AttributeList list = read_list(object, name);
    if constexpr (std::is_constructible_v<AttributeList, T>) {
      if (const T* values = std::get_if<T>(&list)) return *values;
    } else {
      const auto* values = std::get_if<std::vector<T>>(&list);
      if (values != nullptr && values->size() == 1) return values->front();
    }
    return std::nullopt;
  }
  /// The text of an attribute, or "" if it is absent or no text.
  std::string text_attribute(const std::string& object, const std::string& name) const {
    return attribute<std::string>(object, name).value_or("");
  }

  /// A dataset that is written completely, once. The groups above it are made.
  void create_dataset(const std::string& name, Type type, const Shape& shape, Damage damage = Damage::unseen);
  /// A dataset whose first two axes can grow. New places hold -1 (int64), 0 (int32) or NaN (reals), at the
  /// price of writing them twice; if they are `undefined`, all of them must be written. Chunks are compressed
  /// by gzip if `compression` (its level, up to 9) is not 0.
  void create_growing_dataset(const std::string& name, Type type, const Shape& shape, const Shape& chunk,
                              NewPlaces places = NewPlaces::filled, int compression = 0);
  void resize(const std::string& name, const Shape& shape);
  DatasetInfo info(const std::string& name) const;

  /// Each rank writes or reads its own box of the dataset. The dataset must hold exactly T: HDF5 would
  /// convert, but not collectively.
  template <class T>
  void write(const std::string& name, const Slab& slab, std::span<const T> values) {
    transfer(name, type_of<T>(), slab, const_cast<T*>(values.data()), true);
  }
  template <class T>
  void read(const std::string& name, const Slab& slab, std::vector<T>& values) const {
    make_room(name, slab, values);
    const_cast<File*>(this)->transfer(name, type_of<T>(), slab, values.data(), false);
  }

  /// As read(), for datasets of integers (T is int64) or reals (T is double) of any width. Where HDF5 has to
  /// convert, each rank reads on its own.
  template <class T>
  void read_any_width(const std::string& name, const Slab& slab, std::vector<T>& values) const {
    make_room(name, slab, values);
    const_cast<File*>(this)->transfer(name, type_of<T>(), slab, values.data(), false, true);
  }

  /// A new dataset of the rows of all ranks in rank order, `components` numbers each; one component makes it
  /// one-dimensional. Returns the place of this rank's first row.
  template <class T>
  std::int64_t write_rows(const std::string& name, std::span<const T> values, int components = 1,
                          Damage damage = Damage::unseen) {
    return write_rows(name, type_of<T>(), static_cast<std::int64_t>(values.size()) / components, components,
                      const_cast<T*>(values.data()), damage);
  }

  /// A list of records that can grow.
  void create_records(const std::string& name, const RecordLayout& layout, std::int64_t chunk);
  /// Number of records. Throws if the dataset is no list of records with these fields.
  std::int64_t n_records(const std::string& name, const RecordLayout& layout) const;
  void resize_records(const std::string& name, const RecordLayout& layout, std::int64_t count) {
    n_records(name, layout);
    resize(name, {count});
  }
  /// Each rank writes or reads `count` records (as `layout` lays them out in memory) from `first` on.
  void write_records(const std::string& name, const RecordLayout& layout, std::int64_t first,
                     std::int64_t count, const void* records) {
    transfer_records(name, layout, {{first}, {count}}, const_cast<void*>(records), true);
  }
  void read_records(const std::string& name, const RecordLayout& layout, std::int64_t first,
                    std::int64_t count, void* records) const {
    const_cast<File*>(this)->transfer_records(name, layout, {{first}, {count}}, records, false);
  }

  /// A text of any length, kept as a dataset.
  void write_text(const std::string& name, const std::string& text);
  std::string read_text(const std::string& name) const;

 private:
  template <class T>
  void make_room(const std::string& name, const Slab& slab, std::vector<T>& values) const {
    const std::int64_t n = std::max<std::int64_t>(slab.size(), 0);
    require_room(static_cast<Real>(n) * sizeof(T), name);
    values.resize(n);
  }
  /// Refuses what cannot be held: a damaged file may name any size.
  void require_room(Real bytes, const std::string& what) const;
  void transfer(const std::string& name, Type type, const Slab& slab, void* values, bool writing,
                bool converting = false);
  std::int64_t write_rows(const std::string& name, Type type, std::int64_t mine, int components, void* values,
                          Damage damage);
  void transfer_records(const std::string& name, const RecordLayout& layout, const Slab& slab, void* records,
                        bool writing);
  /// A dataset of elements of an HDF5 type; `properties` and `space` are HDF5's, too.
  void create(const std::string& name, std::int64_t type, std::int64_t space, std::int64_t properties);
  /// Moves a box of a dataset of this shape, whose elements have `bytes` on the disk.
  void move_box(const std::string& name, std::int64_t type, std::int64_t bytes, const Shape& shape,
                const Slab& slab, void* values, bool writing);
  void set_list(const std::string& object, const std::string& name, const AttributeList& list);
  AttributeList read_list(const std::string& object, const std::string& name) const;
  void write_attribute(const std::string& object, const std::string& name, std::int64_t type,
                       std::size_t count, const void* values);
  /// Every growth of the file goes through here first: HDF5 cannot be brought back to order once it failed to
  /// write.
  void reserve(std::int64_t bytes, const std::string& purpose);
  [[noreturn]] void throw_error(const std::string& message) const;
  /// Agrees on the outcome of an operation; `operation` completes "cannot ...".
  void require(bool done, const std::string& operation) const;

  Comm comm_;
  std::string path_;
  bool writable_ = false;
  std::optional<InputCrashGuard> guard_;  // of files that are only read
  std::int64_t id_ = -1;
  std::uint64_t device_ = 0, number_ = 0;  ///< of the file, on rank 0
  std::int64_t flushed_size_ = 0;          ///< length on the disk at the last flush (of use on rank 0)
  std::int64_t wanted_ = 0;                ///< bytes for what was written since then, at most
  std::int64_t reserved_ = 0;              ///< bytes that the disk has promised since then
};

/// A new file that has its name only when it is complete: written as NAME.part, which commit() makes durable
/// and renames. All members are collective.
class PartFile {
 public:
  enum class Start {
    empty,
    copy  ///< of the file that has the name, or that a link of this name leads to (require_replaceable)
  };
  /// Throws InputError if the file or its folder may not be written into. One that nobody has permission to
  /// write is refused to the superuser, too, whom the system would let. Local.
  static void require_replaceable(const std::string& path);

  PartFile(const Comm& comm, const std::string& path, Start start = Start::empty);
  /// Removes the .part if commit() was not reached (unless an exception from elsewhere travels: then the file
  /// is left behind, and the next one of this name replaces it).
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Runs work(file); removes the .part if it throws a CollectiveError.
  template <class Work>
  void write(const Work& work) {
    try {
      work(*file_);
    } catch (const CollectiveError&) {
      abandon();
      throw;
    }
  }
  /// Flushes, closes, renames. Nothing may be written afterwards.
  void commit();

 private:
  void abandon() noexcept;

  Comm comm_;
  std::string path_;
  std::string part_;
  std::unique_ptr<File> file_;
};

}  // namespace scree::hdf5
