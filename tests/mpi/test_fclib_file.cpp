// FCLIB files of any kind: what is read, on any number of ranks, what is refused, what is written.
#include "io/fclib_file.hpp"

#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <variant>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/hdf5.hpp"
#include "core/program_folder.hpp"
#include "io/array_file.hpp"
#include "support/generated.hpp"
#include "support/solve_serial.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

using Integers = std::vector<std::int32_t>;
using Reals = std::vector<Real>;
/// Datasets by name, of one dimension; a Real stands for an attribute of the group before the last slash.
using Sketch =
    std::map<std::string,
             std::variant<Integers, std::vector<std::int64_t>, Reals, std::vector<float>, std::string, Real>>;

Sketch& operator<<(Sketch& sketch, const Sketch& more) {
  for (const auto& [name, value] : more) sketch[name] = value;
  return sketch;
}

/// Written by rank 0 alone. Collective.
std::string written(const Comm& comm, const Sketch& sketch, const std::string& path) {
  if (comm.is_root()) {
    hdf5::File file(Comm(MPI_COMM_SELF), path, hdf5::Open::overwrite);
    for (const auto& [name, value] : sketch)
      std::visit(
          [&, &name = name](const auto& data) {
            using T = std::remove_cvref_t<decltype(data)>;
            if constexpr (std::is_same_v<T, std::string>) {
              file.write_text(name, data);
            } else if constexpr (std::is_same_v<T, Real>) {
              const std::size_t slash = name.rfind('/');
              file.create_group(name.substr(0, slash));
              file.set_attribute(name.substr(0, slash), name.substr(slash + 1), data);
            } else {
              file.write_rows(name, std::span<const typename T::value_type>(data));
            }
          },
          value);
    file.close();
  }
  comm.barrier();
  return path;
}

struct Dense {
  std::int64_t m = 0, n = 0;
  Reals values;  ///< row by row
  Dense(std::int64_t rows, std::int64_t columns)
      : m(rows), n(columns), values(static_cast<std::size_t>(rows * columns)) {}
  Real& operator()(std::int64_t i, std::int64_t j) { return values[i * n + j]; }
  bool operator==(const Dense&) const = default;
};

/// Some number in [-1, 1], of few digits.
Real noise(std::int64_t i, std::int64_t j = 0) {
  return static_cast<Real>((7919 * (i + 1) + 104729 * (j + 1)) % 2027 - 1013) / 1024;
}

/// Half of the places are zero.
Dense some_matrix(std::int64_t m, std::int64_t n) {
  Dense matrix(m, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) matrix(i, j) = (i + j) % 2 == 0 ? noise(i, j) : 0;
  return matrix;
}

Dense symmetric_matrix(std::int64_t n) {
  Dense matrix = some_matrix(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) matrix(i, j) = matrix(j, i);
    matrix(i, i) = 3 + noise(i);
  }
  return matrix;
}

enum class Storage { triplets, columns, rows, all_in_rows, mixed_triplets, roomy_triplets, roomy_rows };
const std::vector<Storage> every_storage{
    Storage::triplets,       Storage::columns,        Storage::rows,      Storage::all_in_rows,
    Storage::mixed_triplets, Storage::roomy_triplets, Storage::roomy_rows};

/// The datasets of a matrix. all_in_rows: with its zeros. mixed_triplets: in no order, with zeros, every
/// third entry in two parts. roomy: with room behind the entries (nzmax).
Sketch stored(const std::string& name, Dense matrix, Storage storage) {
  struct Entry {
    std::int64_t i, j;
    Real x;
  };
  const bool with_zeros = storage == Storage::all_in_rows || storage == Storage::mixed_triplets;
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < matrix.m; ++i)
    for (std::int64_t j = 0; j < matrix.n; ++j)
      if (matrix(i, j) != 0 || with_zeros) entries.push_back({i, j, matrix(i, j)});
  if (storage == Storage::columns)
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.j < b.j; });
  if (storage == Storage::mixed_triplets) {
    for (std::size_t e = 0, n = entries.size(); e < n; e += 3) {
      // Halves add up without rounding.
      entries[e].x /= 2;
      entries.push_back(entries[e]);
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return noise(a.i, a.j) < noise(b.i, b.j); });
  }
  const bool is_triplet = storage == Storage::triplets || storage == Storage::mixed_triplets ||
                          storage == Storage::roomy_triplets;
  Integers p, i;
  Reals x;
  if (!is_triplet)
    p.assign(static_cast<std::size_t>(storage == Storage::columns ? matrix.n : matrix.m) + 1, 0);
  for (const Entry& entry : entries) {
    const std::int64_t outer = storage == Storage::columns ? entry.j : entry.i;
    i.push_back(static_cast<std::int32_t>(is_triplet || storage == Storage::columns ? entry.i : entry.j));
    if (is_triplet)
      p.push_back(static_cast<std::int32_t>(entry.j));
    else
      ++p[static_cast<std::size_t>(outer) + 1];
    x.push_back(entry.x);
  }
  if (!is_triplet) std::partial_sum(p.begin(), p.end(), p.begin());
  if (storage == Storage::roomy_rows) {
    i.push_back(-7);
    x.push_back(std::numeric_limits<Real>::quiet_NaN());
  }
  const auto integer = [](auto value) { return Integers{static_cast<std::int32_t>(value)}; };
  return {{name + "/m", integer(matrix.m)},
          {name + "/n", integer(matrix.n)},
          {name + "/nz", integer(is_triplet                    ? static_cast<int>(x.size())
                                 : storage == Storage::columns ? -1
                                                               : -2)},
          {name + "/nzmax", integer(x.size() + (storage == Storage::roomy_triplets ? 5 : 0))},
          {name + "/p", p},
          {name + "/i", i},
          {name + "/x", x}};
}

