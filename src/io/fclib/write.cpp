#include "core/timing.hpp"
#include "io/fclib/checks.hpp"
#include "io/fclib_layout.hpp"

namespace scree {

using namespace fclib;
using fclib_layout::write_info;
using fclib_layout::write_integer;
using fclib_layout::write_matrix;
using fclib_layout::write_vector;

namespace {

/// Those vectors of a solution that there are.
void write_solution(hdf5::File& file, const std::string& group, const FclibProblem& problem,
                    const FclibSolution& solution, bool with_v) {
  const Comm& comm = file.comm();
  const auto write = [&](const std::string& name, const VectorShare& vector, std::int64_t expected) {
    const std::int64_t n = comm.sum(static_cast<std::int64_t>(vector.values.size()));
    SCREE_ASSERT(n == 0 || n == expected);
    if (n == expected) write_vector(file, group + "/" + name, vector.values);
  };
  if (with_v && problem.is_global) write("v", solution.v, problem.n_velocities);
  write("u", solution.u, problem.n_contacts * problem.dimension);
  write("r", solution.r, problem.n_contacts * problem.dimension);
  if (problem.n_constraints > 0) write("l", solution.l, problem.n_constraints);
}

/// A matrix as compressed rows.
void write_rows(hdf5::File& file, const std::string& name, const SparseShare& matrix,
                const std::string& path) {
  const Comm& comm = file.comm();
  const EvenShare rows(comm, matrix.n_rows);
  std::vector<Entry> entries = sorted_by_rows(comm, matrix, false);
  std::size_t n = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (n > 0 && entries[n - 1].row == entries[e].row && entries[n - 1].column == entries[e].column)
      entries[n - 1].value += entries[e].value;
    else
      entries[n++] = entries[e];
  }
  entries.resize(n);

  const auto mine = static_cast<std::int64_t>(n);
  const std::int32_t n_entries = fclib_integer(comm.sum(mine), "entries of " + name, path);
  const std::int64_t before = comm.sum_before(mine);
  fclib_layout::Stretch stretch;
  std::size_t e = 0;
  for (std::int64_t row = rows.first; row < rows.last; ++row) {
    stretch.p.push_back(static_cast<std::int32_t>(before + static_cast<std::int64_t>(e)));
    for (; e < n && entries[e].row == row; ++e) {
      stretch.i.push_back(static_cast<std::int32_t>(entries[e].column));
      stretch.x.push_back(entries[e].value);
    }
  }
  if (comm.rank() == comm.size() - 1) stretch.p.push_back(n_entries);
  write_matrix(file, name, stretch, n_entries, fclib_integer(matrix.n_rows, "rows of " + name, path),
               fclib_integer(matrix.n_columns, "columns of " + name, path), fclib_layout::compressed_rows);
}

}  // namespace

void write_fclib_solution(const Comm& comm, const FclibProblem& problem, const FclibSolution& solution) {
  Scope timer("fclib");
  hdf5::PartFile part(comm, problem.path, hdf5::PartFile::Start::copy);
  part.write([&](hdf5::File& file) {
    if (file.exists("/solution")) file.remove("/solution");
    file.create_group("/solution");
    write_solution(file, "/solution", problem, solution, true);
  });
  part.commit();
}

void write_fclib_local(const Comm& comm, const FclibProblem& problem, const std::string& path,
                       const FclibSolution* guess) {
  Scope timer("fclib");
  SCREE_ASSERT(!problem.is_global);
  hdf5::PartFile part(comm, path);
  part.write([&](hdf5::File& file) {
    const std::string& group = local_group;
    write_integer(file, group + "/spacedim", problem.dimension);
    write_rows(file, group + "/W", problem.W, path);
    if (problem.n_constraints > 0) {
      write_rows(file, group + "/V", problem.V, path);
      write_rows(file, group + "/R", problem.R, path);
      write_vector(file, group + "/vectors/s", problem.s.values);
    }
    write_vector(file, group + "/vectors/q", problem.q.values);
    write_vector(file, group + "/vectors/mu", problem.mu.values);
    write_info(file, group, problem.info);
    if (guess != nullptr) {
      write_integer(file, "/guesses/number_of_guesses", 1);
      write_solution(file, "/guesses/1", problem, *guess, false);
    }
  });
  part.commit();
}

}  // namespace scree
