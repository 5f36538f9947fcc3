#include "run/problem_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/log.hpp"
#include "io/fclib.hpp"

namespace scree {

namespace {

const std::string periodic = ".fclib_";
const std::string failed = ".failed_";

/// The step in NAME + kind + STEP.hdf5 or STEP.hdf5.part; -1: not a file of this kind.
std::int64_t step_of(const std::string& file_name, const std::string& run_name, const std::string& kind) {
  const std::string start = run_name + kind;
  if (!file_name.starts_with(start)) return -1;
  const char* end = file_name.data() + file_name.size();
  std::int64_t step = -1;
  const auto [stopped, error] = std::from_chars(file_name.data() + start.size(), end, step);
  const std::string_view rest(stopped, static_cast<std::size_t>(end - stopped));
  return error == std::errc() && (rest == ".hdf5" || rest == ".hdf5.part") ? step : -1;
}

}  // namespace

bool is_problem_file(const std::string& file_name, const std::string& run_name) {
  return step_of(file_name, run_name, periodic) >= 0 || step_of(file_name, run_name, failed) >= 0;
}

template <int D>
ProblemWriter<D>::ProblemWriter(const Comm& comm, const RunFiles& files, const OutputSettings& settings,
                                std::optional<Clock> resume_after)
    : files_(files), settings_(settings) {
  if (!resume_after) return;
  namespace fs = std::filesystem;
  files::on_root(comm, [&] {
    std::vector<fs::path> to_remove;
    for (const auto& entry : fs::directory_iterator(files_.folder)) {
      const std::string name = entry.path().filename().string();
      const std::int64_t failure = step_of(name, files_.name, failed);
      const std::int64_t step = std::max(failure, step_of(name, files_.name, periodic));
      if (step > resume_after->step || (step >= 0 && name.ends_with(".part")))
        to_remove.push_back(entry.path());
      else if (failure >= 0)
        ++n_failed_;
    }
    for (const fs::path& path : to_remove) fs::remove(path);
  });
  n_failed_ = comm.sum(n_failed_);
}

/// Which image of body b a contact is with, where several may touch; 0: the one in the domain. Through the
/// upper face along axis k 3^k is added, through the lower one 2 3^k.
template <int D>
std::int64_t image_of(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
  const auto position = state.bodies.position();
  const Vec<D> d = contacts.branch[c] - (position[contacts.b[c]] - position[contacts.a[c]]);
  std::int64_t image = 0, weight = 1;
  for (int k = 0; k < D; ++k, weight *= 3) {
    if (!state.lattice.may_be_thin(k)) continue;
    const auto periods = std::llround(d[k] / state.box.length(k));
    image += weight * ((periods % 3 + 3) % 3);
  }
  return image;
}

template <int D>
void ProblemWriter<D>::write(const ContactProblem<D>& solved) {
  const Clock& clock = solved.state.clock;
  const std::int64_t step = clock.step + 1;
  if (solved.accepted && settings_.fclib.due(step, clock.time, clock.time + solved.dt))
    write(solved, files_.with(fmt::format("{}{:09}.hdf5", periodic, step)));
  if (solved.report.converged || n_failed_ >= settings_.fclib_on_failure) return;
  const std::string path = files_.with(fmt::format("{}{:09}.hdf5", failed, step));
  write(solved, path);
  ++n_failed_;
  log::info("unsolved contact problem kept in {}", path);
}

template <int D>
void ProblemWriter<D>::write(const ContactProblem<D>& solved, const std::string& path) const {
  const State<D>& state = solved.state;
  const ContactGraph<D>& contacts = solved.contacts;
  const auto id = state.bodies.id();
  std::vector<ContactKey> keys(contacts.size());
  for (std::size_t c = 0; c < keys.size(); ++c) {
    keys[c].a = id[contacts.a[c]];
    if (contacts.b[c] >= 0) {
      keys[c].b = id[contacts.b[c]];
      keys[c].feature = image_of(state, contacts, c);
    } else {
      keys[c].b = -1 - GlobalId{state.obstacles.obstacle_of(contacts.wall[c])};
      keys[c].feature =  // and which image
          contacts.wall[c] - state.obstacles.first_constraint(state.obstacles.obstacle_of(contacts.wall[c]));
    }
    // Points of bodies with shapes have names of 32 bits; images and parts are below 2^30.
    if (!contacts.feature.empty()) keys[c].feature += std::int64_t{contacts.feature[c]} << 30;
  }
  const FclibInfo info{
      .title = files_.name,
      .description =
          fmt::format("step {}, t = {:.17g} s to {:.17g} s, natural residual {:.3g}", state.clock.step + 1,
                      state.clock.time, state.clock.time + solved.dt, solved.report.residual.natural),
      .math_info = {}};
  const auto if_wanted = [](bool wanted, std::span<const Real> r) {
    return wanted ? r : std::span<const Real>();
  };
  write_fclib<D>(
      solved.problem, keys, if_wanted(settings_.fclib_guess, solved.guess), info, path,
      {.impulse = if_wanted(settings_.fclib_solution, solved.impulse), .solved = solved.report.converged});
}

template class ProblemWriter<2>;
template class ProblemWriter<3>;

}  // namespace scree