Reals some_vector(std::int64_t n, std::int64_t kind) {
  Reals values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(noise(i, kind));
  return values;
}

/// A local problem of `n_contacts`; with bilateral constraints if wanted.
Sketch local_sketch(int dimension, int n_contacts, Storage storage = Storage::rows, int n_constraints = 0) {
  const int m = n_contacts * dimension;
  const std::string group = "/fclib_local";
  Sketch sketch{{group + "/spacedim", Integers{dimension}},
                {group + "/vectors/q", some_vector(m, 1)},
                {group + "/vectors/mu", Reals(static_cast<std::size_t>(n_contacts), 0.3)},
                {group + "/info/title", "local"},
                {group + "/info/description", std::string("caf\xe9\0\0\0", 7)}};
  sketch << stored(group + "/W", symmetric_matrix(m), storage);
  if (n_constraints > 0) {
    sketch << stored(group + "/V", some_matrix(m, n_constraints), storage);
    sketch << stored(group + "/R", symmetric_matrix(n_constraints), storage);
    sketch[group + "/vectors/s"] = some_vector(n_constraints, 2);
  }
  return sketch;
}

Sketch global_sketch(int dimension, int n_contacts, int n, Storage storage = Storage::triplets,
                     int n_constraints = 0) {
  const int m = n_contacts * dimension;
  const std::string group = "/fclib_global";
  Sketch sketch{{group + "/spacedim", Integers{dimension}},
                {group + "/vectors/f", some_vector(n, 1)},
                {group + "/vectors/w", some_vector(m, 3)},
                {group + "/vectors/mu", Reals(static_cast<std::size_t>(n_contacts), 0.3)}};
  sketch << stored(group + "/M", symmetric_matrix(n), storage);
  sketch << stored(group + "/H", some_matrix(n, m), storage);
  if (n_constraints > 0) {
    sketch << stored(group + "/G", some_matrix(n, n_constraints), storage);
    sketch[group + "/vectors/b"] = some_vector(n_constraints, 2);
  }
  return sketch;
}

/// The whole matrix on every rank.
Dense dense(const Comm& comm, const SparseShare& share) {
  Dense matrix(share.n_rows, share.n_columns);
  for (std::size_t e = 0; e < share.value.size(); ++e)
    matrix(share.row[e], share.column[e]) += share.value[e];
  comm.sum_to_round_off(matrix.values);
  return matrix;
}

/// The whole vector on every rank; stretches must be those of n items of `width` numbers.
Reals whole(const Comm& comm, const VectorShare& share, std::int64_t n, std::int64_t width = 1) {
  const EvenShare even(comm, n, width);
  REQUIRE(share.first == even.first);
  REQUIRE(share.values.size() == even.size());
  Reals values(static_cast<std::size_t>(n * width));
  std::copy(share.values.begin(), share.values.end(), values.begin() + even.first);
  comm.sum_to_round_off(values);
  return values;
}

bool same(const Comm& comm, const SparseShare& a, const SparseShare& b) {
  return dense(comm, a) == dense(comm, b);
}

/// Both as the same numbers, whatever the storage. Collective.
bool same_problem(const Comm& comm, const FclibProblem& a, const FclibProblem& b) {
  const auto same_vector = [&](const VectorShare& x, const VectorShare& y) {
    return comm.all(x.first == y.first && x.values == y.values);
  };
  bool result = a.is_global == b.is_global && a.dimension == b.dimension && a.n_contacts == b.n_contacts &&
                a.n_velocities == b.n_velocities && a.n_constraints == b.n_constraints &&
                a.info.title == b.info.title && a.info.description == b.info.description &&
                a.info.math_info == b.info.math_info && a.asymmetry == b.asymmetry;
  for (const auto matrix : {&FclibProblem::M, &FclibProblem::H, &FclibProblem::G, &FclibProblem::W,
                            &FclibProblem::V, &FclibProblem::R})
    result = same(comm, a.*matrix, b.*matrix) && result;
  for (const auto vector : {&FclibProblem::f, &FclibProblem::w, &FclibProblem::b, &FclibProblem::q,
                            &FclibProblem::s, &FclibProblem::mu})
    result = same_vector(a.*vector, b.*vector) && result;
  return result;
}

/// Impulses and velocities of all kinds, this rank's stretches.
FclibSolution some_solution(const Comm& comm, const FclibProblem& problem) {
  const auto stretch = [&](std::int64_t n, std::int64_t width, int kind) {
    const EvenShare share(comm, n, width);
    VectorShare vector{share.first, {}};
    for (std::int64_t i = share.first; i < share.last; ++i) vector.values.push_back(noise(i, kind));
    return vector;
  };
  return {stretch(problem.n_velocities, 1, 10), stretch(problem.n_contacts, problem.dimension, 11),
          stretch(problem.n_contacts, problem.dimension, 12), stretch(problem.n_constraints, 1, 13)};
}

