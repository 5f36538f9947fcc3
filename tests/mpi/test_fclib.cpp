// Friction problems as FCLIB files: what is in them, on any number of ranks.
#include "io/fclib.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "core/error.hpp"
#include "core/hdf5.hpp"
#include "support/debian_python.hpp"
#include "support/generated.hpp"
#include "support/lattice_problem.hpp"
#include "support/solve_serial.hpp"
#include "unit/io/file_size_limit.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

/// Ids above 2^53 in no order.
GlobalId id_of(Index body) {
  return (GlobalId{1} << 53) + 1 + 5 * (GlobalId{body} * 700 % 1009);
}

/// Contacts of one pair are distinguished by numbers that fall, static bodies are constraints 0 to 2.
template <int D>
ContactKey key_of(const SerialProblem<D>& whole, Index contact) {
  const std::size_t c = contact;
  const auto name = [&](Index body) { return body < 0 ? GlobalId{-1} - contact % 3 : id_of(body); };
  return {name(whole.a[c]), name(whole.b[c]), -contact};
}

/// Compliant in part, two contacts per pair, mass matrices with couplings.
template <int D>
SerialProblem<D> whole_problem() {
  constexpr std::size_t q = n_velocities<D>;
  SerialProblem<D> whole = lattice_problem<D>(3, 0.5, true);
  for (std::size_t i = 0; i < whole.position.size(); ++i) {
    Real* block = whole.mass.data() + i * q * q;
    block[0 * q + q - 1] = block[(q - 1) * q] = 1e-3 * static_cast<Real>(1 + i);
  }
  whole.compliance.assign(whole.mu.size() * 2, 0.0);
  for (std::size_t c = 0; c < whole.mu.size(); ++c) {
    whole.mu[c] = 0.01 * static_cast<Real>(c);
    whole.bias[c * D + D - 1] = -0.1 * static_cast<Real>(c);
    whole.compliance[2 * c] = static_cast<Real>(c % 4);
  }
  return whole;
}

Real start_velocity(GlobalId id, std::size_t k) {
  return std::sin(static_cast<Real>(id % 1000) + static_cast<Real>(k));
}
Real impulse(Index contact, std::size_t k) {
  return std::cos(static_cast<Real>(contact) + 2 * static_cast<Real>(k));
}

/// Shares `whole` between the ranks of `comm` and writes it, with start velocities and a guess.
template <int D>
void write_whole(const Comm& comm, const SerialProblem<D>& whole, const std::string& path) {
  constexpr std::size_t q = n_velocities<D>;
  SplitProblem<D> split(comm, whole);
  FrictionProblem<D>& problem = split.problem();
  for (GlobalId& id : problem.body_id) id = id_of(static_cast<Index>(id));
  for (std::size_t i = 0; i < problem.body_id.size() * q; ++i)
    problem.start_velocity.push_back(start_velocity(problem.body_id[i / q], i % q));
  std::vector<ContactKey> keys;
  std::vector<Real> guess;
  for (const Index c : split.contact_number()) {
    keys.push_back(key_of(whole, c));
    for (std::size_t k = 0; k < D; ++k) guess.push_back(impulse(c, k));
  }
  write_fclib<D>(problem, keys, guess, {"title", "what it is", "what is known"}, path);
}

/// Reads a file on one rank.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(Comm(MPI_COMM_SELF), path, hdf5::Open::read) {}
  const hdf5::File& file() const { return file_; }
  template <class T>
  std::vector<T> all(const std::string& name, int components = 1) const {
    const hdf5::Shape shape = file_.info(name).shape;
    REQUIRE(shape.size() == (components == 1 ? 1 : 2));
    if (components > 1) REQUIRE(shape[1] == components);
    std::vector<T> values;
    file_.read(name, {hdf5::Shape(shape.size(), 0), shape}, values);
    return values;
  }
  std::int32_t integer(const std::string& name) const {
    const auto values = all<std::int32_t>(name);
    REQUIRE(values.size() == 1);
    return values[0];
  }
  /// Row by row; entries must come in the order of rows (`by_rows`) or columns, once and not zero.
  std::vector<Real> matrix(const std::string& name, std::int32_t m, std::int32_t n, bool by_rows) const {
    const auto i = all<std::int32_t>(name + "/i");
    const auto p = all<std::int32_t>(name + "/p");
    const auto x = all<Real>(name + "/x");
    REQUIRE(integer(name + "/m") == m);
    REQUIRE(integer(name + "/n") == n);
    for (const char* count : {"/nz", "/nzmax"})
      REQUIRE(integer(name + count) == static_cast<std::int32_t>(x.size()));
    REQUIRE(i.size() == x.size());
    REQUIRE(p.size() == x.size());
    std::vector<Real> dense(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    std::int64_t before = -1;
    bool sorted = true;
    for (std::size_t e = 0; e < x.size(); ++e) {
      const bool inside = i[e] >= 0 && i[e] < m && p[e] >= 0 && p[e] < n;
      REQUIRE(inside);
      const std::int64_t place = by_rows ? std::int64_t{i[e]} * n + p[e] : std::int64_t{p[e]} * m + i[e];
      sorted = sorted && place > before && x[e] != 0;
      before = place;
      dense[i[e] * n + p[e]] = x[e];
    }
    CHECK(sorted);
    return dense;
  }

 private:
  hdf5::File file_;
};

