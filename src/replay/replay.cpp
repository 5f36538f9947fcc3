#include "replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/files.hpp"
#include "core/hdf5.hpp"
#include "core/log.hpp"
#include "core/petsc_options.hpp"
#include "friction/scaled_problem.hpp"
#include "replay/replay_report.hpp"
#include "replay/solver_choice.hpp"
#include "replay/stored_problem.hpp"
#include "run/version.hpp"

namespace scree {

namespace {

namespace fs = std::filesystem;

/// How far the two residuals of a result may lie apart, as a ratio; below `round_off`, or a small share of
/// the tolerance, they need not agree.
constexpr Real max_ratio = 1.5;
constexpr Real round_off = 1e-12;
constexpr Real small_share = 1e-2;
/// A residual that the solver finds just below the tolerance may be just above it when recomputed.
constexpr Real tolerance_slack = 1 + 1e-3;

Real now() {
  return std::chrono::duration<Real>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What tables call a file: its name, with the folder as it was typed if others have the same.
std::string name_of(const std::string& path, const std::vector<std::string>& all) {
  const auto name = [](const std::string& of) { return fs::path(of).filename(); };
  return std::ranges::count(all, name(path), name) > 1 ? path : name(path).string();
}

/// Refuses what would be lost: of files that exist only earlier ones of the kind are replaced, which start
/// with `start_of_kind`; others by force, but problems never.
void check_text_output(const std::string& option, const std::string& path, const std::string& start_of_kind,
                       bool force) {
  check_place(path);
  std::string start(start_of_kind.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(file.gcount());
  if (start.starts_with("\x89HDF"))
    throw InputError(fmt::format("{} {}: this is an HDF5 file, which is not replaced by text", option, path));
  if (!start.empty() && start != start_of_kind && !force)
    throw InputError(fmt::format("{} {}: this file exists and is not what {} writes: --force replaces it",
                                 option, path, option));
}

void check_text_outputs(const Comm& comm, const ReplayOptions& options) {
  files::on_root(comm, [&] {
    std::vector<fs::path> places;
    const auto check = [&](const std::string& option, const std::string& path, const std::string& start) {
      if (path.empty()) return;
      check_text_output(option, path, start, options.force);
      places.push_back(fs::weakly_canonical(fs::absolute(path)));
      if (std::ranges::count(places, places.back()) > 1)
        throw InputError(fmt::format("{} {}: two outputs have this name", option, path));
    };
    check("--csv", options.csv, "file,form,");
    check("--json", options.json, "{\n \"program\":");
  });
}

std::string start_group(const ReplayOptions& options) {
  return options.start == "zero" ? "" : options.start == "guess" ? "/guesses/1" : "/solution";
}

/// Reads all files once, so that a mistake in the last one is found before the first one is solved.
void check_files(const Comm& comm, const ReplayOptions& options) {
  for (const std::string& path : options.files) {
    if (std::ranges::count(options.files, path) > 1) throw InputError(path + " is named more than once");
    const FclibProblem problem = read_fclib(comm, path);
    if (options.form == "global" && !problem.is_global)
      throw InputError(path + " is in local form: --form global needs M and H");
    if (options.start == "guess" && problem.n_guesses == 0)
      throw InputError(path + ": there is no guess to start from");
    if (options.start == "solution" && !problem.has_solution)
      throw InputError(path + ": there is no solution to start from");
    if (options.start != "zero") read_fclib_solution(comm, problem, start_group(options));
    if (options.write_solution) files::on_root(comm, [&] { hdf5::PartFile::require_replaceable(path); });
  }
}

/// Whether the residual from the file bears out what the solver says, as far as this tolerance is concerned:
/// it is met (by the FCLIB measures only), and the two do not contradict each other.
bool agree_on(const FclibResidual& checked, const Residual& said, Real tolerance, ResidualNorm norm) {
  const Real a = checked.larger();
  const Real b = value_of(said, ResidualNorm::fclib);
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  const bool is_fclib = norm == ResidualNorm::fclib;
  if (is_fclib && a > tolerance_slack * tolerance) return false;
  return std::max(a, b) <= max_ratio * std::min(a, b) ||
         std::abs(a - b) <= std::max(round_off, is_fclib ? small_share * tolerance : 0);
}

/// When each tolerance was met; what the last check missed by round-off counts as the report says.
std::vector<ResidualSample> first_below(const SolveReport& report, const std::vector<Real>& tolerances,
                                        ResidualNorm norm) {
  std::vector<ResidualSample> reached;
  const Real min = *std::ranges::min_element(tolerances);
  for (const Real tolerance : tolerances) {
    const auto first = std::ranges::find_if(
        report.trace, [&](const ResidualSample& sample) { return sample.residual <= tolerance; });
    const Real last = value_of(report.residual, norm);
    if (first != report.trace.end() && (tolerance > min || report.converged))
      reached.push_back(*first);
    else if (last <= tolerance)
      reached.push_back({report.trace.empty() ? 0 : report.trace.back().iteration, report.seconds, last});
    else
      reached.push_back({-1, 0, 0});
  }
  return reached;
}

/// A result, this rank's share of it.
struct Result {
  ReplayRow row;
  std::vector<Real> r;
};

/// Ends a solve where the solver gives up, so that what it had reached is checked like any other result.
template <int D>
class KeepingSolver : public FrictionSolver<D> {
 public:
  KeepingSolver(std::unique_ptr<FrictionSolver<D>> solver, std::string& failure)
      : solver_(std::move(solver)), failure_(failure) {}
  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    try {
      solver_->iterate(problem, r, monitor);
    } catch (const RunError& error) {
      failure_ = error.what();
    }
  }

 private:
  std::unique_ptr<FrictionSolver<D>> solver_;
  std::string& failure_;
};

template <int D>
class FileReplay {
 public:
  FileReplay(const Comm& comm, const ReplayOptions& options, const SolverChoice<D>& solvers,
             const FclibProblem& problem)
      : comm_(comm), options_(options), solvers_(solvers), problem_(problem) {}

  /// Throws InputError if the file is no problem for the solvers. Collective.
  void prepare() {
    const Real start = now();
    operator_.emplace(comm_, problem_);
    using Form = typename StoredProblem<D>::Form;
    stored_.emplace(comm_, problem_, *operator_,
                    options_.form == "local"    ? Form::local
                    : options_.form == "global" ? Form::global
                                                : Form::as_stored);
    on_solving_ranks([&](const FrictionProblem<D>& given) { given.validate(); });
    preparation_seconds_ = now() - start;
    start_.assign(problem_.mu.values.size() * D, 0.0);
    if (options_.start != "zero")
      start_ = read_fclib_solution(comm_, problem_, start_group(options_)).r.values;
  }

  ReplayRow empty_row(const std::string& solver) const {
    ReplayRow row;
    row.file = name_of(problem_.path, options_.files);
    row.is_global = problem_.is_global;
    row.solved_global = stored_ && stored_->is_shared();
    row.why_alone = stored_ ? stored_->why_alone() : "";
    row.dimension = D;
    row.contacts = problem_.n_contacts;
    row.velocities = problem_.n_velocities;
    row.constraints = problem_.n_constraints;
    row.preparation_seconds = preparation_seconds_;
    row.solver = solver;
    row.reached.assign(options_.tolerances.size(), {-1, 0, 0});
    row.agrees.assign(options_.tolerances.size(), false);
    return row;
  }

  /// A solver that gives up is a result. Collective.
  Result solve(const std::string& name) {
    Result result{.row = empty_row(name), .r = {}};
    ReplayRow& row = result.row;
    const ResidualNorm norm = options_.natural ? ResidualNorm::natural : ResidualNorm::fclib;
    const StopRule stop{.tolerance = *std::ranges::min_element(options_.tolerances),
                        .max_seconds = options_.max_seconds,
                        .norm = norm};
    std::vector<Real> r = stored_->to_contacts(start_);
    try {
      on_solving_ranks([&](const FrictionProblem<D>& given) {
        std::vector<Real> v(static_cast<std::size_t>(given.n_local()) * FrictionProblem<D>::q);
        KeepingSolver<D> solver(solvers_.make(name), row.failure);
        row.report = solve_friction<D>(given, solver, stop, r, v);
        if (options_.natural) add_fclib_residual(given, r, row.report.residual);
      });
    } catch (const RunError& error) {
      row.failure = error.what();
      return result;
    }
    if (comm_.any(!row.failure.empty()) && row.failure.empty()) row.failure = "rank 0 gave up";
    result.r = stored_->to_stretch(r);
    row.checked = operator_->residual(result.r);
    // Only rank 0 has a report if it solved alone.
    const auto said_by_root = [&](bool value) { return comm_.any(comm_.is_root() && value); };
    row.report.converged = said_by_root(row.report.converged);
    row.reached = first_below(row.report, options_.tolerances, norm);
    for (std::size_t t = 0; t < row.agrees.size(); ++t)
      row.agrees[t] = agree_on(row.checked, row.report.residual, options_.tolerances[t], norm);
    const auto min = std::ranges::min_element(options_.tolerances) - options_.tolerances.begin();
    row.confirmed = row.failure.empty() && row.report.converged &&
                    said_by_root(row.is_solved(static_cast<std::size_t>(min)));
    return result;
  }

  /// Puts what follows from impulses into the file. Collective.
  void write(const std::vector<Real>& r) { write_fclib_solution(comm_, problem_, operator_->solution(r)); }

 private:
  template <class Work>
  void on_solving_ranks(const Work& work) {
    if (stored_->is_shared())
      work(*stored_->problem());
    else
      share_errors(comm_, [&] {
        if (stored_->problem()) work(*stored_->problem());
      });
  }

  /// A solve by the natural residual does not compute the others.
  static void add_fclib_residual(const FrictionProblem<D>& given, std::span<const Real> r,
                                 Residual& residual) {
    ScaledProblem<D> scaled;
    scaled.rebuild(given);
    std::vector<Real> impulse(scaled.impulse_size());
    std::vector<Real> y(scaled.velocity_size());
    scaled.scale_impulse(r, impulse);
    const Residual all = evaluate_residual<D>(scaled, impulse, y, ResidualNorm::fclib);
    residual.fclib_absolute = all.fclib_absolute;
    residual.fclib_relative = all.fclib_relative;
  }

  Comm comm_;
  const ReplayOptions& options_;
  const SolverChoice<D>& solvers_;
  const FclibProblem& problem_;
  std::optional<FclibOperator> operator_;
  std::optional<StoredProblem<D>> stored_;
  std::vector<Real> start_;
  Real preparation_seconds_ = 0;
};

class Replay {
 public:
  Replay(const Comm& comm, const ReplayOptions& options, const Send& send)
      : comm_(comm),
        options_(options),
        send_(send),
        solvers_2d_(options.solvers, options.settings),
        solvers_3d_(options.solvers, options.settings) {}

  ExitCode go() {
    send_("head", {{"program", version_text()},
                   {"command_line", options_.command_line},
                   {"ranks", comm_.size()},
                   {"measure", options_.natural ? "natural" : "fclib"},
                   {"tolerances", options_.tolerances},
                   {"solvers", solvers_3d_.names()}});
    for (const std::string& path : options_.files) {
      const FclibProblem problem = read_fclib(comm_, path);
      if (problem.dimension == 2)
        solve_file<2>(problem, solvers_2d_);
      else
        solve_file<3>(problem, solvers_3d_);
      send_("file", path);
    }
    send_("done", true);
    if (refused_) return ExitCode::bad_input;
    return all_confirmed_ ? ExitCode::done : ExitCode::solver_failure;
  }

 private:
  template <int D>
  void solve_file(const FclibProblem& problem, const SolverChoice<D>& solvers) {
    FileReplay<D> file(comm_, options_, solvers, problem);
    std::string refusal;
    try {
      file.prepare();
    } catch (const InputError& error) {
      refusal = error.what();
      refused_ = true;
    } catch (const RunError& error) {  // too little memory: others may be smaller
      refusal = error.what();
    }
    std::optional<Result> best;
    for (const std::string& name : solvers.names()) {
      Result result{.row = file.empty_row(name), .r = {}};
      if (refusal.empty())
        result = file.solve(name);
      else
        result.row.failure = refusal;
      send_("solve", json_of_solve(result.row, options_.tolerances));
      all_confirmed_ = all_confirmed_ && result.row.confirmed;
      const bool may_be_written = result.row.failure.empty() && (result.row.confirmed || options_.force);
      if (may_be_written && (!best || result.row.checked.larger() < best->row.checked.larger()))
        best = std::move(result);
    }
    if (!options_.write_solution) return;
    if (best)
      file.write(best->r);
    else
      log::warn("{}: nothing was solved, so no solution was written", problem.path);
  }

  Comm comm_;
  const ReplayOptions& options_;
  const Send& send_;
  SolverChoice<2> solvers_2d_;
  SolverChoice<3> solvers_3d_;
  bool all_confirmed_ = true, refused_ = false;
};

}  // namespace

void check_place(const std::string& path) {
  if (fs::exists(path) && !fs::is_regular_file(path))
    throw InputError(path + " is a folder or a device: name a file to write");
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder))
    throw InputError(fmt::format("{} cannot be written: there is no folder {}", path, folder.string()));
}

ExitCode replay(const Comm& comm, const ReplayOptions& options, const Send& send) {
  Replay all(comm, options, send);
  check_text_outputs(comm, options);
  insert_petsc_options(options.petsc_options);
  check_files(comm, options);
  return all.go();
}

}  // namespace scree