bool same_solution(const Comm& comm, const FclibSolution& a, const FclibSolution& b) {
  return comm.all(a.v.values == b.v.values && a.u.values == b.u.values && a.r.values == b.r.values &&
                  a.l.values == b.l.values);
}

const std::filesystem::path shared_folder = SCREE_TESTS "/../../shared/fclib";

std::vector<std::string> shared_files() {
  std::vector<std::string> paths;
  if (std::filesystem::exists(shared_folder))
    for (const auto& entry : std::filesystem::directory_iterator(shared_folder))
      if (entry.path().extension() == ".hdf5") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// A sum that shows which numbers stand where, alike for any distribution.
std::int64_t fingerprint(const Comm& comm, const FclibProblem& problem) {
  std::int64_t sum = 0;
  const auto add = [&](std::int64_t i, std::int64_t j, Real x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    const auto place = static_cast<std::uint64_t>(i * 1000003 + j + 1);
    std::uint64_t word = bits ^ (place * 0x9e3779b97f4a7c15U);
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    sum += static_cast<std::int64_t>((word ^ (word >> 31)) >> 24);  // 2^23 of them do not overflow
  };
  for (const SparseShare* matrix : {&problem.M, &problem.H, &problem.W})
    for (std::size_t e = 0; e < matrix->value.size(); ++e)
      add(matrix->row[e], matrix->column[e], matrix->value[e]);
  for (const VectorShare* vector : {&problem.f, &problem.w, &problem.q, &problem.mu})
    for (std::size_t i = 0; i < vector->values.size(); ++i)
      add(vector->first + static_cast<std::int64_t>(i), -1, vector->values[i]);
  return comm.sum(sum);
}

/// What a command of the folder of the test programs returns, on all ranks; 127 if there is none.
std::int64_t run_beside(const Comm& comm, const std::string& program, const std::string& arguments) {
  std::int64_t status = 0;
  if (comm.is_root()) {
    const auto path = program_beside(program.c_str());
    status = std::filesystem::exists(path)
                 ? WEXITSTATUS(std::system((path.string() + " " + arguments).c_str()))
                 : 127;
  }
  return comm.max(status);
}

std::string refusal(const Comm& comm, const std::string& path) {
  return message_of<InputError>([&] { read_fclib(comm, path); });
}

}  // namespace

TEST_CASE("fclib file: local problems in every storage", "[io]") {
  const Comm comm;
  const Scratch scratch;
  for (const int dimension : {2, 3})
    for (const Storage storage : every_storage) {
      const int n_constraints = dimension == 2 ? 0 : 3;
      CAPTURE(dimension, static_cast<int>(storage));
      const FclibProblem problem = read_fclib(
          comm, written(comm, local_sketch(dimension, 5, storage, n_constraints), scratch / "local.hdf5"));
      CHECK_FALSE(problem.is_global);
      CHECK(problem.dimension == dimension);
      CHECK(problem.n_contacts == 5);
      CHECK(problem.n_constraints == n_constraints);
      CHECK((dense(comm, problem.W) == symmetric_matrix(5 * dimension)));
      CHECK((whole(comm, problem.q, 5, dimension) == some_vector(5 * dimension, 1)));
      CHECK((whole(comm, problem.mu, 5) == Reals(5, 0.3)));
      if (n_constraints > 0) {
        CHECK((dense(comm, problem.V) == some_matrix(5 * dimension, n_constraints)));
        CHECK((dense(comm, problem.R) == symmetric_matrix(n_constraints)));
        CHECK((whole(comm, problem.s, n_constraints) == some_vector(n_constraints, 2)));
      }
      CHECK(problem.info.title == "local");
      CHECK(problem.info.description == "caf\xe9");
      CHECK(problem.info.math_info.empty());
      CHECK(problem.asymmetry == 0);
      CHECK_FALSE(problem.has_solution);
      CHECK(problem.n_guesses == 0);
    }
}

TEST_CASE("fclib file: global problems in every storage, with and without bilateral constraints", "[io]") {
  const Comm comm;
  const Scratch scratch;
  for (const int n_constraints : {0, 4})
    for (const Storage storage : every_storage) {
      CAPTURE(n_constraints, static_cast<int>(storage));
      const FclibProblem problem = read_fclib(
          comm, written(comm, global_sketch(3, 2, 7, storage, n_constraints), scratch / "global.hdf5"));
      CHECK(problem.is_global);
      CHECK(problem.n_contacts == 2);
      CHECK(problem.n_velocities == 7);
      CHECK(problem.n_constraints == n_constraints);
      CHECK((dense(comm, problem.M) == symmetric_matrix(7)));
      CHECK((dense(comm, problem.H) == some_matrix(7, 6)));
      CHECK((whole(comm, problem.f, 7) == some_vector(7, 1)));
      CHECK((whole(comm, problem.w, 2, 3) == some_vector(6, 3)));
      CHECK((whole(comm, problem.mu, 2) == Reals(2, 0.3)));
      if (n_constraints > 0) {
        CHECK((dense(comm, problem.G) == some_matrix(7, n_constraints)));
        CHECK((whole(comm, problem.b, n_constraints) == some_vector(n_constraints, 2)));
      }
      CHECK(problem.free_velocity.values.empty());
      CHECK(problem.time_step == 0);
    }
}

