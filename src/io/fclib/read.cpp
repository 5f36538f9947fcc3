#include "core/as_input.hpp"
#include "core/timing.hpp"
#include "io/fclib/checks.hpp"

namespace scree {

using namespace fclib;

namespace {

/// Which of the two groups the file has.
bool is_global_file(CheckedFile& file) {
  const bool is_local = file.exists(local_group);
  const bool is_global = file.exists(global_group);
  if (is_local && is_global)
    file.refuse(fmt::format("it has {} and {}: which of the two problems is meant is not clear", local_group,
                            global_group));
  if (is_local || is_global) return is_global;
  if (file.exists("/fclib_global_rolling"))
    file.refuse("it holds a problem with rolling friction (/fclib_global_rolling), which is not supported");
  const std::vector<std::string> members = file.file().members("/");
  std::string what = "it is empty";
  if (!members.empty()) what = fmt::format("it has /{}", fmt::join(members, ", /"));
  const std::string kind = file.file().text_attribute("/", "kind");
  if (file.exists("/h5md")) what += "; it is the record of a run";
  if (!kind.empty()) what += fmt::format("; it is a {} of scree", kind);
  file.refuse(fmt::format("no contact problem, neither {} nor {}: {}", local_group, global_group, what));
}

/// The number of contacts, from the number of relative velocities.
std::int64_t n_contacts_of(const CheckedFile& file, const std::string& size, std::int64_t n, int dimension) {
  if (n % dimension != 0) file.refuse(fmt::format("{} is {}, no multiple of {}", size, n, dimension));
  return n / dimension;
}

void require_size(const CheckedFile& file, const std::string& size, std::int64_t found,
                  const std::string& other, std::int64_t expected) {
  if (found != expected) file.refuse(fmt::format("{} is {}, but {} is {}", size, found, other, expected));
}

void read_global(CheckedFile& file, FclibProblem& problem) {
  const std::string& group = global_group;
  problem.M = file.matrix(group + "/M");
  const std::int64_t n = problem.n_velocities = problem.M.n_rows;
  require_size(file, group + "/M/n", problem.M.n_columns, group + "/M/m", n);
  problem.H = file.matrix(group + "/H");
  require_size(file, group + "/H/m", problem.H.n_rows, group + "/M/m", n);
  problem.n_contacts = n_contacts_of(file, group + "/H/n", problem.H.n_columns, problem.dimension);
  if (file.exists(group + "/G")) {
    problem.G = file.matrix(group + "/G");
    require_size(file, group + "/G/m", problem.G.n_rows, group + "/M/m", n);
    problem.n_constraints = problem.G.n_columns;
    problem.b = file.vector(group + "/vectors/b", problem.n_constraints, 1, "columns of G");
  }
  problem.f = file.vector(group + "/vectors/f", n, 1, "rows of M");
  problem.w = file.vector(group + "/vectors/w", problem.n_contacts, problem.dimension, "contacts");
  problem.asymmetry = checked_asymmetry(file, group + "/M", problem.M, asymmetry_limit_of_masses, true);
  const std::int64_t per_body = problem.dimension == 2 ? n_velocities<2> : n_velocities<3>;
  require_definite_blocks(file, group + "/M", problem.M, per_body, "body");
}

void read_local(CheckedFile& file, FclibProblem& problem) {
  const std::string& group = local_group;
  problem.W = file.matrix(group + "/W");
  const std::int64_t m = problem.W.n_rows;
  require_size(file, group + "/W/n", problem.W.n_columns, group + "/W/m", m);
  problem.n_contacts = n_contacts_of(file, group + "/W/m", m, problem.dimension);
  if (file.exists(group + "/V") || file.exists(group + "/R")) {
    problem.V = file.matrix(group + "/V");
    problem.R = file.matrix(group + "/R");
    problem.n_constraints = problem.V.n_columns;
    require_size(file, group + "/V/m", problem.V.n_rows, group + "/W/m", m);
    require_size(file, group + "/R/m", problem.R.n_rows, group + "/V/n", problem.n_constraints);
    require_size(file, group + "/R/n", problem.R.n_columns, group + "/V/n", problem.n_constraints);
    problem.s = file.vector(group + "/vectors/s", problem.n_constraints, 1, "columns of V");
  }
  problem.q = file.vector(group + "/vectors/q", problem.n_contacts, problem.dimension, "contacts");
  problem.asymmetry = checked_asymmetry(file, group + "/W", problem.W, asymmetry_limit_of_delassus, false);
  require_definite_blocks(file, group + "/W", problem.W, problem.dimension, "contact");
}

/// The group /scree of io/fclib.hpp.
void read_extras(CheckedFile& file, FclibProblem& problem) {
  const std::int64_t per_body = problem.dimension == 2 ? n_velocities<2> : n_velocities<3>;
  const std::int64_t n_bodies = problem.n_velocities / per_body;
  const EvenShare velocities(file.comm(), problem.n_velocities);
  problem.free_velocity = file.table("/scree/free_velocity", n_bodies, per_body, velocities);
  problem.start_velocity = file.table("/scree/start_velocity", n_bodies, per_body, velocities);
  const std::string name = "/scree/compliance";
  const EvenShare places(file.comm(), problem.n_contacts, 2);
  problem.compliance = file.table(name, problem.n_contacts, 2, places);
  const auto compliance = [&](std::int64_t place) { return problem.compliance.values[places.at(place)]; };
  file.refuse_first(
      problem.compliance.values.empty() ? Range() : places,
      [&](std::int64_t place) { return compliance(place) < 0; },
      [&](std::int64_t place) {
        return fmt::format("{}[{}, {}] is {}, negative", name, place / 2, place % 2, compliance(place));
      });
  problem.time_step = file.attribute("/scree", "time_step");
  problem.velocity_floor = file.attribute("/scree", "velocity_floor");
}

FclibProblem read_problem(CheckedFile& file) {
  FclibProblem problem;
  problem.path = file.file().path();
  problem.is_global = is_global_file(file);
  const std::string& group = problem.is_global ? global_group : local_group;
  const std::int64_t dimension = file.integer(group + "/spacedim");
  if (dimension != 2 && dimension != 3)
    file.refuse(fmt::format("{}/spacedim is {}, not 2 or 3{}", group, dimension,
                            dimension == 5 ? ": rolling friction is not supported" : ""));
  problem.dimension = static_cast<int>(dimension);
  if (problem.is_global)
    read_global(file, problem);
  else
    read_local(file, problem);

  const std::string name = group + "/vectors/mu";
  problem.mu = file.vector(name, problem.n_contacts, 1, "contacts");
  const auto mu = [&](std::int64_t contact) { return problem.mu.values[contact - problem.mu.first]; };
  file.refuse_first(
      EvenShare(file.comm(), problem.n_contacts), [&](std::int64_t c) { return mu(c) < 0; },
      [&](std::int64_t c) { return fmt::format("{}[{}] is {}, negative", name, c, mu(c)); });
  problem.info = {file.text(group + "/info/title"), file.text(group + "/info/description"),
                  file.text(group + "/info/math_info")};

  problem.has_solution = file.exists("/solution");
  if (file.exists("/guesses/number_of_guesses"))
    problem.n_guesses = file.integer("/guesses/number_of_guesses");
  if (problem.is_global && file.exists("/scree")) read_extras(file, problem);
  if (problem.is_global) require_bodies_of_contacts(file, problem);
  return problem;
}

/// Runs work(file); a file that is refused is closed.
template <class Work>
auto with_file(const Comm& comm, const std::string& path, const Work& work) {
  Scope timer("fclib");
  CheckedFile file(comm, path);
  try {
    return as_input(path, [&] { return work(file); });
  } catch (const CollectiveError&) {
    file.file().discard();
    throw;
  }
}

}  // namespace

FclibProblem read_fclib(const Comm& comm, const std::string& path) {
  return with_file(comm, path, read_problem);
}

FclibSolution read_fclib_solution(const Comm& comm, const FclibProblem& problem, const std::string& group) {
  return with_file(comm, problem.path, [&](const CheckedFile& file) {
    FclibSolution solution;
    const auto read = [&](const std::string& name, std::int64_t n, std::int64_t width,
                          std::string_view items) {
      return file.vector(group + "/" + name, n, width, items);
    };
    solution.r = read("r", problem.n_contacts, problem.dimension, "contacts");
    if (file.exists(group + "/u")) solution.u = read("u", problem.n_contacts, problem.dimension, "contacts");
    if (problem.is_global && file.exists(group + "/v"))
      solution.v = read("v", problem.n_velocities, 1, "rows of M");
    if (problem.n_constraints > 0 && file.exists(group + "/l"))
      solution.l = read("l", problem.n_constraints, 1, "bilateral constraints");
    return solution;
  });
}

}  // namespace scree