/// `width` numbers per item of a list, in another order.
template <class T, class Number>
std::vector<T> permuted(const std::vector<Number>& list, std::span<const Index> order, std::size_t width) {
  std::vector<T> values;
  for (const Index item : order)
    for (std::size_t k = 0; k < width; ++k)
      values.push_back(static_cast<T>(list[static_cast<std::size_t>(item) * width + k]));
  return values;
}

template <int D>
void check_content(const SerialProblem<D>& whole, const std::string& path) {
  constexpr int q = n_velocities<D>;
  const Reader reader(path);
  std::vector<Index> bodies(whole.position.size());
  std::iota(bodies.begin(), bodies.end(), 0);
  std::sort(bodies.begin(), bodies.end(), [](Index i, Index j) { return id_of(i) < id_of(j); });
  std::vector<std::int32_t> row(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) row[bodies[i]] = static_cast<std::int32_t>(i);
  std::vector<Index> contacts(whole.a.size());
  std::iota(contacts.begin(), contacts.end(), 0);
  const auto home = [&](Index c) {
    const std::size_t contact = c;
    return id_of(whole.a[contact] < 0 ? whole.b[contact] : whole.a[contact]);
  };
  std::sort(contacts.begin(), contacts.end(), [&](Index c, Index d) {
    return std::pair(home(c), key_of(whole, c)) < std::pair(home(d), key_of(whole, d));
  });

  const auto n = static_cast<std::int32_t>(bodies.size()) * q;
  const auto m = static_cast<std::int32_t>(contacts.size()) * D;
  std::vector<Real> mass(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  std::vector<Real> jacobian(static_cast<std::size_t>(n) * static_cast<std::size_t>(m));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t j = 0; j < q; ++j)
      for (std::size_t k = 0; k < q; ++k)
        mass[(i * q + j) * static_cast<std::size_t>(n) + i * q + k] =
            whole.mass[(static_cast<std::size_t>(bodies[i]) * q + j) * q + k];
  for (std::size_t place = 0; place < contacts.size(); ++place) {
    const std::size_t c = contacts[place];
    for (std::size_t side = 0; side < 2; ++side) {
      const Index body = side == 0 ? whole.a[c] : whole.b[c];
      if (body < 0) continue;
      const auto first = static_cast<std::size_t>(row[body]) * q;
      for (std::size_t k = 0; k < D; ++k)
        for (std::size_t j = 0; j < q; ++j)
          jacobian[(first + j) * static_cast<std::size_t>(m) + place * D + k] =
              whole.jacobian[((c * 2 + side) * D + k) * q + j];
    }
  }
  CHECK(reader.integer("/fclib_global/spacedim") == D);
  CHECK((reader.matrix("/fclib_global/M", n, n, true) == mass));
  CHECK((reader.matrix("/fclib_global/H", n, m, false) == jacobian));
  const auto f = reader.all<Real>("/fclib_global/vectors/f");
  const auto free = permuted<Real>(whole.free_velocity, bodies, q);
  REQUIRE(f.size() == free.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    Real expected = 0;
    for (std::size_t j = 0; j < f.size(); ++j) expected += mass[i * f.size() + j] * free[j];
    CHECK(f[i] == Approx(expected).epsilon(1e-14).margin(1e-18));
  }
  CHECK((reader.all<Real>("/fclib_global/vectors/w") == permuted<Real>(whole.bias, contacts, D)));
  CHECK((reader.all<Real>("/fclib_global/vectors/mu") == permuted<Real>(whole.mu, contacts, 1)));
  CHECK(reader.file().read_text("/fclib_global/info/title") == "title");
  CHECK_THAT(reader.file().read_text("/fclib_global/info/description"),
             Catch::StartsWith("what it is; contacts are compliant"));
  CHECK(reader.file().read_text("/fclib_global/info/math_info") == "what is known");

  std::vector<GlobalId> ids;
  std::vector<Real> start, r;
  for (const Index body : bodies) {
    ids.push_back(id_of(body));
    for (std::size_t k = 0; k < q; ++k) start.push_back(start_velocity(ids.back(), k));
  }
  std::vector<std::int64_t> keys;
  std::vector<std::int32_t> ends;
  for (const Index c : contacts) {
    const ContactKey key = key_of(whole, c);
    keys.insert(keys.end(), {key.a, key.b, key.feature});
    for (const Index body : {whole.a[c], whole.b[c]}) ends.push_back(body < 0 ? -1 : row[body]);
    for (std::size_t k = 0; k < D; ++k) r.push_back(impulse(c, k));
  }
  CHECK(reader.integer("/guesses/number_of_guesses") == 1);
  CHECK((reader.all<Real>("/guesses/1/r") == r));
  CHECK((reader.all<GlobalId>("/scree/body_id") == ids));
  CHECK((reader.all<Real>("/scree/free_velocity", q) == free));
  CHECK((reader.all<Real>("/scree/start_velocity", q) == start));
  CHECK((reader.all<std::int64_t>("/scree/contact_key", 3) == keys));
  CHECK((reader.all<std::int32_t>("/scree/contact_body", 2) == ends));
  CHECK((reader.all<Real>("/scree/compliance", 2) == permuted<Real>(whole.compliance, contacts, 2)));
  const auto number = [&](const std::string& name) {
    return reader.file().attribute<double>("/scree", name);
  };
  CHECK(number("time_step") == whole.time_step);
  CHECK(number("velocity_floor") == whole.velocity_floor);
}