TEST_CASE("fclib file: no contacts", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const FclibProblem local = read_fclib(comm, written(comm, local_sketch(3, 0), scratch / "local.hdf5"));
  CHECK(local.n_contacts == 0);
  CHECK(local.W.n_rows == 0);
  const FclibProblem global =
      read_fclib(comm, written(comm, global_sketch(3, 0, 6), scratch / "global.hdf5"));
  CHECK(global.n_contacts == 0);
  CHECK((dense(comm, global.M) == symmetric_matrix(6)));
}

TEST_CASE("fclib file: numbers of any width, compressed chunks, single numbers without dimension", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const Sketch sketch = local_sketch(2, 40, Storage::all_in_rows);
  const std::string plain = written(comm, sketch, scratch / "plain.hdf5");
  Sketch other = sketch;
  std::vector<float> q;
  for (const Real x : std::get<Reals>(sketch.at("/fclib_local/vectors/q")))
    q.push_back(static_cast<float>(x));
  other["/fclib_local/vectors/q"] = q;
  other["/fclib_local/spacedim"] = std::vector<std::int64_t>{2};
  other.erase("/fclib_local/W/i"), other.erase("/fclib_local/W/x"), other.erase("/fclib_local/W/nz");
  const std::string path = written(comm, other, scratch / "other.hdf5");
  if (comm.is_root()) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const auto write = [&](const std::string& name, hid_t stored, hid_t type, hsize_t n, const void* values) {
      const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
      const hsize_t chunk = 64;
      H5Pset_chunk(properties, 1, &chunk);
      H5Pset_shuffle(properties);
      H5Pset_deflate(properties, 6);
      const hid_t space = n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, nullptr);
      const hid_t dataset = H5Dcreate2(file, ("/fclib_local/W/" + name).c_str(), stored, space, H5P_DEFAULT,
                                       n == 0 ? H5P_DEFAULT : properties, H5P_DEFAULT);
      CHECK(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
      H5Dclose(dataset), H5Sclose(space), H5Pclose(properties);
    };
    const auto& i = std::get<Integers>(sketch.at("/fclib_local/W/i"));
    const auto& x = std::get<Reals>(sketch.at("/fclib_local/W/x"));
    const std::int32_t nz = -2;
    write("i", H5T_STD_U16BE, H5T_NATIVE_INT32, i.size(), i.data());
    write("x", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, x.size(), x.data());
    write("nz", H5T_STD_I8LE, H5T_NATIVE_INT32, 0, &nz);
    H5Fclose(file);
  }
  comm.barrier();
  const FclibProblem expected = read_fclib(comm, plain);
  const FclibProblem found = read_fclib(comm, path);
  CHECK((dense(comm, found.W) == dense(comm, expected.W)));
  CHECK((whole(comm, found.q, 40, 2) == Reals(q.begin(), q.end())));
}

TEST_CASE("fclib file: asymmetry is measured, duplicates added before", "[io]") {
  const Comm comm;
  const Scratch scratch;
  Dense W = symmetric_matrix(6);
  W(0, 0) = 1, W(5, 5) = 4, W(0, 5) = 0.25, W(5, 0) = 0.25 + 0.125 / 4;
  for (const Storage storage : {Storage::rows, Storage::columns, Storage::mixed_triplets}) {
    Sketch sketch = local_sketch(3, 2);
    sketch << stored("/fclib_local/W", W, storage);
    const FclibProblem problem = read_fclib(comm, written(comm, sketch, scratch / "local.hdf5"));
    CHECK(problem.asymmetry == 0.125 / 8);
    CHECK((dense(comm, problem.W) == W));
  }
  // Round-off in a row that is next to zero otherwise.
  W = symmetric_matrix(6);
  for (int i = 0; i < 6; ++i) W(2, i) = W(i, 2) = 0;
  W(2, 2) = 1e-40;
  W(2, 4) = 1e-17;
  Sketch sketch = local_sketch(3, 2);
  sketch << stored("/fclib_local/W", W, Storage::rows);
  CHECK(read_fclib(comm, written(comm, sketch, scratch / "local.hdf5")).asymmetry < 1e-2);
}

TEST_CASE("fclib file: what is wrong is named, with its place, alike on any number of ranks", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const auto local = [](const std::string& name, Sketch::mapped_type value) {
    Sketch sketch = local_sketch(2, 6);
    sketch["/fclib_local/" + name] = std::move(value);
    return sketch;
  };
  const auto local_matrix = [](const std::function<void(Dense&)>& change, Storage storage = Storage::rows) {
    Sketch sketch = local_sketch(2, 6);
    Dense W = symmetric_matrix(12);
    change(W);
    return sketch << stored("/fclib_local/W", W, storage);
  };
  const auto global = [](const std::string& name, Sketch::mapped_type value) {
    Sketch sketch = global_sketch(2, 4, 6, Storage::triplets, 2);
    sketch["/fclib_global/" + name] = std::move(value);
    return sketch;
  };
  const auto global_matrix = [](const std::string& name, const Dense& matrix) {
    Sketch sketch = global_sketch(2, 4, 6, Storage::triplets, 2);
    return sketch << stored("/fclib_global/" + name, matrix, Storage::triplets);
  };
  const auto without = [](Sketch sketch, const std::string& name) {
    sketch.erase(name);
    return sketch;
  };
  // The last places of a list, so that another rank than the first finds them.
  const auto changed = [](const Sketch& sketch, const std::string& name,
                          const std::vector<std::size_t>& places, auto value) {
    Sketch result = sketch;
    auto& values = std::get<std::vector<decltype(value)>>(result.at(name));
    for (const std::size_t back : places) values.at(values.size() - 1 - back) = value;
    return result;
  };
  const Sketch plane = local_sketch(2, 6);
  const Sketch triplets = global_sketch(2, 4, 6, Storage::triplets, 2);
  const auto place = [](const Sketch& sketch, const std::string& name, std::size_t back) {
    return std::visit(
        [&](const auto& values) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Real>)
            return std::string();
          else
            return name + "[" + std::to_string(values.size() - 1 - back) + "]";
        },
        sketch.at(name));
  };
  Sketch both = plane;
  both << triplets;
  const std::string W = "/fclib_local/W", M = "/fclib_global/M", H = "/fclib_global/H";
  Dense indefinite_mass = symmetric_matrix(6);
  indefinite_mass(3, 5) = indefinite_mass(5, 3) = 6;
  Dense without_body = some_matrix(6, 8);
  for (int i = 0; i < 6; ++i) without_body(i, 5) = 0;
  const auto extended = [&](const std::string& name, Sketch::mapped_type value) {
    Sketch sketch = triplets;
    sketch["/scree/" + name] = std::move(value);
    return sketch;
  };
  const std::string local_vector = "/fclib_local/vectors/", global_vector = "/fclib_global/vectors/";

  const std::vector<std::pair<Sketch, std::string>> cases{
      {both, "it has /fclib_local and /fclib_global: which of the two problems is meant is not clear"},
      {{{"/h5md/x", Integers{1}}, {"/particles/x", Integers{1}}},
       "no contact problem, neither /fclib_local nor /fclib_global: it has /h5md, /particles; it is the "
       "record "
       "of a run"},
      {{{"/fclib_global_rolling/spacedim", Integers{5}}},
       "it holds a problem with rolling friction (/fclib_global_rolling), which is not supported"},
      {local("spacedim", Integers{5}),
       "/fclib_local/spacedim is 5, not 2 or 3: rolling friction is not supported"},
      {local("spacedim", Integers{1}), "/fclib_local/spacedim is 1, not 2 or 3"},
      {local("spacedim", Integers{2, 3}), "/fclib_local/spacedim has 2 numbers, not 1"},
      {local("spacedim", Reals{2}), "/fclib_local/spacedim holds reals, not integers"},
      {without(plane, "/fclib_local/spacedim"), "/fclib_local/spacedim is missing"},
      {without(plane, W + "/p"), W + "/p is missing"},
      {without(plane, local_vector + "mu"), local_vector + "mu is missing"},
      {local("vectors/q", Integers(12)), local_vector + "q holds integers, not reals"},
      {local("vectors/q", "12"), local_vector + "q holds text, not reals"},
      {without(local("vectors/q/x", Reals(12)), local_vector + "q"),
       local_vector + "q holds no numbers, not reals"},
      {local("vectors/q", Reals(11)), local_vector + "q has 11 numbers, not 12 for 6 contacts"},
      {local("vectors/mu", Reals(12)), local_vector + "mu has 12 numbers, not 6 for 6 contacts"},
      {changed(plane, local_vector + "mu", {0, 1}, -0.5), local_vector + "mu[4] is -0.5, negative"},
      {changed(plane, local_vector + "mu", {0}, nan), local_vector + "mu[5] is nan"},
      {changed(plane, local_vector + "q", {1, 9}, HUGE_VAL), local_vector + "q[2] is inf"},
      {changed(plane, W + "/x", {0, 3}, nan), place(plane, W + "/x", 3) + " is nan"},
      {local("W/m", Integers{-1}), W + "/m is -1, negative"},
      {local("W/nz", Integers{-3}), W + "/nz is -3: neither a number of triplets"},
      {local("W/m", Integers{13}), W + "/p has 13 numbers, not 14 for 13 rows or columns"},
      {local("W/i", Integers(3)), W + "/i has 3 numbers, but " + W + "/x has "},
      {changed(plane, W + "/i", {2}, 12), place(plane, W + "/i", 2) + " is 12, but indices go from 0 to 11"},
      {changed(plane, W + "/i", {2}, -1), place(plane, W + "/i", 2) + " is -1, but indices go from 0 to 11"},
      {changed(plane, W + "/p", {12}, 1), W + "/p[0] is 1, not 0"},
      {changed(plane, W + "/p", {3}, 2), W + "/p[9] is 2, less than the "},
      {changed(plane, W + "/p", {0}, 999), W + "/p[12] is 999, but there are "},
      {local_matrix([](Dense& w) { w(7, 7) = -1; }), W + "(7, 7) is -1, but the diagonal is not negative"},
      {local_matrix([](Dense& w) { w(7, 7) = 0; }),
       W + ": the block of rows 6 to 7, of contact 3, is not positive definite"},
      {local_matrix([](Dense& w) { w(9, 8) = w(8, 9) = 4.5; }, Storage::mixed_triplets),
       W + ": the block of rows 8 to 9, of contact 4, is not positive definite"},
      {local_matrix([](Dense& w) { w(2, 8) = w(3, 9) = 2; }),
       W + " is not symmetric: " + W + "(2, 8) is 2, " + W + "(8, 2) is "},
      {local_matrix([](Dense& w) { w(2, 9) = 2; }, Storage::mixed_triplets),
       W + " is not symmetric: " + W + "(2, 9) is 2, " + W + "(9, 2) is 0; they differ by "},
      {global_matrix("M", symmetric_matrix(5)), H + "/m is 6, but " + M + "/m is 5"},
      {global_matrix("M", some_matrix(6, 5)), M + "/n is 5, but " + M + "/m is 6"},
      {global_matrix("M", some_matrix(6, 6)), M + "("},
      {global_matrix("M", Dense(6, 6)), M + "(0, 0) is 0, but the diagonal is positive"},
      {global_matrix("M", indefinite_mass),
       M + ": the block of rows 3 to 5, of body 1, is not positive definite"},
      {global_matrix("H", without_body),
       H + ": column 5, of contact 2, is zero: no body answers to its impulse"},
      {extended("compliance", Reals(8)), "/scree/compliance has the shape [8], not [4, 2]"},
      {extended("time_step", Real{-0.5}),
       "the attribute time_step of /scree is -0.5, not a number from 0 on"},
      {extended("time_step", Real{nan}), "the attribute time_step of /scree is nan, not a number from 0 on"},
      {extended("velocity_floor", Real{HUGE_VAL}), "the attribute velocity_floor of /scree is inf, not a "},
      {global_matrix("H", some_matrix(6, 7)), H + "/n is 7, no multiple of 2"},
      {global_matrix("G", some_matrix(5, 2)), "/fclib_global/G/m is 5, but " + M + "/m is 6"},
      {global("H/nz", Integers{99}), H + "/x has "},
      {global("H/p", Integers(3)), H + "/p has 3 numbers, but " + H + "/x has "},
      {changed(triplets, H + "/p", {1}, 8),
       place(triplets, H + "/p", 1) + " is 8, but indices go from 0 to 7"},
      {changed(triplets, H + "/i", {1}, 6),
       place(triplets, H + "/i", 1) + " is 6, but indices go from 0 to 5"},
      {global("vectors/f", Reals(7)), global_vector + "f has 7 numbers, not 6 for 6 rows of M"},
      {global("vectors/w", Reals(7)), global_vector + "w has 7 numbers, not 8 for 4 contacts"},
      {global("vectors/b", Reals(3)), global_vector + "b has 3 numbers, not 2 for 2 columns of G"},
      {without(triplets, global_vector + "b"), global_vector + "b is missing"},
      {changed(triplets, global_vector + "f", {0}, nan), global_vector + "f[5] is nan"},
  };
  int number = 0;
  for (const auto& [sketch, message] : cases) {
    const std::string path = scratch / ("bad" + std::to_string(++number) + ".hdf5");
    CAPTURE(number, message);
    written(comm, sketch, path);
    const std::string found = refusal(comm, path);
    CHECK_THAT(found, Catch::StartsWith(path + ": " + message));
    if (comm.is_root()) CHECK(refusal(Comm(MPI_COMM_SELF), path) == found);
    comm.barrier();
  }
}