/// A problem of one contact with the given key on each rank, and a body of its own.
void write_with_key(const Comm& comm, GlobalId key, const std::string& path) {
  SerialProblem<2> whole;
  const std::vector<Real> inertia{1}, velocity{0, -1, 0};
  for (int i = 0; i < 4; ++i) {
    const Vec<2> at{{static_cast<Real>(2 * i), 1}};
    whole.add_body(at, 1, inertia, velocity);
    for (int twice = 0; twice < 2; ++twice) whole.add_contact(-1, i, at, unit_vector<2>(1), 0.5);
  }
  const SplitProblem<2> split(comm, whole);
  std::vector<ContactKey> keys;
  for (const Index c : split.contact_number())
    keys.push_back({-1, split.problem().body_id[0], c % 2 == 0 ? 0 : key});
  write_fclib<2>(split.problem(), keys, {}, {}, path);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("fclib: a file holds the problem by ids and keys, and bytes that know no ranks",
                       "[io]", ((int D), D), 2, 3) {
  const Comm world;
  const Scratch scratch;
  const SerialProblem<D> whole = whole_problem<D>();
  write_whole(world, whole, scratch / "together.hdf5");
  if (!world.is_root()) return;
  write_whole(Comm(MPI_COMM_SELF), whole, scratch / "alone.hdf5");
  check_content(whole, scratch / "together.hdf5");
  const std::string content = content_of(scratch / "together.hdf5");
  CHECK(content.size() > 1000);
  CHECK((content == content_of(scratch / "alone.hdf5")));
}

TEMPLATE_TEST_CASE_SIG("fclib: h5py finds that a guess solves the stored equations", "[io]", ((int D), D), 2,
                       3) {
  const Comm comm;
  const Scratch scratch;
  SerialProblem<D> whole = lattice_problem<D>(D == 2 ? 4 : 3);
  for (std::size_t c = 0; c < whole.mu.size(); c += 3) whole.bias[c * D] = 2e-3;
  std::vector<std::string> paths;
  for (const bool compliant : {false, true}) {
    if (compliant) make_compliant<D>(whole, 0.1);
    const SplitProblem<D> split(comm, whole);
    const FrictionProblem<D>& problem = split.problem();
    std::vector<Real> r(problem.mu.size() * D, 0.0);
    std::vector<Real> v(problem.body_id.size() * n_velocities<D>);
    REQUIRE(solve_friction<D>(problem, *make_solver<D>("nsgs"), {.tolerance = 1e-8}, r, v).converged);
    std::vector<ContactKey> keys;
    for (const Index c : split.contact_number()) keys.push_back({0, 0, c});
    paths.push_back(scratch / (compliant ? "compliant.hdf5" : "rigid.hdf5"));
    write_fclib<D>(problem, keys, r, {"solved", "", ""}, paths.back());
  }
  const std::filesystem::path script = SCREE_TESTS "/mpi/read_fclib.py";
  const std::int64_t status = run_python(comm, script, paths);
  if (status == 77) {
    WARN("skipped: python3-h5py is not installed");
    return;
  }
  CHECK(status == 0);
}

TEMPLATE_TEST_CASE_SIG("fclib: where a solve ended is the solution, or else one more guess", "[io]",
                       ((int D), D), 2, 3) {
  const Comm comm;
  const Scratch scratch;
  const SplitProblem<D> split(comm, whole_problem<D>());
  std::vector<ContactKey> keys;
  std::vector<Real> guess, reached;
  for (const Index c : split.contact_number()) {
    keys.push_back({0, 0, c});
    for (std::size_t k = 0; k < D; ++k) {
      guess.push_back(impulse(c, k));
      reached.push_back(impulse(c, k + D));
    }
  }
  const auto write = [&](const std::string& name, const std::vector<Real>& from, const FclibResult& result) {
    write_fclib<D>(split.problem(), keys, from, {}, scratch / name, result);
    comm.barrier();
  };
  write("guess.hdf5", guess, {});
  write("reached.hdf5", reached, {});
  write("solved.hdf5", guess, {.impulse = reached});
  write("unsolved.hdf5", guess, {.impulse = reached, .solved = false});
  write("without_start.hdf5", {}, {.impulse = reached, .solved = false});
  if (!comm.is_root()) return;
  const Reader from_guess(scratch / "guess.hdf5"), from_reached(scratch / "reached.hdf5"),
      solved(scratch / "solved.hdf5"), unsolved(scratch / "unsolved.hdf5");
  for (const std::string name : {"v", "u", "r"}) {
    const auto start = from_guess.all<Real>("/guesses/1/" + name);
    const auto end = from_reached.all<Real>("/guesses/1/" + name);
    CHECK((start != end));
    CHECK((solved.all<Real>("/guesses/1/" + name) == start));
    CHECK((solved.all<Real>("/solution/" + name) == end));
    CHECK((unsolved.all<Real>("/guesses/1/" + name) == start));
    CHECK((unsolved.all<Real>("/guesses/2/" + name) == end));
  }
  CHECK_FALSE(from_guess.file().exists("/solution"));
  CHECK(solved.integer("/guesses/number_of_guesses") == 1);
  CHECK(unsolved.integer("/guesses/number_of_guesses") == 2);
  CHECK_FALSE(unsolved.file().exists("/solution"));
  CHECK((content_of(scratch / "without_start.hdf5") == content_of(scratch / "reached.hdf5")));
}

TEST_CASE("fclib: a rigid problem without guess, and one without contacts", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const auto describe = [&](const SerialProblem<3>& whole) {
    const SplitProblem<3> split(comm, whole);
    std::vector<ContactKey> keys;
    for (const Index c : split.contact_number()) keys.push_back({0, 0, c});
    write_fclib<3>(split.problem(), keys, {}, {"", "rigid", ""}, scratch / "plain.hdf5");
    if (!comm.is_root()) return;
    const Reader reader(scratch / "plain.hdf5");
    CHECK_FALSE(reader.file().exists("/guesses"));
    CHECK_FALSE(reader.file().exists("/scree/compliance"));
    CHECK_FALSE(reader.file().exists("/scree/start_velocity"));
    CHECK(reader.file().read_text("/fclib_global/info/description") == "rigid");
    CHECK(reader.integer("/fclib_global/H/n") == 3 * whole.n_contacts());
    CHECK(reader.integer("/fclib_global/M/n") == 6 * whole.n_bodies());
  };
  SerialProblem<3> whole = generated<3>("stack", 2);
  whole.compliance.assign(whole.mu.size() * 2, 0.0);
  describe(whole);
  SerialProblem<3> free = whole;
  free.a.clear(), free.b.clear(), free.jacobian.clear(), free.bias.clear(), free.mu.clear();
  free.compliance.clear();
  describe(free);
}

TEST_CASE("fclib: what cannot be written is an error on all ranks and leaves the old file alone", "[io]") {
  const Comm comm;
  const Scratch scratch;
  const std::string path = scratch / "problem.hdf5";
  write_with_key(comm, 1, path);
  const std::string content = content_of(path);
  CHECK_THAT(message_of<RunError>([&] { write_with_key(comm, 0, path); }),
             Catch::Contains("two contacts have the key (-1, "));
  {
    const FileSizeLimit limit(3000);
    CHECK_THAT(message_of<RunError>([&] { write_with_key(comm, 2, path); }), Catch::Contains(path));
  }
  CHECK_THAT(message_of<RunError>([&] { write_with_key(comm, 1, scratch / "none/problem.hdf5"); }),
             Catch::Contains("No such file or directory"));
  comm.barrier();
  CHECK((content_of(path) == content));
  CHECK(n_files_in(scratch.folder()) == 1);
  write_with_key(comm, 2, path);
  CHECK((content_of(path) != content));

  CHECK(fclib_integer(2147483647, "velocities", path) == 2147483647);
  CHECK(message_of<RunError>([&] { fclib_integer(2147483648, "velocities", path); }) ==
        "cannot write " + path +
            ": FCLIB counts with 32-bit integers, and 2147483648 velocities are too many");
}