TEST_CASE("fclib file: files of another kind", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const std::string path = written(comm, local_sketch(3, 20), scratch / "whole.hdf5");
  const auto expect = [&](const std::string& content, const std::string& message) {
    const std::string other = scratch / "other.hdf5";
    if (comm.is_root()) put(other, content);
    comm.barrier();
    CHECK_THAT(refusal(comm, other), Catch::Contains(other) && Catch::Contains(message));
    comm.barrier();
  };
  expect("", "it is no HDF5 file");
  expect("text\n", "it is no HDF5 file");
  expect(content_of(path).substr(0, 10000), "truncated file");
  ArrayFileWriter checkpoint(comm, scratch / "checkpoint.h5", "checkpoint", 1);
  checkpoint.number("step", std::int64_t{1});
  checkpoint.commit();
  CHECK_THAT(refusal(comm, scratch / "checkpoint.h5"), Catch::EndsWith("; it is a checkpoint of scree"));
  CHECK_THAT(refusal(comm, scratch / "none.hdf5"), Catch::Contains("none.hdf5: No such file"));
  CHECK_THAT(refusal(comm, scratch.folder()), Catch::Contains("it is a folder"));
}

TEST_CASE("fclib file: a problem with bodies of scree comes back with what FCLIB cannot say", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const SerialProblem<3> serial = generated<3>("stack", 4);
  const SplitProblem<3> split(comm, serial);
  FrictionProblem<3> problem = split.problem();
  problem.start_velocity = problem.free_velocity;
  for (Real& v : problem.start_velocity) v += 1;
  problem.compliance.assign(problem.mu.size() * 2, 0.25);
  std::vector<ContactKey> keys;
  for (const auto c : split.contact_number()) keys.push_back({0, 0, c});
  const std::vector<Real> r(problem.mu.size() * 3, 2.0);
  write_fclib<3>(problem, keys, r, {"title", "", ""}, scratch / "stack.hdf5");

  const FclibProblem found = read_fclib(comm, scratch / "stack.hdf5");
  CHECK(found.n_velocities == 6 * serial.n_bodies());
  CHECK(found.n_contacts == serial.n_contacts());
  CHECK(found.n_guesses == 1);
  CHECK(found.time_step == serial.time_step);
  CHECK(found.velocity_floor == serial.velocity_floor);
  const Reals free = whole(comm, found.free_velocity, found.n_velocities);
  CHECK((free == serial.free_velocity));
  Reals start = free;
  for (Real& v : start) v += 1;
  CHECK((whole(comm, found.start_velocity, found.n_velocities) == start));
  CHECK((whole(comm, found.compliance, found.n_contacts, 2) ==
         Reals(static_cast<std::size_t>(found.n_contacts) * 2, 0.25)));
  const FclibSolution guess = read_fclib_solution(comm, found, "/guesses/1");
  CHECK((whole(comm, guess.r, found.n_contacts, 3) ==
         Reals(static_cast<std::size_t>(found.n_contacts) * 3, 2)));
  CHECK(guess.v.values.size() == found.f.values.size());
  CHECK(guess.u.values.size() == guess.r.values.size());
  CHECK_FALSE(found.has_solution);
}

TEST_CASE("fclib file: a solution joins a file, which is otherwise as before", "[io]") {
  const Comm comm;
  const Scratch scratch;
  Sketch sketch = global_sketch(2, 4, 6, Storage::columns, 2);
  sketch["/guesses/number_of_guesses"] = Integers{1};
  sketch["/guesses/1/r"] = some_vector(8, 5);
  sketch["/scree/time_step"] = Real{0.5};
  sketch["/other/x"] = Integers{1, 2, 3};
  const std::string path = written(comm, sketch, scratch / "global.hdf5");
  const FclibProblem before = read_fclib(comm, path);
  CHECK(before.time_step == 0.5);
  CHECK_THAT(message_of<InputError>([&] { read_fclib_solution(comm, before, "/solution"); }),
             Catch::Contains(path + ": /solution/r is missing"));
  const FclibSolution guess = read_fclib_solution(comm, before, "/guesses/1");
  CHECK((whole(comm, guess.r, 4, 2) == some_vector(8, 5)));
  CHECK(guess.u.values.empty());

  FclibSolution solution = some_solution(comm, before);
  write_fclib_solution(comm, before, solution);
  const std::string content = content_of(path);
  const FclibProblem after = read_fclib(comm, path);
  CHECK(after.has_solution);
  CHECK(same_problem(comm, before, after));
  CHECK(same_solution(comm, read_fclib_solution(comm, after, "/solution"), solution));
  if (comm.is_root()) {
    // Without the group it is the file that was.
    const hdf5::File file(Comm(MPI_COMM_SELF), path, hdf5::Open::read);
    CHECK(file.members("/") ==
          std::vector<std::string>{"fclib_global", "guesses", "other", "scree", "solution"});
    std::vector<std::int32_t> x;
    file.read("/other/x", {{0}, {3}}, x);
    CHECK(x == Integers{1, 2, 3});
    const std::string alone = scratch / "alone.hdf5";
    written(Comm(MPI_COMM_SELF), sketch, alone);
    const FclibProblem problem = read_fclib(Comm(MPI_COMM_SELF), alone);
    write_fclib_solution(Comm(MPI_COMM_SELF), problem, some_solution(Comm(MPI_COMM_SELF), problem));
    CHECK((content_of(alone) == content));
    std::filesystem::remove(alone);
  }
  comm.barrier();

  for (Real& r : solution.r.values) r *= 2;
  solution.v.values.clear();
  solution.l.values.clear();
  write_fclib_solution(comm, before, solution);
  CHECK(same_solution(comm, read_fclib_solution(comm, before, "/solution"), solution));
  const std::string second = content_of(path);
  CHECK(second != content);
  comm.barrier();
  {
    const FileSizeLimit limit(4000);
    CHECK_THAT(message_of<RunError>([&] { write_fclib_solution(comm, before, solution); }),
               Catch::Contains(path));
  }
  comm.barrier();
  CHECK((content_of(path) == second));
  CHECK(n_files_in(scratch.folder()) == 1);
}

TEST_CASE("fclib file: impulses are checked as problems are", "[io]") {
  const Comm comm;
  const Scratch scratch;
  Sketch sketch = local_sketch(2, 6);
  const auto message = [&](const std::string& name, const Reals& values) {
    Sketch changed = sketch;
    changed["/solution/r"] = Reals(12);
    changed[name] = values;
    const FclibProblem problem = read_fclib(comm, written(comm, changed, scratch / "local.hdf5"));
    return message_of<InputError>([&] { read_fclib_solution(comm, problem, "/solution"); });
  };
  Reals one_bad(12);
  one_bad[10] = -HUGE_VAL;
  CHECK_THAT(message("/solution/r", one_bad), Catch::EndsWith(": /solution/r[10] is -inf"));
  CHECK_THAT(message("/solution/u", Reals(11)),
             Catch::EndsWith(": /solution/u has 11 numbers, not 12 for 6 contacts"));
  CHECK(message("/solution/u", Reals(12)).empty());
}

TEST_CASE("fclib file: a local problem is written as it is read, in bytes that know no ranks", "[io]") {
  const Comm comm;
  const Scratch scratch;
  for (const int n_constraints : {0, 3}) {
    const std::string origin =
        written(comm, local_sketch(3, 4, Storage::mixed_triplets, n_constraints), scratch / "origin.hdf5");
    const auto rewrite = [&](const Comm& some, const std::string& from, const std::string& to) {
      const FclibProblem problem = read_fclib(some, from);
      const FclibSolution guess = some_solution(some, problem);
      write_fclib_local(some, problem, to, &guess);
    };
    rewrite(comm, origin, scratch / "first.hdf5");
    const FclibProblem problem = read_fclib(comm, origin);
    const FclibProblem first = read_fclib(comm, scratch / "first.hdf5");
    CHECK(same_problem(comm, problem, first));
    CHECK(first.n_guesses == 1);
    FclibSolution expected = some_solution(comm, problem);
    CHECK(same_solution(comm, read_fclib_solution(comm, first, "/guesses/1"), expected));
    rewrite(comm, scratch / "first.hdf5", scratch / "second.hdf5");
    if (comm.is_root()) {
      rewrite(Comm(MPI_COMM_SELF), origin, scratch / "alone.hdf5");
      const std::string content = content_of(scratch / "first.hdf5");
      CHECK((content_of(scratch / "second.hdf5") == content));
      CHECK((content_of(scratch / "alone.hdf5") == content));
      const hdf5::File file(Comm(MPI_COMM_SELF), scratch / "first.hdf5", hdf5::Open::read);
      std::vector<std::int32_t> p, i;
      file.read("/fclib_local/W/p", {{0}, {13}}, p);
      file.read("/fclib_local/W/i", {{0}, {p.back()}}, i);
      CHECK(p.back() == 12 * 12);  // zeros of the origin stay, halves of an entry become one
      for (std::size_t row = 0; row < 12; ++row) CHECK(std::is_sorted(&i[row * 12], &i[row * 12] + 12));
    }
    comm.barrier();
  }
}

TEST_CASE("fclib file: fclib reads what scree writes, and scree what fclib writes", "[io]") {
  const Comm comm;
  const Scratch scratch;
  if (run_beside(comm, "fclib_copy", "") == 127) {
    WARN("skipped: fclib_copy was not built, since libfclib-dev is not installed");
    return;
  }
  std::vector<std::string> paths;
  const auto write_rigid = [&]<int D>() {
    const SerialProblem<D> serial = generated<D>("stack", 3);
    const SplitProblem<D> split(comm, serial);
    std::vector<ContactKey> keys;
    for (const auto c : split.contact_number()) keys.push_back({0, 0, c});
    const std::vector<Real> r(split.problem().mu.size() * D, 2.0);
    paths.push_back(scratch / ("global" + std::to_string(D) + ".hdf5"));
    write_fclib<D>(split.problem(), keys, r, {"title", "description", "math"}, paths.back());
  };
  write_rigid.operator()<2>();
  write_rigid.operator()<3>();
  for (const int dimension : {2, 3}) {
    const std::string origin = written(comm, local_sketch(dimension, 4), scratch / "origin.hdf5");
    const FclibProblem problem = read_fclib(comm, origin);
    const FclibSolution guess = some_solution(comm, problem);
    paths.push_back(scratch / ("local" + std::to_string(dimension) + ".hdf5"));
    write_fclib_local(comm, problem, paths.back(), &guess);
    comm.barrier();
  }
  for (const int dimension : {2, 3}) {
    // fclib reads bilateral constraints and compressed columns, which scree does not write.
    paths.push_back(written(comm, global_sketch(dimension, 2, 6, Storage::columns, 3),
                            scratch / ("constrained" + std::to_string(dimension) + ".hdf5")));
  }
  for (const std::string& path : paths) {
    CAPTURE(path);
    const FclibProblem ours = read_fclib(comm, path);
    write_fclib_solution(comm, ours, some_solution(comm, ours));
    const std::string copy = path + ".copy";
    REQUIRE(run_beside(comm, "fclib_copy", path + " " + copy) == 0);
    const FclibProblem theirs = read_fclib(comm, copy);
    CHECK(same_problem(comm, ours, theirs));
    CHECK(theirs.has_solution);
    CHECK(same_solution(comm, read_fclib_solution(comm, theirs, "/solution"), some_solution(comm, ours)));
    CHECK(theirs.n_guesses == ours.n_guesses);
    if (ours.n_guesses > 0)
      CHECK(same_solution(comm, read_fclib_solution(comm, theirs, "/guesses/1"),
                          read_fclib_solution(comm, ours, "/guesses/1")));
  }
}

TEST_CASE("fclib file: the collection is read alike on any number of ranks", "[io]") {
  const Comm comm;
  const std::vector<std::string> paths = shared_files();
  if (paths.empty()) {
    WARN("skipped: there is no " << shared_folder.string());
    return;
  }
  std::map<std::string, Real> asymmetry;
  for (const std::string& path : paths) {
    CAPTURE(path);
    const FclibProblem problem = read_fclib(comm, path);
    const std::int64_t found = fingerprint(comm, problem);
    if (comm.is_root()) {
      const Comm self(MPI_COMM_SELF);
      const FclibProblem alone = read_fclib(self, path);
      CHECK(fingerprint(self, alone) == found);
      CHECK(alone.asymmetry == problem.asymmetry);
    }
    asymmetry[std::filesystem::path(path).stem().string()] = problem.asymmetry;
  }
  // What numpy finds in them, with the matrices in full.
  CHECK(asymmetry.at("BulletCapsules__n100-nc166-s1-i0119") == Approx(0.0528467).epsilon(1e-5));
  CHECK(asymmetry.at("LMGC__CubeH8") == Approx(0.21665157).epsilon(1e-6));
  CHECK(asymmetry.at("Capsules__Capsules-i125-1213") == Approx(3.19e-3).epsilon(1e-2));
  CHECK(asymmetry.at("Stack__20-s1") == 0);
}
